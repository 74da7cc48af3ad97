//! Functions to try optimisers on, by name, with their domains and their known minima: those of the paper's table 2 and figures.

mod ackley;
mod alpine;
mod beale;
mod mccormick;
mod six_hump_camel;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::space::Space;

/// The most inputs of a function of any number of them.
const MOST_INPUTS: usize = 1000;

/// A function to minimise.
///
/// | name | inputs | domain | least value |
/// |---|---|---|---|
/// | `ackley-D` | any D, as in `ackley-2` | [−32.768, 32.768] each | 0 |
/// | `alpine-D` | any D | [−10, 10] each | 0 |
/// | `six-hump-camel` | 2 | [−2, 2] × [−1, 1], as in GPyOpt | −1.0316 |
/// | `six-hump-camel-wide` | 2 | [−3, 3] × [−2, 2] | −1.0316 |
/// | `beale` | 2 | [−4.5, 4.5] each | 0 |
/// | `beale-gpyopt` | 2 | [−1, 1] each | −404, in a corner |
/// | `mccormick` | 2 | [−1.5, 4] × [−3, 4] | −1.9132 |
///
/// ```
/// use truecast_bo::Benchmark;
///
/// let benchmark: Benchmark = "ackley-10".parse()?;
/// assert_eq!(benchmark.value(&[0.0; 10])?, benchmark.minimum());
/// # Ok::<(), truecast_bo::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Benchmark {
    /// Ackley's function of so many inputs.
    Ackley(usize),
    /// Alpine's first function of so many inputs.
    Alpine(usize),
    /// The six-hump camel around its minima.
    SixHumpCamel,
    /// The six-hump camel on its wide domain.
    SixHumpCamelWide,
    /// Beale's function.
    Beale,
    /// What GPyOpt calls Beale's function.
    BealeGpyopt,
    /// McCormick's function.
    McCormick,
}

impl Benchmark {
    /// The paper's: table 2 first, then what only its figures have.
    pub const ALL: [Benchmark; 8] = [
        Benchmark::Ackley(2),
        Benchmark::SixHumpCamel,
        Benchmark::Ackley(10),
        Benchmark::Alpine(10),
        Benchmark::SixHumpCamelWide,
        Benchmark::Beale,
        Benchmark::BealeGpyopt,
        Benchmark::McCormick,
    ];

    /// How many inputs it has.
    pub fn inputs(self) -> usize {
        match self {
            Benchmark::Ackley(inputs) | Benchmark::Alpine(inputs) => inputs,
            _ => 2,
        }
    }

    fn bounds(self) -> Vec<(f64, f64)> {
        match self {
            Benchmark::Ackley(inputs) => vec![ackley::BOUNDS; inputs],
            Benchmark::Alpine(inputs) => vec![alpine::BOUNDS; inputs],
            Benchmark::SixHumpCamel => six_hump_camel::NARROW.to_vec(),
            Benchmark::SixHumpCamelWide => six_hump_camel::WIDE.to_vec(),
            Benchmark::Beale => vec![beale::BOUNDS; 2],
            Benchmark::BealeGpyopt => vec![beale::GPYOPT_BOUNDS; 2],
            Benchmark::McCormick => mccormick::BOUNDS.to_vec(),
        }
    }

    /// Its domain.
    pub fn space(self) -> Result<Space> {
        Space::real_box(self.bounds())
    }

    /// Its value, at any numbers.
    pub fn value(self, x: &[f64]) -> Result<f64> {
        if x.len() != self.inputs() {
            return Err(Error::PointLength { expected: self.inputs(), found: x.len() });
        }
        Ok(match (self, x) {
            (Benchmark::Alpine(_), x) => alpine::value(x),
            (Benchmark::SixHumpCamel | Benchmark::SixHumpCamelWide, &[x, y]) => six_hump_camel::value(x, y),
            (Benchmark::Beale, &[x, y]) => beale::value(x, y),
            (Benchmark::BealeGpyopt, &[x, y]) => beale::gpyopt(x, y),
            (Benchmark::McCormick, &[x, y]) => mccormick::value(x, y),
            (_, x) => ackley::value(x),
        })
    }

