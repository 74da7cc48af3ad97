//! A point of the simplex that no corner pushes away from: the fixed point behind deterministic calibration.
//!
//! Holds: for a field S(p) = Σ_v w_v(p) S_v, linear on each cell of the triangulation, the point that is found has
//!
//! ```text
//! S_k(p) = max_j S_j(p) for every k with p_k > 0,      so ⟨S(p), e_k − p⟩ ≤ 0 for every corner e_k
//! ```
//!
//! up to 1e-12 in the weights. It exists because p ↦ (p + S(p) projected on the simplex) has a fixed point (Brouwer). On a face with outcomes
//! A (all that have p_k > 0) a cell is one linear system, S_k equal over A and Σ w = 1; a solution counts if w ≥ 0 and no outcome
//! outside of A is pushed harder.
//!
//! Cost: one K × K solve if the last piece holds a solution again, at worst one for each cell of each face (1,464 at K = 4, N = 10). No
//! allocation. Source: Kakade & Foster (2004), "Deterministic calibration and Nash equilibrium", who use an approximate fixed point.

use super::triangulation::{LARGEST_OUTCOMES as MOST, Location, Triangulation};
use crate::error::Result;

/// The vertices of a triangulation as probabilities, and every cell of every face.
#[derive(Debug, PartialEq)]
pub(super) struct PlayGrid {
    triangulation: Triangulation,
    points: Vec<[f64; MOST]>,
    /// Which outcomes a cell spans (as bits), and its corners.
    pieces: Vec<(u8, [u32; MOST])>,
}

impl PlayGrid {
    pub(super) fn new(triangulation: Triangulation) -> Result<Self> {
        let (outcomes, resolution) = (triangulation.outcomes(), triangulation.resolution());
        let points =
            triangulation.vertices().iter().map(|v| v.map(|x| f64::from(x) / resolution as f64)).collect();
        // Largest faces first: most plays lie inside.
        let mut faces: Vec<u8> = (1..1_u8 << outcomes).collect();
        faces.sort_by_key(|face| (std::cmp::Reverse(face.count_ones()), *face));
        let mut pieces = Vec::new();
        for face in faces {
            let span = face.count_ones() as usize;
            let part = Triangulation::new(span, resolution)?;
            let corners = part.vertices();
            for cell in part.cells() {
                let mut numbers = [0; MOST];
                for (number, &corner) in numbers.iter_mut().zip(&part.corners(&cell)[..span]) {
                    let mut point = [0; MOST];
                    let within = (0..outcomes).filter(|k| face >> k & 1 == 1);
                    for (k, &x) in within.zip(&corners[corner as usize]) {
                        point[k] = x;
                    }
                    *number = triangulation.number_of(&point) as u32;
                }
                pieces.push((face, numbers));
            }
        }
        Ok(PlayGrid { triangulation, points, pieces })
    }

    pub(super) fn triangulation(&self) -> &Triangulation {
        &self.triangulation
    }

    /// The vertices.
    pub(super) fn points(&self) -> &[[f64; MOST]] {
        &self.points
    }

    /// How many pieces there are.
    pub(super) fn pieces(&self) -> u32 {
        self.pieces.len() as u32
    }

    /// The point at a location.
    pub(super) fn point(&self, location: &Location) -> [f64; MOST] {
        let mut point = [0.0; MOST];
        for (&vertex, weight) in location.vertices.iter().zip(location.weights) {
            for (p, v) in point.iter_mut().zip(self.points[vertex as usize]) {
                *p += weight * v;
            }
        }
        // Rounding must not carry a sum of weights past 1.
        point.map(|p| p.min(1.0))
    }

    /// The first solution from piece `last` on, or the nearest thing to one; `push(v, k)` is S_vk, and `scale` its size.
    pub(super) fn search(
        &self,
        last: u32,
        scale: f64,
        push: impl Fn(usize, usize) -> f64,
    ) -> Option<(u32, Location)> {
        /// How far a weight may be below 0, and a push outside of the face above those in it, in units of `scale`.
        const TOLERANCE: f64 = 1e-12;
        let (mut best, mut least) = (None, f64::INFINITY);
        for piece in std::iter::once(last).chain(0..self.pieces()) {
            let Some((violation, location)) = self.solve(piece, scale, &push) else { continue };
            if violation < least {
                (best, least) = (Some((piece, location)), violation);
            }
            if violation <= TOLERANCE {
                break;
            }
        }
        best
    }

