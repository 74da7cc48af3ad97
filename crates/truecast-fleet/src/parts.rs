//! One forecast, gathered from numbers that lie apart: the rows of a long table.

use truecast::Quantiles;

use crate::ask::Given;

/// What a number of a forecast is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// The quantile at a probability.
    Quantile(f64),
    /// A member of an ensemble.
    Member,
    /// The mean.
    Mean,
    /// One number that stands for the forecast, and is told with its median.
    Point,
}

/// The numbers of one forecast, in the order in which they were met.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parts(Vec<(Part, f64)>);

impl Parts {
    /// Adds a number.
    pub fn push(&mut self, part: Part, value: f64) {
        self.0.push((part, value));
    }

    /// The least of the numbers.
    pub fn least(&self) -> f64 {
        self.0.iter().fold(f64::INFINITY, |least, (_, value)| least.min(*value))
    }

    /// For each number the probability of the quantile that takes its place; NaN for the mean. Members move to the quantiles of
    /// their ranks.
    pub fn wanted(&self) -> Vec<f64> {
        let is_member = |at: &usize| self.0[*at].0 == Part::Member;
        let mut members: Vec<usize> = (0..self.0.len()).filter(is_member).collect();
        members.sort_by(|&a, &b| self.0[a].1.total_cmp(&self.0[b].1));
        let probability = |(part, _): &(Part, f64)| match part {
            Part::Quantile(p) => *p,
            Part::Point => 0.5,
            Part::Member | Part::Mean => f64::NAN,
        };
        let mut wanted: Vec<f64> = self.0.iter().map(probability).collect();
        for (rank, &at) in members.iter().enumerate() {
            wanted[at] = (rank as f64 + 0.5) / members.len() as f64;
        }
        wanted
    }

    /// The distribution that the numbers say: by quantiles if there are two, or else by members.
    pub fn forecast(&self) -> Result<Given, truecast::Error> {
        let (mut quantiles, mut members) = (Vec::new(), Vec::new());
        for &(part, value) in &self.0 {
            match part {
                Part::Quantile(p) => quantiles.push((p, value)),
                Part::Member => members.push(value),
                Part::Mean | Part::Point => {}
            }
        }
        quantiles.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // A median that is also there as the quantile 0.5 says the same thing twice. Two values of one quantile are no distribution, and are refused below.
        quantiles.dedup();
        if quantiles.len() >= 2 {
            if quantiles.iter().all(|(_, value)| *value == quantiles[0].1)
                && quantiles[0].0 < quantiles[quantiles.len() - 1].0
            {
                // Without a width it is a point, whose scale is learned.
                return Ok(Given::Point(quantiles[0].1));
            }
            let (probabilities, values): (Vec<f64>, Vec<f64>) = quantiles.into_iter().unzip();
            return Ok(Given::Distribution(Quantiles::new(&probabilities, &values)?.into()));
        }
        if members.len() >= 2 {
            return Ok(Given::Ensemble(members));
        }
        let found = quantiles.len().max(members.len());
        Err(truecast::Error::TooFew { what: "quantiles or samples of one forecast", least: 2, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_come_before_members_and_means_are_beside_them() {
        let mut parts = Parts::default();
        parts.push(Part::Mean, 1.0);
        parts.push(Part::Member, 3.0);
        parts.push(Part::Member, 2.0);
        assert_eq!(parts.forecast(), Ok(Given::Ensemble(vec![3.0, 2.0])));
        assert_eq!(parts.wanted()[1..], [0.75, 0.25]);
        assert!(parts.wanted()[0].is_nan());
        parts.push(Part::Quantile(0.9), 4.0);
        assert_eq!(parts.forecast(), Ok(Given::Ensemble(vec![3.0, 2.0])));
        parts.push(Part::Quantile(0.1), 0.0);
        let table = Quantiles::new(&[0.1, 0.9], &[0.0, 4.0]).unwrap();
        assert_eq!(parts.forecast(), Ok(Given::Distribution(table.into())));
    }

    #[test]
    fn two_values_of_one_quantile_are_no_forecast() {
        let mut parts = Parts::default();
        for (p, value) in [(0.5, 1.0), (0.9, 2.0), (0.5, 1.0)] {
            parts.push(Part::Quantile(p), value);
        }
        assert!(parts.forecast().is_ok());
        parts.push(Part::Quantile(0.5), 1.5);
        let error = parts.forecast().unwrap_err().to_string();
        assert_eq!(error, "probabilities of the quantiles must increase, but entry 1 is 0.5 after 0.5");
    }

    #[test]
    fn one_number_is_no_forecast() {
        let mut parts = Parts::default();
        parts.push(Part::Quantile(0.5), 1.0);
        parts.push(Part::Quantile(0.5), 1.0);
        let what = "quantiles or samples of one forecast";
        assert_eq!(parts.forecast(), Err(truecast::Error::TooFew { what, least: 2, found: 1 }));
    }
}
