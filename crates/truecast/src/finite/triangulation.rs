//! The simplex of K outcomes cut into small simplices whose corners have denominators N.
//!
//! Holds: corners are exact integers; two cells meet in a common face or not at all; every point p has one set of weights,
//! p = Σ_v w_v v over the corners of its cell, w ≥ 0, Σ w = 1, continuous in p; each outcome-face is cut in the same way.
//!
//! ```text
//! tails       c_j = N (p_j + … + p_{K−1}),  j = 1 … K−1:   N ≥ c_1 ≥ … ≥ c_{K−1} ≥ 0
//! cell        the floor of c, and the order of its fractional parts, largest first
//! corners     floor, then one unit step at a time in that order;  weights: differences of sorted fractions
//! ```
//!
//! N^(K−1) cells and C(N+K−1, K−1) vertices; locating a point costs O(K²). Source: Freudenthal (1942), Kuhn (1960); used for
//! calibration by Kakade & Foster (2004), "Deterministic calibration and Nash equilibrium".

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Most outcomes that the simplex code is built for.
pub const LARGEST_OUTCOMES: usize = 4;
const AXES: usize = LARGEST_OUTCOMES - 1;

/// A triangulated simplex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(usize, usize)", into = "(usize, usize)")]
pub struct Triangulation {
    outcomes: usize,
    resolution: usize,
}

/// One small simplex: its first corner in tail coordinates, and the order of the unit steps to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    origin: [u16; AXES],
    order: [u8; AXES],
}

/// Where a point lies: the numbers of its cell's corners and their weights. Entries from K on are 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Numbers of the corners.
    pub vertices: [u32; LARGEST_OUTCOMES],
    /// Their weights.
    pub weights: [f64; LARGEST_OUTCOMES],
}

impl Triangulation {
    /// K = `outcomes` from 2 to 4 (1 is a point), edges cut into N = `resolution`, at most 20,000 cells.
    pub fn new(outcomes: usize, resolution: usize) -> Result<Self> {
        if !(1..=LARGEST_OUTCOMES).contains(&outcomes) {
            return Err(Error::OutOfRange { what: "outcomes", rule: "at most 4", value: outcomes as f64 });
        }
        if resolution == 0 {
            return Err(Error::TooFew { what: "parts of an edge", least: 1, found: 0 });
        }
        if resolution.checked_pow(outcomes as u32 - 1).is_none_or(|cells| cells > 20_000)
            || resolution > 20_000
        {
            let (what, rule) = ("resolution", "small enough for at most 20000 cells");
            return Err(Error::OutOfRange { what, rule, value: resolution as f64 });
        }
        Ok(Triangulation { outcomes, resolution })
    }

    /// K.
    pub fn outcomes(&self) -> usize {
        self.outcomes
    }

    /// N.
    pub fn resolution(&self) -> usize {
        self.resolution
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> usize {
        choose(self.resolution + self.outcomes - 1, self.outcomes - 1)
    }

    /// The integer coordinates of all vertices, which sum to N, in the order of their numbers.
    pub fn vertices(&self) -> Vec<[u16; LARGEST_OUTCOMES]> {
        let mut all = vec![[0; LARGEST_OUTCOMES]; self.vertex_count()];
        let mut tails = [0_u16; AXES];
        loop {
            let number = self.number(&tails);
            all[number] = self.coordinates(&tails);
            // The next non-increasing vector: raise the last entry that may rise, and clear those behind it.
            let limit =
                |j: usize, tails: &[u16; AXES]| if j == 0 { self.resolution as u16 } else { tails[j - 1] };
            let Some(j) = (0..self.outcomes - 1).rev().find(|&j| tails[j] < limit(j, &tails)) else {
                return all;
            };
            tails[j] += 1;
            tails[j + 1..].fill(0);
        }
    }

    /// All cells, sorted.
    pub fn cells(&self) -> Vec<Cell> {
        let axes = self.outcomes - 1;
        let mut cells = Vec::with_capacity(self.resolution.pow(axes as u32));
        for code in 0..self.resolution.pow(axes as u32) {
            let mut origin = [0; AXES];
            let mut rest = code;
            for c in origin.iter_mut().take(axes).rev() {
                *c = (rest % self.resolution) as u16;
                rest /= self.resolution;
            }
            for order in orders(axes) {
                let cell = Cell { origin, order };
                if (0..=axes).all(|k| self.is_inside(&self.corner(&cell, k))) {
                    cells.push(cell);
                }
            }
        }
        cells.sort_unstable();
        cells
    }

    /// The numbers of a cell's corners.
    pub fn corners(&self, cell: &Cell) -> [u32; LARGEST_OUTCOMES] {
        let mut numbers = [0; LARGEST_OUTCOMES];
        for (k, number) in numbers.iter_mut().enumerate().take(self.outcomes) {
            *number = self.number(&self.corner(cell, k)) as u32;
        }
        numbers
    }

    /// The cell that holds a point of the simplex (its first K entries are read), and where it lies in it.
    pub fn locate(&self, point: &[f64]) -> (Cell, Location) {
        let (axes, n) = (self.outcomes - 1, self.resolution as f64);
        let mut cell = Cell { origin: [0; AXES], order: [0, 1, 2] };
        let (mut fractions, mut inward) = ([0.0; AXES], [0.0; AXES]);
        let mut tail = 0.0;
        for j in (0..axes).rev() {
            tail += point[j + 1];
            let c = (n * tail).min(n);
            // On a border of cells the point counts as moved a little towards the simplex' centre, so that the cell exists.
            inward[j] = n * (axes - j) as f64 / self.outcomes as f64 - c;
            let mut floor = c.floor();
            if floor == c && (inward[j] < 0.0 || floor == n) {
                floor -= 1.0;
            }
            (cell.origin[j], fractions[j]) = (floor as u16, c - floor);
        }
        let order = &mut cell.order[..axes];
        order.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            fractions[b].total_cmp(&fractions[a]).then(inward[b].total_cmp(&inward[a])).then(a.cmp(&b))
        });
        let mut weights = [0.0; LARGEST_OUTCOMES];
        let mut above = 1.0;
        for (k, &axis) in order.iter().enumerate() {
            weights[k] = above - fractions[axis as usize];
            above = fractions[axis as usize];
        }
        weights[axes] = above;
        (cell, Location { vertices: self.corners(&cell), weights })
    }

    /// Corner number `k` of a cell, in tail coordinates.
    fn corner(&self, cell: &Cell, k: usize) -> [u16; AXES] {
        let mut tails = cell.origin;
        for &axis in &cell.order[..k] {
            tails[axis as usize] += 1;
        }
        tails
    }

    fn is_inside(&self, tails: &[u16; AXES]) -> bool {
        let tails = &tails[..self.outcomes - 1];
        tails.first().is_none_or(|&c| c as usize <= self.resolution) && tails.is_sorted_by(|a, b| a >= b)
    }

    fn coordinates(&self, tails: &[u16; AXES]) -> [u16; LARGEST_OUTCOMES] {
        let mut point = [0; LARGEST_OUTCOMES];
        let mut above = self.resolution as u16;
        for j in 0..self.outcomes - 1 {
            point[j] = above - tails[j];
            above = tails[j];
        }
        point[self.outcomes - 1] = above;
        point
    }

    /// The number of the vertex with these tails: how many non-increasing vectors come before it.
    fn number(&self, tails: &[u16; AXES]) -> usize {
        let axes = self.outcomes - 1;
        (0..axes).map(|j| choose(tails[j] as usize + axes - 1 - j, axes - j)).sum()
    }

    /// The number of the vertex with these integer coordinates.
    pub(super) fn number_of(&self, point: &[u16; LARGEST_OUTCOMES]) -> usize {
        let (mut tails, mut tail) = ([0; AXES], 0);
        for j in (0..self.outcomes - 1).rev() {
            tail += point[j + 1];
            tails[j] = tail;
        }
        self.number(&tails)
    }
}

