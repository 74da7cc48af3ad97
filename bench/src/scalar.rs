//! The default recalibrator as one would write it down: the formulas of docs/theory.md, level by level, in plain loops.
//!
//! The peer that the product is measured against: no padding, no cached cells, every balance in one table; it allocates nothing per
//! step either, and it predicts (plays, mixture, projection, guard knots) and observes (ledgers, trust, guard), as the product does.

use truecast::grid::{Levels, Plays};
use truecast::normal;

const QUANTILES: [f64; 14] =
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5];

pub(crate) struct ScalarLoop {
    z: Vec<f64>,
    u: Vec<f64>,
    gaps: Vec<f64>,
    v: Vec<f64>,
    /// `[ledger][level][play]`, and per `[ledger][level]` the sums of squared weights.
    balances: [Vec<Vec<f64>>; 2],
    squares: [Vec<f64>; 2],
    shifts: [Vec<f64>; 2],
    bounds: Vec<f64>,
    last: Vec<f64>,
    steps: f64,
    trust: f64,
    largest: f64,
    /// Running means with their counts and longest counts; the weights on the ledgers and on each.
    means: [(Vec<f64>, f64, f64); 3],
    memory: [f64; 4],
    guard_t: Vec<f64>,
    guard_q: Vec<f64>,
    guard_e: Vec<f64>,
    // of the present step
    plays: Vec<(f64, usize, f64)>,
    mixed: Vec<f64>,
    announced: Vec<f64>,
    knots: Vec<f64>,
    blocks: Vec<(f64, f64, usize)>,
}

impl ScalarLoop {
    pub(crate) fn new() -> Self {
        let (levels, plays) = (Levels::default(), Plays::default());
        let count = levels.count();
        let half = QUANTILES.map(normal::quantile);
        let guard_t: Vec<f64> = half.iter().copied().chain(half.iter().rev().skip(1).map(|t| -t)).collect();
        let empty = vec![vec![0.0; plays.values().len()]; count];
        ScalarLoop {
            z: levels.probits().to_vec(),
            u: levels.probabilities().to_vec(),
            gaps: levels.gaps().to_vec(),
            v: plays.values().to_vec(),
            balances: [empty.clone(), empty],
            squares: [vec![0.0; count], vec![0.0; count]],
            shifts: [vec![0.0; count], vec![0.0; count]],
            bounds: vec![0.0; count],
            last: levels.probabilities().to_vec(),
            steps: 0.0,
            trust: 0.5,
            means: [f64::INFINITY, 150.0, 30.0].map(|half_life: f64| {
                (levels.probabilities().to_vec(), 10.0, 1.0 / (1.0 - (-1.0 / half_life).exp2()))
            }),
            memory: [0.97, 0.01, 0.01, 0.01],
            largest: 0.0,
            guard_q: guard_t.iter().map(|&t| normal::cdf(t)).collect(),
            guard_e: vec![0.0; guard_t.len()],
            knots: guard_t.clone(),
            guard_t,
            plays: vec![(0.0, 0, 0.0); count],
            mixed: vec![0.0; count],
            announced: vec![0.0; count],
            blocks: Vec::with_capacity(count),
        }
    }

    pub(crate) fn step(&mut self, mean: f64, std: f64, outcome: f64) {
        self.predict(std);
        self.observe(std, (outcome - mean) / std);
    }

    fn predict(&mut self, std: f64) {
        let v = &self.v;
        for j in 0..self.z.len() {
            let weights = [1.0, std * self.gaps[j]];
            let s = |i: usize| {
                let mut sum = 10.0 * (self.u[j] - v[i]) / (self.steps + 1.0);
                for g in 0..2 {
                    sum +=
                        weights[g] / (self.squares[g][j] + weights[g] * weights[g]) * self.balances[g][j][i];
                }
                sum
            };
            let mut i = v.partition_point(|&v| v <= self.last[j]).clamp(1, v.len() - 1) - 1;
            let f = (self.last[j] - v[i]) / (v[i + 1] - v[i]);
            let (mut low, mut high) = (s(i), s(i + 1));
            let here = (1.0 - f) * low + f * high;
            let a = if here == 0.0 {
                f
            } else if here > 0.0 {
                while high > 0.0 && i + 2 < v.len() {
                    i += 1;
                    (low, high) = (high, s(i + 1));
                }
                if high > 0.0 { 1.0 } else { low / (low - high) }
            } else {
                while low < 0.0 && i > 0 {
                    i -= 1;
                    (low, high) = (s(i), low);
                }
                if low < 0.0 { 0.0 } else { low / (low - high) }
            };
            let p = (1.0 - a) * v[i] + a * v[i + 1];
            self.plays[j] = (p, i, a);
            let mut q = self.memory[0] * p;
            for k in 0..3 {
                q += self.memory[k + 1] * self.means[k].0[j];
            }
            self.mixed[j] = q;
            self.announced[j] = self.trust * q + (1.0 - self.trust) * self.u[j];
        }
        self.project(std);
        for k in 0..self.knots.len() {
            let (q, t) = (self.guard_q[k], self.guard_t[k]);
            let b = 2.0 * (q * (1.0 - q) * (self.steps + 25.0)).sqrt() + 1.0;
            let x = (self.guard_e[k] / b).clamp(-0.999, 0.999);
            // Pooling is rare; the peer does without it.
            self.knots[k] = t - 0.16 * x / (1.0 - x * x);
        }
    }

