//! One page that holds the figures, the tables and the choices.

use truecast_bo::reproduction::{Comparison, INITIAL, Reproduction};
use truecast_report::chart::Chart;
use truecast_report::{Document, DocumentTable};

use super::{figure, table};

/// Where the paper's protocol is not fully given, and what is done here.
fn choices(plan: &Reproduction) -> Vec<String> {
    let steps = match plan.steps {
        Some(steps) => format!("Runs have {steps} steps"),
        None => "Runs have 30 steps with two inputs and 50 with more".to_owned(),
    };
    let mut choices = vec![format!(
        "{steps} after {INITIAL} random points; κ is 2, GPyOpt's default. The paper says neither."
    )];
    choices.extend(
        [
            "The paper has five runs from fixed initial points; here runs differ by seed, variants of one seed share their initial points, and differences are \
             paired.",
            "The surrogate is a Gaussian process with a Matérn 5/2 kernel, one length scale and learned noise, refitted at each step.",
            "Leave-one-out forecasts are made at the hyperparameters of all points; the paper trains again on each split.",
            "`paper` is Algorithm 1 by internal-regret minimisation at N = 20 with coins; `ledger` the ledgers on the same forecasts; `online` and \
             `online-scale` learn from forecasts made before their outcomes and never widen.",
            "`kappa-1.5`, `kappa-1` and `anneal` (κ from 2 to 1 on a line) see no forecast errors at all: what does no better than these has explored less, not \
             learned more.",
            "A run is stuck if the last half of its steps gained less than 0.1 % of how far a random point lies above the minimum, and more than 5 % of that is left.",
            "Coverage is that of the surrogate's 80 % interval, before and after recalibration, at the points that were queried and at ten random ones in each \
             step.",
            "The camel's domain is not in the paper: [−2, 2] × [−1, 1] is GPyOpt's, [−3, 3] × [−2, 2] the other usual one. Beale is on [−4.5, 4.5]², and \
             `beale-gpyopt` is the other function that GPyOpt has under that name.",
        ]
        .map(str::to_owned),
    );
    choices
}

/// The page.
pub(crate) fn html(plan: &Reproduction, comparison: &Comparison) -> String {
    let runs = format!("{} paired runs of each variant", plan.seeds);
    let mut page = Document::new("Recalibrated Bayesian optimisation")
        .source(&format!("truecast reproduce bo · lower confidence bound on a Gaussian process · {runs}"))
        .paragraph(
            "Each variant minimises the same functions from the same initial points; lower is better. “Against plain” is the mean of the paired differences, below \
             0 where a variant is better than the surrogate as it is. ± is one standard error: with as many comparisons as here, a few of two standard errors are \
             chance.",
        );
    let benchmarks = table::benchmarks(comparison);
    for &benchmark in &benchmarks {
        let chart = figure::chart(benchmark, comparison);
        page = page.figure(chart.to_svg(), &figure::caption(benchmark, comparison));
    }
    for &benchmark in &benchmarks {
        let title = format!("{benchmark} (least value {:.4})", benchmark.minimum());
        let rows = table::lines(benchmark, comparison).into_iter().map(Vec::from).collect();
        let heads = table::HEADS.map(str::to_owned).to_vec();
        page = page.table(DocumentTable { title, heads, rows });
    }
    page.list("What is compared, and where the paper is silent", choices(plan)).to_html()
}
