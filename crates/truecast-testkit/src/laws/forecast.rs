//! The laws of a predictive distribution.
//!
//! Outcomes are compared up to a few roundings of their own size, probabilities up to 1e-12 unless said otherwise; where
//! a law is about y, the tolerance follows the spacing of doubles there, because a narrow distribution far from 0 has few
//! doubles to itself.

use std::fmt::Debug;

use truecast::forecast::{AnyForecast, Forecast};
use truecast::grid::Levels;
use truecast::normal;

/// The probability scores at which laws are checked: fine in the middle, out to where Φ leaves the range of `f64`.
fn scores() -> impl Iterator<Item = f64> {
    (-400..=400).map(|k| {
        let x = f64::from(k) / 400.0;
        x * (6.0 + 34.0 * x * x)
    })
}

/// All laws.
pub fn forecast_laws(name: &str, forecast: &dyn Forecast) {
    distribution_laws(name, forecast);
    crps_law(name, forecast);
}

/// All laws, and that the distribution survives being saved and loaded.
pub fn any_forecast_laws(name: &str, forecast: &AnyForecast) {
    forecast_laws(name, forecast);
    serde_law(name, forecast);
}

/// All laws but that of the CRPS.
pub fn distribution_laws(name: &str, forecast: &dyn Forecast) {
    let law = Checked { name, forecast };
    let points = law.points();
    law.tails_add_up(&points);
    law.probabilities_do_not_decrease(&points);
    law.probits_agree_with_probabilities(&points);
    law.quantile_is_the_inverse();
    law.probits_round_trip();
    law.support_ends_at_the_extreme_quantiles();
    law.widths_are_finite();
    law.intervals_nest();
    law.kinks_lie_in_the_support();
    law.curve_is_the_distribution(&points);
    law.density_is_the_slope();
    law.moments_are_integrals();
}

/// The CRPS is not negative and is the integral that defines it, to 1e-7.
pub fn crps_law(name: &str, forecast: &dyn Forecast) {
    let law = Checked { name, forecast };
    let (low, high) = (forecast.at_probit(-3.0), forecast.at_probit(3.0));
    let scale = high - low;
    let grain = low.abs().max(high.abs());
    let middle = scores().step_by(57).map(|z| forecast.at_probit(z));
    let beyond = [low - 3.0 * scale - 0.1, high + 0.1 + 7.0 * scale];
    for y in middle.chain(beyond).filter(|y| y.is_finite()) {
        let crps = forecast.crps(y);
        let integral = law.crps_by_quadrature(y);
        let tolerance = 1e-7 * integral + 4e-16 * (grain + y.abs());
        law.holds("crps is its integral", (crps - integral).abs() <= tolerance, y, crps, integral);
        law.holds("crps is not negative", crps >= 0.0, y, crps, 0.0);
    }
}

/// Saved and loaded through JSON the distribution is the same, to the bit.
fn serde_law(name: &str, forecast: &AnyForecast) {
    let saved = serde_json::to_string(forecast).expect("a forecast can be written");
    let loaded: AnyForecast = serde_json::from_str(&saved)
        .unwrap_or_else(|error| panic!("{name}: what was saved does not load: {error}\n{saved}"));
    let law = Checked { name, forecast };
    law.holds("loaded equals saved", loaded == *forecast, &saved, &loaded, forecast);
    for y in law.points() {
        let (before, after) = (forecast.probit(y), loaded.probit(y));
        law.holds("loaded probit equals saved", before.to_bits() == after.to_bits(), y, after, before);
    }
}

struct Checked<'a> {
    name: &'a str,
    forecast: &'a dyn Forecast,
}

