//! A forecast that is scored by some of its quantiles, and announced by them.
//!
//! ```text
//! score(q, y) = 2 Σ_k w_k ρ_k(y − q_k),   ρ_k(x) = x (τ_k − 1{x < 0}),   Σ w_k = 1
//! ```
//!
//! | forecast | levels | weights | the score is |
//! |---|---|---|---|
//! | quantile table | its own | 1/K | the weighted interval score, exactly |
//! | ensemble of m | (k − ½)/m | 1/m | the ensemble's CRPS, exactly |
//! | any other | 49, z = 6 sinh(3x)/sinh 3 | Φ between the midpoints | the CRPS at this resolution |
//!
//! Between the levels the quantile is linear in probit scores, beyond them by the spreads of the tails; at an atom an outcome's score is the middle of its
//! probabilities. How much worse one table can score than another is exact too: the difference is piecewise linear in y, with corners at the quantiles.
//! Cost: O(K) each, with running sums; nothing allocates once the buffers have grown.

use std::sync::LazyLock;

use crate::forecast::{Forecast, Knot, ProbitCurve, Tabular, interpolate};
use crate::grid::Levels;
use crate::normal;

/// Scores are held within this.
const FARTHEST: f64 = 60.0;
/// The chord that gives a tail its spread goes over so many quantiles.
const CHORD: usize = 4;

/// Where forecasts without quantiles of their own are read.
static READ_AT: LazyLock<(Levels, Vec<f64>)> = LazyLock::new(|| {
    let levels = Levels::fine();
    let z = levels.probits();
    let middle = |k: usize| 0.5 * (z[k] + z[k + 1]);
    let below = |k: usize| if k + 1 == z.len() { 1.0 } else { normal::cdf(middle(k)) };
    let weights = (0..z.len()).map(|k| below(k) - if k == 0 { 0.0 } else { below(k - 1) }).collect();
    (levels, weights)
});

/// How the tails of a table of this kind continue.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Tails {
    /// By the chord over the outer four quantiles.
    #[default]
    Chord,
    /// By the standard deviation of the ensemble.
    Deviation,
}

/// A table of quantiles, with its score.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Table {
    probits: Vec<f64>,
    /// τ_k and 1 − τ_k.
    below: Vec<f64>,
    above: Vec<f64>,
    weights: Vec<f64>,
    values: Vec<f64>,
    lower: f64,
    upper: f64,
    tails: Tails,
    /// The support of the forecast, and the bounds that are known of the outcome.
    low: f64,
    high: f64,
}

impl Table {
    /// Takes over a forecast; `bounds` are known of its outcome.
    pub(crate) fn take(&mut self, forecast: &dyn Forecast, bounds: Option<(f64, f64)>) {
        let equal = |count: usize| std::iter::repeat_n(1.0 / count as f64, count);
        self.probits.clear();
        self.weights.clear();
        self.values.clear();
        (self.low, self.high) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        self.tails = Tails::Chord;
        match forecast.as_table() {
            Some(Tabular::Quantiles { probits, values, support }) => {
                self.probits.extend_from_slice(probits);
                (self.low, self.high) = (self.low.max(support.0), self.high.min(support.1));
                self.values.extend(values.iter().map(|value| value.clamp(support.0, support.1)));
                self.weights.extend(equal(values.len()));
            }
            Some(Tabular::Ensemble { values }) => {
                let count = values.len() as f64;
                self.probits.extend((0..values.len()).map(|k| normal::quantile((k as f64 + 0.5) / count)));
                self.values.extend_from_slice(values);
                self.weights.extend(equal(values.len()));
                self.tails = Tails::Deviation;
            }
            None => {
                let (levels, weights) = &*READ_AT;
                self.probits.extend_from_slice(levels.probits());
                self.weights.extend_from_slice(weights);
                self.values.resize(weights.len(), 0.0);
                forecast.at_probits(levels.probits(), &mut self.values);
                let (low, high) = (forecast.quantile(0.0), forecast.quantile(1.0));
                (self.low, self.high) = (self.low.max(low), self.high.min(high));
            }
        }
        // A forecast that lies beyond the bounds contradicts what is known, and that is believed.
        if self.low >= self.high
            && let Some(known) = bounds
        {
            (self.low, self.high) = known;
        }
        self.below.clear();
        self.above.clear();
        self.below.extend(self.probits.iter().map(|&t| normal::cdf(t)));
        self.above.extend(self.probits.iter().map(|&t| normal::sf(t)));
        (self.lower, self.upper) = self.spreads(&self.values);
    }

