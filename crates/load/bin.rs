//! `airfair-load`: the two ends of `airfair load` as a program that starts in a millisecond. It prints a line of JSON.

use std::process::ExitCode;

const USAGE: &str = "\
usage: airfair-load receive [--port N] [--flows N] [--for TIME] [--idle TIME]
                            [--from TIME --to TIME] [--every TIME]
       airfair-load send HOST [--port N] [--for TIME] [--bytes SIZE] [--rate RATE]
                            [--congestion-control NAME] [--udp] [--size SIZE]
                            [--dscp DSCP] [--ecn] [--wait TIME]
The options are those of `airfair load`. Status: 0 done, 2 bad input, 1 a failure,
130 interrupted.";

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match unix::run(&arguments) {
        Ok((report, interrupted)) => {
            println!("{report}");
            ExitCode::from(if interrupted { 130 } else { 0 })
        }
        Err((error, status)) => {
            eprintln!("airfair-load: {error}");
            ExitCode::from(status)
        }
    }
}

#[cfg(unix)]
mod unix {
    use airfair_load::wait::Stop;
    use airfair_load::{ReceiveOptions, Receiver, SendOptions};

    use super::USAGE;

    type Failed = (String, u8);

    fn wrong(error: String) -> Failed {
        (error, 2)
    }

    /// Runs an end; the report, and true if it was interrupted.
    pub fn run(arguments: &[String]) -> Result<(String, bool), Failed> {
        airfair_load::note_interrupts();
        let mut look = airfair_load::interrupted;
        let mut stop = Stop::new(&mut look);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["receive", options @ ..] => {
                let mut of = ReceiveOptions::default();
                set(options, &[], |option, text| of.set(option, text))?;
                let receiver = Receiver::new(&of).map_err(wrong)?;
                eprintln!("port {}", receiver.port());
                let report = receiver.run(&mut stop).map_err(|error| (error.to_string(), 1))?;
                Ok((report.to_json(), report.interrupted))
            }
            ["send", host, options @ ..] if !host.starts_with('-') => {
                let mut of = SendOptions::default();
                set(options, &SendOptions::FLAGS, |option, text| of.set(option, text))?;
                let report = airfair_load::send(host, &of, &mut stop).map_err(wrong)?;
                Ok((report.to_json(), report.interrupted))
            }
            _ => Err(wrong(USAGE.to_string())),
        }
    }

    /// Sets options: each is `--NAME TEXT`, or `--NAME` for a flag.
    fn set(
        words: &[&str],
        flags: &[&str],
        mut set: impl FnMut(&str, &str) -> Result<(), String>,
    ) -> Result<(), Failed> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let option = word.strip_prefix("--").ok_or_else(|| wrong(format!("{word}\n{USAGE}")))?;
            let text = if flags.contains(&option) {
                ""
            } else {
                words.next().ok_or_else(|| wrong(format!("{word} needs a value\n{USAGE}")))?
            };
            set(option, text).map_err(wrong)?;
        }
        Ok(())
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("airfair-load needs Unix\n{USAGE}");
    ExitCode::from(2)
}
