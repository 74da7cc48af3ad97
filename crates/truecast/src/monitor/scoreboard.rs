//! Base and calibrated forecasts side by side: what a report shows.
//!
//! Coverage counts intervals as they are announced, ends included. PITs and the calibration score use randomised
//! probit scores, split by the caller's `draw` where a forecast has atoms. CRPS is exact or by quadrature, as
//! [`Forecast::crps`] gives it.
//!
//! Cost per outcome: two CRPS and, per coverage, two quantiles of each forecast; no allocation where the CRPS needs none.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::coverage::{DEFAULT_HALF_LIFE, not_nan};
use super::{CalibrationScore, Coverage, PitHistogram, Regret, Sharpness};
use crate::error::{self, Result};
use crate::forecast::Forecast;

/// What is known of one of the two kinds of forecast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    coverage: Coverage,
    pit: PitHistogram,
    calibration_score: CalibrationScore,
    sharpness: Sharpness,
}

/// What an outcome adds to a [`Side`] beside the widths, checked before anything is counted.
struct Row {
    scores: (f64, f64),
    randomised: f64,
}

impl Side {
    fn new(coverages: &[f64]) -> Result<Self> {
        Ok(Side {
            coverage: Coverage::new(coverages.to_vec(), DEFAULT_HALF_LIFE)?,
            pit: PitHistogram::default(),
            calibration_score: CalibrationScore::default(),
            sharpness: Sharpness::new(coverages.to_vec())?,
        })
    }

    fn read(&mut self, forecast: &dyn Forecast, y: f64, draw: f64) -> Result<Row> {
        let (left, right) = Coverage::scores(forecast, y)?;
        // Without an atom the randomised score is the score.
        let randomised = if left == right { right } else { not_nan(forecast.randomised_probit(y, draw))? };
        self.sharpness.read(forecast)?;
        Ok(Row { scores: (left, right), randomised })
    }

    fn count(&mut self, row: &Row) -> Result<()> {
        self.pit.observe_probit(row.randomised)?;
        self.calibration_score.observe_probit(row.randomised)?;
        self.coverage.count(row.scores.0, row.scores.1);
        self.sharpness.count_read();
        Ok(())
    }

    /// Coverage of central intervals.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The histogram of PITs.
    pub fn pit(&self) -> &PitHistogram {
        &self.pit
    }

    /// The paper's calibration score.
    pub fn calibration_score(&self) -> &CalibrationScore {
        &self.calibration_score
    }

    /// Mean widths of central intervals, at the coverages of [`coverage`](Side::coverage).
    pub fn sharpness(&self) -> &Sharpness {
        &self.sharpness
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        // The first has the only shape that is free; the others cannot fail after it, unless a state was doctored.
        self.coverage.merge(&other.coverage)?;
        self.sharpness.merge(&other.sharpness)?;
        self.pit.merge(&other.pit)?;
        self.calibration_score.merge(&other.calibration_score)
    }
}

/// Scores of base and calibrated forecasts along a stream.
///
/// ```
/// use truecast::{Gaussian, monitor::Scoreboard};
///
/// let mut board = Scoreboard::default();
/// let base = Gaussian::new(0.0, 4.0)?;
/// let calibrated = Gaussian::new(0.0, 1.0)?;
/// for y in [-0.8, 0.1, 1.2] {
///     board.observe(&base, &calibrated, y, 0.5)?;
/// }
/// assert_eq!(board.rows(), 3);
/// assert!(board.regret().regret_percent().unwrap() < 0.0);
/// println!("{board}");
/// # Ok::<(), truecast::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scoreboard {
    raw: Side,
    calibrated: Side,
    regret: Regret,
}

impl Scoreboard {
    /// A scoreboard for the given coverages, each greater than 0 and less than 1.
    pub fn new(coverages: &[f64]) -> Result<Self> {
        let side = Side::new(coverages)?;
        Ok(Scoreboard { raw: side.clone(), calibrated: side, regret: Regret::default() })
    }

    /// Counts an outcome. `draw` in [0, 1) splits atoms; see [`random::uniform`](crate::random::uniform).
    ///
    /// An outcome that is refused changes nothing: the outcome must be finite, and so must both CRPS.
    pub fn observe(
        &mut self,
        base: &dyn Forecast,
        calibrated: &dyn Forecast,
        y: f64,
        draw: f64,
    ) -> Result<()> {
        error::finite("outcome", y)?;
        error::probability("draw", draw)?;
        let raw_row = self.raw.read(base, y, draw)?;
        let calibrated_row = self.calibrated.read(calibrated, y, draw)?;
        self.regret.observe(base.crps(y), calibrated.crps(y))?;
        self.raw.count(&raw_row)?;
        self.calibrated.count(&calibrated_row)
    }

