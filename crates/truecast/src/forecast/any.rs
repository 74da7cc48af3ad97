//! stub until merged
pub type AnyForecast = super::Gaussian;
