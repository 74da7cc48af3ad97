//! Which columns hold what, by their names.
//!
//! Every form that fits the names is a candidate. One is taken, none is an error, and several are an error that lists them: a guess
//! that is wrong would be worse than a question. A person's [`Wishes`] come first.

mod idiom;
mod layout;
mod spelling;
mod wishes;

pub use idiom::Idiom;
pub use layout::{Form, Layout};
pub use wishes::{FormKind, Wishes};

use crate::error::{Error, Result};

/// Finds out what the columns of a file are.
///
/// ```
/// use truecast_data::recognise::{Form, Wishes, recognise};
///
/// let names = ["unique_id", "ds", "y", "Theta", "Theta-lo-80", "Theta-hi-80"].map(str::to_owned);
/// let layout = recognise("m4.csv", &names, &Wishes::default())?;
/// assert_eq!(layout.form, Form::Quantiles(vec![(0.1, 4), (0.5, 3), (0.9, 5)]));
/// assert_eq!((layout.keys, layout.outcome), (vec![0], Some(2)));
/// # Ok::<(), truecast_data::Error>(())
/// ```
pub fn recognise(file: &str, names: &[String], wishes: &Wishes) -> Result<Layout> {
    let columns = Columns { file, names, idiom: wishes.idiom };
    let form = choose_form(&columns, wishes)?;
    let taken = form.columns();
    let long = form.is_long();
    let mut outcome = match &wishes.outcome {
        Some(name) => Some(columns.find(name, "outcome")?),
        None => columns.the_only("outcome", "outcome", spelling::OUTCOME, |column| {
            // A hub's `target` says what is forecast, not what happened.
            let is_key = wishes.keys.as_ref().is_some_and(|keys| keys.contains(&names[column]));
            is_key || taken.contains(&column) || (long && names[column].eq_ignore_ascii_case("target"))
        })?,
    };
    if let Some(column) = outcome.filter(|column| taken.contains(column)) {
        let name = &names[column];
        let problem = format!("the column {name} is part of the forecast and cannot be its outcome");
        let hint = format!("name another one with {}", wishes.idiom.name("outcome"));
        return Err(Error::file(file, problem, hint));
    }
    if let Form::M5 { .. } = form {
        outcome = None; // outcomes of all days come from a file of their own
    }
    let named = |wish: &Option<String>, word: &str, spellings: &[&str]| match wish.as_deref() {
        Some("none") => Ok(None),
        Some(name) => columns.find(name, word).map(Some),
        None => {
            Ok(columns.first(spellings).filter(|column| !taken.contains(column) && Some(*column) != outcome))
        }
    };
    let made = named(&wishes.made, "made", spelling::MADE)?;
    let about = named(&wishes.about, "about", spelling::ABOUT)?
        .filter(|column| wishes.about.is_some() || Some(*column) != made);
    let horizon = named(&wishes.horizon, "horizon", spelling::HORIZON)?;
    let known = named(&wishes.known, "known", spelling::KNOWN)?;
    let times = [made, about, known];
    let keys = match (&wishes.keys, &form) {
        (Some(keys), _) => keys.iter().map(|name| columns.find(name, "key")).collect::<Result<_>>()?,
        (None, Form::Hubverse { output_type, output_type_id, value }) => {
            let rest = [Some(*output_type), Some(*output_type_id), Some(*value), outcome, horizon];
            (0..names.len())
                .filter(|&column| !rest.contains(&Some(column)) && !times.contains(&Some(column)))
                .collect()
        }
        (None, Form::M5 { id, .. }) => vec![*id],
        (None, _) => {
            let key = columns.the_only("series", "key", spelling::KEY, |column| {
                taken.contains(&column) || Some(column) == outcome || times.contains(&Some(column))
            })?;
            key.into_iter().collect()
        }
    };
    let made_before = made.is_some_and(|column| spelling::is_among(&names[column], spelling::MADE_BEFORE));
    let pooled = wishes.horizon.as_deref() == Some("none");
    Ok(Layout {
        names: names.to_vec(),
        outcome,
        keys,
        made,
        made_before,
        about,
        horizon,
        pooled,
        known,
        form,
    })
}

/// The names of a file's columns.
struct Columns<'a> {
    file: &'a str,
    names: &'a [String],
    idiom: Idiom,
}

