//! The point of the unit cube at which a criterion is largest: many candidates, then local ascent from the best of them.
//!
//! Candidates are half uniform, half near the anchors (the best points so far), where a late search has its maximum. From each of the best few, and from
//! the anchors, a spectral projected gradient ascent runs in the cube (Birgin, Martínez & Raydan 2000): steps of Barzilai and Borwein's length, projected on the cube,
//! halved until they gain. Ends are snapped to points of the space and compared there. Points too near to one that must not be suggested are passed over.
//!
//! Cost: `candidates` values and at most `starts` · `steps` · 2 gradients.

use serde::{Deserialize, Serialize};
use truecast::{normal, random};

use crate::draws;
use crate::error::{self, Error, Result};
use crate::space::Space;

/// How hard to search.
///
/// | name | default | meaning |
/// |---|---|---|
/// | `candidates` | 400 | values that are looked at first |
/// | `starts` | 6 | local ascents |
/// | `steps` | 40 | steps of each |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Values that are looked at first.
    pub candidates: usize,
    /// Local ascents.
    pub starts: usize,
    /// Steps of each.
    pub steps: usize,
}

impl Default for Search {
    fn default() -> Self {
        Search { candidates: 400, starts: 6, steps: 40 }
    }
}

impl Search {
    /// Checks that there is something to choose from.
    pub fn validate(&self) -> Result<()> {
        let least = self.candidates as f64;
        error::setting("the number of candidates", "1 or more", least, self.candidates > 0).map(|_| ())
    }
}

/// A ball of the unit cube in which nothing is suggested.
#[derive(Debug, Clone, PartialEq)]
pub struct Excluded {
    /// Its centre.
    pub centre: Vec<f64>,
    /// Its radius, itself excluded.
    pub radius: f64,
}

impl Excluded {
    /// True if `x` lies in it.
    pub fn holds(&self, x: &[f64]) -> bool {
        let square: f64 = self.centre.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum();
        square <= self.radius * self.radius
    }
}

/// A value and, where it is known, its gradient.
pub type Valued = (f64, Option<Vec<f64>>);

/// What is maximised.
pub trait Target {
    /// The value at `x`.
    fn value(&self, x: &[f64]) -> Result<f64>;

    /// The value and its gradient.
    fn with_gradient(&self, x: &[f64]) -> Result<Valued>;
}

impl Target for crate::criterion::Criterion<'_> {
    fn value(&self, x: &[f64]) -> Result<f64> {
        self.value(x)
    }

    fn with_gradient(&self, x: &[f64]) -> Result<Valued> {
        self.with_gradient(x)
    }
}

/// The snapped point of largest value, and its value; `None` where every point is excluded. Points that the target refuses are passed over; if it
/// refuses all of them, its last error is returned.
pub fn maximise(
    target: &dyn Target,
    space: &Space,
    anchors: &[Vec<f64>],
    excluded: &[Excluded],
    search: Search,
    (seed, step): (u64, u64),
) -> Result<Option<(Vec<f64>, f64)>> {
    let mut refused = None;
    let mut look = |place: Vec<f64>| -> Result<Option<(Vec<f64>, f64)>> {
        let place = space.snapped(&place)?;
        match target.value(&place) {
            Ok(value) => Ok(Some((place, value))),
            Err(error) => {
                refused = Some(error);
                Ok(None)
            }
        }
    };
    let mut found = Vec::new();
    for anchor in anchors {
        found.extend(look(anchor.clone())?);
    }
    let known = found.len();
    for i in 0..search.candidates {
        found.extend(look(candidate(i, space.width(), anchors, (seed, step)))?);
    }
    let mut order: Vec<usize> = (known..found.len()).collect();
    order.sort_by(|&a, &b| found[b].1.total_cmp(&found[a].1));
    let starts: Vec<Vec<f64>> =
        order.iter().take(search.starts).copied().chain(0..known).map(|i| found[i].0.clone()).collect();
    for start in starts {
        if let Ok(end) = ascend(target, start, search.steps) {
            found.extend(look(end)?);
        }
    }
    if found.is_empty() {
        return Err(refused.unwrap_or(Error::NotFinite { what: "every value", value: f64::NAN }));
    }
    let allowed = found.into_iter().filter(|(x, _)| !excluded.iter().any(|ball| ball.holds(x)));
    // The first of equals, so that the answer does not hang on the order of a sort.
    Ok(allowed.fold(None, |best: Option<(Vec<f64>, f64)>, next| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    }))
}

