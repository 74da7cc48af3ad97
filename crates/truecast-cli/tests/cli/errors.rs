//! What goes wrong is told by file, line, column, value, rule and hint, and leaves nothing behind.

use truecast_streams::Scenario;

use crate::harness::Folder;
use crate::reference::{csv, steps};

const GOOD: &str = "y,mean,std\n1,0,1\n2,0,1\n";
const COLUMNS: &str = "hint: the columns are y, mean, std";

/// Calibrates a file into another: the command must fail with this message, and leave only the file.
#[track_caller]
fn refused(name: &str, content: impl AsRef<[u8]>, flags: &[&str], message: &str) {
    let folder = Folder::with(name, content);
    let args =
        [&["calibrate", name, "-o", "out.csv", "--state", "s.state", "--summary", "s.json"], flags].concat();
    folder.run(&args).fails(2, message);
    assert_eq!(folder.names(), [name], "nothing is left after a failure");
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::with("empty.csv", "");
    folder
        .run(&["calibrate", "none.csv"])
        .fails(2, "error: none.csv: No such file or directory (os error 2)");
    folder
        .run(&["evaluate", "."])
        .fails(2, "error: ./empty.csv: the file is empty\nhint: the first line names the columns");
    let none = "error: .: there is no table in this folder\nhint: name a file, or a folder with CSV, NDJSON or Parquet files";
    Folder::new().run(&["evaluate", "."]).fails(2, none);
    let empty = "the file is empty\nhint: the first line names the columns";
    refused("a.csv", "", &[], &format!("error: a.csv: {empty}"));
    refused("a.csv", "\n\r\n\n", &[], &format!("error: a.csv: {empty}"));
    refused(
        "a.ndjson",
        "\n",
        &[],
        "error: a.ndjson: the file is empty\nhint: each line holds one JSON object",
    );
    refused(
        "a.parquet",
        "PAR1 and then nothing",
        &[],
        "error: a.parquet: the file is cut short: it does not end with PAR1\nhint: write or copy it again",
    );
    refused(
        "a.parquet",
        GOOD,
        &[],
        "error: a.parquet: this is not a Parquet file: it does not begin with PAR1\nhint: name the format that it is in: csv or ndjson",
    );
}

#[test]
fn a_gzipped_file_that_is_cut_short_is_no_shorter_table() {
    let mut packed = crate::harness::gzip(csv(&steps(Scenario::Demo, 5_000, 0)));
    packed.truncate(packed.len() / 2);
    let folder = Folder::with("a.csv.gz", packed);
    let ran = folder.run(&["calibrate", "a.csv.gz", "-o", "out.csv"]);
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.stderr.contains("error: a.csv.gz: "), "{ran}");
    assert_eq!(folder.names(), ["a.csv.gz"]);
}

#[test]
fn headers_that_are_none() {
    refused(
        "a.csv",
        "1,2,3\n4,5,6\n",
        &[],
        "error: a.csv: the first line has numbers only (1, 2, 3): it should name the columns\nhint: add a line such as y,mean,std before it",
    );
    refused(
        "a.csv",
        "y,y,mean,std\n",
        &[],
        "error: a.csv: two columns are named \"y\"\nhint: rename one of them",
    );
}

#[test]
fn columns_that_are_not_there() {
    for flag in ["outcome", "key", "made", "about", "known", "horizon", "by", "mean", "std", "point"] {
        let message = format!("error: a.csv: there is no column \"nope\", which --{flag} names\n{COLUMNS}");
        refused("a.csv", GOOD, &[&format!("--{flag}"), "nope"], &message);
    }
    let message = format!("error: a.csv: there is no column \"nope\", which --ledger names\n{COLUMNS}");
    refused("a.csv", GOOD, &["--ledger", "group=nope"], &message);
    let message =
        format!("error: a.csv: there are no columns nope-lo-… and nope-hi-…, which --model names\n{COLUMNS}");
    refused("a.csv", GOOD, &["--model", "nope"], &message);
    let hint = "hint: name them: --mean M --std S, --point P, --model NAME for NAME-lo-80 and NAME-hi-80; quantiles are called q0.1 or quantile_P10, samples sample_1";
    refused(
        "a.csv",
        "a,b\n1,2\n",
        &[],
        &format!("error: a.csv: no columns are known to hold a forecast: a, b\n{hint}"),
    );
    let message = format!(
        "error: a.csv: no columns are known to hold a forecast in the form samples: y, mean, std\n{hint}"
    );
    refused("a.csv", GOOD, &["--form", "samples"], &message);
}

