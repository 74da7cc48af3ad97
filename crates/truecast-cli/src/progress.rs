//! A progress bar on a terminal, nothing in a pipe.

use std::io::IsTerminal;

use crate::terminal::say;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How far a command has come.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    rows: u64,
}

impl Progress {
    /// A bar over bytes where the size is known, a spinner with a count of rows where it is not.
    pub(crate) fn over_bytes(size: Option<u64>, quiet: bool) -> Self {
        let bar = match size {
            Some(size) => {
                let style = "{bar:30} {percent:>3} %  {msg}  {bytes_per_sec}  {eta} left";
                ProgressBar::new(size).with_style(style_of(style))
            }
            None => ProgressBar::new_spinner().with_style(style_of("{spinner} {msg}  {elapsed}")),
        };
        Self::around(bar, quiet)
    }

    /// A bar over steps.
    pub(crate) fn over_steps(steps: u64, quiet: bool) -> Self {
        let style = style_of("{bar:30} {percent:>3} %  {pos} of {len}  {eta} left");
        Self::around(ProgressBar::new(steps).with_style(style), quiet)
    }

    /// A bar over trials, with a note beside it.
    pub(crate) fn over_trials(trials: u64, quiet: bool) -> Self {
        let style = style_of("{bar:30} {pos} of {len} trials  {msg}  {elapsed}");
        Self::around(ProgressBar::new(trials).with_style(style), quiet)
    }

    fn around(bar: ProgressBar, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Progress { bar, rows: 0 }
    }

    /// Some more rows, up to this byte of the input.
    pub(crate) fn rows(&mut self, rows: u64, position: u64) {
        self.rows += rows;
        self.bar.set_position(position);
        self.bar.set_message(format!("{} rows", HumanCount(self.rows)));
    }

    /// Some more steps.
    pub(crate) fn step(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Words beside the bar.
    pub(crate) fn note(&self, words: &str) {
        self.bar.set_message(words.to_owned());
    }

    /// A line on standard error, above the bar.
    pub(crate) fn say(&self, words: &str) {
        self.bar.suspend(|| say!("{words}"));
    }

    /// Takes the bar off the terminal.
    pub(crate) fn done(&self) {
        self.bar.finish_and_clear();
    }
}

fn style_of(template: &str) -> ProgressStyle {
    // The templates are the constants above; a mistake in one shows a plain bar instead of ending a run.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
