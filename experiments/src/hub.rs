//! One team of a public forecast hub: weekly quantiles for 53 places and four horizons, whose outcomes come up to four weeks late.
//!
//! ```text
//! cargo run --release -p truecast-experiments --bin hub -- --data DIR > experiments/hub.md
//! ```
//!
//! DIR holds `flusight-cmu-timeseries.tar.xz`; without the flag it is looked for in `../shared/data` beside the clone. Needs `tar` and `xz`. Nothing is random.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a table is printed, inputs are its own"
)]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use truecast::recalibrate::{Family, GuardMode, Method, Protection, STOP_LOSS};
use truecast::{Forecast, Quantiles, Stream};
use truecast_experiments::contestant::Contestant;

const ARCHIVE: &str = "flusight-cmu-timeseries.tar.xz";
const TARGET: &str = "wk inc flu hosp";
/// In per mille, so that they can be looked up.
const LEVELS: [u32; 23] = [
    10, 25, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 550, 600, 650, 700, 750, 800, 850, 900, 950,
    975, 990,
];
/// The ends of the 50, 80 and 95 % intervals among them.
const INTERVALS: [(usize, usize); 3] = [(6, 16), (3, 19), (1, 21)];
/// A series that loses more than this has lost.
const LOST: f64 = 0.01;

/// A forecast of one series.
struct Row {
    made: String,
    about: String,
    values: Vec<f64>,
    outcome: f64,
}

/// What a forecast is about, and its quantiles by level.
type Table = (String, HashMap<u32, f64>);

/// By place and horizon, in the order in which they were made.
type Hub = BTreeMap<(String, u32), Vec<Row>>;

