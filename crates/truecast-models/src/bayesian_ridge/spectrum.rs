//! Singular values of the root of the Gram matrix, by one-sided Jacobi rotations.
//!
//! Rotates pairs of columns of R until all are orthogonal, R V = U S, and reads off S (the columns' lengths) and b = Uᵀz. Unlike methods that
//! reduce to a bidiagonal form first, and unlike the eigenvalues of RᵀR, it finds small singular values to a *relative* accuracy that does not
//! depend on the columns' scales (Demmel & Veselić 1992, SIAM J. Matrix Anal. Appl. 13, 1204–1245), which are the units of the inputs. It
//! also has nothing to divide by where columns repeat or are constant; nalgebra 0.35's `SVD` gives back one such matrix, which is a test below,
//! only to 5e-6 (U S Vᵀ against R).
//!
//! O(d³) per sweep, 4 to 10 sweeps. V is kept only where it is asked for.

use crate::error::{Error, Result};
use crate::triangle::Triangle;

/// Sweeps converge quadratically at the end; 60 are far more than any matrix needs.
const MOST_SWEEPS: usize = 60;

/// What evidence maximisation needs of R = U S Vᵀ and z.
#[derive(Debug)]
pub(super) struct Spectrum {
    /// S.
    pub(super) singular: Vec<f64>,
    /// Uᵀz.
    pub(super) rotated: Vec<f64>,
    /// ‖z − UUᵀz‖²: what no column explains.
    pub(super) outside: f64,
    /// The columns of V, if they were asked for.
    pub(super) basis: Option<Vec<Vec<f64>>>,
}