/// Candidate number i: uniform, or normal around an anchor at one of several distances.
fn candidate(i: usize, width: usize, anchors: &[Vec<f64>], (seed, step): (u64, u64)) -> Vec<f64> {
    // One step's candidates are far from the next one's.
    let key = step.wrapping_mul(1 << 20).wrapping_add(i as u64);
    let draws = draws::point(seed, key, width);
    if i.is_multiple_of(2) || anchors.is_empty() {
        return draws;
    }
    let anchor = &anchors[(i / 2) % anchors.len()];
    let reach = 0.3 * libm::pow(10.0, -3.0 * random::uniform(seed, key, u32::MAX));
    let near =
        |(x, u): (&f64, f64)| (x + reach * normal::quantile(u.clamp(1e-9, 1.0 - 1e-9))).clamp(0.0, 1.0);
    anchor.iter().zip(draws).map(near).collect()
}

/// Projected ascent from `start`; ends where no step gains.
fn ascend(target: &dyn Target, start: Vec<f64>, steps: usize) -> Result<Vec<f64>> {
    let mut x = start;
    let (mut value, mut gradient) = valued(target, &x)?;
    let largest = gradient.iter().fold(0.0_f64, |most, slope| most.max(slope.abs()));
    // The first step moves the steepest coordinate by a tenth of the cube.
    let mut length = if largest > 0.0 { 0.1 / largest } else { return Ok(x) };
    for _ in 0..steps {
        let mut next = None;
        for _ in 0..12 {
            let moved: Vec<f64> =
                x.iter().zip(&gradient).map(|(x, slope)| (x + length * slope).clamp(0.0, 1.0)).collect();
            let gain: f64 =
                moved.iter().zip(&x).zip(&gradient).map(|((to, from), slope)| (to - from) * slope).sum();
            if gain <= 0.0 {
                return Ok(x);
            }
            // Armijo's rule: a ten-thousandth of what the gradient promises.
            match target.value(&moved) {
                Ok(found) if found >= value + 1e-4 * gain => {
                    next = Some(moved);
                    break;
                }
                _ => length *= 0.25,
            }
        }
        let Some(moved) = next else { return Ok(x) };
        let (reached, slopes) = valued(target, &moved)?;
        let (mut square, mut bend) = (0.0, 0.0);
        for k in 0..x.len() {
            let by = moved[k] - x[k];
            square += by * by;
            bend -= by * (slopes[k] - gradient[k]);
        }
        let small = reached - value <= 1e-10 * (1.0 + value.abs());
        (x, value, gradient) = (moved, reached, slopes);
        if small || square < 1e-18 {
            return Ok(x);
        }
        length = if bend > 0.0 { (square / bend).clamp(1e-12, 1e12) } else { 10.0 * length };
    }
    Ok(x)
}

/// The value with a gradient: the target's own, or central differences.
fn valued(target: &dyn Target, x: &[f64]) -> Result<(f64, Vec<f64>)> {
    let (value, gradient) = target.with_gradient(x)?;
    let gradient = match gradient {
        Some(gradient) => gradient,
        None => differences(target, x)?,
    };
    match gradient.iter().find(|slope| !slope.is_finite()) {
        Some(&value) => Err(Error::NotFinite { what: "a slope of the acquisition", value }),
        None => Ok((value, gradient)),
    }
}

fn differences(target: &dyn Target, x: &[f64]) -> Result<Vec<f64>> {
    const STEP: f64 = 1e-5;
    let mut moved = x.to_vec();
    (0..x.len())
        .map(|k| {
            let (low, high) = ((x[k] - STEP).max(0.0), (x[k] + STEP).min(1.0));
            moved[k] = high;
            let above = target.value(&moved)?;
            moved[k] = low;
            let below = target.value(&moved)?;
            moved[k] = x[k];
            Ok((above - below) / (high - low))
        })
        .collect()
}