impl Columns<'_> {
    /// The column that a person named.
    fn find(&self, name: &str, wish: &str) -> Result<usize> {
        self.names.iter().position(|known| known == name).ok_or_else(|| {
            let problem = format!("there is no column {name:?}, which {} names", self.idiom.name(wish));
            Error::file(self.file, problem, format!("the columns are {}", self.names.join(", ")))
        })
    }

    /// Columns that have one of the spellings.
    fn all(&self, spellings: &[&str]) -> Vec<usize> {
        (0..self.names.len()).filter(|&column| spelling::is_among(&self.names[column], spellings)).collect()
    }

    /// The column with the spelling that comes first.
    fn first(&self, spellings: &[&str]) -> Option<usize> {
        spellings.iter().find_map(|spelling| self.all(&[spelling]).first().copied())
    }

    /// The one column that has one of the spellings, if any has; two are an error.
    fn the_only(
        &self,
        what: &str,
        wish: &str,
        spellings: &[&str],
        excluded: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>> {
        let found: Vec<usize> = self.all(spellings).into_iter().filter(|&column| !excluded(column)).collect();
        match found[..] {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            _ => {
                let names: Vec<&str> = found.iter().map(|&column| self.names[column].as_str()).collect();
                let problem = format!("several columns may hold the {what}: {}", names.join(", "));
                Err(Error::file(
                    self.file,
                    problem,
                    format!("choose one with {}", self.idiom.say(wish, names[0])),
                ))
            }
        }
    }
}

/// A form that fits, with the words for it.
struct Candidate {
    kind: FormKind,
    words: String,
    form: Form,
    hint: String,
}

fn choose_form(columns: &Columns<'_>, wishes: &Wishes) -> Result<Form> {
    let mut candidates = candidates(columns, wishes)?;
    let says_more = |candidate: &Candidate| candidate.kind != FormKind::Point;
    if let Some(name) = columns.names.iter().find(|name| spelling::bare_end(name).is_some())
        && wishes.form.is_none()
        && wishes.point.is_none()
        && !candidates.iter().any(says_more)
    {
        let problem = format!("the column {name} does not say how much its interval should hold");
        let hint = format!(
            "say so with {}, as the model was told",
            columns.idiom.say_number("interval_width", "80")
        );
        return Err(Error::file(columns.file, problem, hint));
    }
    if let Some(kind) = wishes.form {
        candidates.retain(|candidate| candidate.kind == kind);
    } else if candidates.iter().any(|candidate| candidate.kind != FormKind::Point) && wishes.point.is_none() {
        // A distribution says more than a point, so a point is meant only where nothing else is there.
        candidates.retain(|candidate| candidate.kind != FormKind::Point);
    }
    let listed = || columns.names.join(", ");
    match candidates.len() {
        1 => Ok(candidates.swap_remove(0).form),
        0 => {
            let wanted =
                wishes.form.map_or("a forecast".to_owned(), |kind| format!("a forecast in the form {kind}"));
            let problem = format!("no columns are known to hold {wanted}: {}", listed());
            let say = |wish: &str, value: &str| columns.idiom.say(wish, value);
            let hint = format!(
                "name them: {}, {}, {} for NAME-lo-80 and NAME-hi-80; quantiles are called q0.1 or quantile_P10, \
                 samples sample_1",
                columns.idiom.both(&[("mean", "M"), ("std", "S")]),
                say("point", "P"),
                say("model", "NAME"),
            );
            Err(Error::file(columns.file, problem, hint))
        }
        _ => {
            let words: Vec<String> =
                candidates.iter().map(|candidate| format!("  {}", candidate.words)).collect();
            let hints: Vec<&str> = candidates.iter().map(|candidate| candidate.hint.as_str()).collect();
            let problem = format!("several columns may hold the forecast:\n{}", words.join("\n"));
            Err(Error::file(columns.file, problem, format!("choose with {}", hints.join(" or "))))
        }
    }
}

/// Every form that fits.
fn candidates(columns: &Columns<'_>, wishes: &Wishes) -> Result<Vec<Candidate>> {
    let mut found = Vec::new();
    let exact = |name: &str| columns.names.iter().position(|known| known == name);
    let hub = |kind: &str, id: &str| Some((exact(kind)?, exact(id)?, exact("value")?));
    // The second is how hubs wrote it before the first was agreed upon.
    if let Some((output_type, output_type_id, value)) =
        hub("output_type", "output_type_id").or_else(|| hub("type", "quantile"))
    {
        let form = Form::Hubverse { output_type, output_type_id, value };
        found.push(candidate(columns, FormKind::Hubverse, form, columns.idiom.say("form", "hubverse")));
    }
    if let (Some(id), Some(_)) = (exact("id"), exact("F1")) {
        let days = (1..).map_while(|day| exact(&format!("F{day}"))).collect();
        found.push(candidate(columns, FormKind::M5, Form::M5 { id, days }, columns.idiom.say("form", "m5")));
    }
    gaussians(columns, wishes, &mut found)?;
    let named = columns.names.iter().enumerate();
    let quantiles = spelling::quantiles(columns.names);
    if wishes.may_mean(FormKind::Quantiles)
        && let Some(form) = quantile_form(columns, quantiles)?
    {
        found.push(candidate(columns, FormKind::Quantiles, form, columns.idiom.say("form", "quantiles")));
    }
    if wishes.may_mean(FormKind::Intervals) {
        intervals(columns, wishes, &mut found)?;
    }
    let mut samples: Vec<(u64, usize)> =
        named.filter_map(|(column, name)| Some((spelling::sample(name)?, column))).collect();
    if samples.len() >= 2 {
        samples.sort_unstable();
        let form = Form::Samples(samples.into_iter().map(|(_, column)| column).collect());
        found.push(candidate(columns, FormKind::Samples, form, columns.idiom.say("form", "samples")));
    }
    let points = match &wishes.point {
        Some(name) => vec![columns.find(name, "point")?],
        None => columns.all(spelling::POINT),
    };
    for column in points {
        let hint = columns.idiom.say("point", &columns.names[column]);
        found.push(candidate(columns, FormKind::Point, Form::Point(column), hint));
    }
    found.retain(|candidate| wishes.may_mean(candidate.kind));
    Ok(found)
}

