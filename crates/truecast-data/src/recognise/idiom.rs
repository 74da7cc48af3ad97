//! How a person says what a column is: with flags of a command, or with keyword arguments of a function.

/// The words for wishes in hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Idiom {
    /// `--outcome y`.
    #[default]
    Flags,
    /// `outcome="y"`.
    Keywords,
}

impl Idiom {
    /// What a wish is called; its name is written as in [`Wishes`](super::Wishes).
    pub(super) fn name(self, wish: &str) -> String {
        match self {
            Idiom::Flags => format!("--{}", wish.replace('_', "-")),
            Idiom::Keywords => format!("{wish}="),
        }
    }

    /// A wish with its value.
    pub(super) fn say(self, wish: &str, value: &str) -> String {
        match self {
            Idiom::Flags => format!("{} {value}", self.name(wish)),
            Idiom::Keywords => format!("{}{value:?}", self.name(wish)),
        }
    }

    /// Several wishes that go together.
    pub(super) fn both(self, wishes: &[(&str, &str)]) -> String {
        let said: Vec<String> = wishes.iter().map(|(wish, value)| self.say(wish, value)).collect();
        said.join(match self {
            Idiom::Flags => " ",
            Idiom::Keywords => ", ",
        })
    }
}
