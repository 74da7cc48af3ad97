//! Randomness without state: a draw is a function of (seed, step, lane).
//!
//! Prediction stays pure (asking twice gives the same answer), a resumed run repeats an uninterrupted one, and a
//! snapshot has no generator to save. The mixing function is the finaliser of SplitMix64 (Steele, Lea & Flood 2014),
//! applied once per key.

/// A uniform draw in [0, 1) with 53 random bits.
///
/// `lane` separates the draws of one step: levels count from 0, [`ATOM_LANE`] is for randomised PITs.
#[inline]
pub fn uniform(seed: u64, step: u64, lane: u32) -> f64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut bits = mix(seed.wrapping_add(GOLDEN));
    bits = mix(bits ^ step.wrapping_mul(GOLDEN).wrapping_add(GOLDEN));
    bits = mix(bits ^ u64::from(lane).wrapping_mul(0xd1b5_4a32_d192_ed03));
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// The lane of the draw that splits an atom of the base forecast.
pub const ATOM_LANE: u32 = u32::MAX;

/// A draw moved into (0, 1), so that a randomised PIT is never exactly at an end.
#[inline]
pub(crate) fn open_unit(draw: f64) -> f64 {
    draw.clamp(1.0 / (1u64 << 54) as f64, 1.0 - 1.0 / (1u64 << 53) as f64)
}

#[inline]
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and lag correlations of 2^16 draws along each key stay within five standard errors (0.29/256 and 1/256).
    #[test]
    fn draws_are_uniform_and_uncorrelated_along_every_key() {
        const COUNT: u32 = 1 << 16;
        let keys: [fn(u32) -> f64; 3] =
            [|k| uniform(u64::from(k), 7, 3), |k| uniform(7, u64::from(k), 3), |k| uniform(7, 3, k)];
        for draw in keys {
            let draws: Vec<f64> = (0..COUNT).map(draw).collect();
            assert!(draws.iter().all(|d| (0.0..1.0).contains(d)));
            let mean = draws.iter().sum::<f64>() / f64::from(COUNT);
            assert!((mean - 0.5).abs() < 5.0 * 0.29 / 256.0, "mean {mean}");
            let lagged = draws.windows(2).map(|d| (d[0] - 0.5) * (d[1] - 0.5)).sum::<f64>();
            let correlation = lagged / f64::from(COUNT) * 12.0;
            assert!(correlation.abs() < 5.0 / 256.0, "lag correlation {correlation}");
        }
    }
}
