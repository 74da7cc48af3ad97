//! What a person says about the input and its columns.

use std::path::PathBuf;

use clap::Args;
use truecast_data::Format;
use truecast_data::recognise::{FormKind, Idiom, Wishes};

use crate::config::Config;
use crate::failure::Result;
use crate::interrupt;
use crate::tables::Tables;

/// The input.
#[derive(Debug, Clone, Args)]
pub(crate) struct InputFlags {
    /// Forecasts with their outcomes: CSV, NDJSON or Parquet, gzipped or not, several files or folders of them; `-` for standard input
    #[arg(value_name = "IN", required = true)]
    pub(crate) input: Vec<PathBuf>,

    /// Outcomes in a file of their own, which has some of the forecasts' columns
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(crate) outcomes: Option<PathBuf>,

    /// The input's format, if neither its name nor its first bytes say: csv, ndjson or parquet
    #[arg(long, value_name = "FORMAT", help_heading = "Input")]
    pub(crate) format: Option<Format>,

    /// What separates the cells of a CSV file, if its header does not say; `tab` for a tabulator
    #[arg(long, value_name = "CHAR", value_parser = separator, help_heading = "Input")]
    pub(crate) separator: Option<u8>,
}

impl InputFlags {
    /// Opens the input, which reads its beginning: a pipe or a terminal may let that wait.
    pub(crate) fn open(&self) -> Result<Tables> {
        let _waiting = interrupt::Waiting::begin()?;
        Tables::open(&self.input, self.format, self.separator)
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[byte] if byte.is_ascii() && byte != b'"' && byte != b'\n' && byte != b'\r' => Ok(byte),
        _ => Err("a separator is one character, or the word tab".to_owned()),
    }
}

/// The columns, where their names are not enough.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Columns (recognised by name unless said)")]
pub(crate) struct ColumnFlags {
    /// The form of the forecasts: gaussian, quantiles, intervals, samples, point, hubverse or m5
    #[arg(long, value_name = "FORM")]
    pub(crate) form: Option<FormKind>,

    /// The column of the outcome
    #[arg(long, value_name = "COLUMN")]
    pub(crate) outcome: Option<String>,

    /// The column that tells series apart, or several separated by commas; `none` for one series
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) key: Option<Vec<String>>,

    /// The column of the times at which forecasts were made; `none` if none tells
    #[arg(long, value_name = "COLUMN")]
    pub(crate) made: Option<String>,

    /// The column of what forecasts are about: a time, or an id; `none` if none tells
    #[arg(long, value_name = "COLUMN")]
    pub(crate) about: Option<String>,

    /// The column of the times at which outcomes become known; `none` if none tells
    #[arg(long, value_name = "COLUMN")]
    pub(crate) known: Option<String>,

    /// The column of how far ahead forecasts look, by which series are told apart; `none` for all horizons together
    #[arg(long, value_name = "COLUMN")]
    pub(crate) horizon: Option<String>,

    /// The column of a Gaussian's mean
    #[arg(long, value_name = "COLUMN")]
    pub(crate) mean: Option<String>,

    /// The column of its standard deviation
    #[arg(long, value_name = "COLUMN")]
    pub(crate) std: Option<String>,

    /// The column of a point forecast, whose scale is learned
    #[arg(long, value_name = "COLUMN")]
    pub(crate) point: Option<String>,

    /// The model whose intervals are meant: NAME of the columns NAME-lo-80 and NAME-hi-80
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// How much, in percent, an interval should hold whose columns do not say: yhat_lower and yhat_upper
    #[arg(long, value_name = "PERCENT")]
    pub(crate) interval_width: Option<f64>,
}

impl ColumnFlags {
    /// What was said here, or else in the configuration.
    pub(crate) fn wishes(&self, config: &Config) -> Wishes {
        let keys = self.key.clone().or_else(|| config.key.clone());
        let keys = keys.map(|keys| if keys == ["none"] { Vec::new() } else { keys });
        let or = |flag: &Option<String>, config: &Option<String>| flag.clone().or_else(|| config.clone());
        Wishes {
            outcome: or(&self.outcome, &config.outcome),
            keys,
            made: or(&self.made, &config.made),
            about: or(&self.about, &config.about),
            known: or(&self.known, &config.known),
            horizon: or(&self.horizon, &config.horizon),
            form: self.form.or(config.form),
            mean: or(&self.mean, &config.mean),
            std: or(&self.std, &config.std),
            point: or(&self.point, &config.point),
            model: or(&self.model, &config.model),
            interval_width: self.interval_width.or(config.interval_width),
            idiom: Idiom::Flags,
        }
    }
}
