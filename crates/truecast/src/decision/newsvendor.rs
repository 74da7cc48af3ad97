//! How much to order when a unit too few costs `underage` and a unit too many `overage`.
//!
//! The expected cost underage E[(Y − q)⁺] + overage E[(q − Y)⁺] is convex in the order q, with derivative
//! (underage + overage) F(q) − underage. So the best order is the quantile at
//!
//! ```text
//! α = underage/(underage + overage)
//! ```
//!
//! and there, where F is continuous, the cost is underage E[Y] − (underage + overage) E[Y; Y ≤ q]; for a normal forecast
//! (underage + overage) σ φ(Φ⁻¹(α)). The order depends on one quantile alone: a forecaster whose quantile at α is right
//! orders right. The guard keeps central intervals; on which side of one an outcome falls is left to the experts (docs/theory.md, section 9).
//!
//! Source: K. Arrow, T. Harris & J. Marschak, "Optimal Inventory Policy", Econometrica 19 (1951).
//! Cost: one quantile and one expected loss.

use super::expected::{Expectation, expected_loss};
use super::loss::Newsvendor;
use crate::error::{self, Result};
use crate::forecast::Forecast;

/// A decided order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Order {
    /// How much to order.
    pub quantity: f64,
    /// The cost to expect, under the forecast that decided.
    pub expected_cost: f64,
}

/// An order decided on a calibrated forecast beside the one its base would decide on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The calibrated forecast's order, and the cost to expect of it.
    pub calibrated: Order,
    /// The base forecast's order, and the cost that the base promises for it.
    pub base: Order,
    /// The cost of the base's order that the calibrated forecast expects.
    pub base_cost: f64,
}

impl Value {
    /// What is saved by not following the base, as the calibrated forecast expects it: not negative, but for rounding.
    pub fn saving(&self) -> f64 {
        self.base_cost - self.calibrated.expected_cost
    }
}

impl Newsvendor {
    /// α, the probability at which the best order is the quantile.
    pub fn probability(&self) -> f64 {
        self.underage() / (self.underage() + self.overage())
    }

    /// The best order under a forecast. An error where it is infinite, as without a cost on one of the sides.
    pub fn order<F: Forecast + ?Sized>(&self, forecast: &F) -> Result<Order> {
        let quantity = error::finite("order", forecast.quantile(self.probability()))?;
        Ok(Order { quantity, expected_cost: expected_loss(forecast, self, quantity)? })
    }

    /// The order of a calibrated forecast beside that of its base.
    pub fn value_over<G, F>(&self, calibrated: &G, base: &F) -> Result<Value>
    where
        G: Forecast + ?Sized,
        F: Forecast + ?Sized,
    {
        let base = self.order(base)?;
        let expectation = Expectation::new(calibrated);
        let quantity = error::finite("order", calibrated.quantile(self.probability()))?;
        let ours = Order { quantity, expected_cost: expectation.of(self, quantity)? };
        Ok(Value { calibrated: ours, base, base_cost: expectation.of(self, base.quantity)? })
    }
}
