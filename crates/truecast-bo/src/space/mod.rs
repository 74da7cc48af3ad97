//! Spaces: boxes of real numbers, whole numbers and choices, and their place in the unit cube.
//!
//! A surrogate sees points of the unit cube only. Real numbers take one coordinate, linear or logarithmic. Whole numbers take one, in equal cells, so
//! that uniform draws of the cube are uniform over them. A category of k choices takes k coordinates, one of them 1 and the others 0 (one-hot): no
//! choice is then nearer to another. Anywhere in the cube decodes to the nearest value, and [`Space::snapped`] is where that value itself lies: what was
//! evaluated is what the surrogate learns (Garrido-Merchán & Hernández-Lobato 2020).

mod dimension;
mod value;

use serde::{Deserialize, Serialize};

pub use dimension::{Dimension, Scale};
pub use value::Value;

use crate::error::{Error, Result};

/// A named box of dimensions.
///
/// ```
/// use truecast_bo::{Dimension, Space, Value};
///
/// let space = Space::new([
///     ("rate", Dimension::log(1e-5, 1.0)),
///     ("layers", Dimension::integer(1, 4)),
///     ("kind", Dimension::category(["relu", "tanh"])),
/// ])?;
/// let point = space.decode(&[0.4, 0.9, 0.2, 0.7])?;
/// assert!((point[0].as_real().unwrap_or(0.0) - 1e-3).abs() < 1e-12);
/// assert_eq!(point[1..], [Value::Integer(4), "tanh".into()]);
/// assert_eq!(space.encode(&point)?[2..], [0.0, 1.0]);
/// # Ok::<(), truecast_bo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Named>", into = "Vec<Named>")]
pub struct Space {
    dimensions: Vec<Named>,
}

/// A dimension and its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Named {
    name: String,
    #[serde(flatten)]
    dimension: Dimension,
}

impl Space {
    /// A space of these dimensions: at least one, with different names.
    pub fn new<S: Into<String>>(dimensions: impl IntoIterator<Item = (S, Dimension)>) -> Result<Self> {
        let named = dimensions.into_iter().map(|(name, dimension)| Named { name: name.into(), dimension });
        Space::try_from(named.collect::<Vec<_>>())
    }

    /// Real numbers between bounds, named x1, x2 and so on.
    pub fn real_box(bounds: impl IntoIterator<Item = (f64, f64)>) -> Result<Self> {
        let bounds = bounds.into_iter().enumerate();
        Space::new(bounds.map(|(k, (low, high))| (format!("x{}", k + 1), Dimension::real(low, high))))
    }

    /// Names and dimensions, in order.
    pub fn dimensions(&self) -> impl ExactSizeIterator<Item = (&str, &Dimension)> {
        self.dimensions.iter().map(|Named { name, dimension }| (name.as_str(), dimension))
    }

    /// Coordinates of the unit cube.
    pub fn width(&self) -> usize {
        self.dimensions.iter().map(|named| named.dimension.width()).sum()
    }

    /// Where a point lies in the unit cube.
    pub fn encode(&self, point: &[Value]) -> Result<Vec<f64>> {
        let expected = self.dimensions.len();
        if point.len() != expected {
            return Err(Error::PointLength { expected, found: point.len() });
        }
        let mut out = Vec::with_capacity(self.width());
        for (Named { name, dimension }, value) in self.dimensions.iter().zip(point) {
            dimension.encode(name, value, &mut out)?;
        }
        Ok(out)
    }

    /// The point at these coordinates of the unit cube; coordinates outside of it are moved to its border.
    pub fn decode(&self, coordinates: &[f64]) -> Result<Vec<Value>> {
        let expected = self.width();
        if coordinates.len() != expected {
            return Err(Error::PointLength { expected, found: coordinates.len() });
        }
        if let Some(&value) = coordinates.iter().find(|x| x.is_nan()) {
            return Err(Error::NotFinite { what: "a coordinate", value });
        }
        let mut rest = coordinates;
        let mut point = Vec::with_capacity(self.dimensions.len());
        for named in &self.dimensions {
            let (own, others) = rest.split_at(named.dimension.width());
            let own: Vec<f64> = own.iter().map(|x| x.clamp(0.0, 1.0)).collect();
            point.push(named.dimension.decode(&own));
            rest = others;
        }
        Ok(point)
    }

