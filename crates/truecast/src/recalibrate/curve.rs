//! A calibrated forecast seen from its base: an increasing curve t(z), piecewise linear.
//!
//! ```text
//! G = Φ ∘ t ∘ Φ⁻¹ ∘ F           level: z ↦ t          place: t ↦ z, its inverse
//! blend of s and g with weight l: place = (1 − l) · place_s + l · place_g          (quantile averaging)
//! ```
//!
//! Invariant: at least one knot; z and t finite and non-decreasing; slopes beyond the outer knots positive and finite. Two knots at one z are a
//! jump (an atom of G), two at one t a gap. Cost: a binary search; a blend is O(knots · log knots). Nothing allocates once the buffers have grown.

use serde::{Deserialize, Serialize};

use crate::error::SnapshotError;
use crate::forecast::interpolate;
use crate::grid::Levels;
use crate::normal;

/// Probabilities nearer to 0 or 1 than this say nothing about how far a tail reaches.
const SMALLEST: f64 = 1e-12;
/// The slope beyond the outer levels is that over this part of the levels…
const OUTER_PART: usize = 4;
/// … and stays within these.
const SLOPES: (f64, f64) = (0.02, 50.0);

/// The curve t(z).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Curve {
    z: Vec<f64>,
    t: Vec<f64>,
    left: f64,
    right: f64,
}

impl Default for Curve {
    fn default() -> Self {
        Curve { z: vec![0.0], t: vec![0.0], left: 1.0, right: 1.0 }
    }
}

impl Curve {
    /// Base probit scores of the knots.
    pub fn places(&self) -> &[f64] {
        &self.z
    }

    /// Calibrated probit scores of the knots.
    pub fn levels(&self) -> &[f64] {
        &self.t
    }

    /// dt/dz below the first knot and above the last one.
    pub fn slopes(&self) -> (f64, f64) {
        (self.left, self.right)
    }

    /// True for the curve that changes nothing.
    pub fn is_identity(&self) -> bool {
        (self.left, self.right) == (1.0, 1.0) && self.z == self.t
    }

    /// t(z), continuous from the right.
    pub fn level(&self, z: f64) -> f64 {
        let last = self.z.len() - 1;
        match self.z.partition_point(|&knot| knot <= z) {
            0 => self.t[0] + self.left * (z - self.z[0]),
            i if i > last => self.t[last] + self.right * (z - self.z[last]),
            i => interpolate((self.z[i - 1], self.t[i - 1]), (self.z[i], self.t[i]), z),
        }
    }

    /// The same for places that do not decrease from call to call: `near` counts the knots at or below the last one, 0 at first.
    pub(crate) fn level_near(&self, z: f64, near: &mut usize) -> f64 {
        while self.z.get(*near).is_some_and(|&knot| knot <= z) {
            *near += 1;
        }
        let last = self.z.len() - 1;
        match *near {
            0 => self.t[0] + self.left * (z - self.z[0]),
            i if i > last => self.t[last] + self.right * (z - self.z[last]),
            i => interpolate((self.z[i - 1], self.t[i - 1]), (self.z[i], self.t[i]), z),
        }
    }

    /// The limit of t from the left.
    pub fn level_left(&self, z: f64) -> f64 {
        let last = self.z.len() - 1;
        match self.z.partition_point(|&knot| knot < z) {
            0 => self.t[0] + self.left * (z - self.z[0]),
            i if i > last => self.t[last] + self.right * (z - self.z[last]),
            i => interpolate((self.z[i - 1], self.t[i - 1]), (self.z[i], self.t[i]), z),
        }
    }

    /// The smallest z with t(z) ≥ `t`: the quantile.
    pub fn quantile(&self, t: f64) -> f64 {
        let last = self.t.len() - 1;
        match self.t.partition_point(|&knot| knot < t) {
            0 => self.z[0] + (t - self.t[0]) / self.left,
            i if i > last => self.z[last] + (t - self.t[last]) / self.right,
            i => interpolate((self.t[i - 1], self.z[i - 1]), (self.t[i], self.z[i]), t),
        }
    }

    /// The inverse; where t is flat, its upper end. Differs from [`quantile`](Curve::quantile) there alone.
    pub fn place(&self, t: f64) -> f64 {
        let last = self.t.len() - 1;
        match self.t.partition_point(|&knot| knot <= t) {
            0 => self.z[0] + (t - self.t[0]) / self.left,
            i if i > last => self.z[last] + (t - self.t[last]) / self.right,
            i => interpolate((self.t[i - 1], self.z[i - 1]), (self.t[i], self.z[i]), t),
        }
    }

    /// dt/dz at `z`, from the right.
    pub(crate) fn slope(&self, z: f64) -> f64 {
        match self.z.partition_point(|&knot| knot <= z) {
            0 => self.left,
            i if i == self.z.len() => self.right,
            i => (self.t[i] - self.t[i - 1]) / (self.z[i] - self.z[i - 1]),
        }
    }

    /// Becomes the curve that changes nothing.
    pub(crate) fn set_identity(&mut self) {
        self.start(1.0, 1.0);
        self.push(0.0, 0.0);
    }

