//! The process that takes away what the kernel keeps of a daemon that was killed: filters, and the queueing discipline at which they are.
//!
//! It waits at the end of a pipe whose other end the daemon holds. When that closes, the daemon has ended, however it did. `airfaird clean`
//! does the same by hand, and after the end of the service.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::kernel::remove_filters;
use crate::qdisc;
use crate::sys;

/// The command of the program that is the keeper.
pub const COMMAND: &str = "keeper";

/// A keeper of some devices. It works when this is dropped.
#[derive(Debug)]
pub struct Keeper(Child);

impl Keeper {
    /// Starts one for devices of this process's network namespace.
    ///
    /// # Errors
    /// Where no process can be started.
    pub fn start(devices: &[&str]) -> Result<Self, String> {
        let mut command = Command::new("/proc/self/exe");
        command.arg(COMMAND).args(devices).stdin(Stdio::piped()).stdout(Stdio::null());
        // Ctrl-C at a terminal is the daemon's.
        command.process_group(0);
        let child = command.spawn().map_err(|error| format!("the keeper does not start: {error}"))?;
        Ok(Self(child))
    }
}

impl Keeper {
    /// Notes a device whose `clsact` is to be removed, too.
    pub fn remove_clsact_of(&mut self, device: &str) {
        // Without a keeper there is nobody who would need it.
        _ = self.0.stdin.as_mut().map(|pipe| writeln!(pipe, "{device}"));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        _ = self.0.wait();
    }
}

/// Runs the keeper: waits for the end of the daemon, then removes what is left at the devices. From the pipe it learns of which of them the
/// `clsact` is to be removed.
pub fn run(devices: &[String]) {
    sys::block_all_signals();
    let made: Vec<String> = io::stdin().lock().lines().map_while(Result::ok).collect();
    for device in devices {
        _ = remove_filters(device);
        if made.contains(device) {
            _ = qdisc::remove_empty_clsact(device);
        }
    }
}

/// Removes what a daemon and its keeper have left at devices, if both were killed. Returns those at which there was something.
pub fn clean(devices: &[String]) -> Vec<&String> {
    let found = devices.iter().filter(|device| remove_filters(device));
    // A `clsact` at which there was a filter of a daemon is a daemon's.
    found.inspect(|device| _ = qdisc::remove_empty_clsact(device)).collect()
}