    /// How many outcomes were counted.
    pub fn rows(&self) -> u64 {
        self.regret.rows()
    }

    /// The base forecasts.
    pub fn raw(&self) -> &Side {
        &self.raw
    }

    /// The calibrated forecasts.
    pub fn calibrated(&self) -> &Side {
        &self.calibrated
    }

    /// CRPS of both, and the regret.
    pub fn regret(&self) -> &Regret {
        &self.regret
    }

    /// Adds what another scoreboard of the same coverages has counted.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.raw.merge(&other.raw)?;
        self.calibrated.merge(&other.calibrated)?;
        self.regret.merge(&other.regret);
        Ok(())
    }

    /// The numbers of a report, in the form of `summary.json`.
    pub fn summary(&self) -> Summary {
        let sides = |of: &dyn Fn(&Side) -> Option<f64>| Sides {
            raw: of(&self.raw),
            calibrated: of(&self.calibrated),
        };
        let coverages = self.raw.coverage.coverages();
        Summary {
            rows: self.rows(),
            coverage: coverages
                .iter()
                .enumerate()
                .map(|(k, coverage)| (coverage.to_string(), sides(&|side| side.coverage.share(k))))
                .collect(),
            crps: CrpsSummary {
                raw: self.regret.base_mean(),
                calibrated: self.regret.calibrated_mean(),
                regret_percent: self.regret.regret_percent(),
            },
            calibration_score: sides(&|side| side.calibration_score.score()),
        }
    }
}

impl Default for Scoreboard {
    fn default() -> Self {
        let side = Side {
            coverage: Coverage::default(),
            pit: PitHistogram::default(),
            calibration_score: CalibrationScore::default(),
            sharpness: Sharpness::default(),
        };
        Scoreboard { raw: side.clone(), calibrated: side, regret: Regret::default() }
    }
}

/// A number of the base forecasts beside that of the calibrated ones; `None` before the first outcome.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Sides {
    /// Of the base forecasts.
    pub raw: Option<f64>,
    /// Of the calibrated forecasts.
    pub calibrated: Option<f64>,
}

/// Mean CRPS.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CrpsSummary {
    /// Of the base forecasts.
    pub raw: Option<f64>,
    /// Of the calibrated forecasts.
    pub calibrated: Option<f64>,
    /// By how many percent the calibrated forecasts are worse; negative where they are better.
    pub regret_percent: Option<f64>,
}

/// What a [`Scoreboard`] says, for machines.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Outcomes counted.
    pub rows: u64,
    /// Share of outcomes in the central intervals, by nominal coverage ("0.8").
    pub coverage: BTreeMap<String, Sides>,
    /// Mean CRPS.
    pub crps: CrpsSummary,
    /// The paper's calibration score.
    pub calibration_score: Sides,
}

impl fmt::Display for Scoreboard {
    /// A table for terminals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |x: Option<f64>| x.map_or("-".to_owned(), |x| format!("{:.1} %", 100.0 * x));
        let number = |x: Option<f64>| x.map_or("-".to_owned(), significant);
        let mut row = |name: &str, raw: String, calibrated: String, note: String| {
            let line = format!("{name:<20} {raw:>12} {calibrated:>12} {note}");
            writeln!(f, "{}", line.trim_end())
        };
        row(&format!("{} outcomes", self.rows()), "raw".into(), "calibrated".into(), String::new())?;
        for (k, coverage) in self.raw.coverage.coverages().iter().enumerate() {
            let share = |side: &Side| percent(side.coverage.share(k));
            let name = format!("{} % covers", trimmed(100.0 * coverage));
            row(&name, share(&self.raw), share(&self.calibrated), String::new())?;
        }
        for (k, coverage) in self.raw.sharpness.coverages().iter().enumerate() {
            let width = |side: &Side| number(side.sharpness.mean_width(k));
            let name = format!("{} % mean width", trimmed(100.0 * coverage));
            row(&name, width(&self.raw), width(&self.calibrated), String::new())?;
        }
        let change =
            self.regret.regret_percent().map_or(String::new(), |percent| format!("  ({percent:+.1} %)"));
        row("CRPS", number(self.regret.base_mean()), number(self.regret.calibrated_mean()), change)?;
        let score =
            |side: &Side| side.calibration_score.score().map_or("-".to_owned(), |x| format!("{x:.5}"));
        row("calibration score", score(&self.raw), score(&self.calibrated), String::new())?;
        let distance = |side: &Side| percent(side.pit.total_variation());
        row("PIT off uniform", distance(&self.raw), distance(&self.calibrated), String::new())
    }
}

/// Five significant digits, in plain notation where that is short.
fn significant(x: f64) -> String {
    let magnitude = if x == 0.0 { 0.0 } else { libm::floor(libm::log10(x.abs())) };
    if (-4.0..9.0).contains(&magnitude) {
        let decimals = (4.0 - magnitude).clamp(0.0, 8.0) as usize;
        format!("{x:.decimals$}")
    } else {
        format!("{x:.4e}")
    }
}