    /// Becomes a copy, without an allocation.
    pub(crate) fn copy_from(&mut self, other: &Curve) {
        self.z.clone_from(&other.z);
        self.t.clone_from(&other.t);
        (self.left, self.right) = (other.left, other.right);
    }

    /// Becomes the map through (z_j, Φ⁻¹(p_j)) for non-decreasing p: straight between levels, beyond them with the slope over the outer quarter.
    pub(crate) fn set_announced(&mut self, levels: &Levels, p: &[f64]) {
        let z = levels.probits();
        self.start(1.0, 1.0);
        self.z.extend_from_slice(z);
        normal::lanes::quantiles_of(p, (SMALLEST, 1.0 - SMALLEST), &mut self.t);
        let last = z.len() - 1;
        let part = (last / OUTER_PART).max(1);
        let chord = |a: usize, b: usize| ((self.t[b] - self.t[a]) / (z[b] - z[a])).clamp(SLOPES.0, SLOPES.1);
        (self.left, self.right) = (chord(0, part), chord(last - part, last));
    }

    /// Becomes the paper's step function: p_1 from `first` on, p_{j+1} from z_j on, 1 from the last level on; its ends lie 1e-12 inside of 0 and 1.
    pub(crate) fn set_steps(&mut self, levels: &Levels, p: &[f64], first: f64) {
        self.start(SLOPES.1, SLOPES.1);
        let end = -normal::quantile(SMALLEST);
        let mut before = -end;
        for (place, &p) in std::iter::once(&first).chain(levels.probits()).zip(p.iter().chain([&1.0])) {
            let after = normal::quantile(p.clamp(SMALLEST, 1.0 - SMALLEST)).clamp(before, end);
            self.push(*place, before);
            self.push(*place, after);
            before = after;
        }
    }

    /// Becomes the curve with its quantile t_k at place z_k, `places` non-decreasing; beyond them it runs parallel to the base.
    pub(crate) fn set_quantiles(&mut self, places: &[f64], t: &[f64]) {
        self.start(1.0, 1.0);
        self.z.extend_from_slice(places);
        self.t.extend_from_slice(t);
    }

    /// Becomes the blend of `s` towards `g` with weight `l`: exactly, so that it bends and jumps where either does.
    pub(crate) fn set_blend(&mut self, s: &Curve, g: &Curve, l: f64) {
        let spread = |s: f64, g: f64| 1.0 / ((1.0 - l) / s + l / g);
        self.start(spread(s.left, g.left), spread(s.right, g.right));
        let (mut i, mut j) = (0, 0);
        loop {
            let t = match (s.t.get(i), g.t.get(j)) {
                (Some(&a), Some(&b)) => a.min(b),
                (Some(&t), None) | (None, Some(&t)) => t,
                (None, None) => break,
            };
            let low = (1.0 - l) * s.quantile(t) + l * g.quantile(t);
            let high = (1.0 - l) * s.place(t) + l * g.place(t);
            self.push(low, t);
            if high > low {
                self.push(high, t);
            }
            while s.t.get(i).is_some_and(|&a| a <= t) {
                i += 1;
            }
            while g.t.get(j).is_some_and(|&b| b <= t) {
                j += 1;
            }
        }
    }

    /// Starts anew with the given slopes and no knot.
    pub(crate) fn start(&mut self, left: f64, right: f64) {
        (self.left, self.right) = (left, right);
        self.z.clear();
        self.t.clear();
    }

    /// The next knot. Rounding must not make it smaller than the last one.
    pub(crate) fn push(&mut self, z: f64, t: f64) {
        self.z.push(self.z.last().map_or(z, |&last| z.max(last)));
        self.t.push(self.t.last().map_or(t, |&last| t.max(last)));
    }
}

/// The saved form.
#[derive(Serialize, Deserialize)]
struct Parts {
    z: Vec<f64>,
    t: Vec<f64>,
    left: f64,
    right: f64,
}

impl TryFrom<Parts> for Curve {
    type Error = SnapshotError;
    fn try_from(parts: Parts) -> Result<Self, SnapshotError> {
        let Parts { z, t, left, right } = parts;
        let increasing =
            |v: &[f64]| v.iter().all(|x| x.is_finite()) && v.windows(2).all(|pair| pair[0] <= pair[1]);
        let positive = |slope: f64| slope > 0.0 && slope.is_finite();
        if z.is_empty() || z.len() != t.len() || !increasing(&z) || !increasing(&t) {
            return Err(SnapshotError::Invalid {
                field: "map",
                rule: "knots that do not decrease, one at least",
            });
        }
        if !positive(left) || !positive(right) {
            return Err(SnapshotError::Invalid {
                field: "map",
                rule: "of positive, finite slope at its ends",
            });
        }
        Ok(Curve { z, t, left, right })
    }
}

impl From<Curve> for Parts {
    fn from(of: Curve) -> Self {
        Parts { z: of.z, t: of.t, left: of.left, right: of.right }
    }
}
