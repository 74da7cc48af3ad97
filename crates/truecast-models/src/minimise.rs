//! Minimisation of a smooth function within a box: projected L-BFGS.
//!
//! ```text
//! d    = −H g on the coordinates that are not held by a bound (H from the last steps, two-loop recursion)
//! x(t) = clamp(x + t d),   t = 1, ½, ¼, … until  f(x(t)) ≤ f(x) + 1e-4 gᵀ(x(t) − x)
//! ```
//!
//! Every accepted point has a smaller value and lies in the box; it ends where the projected gradient is small, where the value no
//! longer falls, or after `most_steps`. A point at which the function has no value (`None`) is only ever stepped back from. One
//! value with its gradient per trial, O(memory · dimension) besides.
//!
//! Ours, and not argmin's, because argmin 0.11's L-BFGS knows no bounds, and log-parameters without bounds run away along the flat
//! directions of a marginal likelihood. Source: Nocedal & Wright, Numerical Optimization (2006), algorithm 7.4; Bertsekas (1982), SIAM J. Control Optim. 20, 221–246,
//! for the coordinates held at a bound.

/// Steps remembered for H.
const MEMORY: usize = 10;

/// Share of the decrease that the gradient promises which a step must deliver.
const SUFFICIENT: f64 = 1e-4;

/// Halvings before a direction is given up: 2⁻⁴⁰ of a step is rounding.
const MOST_HALVINGS: usize = 40;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    /// Largest entry of the projected gradient that counts as zero.
    pub(crate) gradient: f64,
    /// Decrease, relative to 1 + |value|, that counts as none.
    pub(crate) decrease: f64,
    /// Steps at the most.
    pub(crate) most_steps: usize,
}

/// Where the minimisation ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Minimum {
    pub(crate) point: Vec<f64>,
    pub(crate) value: f64,
    /// Values computed.
    pub(crate) evaluations: usize,
}

struct Memory {
    steps: Vec<(Vec<f64>, Vec<f64>, f64)>,
}

/// A local minimum of `function` (value and gradient) in the box, from `start`; `None` if there is no value at the start.
pub(crate) fn minimise(
    mut function: impl FnMut(&[f64]) -> Option<(f64, Vec<f64>)>,
    start: &[f64],
    bounds: &[(f64, f64)],
    tolerance: Tolerance,
) -> Option<Minimum> {
    let clamp =
        |x: &mut [f64]| x.iter_mut().zip(bounds).for_each(|(x, &(low, high))| *x = x.clamp(low, high));
    let mut point = start.to_vec();
    clamp(&mut point);
    let mut evaluations = 1;
    let (mut value, mut gradient) = function(&point)?;
    let mut memory = Memory { steps: Vec::new() };
    for _ in 0..tolerance.most_steps {
        let free: Vec<bool> = (0..point.len())
            .map(|k| {
                !(gradient[k] > 0.0 && point[k] <= bounds[k].0
                    || gradient[k] < 0.0 && point[k] >= bounds[k].1)
            })
            .collect();
        let steepest: Vec<f64> =
            gradient.iter().zip(&free).map(|(g, free)| if *free { -g } else { 0.0 }).collect();
        let steepness = steepest.iter().fold(0.0_f64, |most, g| most.max(g.abs()));
        if steepness <= tolerance.gradient {
            break;
        }
        let mut direction = memory.direction(&steepest, &free);
        if dot(&direction, &gradient) >= 0.0 {
            memory.steps.clear();
            direction = steepest;
        }
        if memory.steps.is_empty() {
            // Nothing is known of the curvature: at most one unit in any coordinate.
            let shrink = 1.0 / steepness.max(1.0);
            direction.iter_mut().for_each(|d| *d *= shrink);
        }
        let mut accepted = None;
        let mut length = 1.0;
        for _ in 0..MOST_HALVINGS {
            let mut next: Vec<f64> = point.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            clamp(&mut next);
            let step: Vec<f64> = next.iter().zip(&point).map(|(new, old)| new - old).collect();
            evaluations += 1;
            if let Some((there, slope)) = function(&next)
                && there <= value + SUFFICIENT * dot(&gradient, &step)
            {
                accepted = Some((next, step, there, slope));
                break;
            }
            length *= 0.5;
        }
        let Some((next, step, there, slope)) = accepted else {
            if memory.steps.is_empty() {
                break;
            }
            memory.steps.clear();
            continue;
        };
        let bend: Vec<f64> = slope.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        memory.add(step, bend);
        let fell = value - there;
        (point, value, gradient) = (next, there, slope);
        if fell <= tolerance.decrease * (1.0 + value.abs()) {
            break;
        }
    }
    Some(Minimum { point, value, evaluations })
}

