//! `truecast completions` and `truecast man`: made from the definitions of the flags themselves.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;
use truecast_data::NewFile;

use crate::Cli;
use crate::failure::{Failure, Result};
use crate::terminal::{print, say};

/// Print completions for a shell
///
/// For example: truecast completions bash > ~/.local/share/bash-completion/completions/truecast
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionArgs {
    /// The shell
    shell: Shell,
}

/// Write the manual pages
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder to write truecast.1 and a page for each command into
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn completions(args: &CompletionArgs) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "truecast", &mut text);
    print(&String::from_utf8_lossy(&text))
}

pub(crate) fn man_pages(args: &ManArgs) -> Result<()> {
    std::fs::create_dir_all(&args.folder)
        .map_err(|error| Failure::usage(format!("{}: {error}", args.folder.display()), ""))?;
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![page(&args.folder, "truecast", &command)?];
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        pages.push(page(&args.folder, subcommand.get_display_name().unwrap_or("truecast"), subcommand)?);
    }
    say!("wrote {}", pages.join(", "));
    Ok(())
}

fn page(folder: &Path, name: &str, command: &clap::Command) -> Result<String> {
    let mut text = Vec::new();
    let file = format!("{name}.1");
    let rendered = clap_mangen::Man::new(command.clone()).title(name).render(&mut text);
    rendered.map_err(|error| Failure::usage(format!("{file}: {error}"), ""))?;
    NewFile::write(&folder.join(&file), &text)?;
    Ok(file)
}
