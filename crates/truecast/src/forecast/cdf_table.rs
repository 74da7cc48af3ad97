//! A forecast given by its distribution function at some points, linear between them.
//!
//! A repeated point is a jump, and so an atom. Probability that the table leaves below its first point or above its last
//! is an atom on that point, so that the support is the table's range. Survival probabilities are kept beside the
//! cumulative ones: 1 − F is exact for F ≥ ½, and interpolation on either side only adds positive terms. The CRPS is the
//! integral of squared lines, exact. Cost: a binary search per probability, one pass per CRPS.

use serde::{Deserialize, Serialize};

use super::curve::interpolate;
use super::{Forecast, Moments};
use crate::error::{self, Error, Result};
use crate::normal;

/// A tabulated distribution function as a forecast.
///
/// ```
/// use truecast::forecast::{CdfTable, Forecast};
///
/// let table = CdfTable::new(&[0.0, 10.0, 20.0], &[0.25, 0.5, 1.0])?; // a quarter sits on 0
/// assert_eq!((table.cdf(0.0), table.cdf(15.0), table.quantile(0.2)), (0.25, 0.75, 0.0));
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct CdfTable {
    nodes: Vec<Node>,
}

/// Invariant of the list: `y` and `below` do not decrease; `below` is 0 at the first node alone and `above` is 0 at
/// the last node alone, so that quantiles 0 and 1 are the ends of the support.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    y: f64,
    below: f64,
    above: f64,
}

impl CdfTable {
    /// A table of P(Y ≤ point): finite points and probabilities in [0, 1], neither of which may decrease; at least two.
    pub fn new(points: &[f64], probabilities: &[f64]) -> Result<Self> {
        if points.len() != probabilities.len() {
            return Err(Error::LengthMismatch {
                what: "points and probabilities",
                left: points.len(),
                right: probabilities.len(),
            });
        }
        if points.len() < 2 {
            return Err(Error::TooFew { what: "points of the table", least: 2, found: points.len() });
        }
        for &point in points {
            error::finite("point of the table", point)?;
        }
        for &probability in probabilities {
            error::probability("probability of the table", probability)?;
        }
        not_decreasing("points of the table", points)?;
        not_decreasing("probabilities of the table", probabilities)?;
        let last = points.len() - 1;
        error::finite("range of the table", points[last] - points[0])?;

        let node = |y: f64, below: f64| Node { y, below, above: 1.0 - below };
        let mut nodes = vec![node(points[0], 0.0)];
        for (&y, &below) in points.iter().zip(probabilities) {
            if below <= 0.0 {
                nodes[0] = node(y, 0.0);
            } else if nodes[nodes.len() - 1].above > 0.0 {
                nodes.push(node(y, below));
            }
        }
        if nodes[nodes.len() - 1].above > 0.0 {
            nodes.push(node(points[last], 1.0));
        }
        Ok(CdfTable { nodes })
    }

    /// The points of the table, from one end of the support to the other; atoms appear twice.
    pub fn points(&self) -> impl Iterator<Item = f64> + '_ {
        self.nodes.iter().map(|node| node.y)
    }

    /// The probabilities at these points: from 0 to 1, and at an atom that before the jump and that after it.
    pub fn probabilities(&self) -> impl Iterator<Item = f64> + '_ {
        self.nodes.iter().map(|node| node.below)
    }

    /// (P(Y ≤ y), P(Y > y)) with `next` the index of the first node that lies beyond.
    fn between(&self, next: usize, y: f64) -> (f64, f64) {
        if next == 0 {
            return (0.0, 1.0);
        }
        let a = self.nodes[next - 1];
        match self.nodes.get(next) {
            None => (1.0, 0.0),
            Some(b) => {
                let length = b.y - a.y;
                let (low, high) = ((y - a.y) / length, (b.y - y) / length);
                (a.below + (b.below - a.below) * low, b.above + (a.above - b.above) * high)
            }
        }
    }

    fn at(&self, y: f64) -> (f64, f64) {
        self.between(self.nodes.partition_point(|node| node.y <= y), y)
    }

    /// The limit from the left.
    fn before(&self, y: f64) -> (f64, f64) {
        match self.nodes.partition_point(|node| node.y < y) {
            0 => (0.0, 1.0),
            next => match self.nodes.get(next) {
                Some(node) if node.y == y => (node.below, node.above),
                _ => self.between(next, y),
            },
        }
    }
}

fn not_decreasing(what: &'static str, values: &[f64]) -> Result<()> {
    match values.windows(2).position(|pair| pair[0] > pair[1]) {
        None => Ok(()),
        Some(i) => {
            Err(Error::NotIncreasing { what, index: i + 1, previous: values[i], value: values[i + 1] })
        }
    }
}

