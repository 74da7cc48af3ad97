//! The `truecast` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    truecast_cli::main()
}
