//! The command with places for values: `python train.py --rate {rate}`.
//!
//! `{name}` is a place if it could be a dimension's name and no `$` stands before it, which the shell would take for a variable of its own; `{{name}}` is
//! `{name}` for the command. All other braces are the command's. A value goes in quoted for the shell, where it has to be.

use truecast_bo::{Dimension, Space, Value};

use super::space_file::is_name;
use crate::failure::{Failure, Result};

/// A command with places for values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    /// The value of the dimension of this number.
    Place(usize),
}

impl Template {
    /// Reads the command: every place must have a dimension, and every dimension a place.
    pub(crate) fn new(command: &str, space: &Space) -> Result<Self> {
        let dimensions: Vec<(&str, &Dimension)> = space.dimensions().collect();
        let names = || dimensions.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut quote = None;
        let mut rest = command;
        while let Some(letter) = rest.chars().next() {
            let inside = rest.strip_prefix('{').filter(|_| !text.ends_with('$'));
            let escaped = inside.and_then(|inside| inside.strip_prefix('{')).and_then(|inside| {
                let (name, after) = inside.split_once("}}")?;
                is_name(name).then_some((name, after))
            });
            if let Some((name, after)) = escaped {
                text.push_str(&format!("{{{name}}}"));
                rest = after;
                continue;
            }
            let place = inside.and_then(|inside| inside.split_once('}')).filter(|(name, _)| is_name(name));
            if let Some((name, after)) = place {
                let Some(at) = dimensions.iter().position(|(known, _)| *known == name) else {
                    let problem = format!("the command has {{{name}}}, and the space has no {name}");
                    let hint =
                        format!("there are {}; {{{{{name}}}}} is {{{name}}} for the command itself", names());
                    return Err(Failure::usage(problem, hint));
                };
                if quote.is_some() && needs_quotes(dimensions[at].1) {
                    let problem = format!("{{{name}}} stands within quotes, and its values need their own");
                    return Err(Failure::usage(problem, "leave the quotes around it out"));
                }
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Place(at));
                rest = after;
                continue;
            }
            match (quote, letter) {
                (None, '\'' | '"') => quote = Some(letter),
                (Some(open), close) if open == close && !(open == '"' && text.ends_with('\\')) => {
                    quote = None;
                }
                _ => {}
            }
            text.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
        parts.push(Part::Text(text));
        let unused = |at: &usize| !parts.contains(&Part::Place(*at));
        if let Some(at) = (0..dimensions.len()).find(unused) {
            let name = dimensions[at].0;
            let problem = format!("the space has {name}, and the command has no {{{name}}}");
            return Err(Failure::usage(problem, "name it in the command, or take it out of the space"));
        }
        Ok(Template { parts })
    }

    /// The command at a point.
    pub(crate) fn at(&self, point: &[Value]) -> String {
        let text = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Place(at) => point.get(*at).map(|value| quoted(&plain(value))).unwrap_or_default(),
        };
        self.parts.iter().map(text).collect()
    }
}

/// A value without the quotes that a choice is shown in.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Category(choice) => choice.clone(),
        number => number.to_string(),
    }
}

fn is_safe(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c))
}

fn needs_quotes(dimension: &Dimension) -> bool {
    matches!(dimension, Dimension::Category { choices } if choices.iter().any(|choice| !is_safe(choice)))
}

/// One word of the shell, whatever is in it.
fn quoted(text: &str) -> String {
    if is_safe(text) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn space() -> Space {
        Space::new([
            ("rate", Dimension::log(1e-5, 1.0)),
            ("kind", Dimension::category(["a b", "it's", "$HOME; rm x", "plain"])),
        ])
        .unwrap()
    }

    fn at(command: &str, kind: &str) -> String {
        Template::new(command, &space()).unwrap().at(&[Value::Real(0.001), kind.into()])
    }

    #[test]
    fn values_are_one_word_each() {
        assert_eq!(at("train --rate={rate} {kind}", "plain"), "train --rate=0.001 plain");
        assert_eq!(at("train {rate} {kind}", "a b"), "train 0.001 'a b'");
        assert_eq!(at("train {rate} {kind}", "it's"), "train 0.001 'it'\\''s'");
        assert_eq!(at("train {rate} {kind}", "$HOME; rm x"), "train 0.001 '$HOME; rm x'");
    }

    #[test]
    fn other_braces_are_the_commands() {
        let command = "awk '{print $1} {x = 1}' ${rate} {{rate}} {rate} {kind} {1,2} é";
        assert_eq!(at(command, "plain"), "awk '{print $1} {x = 1}' ${rate} {rate} 0.001 plain {1,2} é");
    }

    #[test]
    fn places_and_dimensions_go_together() {
        let refused = |command: &str| Template::new(command, &space()).unwrap_err().to_string();
        assert_eq!(
            refused("{rate} {kind} {depth}"),
            "the command has {depth}, and the space has no depth\nhint: there are rate, kind; {{depth}} is {depth} for the command itself"
        );
        assert_eq!(
            refused("train {rate}"),
            "the space has kind, and the command has no {kind}\nhint: name it in the command, or take it out of the space"
        );
        assert_eq!(
            refused("train '{rate}' \"{kind}\""),
            "{kind} stands within quotes, and its values need their own\nhint: leave the quotes around it out"
        );
    }
}
