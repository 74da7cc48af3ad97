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
    pub fn name(self, wish: &str) -> String {
        match self {
            Idiom::Flags => format!("--{}", wish.replace('_', "-")),
            Idiom::Keywords => format!("{wish}="),
        }
    }

    /// A wish with its value.
    pub fn say(self, wish: &str, value: &str) -> String {
        match self {
            Idiom::Flags => format!("{} {value}", self.name(wish)),
            Idiom::Keywords => format!("{}{value:?}", self.name(wish)),
        }
    }

    /// A wish for a number.
    pub fn say_number(self, wish: &str, value: &str) -> String {
        match self {
            Idiom::Flags => self.say(wish, value),
            Idiom::Keywords => format!("{}{value}", self.name(wish)),
        }
    }

    /// Several wishes that go together.
    pub fn both(self, wishes: &[(&str, &str)]) -> String {
        let said: Vec<String> = wishes.iter().map(|(wish, value)| self.say(wish, value)).collect();
        said.join(match self {
            Idiom::Flags => " ",
            Idiom::Keywords => ", ",
        })
    }
}

impl Idiom {
    /// What quantiles to write are asked for by.
    pub fn quantiles(self) -> &'static str {
        if self == Idiom::Flags { "quantiles" } else { "q" }
    }

    /// What intervals to write are asked for by.
    pub fn intervals(self) -> &'static str {
        if self == Idiom::Flags { "intervals" } else { "coverage" }
    }

    /// How groups get room.
    pub fn groups_hint(self) -> &'static str {
        if self == Idiom::Flags { "--ledger group=COLUMN:N" } else { "groups={COLUMN: N}" }
    }

    /// How a forecast takes another one's place.
    pub fn replace(self) -> &'static str {
        if self == Idiom::Flags { "--replace" } else { "replace=True" }
    }
}