fn main() -> ExitCode {
    let Some(folder) = folder() else {
        eprintln!(
            "{ARCHIVE} is not there: name its folder with --data DIR, or put it into ../shared/data beside the clone"
        );
        return ExitCode::from(2);
    };
    let hub = match read(&folder.join(ARCHIVE)) {
        Ok(hub) => hub,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    let count: usize = hub.values().map(Vec::len).sum();
    println!("# A team of a public forecast hub\n");
    println!("    cargo run --release -p truecast-experiments --bin hub > experiments/hub.md\n");
    println!(
        "CMU-TimeSeries on the FluSight hub: weekly hospital admissions, horizons 0 to 3, 23 quantiles, {} series of a place and a horizon, {count} forecasts with outcomes. \
         An outcome about date D is known to forecasts with a reference date after D. Bounds: 0. WIS = 2 × mean pinball loss over the 23 quantiles. *WIS* is the change of \
         the sum over all forecasts; *by series* the mean change of a series; a series is *worse* if it loses more than 1 %. *80 % off* is the mean distance of a horizon's 80 % coverage from 80 %. \
         Bare: without stop-loss and guard. Read with [README.md](README.md).\n",
        hub.len(),
    );
    let ours = [Method::Experts, Method::Ledger];
    let rivals = Method::ALL.into_iter().filter(|method| method.family() == Family::Rival);
    let methods: Vec<Method> = ours.into_iter().chain(rivals).collect();
    println!(
        "| method | WIS % | second half % | by series % | worse % of series | worst series % | 50 % | 80 % | 95 % | 80 % off | µs |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (k, contestant) in methods
        .iter()
        .flat_map(|method| [Contestant::announced(*method), Contestant::bare(*method)])
        .enumerate()
    {
        let result = run(&hub, contestant);
        if k == 0 {
            println!("| base | | | | | | {} | {:.1} | |", covers(&result.raw), off(&result.raw_by_horizon));
        }
        println!("| {} | {} |", contestant.name(), result.line());
    }
    ExitCode::SUCCESS
}

fn folder() -> Option<PathBuf> {
    let mut arguments = std::env::args().skip(1);
    let named = arguments.find(|argument| argument == "--data").and_then(|_| arguments.next());
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = named.map_or(beside, PathBuf::from);
    folder.join(ARCHIVE).is_file().then_some(folder)
}

/// The files of the archive under a folder, one after the other.
fn unpack(archive: &Path, under: &str) -> Result<String, String> {
    let output = Command::new("tar").arg("-xJOf").arg(archive).arg(under).output();
    let output = output.map_err(|error| format!("tar could not be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{}: {}", archive.display(), String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", archive.display()))
}

/// The cells of a line under the wanted columns of the last heading.
fn cells<'a>(text: &'a str, wanted: &'a [&str]) -> impl Iterator<Item = Vec<&'a str>> {
    let mut places: Vec<usize> = Vec::new();
    text.lines().filter_map(move |line| {
        let all: Vec<&str> = line.split(',').map(|cell| cell.trim_matches('"')).collect();
        let found: Option<Vec<usize>> =
            wanted.iter().map(|name| all.iter().position(|cell| cell == name)).collect();
        if let Some(found) = found {
            places = found;
            return None;
        }
        Some(places.iter().map(|&place| all.get(place).copied().unwrap_or_default()).collect())
    })
}

fn read(archive: &Path) -> Result<Hub, String> {
    let truth = unpack(archive, "flusight/target-data")?;
    let outcomes: HashMap<(&str, &str), f64> = cells(&truth, &["date", "location", "value"])
        .filter_map(|row| Some(((row[0], row[1]), row[2].parse().ok()?)))
        .collect();
    let forecasts = unpack(archive, "flusight/model-output")?;
    let columns = [
        "reference_date",
        "target",
        "horizon",
        "target_end_date",
        "location",
        "output_type",
        "output_type_id",
        "value",
    ];
    let mut tables: BTreeMap<_, Table> = BTreeMap::new();
    for row in cells(&forecasts, &columns) {
        let Ok(horizon) = row[2].parse::<u32>() else { continue };
        if row[1] != TARGET || row[5] != "quantile" || horizon > 3 {
            continue;
        }
        let number = |cell: &str| cell.parse::<f64>().map_err(|error| format!("{cell}: {error}"));
        let level = (1e3 * number(row[6])?).round() as u32;
        let key: (String, u32, String) = (row[4].to_string(), horizon, row[0].to_string());
        let table = tables.entry(key).or_insert_with(|| (row[3].to_string(), HashMap::new()));
        table.1.insert(level, number(row[7])?);
    }
    let mut hub = Hub::new();
    for ((location, horizon, made), (about, table)) in tables {
        let Some(values) = LEVELS.iter().map(|level| table.get(level).copied()).collect::<Option<Vec<_>>>()
        else {
            return Err(format!("the forecast of {made} for {location} does not have the 23 quantiles"));
        };
        if let Some(&outcome) = outcomes.get(&(about.as_str(), location.as_str())) {
            hub.entry((location, horizon)).or_default().push(Row { made, about, values, outcome });
        }
    }
    Ok(hub)
}

/// Counts of outcomes within the three intervals, and of outcomes.
#[derive(Default, Clone, Copy)]
struct Counts {
    within: [u32; 3],
    count: u32,
}

impl Counts {
    fn add(&mut self, quantiles: &[f64], outcome: f64) {
        for (within, (low, high)) in self.within.iter_mut().zip(INTERVALS) {
            *within += u32::from((quantiles[low]..=quantiles[high]).contains(&outcome));
        }
        self.count += 1;
    }

    fn share(&self, k: usize) -> f64 {
        100.0 * f64::from(self.within[k]) / f64::from(self.count)
    }
}

fn covers(counts: &Counts) -> String {
    [0, 1, 2].map(|k| format!("{:.1}", counts.share(k))).join(" | ")
}

fn off(horizons: &[Counts; 4]) -> f64 {
    horizons.iter().map(|counts| (counts.share(1) - 80.0).abs() / 4.0).sum()
}

/// What one method came to.
#[derive(Default)]
struct Outcome {
    raw: Counts,
    announced: Counts,
    raw_by_horizon: [Counts; 4],
    by_horizon: [Counts; 4],
    /// Σ WIS of the base and of what was announced: all, the second half of every series, each series.
    all: [f64; 2],
    later: [f64; 2],
    series: Vec<f64>,
    microseconds: f64,
}

impl Outcome {
    fn line(&self) -> String {
        let change = |[base, announced]: [f64; 2]| 100.0 * (announced / base - 1.0);
        let count = self.series.len() as f64;
        let mean = self.series.iter().sum::<f64>() / count;
        let lost = self.series.iter().filter(|change| **change > LOST).count() as f64;
        let worst = self.series.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!(
            "{:+.2} | {:+.2} | {:+.2} | {:.0} | {:+.1} | {} | {:.1} | {:.0}",
            change(self.all),
            change(self.later),
            100.0 * mean,
            100.0 * lost / count,
            100.0 * worst,
            covers(&self.announced),
            off(&self.by_horizon),
            self.microseconds,
        )
    }
}

fn wis(quantiles: &[f64], outcome: f64) -> f64 {
    let loss = |(level, value): (&u32, &f64)| {
        let tau = f64::from(*level) / 1e3;
        (outcome - value) * (tau - f64::from(u8::from(outcome < *value)))
    };
    2.0 * LEVELS.iter().zip(quantiles).map(loss).sum::<f64>() / LEVELS.len() as f64
}

fn run(hub: &Hub, contestant: Contestant) -> Outcome {
    let levels = LEVELS.map(|level| f64::from(level) / 1e3);
    let guard = if contestant.method.family() == Family::Ours { GuardMode::Priced } else { GuardMode::Off };
    let bounds = Some((0.0, f64::INFINITY));
    let protection = match contestant.bare {
        false => Protection { stop_loss: Some(STOP_LOSS), guard, bounds },
        true => Protection { bounds, ..Protection::NONE },
    };
    let mut result = Outcome::default();
    let started = Instant::now();
    for ((_, horizon), rows) in hub {
        let mut stream: Stream<_, Quantiles> = Stream::new(contestant.build_with(0, protection));
        let mut waiting = Vec::new();
        let mut sums = [0.0; 2];
        for (t, row) in rows.iter().enumerate() {
            waiting.retain(|&(ticket, ready)| {
                let ready: &Row = ready;
                let known = ready.about < row.made;
                if known {
                    stream.resolve(ticket, ready.outcome).unwrap();
                }
                !known
            });
            let mut values = row.values.clone();
            values.sort_by(f64::total_cmp);
            let forecast = Quantiles::new(&levels, &values).unwrap();
            let (ticket, calibrated) = stream.issue(forecast).unwrap();
            waiting.push((ticket, row));
            let announced = levels.map(|level| calibrated.quantile(level));
            let scores = [wis(&values, row.outcome), wis(&announced, row.outcome)];
            for k in 0..2 {
                sums[k] += scores[k];
                result.all[k] += scores[k];
                result.later[k] += if 2 * t >= rows.len() { scores[k] } else { 0.0 };
            }
            for (counts, quantiles) in [
                (&mut result.raw, &values[..]),
                (&mut result.announced, &announced),
                (&mut result.raw_by_horizon[*horizon as usize], &values),
                (&mut result.by_horizon[*horizon as usize], &announced),
            ] {
                counts.add(quantiles, row.outcome);
            }
        }
        result.series.push(sums[1] / sums[0] - 1.0);
    }
    result.microseconds = started.elapsed().as_micros() as f64 / f64::from(result.raw.count);
    result
}
