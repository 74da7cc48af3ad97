//! Adaptive Gauss-Kronrod quadrature on a finite interval.
//!
//! A panel is integrated by the 15-point Kronrod rule; the 7-point Gauss rule on the same nodes gives the error
//! estimate of QUADPACK (Piessens et al. 1983). A panel that misses its tolerance is halved.
//!
//! What we add is a look at the two ends. The rule's outer nodes leave 0.4 % of the panel unseen on either side, and
//! a distribution function likes to hide its step exactly there, next to a point we split at. So the integrand is
//! also taken at the ends, and compared with the polynomial through the 15 nodes: where the two disagree, the
//! disagreement times the unseen length counts as error. Smooth integrands pass at no cost but two evaluations.
//!
//! Cost: 17 evaluations per panel, no allocation, at most [`MOST_PANELS`] panels.

/// No call looks at more panels than this: an integrand too rough for it returns with an error estimate that says so.
pub(crate) const MOST_PANELS: usize = 4_000;

/// Halving stops at this depth: a panel is then 2⁻⁵² of the interval, the resolution of `f64`.
const DEEPEST: usize = 52;

/// What an error estimate is held against: met where it is below either of the two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tolerance {
    /// Relative to the integral over the panel itself.
    pub(crate) relative: f64,
    /// In units of the integral, for each panel.
    pub(crate) absolute: f64,
}

impl Tolerance {
    /// Is the panel good enough as it is?
    pub(crate) fn is_met(&self, panel: Integral) -> bool {
        panel.error <= self.absolute.max(self.relative * panel.value.abs())
    }
}

/// An integral and the sum of the panels' error estimates.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Integral {
    /// The integral.
    pub(crate) value: f64,
    /// The estimate of its error, nearly always far too large.
    pub(crate) error: f64,
}

/// ∫ from `low` to `high` of `f`, both finite; 0 where the interval is empty.
pub(crate) fn integrate(f: impl Fn(f64) -> f64, low: f64, high: f64, tolerance: Tolerance) -> Integral {
    // Depth-first, so the stack holds at most one waiting sibling per depth.
    let mut waiting = [(0.0, 0.0, 0_usize); DEEPEST + 1];
    let mut count = 0;
    let mut panels = 0;
    let mut next = (low < high).then_some((low, high, 0_usize));
    let mut total = Integral::default();
    let mut lost = 0.0; // Neumaier's running compensation of `total.value`
    while let Some((a, b, depth)) = next {
        let panel = single(&f, a, b);
        panels += 1;
        let middle = a + 0.5 * (b - a);
        let exhausted = panels >= MOST_PANELS || depth == DEEPEST || middle <= a || middle >= b;
        if tolerance.is_met(panel) || exhausted || !panel.error.is_finite() {
            let sum = total.value + panel.value;
            lost += if total.value.abs() >= panel.value.abs() {
                (total.value - sum) + panel.value
            } else {
                (panel.value - sum) + total.value
            };
            total = Integral { value: sum, error: total.error + panel.error };
            next = None;
            if count > 0 {
                count -= 1;
                next = Some(waiting[count]);
            }
        } else {
            waiting[count] = (middle, b, depth + 1);
            count += 1;
            next = Some((a, middle, depth + 1));
        }
    }
    Integral { value: total.value + lost, ..total }
}

/// One panel: the Kronrod rule and its error estimate.
pub(crate) fn single(f: impl Fn(f64) -> f64, low: f64, high: f64) -> Integral {
    let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
    if half <= 0.0 {
        return Integral::default();
    }
    let mut values = [0.0; 15];
    for (k, &node) in NODES.iter().enumerate() {
        values[k] = f(centre - half * node);
        values[14 - k] = if k == 7 { values[7] } else { f(centre + half * node) };
    }

    let folded = |k: usize| if k == 7 { values[7] } else { values[k] + values[14 - k] };
    let kronrod: f64 = (0..8).map(|k| KRONROD[k] * folded(k)).sum();
    let gauss: f64 = (0..4).map(|k| GAUSS[k] * folded(2 * k + 1)).sum();

    // QUADPACK: the deviation from the panel's mean says how much there was to resolve. The Kronrod rule is far
    // better than its difference to the Gauss rule once that difference is small beside the deviation.
    let mean = 0.5 * kronrod;
    let deviation: f64 = (0..15).map(|k| KRONROD[k.min(14 - k)] * (values[k] - mean).abs()).sum();
    let difference = (kronrod - gauss).abs();
    let inner = if deviation > 0.0 && difference > 0.0 {
        let ratio = 200.0 * difference / deviation;
        deviation * (ratio * libm::sqrt(ratio)).min(1.0)
    } else {
        difference
    };

    // The ends from inside, so that a jump exactly at an end belongs to the neighbour.
    let at_low: f64 = (0..15).map(|k| AT_END[k] * values[k]).sum();
    let at_high: f64 = (0..15).map(|k| AT_END[k] * values[14 - k]).sum();
    let surprise = (f(low.next_up()) - at_low).abs().max((f(high.next_down()) - at_high).abs());
    let unseen = 1.0 - NODES[0];
    Integral { value: half * kronrod, error: half * inner.max(surprise * unseen) }
}