    /// Its least value on the domain.
    pub fn minimum(self) -> f64 {
        match self {
            Benchmark::Ackley(_) | Benchmark::Alpine(_) | Benchmark::Beale => 0.0,
            Benchmark::SixHumpCamel | Benchmark::SixHumpCamelWide => six_hump_camel::MINIMUM.0,
            Benchmark::BealeGpyopt => -404.0,
            Benchmark::McCormick => mccormick::minimum().0,
        }
    }

    /// A point at which it has its least value.
    pub fn minimiser(self) -> Vec<f64> {
        match self {
            Benchmark::Ackley(inputs) | Benchmark::Alpine(inputs) => vec![0.0; inputs],
            Benchmark::SixHumpCamel | Benchmark::SixHumpCamelWide => six_hump_camel::MINIMUM.1.to_vec(),
            Benchmark::Beale => vec![3.0, 0.5],
            Benchmark::BealeGpyopt => vec![-1.0, -1.0],
            Benchmark::McCormick => mccormick::minimum().1.to_vec(),
        }
    }
}

impl fmt::Display for Benchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&match self {
            Benchmark::Ackley(inputs) => format!("ackley-{inputs}"),
            Benchmark::Alpine(inputs) => format!("alpine-{inputs}"),
            Benchmark::SixHumpCamel => "six-hump-camel".to_string(),
            Benchmark::SixHumpCamelWide => "six-hump-camel-wide".to_string(),
            Benchmark::Beale => "beale".to_string(),
            Benchmark::BealeGpyopt => "beale-gpyopt".to_string(),
            Benchmark::McCormick => "mccormick".to_string(),
        })
    }
}

impl FromStr for Benchmark {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        let inputs = |prefix: &str| {
            let digits = name.strip_prefix(prefix)?;
            let inputs = digits.strip_prefix('-').unwrap_or(digits).parse().ok()?;
            (1..=MOST_INPUTS).contains(&inputs).then_some(inputs)
        };
        let any = inputs("ackley").map(Benchmark::Ackley).or_else(|| inputs("alpine").map(Benchmark::Alpine));
        let fixed = || Benchmark::ALL.into_iter().find(|benchmark| benchmark.to_string() == name);
        any.or_else(fixed).ok_or_else(|| Error::UnknownName {
            what: "a benchmark",
            name: name.to_string(),
            known: "ackley-D, alpine-D (D from 1 to 1000), six-hump-camel, six-hump-camel-wide, beale, beale-gpyopt, mccormick"
                .to_string(),
        })
    }
}

impl TryFrom<String> for Benchmark {
    type Error = Error;
    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<Benchmark> for String {
    fn from(benchmark: Benchmark) -> Self {
        benchmark.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Design;

    /// At the minimiser the value is the minimum, to rounding, and no other of 2,000 points of the domain, nor any near it, is below.
    #[test]
    fn minima_are_where_they_are_said_to_be() {
        for benchmark in Benchmark::ALL {
            let (least, at) = (benchmark.minimum(), benchmark.minimiser());
            let value = benchmark.value(&at).unwrap();
            assert!((value - least).abs() < 1e-14 * (1.0 + least.abs()), "{benchmark}: {value}");
            let place = benchmark.space().unwrap().encode(&at.iter().map(|&x| x.into()).collect::<Vec<_>>());
            let place = place.unwrap();
            for (i, point) in Design::Random.points(2000, benchmark.inputs(), 1).into_iter().enumerate() {
                let reach = if i % 2 == 0 { 1.0 } else { 1e-3 };
                let x: Vec<f64> = benchmark
                    .bounds()
                    .iter()
                    .zip(place.iter().zip(point))
                    .map(|((low, high), (to, from))| low + (high - low) * (to + reach * (from - to)))
                    .collect();
                assert!(benchmark.value(&x).unwrap() >= least - 1e-12, "{benchmark} at {x:?}");
            }
        }
    }

    #[test]
    fn every_benchmark_has_a_name_that_leads_back_to_it() {
        for benchmark in Benchmark::ALL {
            assert_eq!(benchmark.to_string().parse(), Ok(benchmark));
        }
        assert_eq!("ackley-7".parse(), Ok(Benchmark::Ackley(7)));
        assert_eq!("ackley7".parse(), Ok(Benchmark::Ackley(7)));
        assert!("ackley-0".parse::<Benchmark>().is_err());
        assert!("ackley".parse::<Benchmark>().is_err());
        assert!(Benchmark::Beale.value(&[1.0]).is_err());
    }
}
