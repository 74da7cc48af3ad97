//! Ticks at round numbers.

use crate::number::tick_label;

/// Magnitudes beyond this leave no room for the arithmetic of a scale; they are drawn as missing.
pub(crate) const LARGEST: f64 = 1e300;

/// A round number on an axis, with its label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// The smallest of 1, 2, 5 × 10^k that is at least `least`.
pub(crate) fn nice_step(least: f64) -> f64 {
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    let power = 10.0_f64.powf(least.log10().floor());
    // Rounding of the logarithm must not skip a step: a hair above 1 is still 1.
    [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| m * power >= least * (1.0 - 1e-9)).unwrap_or(10.0) * power
}

/// About `count` steps over [low, high], which is not empty.
pub(crate) fn linear(low: f64, high: f64, count: usize, percent: bool) -> (f64, Vec<Tick>) {
    let step = nice_step((high - low) / count.max(1) as f64);
    // An end that is off by rounding still has its tick.
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    let largest = low.abs().max(high.abs());
    // No round number may lie inside; and a thousand of them are a defect, not an axis.
    let inside = (last - first + 1.0).clamp(0.0, 1_000.0) as usize;
    let ticks = (0..inside).map(|k| {
        let value = (first + k as f64) * step;
        let label = if percent {
            format!("{}\u{a0}%", tick_label(100.0 * value, 100.0 * step, 100.0 * largest))
        } else {
            tick_label(value, step, largest)
        };
        Tick { value, label }
    });
    (step, ticks.collect())
}

/// Powers of ten in [low, high], both above zero; with 2 and 5 times them where there would be fewer than three.
pub(crate) fn logarithmic(low: f64, high: f64) -> Vec<Tick> {
    let exponents = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let of = |multiples: &'static [f64]| {
        let values = exponents.clone().flat_map(move |k| multiples.iter().map(move |m| m * 10.0_f64.powi(k)));
        let inside = values.filter(|v| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(v));
        inside.map(|value| Tick { value, label: tick_label(value, value, value) }).collect::<Vec<_>>()
    };
    let decades = of(&[1.0]);
    if decades.len() >= 3 { decades } else { of(&[1.0, 2.0, 5.0]) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_labelled_without_noise() {
        assert_eq!(labels(&linear(0.0, 0.6, 6, false).1), ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"]);
        assert_eq!(labels(&linear(-3.0, 12.0, 4, false).1), ["0", "5", "10"]);
        assert_eq!(labels(&linear(0.0, 23_000.0, 5, false).1), ["0", "5,000", "10,000", "15,000", "20,000"]);
        let percents: Vec<String> =
            linear(0.6, 1.0, 4, true).1.into_iter().map(|t| t.label.replace('\u{a0}', " ")).collect();
        assert_eq!(percents, ["60 %", "70 %", "80 %", "90 %", "100 %"]);
    }

    #[test]
    fn logarithmic_ticks() {
        assert_eq!(labels(&logarithmic(1.0, 1_000.0)), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&logarithmic(3.0, 40.0)), ["5", "10", "20"]);
    }

    #[test]
    fn steps_are_one_two_or_five() {
        for (least, step) in [(0.11, 0.2), (1.0, 1.0), (3.0, 5.0), (7.0, 10.0), (1e-9, 1e-9)] {
            assert!((nice_step(least) / step - 1.0).abs() < 1e-9, "{least}");
        }
        assert_eq!(nice_step(f64::NAN), 1.0);
    }

    proptest! {
        #[test]
        fn ticks_lie_in_the_range_and_are_few(low in -1e9_f64..1e9, span in 1e-3_f64..1e9, count in 2_usize..9) {
            let (step, ticks) = linear(low, low + span, count, false);
            prop_assert!(ticks.len() <= count + 1);
            for tick in ticks {
                prop_assert!(tick.value >= low - 1e-5 * step && tick.value <= low + span + 1e-5 * step);
            }
        }
    }
}