impl Checked<'_> {
    fn holds(&self, law: &str, holds: bool, input: impl Debug, left: impl Debug, right: impl Debug) {
        let Checked { name, forecast } = self;
        assert!(
            holds,
            "{name}: law broken: {law}\n at {input:?}\n  left: {left:?}\n right: {right:?}\n forecast: {forecast:?}"
        );
    }

    /// Outcomes to check at, in order: quantiles, their neighbours, kinks, and points beyond.
    fn points(&self) -> Vec<f64> {
        let mut points: Vec<f64> = scores().map(|z| self.forecast.at_probit(z)).collect();
        self.forecast.kinks(&mut points);
        points.retain(|y| y.is_finite());
        points.sort_by(f64::total_cmp);
        let (low, high) = (points[0], points[points.len() - 1]);
        let reach = (high - low).max(1e-3 * high.abs()).max(1e-12);
        points.extend([low - 10.0 * reach, low - 0.1 * reach, high + 0.1 * reach, high + 10.0 * reach]);
        let nudged: Vec<f64> = points.iter().flat_map(|y| [y.next_down(), y.next_up()]).collect();
        points.extend(nudged);
        points.retain(|y| y.is_finite());
        points.sort_by(f64::total_cmp);
        points.dedup(); // 0 and −0 too
        points
    }

    fn tails_add_up(&self, points: &[f64]) {
        for &y in points {
            let (cdf, sf) = (self.forecast.cdf(y), self.forecast.sf(y));
            self.holds("cdf lies in [0, 1]", (0.0..=1.0).contains(&cdf), y, cdf, "[0, 1]");
            self.holds("sf lies in [0, 1]", (0.0..=1.0).contains(&sf), y, sf, "[0, 1]");
            self.holds("cdf + sf = 1", (cdf + sf - 1.0).abs() <= 1e-12, y, cdf, sf);
        }
    }

    /// Up to rounding, 1e-14 relative for the smaller tail plus what one double's step in y makes of the score.
    fn probabilities_do_not_decrease(&self, points: &[f64]) {
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let (low, high) = (self.forecast.cdf(a), self.forecast.cdf(b));
            self.holds("cdf does not decrease", high >= low * (1.0 - 1e-12), (a, b), low, high);
            let (low, high) = (self.forecast.sf(b), self.forecast.sf(a));
            self.holds("sf does not increase", high >= low * (1.0 - 1e-12), (a, b), high, low);
            let (low, high) = (self.forecast.probit(a), self.forecast.probit(b));
            let tiny = 1e-12 * (1.0 + low.abs());
            self.holds("probit does not decrease", high >= low || high >= low - tiny, (a, b), low, high);
            let left = self.forecast.probit_left(b);
            let tiny = 1e-12 * (1.0 + left.abs());
            self.holds("probit_left <= probit", left <= high || left <= high + tiny, b, left, high);
            self.holds("probit before <= probit_left", low <= left || low <= left + tiny, (a, b), low, left);
        }
    }

    fn probits_agree_with_probabilities(&self, points: &[f64]) {
        for &y in points {
            let (cdf, sf) = (self.forecast.cdf(y), self.forecast.sf(y));
            let probit = self.forecast.probit(y);
            let expected = normal::probit(cdf, sf);
            if cdf.min(sf) > 1e-290 {
                let close = (probit - expected).abs() <= 1e-11 * (1.0 + expected.abs());
                self.holds("probit is that of cdf and sf", close, y, probit, expected);
            } else if cdf < sf {
                self.holds("a tail that underflows has a far probit", probit < -36.0, y, probit, (cdf, sf));
            } else {
                self.holds("a tail that underflows has a far probit", probit > 36.0, y, probit, (cdf, sf));
            }
        }
    }

    /// The smallest y with cdf(y) >= p, to within two doubles of y.
    fn quantile_is_the_inverse(&self) {
        for z in scores().filter(|z| *z < 8.0) {
            let p = normal::cdf(z);
            let y = self.forecast.quantile(p);
            self.is_inverse("quantile", p, y);
            // at_probit has the upper tail too.
            self.is_inverse("at_probit", p, self.forecast.at_probit(z));
            let (above, y) = (normal::sf(-z), self.forecast.at_probit(-z));
            if y.is_infinite() {
                continue; // beyond the range of f64
            }
            let (at, before) = (self.forecast.sf(step(y, 2)), self.forecast.probit_left(step(y, -2)));
            self.holds("sf(at_probit(z)) <= sf(z)", at <= above * (1.0 + 1e-11), -z, at, above);
            let enough = before <= -z + 1e-11 * (1.0 + z.abs());
            self.holds("before at_probit(z) the score is less", enough, -z, before, -z);
        }
    }

    fn is_inverse(&self, which: &str, p: f64, y: f64) {
        if y.is_infinite() {
            return; // beyond the range of f64
        }
        let at = self.forecast.cdf(step(y, 2));
        self.holds(&format!("cdf({which}(p)) >= p"), at >= p * (1.0 - 1e-11), (p, y), at, p);
        let before = normal::cdf(self.forecast.probit_left(step(y, -2)));
        self.holds(&format!("cdf before {which}(p) <= p"), before <= p * (1.0 + 1e-11), (p, y), before, p);
    }

    /// at_probit(probit(y)) = y wherever the distribution has neither an atom nor a gap next to y.
    fn probits_round_trip(&self) {
        let scale = self.forecast.at_probit(1.0) - self.forecast.at_probit(-1.0);
        for z in scores() {
            let y = self.forecast.at_probit(z);
            if !y.is_finite() || y == 0.0 {
                continue;
            }
            let near = 1e-9 * y.abs().max(1e-3 * scale);
            let around = [y - near, y, y + near].map(|x| self.forecast.probit(x));
            let smooth = around[0] < around[1] && around[1] < around[2] && around[2] - around[0] < 0.1;
            if !smooth || self.forecast.probit_left(y) != around[1] || around.iter().any(|z| z.is_infinite())
            {
                continue;
            }
            let back = self.forecast.at_probit(around[1]);
            // A score's rounding is worth (1 + |z|) ε of slope: near/rise is dy/dz.
            let slope = 2.0 * near / (around[2] - around[0]);
            let tolerance = 1e-13 * (y.abs() + (1.0 + z.abs()) * slope);
            self.holds("at_probit(probit(y)) = y", (back - y).abs() <= tolerance, z, back, y);
        }
    }

    fn support_ends_at_the_extreme_quantiles(&self) {
        let (low, high) = (self.forecast.quantile(0.0), self.forecast.quantile(1.0));
        self.holds("quantile(0) <= quantile(1)", low <= high, (), low, high);
        let ends = (self.forecast.at_probit(f64::NEG_INFINITY), self.forecast.at_probit(f64::INFINITY));
        self.holds("at_probit(±∞) are the ends of the support", ends == (low, high), (), ends, (low, high));
        for y in scores().map(|z| self.forecast.at_probit(z)) {
            self.holds("quantiles lie in the support", (low..=high).contains(&y), (), y, (low, high));
        }
        if low.is_finite() {
            let probit = self.forecast.probit(low.next_down());
            self.holds("below the support the score is -∞", probit == f64::NEG_INFINITY, low, probit, ());
        }
        if high.is_finite() {
            let probit = self.forecast.probit(high);
            self.holds("above the support the score is +∞", probit == f64::INFINITY, high, probit, ());
        }
    }

    fn widths_are_finite(&self) {
        let levels = Levels::stretched(25, 6.0, 3.0).expect("the default levels are valid");
        let mut widths = vec![f64::NAN; levels.count()];
        self.forecast.widths(&levels, &mut widths);
        for (level, &width) in widths.iter().enumerate() {
            self.holds(
                "widths are finite and not negative",
                width >= 0.0 && width.is_finite(),
                level,
                width,
                0,
            );
        }
    }

    fn intervals_nest(&self) {
        let mut inner = None;
        for coverage in [0.01, 0.2, 0.5, 0.8, 0.9, 0.99, 0.9999] {
            let (low, high) = self.forecast.interval(coverage).expect("the coverage is valid");
            if let Some((a, b)) = inner {
                self.holds("intervals nest", low <= a && b <= high, coverage, (low, high), (a, b));
            }
            let mass = normal::cdf(self.forecast.probit(step(high, 2)))
                - normal::cdf(self.forecast.probit_left(step(low, -2)));
            self.holds("intervals cover", mass >= coverage - 1e-11, coverage, mass, coverage);
            inner = Some((low, high));
        }
    }

    fn kinks_lie_in_the_support(&self) {
        let (low, high) = (self.forecast.quantile(0.0), self.forecast.quantile(1.0));
        let mut kinks = Vec::new();
        self.forecast.kinks(&mut kinks);
        for kink in kinks {
            self.holds("kinks lie in the support", (low..=high).contains(&kink), (), kink, (low, high));
        }
    }

    fn curve_is_the_distribution(&self, points: &[f64]) {
        let Some(curve) = self.forecast.curve() else { return };
        for &y in points {
            let (cdf, of_curve) = (self.forecast.cdf(y), normal::cdf(curve.probit(y)));
            self.holds("the curve's cdf is the cdf", (cdf - of_curve).abs() <= 1e-12, y, of_curve, cdf);
            let (sf, of_curve) = (self.forecast.sf(y), normal::sf(curve.probit(y)));
            self.holds("the curve's sf is the sf", (sf - of_curve).abs() <= 1e-12, y, of_curve, sf);
        }
    }

    /// Where there is a density, central differences of the CDF converge to it, to 1e-4: away from kinks, and where
    /// doubles are dense enough for a difference.
    fn density_is_the_slope(&self) {
        let mut kinks = Vec::new();
        self.forecast.kinks(&mut kinks);
        for z in scores().filter(|z| z.abs() < 5.0) {
            let y = self.forecast.at_probit(z);
            let Some(ln_density) = self.forecast.ln_density(y) else { continue };
            let slope = |h: f64| self.forecast.probability_between(y - h, y + h) / (2.0 * h);
            let mut h = 1e-3 * (self.forecast.at_probit(z + 0.5) - self.forecast.at_probit(z - 0.5));
            while h > 1e-8 * y.abs() && h > 0.0 {
                let (wide, narrow) = (slope(h), slope(0.5 * h));
                let kinked = kinks.iter().any(|k| (k - y).abs() <= 2.0 * h);
                if !kinked && (wide - narrow).abs() < 1e-5 * narrow {
                    let density = ln_density.exp();
                    let close = (narrow - density).abs() <= 1e-4 * density;
                    self.holds("the density is the slope of the cdf", close, y, density, narrow);
                    break;
                }
                h *= 0.125;
            }
        }
    }

    /// Mean and variance are E Y = c + ∫ (1 − F) above c − ∫ F below it and the same with 2 |y − c| for the second moment, to 1e-8, c
    /// the median. Where the variance is infinite the mean is not checked: there may be none.
    fn moments_are_integrals(&self) {
        let moments = self.forecast.moments();
        self.holds("the mean is a number", !moments.mean.is_nan(), (), moments, ());
        self.holds("the variance is not negative", moments.variance >= 0.0, (), moments, ());
        if moments.variance == f64::INFINITY {
            return;
        }
        let c = self.forecast.at_probit(0.0);
        let below = self.integral(c, |x, p| if x < c { p } else { 0.0 });
        let above = self.integral(c, |x, p| if x < c { 0.0 } else { p });
        let square = self.integral(c, |x, p| 2.0 * (x - c).abs() * p);
        let (shift, std) = (above - below, square.sqrt());
        // Outcomes are rounded to their own size, which a narrow distribution far from 0 feels.
        let (grain, mean) = (1e-15 * c.abs(), c + shift);
        let close = (moments.mean - mean).abs() <= 1e-8 * std + grain;
        self.holds("the mean is its integral", close, c, moments, mean);
        let variance = square - shift * shift;
        let close = (moments.variance - variance).abs() <= 1e-8 * square + grain * (4.0 * std + grain);
        self.holds("the variance is its integral", close, c, moments, variance);
    }

    /// ∫ F² below y + ∫ (1 − F)² above it.
    fn crps_by_quadrature(&self, y: f64) -> f64 {
        self.integral(y, |_, p| p * p)
    }

    /// ∫ f(x, F) below y + ∫ f(x, 1 − F) above it, by 16-point Gauss-Legendre between quantiles and kinks. A piece
    /// far longer than a neighbour is graded towards both ends, because the CDF may still turn there at the neighbour's scale.
    fn integral(&self, y: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        let mut cuts: Vec<f64> =
            (-296..=296).map(|k| self.forecast.at_probit(f64::from(k) * 0.125)).collect();
        self.forecast.kinks(&mut cuts);
        cuts.push(y);
        cuts.retain(|cut| cut.is_finite());
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let longer = |piece: &[f64], other: Option<&[f64]>| {
            other.is_some_and(|other| piece[1] - piece[0] > 8.0 * (other[1] - other[0]))
        };
        let pieces: Vec<&[f64]> = cuts.windows(2).collect();
        let mut sum = 0.0;
        for (i, &piece) in pieces.iter().enumerate() {
            let (a, b) = (piece[0], piece[1]);
            let before = i.checked_sub(1).map(|i| pieces[i]);
            let graded = longer(piece, before) || longer(piece, pieces.get(i + 1).copied());
            let integrand = |x: f64| {
                let p = if b <= y { self.forecast.cdf(x) } else { self.forecast.sf(x) };
                f(x, p)
            };
            let depth = if graded { 30 } else { 1 };
            let mut ends: Vec<f64> = (1..=depth).map(|k| a + (b - a) * 0.5_f64.powi(k)).collect();
            ends.extend((2..=depth).map(|k| b - (b - a) * 0.5_f64.powi(k)));
            ends.extend([a, b]);
            ends.sort_by(f64::total_cmp);
            sum += ends.windows(2).map(|ends| gauss_legendre(ends[0], ends[1], integrand)).sum::<f64>();
        }
        sum
    }
}

/// The double `count` steps up or down.
fn step(y: f64, count: i32) -> f64 {
    (0..count.abs()).fold(y, |y, _| if count > 0 { y.next_up() } else { y.next_down() })
}

/// Nodes and weights of the 16-point rule on [−1, 1], the positive half (Abramowitz & Stegun, table 25.4).
const GAUSS: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_1),
];

fn gauss_legendre(a: f64, b: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (middle, half) = (a + 0.5 * (b - a), 0.5 * (b - a));
    half * GAUSS.iter().map(|&(x, w)| w * (f(middle - half * x) + f(middle + half * x))).sum::<f64>()
}
