//! One series at a time: what a store of a service, or of a worker of a cluster, holds for each key.

use crate::error::Result;
use crate::fleet::Fleet;

/// Where series are kept while nobody asks for them.
///
/// ```
/// use std::collections::HashMap;
/// use truecast::{Forecast, Gaussian};
/// use truecast_fleet::{Error, Fleet, Given, Settings, Store};
///
/// struct Memory(HashMap<Vec<u8>, Vec<u8>>);
///
/// impl Store for Memory {
///     type Error = Error;
///     fn load(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Error> { Ok(self.0.get(key).cloned()) }
///     fn save(&mut self, key: &[u8], series: Vec<u8>) -> Result<(), Error> {
///         self.0.insert(key.to_vec(), series);
///         Ok(())
///     }
/// }
///
/// let mut store = Memory(HashMap::new());
/// let mut fleet = Fleet::new(Settings::default())?;
/// let forecast = Given::Distribution(Gaussian::new(20.0, 2.0)?.into());
/// fleet.fetch(b"kettle", &mut store)?;
/// fleet.issue(b"kettle", b"monday", None, forecast)?;
/// fleet.put_away(b"kettle", &mut store)?;
/// assert_eq!((fleet.series().count(), store.0.len()), (0, 1));
/// fleet.fetch(b"kettle", &mut store)?;
/// assert_eq!(fleet.resolve(b"monday", 23.0)?, 1);
/// # Ok::<(), Error>(())
/// ```
pub trait Store {
    /// What can go wrong.
    type Error: From<crate::Error>;

    /// The series as it was saved last; `None` for one that is new.
    fn load(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Keeps a series.
    fn save(&mut self, key: &[u8], series: Vec<u8>) -> Result<(), Self::Error>;
}

impl Fleet {
    /// Brings a series into the fleet, if it is not there yet and the store has it.
    pub fn fetch<S: Store>(&mut self, key: &[u8], store: &mut S) -> Result<(), S::Error> {
        if self.has(key) {
            return Ok(());
        }
        match store.load(key)? {
            Some(bytes) => Ok(self.insert(key, &bytes)?),
            None => Ok(()),
        }
    }

    /// Saves a series, and takes it out of the fleet.
    pub fn put_away<S: Store>(&mut self, key: &[u8], store: &mut S) -> Result<(), S::Error> {
        match self.series_bytes(key)? {
            Some(bytes) => {
                store.save(key, bytes)?;
                self.remove(key);
                Ok(())
            }
            None => Ok(()),
        }
    }
}
