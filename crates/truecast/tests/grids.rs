//! The default grids against the reference implementation in `tests/golden/ledger.py`.

use std::path::Path;

use truecast::grid::{Levels, Plays};
use truecast_testkit::golden;

/// The reference rounds its sums, sinh and erfc differently: a few units in the last place.
const ROUNDING: f64 = 1e-15;

#[test]
fn default_grids_are_those_of_the_reference() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ledger.json");
    let file: serde_json::Value = golden::load(&path);
    let levels = Levels::stretched(25, 6.0, 3.0).expect("default levels");
    golden::assert_all_close(
        "levels",
        levels.probits(),
        &golden::numbers(&file, "/levels"),
        ROUNDING,
        ROUNDING,
    );
    let plays = Plays::probit(16, 3.3).expect("default plays");
    golden::assert_all_close("plays", plays.values(), &golden::numbers(&file, "/plays"), ROUNDING, ROUNDING);
}