impl Memory {
    /// Keeps a step whose curvature is positive.
    fn add(&mut self, step: Vec<f64>, bend: Vec<f64>) {
        let curvature = dot(&step, &bend);
        if curvature > 1e-10 * dot(&bend, &bend).max(f64::MIN_POSITIVE) {
            if self.steps.len() == MEMORY {
                self.steps.remove(0);
            }
            self.steps.push((step, bend, curvature));
        }
    }

    /// H applied to the free part of the steepest descent.
    fn direction(&self, steepest: &[f64], free: &[bool]) -> Vec<f64> {
        let mut q = steepest.to_vec();
        let mut shares = Vec::with_capacity(self.steps.len());
        for (step, bend, curvature) in self.steps.iter().rev() {
            let share = dot(step, &q) / curvature;
            q.iter_mut().zip(bend).for_each(|(q, b)| *q -= share * b);
            shares.push(share);
        }
        if let Some((_, bend, curvature)) = self.steps.last() {
            let scale = curvature / dot(bend, bend);
            q.iter_mut().for_each(|q| *q *= scale);
        }
        for ((step, bend, curvature), share) in self.steps.iter().zip(shares.iter().rev()) {
            let back = dot(bend, &q) / curvature;
            q.iter_mut().zip(step).for_each(|(q, s)| *q += (share - back) * s);
        }
        q.iter_mut().zip(free).filter(|(_, free)| !**free).for_each(|(q, _)| *q = 0.0);
        q
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIGHT: Tolerance = Tolerance { gradient: 1e-10, decrease: 0.0, most_steps: 500 };

    /// Rosenbrock's valley: the minimum 0 at (1, 1).
    #[test]
    fn finds_the_end_of_a_curved_valley() {
        let valley = |x: &[f64]| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            Some((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b]))
        };
        let found = minimise(valley, &[-1.2, 1.0], &[(-5.0, 5.0); 2], TIGHT).expect("has a value");
        // The gradient's tolerance over the smallest curvature, 0.4.
        assert!((found.point[0] - 1.0).abs() < 1e-9 && (found.point[1] - 1.0).abs() < 1e-9, "{found:?}");
        assert!(found.evaluations < 120, "{found:?}");
        // Held to x ≤ ½, the best is at (½, ¼).
        let held = minimise(valley, &[-1.2, 1.0], &[(-5.0, 0.5), (-5.0, 5.0)], TIGHT).expect("has a value");
        assert!((held.point[0] - 0.5).abs() < 1e-12 && (held.point[1] - 0.25).abs() < 1e-9, "{held:?}");
    }

    /// −ln x has no value at x ≤ 0: steps there are taken back.
    #[test]
    fn steps_back_from_where_there_is_no_value() {
        let barrier = |x: &[f64]| (x[0] > 0.0).then(|| (x[0] - x[0].ln(), vec![1.0 - 1.0 / x[0]]));
        let found = minimise(barrier, &[50.0], &[(-100.0, 100.0)], TIGHT).expect("has a value");
        assert!((found.point[0] - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(minimise(barrier, &[-1.0], &[(-100.0, 100.0)], TIGHT), None);
    }
}
