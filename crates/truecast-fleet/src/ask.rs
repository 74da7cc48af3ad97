//! What is asked about every row, and what is answered.

use truecast::forecast::AnyForecast;
use truecast::normal;
use truecast::{Forecast, Gaussian};

use crate::bounded::Bounded;
use crate::settings::{Lateness, Settings};

/// Probabilities of the quantiles that a [`FanPoint`] holds.
pub const FAN: [f64; 7] = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];

/// The forecast that a row brings.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A distribution.
    Distribution(AnyForecast),
    /// Members of an ensemble, in the order in which they are to be answered.
    Ensemble(Vec<f64>),
    /// One number; its scale is learned.
    Point(f64),
}

/// A row, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The forecast.
    pub forecast: Given,
    /// What happened; `None` if nobody knows yet.
    pub outcome: Option<f64>,
    /// The labels of the groups that the row belongs to.
    pub groups: Vec<String>,
    /// The time of the forecast: when it was made, where outcomes are known at times; else what it is about, and only its order counts.
    pub now: Option<f64>,
    /// When the outcome becomes known, for late outcomes.
    pub due: Option<f64>,
    /// What the forecast is about: by this its outcome finds it later. Without it, one that has no outcome yet is forgotten at once.
    pub about: Option<Vec<u8>>,
    /// Later outcomes about the same and the times at which they become known: the last one that is known before the outcome is learned counts.
    pub later: Vec<(f64, f64)>,
}

impl Task {
    /// A forecast with its outcome, and nothing more to say.
    pub fn plain(forecast: Given, outcome: Option<f64>) -> Self {
        Task { forecast, outcome, groups: Vec::new(), now: None, due: None, about: None, later: Vec::new() }
    }
}

/// A row that brings a normal forecast and an outcome which is learned at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plain {
    /// The forecast.
    pub forecast: Gaussian,
    /// What happened.
    pub outcome: f64,
    /// As of [`Task`].
    pub now: Option<f64>,
}

/// The numbers of a calibrated forecast to answer with.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// None: only scores are wanted.
    Nothing,
    /// Mean and standard deviation.
    MeanStd,
    /// Mean and variance.
    MeanVariance,
    /// The mean, then the quantiles at these probabilities.
    MeanQuantiles(Vec<f64>),
    /// The quantiles at these probabilities.
    Quantiles(Vec<f64>),
    /// The quantiles at probabilities Φ(z), exactly as a program that asks for intervals computes them.
    Probits(Vec<f64>),
    /// Mean and standard deviation, then the quantiles at probabilities Φ(z).
    MomentsProbits(Vec<f64>),
    /// An ensemble in the order of the given one: each member moves to the quantile of its rank.
    Members(usize),
}

impl Answer {
    /// How many numbers there are for each row.
    pub fn width(&self) -> usize {
        match self {
            Answer::Nothing => 0,
            Answer::MeanStd | Answer::MeanVariance => 2,
            Answer::Quantiles(probabilities) => probabilities.len(),
            Answer::MeanQuantiles(probabilities) => 1 + probabilities.len(),
            Answer::Probits(probits) => probits.len(),
            Answer::MomentsProbits(probits) => 2 + probits.len(),
            Answer::Members(count) => *count,
        }
    }
}

/// An [`Answer`] with what can be computed once for all rows.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    answer: Answer,
    /// Φ⁻¹ of the probabilities.
    probits: Vec<f64>,
}

impl Prepared {
    pub(crate) fn new(answer: &Answer) -> Self {
        let probits = match answer {
            Answer::Quantiles(probabilities) | Answer::MeanQuantiles(probabilities) => {
                probabilities.iter().map(|&p| normal::quantile(p)).collect()
            }
            Answer::Members(count) => {
                (0..*count).map(|rank| normal::quantile((rank as f64 + 0.5) / *count as f64)).collect()
            }
            Answer::Probits(probits) | Answer::MomentsProbits(probits) => probits.clone(),
            _ => Vec::new(),
        };
        Prepared { answer: answer.clone(), probits }
    }

    /// Φ⁻¹ of the probabilities that are asked for.
    pub(crate) fn probits(&self) -> &[f64] {
        &self.probits
    }