    /// Where the point at these coordinates itself lies.
    pub fn snapped(&self, coordinates: &[f64]) -> Result<Vec<f64>> {
        if self.is_continuous() {
            return Ok(coordinates.iter().map(|x| x.clamp(0.0, 1.0)).collect());
        }
        self.encode(&self.decode(coordinates)?)
    }

    /// True if every dimension is real.
    pub fn is_continuous(&self) -> bool {
        self.dimensions.iter().all(|named| matches!(named.dimension, Dimension::Real { .. }))
    }
}

impl TryFrom<Vec<Named>> for Space {
    type Error = Error;
    fn try_from(dimensions: Vec<Named>) -> Result<Self> {
        if dimensions.is_empty() {
            return Err(Error::Space { rule: "at least one dimension", found: "none".to_string() });
        }
        for (i, Named { name, dimension }) in dimensions.iter().enumerate() {
            if dimensions[..i].iter().any(|before| before.name == *name) {
                return Err(Error::Space { rule: "different names", found: format!("`{name}` twice") });
            }
            dimension.validate(name)?;
        }
        Ok(Space { dimensions })
    }
}

impl From<Space> for Vec<Named> {
    fn from(space: Space) -> Self {
        space.dimensions
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn mixed() -> Space {
        let log = Dimension::Integer { low: 1, high: 1000, scale: Scale::Log };
        Space::new([
            ("x", Dimension::real(-3.0, 5.0)),
            ("rate", Dimension::log(1e-6, 10.0)),
            ("count", Dimension::integer(-2, 3)),
            ("size", log),
            ("kind", Dimension::category(["a", "b", "c"])),
        ])
        .unwrap()
    }

    proptest! {
        /// A value's own place decodes to it: exactly for whole numbers and choices, to rounding for real ones.
        #[test]
        fn decoding_undoes_encoding(at in prop::collection::vec(-0.2f64..1.2, 7)) {
            let space = mixed();
            let point = space.decode(&at).unwrap();
            let place = space.encode(&point).unwrap();
            prop_assert!(place.iter().all(|x| (0.0..=1.0).contains(x)));
            let again = space.decode(&place).unwrap();
            for (left, right) in point.iter().zip(&again) {
                match (left, right) {
                    (Value::Real(a), Value::Real(b)) => prop_assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs())),
                    _ => prop_assert_eq!(left, right),
                }
            }
        }
    }

    #[test]
    fn whole_numbers_share_the_unit_interval_equally() {
        let space = Space::new([("count", Dimension::integer(0, 3))]).unwrap();
        let mut counts = [0; 4];
        for i in 0..400 {
            match space.decode(&[(f64::from(i) + 0.5) / 400.0]).unwrap()[0] {
                Value::Integer(x) => counts[x as usize] += 1,
                ref other => panic!("{other}"),
            }
        }
        assert_eq!(counts, [100; 4]);
    }

    #[test]
    fn bad_spaces_and_points_are_named() {
        assert!(Space::new::<&str>([]).is_err());
        assert!(Space::real_box([(1.0, 1.0)]).is_err());
        assert!(Space::real_box([(0.0, f64::INFINITY)]).is_err());
        assert!(Space::new([("r", Dimension::log(0.0, 1.0))]).is_err());
        assert!(Space::new([("k", Dimension::category(["a", "a"]))]).is_err());
        let twice = Space::new([("x", Dimension::real(0.0, 1.0)), ("x", Dimension::real(0.0, 1.0))]);
        assert_eq!(twice, Err(Error::Space { rule: "different names", found: "`x` twice".to_string() }));
        let space = Space::real_box([(0.0, 1.0)]).unwrap();
        assert_eq!(space.encode(&[]), Err(Error::PointLength { expected: 1, found: 0 }));
        assert_eq!(
            space.encode(&[Value::Real(f64::NAN)]).unwrap_err().to_string(),
            "the value of `x1` must be a number from 0 to 1, got NaN"
        );
        assert!(space.decode(&[f64::NAN]).is_err());
    }

    #[test]
    fn a_space_is_saved_and_loading_validates() {
        let space = mixed();
        let json = serde_json::to_string(&space).unwrap();
        assert_eq!(serde_json::from_str::<Space>(&json).unwrap(), space);
        assert!(
            json.starts_with(r#"[{"name":"x","real":{"low":-3.0,"high":5.0,"scale":"linear"}}"#),
            "{json}"
        );
        assert!(serde_json::from_str::<Space>(r#"[{"name":"x","real":{"low":1.0,"high":0.0}}]"#).is_err());
    }
}
