//! The process that takes away what the kernel keeps of a daemon that was killed: filters, the queueing discipline at which they are, and
//! that with classes.
//!
//! It waits at the end of a pipe whose other end the daemon holds. When that closes, the daemon has ended, however it did. `airfaird clean`
//! does the same by hand, and after the end of the service.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, Write};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::time::Timespec;

use crate::claim::Claim;
use crate::file::read_text;
use crate::kernel::remove_filters;
use crate::log::{Level, line};
use crate::qdisc;
use crate::shaper::remove_classes;
use crate::sys;

/// The command of the program that is the keeper.
pub const COMMAND: &str = "keeper";

/// A keeper of some devices. It works when this is dropped.
#[derive(Debug)]
pub struct Keeper {
    devices: Vec<String>,
    /// Devices whose `clsact` is to be removed, too.
    made: BTreeSet<String>,
    /// The file that names them, for `airfaird clean`.
    note: PathBuf,
    process: Option<Child>,
}

/// Tries to get the claim of a device, a hundredth of a second apart.
const TRIES: u32 = 50;

/// Longest time for the keeper's work at an orderly end, ms.
const PATIENCE_MS: u32 = 1000;

impl Keeper {
    /// Starts one for devices of this process's network namespace. `note`: the file that names those whose `clsact` is a daemon's.
    ///
    /// # Errors
    /// Where no process can be started.
    pub fn start(devices: &[&str], note: &Path) -> Result<Self, String> {
        // The keeper of a daemon that was killed just now is at work, and has done in a moment.
        for device in qdisc::present(devices.iter().map(ToString::to_string).collect()) {
            _ = Claim::within(TRIES, &device, &|| false);
        }
        let devices = devices.iter().map(ToString::to_string).collect();
        // An earlier daemon that was killed with its keeper.
        let made = noted(note);
        let mut keeper = Self { devices, made, note: note.to_path_buf(), process: None };
        keeper.check()?;
        Ok(keeper)
    }

    /// Starts the process again if it has ended; true then.
    ///
    /// # Errors
    /// Where no process can be started.
    pub fn check(&mut self) -> Result<bool, String> {
        if self.process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None))) {
            return Ok(false);
        }
        let mut command = Command::new("/proc/self/exe");
        command.arg0("airfaird-keeper").args([COMMAND, "--"]).args(&self.devices);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        // Ctrl-C at a terminal is the daemon's.
        command.process_group(0);
        let process = command.spawn().map_err(|error| format!("the keeper does not start: {error}"))?;
        self.process = Some(process);
        for device in self.made.clone() {
            self.hand_over(&device);
        }
        Ok(true)
    }

    /// Notes, before it is made, that the `clsact` of a device is to be removed at the end.
    pub fn remove_clsact_of(&mut self, device: &str) {
        if self.made.insert(device.to_string()) {
            let names: Vec<&str> = self.made.iter().map(String::as_str).collect();
            // Without the file only a daemon that is killed with its keeper leaves an empty discipline.
            _ = fs::write(&self.note, names.join("\n"));
            self.hand_over(device);
        }
    }

    fn hand_over(&mut self, device: &str) {
        let pipe = self.process.as_mut().and_then(|process| process.stdin.as_mut());
        _ = pipe.map(|pipe| writeln!(pipe, "{device}"));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // All filters are gone by now, so that this is done also where the keeper is not.
        for device in &self.made {
            // Of another daemon, which was started in this moment, it is no more to be removed.
            if let Ok(_claim) = Claim::new(device) {
                _ = qdisc::remove_empty_clsact(device);
            }
        }
        _ = fs::remove_file(&self.note);
        let Some(mut process) = self.process.take() else { return };
        drop(process.stdin.take());
        for _ in 0..PATIENCE_MS / 10 {
            if !matches!(process.try_wait(), Ok(None)) {
                return;
            }
            let pause = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            _ = rustix::thread::nanosleep(&pause);
        }
        line(Level::Warning, &"the keeper does not end");
    }
}

/// The devices that a note names.
fn noted(note: &Path) -> BTreeSet<String> {
    read_text(note, 4096).unwrap_or_default().lines().map(str::to_string).collect()
}

/// Runs the keeper: waits for the end of the daemon, then removes what is left at the devices. From the pipe it learns of which of them the
/// `clsact` is to be removed. A device that another daemon has claimed meanwhile is left alone: that daemon has removed the filters of the
/// old one, and has its own there.
pub fn run(devices: &[String]) {
    let daemon = parent_id();
    sys::block_all_signals();
    _ = fs::write("/proc/self/comm", "airfaird-keeper");
    let made: Vec<String> = io::stdin().lock().lines().map_while(Result::ok).collect();
    // The pipe may close before the claims of the daemon do; they have when it is the parent no more.
    let over = || parent_id() != daemon;
    for device in qdisc::present(devices.to_vec()) {
        let Some(_claim) = Claim::within(TRIES, &device, &over) else { continue };
        let device = &device;
        _ = remove_filters(device);
        _ = remove_classes(device);
        if made.contains(device) {
            _ = qdisc::remove_empty_clsact(device);
        }
    }
}

/// Removes what a daemon and its keeper have left at devices, if both were killed. Returns those at which there was something. `note`: the
/// file of [`Keeper::start`].
///
/// # Errors
/// A daemon runs at one of the devices.
pub fn clean<'d>(devices: &'d [String], note: &Path) -> Result<Vec<&'d String>, String> {
    let made = noted(note);
    let mut found = Vec::new();
    for device in devices {
        let _claim = Claim::new(device)?;
        let filters = remove_filters(device) | remove_classes(device);
        // One that somebody else has made stays.
        let queue = made.contains(device) && qdisc::remove_empty_clsact(device).unwrap_or(false);
        if filters || queue {
            found.push(device);
        }
    }
    _ = fs::remove_file(note);
    Ok(found)
}