#[test]
fn columns_that_may_mean_two_things() {
    refused(
        "a.csv",
        "y,mean,std,q0.1,q0.9\n1,0,1,0,1\n",
        &[],
        "error: a.csv: several columns may hold the forecast:\n  gaussian: mean, std\n  quantiles: q0.1, q0.9\nhint: choose with --mean mean --std std or --form quantiles",
    );
    refused(
        "a.csv",
        "y,obs,mean,std\n1,1,0,1\n",
        &[],
        "error: a.csv: several columns may hold the outcome: y, obs\nhint: choose one with --outcome y",
    );
    refused(
        "a.csv",
        "key,series,y,mean,std\n1,1,1,0,1\n",
        &[],
        "error: a.csv: several columns may hold the series: key, series\nhint: choose one with --key key",
    );
    refused(
        "a.csv",
        GOOD,
        &["--outcome", "mean"],
        "error: a.csv: the column mean is part of the forecast and cannot be its outcome\nhint: name another one with --outcome",
    );
}

#[test]
fn cells_that_break_a_rule() {
    let skip = "hint: a missing outcome is an empty cell or NA; --on-error skip leaves such rows out";
    for (row, message) in [
        ("abc,0,1", format!("line 4, column y: \"abc\": must be a number\n{skip}")),
        ("\"1,5\",0,1", "line 4, column y: \"1,5\": must be a number\nhint: numbers are written with a point: 1.5".into()),
        ("-inf,0,1", "line 4, column y: \"-inf\": must be finite".into()),
        ("1,1e999,1", "line 4, column mean: \"1e999\": must be finite".into()),
        (
            "1,0,-2",
            "line 4, column std: \"-2\": must not be negative".into(),
        ),
        (
            "1,,1",
            "line 4, column mean: \"\": a forecast must be there\nhint: a row may lack an outcome, not a forecast; --on-error skip leaves such rows out".into(),
        ),
        (
            "1,0",
            "line 4: 2 cells where the header has 3\nhint: a cell that holds the separator must be in double quotes; --separator names another".into(),
        ),
        (
            "1,0,1,",
            "line 4: 4 cells where the header has 3\nhint: a cell that holds the separator must be in double quotes; --separator names another".into(),
        ),
        (
            "1,0,1e300",
            "line 4: the forecast's width 1e300 at level 0 is outside of what can be squared and summed".into(),
        ),
    ] {
        refused("a.csv", format!("y,mean,std\n1,0,1\n\n{row}\n2,0,1\n"), &[], &format!("error: a.csv, {message}"));
    }
    refused(
        "a.ndjson",
        "{\"y\":1,\"mean\":0,\"std\":1}\n{\"y\":\n",
        &[],
        "error: a.ndjson, line 2: not a JSON object: EOF while parsing a value at character 5\nhint: each line holds one object, such as {\"y\": 1.5, \"mean\": 1.2, \"std\": 0.4}",
    );
    refused(
        "a.ndjson",
        "{\"y\":\"7\",\"mean\":0,\"std\":1}\n",
        &[],
        "error: a.ndjson, line 1, column y: \"7\": must be a number\nhint: in JSON a number has no quotes",
    );
}

#[test]
fn the_first_row_at_fault_is_told_wherever_it_stands() {
    let mut text = csv(&steps(Scenario::Demo, 40_000, 0));
    text = text.replacen("\n30000,", "\n30000,x", 1).replacen("\n35000,", "\n35000,y", 1);
    let folder = Folder::with("a.csv", &text);
    let ran = folder.run(&["calibrate", "a.csv", "-o", "out.csv"]);
    assert!(ran.stderr.contains("error: a.csv, line 30002, column y: \"x"), "{ran}");
    assert_eq!((ran.code, folder.names()), (Some(2), vec!["a.csv".to_owned()]));
}

#[test]
fn late_outcomes_need_times_in_order() {
    let header = "made_at,outcome_time,y,mean,std\n";
    for (rows, message) in [
        (
            "2,,1,0,1\n",
            "a.csv, line 2, column outcome_time: \"\": an outcome must have the time at which it became known",
        ),
        ("inf,3,1,0,1\n", "a.csv, line 2, column made_at: \"inf\": must be finite"),
        (
            "soon,3,1,0,1\n",
            "a.csv, line 2, column made_at: \"soon\": must be a number or a time such as 2026-11-16 or 2026-11-16T12:00:00",
        ),
        (
            ",3,1,0,1\n",
            "a.csv, line 2, column made_at: \"\": a time must be there\nhint: where outcomes are known at times, every forecast says when it was made",
        ),
    ] {
        refused("a.csv", format!("{header}{rows}"), &[], &format!("error: {message}"));
    }
    let both = "error: a.csv: rows are counted where none says its times, and here made_at does\nhint: say how much later outcomes come with --lag 7d";
    refused("a.csv", format!("{header}1,2,1,0,1\n"), &["--delay", "1"], both);
    let folder = Folder::with("a.csv", format!("{header}1,2,1,0,1\n"));
    folder.run(&["compare", "a.csv", "--delay", "1"]).fails(2, both);
    refused(
        "a.csv",
        GOOD,
        &["--known", "y"],
        "error: a.csv: the column y says when outcomes are known, and nothing says when forecasts were made\nhint: name that column, as in --made COLUMN; --known none leaves y out",
    );
}

