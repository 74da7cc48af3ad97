//! Charts as SVG: inline in a page, or files of their own.
//!
//! ```
//! use truecast_report::chart::{Axis, Chart, Colour, LineChart, Series};
//!
//! let regret = (1..=100).map(|t| (f64::from(t), 1.0 / f64::from(t))).collect();
//! let chart = LineChart::new("Regret falls as 1/T")
//!     .describe("Mean regret per round of one method over 100 rounds")
//!     .x(Axis::new("rounds").logarithmic())
//!     .y(Axis::new("mean regret").including(0.0))
//!     .series(Series::line("ledger", Colour::Series(0), regret));
//! let figure = chart.to_standalone_svg(); // to be saved as .svg
//! # assert!(figure.starts_with("<svg") && figure.ends_with("</svg>"));
//! ```
//!
//! | chart | file | shows |
//! |---|---|---|
//! | [`LineChart`] | `lines.rs` | series, shaded bands, reference lines |
//! | [`BarChart`] | `bars.rs` | a histogram or named groups, one or more series side by side |
//! | [`FanChart`] | `fan.rs` | nested intervals along time with outcomes |
//! | [`ParallelChart`] | `parallel.rs` | many trials across several dimensions, the best standing out |
//!
//! Text has a size of 14 in a chart 480 wide: a telephone shows it at 10 to 11 pixels and a column of a desktop page at 15.
//! Colours come from the style sheet ([`page_style`], or within a standalone file), by the reader's theme. Values that are NaN or
//! infinite are gaps. A chart without a value to draw says so.

mod axis;
mod bars;
mod fan;
mod frame;
mod lettering;
mod lines;
mod parallel;
mod theme;
mod ticks;

pub use axis::Axis;
pub use bars::{BarChart, Bars};
pub use fan::{FanBand, FanChart};
pub use lines::{Band, LineChart, Rule, Series};
pub use parallel::{ParallelAxis, ParallelChart};
pub use theme::{Colour, page_style};

/// What a chart without data says, unless told otherwise.
pub const EMPTY: &str = "no outcomes yet";

/// Width and height in the chart's units; a page scales them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height with a title of one line and a legend of one; more lines make the chart higher.
    pub height: f64,
}

impl Default for Size {
    fn default() -> Self {
        Size { width: 480.0, height: 340.0 }
    }
}

/// Where a chart goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Into a page with [`page_style`].
    Inline,
    /// Into a file of its own.
    Standalone,
}

/// Anything that can be drawn.
pub trait Chart {
    /// The chart as SVG.
    fn render(&self, output: Output) -> String;

    /// The chart for a page whose style sheet has [`page_style`].
    fn to_svg(&self) -> String {
        self.render(Output::Inline)
    }

    /// The chart as a file of its own, with its style, light and dark.
    fn to_standalone_svg(&self) -> String {
        self.render(Output::Standalone)
    }
}
