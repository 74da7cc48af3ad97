//! Golden values: numbers that an independent implementation wrote, and comparisons that print everything.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a JSON file of golden values. Join the path to the calling test's own `env!("CARGO_MANIFEST_DIR")`.
///
/// ```no_run
/// use std::path::Path;
/// use truecast_testkit::golden;
///
/// let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ledger.json");
/// let file: serde_json::Value = golden::load(&path);
/// ```
pub fn load<T: DeserializeOwned>(path: &Path) -> T {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("golden file {}: {error}", path.display()),
    };
    match serde_json::from_str(&text) {
        Ok(values) => values,
        Err(error) => panic!("golden file {}: {error}", path.display()),
    }
}

/// The value at a JSON pointer such as `/cases/0/steps`.
pub fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    match value.pointer(pointer) {
        Some(found) => found,
        None => panic!("golden values have nothing at {pointer}"),
    }
}

/// The number at a JSON pointer.
pub fn number(value: &Value, pointer: &str) -> f64 {
    decode(value, pointer)
}

/// The list of numbers at a JSON pointer.
pub fn numbers(value: &Value, pointer: &str) -> Vec<f64> {
    decode(value, pointer)
}

/// What is at a JSON pointer, as any type that deserialises: `Vec<Vec<f64>>`, `Vec<usize>`, `String`, a struct.
pub fn decode<T: DeserializeOwned>(value: &Value, pointer: &str) -> T {
    match T::deserialize(at(value, pointer)) {
        Ok(decoded) => decoded,
        Err(error) => panic!("golden values at {pointer}: {error}"),
    }
}

/// Whether |got − want| ≤ absolute + relative · |want|. Equal infinities are close; NaN is close to nothing.
pub fn is_close(got: f64, want: f64, relative: f64, absolute: f64) -> bool {
    got == want || ((got - want).abs() <= absolute + relative * want.abs() && want.is_finite())
}

/// Stops the test unless `got` is close to `want`, as [`is_close`] says.
#[track_caller]
pub fn assert_close(what: &str, got: f64, want: f64, relative: f64, absolute: f64) {
    if !is_close(got, want, relative, absolute) {
        panic!("{}", difference(what, got, want, relative, absolute));
    }
}

/// Stops the test unless both lists have one length and are close entry by entry; names the worst entry and prints both lists.
#[track_caller]
pub fn assert_all_close(what: &str, got: &[f64], want: &[f64], relative: f64, absolute: f64) {
    assert_eq!(got.len(), want.len(), "{what}: lengths differ\n got {got:?}\nwant {want:?}");
    let worst = (0..got.len())
        .filter(|&i| !is_close(got[i], want[i], relative, absolute))
        .max_by(|&i, &j| f64::total_cmp(&(got[i] - want[i]).abs(), &(got[j] - want[j]).abs()));
    if let Some(i) = worst {
        let entry = difference(&format!("{what}[{i}]"), got[i], want[i], relative, absolute);
        panic!("{entry}\nall got  {got:?}\nall want {want:?}");
    }
}

fn difference(what: &str, got: f64, want: f64, relative: f64, absolute: f64) -> String {
    let gap = (got - want).abs();
    let allowed = absolute + relative * want.abs();
    format!(
        "{what} differs\n       got {got:?}\n      want {want:?}\ndifference {gap:e}\n   allowed {allowed:e} \
         (relative {relative:e}, absolute {absolute:e})"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closeness() {
        assert!(is_close(1.0 + 1e-10, 1.0, 1e-9, 0.0));
        assert!(!is_close(1.0 + 1e-8, 1.0, 1e-9, 0.0));
        assert!(is_close(1e-13, 0.0, 0.0, 1e-12));
        assert!(is_close(f64::INFINITY, f64::INFINITY, 0.0, 0.0));
        assert!(!is_close(1.0, f64::INFINITY, 1.0, 0.0));
        assert!(!is_close(f64::NAN, f64::NAN, 1.0, 1.0));
    }

    #[test]
    #[should_panic(expected = "balance[1] differs")]
    fn a_difference_names_its_entry() {
        assert_all_close("balance", &[1.0, 2.0], &[1.0, 3.0], 1e-9, 0.0);
    }

    #[test]
    #[should_panic(expected = "lengths differ")]
    fn a_missing_entry_is_a_difference() {
        assert_all_close("balance", &[1.0], &[1.0, 3.0], 1e-9, 0.0);
    }

    #[test]
    fn pointers_reach_into_values() {
        let value: Value = serde_json::from_str(r#"{"a": [{"b": [0.1, 2]}]}"#).expect("is JSON");
        assert_eq!(numbers(&value, "/a/0/b"), [0.1, 2.0]);
        assert_eq!(number(&value, "/a/0/b/1"), 2.0);
    }
}