/// The positive Kronrod nodes and 0, from the outside in; those at odd indices are the Gauss nodes.
const NODES: [f64; 8] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_46,
    0.0,
];

const KRONROD: [f64; 8] = [
    0.022_935_322_010_529_224,
    0.063_092_092_629_978_56,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_9,
    0.209_482_141_084_727_82,
];

const GAUSS: [f64; 4] =
    [0.129_484_966_168_869_7, 0.279_705_391_489_276_64, 0.381_830_050_505_118_9, 0.417_959_183_673_469_4];

/// The value at an end of the polynomial through the 15 nodes: its weights, from the nearest node to the farthest.
const AT_END: [f64; 15] = [
    1.453_983_731_103_312_4,
    -0.706_673_993_404_573_8,
    0.420_047_199_720_882_9,
    -0.291_418_695_919_990_6,
    0.221_175_970_224_892_72,
    -0.174_570_351_562_241_32,
    0.139_783_431_782_908_4,
    -0.112_929_172_918_981_48,
    0.091_687_296_848_570_97,
    -0.073_778_979_644_262_45,
    0.057_719_118_618_911_435,
    -0.043_250_815_978_173_98,
    0.030_438_309_530_367_933,
    -0.018_451_577_046_963_43,
    0.006_238_528_645_340_283,
];

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Tolerance = Tolerance { relative: 1e-12, absolute: 0.0 };

    /// 1e-13: the rules are exact on these polynomials, so only rounding remains, some 20 operations of it.
    #[test]
    fn the_rule_is_exact_for_polynomials_up_to_degree_22() {
        for degree in 0..=22 {
            let exact = (3_f64.powi(degree + 1) - 1.0) / f64::from(degree + 1);
            let got = single(|x| x.powi(degree), 1.0, 3.0).value;
            assert!((got / exact - 1.0).abs() < 1e-13, "degree {degree}: {got} for {exact}");
        }
    }

    /// The polynomial of degree 14 through 15 points is the integrand itself.
    #[test]
    fn a_polynomial_is_no_surprise_at_the_ends() {
        let panel = single(|x| x.powi(6) - x, -1.0, 2.0);
        assert!(panel.error < 1e-13, "{panel:?}");
    }

    #[test]
    fn smooth_kinked_and_jumping_integrands() {
        // 1e-11: ten times the tolerance of a panel. The jump needs the last halvings, and is right to 2⁻⁵².
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 5] = [
            (libm::exp, 0.0, 1.0, std::f64::consts::E - 1.0),
            (|x| 1.0 / (1.0 + x * x), -50.0, 50.0, 2.0 * 1.550_798_992_821_746),
            (libm::sqrt, 0.0, 1.0, 2.0 / 3.0),
            (|x| (x - 0.3).abs(), 0.0, 1.0, 0.29),
            (
                |x| if x < std::f64::consts::FRAC_1_PI { 0.0 } else { 1.0 },
                0.0,
                1.0,
                1.0 - std::f64::consts::FRAC_1_PI,
            ),
        ];
        for (k, (f, low, high, exact)) in cases.into_iter().enumerate() {
            let got = integrate(f, low, high, TIGHT);
            assert!((got.value / exact - 1.0).abs() < 1e-11, "case {k}: {got:?} for {exact}");
        }
    }

    /// A step of width 1 at the end of a panel of width 1e9: no node of the plain rule comes near it.
    #[test]
    fn a_step_hidden_at_an_end_is_found() {
        let f = |x: f64| libm::exp(-x);
        let got = integrate(f, 0.0, 1e9, TIGHT);
        assert!((got.value - 1.0).abs() < 1e-11, "{got:?}");
        let mirrored = integrate(|x| f(-x), -1e9, 0.0, TIGHT);
        assert!((mirrored.value - 1.0).abs() < 1e-11, "{mirrored:?}");
    }

    #[test]
    fn empty_and_tiny_intervals_are_zero() {
        assert_eq!(integrate(|_| 1.0, 2.0, 2.0, TIGHT).value, 0.0);
        assert_eq!(integrate(|_| 1.0, 3.0, 2.0, TIGHT).value, 0.0);
        let tiny = integrate(|_| 1.0, 1.0, 1.0 + f64::EPSILON, TIGHT).value;
        assert!((0.0..=2.0 * f64::EPSILON).contains(&tiny), "{tiny}");
    }

    /// Noise defeats any error estimate; the panel limit ends the call, and the error says that it was not met.
    #[test]
    fn noise_ends_at_the_panel_limit() {
        let count = std::cell::Cell::new(0);
        let got = integrate(
            |x| {
                count.set(count.get() + 1);
                libm::sin(1e13 * x) // turns over far faster than the deepest panel resolves
            },
            0.0,
            1.0,
            TIGHT,
        );
        assert!(got.error > 1e-6, "{got:?}");
        // After the limit each waiting sibling is looked at once.
        assert!(count.get() <= 17 * (MOST_PANELS + DEEPEST + 1), "{}", count.get());
    }
}