    /// The numbers of one calibrated forecast, as many as the answer is wide. `members` are the ensemble as it was given.
    pub(crate) fn fill(&self, calibrated: &dyn Forecast, members: &[f64], out: &mut [f64]) {
        match &self.answer {
            Answer::Nothing => {}
            Answer::MeanStd => {
                let moments = calibrated.moments();
                out.copy_from_slice(&[moments.mean, moments.std()]);
            }
            Answer::MeanVariance => {
                let moments = calibrated.moments();
                out.copy_from_slice(&[moments.mean, moments.variance]);
            }
            Answer::MeanQuantiles(_) => {
                out[0] = calibrated.mean();
                calibrated.at_probits(&self.probits, &mut out[1..]);
            }
            Answer::MomentsProbits(_) => {
                let moments = calibrated.moments();
                (out[0], out[1]) = (moments.mean, moments.std());
                calibrated.at_probits(&self.probits, &mut out[2..]);
            }
            Answer::Quantiles(_) | Answer::Probits(_) => calibrated.at_probits(&self.probits, out),
            Answer::Members(count) => {
                let mut order: Vec<usize> = (0..*count).collect();
                // Stable: members that tie keep their order.
                order.sort_by(|&a, &b| members[a].total_cmp(&members[b]));
                for (rank, &member) in order.iter().enumerate() {
                    out[member] = calibrated.at_probit(self.probits[rank]);
                }
            }
        }
    }
}

/// What a run is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The numbers to answer with.
    pub answer: Answer,
    /// [`RowScores`] for every row with an outcome.
    pub row_scores: bool,
    /// A scoreboard for every series.
    pub scoreboards: bool,
    /// How many [`FanPoint`]s of the first series to keep; 0 for none.
    pub fan: usize,
    /// Take forecasts as they are: nothing is recalibrated, and both sides of every score are the base's.
    pub raw_only: bool,
    /// A forecast that waits takes the place of an earlier one about the same thing, instead of being refused if it differs.
    pub replace: bool,
    /// Calibrated forecasts are clipped to these.
    pub bounds: Option<[f64; 2]>,
}

impl Ask {
    /// The numbers of every forecast, and nothing else.
    pub fn numbers(answer: Answer) -> Self {
        Ask {
            answer,
            row_scores: false,
            scoreboards: false,
            fan: 0,
            raw_only: false,
            replace: false,
            bounds: None,
        }
    }
}

/// What is asked of every row of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) ask: &'a Ask,
    pub(crate) prepared: &'a Prepared,
    /// Outcomes are so many that some are scored for the rest.
    pub(crate) samples: bool,
}

impl Question<'_> {
    /// Calls `to` with the calibrated forecast within its bounds.
    pub(crate) fn within<T>(&self, calibrated: &dyn Forecast, to: impl FnOnce(&dyn Forecast) -> T) -> T {
        match self.ask.bounds.filter(|_| !self.ask.raw_only) {
            Some(bounds) => to(&Bounded::new(calibrated, bounds)),
            None => to(calibrated),
        }
    }

    /// Whether an outcome that a row brings is learned with the row.
    pub(crate) fn learns_at_once(&self) -> bool {
        self.settings.lateness == Lateness::Next && !self.ask.raw_only
    }
}

/// Where the answers about one row go.
#[derive(Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) row: usize,
    /// As wide as the answer.
    pub(crate) values: &'a mut [f64],
    pub(crate) scores: &'a mut Vec<RowScores>,
}

/// How one outcome was met, by the base and by the calibrated forecast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowScores {
    /// The row within the batch.
    pub row: usize,
    /// PITs, atoms split at random: of the base, calibrated.
    pub pit: [f64; 2],
    /// CRPS.
    pub crps: [f64; 2],
    /// Whether the 80 % interval, ends included, held the outcome.
    pub covered: [bool; 2],
    /// The width of the 80 % interval.
    pub width: [f64; 2],
}

/// One forecast of the first series, for a picture of the last ones.
#[derive(Debug, Clone, PartialEq)]
pub struct FanPoint {
    /// What the row is called, such as its time.
    pub label: String,
    /// What happened, if known.
    pub outcome: Option<f64>,
    /// The calibrated quantiles at [`FAN`].
    pub calibrated: [f64; 7],
    /// The base's 80 % interval.
    pub raw: (f64, f64),
}
