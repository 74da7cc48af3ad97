//! Acting on a forecast: what a decision will cost, and which one costs least.
//!
//! A [`Loss`] says what an action costs once the outcome is known. [`Expectation`] takes its expected value under a
//! forecast before it is known; [`best_of`] and [`best_in`] find the action that makes it least. Decisions taken on a
//! calibrated forecast come with honest price tags: [`MarkovMonitor`](crate::monitor::MarkovMonitor) checks that
//! realised losses exceed r times their estimates in at most one step of r.
//!
//! ```
//! use truecast::decision::{Newsvendor, best_in, expected_loss};
//! use truecast::{Forecast, Gaussian};
//!
//! let demand = Gaussian::new(100.0, 20.0)?;
//! let seller = Newsvendor::new(7.0, 3.0)?; // a lost sale costs 7, an unsold unit 3
//! let order = best_in(&demand, &seller, 0.0, 200.0)?;
//! assert!((order.value - demand.quantile(0.7)).abs() < 1e-9);
//! assert!(order.expected_loss < expected_loss(&demand, &seller, 100.0)?);
//! # Ok::<(), truecast::Error>(())
//! ```
//!
//! | file | concept |
//! |---|---|
//! | `loss.rs` | the trait, and ready losses: newsvendor, absolute, squared, cost/loss threshold, a closure |
//! | `table.rs` | a loss given by a table of outcomes and actions |
//! | `lines.rs` | a function of the outcome that is linear between corners, with jumps |
//! | `expected.rs` | expected loss, mean and standard deviation under any forecast |
//! | `partial.rs` | E[(c − Y)⁺] and E[(Y − c)⁺], from which piecewise linear losses are made |
//! | `action.rs` | the action of least expected loss, from a list or an interval |
//! | `newsvendor.rs` | how much to order, what it will cost, and what recalibration is worth |
//!
//! **Tails.** Calibration is a statement about quantiles, and so are orders, medians and cost/loss decisions. A mean also asks
//! how far the last per mille reaches, which no calibration controls. On a stream that changes, the coverage guard at times moves the
//! quantiles at 0.001 and 0.999 far out, and expected costs rise with them: estimates then err on the side that Markov's
//! inequality allows. Prefer bounded losses, or a base on a bounded support, where estimates must be tight.
//!
//! Values are in the loss's own units. A loss that is infinite in expectation is an error
//! ([`NoExpectation`](crate::Error::NoExpectation)), never a number.

mod action;
mod expected;
mod lines;
mod loss;
mod newsvendor;
mod partial;
mod table;

pub use action::{Action, best_in, best_of};
pub use expected::{Expectation, expected_loss, mean, standard_deviation};
pub use lines::{Corner, Lines};
pub use loss::{Absolute, Event, Loss, Newsvendor, Squared, Threshold, by};
pub use newsvendor::{Order, Value};
pub use table::PiecewiseLinear;