fn candidate(columns: &Columns<'_>, kind: FormKind, form: Form, hint: String) -> Candidate {
    let names: Vec<&str> = form.columns().iter().map(|&column| columns.names[column].as_str()).collect();
    let shown = if names.len() > 6 {
        format!("{}, …, {}", names[..3].join(", "), names[names.len() - 1])
    } else {
        names.join(", ")
    };
    Candidate { kind, words: format!("{kind}: {shown}"), form, hint }
}

fn gaussians(columns: &Columns<'_>, wishes: &Wishes, found: &mut Vec<Candidate>) -> Result<()> {
    let means = match &wishes.mean {
        Some(name) => vec![columns.find(name, "mean")?],
        None => columns.all(spelling::MEAN),
    };
    let spreads: Vec<(usize, bool)> = match &wishes.std {
        Some(name) => vec![(columns.find(name, "std")?, false)],
        None => {
            let stds = columns.all(spelling::STD).into_iter().map(|column| (column, false));
            stds.chain(columns.all(spelling::VARIANCE).into_iter().map(|column| (column, true))).collect()
        }
    };
    for &mean in &means {
        for &(spread, variance) in &spreads {
            let hint = columns.idiom.both(&[("mean", &columns.names[mean]), ("std", &columns.names[spread])]);
            let form = Form::Gaussian { mean, spread, variance };
            found.push(candidate(columns, FormKind::Gaussian, form, hint));
        }
    }
    Ok(())
}

/// Interval ends by model, with the model's own column as the median where it is there.
fn intervals(columns: &Columns<'_>, wishes: &Wishes, found: &mut Vec<Candidate>) -> Result<()> {
    let mut models: Vec<&str> = Vec::new();
    for name in columns.names {
        let bare =
            spelling::bare_end(name).filter(|_| wishes.interval_width.is_some()).map(|(model, _)| model);
        if let Some(model) = spelling::interval_end(name).map(|(model, _)| model).or(bare)
            && !models.contains(&model)
        {
            models.push(model);
        }
    }
    if let Some(wanted) = &wishes.model {
        if !models.contains(&wanted.as_str()) {
            let problem = format!(
                "there are no columns {wanted}-lo-… and {wanted}-hi-…, which {} names",
                columns.idiom.name("model")
            );
            return Err(Error::file(
                columns.file,
                problem,
                format!("the columns are {}", columns.names.join(", ")),
            ));
        }
        models.retain(|model| model == wanted);
    }
    for model in models {
        let named = columns.names.iter().enumerate();
        let mut quantiles: Vec<(f64, usize)> = named
            .filter_map(|(column, name)| {
                let bare = || {
                    let (of, side) = spelling::bare_end(name)?;
                    Some((of, spelling::end(side, wishes.interval_width?)?))
                };
                let (of, probability) = spelling::interval_end(name).or_else(bare)?;
                (of == model).then_some((probability, column))
            })
            .collect();
        let median = if model.is_empty() { "median" } else { model };
        let is_outcome = |column: &usize| {
            let name = &columns.names[*column];
            wishes.outcome.as_ref().map_or(spelling::is_among(name, spelling::OUTCOME), |said| said == name)
        };
        // `y` beside `y_q0.100` is what happened.
        let of_model =
            columns.names.iter().position(|name| name == median).filter(|column| !is_outcome(column));
        if let Some(column) = of_model.filter(|_| quantiles.iter().all(|(p, _)| *p != 0.5)) {
            quantiles.push((0.5, column));
        }
        if let Some(form) = quantile_form(columns, quantiles)? {
            let (wish, value) = if model.is_empty() { ("form", "intervals") } else { ("model", model) };
            let hint = columns.idiom.say(wish, value);
            found.push(candidate(columns, FormKind::Intervals, form, hint));
        }
    }
    Ok(())
}

/// Quantiles in order; `None` if there are fewer than two, an error if two columns are the same quantile.
fn quantile_form(columns: &Columns<'_>, mut quantiles: Vec<(f64, usize)>) -> Result<Option<Form>> {
    quantiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let Some(twice) = quantiles.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let (left, right) = (&columns.names[twice[0].1], &columns.names[twice[1].1]);
        let problem = format!("the columns {left} and {right} are both the quantile {}", twice[0].0);
        return Err(Error::file(columns.file, problem, "leave one of them out"));
    }
    Ok((quantiles.len() >= 2).then_some(Form::Quantiles(quantiles)))
}