/// A percentage without trailing zeros: 95, 99.9.
fn trimmed(x: f64) -> String {
    format!("{x:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Gaussian, normal, random};

    /// 2,000 outcomes of N(0, 1) seen by a base four times too wide and by the truth.
    fn board(first: u64, last: u64) -> Scoreboard {
        let base = Gaussian::new(0.0, 4.0).unwrap();
        let truth = Gaussian::new(0.0, 1.0).unwrap();
        let mut board = Scoreboard::default();
        for t in first..last {
            let y = normal::quantile(random::uniform(3, t, 0).max(1e-300));
            board.observe(&base, &truth, y, random::uniform(3, t, random::ATOM_LANE)).unwrap();
        }
        board
    }

    #[test]
    fn the_truth_is_calibrated_and_the_wide_base_is_not() {
        let board = board(0, 2_000);
        let summary = board.summary();
        assert_eq!(summary.rows, 2_000);
        for (label, sides) in &summary.coverage {
            let nominal: f64 = label.parse().unwrap();
            // Four standard errors of a binomial share.
            let allowed = 4.0 * (nominal * (1.0 - nominal) / 2_000.0).sqrt();
            assert!((sides.calibrated.unwrap() - nominal).abs() < allowed, "{label}: {sides:?}");
            assert!(sides.raw.unwrap() > 0.98, "{label}: {sides:?}");
        }
        // The expectation is 0.82/n; five times that.
        assert!(summary.calibration_score.calibrated.unwrap() < 5.0 * 0.82 / 2_000.0);
        assert!(summary.calibration_score.raw.unwrap() > 0.1);
        // E CRPS of N(0, σ²) on N(0, 1): √((1 + σ²)·2/π) − σ/√π is 1.0332 at σ = 4 and 0.5642 at 1: −45.4 %, and four
        // standard errors of the ratio are below 4 points.
        assert!((summary.crps.regret_percent.unwrap() + 45.4).abs() < 4.0, "{summary:?}");
    }

    #[test]
    fn merging_equals_counting_and_a_saved_board_loads() {
        let mut left = board(0, 500);
        left.merge(&board(500, 900)).unwrap();
        let (merged, all) = (left.summary(), board(0, 900).summary());
        assert_eq!(
            (merged.rows, &merged.coverage, merged.calibration_score),
            (900, &all.coverage, all.calibration_score)
        );
        // Rounding of a merge of compensated sums.
        assert!((merged.crps.raw.unwrap() - all.crps.raw.unwrap()).abs() < 1e-14);
        let text = serde_json::to_string(&left).unwrap();
        assert_eq!(serde_json::from_str::<Scoreboard>(&text).unwrap(), left);
    }

    #[test]
    fn the_summary_has_the_documented_form() {
        let text = serde_json::to_string(&Scoreboard::default().summary()).unwrap();
        let none = r#"{"raw":null,"calibrated":null}"#;
        let coverage = ["0.5", "0.8", "0.9", "0.95", "0.98"].map(|c| format!(r#""{c}":{none}"#)).join(",");
        let crps = r#"{"raw":null,"calibrated":null,"regret_percent":null}"#;
        assert_eq!(
            text,
            format!(r#"{{"rows":0,"coverage":{{{coverage}}},"crps":{crps},"calibration_score":{none}}}"#)
        );
    }

    #[test]
    fn a_refused_outcome_changes_nothing() {
        let mut board = board(0, 10);
        let before = board.clone();
        let forecast = Gaussian::new(0.0, 1.0).unwrap();
        assert!(matches!(board.observe(&forecast, &forecast, f64::NAN, 0.5), Err(Error::NotFinite { .. })));
        assert!(matches!(
            board.observe(&forecast, &forecast, 0.0, 1.5),
            Err(Error::OutOfRange { what: "draw", .. })
        ));
        assert_eq!(board, before);
    }

    #[test]
    fn the_table_reads_well() {
        let mut board = Scoreboard::new(&[0.8]).unwrap();
        let (base, calibrated) = (Gaussian::new(0.0, 2.0).unwrap(), Gaussian::new(0.0, 1.0).unwrap());
        for y in [-2.0, -0.5, 0.1, 0.7] {
            board.observe(&base, &calibrated, y, 0.5).unwrap();
        }
        let expected = "\
4 outcomes                    raw   calibrated
80 % covers               100.0 %       75.0 %
80 % mean width            5.1262       2.5631
CRPS                      0.68885      0.61086   (-11.3 %)
calibration score         0.13000      0.08000
PIT off uniform            80.0 %       80.0 %
";
        assert_eq!(board.to_string(), expected, "\n{board}");
    }
}
