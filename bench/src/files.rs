//! A file of many rows through the real command, beside reading it alone.
//!
//! Reading alone is what any program must do: split the rows into cells, keep them in batches of columns, and turn outcome, mean and standard deviation into numbers, on one
//! core; beside it, the same with nothing kept. Both by the `csv` crate. The command does that and calibrates and writes, on all cores. Both take turns on the same file; times are of the clock.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use truecast_streams::Scenario;

/// Series in the file, whose rows take turns.
const SERIES: usize = 100;
const TURNS: usize = 5;
/// Rows that are read at once.
const BATCH: usize = 1 << 14;

pub(crate) fn run(rows: usize) {
    let binary = std::env::current_exe().unwrap().with_file_name("truecast");
    if !binary.exists() {
        println!("{} is missing; build it first: cargo build --release -p truecast-cli", binary.display());
        return;
    }
    let folder = std::env::temp_dir().join(format!("truecast-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let input = folder.join("forecasts.csv");
    write(&input, rows);
    let megabytes = std::fs::metadata(&input).unwrap().len() as f64 / 1e6;
    println!("{rows} rows in {SERIES} series, {megabytes:.0} MB, best of {TURNS} that take turns\n");
    let jobs: [(&str, &[&str]); 4] = [
        ("calibrate, mean and std", &[]),
        ("calibrate --intervals 80", &["--intervals", "80"]),
        ("calibrate --preset paper --intervals 80", &["--preset", "paper", "--intervals", "80"]),
        ("calibrate --summary --report", &["--summary", "s.json", "--report", "r.html"]),
    ];
    let mut readings = Vec::new();
    // Of each contestant its times, and what reading took just before: what slows the machine down slows both.
    let mut times: Vec<Vec<[Duration; 2]>> = vec![Vec::new(); jobs.len() + 1];
    let mut memory = vec![0; jobs.len() + 1];
    for turn in 0..TURNS {
        // The report of a long file takes most of the time, and once is enough to see that.
        let jobs = if turn > 0 && rows > 5_000_000 { &jobs[..3] } else { &jobs[..] };
        let mut reading = || {
            let time = read(&input, rows);
            readings.push(time);
            time
        };
        let before = reading();
        times[0].push([split(&input, rows), before]);
        for (job, (_, flags)) in (1..).zip(jobs) {
            let before = reading();
            let (time, peak) = calibrate(&binary, &folder, flags);
            times[job].push([time, before]);
            memory[job] = peak.max(memory[job]);
        }
    }
    println!("| what | seconds, best | million rows/s | of reading, median | from, to | peak memory |");
    println!("|---|---|---|---|---|---|");
    let speed = |best: f64| rows as f64 / best / 1e6;
    let best = readings.iter().min().unwrap().as_secs_f64();
    println!("| reading alone | {best:.2} | {:.2} | 1.00 | | |", speed(best));
    let names = ["the same, keeping nothing"].into_iter().chain(jobs.map(|(name, _)| name));
    for ((name, own), memory) in names.zip(&times).zip(memory) {
        let best = own.iter().map(|[time, _]| time).min().unwrap().as_secs_f64();
        let ratio = |[time, reading]: &[Duration; 2]| time.as_secs_f64() / reading.as_secs_f64();
        let mut ratios: Vec<f64> = own.iter().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let (median, last) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
        let memory = if memory > 0 { format!("{} MB", memory / 1024) } else { String::new() };
        let (speed, first) = (speed(best), ratios[0]);
        println!("| {name} | {best:.2} | {speed:.2} | {median:.2} | {first:.2}, {last:.2} | {memory} |");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Columns as people have them: series, a timestamp, the outcome, mean and standard deviation.
fn write(path: &Path, rows: usize) {
    let mut output = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    writeln!(output, "unique_id,ds,y,mean,std").unwrap();
    for (t, step) in Scenario::Volatility.steps(rows, 1).enumerate() {
        let (series, hour) = (t % SERIES, t / SERIES);
        let (day, hour) = (hour / 24, hour % 24);
        writeln!(
            output,
            "series-{series:03},{:04}-{:02}-{:02}T{hour:02}:00:00,{},{},{}",
            2000 + day / 336,
            day / 28 % 12 + 1,
            day % 28 + 1,
            step.outcome,
            step.mean(),
            step.std()
        )
        .unwrap();
    }
    output.flush().unwrap();
}

/// Reads a table by the `csv` crate: cells into columns, a batch of rows at a time, and then the numbers of the batch.
fn read(path: &Path, rows: usize) -> Duration {
    let start = Instant::now();
    let mut table = csv::ReaderBuilder::new().buffer_capacity(1 << 18).from_path(path).unwrap();
    let (mut record, mut seen, mut sum) = (csv::ByteRecord::new(), 0, 0.0);
    let mut sizes = vec![0; table.byte_headers().unwrap().len()];
    while seen < rows {
        let room = |&size: &usize| (Vec::<u8>::with_capacity(size), Vec::with_capacity(BATCH));
        let mut columns: Vec<(Vec<u8>, Vec<usize>)> = sizes.iter().map(room).collect();
        let mut batch = 0;
        while batch < BATCH && table.read_byte_record(&mut record).unwrap() {
            for ((bytes, ends), cell) in columns.iter_mut().zip(&record) {
                bytes.extend_from_slice(cell);
                ends.push(bytes.len());
            }
            batch += 1;
        }
        for row in 0..batch {
            for (bytes, ends) in &columns[2..5] {
                let start = if row == 0 { 0 } else { ends[row - 1] };
                sum += number(&bytes[start..ends[row]]);
            }
        }
        for (size, (bytes, _)) in sizes.iter_mut().zip(&columns) {
            *size = bytes.len() + bytes.len() / 16;
        }
        seen += batch;
    }
    assert!(seen == rows && f64::is_finite(sum));
    start.elapsed()
}

/// The same with no table made of it: nothing is kept of a row but the sum of its numbers.
fn split(path: &Path, rows: usize) -> Duration {
    let start = Instant::now();
    let mut table = csv::ReaderBuilder::new().buffer_capacity(1 << 18).from_path(path).unwrap();
    let (mut record, mut seen, mut sum) = (csv::ByteRecord::new(), 0, 0.0);
    while table.read_byte_record(&mut record).unwrap() {
        sum += record.iter().skip(2).map(number).sum::<f64>();
        seen += 1;
    }
    assert!(seen == rows && f64::is_finite(sum));
    start.elapsed()
}

fn number(cell: &[u8]) -> f64 {
    str::from_utf8(cell.trim_ascii()).unwrap().parse().unwrap()
}

/// Seconds of the clock, and the peak of resident memory in KB.
fn calibrate(binary: &Path, folder: &PathBuf, flags: &[&str]) -> (Duration, u64) {
    // As for most people there is no such file yet: to free the one that was there takes the system a while.
    let _ = std::fs::remove_file(folder.join("out.csv"));
    let start = Instant::now();
    let mut child = Command::new(binary)
        .current_dir(folder)
        .args(["calibrate", "forecasts.csv", "-q", "-o", "out.csv"])
        .args(flags)
        .spawn()
        .unwrap();
    let mut memory = 0;
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        memory = memory.max(peak_memory(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success());
    (start.elapsed(), memory)
}

/// The high-water mark of a process, where the system tells.
fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