    fn project(&mut self, std: f64) {
        self.blocks.clear();
        for j in 0..self.announced.len() {
            let mut last = (self.announced[j], std * self.gaps[j], 1);
            while let Some(&(value, weight, count)) = self.blocks.last() {
                if value <= last.0 {
                    break;
                }
                self.blocks.pop();
                let sum = weight + last.1;
                last = ((value * weight + last.0 * last.1) / sum, sum, count + last.2);
            }
            self.blocks.push(last);
        }
        let mut j = 0;
        for &(value, _, count) in &self.blocks {
            self.announced[j..j + count].fill(value);
            j += count;
        }
    }

    fn observe(&mut self, std: f64, z: f64) {
        let score = self.score(z);
        for k in 0..self.knots.len() {
            self.guard_e[k] += f64::from(u8::from(score <= self.knots[k])) - self.guard_q[k];
        }
        let (mut crps_gain, mut total, mut mean_gain) = (0.0, 0.0, 0.0);
        let mut losses = [0.0; 4];
        for j in 0..self.z.len() {
            let o = f64::from(u8::from(z <= self.z[j]));
            let (p, i, a) = self.plays[j];
            let e = o - p;
            let width = std * self.gaps[j];
            let q = self.mixed[j] - o;
            let gain = (self.u[j] - o) * (self.u[j] - o) - q * q;
            losses[0] += width * e * e;
            for k in 0..3 {
                let error = o - self.means[k].0[j];
                losses[k + 1] += width * error * error;
                self.means[k].0[j] += error / (self.means[k].1 + 1.0).min(self.means[k].2);
            }
            crps_gain += width * gain;
            total += width;
            mean_gain += gain;
            let mut growth = 0.0;
            for (g, w) in [1.0, width].into_iter().enumerate() {
                self.squares[g][j] += w * w;
                self.balances[g][j][i] += w * (1.0 - a) * e;
                self.balances[g][j][i + 1] += w * a * e;
                self.shifts[g][j] += w * (p - self.u[j]) * (p - self.u[j]);
                growth += w * w / self.squares[g][j];
            }
            self.bounds[j] += growth * e * e * ((1.0 - a) * (1.0 - a) + a * a)
                - 20.0 / (self.steps + 1.0) * (self.u[j] - p) * e;
            self.last[j] = p;
        }
        self.largest = self.largest.max(total);
        for (weight, loss) in self.memory.iter_mut().zip(losses) {
            *weight *= (-20.0 * loss / self.largest).exp();
        }
        let sum: f64 = self.memory.iter().sum();
        self.memory.iter_mut().for_each(|weight| *weight = 0.999 * *weight / sum + 0.001 / 4.0);
        for (_, count, longest) in &mut self.means {
            *count = (*count + 1.0).min(*longest);
        }
        let gain = crps_gain / self.largest + mean_gain / self.z.len() as f64;
        let odds = self.trust * (8.0 * gain).exp();
        self.trust = 0.999 * odds / (odds + 1.0 - self.trust) + 0.0005;
        self.steps += 1.0;
    }

    /// The ledger forecast's probit score of the outcome.
    fn score(&self, z: f64) -> f64 {
        let r = |j: usize| normal::quantile(self.announced[j].clamp(1e-12, 1.0 - 1e-12));
        let last = self.z.len() - 1;
        let next = self.z.partition_point(|&level| level <= z).clamp(1, last);
        let (low, high) = (r(next - 1), r(next));
        low + (high - low) * (z - self.z[next - 1]) / (self.z[next] - self.z[next - 1])
    }
}