    /// The weights at which all outcomes of the piece's face are pushed alike; None where there is no one solution, or a far one.
    fn solve(&self, piece: u32, scale: f64, push: &impl Fn(usize, usize) -> f64) -> Option<(f64, Location)> {
        let (face, vertices) = self.pieces[piece as usize];
        let (outcomes, span) = (self.triangulation.outcomes(), face.count_ones() as usize);
        let first = face.trailing_zeros() as usize;
        let mut system = [[0.0; MOST + 1]; MOST];
        system[0][..span].fill(1.0);
        system[0][MOST] = 1.0;
        let others = (first + 1..outcomes).filter(|k| face >> k & 1 == 1);
        for (row, k) in others.enumerate() {
            for corner in 0..span {
                let vertex = vertices[corner] as usize;
                system[row + 1][corner] = push(vertex, k) - push(vertex, first);
            }
        }
        let mut weights = eliminate(&mut system, span)?;
        let mut violation = weights.iter().fold(0.0, |worst: f64, &w| worst.max(-w));
        if violation > 1.0 {
            return None;
        }
        let total: f64 = weights.iter().map(|w| w.max(0.0)).sum();
        weights.iter_mut().for_each(|w| *w = (w.max(0.0) / total).min(1.0));
        let pull = |k: usize| (0..span).map(|c| weights[c] * push(vertices[c] as usize, k)).sum::<f64>();
        let here = pull(first);
        for k in (0..outcomes).filter(|k| face >> k & 1 == 0) {
            violation = violation.max((pull(k) - here) / scale);
        }
        Some((violation, Location { vertices, weights }))
    }
}

/// Gaussian elimination with row pivoting; the right-hand side is the last column.
fn eliminate(system: &mut [[f64; MOST + 1]; MOST], size: usize) -> Option<[f64; MOST]> {
    for k in 0..size {
        let pivot = (k..size).max_by(|&a, &b| system[a][k].abs().total_cmp(&system[b][k].abs()))?;
        if system[pivot][k].abs() < 1e-290 {
            return None;
        }
        system.swap(k, pivot);
        for row in k + 1..size {
            let factor = system[row][k] / system[k][k];
            for column in k..=MOST {
                system[row][column] -= factor * system[k][column];
            }
        }
    }
    let mut x = [0.0; MOST];
    for k in (0..size).rev() {
        let known: f64 = (k + 1..size).map(|l| system[k][l] * x[l]).sum();
        x[k] = (system[k][MOST] - known) / system[k][k];
    }
    x.iter().all(|w| w.is_finite()).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    /// Random fields, small and large: every corner's push is at most 1e-11 of the field's size, wherever the search begins.
    #[test]
    fn no_corner_pushes_away() {
        for (outcomes, resolution) in [(2, 5), (3, 1), (3, 6), (4, 3)] {
            let grid = PlayGrid::new(Triangulation::new(outcomes, resolution).unwrap()).unwrap();
            for seed in 0..300 {
                let scale = libm::exp(20.0 * random::uniform(1, seed, 0) - 10.0);
                let push = |v: usize, k: usize| scale * (random::uniform(seed, v as u64, k as u32) - 0.5);
                let start = (random::uniform(2, seed, 0) * f64::from(grid.pieces())) as u32;
                let (_, at) = grid.search(start, scale, push).unwrap();
                let p = grid.point(&at);
                assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
                let field = |k: usize| -> f64 {
                    at.vertices.iter().zip(at.weights).map(|(&v, w)| w * push(v as usize, k)).sum()
                };
                let here: f64 = (0..outcomes).map(|k| p[k] * field(k)).sum();
                for k in 0..outcomes {
                    assert!(field(k) - here <= 1e-11 * scale, "K = {outcomes}, seed {seed}: {p:?}");
                }
            }
        }
    }
}