impl Forecast for CdfTable {
    fn cdf(&self, y: f64) -> f64 {
        self.at(y).0
    }

    fn sf(&self, y: f64) -> f64 {
        self.at(y).1
    }

    fn quantile(&self, probability: f64) -> f64 {
        match self.nodes.partition_point(|node| node.below < probability) {
            0 => self.nodes[0].y,
            next => match self.nodes.get(next) {
                None => f64::NAN, // a probability above 1
                Some(b) => {
                    let a = self.nodes[next - 1];
                    interpolate((a.below, a.y), (b.below, b.y), probability)
                }
            },
        }
    }

    fn probit(&self, y: f64) -> f64 {
        let (below, above) = self.at(y);
        normal::probit(below, above)
    }

    fn probit_left(&self, y: f64) -> f64 {
        let (below, above) = self.before(y);
        normal::probit(below, above)
    }

    fn at_probit(&self, z: f64) -> f64 {
        if z < 0.0 {
            return self.quantile(normal::cdf(z));
        }
        // The upper half by survival probabilities, which tell apart what rounds to a CDF of 1.
        let above = normal::sf(z);
        match self.nodes.partition_point(|node| node.above > above) {
            0 => self.nodes[0].y,
            next => match self.nodes.get(next) {
                None => f64::NAN, // NaN alone gets here: the last node has nothing above
                Some(b) => {
                    let a = self.nodes[next - 1];
                    interpolate((-a.above, a.y), (-b.above, b.y), -above)
                }
            },
        }
    }

    fn kinks(&self, out: &mut Vec<f64>) {
        out.extend(self.points());
    }

    /// None on an atom; on a point between two lines the density of the right one.
    fn ln_density(&self, y: f64) -> Option<f64> {
        if self.before(y) != self.at(y) {
            return None;
        }
        let next = self.nodes.partition_point(|node| node.y <= y);
        match (next.checked_sub(1).and_then(|i| self.nodes.get(i)), self.nodes.get(next)) {
            (Some(a), Some(b)) => {
                let mass = if a.below < a.above { b.below - a.below } else { a.above - b.above };
                Some(libm::log(mass / (b.y - a.y)))
            }
            _ => Some(f64::NEG_INFINITY),
        }
    }

    /// ∫ F² below the outcome plus ∫ (1 − F)² above it; a squared line from f to g over a length h integrates to
    /// h (f² + f g + g²)/3.
    fn crps(&self, y: f64) -> f64 {
        let squared = |h: f64, f: f64, g: f64| h * (f * f + f * g + g * g) / 3.0;
        let (first, last) = (self.nodes[0], self.nodes[self.nodes.len() - 1]);
        let mut score = (first.y - y).max(y - last.y).max(0.0);
        for pair in self.nodes.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            if b.y <= y {
                score += squared(b.y - a.y, a.below, b.below);
            } else if a.y >= y {
                score += squared(b.y - a.y, a.above, b.above);
            } else {
                let (below, above) = self.at(y);
                score += squared(y - a.y, a.below, below) + squared(b.y - y, above, b.above);
            }
        }
        score
    }

    /// Of a mixture of uniform distributions, one for each line.
    fn moments(&self) -> Moments {
        let lines = || {
            self.nodes.windows(2).map(|pair| {
                let (a, b) = (pair[0], pair[1]);
                let mass = if a.below < a.above { b.below - a.below } else { a.above - b.above };
                (mass, a.y + 0.5 * (b.y - a.y), b.y - a.y)
            })
        };
        // From the first point on, so that a narrow table far from 0 keeps its digits.
        let origin = self.nodes[0].y;
        let shift = lines().fold(0.0, |sum, (mass, middle, _)| sum + mass * (middle - origin));
        let variance = lines().fold(0.0, |sum, (mass, middle, length)| {
            let distance = (middle - origin) - shift;
            sum + mass * (distance * distance + length * length / 12.0)
        });
        Moments { mean: origin + shift, variance }
    }
}

#[derive(Serialize, Deserialize)]
struct Parts {
    points: Vec<f64>,
    probabilities: Vec<f64>,
}

impl TryFrom<Parts> for CdfTable {
    type Error = Error;
    fn try_from(parts: Parts) -> Result<Self> {
        CdfTable::new(&parts.points, &parts.probabilities)
    }
}

impl From<CdfTable> for Parts {
    fn from(of: CdfTable) -> Self {
        Parts { points: of.points().collect(), probabilities: of.probabilities().collect() }
    }
}