/// Binomial coefficients; 0 where k > n.
fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1, |product, i| if n < k { 0 } else { product * (n - i) / (i + 1) })
}

/// All orders of the first `axes` axes; the rest stay in place.
fn orders(axes: usize) -> impl Iterator<Item = [u8; AXES]> {
    const ALL: [[u8; AXES]; 6] = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    ALL.into_iter().filter(move |order| (axes..AXES).all(|k| order[k] == k as u8))
}

impl TryFrom<(usize, usize)> for Triangulation {
    type Error = Error;
    fn try_from((outcomes, resolution): (usize, usize)) -> Result<Self> {
        Triangulation::new(outcomes, resolution)
    }
}

impl From<Triangulation> for (usize, usize) {
    fn from(of: Triangulation) -> Self {
        (of.outcomes, of.resolution)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn cells_and_vertices_are_counted() {
        for (outcomes, resolution) in [(1, 3), (2, 1), (2, 7), (3, 1), (3, 5), (4, 1), (4, 6)] {
            let t = Triangulation::new(outcomes, resolution).unwrap();
            assert_eq!(t.cells().len(), resolution.pow(outcomes as u32 - 1), "{t:?}");
            let vertices = t.vertices();
            for (number, v) in vertices.iter().enumerate() {
                assert_eq!(v.iter().map(|&x| x as usize).sum::<usize>(), resolution);
                assert_eq!(t.number_of(v), number);
            }
        }
    }

    /// Random points, points on borders of cells and on the simplex' faces: an existing cell, weights ≥ 0 that sum to 1 and give the
    /// point back, to rounding.
    #[test]
    fn every_point_has_a_cell_and_weights() {
        for (outcomes, resolution) in [(2, 5), (3, 4), (3, 7), (4, 3), (4, 5)] {
            let t = Triangulation::new(outcomes, resolution).unwrap();
            let (cells, vertices) = (t.cells(), t.vertices());
            for step in 0..2000 {
                let mut point = [0.0; LARGEST_OUTCOMES];
                for (k, p) in point.iter_mut().enumerate().take(outcomes) {
                    let draw = random::uniform(5, step, k as u32);
                    // A third of the points are vertices or on faces, a third have a zero here and there.
                    *p = match step % 3 {
                        0 => draw,
                        1 => (draw - 0.4).max(0.0),
                        _ => (draw * 3.0).floor(),
                    };
                }
                let total: f64 = point.iter().sum();
                if total == 0.0 {
                    continue;
                }
                point.iter_mut().for_each(|p| *p /= total);
                let (cell, at) = t.locate(&point);
                assert!(cells.binary_search(&cell).is_ok(), "{t:?}: no cell {cell:?} for {point:?}");
                let mut back = [0.0; LARGEST_OUTCOMES];
                for (vertex, weight) in at.vertices.iter().zip(at.weights) {
                    assert!((0.0..=1.0).contains(&weight), "{at:?}");
                    for k in 0..outcomes {
                        back[k] += weight * f64::from(vertices[*vertex as usize][k]) / resolution as f64;
                    }
                }
                for k in 0..outcomes {
                    assert!((back[k] - point[k]).abs() < 1e-14, "{point:?} came back as {back:?}");
                }
            }
        }
    }
}
