//! The study file: what a run has done so far, written whole after every trial, so that a run that was stopped goes on where it was.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use truecast_bo::{Space, Study};
use truecast_data::NewFile;

use super::objective::Source;
use crate::failure::{Failure, Result};

const FORMAT: &str = "truecast-study";
const VERSION: u32 = 1;
const HINT: &str = "a study is a file that `truecast optimize --resume` wrote; another name begins a new one";

/// What is in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    format: String,
    version: u32,
    /// Where outcomes come from; for people, and for a note when it changes. A program that keeps its own study has none.
    #[serde(default)]
    objective: Option<Source>,
    /// If so, the outcomes of the study are negated.
    #[serde(default)]
    maximize: bool,
    study: Study,
}

/// A study with the file that keeps it.
#[derive(Debug)]
pub(crate) struct StudyFile {
    path: PathBuf,
    source: Source,
    maximize: bool,
}

impl StudyFile {
    pub(crate) fn new(path: &Path, source: Source, maximize: bool) -> Self {
        StudyFile { path: path.to_owned(), source, maximize }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The study in the file, if there is one, and whether the objective is another one now. It must agree with the study that would begin now.
    pub(crate) fn load(&self, begun: &Study) -> Result<Option<(Study, bool)>> {
        let file = self.path.display();
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(truecast_data::Error::Io { file: file.to_string(), source }.into()),
        };
        let refused = |problem: String| Failure::usage(format!("{file}: {problem}"), HINT);
        let head: Json =
            serde_json::from_slice(&bytes).map_err(|error| refused(format!("not a study: {error}")))?;
        if head["format"] != FORMAT {
            return Err(refused(format!("not a study: the format is not {FORMAT}")));
        }
        if head["version"] != VERSION {
            let version = &head["version"];
            return Err(refused(format!("version {version} is not known; this program writes {VERSION}")));
        }
        let content: Content =
            serde_json::from_value(head).map_err(|error| refused(format!("not a study: {error}")))?;
        if let Some(difference) = self.difference(&content, begun)? {
            let hint = "use what the study was begun with, or another file";
            return Err(Failure::usage(format!("{file}: the study was begun otherwise: {difference}"), hint));
        }
        Ok(Some((content.study, content.objective.is_some_and(|then| then != self.source))))
    }

    fn difference(&self, there: &Content, begun: &Study) -> Result<Option<String>> {
        if there.maximize != self.maximize {
            let (then, now) = if self.maximize { ("without", "with") } else { ("with", "without") };
            return Ok(Some(format!("{then} --maximize, now {now} it")));
        }
        if let Some(difference) = space_difference(there.study.space(), begun.space())? {
            return Ok(Some(difference));
        }
        let (then, now) = (json(there.study.settings())?, json(begun.settings())?);
        let other =
            now.as_object().into_iter().flatten().find(|(name, value)| then[name.as_str()] != **value);
        Ok(other.map(|(name, value)| format!("the {name} was {}, now {value}", then[name.as_str()])))
    }

    /// Writes the study; the old file stands until the new one is whole.
    pub(crate) fn save(&self, study: &Study) -> Result<()> {
        let content = Content {
            format: FORMAT.to_owned(),
            version: VERSION,
            objective: Some(self.source.clone()),
            maximize: self.maximize,
            study: study.clone(),
        };
        let bytes = serde_json::to_vec(&content)
            .map_err(|error| Failure::usage(format!("the study cannot be written: {error}"), ""))?;
        Ok(NewFile::write(&self.path, &bytes)?)
    }
}

fn json(value: &impl Serialize) -> Result<Json> {
    serde_json::to_value(value).map_err(|error| Failure::usage(format!("settings: {error}"), ""))
}

/// The first dimension that is not the same.
fn space_difference(then: &Space, now: &Space) -> Result<Option<String>> {
    let (before, after): (Vec<_>, Vec<_>) = (then.dimensions().collect(), now.dimensions().collect());
    for at in 0..before.len().max(after.len()) {
        let found = match (before.get(at), after.get(at)) {
            (Some(old), Some(new)) if old == new => continue,
            (Some((old, _)), Some((new, _))) if old != new => {
                format!("dimension {} was {old}, now {new}", at + 1)
            }
            (Some((name, old)), Some((_, new))) => format!("{name} was {}, now {}", json(old)?, json(new)?),
            (Some((name, _)), None) => format!("it had the dimension {name}"),
            (None, Some((name, _))) => format!("it had no dimension {name}"),
            (None, None) => continue,
        };
        return Ok(Some(found));
    }
    Ok(None)
}
