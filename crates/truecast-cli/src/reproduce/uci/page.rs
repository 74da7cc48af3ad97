//! One page that holds the figures, the tables and the choices.

use truecast_report::chart::Chart;
use truecast_report::{Document, DocumentTable};

use super::protocol::{Booking, FirstBatch};
use super::result::Outcome;
use super::{figure, table};

/// Where the paper's protocol is not fully given, and what is done here.
pub(crate) fn choices(first: FirstBatch, booking: Booking, seeds: u64) -> Vec<String> {
    let first = match first {
        FirstBatch::Fit => {
            "The first batch has nothing before it: it is forecast by a model that was fitted to it, so that each of the ⌈T/n⌉ steps has \
             forecasts. `--first-batch skip` lets it only train."
        }
        FirstBatch::Skip => "The first batch only trains the model; the score begins with the second.",
    };
    let booking = match booking {
        Booking::Row => {
            "The model is refitted after a batch, but the recalibrators hear of each outcome before the next row, as Algorithm 1 is written. \
             `--outcomes batch` tells them after the whole batch."
        }
        Booking::Batch => {
            "The recalibrators hear of all outcomes of a batch after the whole batch was recalibrated."
        }
    };
    let choices = [
        "Rows come in the order of the files, without shuffling; inputs are not standardised.",
        first,
        "The model of every later batch was fitted to all rows before it, and to no other.",
        booking,
        "The priors are scikit-learn's defaults; the evidence is maximised to a fixed point.",
        "The paper gives one line for energy efficiency, which has two targets; here are both.",
        "Its subroutine is internal-regret minimisation at rate 5, as its authors ran it; approachability, which its text recommends, \
         stands beside it. Non-randomised announces the expected play of the first.",
        "A calibration level counts a probability on its upper end; the paper's formula counts it on both ends.",
        "Tophat is the running histogram of the PIT over 20 cells, interpolated.",
        "The paper's raw column is reproduced by no reading that was tried, so columns are to be compared within a table, not across.",
    ];
    let seeds =
        format!("Methods that toss coins are run with {seeds} seeds; ± is the standard error over them.");
    choices.iter().map(|&choice| choice.to_owned()).chain([seeds]).collect()
}

/// The page.
pub(crate) fn html(outcomes: &[Outcome], first: FirstBatch, booking: Booking, seeds: u64) -> String {
    let mut page = Document::new("Calibration on the UCI streams")
        .source("truecast reproduce uci · Bayesian ridge regression, refitted on all data so far after every batch")
        .paragraph(
            "The calibration score is the squared distance between how often outcomes fell between the forecast's levels 0, .2, .4, .5, .6, .8, 1 \
             and how often they should have; 0 is best.",
        );
    for outcome in outcomes {
        page = page.figure(figure::chart(outcome, seeds).to_svg(), &figure::caption(outcome));
    }
    for outcome in outcomes {
        let title = format!("{} ({} forecasts)", outcome.dataset.title(), outcome.rows);
        let rows = table::lines(outcome).into_iter().map(Vec::from).collect();
        let heads = table::HEADS.map(str::to_owned).to_vec();
        page = page.table(DocumentTable { title, heads, rows });
    }
    page.list("Where the paper is silent, and what we chose", choices(first, booking, seeds)).to_html()
}