impl Spectrum {
    pub(super) fn of(root: &Triangle, with_basis: bool) -> Result<Self> {
        let d = root.size() - 1;
        let mut columns = vec![vec![0.0; d]; d];
        let mut rest = vec![0.0; d];
        for i in 0..d {
            let row = root.row(i);
            for j in i..d {
                columns[j][i] = row[j - i];
            }
            rest[i] = row[d - i];
        }
        let mut basis: Vec<Vec<f64>> = Vec::new();
        if with_basis {
            basis = (0..d).map(|k| (0..d).map(|i| if i == k { 1.0 } else { 0.0 }).collect()).collect();
        }
        // Entries of order one, so that no square leaves the range of f64.
        let largest = columns.iter().flatten().fold(0.0_f64, |most, entry| most.max(entry.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        columns.iter_mut().flatten().for_each(|entry| *entry /= unit);
        orthogonalise(&mut columns, &mut basis)?;

        let mut singular = Vec::with_capacity(d);
        let mut rotated = Vec::with_capacity(d);
        for column in &columns {
            let length = dot(column, column).sqrt();
            let part = if length > 0.0 { dot(column, &rest) / length } else { 0.0 };
            if length > 0.0 {
                rest.iter_mut().zip(column).for_each(|(rest, entry)| *rest -= part * (entry / length));
            }
            singular.push(length * unit);
            rotated.push(part);
        }
        Ok(Spectrum { singular, rotated, outside: dot(&rest, &rest), basis: with_basis.then_some(basis) })
    }
}

/// Rotates `columns`, and `basis` along if it is not empty, until every pair is orthogonal to rounding.
fn orthogonalise(columns: &mut [Vec<f64>], basis: &mut [Vec<f64>]) -> Result<()> {
    let d = columns.len();
    // The rounding of a dot product of d terms, relative to the lengths.
    let none = f64::EPSILON * (d as f64).sqrt();
    // A column that loses all but this of its length was a combination of others: the rest of it is rounding, and is
    // taken out lest sweeps shrink it for ever.
    let gone = f64::EPSILON * d as f64;
    let least: Vec<f64> = columns.iter().map(|column| gone * gone * dot(column, column)).collect();
    for _ in 0..MOST_SWEEPS {
        // Long columns first: de Rijk's order, once per sweep.
        let mut order: Vec<usize> = (0..d).collect();
        let mut squares: Vec<f64> = columns.iter().map(|column| dot(column, column)).collect();
        order.sort_by(|&i, &j| squares[j].total_cmp(&squares[i]));
        let mut rotations = 0;
        for (at, &i) in order.iter().enumerate() {
            for &j in &order[at + 1..] {
                let Ok([p, q]) = columns.get_disjoint_mut([i, j]) else { continue };
                let (a, b) = (squares[i], squares[j]);
                let c = dot(p, q);
                if c == 0.0 || c.abs() <= none * a.sqrt() * b.sqrt() {
                    continue;
                }
                rotations += 1;
                // tan 2θ = 2c/(a − b), the smaller root (Golub & Van Loan, 8.5.2).
                let ratio = (b - a) / (2.0 * c);
                let tangent = ratio.signum() / (ratio.abs() + libm::hypot(1.0, ratio));
                let cosine = 1.0 / libm::hypot(1.0, tangent);
                let sine = tangent * cosine;
                rotate(p, q, cosine, sine);
                squares[i] = dot(p, p);
                squares[j] = dot(q, q);
                for (column, k) in [(p, i), (q, j)] {
                    if squares[k] <= least[k] {
                        column.fill(0.0);
                        squares[k] = 0.0;
                    }
                }
                if let Ok([v, w]) = basis.get_disjoint_mut([i, j]) {
                    rotate(v, w, cosine, sine);
                }
            }
        }
        if rotations == 0 {
            return Ok(());
        }
    }
    Err(Error::NoConvergence { what: "the singular value decomposition of the inputs" })
}

fn rotate(p: &mut [f64], q: &mut [f64], cosine: f64, sine: f64) {
    for (p, q) in p.iter_mut().zip(q) {
        (*p, *q) = (cosine * *p - sine * *q, sine * *p + cosine * *q);
    }
}

/// Four sums side by side, which the compiler can keep in one vector register.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (left, right) = (left.chunks_exact(4), right.chunks_exact(4));
    let tail: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in left.zip(right) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use truecast_testkit::golden::assert_close;

    /// R = [[1e8, 1], [0, 1]]: singular values from σ₁² + σ₂² = 1e16 + 2 and σ₁σ₂ = 1e8, to all digits.
    #[test]
    fn small_singular_values_keep_their_digits() {
        let mut root = Triangle::zero(3);
        root.absorb(&mut [1e8, 1.0, 3.0]);
        root.absorb(&mut [0.0, 1.0, 4.0]);
        let spectrum = Spectrum::of(&root, true).expect("converges");
        let (large, small) = (spectrum.singular[0], spectrum.singular[1]);
        assert_close("large", large, 1e8, 1e-15, 0.0);
        assert_close("small", small, 1.0 - 0.5e-16, 1e-15, 0.0);
        assert_close("length of b", dot(&spectrum.rotated, &spectrum.rotated), 25.0, 1e-15, 0.0);
        assert_close("outside", spectrum.outside, 0.0, 0.0, 1e-28);
    }

    /// The first eight rows of the energy dataset: two directions, and rounding in the other columns. The Gram matrix has the
    /// eigenvalues 6302.637800… and 10 in 60 digits.
    #[test]
    fn rounding_is_no_direction() {
        let mut root = Triangle::zero(9);
        for row in [
            [
                0.11313708498984755,
                -69.29646455628173,
                -34.64823227814087,
                -17.324116139070405,
                0.0,
                -1.1102230246251565e-16,
            ],
            [
                0.0,
                9.057678187205882e-14,
                4.528839093602941e-14,
                -1.3098796147651583e-14,
                0.0,
                2.151633583793649,
            ],
            [0.0, 0.0, 3.5278932177324025e-30, 8.690660153369823e-15, 0.0, -0.3340368929605429],
            [0.0, 0.0, 0.0, 9.59709095642701e-15, 0.0, -0.5088145784394991],
            [0.0, 0.0, 0.0, 0.0, 0.0, 2.2360679774997894],
        ] {
            let mut whole = [0.0; 9];
            whole[..6].copy_from_slice(&row);
            root.absorb(&mut whole);
        }
        let mut singular = Spectrum::of(&root, true).expect("converges").singular;
        singular.sort_by(|a, b| b.total_cmp(a));
        let length: f64 = [0.11313708498984755, 69.29646455628173, 34.64823227814087, 17.324116139070405_f64]
            .iter()
            .map(|x| x * x)
            .sum();
        assert_close("first", singular[0], length.sqrt(), 1e-14, 0.0);
        assert_close("second", singular[1], 10.0_f64.sqrt(), 1e-14, 0.0);
        assert!(singular[2] < 1e-12, "{singular:?}");
    }

    /// What a column of zeros cannot explain stays outside.
    #[test]
    fn zero_columns_explain_nothing() {
        let mut root = Triangle::zero(3);
        root.absorb(&mut [2.0, 0.0, 3.0]);
        root.absorb(&mut [0.0, 0.0, 4.0]);
        let spectrum = Spectrum::of(&root, false).expect("converges");
        assert_eq!(spectrum.singular, [2.0, 0.0]);
        assert_eq!((spectrum.rotated[0], spectrum.outside + root.residual()), (3.0, 16.0));
    }
}
