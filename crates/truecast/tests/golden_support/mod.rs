//! Reading of `pipeline.json`, and a comparison that tells every field that is off, not the first alone.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// An object of the file.
#[derive(Debug, Clone)]
pub(crate) struct Case(Map<String, Value>);

/// A file beside the tests.
pub(crate) fn load(name: &str) -> Case {
    let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Case::of(&serde_json::from_str(&text).unwrap())
}

impl Case {
    fn of(value: &Value) -> Self {
        Case(value.as_object().unwrap().clone())
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    pub(crate) fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap()
    }

    pub(crate) fn number(&self, field: &str) -> Option<f64> {
        self.0.get(field).and_then(Value::as_f64)
    }

    pub(crate) fn index(&self, field: &str) -> usize {
        self.0[field].as_u64().unwrap() as usize
    }

    pub(crate) fn object(&self, field: &str) -> Map<String, Value> {
        self.0[field].as_object().unwrap().clone()
    }

    pub(crate) fn child(&self, field: &str) -> Case {
        Case::of(&self.0[field])
    }

    /// Numbers; null reads as NaN.
    pub(crate) fn list(&self, field: &str) -> Vec<f64> {
        self.optional(field).into_iter().map(|x| x.unwrap_or(f64::NAN)).collect()
    }

    pub(crate) fn lists(&self, field: &str) -> Vec<Vec<f64>> {
        let rows = self.0[field].as_array().unwrap().iter();
        rows.map(|row| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()).collect()
    }

    pub(crate) fn optional(&self, field: &str) -> Vec<Option<f64>> {
        let list = self.0.get(field).unwrap_or_else(|| panic!("no {field} in {:?}", self.0.keys()));
        list.as_array().unwrap().iter().map(Value::as_f64).collect()
    }

    pub(crate) fn cases(&self) -> impl Iterator<Item = Case> + '_ {
        self.0["cases"].as_array().unwrap().iter().map(Case::of)
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Case> + '_ {
        self.0["records"].as_array().unwrap().iter().map(Case::of)
    }

    /// What happens, in order: i issues forecast i, −1 − i settles it.
    pub(crate) fn events(&self, count: usize) -> Vec<i64> {
        if let Some(events) = self.0.get("events") {
            return events.as_array().unwrap().iter().map(|event| event.as_i64().unwrap()).collect();
        }
        let delay = self.index("delay");
        let settle = |i: usize| -1 - i as i64;
        let mut events = Vec::new();
        for i in 0..count {
            events.push(i as i64);
            events.extend((i >= delay).then(|| settle(i - delay)));
        }
        events.extend((count.saturating_sub(delay)..count).map(settle));
        events
    }
}

/// Compares numbers with those of the file, each within a share of the largest of its field.
pub(crate) struct Values {
    name: String,
    tolerance: f64,
    pairs: BTreeMap<String, Vec<(f64, f64, f64)>>,
}

impl Values {
    pub(crate) fn new(name: &str, tolerance: f64) -> Self {
        Values { name: name.to_owned(), tolerance, pairs: BTreeMap::new() }
    }

    pub(crate) fn check(&mut self, field: &str, got: f64, want: f64) {
        self.check_against(field, got, want, 0.0);
    }

    /// With a scale of its own beside the field's largest value.
    pub(crate) fn check_against(&mut self, field: &str, got: f64, want: f64, scale: f64) {
        self.pairs.entry(field.to_owned()).or_default().push((got, want, scale));
    }

    pub(crate) fn check_all(&mut self, field: &str, got: &[f64], want: &[f64]) {
        assert_eq!(got.len(), want.len(), "{}: {field}", self.name);
        got.iter().zip(want).for_each(|(&got, &want)| self.check(field, got, want));
    }

    pub(crate) fn report(&self) {
        let mut off = Vec::new();
        for (field, pairs) in &self.pairs {
            let largest = pairs.iter().fold(0.0_f64, |most, pair| most.max(pair.1.abs()).max(pair.2));
            let misses = pairs.iter().enumerate().filter(|(_, (got, want, _))| {
                let both_unknown = got.is_nan() && want.is_nan();
                !both_unknown && ((got - want).abs() > self.tolerance * largest || (got - want).is_nan())
            });
            let misses: Vec<_> = misses.collect();
            if let Some((first, (got, want, _))) = misses.first() {
                off.push(format!(
                    "{field}: {} of {} off, first at {first}: {got:e}, not {want:e}",
                    misses.len(),
                    pairs.len()
                ));
            }
        }
        assert!(off.is_empty(), "{}:\n{}", self.name, off.join("\n"));
    }
}
