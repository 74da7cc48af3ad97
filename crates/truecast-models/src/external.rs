//! A model that lives elsewhere: another process, another language, a file of forecasts.
//!
//! What it forecasts is pushed before the outcome, and the outcome takes it away, so that a forecast cannot be used for two
//! outcomes and an outcome cannot be scored by a forecast that came after it. Cost: one move per step.

use serde::{Deserialize, Serialize};
use truecast::AnyForecast;

use crate::error::{self, Error, Result};
use crate::model::Model;

/// Holds the forecast that was given for the next outcome.
///
/// ```
/// use truecast::Gaussian;
/// use truecast_models::{Error, External, Model};
///
/// let mut model = External::default();
/// assert_eq!(model.predict(&[]), Err(Error::NoForecast));
/// model.push(Gaussian::new(20.0, 2.0)?);
/// assert_eq!(model.predict(&[])?, Gaussian::new(20.0, 2.0)?.into());
/// model.learn(&[], 21.0)?;
/// assert_eq!(model.predict(&[]), Err(Error::NoForecast));
/// # Ok::<(), truecast_models::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct External {
    next: Option<AnyForecast>,
}

impl External {
    /// Gives the forecast of the next outcome, in place of one that was given before for the same outcome.
    pub fn push(&mut self, forecast: impl Into<AnyForecast>) {
        self.next = Some(forecast.into());
    }

    /// The forecast of the next outcome, if it was given.
    pub fn pending(&self) -> Option<&AnyForecast> {
        self.next.as_ref()
    }
}

impl Model for External {
    /// The forecast that was pushed; the inputs are the other model's affair.
    fn predict(&self, _x: &[f64]) -> Result<AnyForecast> {
        self.next.clone().ok_or(Error::NoForecast)
    }

    /// Takes the forecast away. An outcome whose forecast was never given is not an error: there was none to use.
    fn learn(&mut self, _x: &[f64], y: f64) -> Result<()> {
        error::outcome(y)?;
        self.next = None;
        Ok(())
    }
}
