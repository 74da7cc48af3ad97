//! Initial designs: the points that are evaluated before there is a surrogate.
//!
//! A Latin hypercube of n points has, in every coordinate, exactly one point in each of n equal cells, so that no coordinate is left
//! unexplored however few points there are (McKay, Beckman & Conover 1979). Random points are what the paper starts from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use truecast::random;

use crate::draws::{self, Purpose};
use crate::error::{Error, Result};

/// How the first points are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Design {
    /// Independent and uniform.
    Random,
    /// One point in each of n equal cells of every coordinate.
    #[default]
    LatinHypercube,
}

impl Design {
    /// Every design.
    pub const ALL: [Design; 2] = [Design::Random, Design::LatinHypercube];

    /// The name that people choose it by.
    pub fn name(self) -> &'static str {
        match self {
            Design::Random => "random",
            Design::LatinHypercube => "latin-hypercube",
        }
    }

    /// `count` points of the unit cube of this width, a function of the seed.
    ///
    /// ```
    /// use truecast_bo::Design;
    ///
    /// let points = Design::LatinHypercube.points(4, 2, 7);
    /// let mut cells: Vec<u32> = points.iter().map(|point| (4.0 * point[1]) as u32).collect();
    /// cells.sort();
    /// assert_eq!(cells, [0, 1, 2, 3]);
    /// ```
    pub fn points(self, count: usize, width: usize, seed: u64) -> Vec<Vec<f64>> {
        let places = draws::seed(seed, Purpose::Design);
        let mut points: Vec<Vec<f64>> = (0..count as u64).map(|i| draws::point(places, i, width)).collect();
        if self == Design::LatinHypercube {
            let orders = draws::seed(seed, Purpose::Order);
            for k in 0..width {
                let mut cells: Vec<usize> = (0..count).collect();
                // Fisher and Yates: every order is equally likely.
                for i in (1..count).rev() {
                    let other = (random::uniform(orders, i as u64, k as u32) * (i + 1) as f64) as usize;
                    cells.swap(i, other);
                }
                for (point, cell) in points.iter_mut().zip(cells) {
                    point[k] = (cell as f64 + point[k]) / count as f64;
                }
            }
        }
        points
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Design {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self> {
        Design::ALL.into_iter().find(|design| design.name() == name).ok_or_else(|| Error::UnknownName {
            what: "a design",
            name: name.to_string(),
            known: Design::ALL.map(Design::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_in_the_cube_and_repeat_by_seed() {
        for design in Design::ALL {
            let points = design.points(17, 5, 3);
            assert!(points.iter().flatten().all(|x| (0.0..1.0).contains(x)));
            assert_eq!(points, design.points(17, 5, 3));
            assert_ne!(points, design.points(17, 5, 4));
            assert_eq!(design.name().parse(), Ok(design));
        }
    }

    #[test]
    fn a_latin_hypercube_has_one_point_in_each_cell() {
        let points = Design::LatinHypercube.points(11, 6, 0);
        for k in 0..6 {
            let mut cells: Vec<usize> = points.iter().map(|point| (11.0 * point[k]) as usize).collect();
            cells.sort_unstable();
            assert_eq!(cells, (0..11).collect::<Vec<_>>());
        }
    }
}