#[test]
fn groups_must_have_room() {
    let file = "g,y,mean,std\na,1,0,1\nb,1,0,1\nc,1,0,1\n";
    refused(
        "a.csv",
        file,
        &["--ledger", "group=g:2"],
        "error: a.csv, line 4: group \"g=c\" is one more than the 2 that were set up (at most 64)\nhint: say how many there are: --ledger group=COLUMN:N",
    );
    refused(
        "a.csv",
        file,
        &["--ledger", "group=g:60", "--ledger", "group=y:5"],
        "error: all group ledgers together have room for more than 64 groups\nhint: say how many each needs: --ledger group=COLUMN:N",
    );
}

#[test]
fn flags_that_cannot_be() {
    let help = "\n\nFor more information, try '--help'.";
    for (flags, message) in [
        (&["--threads", "0"][..], "--threads must be at least 1".to_owned()),
        (&["--quantiles", "0.1,x"], format!("invalid value '0.1,x' for '--quantiles <0.05,0.5,…>': \"x\" is not a number{help}")),
        (&["--quantiles", "1"], format!("invalid value '1' for '--quantiles <0.05,0.5,…>': a probability must be greater than 0 and less than 1, got 1{help}")),
        (&["--intervals", "0.8"], format!("invalid value '0.8' for '--intervals <50,80,…>': intervals are in percent: 80 instead of 0.8{help}")),
        (&["--intervals", "100"], format!("invalid value '100' for '--intervals <50,80,…>': an interval covers more than 0 and less than 100 percent, got 100{help}")),
        (&["--intervals", "80,,90"], format!("invalid value '80,,90' for '--intervals <50,80,…>': \"\" is not a number{help}")),
        (&["--method", "magic"], format!("invalid value 'magic' for '--method <METHOD>': \"magic\" is not a method; there are experts, ledger, approachability, internal-regret, defensive, running-mean, tophat, isotonic, aci, dtaci, sf-ogd, saocp, pid, emos, rolling-pit, rolling-conformal, quantile-regression and crps-learning{help}")),
        (&["--form", "x"], format!("invalid value 'x' for '--form <FORM>': \"x\" is not a form; there are gaussian, quantiles, intervals, samples, point, hubverse, m5{help}")),
        (&["--separator", "ab"], format!("invalid value 'ab' for '--separator <CHAR>': a separator is one character, or the word tab{help}")),
        (&["--format", "xml"], format!("invalid value 'xml' for '--format <FORMAT>': \"xml\" is not a format; there are csv, ndjson, parquet{help}")),
        (&["--delay", "-1"], format!("invalid value '-1' for '--delay <ROWS>': invalid digit found in string{help}")),
        (&["--half-life", "-1"], "half-life must be greater than zero, got -1".to_owned()),
        (&["--threshold", "inf"], "threshold must be finite, got inf".to_owned()),
        (&["--method", "aci", "--half-life", "4"], "the half-life is no setting of aci\nhint: leave it out, or use another --method: experts has all settings".to_owned()),
        (&["--preset", "paper", "--stop-loss", "off"], "the stop-loss is no setting of the paper's preset\nhint: leave it out, or use another --method: experts has all settings".to_owned()),
        (&["--outcomes", "a.csv"], "a.csv: no column says which forecast an outcome belongs to\nhint: it must have some of the forecasts' columns, such as location and target_end_date".to_owned()),
        (&["--lag", "soon"], format!("invalid value 'soon' for '--lag <LENGTH>': \"soon\" is no length of time: write 7d, 36h, 15min, 90s, 2w, 3rows, or a number where times are numbers{help}")),
        (&["--where", "y"], format!("invalid value 'y' for '--where <COLUMN=VALUE>': rows are chosen by COLUMN=VALUE{help}")),
    ] {
        refused("a.csv", GOOD, flags, &format!("error: {message}"));
    }
    let folder = Folder::new();
    let ran = folder.run(&["simulate", "nope"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("[possible values: demo, iid,"), "{ran}");
}

#[test]
fn a_configuration_shows_the_line_at_fault() {
    let folder = Folder::with("a.csv", GOOD);
    folder.write("truecast.toml", "method = \"ledger\"\nhalf_life = 3\n");
    let ran = folder.run(&["calibrate", "a.csv", "--config", "truecast.toml"]);
    assert_eq!(ran.code, Some(2), "{ran}");
    ran.says(&[
        "error: truecast.toml: TOML parse error at line 2, column 1",
        "2 | half_life = 3",
        "unknown field `half_life`, expected one of",
    ])
    .says(&[
        "hint: the keys are long flags of `truecast calibrate`, such as half-life = 500; lags = false is --no-lags",
    ]);
    folder.write("truecast.toml", "method = \"aci\"\nquantiles = [0.5]\nscores = true\n");
    let table = folder.run(&["calibrate", "a.csv", "--config", "truecast.toml"]).ok().table();
    assert_eq!(table.names, ["y", "q0.5", "pit_raw", "pit", "crps_raw", "crps"]);
    // A flag on the command line comes first.
    let flags =
        ["calibrate", "a.csv", "--config", "truecast.toml", "--quantiles", "0.1", "-q", "--state", "s"];
    assert_eq!(folder.run(&flags).ok().table().names[1], "q0.1");
    folder.run(&["explain", "s"]).ok().says(&["method aci"]);
    // Without a quantile no forecast would be left.
    for (line, problem) in [
        ("method = \"magic\"", "\"magic\" is not a method"),
        ("form = \"magic\"", "\"magic\" is not a form"),
        ("ledger = [\"region\"]", "a ledger is group=COLUMN"),
        ("quantiles = []", "name at least one probability"),
        ("quantiles = [2.0]", "a probability must be greater than 0 and less than 1, got 2"),
        ("intervals = []", "name at least one interval"),
        ("intervals = [0.8]", "intervals are in percent: 80 instead of 0.8"),
    ] {
        folder.write("truecast.toml", format!("seed = 1\n{line}\n"));
        let ran = folder.run(&["calibrate", "a.csv", "--config", "truecast.toml"]);
        assert_eq!(ran.code, Some(2), "{ran}");
        ran.says(&["error: truecast.toml: TOML parse error at line 2", line, problem]);
    }
}

#[test]
fn states_that_are_none_or_of_other_settings() {
    let folder = Folder::with("a.csv", GOOD);
    folder.run(&["calibrate", "a.csv", "--state", "s", "-o", "out.csv"]).ok();
    let good = folder.bytes("s");
    let hint =
        "\nhint: a state is a file that `truecast calibrate --state` wrote; another name begins a new one";
    let size = good.len();
    let mut flipped = good.clone();
    flipped[size / 2] ^= 1;
    let mut newer = good.clone();
    newer[8] = 9;
    let mut earlier = good.clone();
    earlier[8] = 1;
    let cases: [(&[u8], String); 5] = [
        (&earlier, "the state has the form 1, which was never released; this build begins with 2".into()),
        (b"hello world", "not a Truecast snapshot: the first bytes are not the magic".into()),
        (&good[..size / 2], format!("snapshot has {} bytes where its header says {size}", size / 2)),
        (&newer, "snapshot version 9 is newer than 2, the newest this build reads".into()),
        (&flipped, String::new()),
    ];
    for (bytes, message) in cases {
        folder.write("s", bytes);
        for args in [&["calibrate", "a.csv", "--state", "s", "-o", "new.csv"][..], &["explain", "s"]] {
            let ran = folder.run(args);
            if message.is_empty() {
                assert!(ran.code == Some(2) && ran.stderr.contains("the bytes are damaged"), "{ran}");
            } else {
                ran.fails(2, &format!("error: s: {message}{hint}"));
            }
        }
        assert_eq!(
            (folder.bytes("s"), folder.names()),
            (bytes.to_vec(), vec!["a.csv".into(), "out.csv".into(), "s".into()])
        );
    }
    folder.write("s", &good);
    folder.run(&["calibrate", "a.csv", "--state", "s", "--method", "aci", "--delay", "2"]).fails(
        2,
        "error: s: the state was made with method experts, guard priced, outcomes known before the next row and cannot go on with method aci, guard off, outcomes known 2 rows late\nhint: use the settings of the state, or another state file",
    );
    assert_eq!(folder.bytes("s"), good);
}

#[test]
fn outputs_that_cannot_be_written_are_told_before_anything_is() {
    let folder = Folder::with("a.csv", GOOD);
    for flags in [["-o", "no/x"], ["--summary", "no/x"], ["--report", "no/x"], ["--state", "no/x"]] {
        let args = [&["calibrate", "a.csv"], &flags[..]].concat();
        folder.run(&args).fails(2, "error: no/x: No such file or directory (os error 2)");
    }
    folder
        .run(&["calibrate", "a.csv", "-o", "x", "--summary", "x"])
        .fails(2, "error: x: two outputs would be written here");
    folder
        .run(&["calibrate", "a.csv", "-o", "x", "--state", "./x"])
        .fails(2, "error: ./x: two outputs would be written here");
    folder
        .run(&["evaluate", "a.csv", "--report", "x", "--summary", "./x"])
        .fails(2, "error: x: two outputs would be written here");
    folder
        .run(&["calibrate", "a.csv", "-o", "."])
        .fails(2, "error: .: this is a folder\nhint: name a file in it");
    folder
        .run(&["calibrate", "a.csv", "-o", "out.csv", "--report", "no/x"])
        .fails(2, "error: no/x: No such file or directory (os error 2)");
    assert_eq!(folder.names(), ["a.csv"]);
    // A device stays what it is.
    folder.run(&["calibrate", "a.csv", "-o", "/dev/null"]).ok();
}

#[test]
fn an_output_may_take_the_place_of_its_input() {
    let folder = Folder::with("a.csv", GOOD);
    let expected = folder.run(&["calibrate", "a.csv"]).ok().stdout;
    folder.run(&["calibrate", "a.csv", "-o", "a.csv"]).ok();
    assert_eq!((folder.bytes("a.csv"), folder.names()), (expected, vec!["a.csv".to_owned()]));
}

#[test]
fn nothing_to_score_is_an_error() {
    let folder = Folder::with("a.csv", "mean,std\n0,1\n");
    let hint = "hint: name the outcome's column with --outcome";
    folder
        .run(&["evaluate", "a.csv"])
        .fails(2, &format!("error: a.csv: no row has an outcome, so there is nothing to score\n{hint}"));
    folder
        .run(&["compare", "a.csv"])
        .fails(2, &format!("error: a.csv: no row has an outcome, so there is nothing to compare\n{hint}"));
    let ran = folder.run(&["calibrate", "a.csv"]).ok();
    ran.says(&["no outcome was there to learn from"]);
}

/// Rows at fault, of every kind, among good ones: left out they are as if they had never been there.
#[test]
fn rows_that_are_skipped_are_as_if_they_had_never_been_there() {
    let good = steps(Scenario::Regimes, 600, 4);
    let bad = ["oops,t,x,0,1", "zz,-5,inf,0,1", "zz,9999999,1,0,-1", "b,1", "a,nan,1,,1"];
    let (mut with, mut without) = ("key,t,y,mean,std\n".to_owned(), "key,t,y,mean,std\n".to_owned());
    for (t, step) in good.iter().enumerate() {
        let key = ["a", "b"][t % 2];
        let line = format!("{key},{t},{},{},{}\n", step.outcome, step.mean(), step.std());
        if t % 100 == 7 {
            with.push_str(bad[t / 100 % bad.len()]);
            with.push('\n');
        }
        with.push_str(&line);
        without.push_str(&line);
    }
    let folder = Folder::with("with.csv", with);
    folder.write("without.csv", without);
    for flags in
        [&[][..], &["--delay", "2"], &["--method", "aci"], &["--ledger", "group=key:2", "--key", "none"]]
    {
        let run = |name: &str, skip: &[&str]| {
            let state = format!("{name}.state");
            let args = [&["calibrate", name, "--state", &state, "-o", "out.csv"], flags, skip].concat();
            let ran = folder.run(&args).ok();
            let state = folder.bytes(&state);
            std::fs::remove_file(folder.path(&format!("{name}.state"))).unwrap();
            (ran, folder.read("out.csv"), state)
        };
        let (told, skipped, skipped_state) = run("with.csv", &["--on-error", "skip"]);
        let (_, expected, expected_state) = run("without.csv", &[]);
        assert_eq!(skipped, expected, "{flags:?}");
        assert_eq!(skipped_state, expected_state, "{flags:?}");
        let told = told
            .says(&["6 rows were left out", "skipped: with.csv, line 9, column y: \"x\": must be a number"]);
        assert_eq!(told.stderr.matches("skipped: ").count(), 5, "the first few are shown: {told}");
        assert!(told.stderr.contains("600 rows"), "{told}");
    }
}
