//! The space file: one table for each dimension, in the order of the file. Its form is in `docs/formats.md`.

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use truecast_bo::{Dimension, Scale, Space};

use crate::failure::{Failure, Result};

const HINT: &str = "a dimension is [NAME] with type = \"real\" or \"integer\", low, high and scale = \"linear\" or \"log\", \
                    or with type = \"choice\" and choices = [\"a\", \"b\"]";

/// What a table may hold; which of it must be there depends on the type.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    r#type: Kind,
    low: Option<f64>,
    high: Option<f64>,
    scale: Option<Scale>,
    choices: Option<Vec<Choice>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Real,
    Integer,
    Choice,
}

/// A choice is a word; numbers and flags are taken as they are written.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Choice {
    Word(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Word(word) => f.write_str(word),
            Choice::Whole(number) => write!(f, "{number}"),
            Choice::Number(number) => write!(f, "{number}"),
            Choice::Flag(flag) => write!(f, "{flag}"),
        }
    }
}

/// The tables in the order of the file.
struct Entries(Vec<(String, Entry)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables;
        impl<'de> Visitor<'de> for Tables {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table for each dimension")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Tables)
    }
}

/// Reads a space.
pub(crate) fn read(path: &Path) -> Result<Space> {
    let file = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|source| truecast_data::Error::Io { file: file.to_string(), source })?;
    // The parser's message shows the line, with a mark under the place.
    let Entries(entries) = toml::from_str(&text)
        .map_err(|error| Failure::usage(format!("{file}: {}", error.to_string().trim_end()), HINT))?;
    let refused = |problem: String| Failure::usage(format!("{file}: {problem}"), HINT);
    let mut dimensions = Vec::new();
    for (name, entry) in entries {
        let dimension = entry.dimension().map_err(|problem| refused(format!("[{name}] {problem}")))?;
        if !is_name(&name) {
            return Err(refused(format!(
                "[{name}] a name begins with a letter or _ and goes on with letters, digits, _, - and ."
            )));
        }
        dimensions.push((name, dimension));
    }
    Space::new(dimensions).map_err(|error| refused(error.to_string()))
}

/// Whether `{name}` can stand in a command.
pub(crate) fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
}

impl Entry {
    fn dimension(self) -> Result<Dimension, String> {
        let Entry { r#type: kind, low, high, scale, choices } = self;
        if kind == Kind::Choice {
            let other = [("low", low.is_some()), ("high", high.is_some()), ("scale", scale.is_some())];
            if let Some((name, _)) = other.iter().find(|(_, given)| *given) {
                return Err(format!("a choice has choices and no {name}"));
            }
            let choices = choices.ok_or("a choice needs choices")?;
            return Ok(Dimension::category(choices.iter().map(ToString::to_string)));
        }
        if choices.is_some() {
            return Err("a number has low and high and no choices".to_owned());
        }
        let (low, high) = (low.ok_or("low is missing")?, high.ok_or("high is missing")?);
        let scale = scale.unwrap_or_default();
        if kind == Kind::Real {
            return Ok(Dimension::Real { low, high, scale });
        }
        let whole = |name: &str, bound: f64| {
            // Beyond 2^53 neighbours of a whole number are lost; the space refuses what is larger.
            if bound.fract() == 0.0 && bound.abs() <= 1e18 {
                Ok(bound as i64)
            } else {
                Err(format!("{name} of an integer must be a whole number, got {bound}"))
            }
        };
        Ok(Dimension::Integer { low: whole("low", low)?, high: whole("high", high)?, scale })
    }
}
