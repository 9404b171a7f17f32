//! The program `airfaird`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use airfair_live::config::SOCKET;
use airfair_live::problem::Problem;
use airfair_live::status::State;
use airfair_live::wrap::wrapped;
use airfair_live::{check, daemon, keeper, server};
use lexopt::{Arg, Parser, ValueExt};

/// Where the configuration is, unless the command line says otherwise.
const CONFIG: &str = "/etc/airfair/airfaird.toml";

const HELP: &str = "airfaird: wireless flows share the air fairly

Usage: airfaird COMMAND [OPTIONS] [FILE]

  run [FILE]     run until a signal; SIGHUP reads the configuration again
  check [FILE]   is the configuration right, what would it do, and is this
                 host ready for it?
  status         the state of the running daemon
  key NAME       print a line for a file of keys
  clean [FILE]   remove what a daemon that was killed has left behind

  --dry-run      with run: the same as check
  --json         with status: one line of JSON
  --netjson      with status: this node and its neighbours as NetJSON
  --socket PATH  with status: the socket of the daemon
                 (/run/airfair/airfaird.sock)
  --version, --help

FILE is /etc/airfair/airfaird.toml by default.

Exit status: 0 fine; 1 the host, its kernel or another program refuses, or
no daemon answers; 2 the configuration, the keys or the command line are
wrong, and another attempt is of no use until they are changed.
";

#[derive(Debug, Default)]
struct Arguments {
    command: Option<String>,
    operands: Vec<String>,
    dry_run: bool,
    json: bool,
    netjson: bool,
    socket: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{}", wrapped(&format!("airfaird: {problem} (airfaird --help)")));
            return ExitCode::from(2);
        }
    };
    // The errors of a daemon are lines of its log, which are whole.
    let runs = arguments.command.as_deref() == Some("run") && !arguments.dry_run;
    match carry_out(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            for line in problem.text().lines() {
                let line = format!("airfaird: {line}");
                eprintln!("{}", if runs { line } else { wrapped(&line) });
            }
            ExitCode::from(problem.status())
        }
    }
}

fn arguments() -> Result<Option<Arguments>, lexopt::Error> {
    let mut found = Arguments::default();
    let mut parser = Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") | Arg::Short('h') => {
                _ = print(HELP);
                return Ok(None);
            }
            Arg::Long("version") | Arg::Short('V') => {
                _ = print(&format!("airfaird {}\n", env!("CARGO_PKG_VERSION")));
                return Ok(None);
            }
            Arg::Long("dry-run") => found.dry_run = true,
            Arg::Long("json") => found.json = true,
            Arg::Long("netjson") => found.netjson = true,
            Arg::Long("socket") => found.socket = Some(parser.value()?.into()),
            Arg::Value(value) if found.command.is_none() => found.command = Some(value.string()?),
            Arg::Value(value) => found.operands.push(value.string()?),
            other => return Err(other.unexpected()),
        }
    }
    let most = match found.command.as_deref() {
        Some("run" | "check" | "clean" | "key") => 1,
        Some("status") => 0,
        Some(keeper::COMMAND) => usize::MAX,
        Some(other) => return Err(format!("\"{other}\": expected run, check, status, key or clean").into()),
        None => return Err("expected a command: run, check, status, key or clean".into()),
    };
    if found.command.as_deref() == Some("key") && found.operands.is_empty() {
        return Err("expected the name of a key".into());
    }
    if let Some(more) = found.operands.get(most) {
        return Err(format!("\"{more}\": one too many").into());
    }
    Ok(Some(found))
}

fn carry_out(arguments: &Arguments) -> Result<(), Problem> {
    let file = arguments.operands.first().map_or_else(|| Path::new(CONFIG), Path::new);
    match arguments.command.as_deref() {
        Some("run") if !arguments.dry_run => daemon::run(file),
        Some("run" | "check") => check(file),
        Some("clean") => clean(file),
        Some("key") => {
            let key = daemon::new_key(&arguments.operands[0]).map_err(Problem::Wrong)?;
            Ok(print(&format!("{key}\n"))?)
        }
        Some(keeper::COMMAND) => {
            keeper::run(&arguments.operands);
            Ok(())
        }
        _ => Ok(status(arguments)?),
    }
}

/// Prints what a daemon with this configuration would do, and tries the host.
fn check(file: &Path) -> Result<(), Problem> {
    let (config, mut plan) = daemon::read_plan(file).map_err(Problem::Wrong)?;
    let keys = check::keys(&config).map_err(Problem::Wrong)?;
    let tried = check::host(&mut plan);
    let lines = plan.lines(&config).into_iter().chain(tried.lines).chain(keys);
    print(&lines.map(|line| wrapped(&line) + "\n").collect::<String>())?;
    if tried.refusals.is_empty() { Ok(()) } else { Err(Problem::Refused(tried.refusals.join("\n"))) }
}

fn clean(file: &Path) -> Result<(), Problem> {
    let config = daemon::read(file).map_err(Problem::Wrong)?;
    let devices: Vec<String> = config.radios.keys().cloned().collect();
    // Of a device that is not there nothing is left.
    let there = airfair_live::qdisc::present(devices);
    let found = keeper::clean(&there, &daemon::note_of(&config))?;
    let lines: String = found.iter().map(|device| format!("{device}: removed what was left\n")).collect();
    Ok(print(&lines)?)
}

fn status(arguments: &Arguments) -> Result<(), String> {
    let path = arguments.socket.clone().unwrap_or_else(|| PathBuf::from(SOCKET));
    let text = server::state_at(&path)?;
    if arguments.json {
        return print(&text);
    }
    let state: State = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    print(&if arguments.netjson { state.netjson() } else { state.text() })
}

/// Writes to standard output.
fn print(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // A reader that has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| format!("standard output: {error}")),
    }
}