    /// True if every quantile is a number.
    pub(crate) fn is_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite()) && (self.lower + self.upper).is_finite()
    }

    pub(crate) fn probits(&self) -> &[f64] {
        &self.probits
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// dy/dz beyond the outer quantiles.
    fn spreads(&self, values: &[f64]) -> (f64, f64) {
        if self.tails == Tails::Deviation {
            let spread = crate::forecast::standard_deviation(values);
            return (spread, spread);
        }
        let (t, last) = (&self.probits, values.len() - 1);
        let chord = |a: usize, b: usize| if b > a { (values[b] - values[a]) / (t[b] - t[a]) } else { 0.0 };
        let far = (CHORD - 1).min(last);
        (chord(0, far), chord(last - far, last))
    }

    /// The quantile at probit score `z`.
    pub(crate) fn at(&self, z: f64) -> f64 {
        let (t, q, last) = (&self.probits, &self.values, self.values.len() - 1);
        if z <= t[0] {
            return q[0] + self.lower * (z - t[0]);
        }
        match t.partition_point(|&knot| knot <= z) {
            i if i > last => q[last] + self.upper * (z - t[last]),
            i => interpolate((t[i - 1], q[i - 1]), (t[i], q[i]), z),
        }
    }

    /// The probit score of an outcome.
    pub(crate) fn z(&self, y: f64) -> f64 {
        let (q, t, last) = (&self.values, &self.probits, self.values.len() - 1);
        let beyond =
            |distance: f64, spread: f64| if spread > 0.0 { distance / spread } else { f64::INFINITY };
        if y < q[0] {
            return (t[0] - beyond(q[0] - y, self.lower)).max(-FARTHEST);
        }
        if y > q[last] {
            return (t[last] + beyond(y - q[last], self.upper)).min(FARTHEST);
        }
        let between = |k: usize| interpolate((q[k - 1], t[k - 1]), (q[k], t[k]), y);
        let right = q.partition_point(|&value| value <= y);
        let left = q.partition_point(|&value| value < y);
        let high = if right > last { t[last] } else { between(right) };
        let low = if left == 0 { t[0] } else { between(left) };
        if high <= low + 1e-12 {
            return high;
        }
        let middle = |f: fn(f64) -> f64| 0.5 * (f(high) + f(low));
        let (below, above) = (middle(normal::cdf), middle(normal::sf));
        // An atom around the median is at the median, whatever its ends were rounded to.
        if (below - above).abs() <= 4.0 * f64::EPSILON { 0.0 } else { normal::probit(below, above) }
    }

    /// Half the distance between the quantiles at the neighbours of each level.
    pub(crate) fn widths(&self, levels: &Levels, out: &mut [f64]) {
        let z = levels.probits();
        let last = z.len() - 1;
        let (mut before, mut here) = (self.at(z[0]), self.at(z[1]));
        out[0] = here - before;
        for j in 1..last {
            let after = self.at(z[j + 1]);
            out[j] = 0.5 * (after - before);
            (before, here) = (here, after);
        }
        out[last] = here - before;
    }

    /// The quantiles that are announced where those of the base at `places` are meant.
    pub(crate) fn render(&self, places: impl Iterator<Item = f64>, out: &mut Vec<f64>) {
        out.clear();
        for z in places {
            let value = self.at(z).clamp(self.low, self.high);
            out.push(out.last().map_or(value, |&last: &f64| value.max(last)));
        }
    }

    /// The score of `values` for the outcome `y`.
    pub(crate) fn score(&self, values: &[f64], y: f64) -> f64 {
        let terms = values.iter().zip(&self.weights).zip(self.below.iter().zip(&self.above));
        let losses = terms.map(|((&value, &weight), (&below, &above))| {
            weight * if y >= value { below * (y - value) } else { above * (value - y) }
        });
        2.0 * losses.sum::<f64>()
    }

    /// Σ_i w_i score(own, q_i): what the base expects of itself.
    pub(crate) fn expected_score(&self) -> f64 {
        let (q, w) = (&self.values, &self.weights);
        // Corners are the quantiles, in order: the slope of the score in y changes by 2 w_k at q_k.
        let mut here = self.score(q, q[0]);
        let mut slope = -2.0 * w.iter().zip(&self.below).map(|(w, below)| w * below).sum::<f64>();
        let mut expected = w[0] * here;
        for k in 1..q.len() {
            slope += 2.0 * w[k - 1];
            here += slope * (q[k] - q[k - 1]);
            expected += w[k] * here;
        }
        expected
    }

    /// max over y of score(g, y) − score(s, y), at least 0.
    pub(crate) fn worst_case(&self, g: &[f64], s: &[f64]) -> f64 {
        // Far below both, and from there along all quantiles of both in their order.
        let far = self.weights.iter().zip(&self.above).zip(g.iter().zip(s));
        let mut difference = 2.0 * far.map(|((w, above), (g, s))| w * above * (g - s)).sum::<f64>();
        let (mut i, mut j, mut slope) = (0, 0, 0.0);
        let mut most = difference.max(0.0);
        let mut place = f64::NAN;
        while i < g.len() || j < s.len() {
            let of_g = j == s.len() || (i < g.len() && g[i] <= s[j]);
            let next = if of_g { g[i] } else { s[j] };
            if slope != 0.0 {
                difference += slope * (next - place);
                most = most.max(difference);
            }
            place = next;
            if of_g {
                slope += 2.0 * self.weights[i];
                i += 1;
            } else {
                slope -= 2.0 * self.weights[j];
                j += 1;
            }
        }
        most
    }

    /// The distribution that is announced: `values` at the table's levels. Where the support ends it is that of the quantiles at `place` of each level,
    /// clipped: between two levels, one of which lies beyond, values that are clipped themselves would say something else.
    pub(crate) fn announced(&self, values: &[f64], place: impl Fn(f64) -> f64) -> ProbitCurve {
        let free;
        let values = if self.low.is_finite() || self.high.is_finite() {
            let mut floor = f64::NEG_INFINITY;
            free = Vec::from_iter(self.probits.iter().zip(values).map(|(&t, &value)| {
                let inside = self.low < value && value < self.high;
                floor = if inside { value } else { self.at(place(t)) }.max(floor);
                floor
            }));
            &free[..]
        } else {
            values
        };
        let (lower, upper) = self.spreads(values);
        let knots = values.iter().zip(&self.probits).map(|(&y, &z)| Knot { y, z }).collect();
        ProbitCurve::from_parts(knots, lower, upper).within(self.low, self.high)
    }
}
