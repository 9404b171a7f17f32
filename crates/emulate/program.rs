//! Programs in nodes.

use std::ffi::CString;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use crate::plan::NodePlan;
use crate::sys::{self, Surroundings};

/// A program to start in a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Name of the node.
    pub node: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// True if the run ends with it; others end with the run.
    pub ends_run: bool,
}

/// A program that was started.
#[derive(Debug)]
pub struct Program {
    /// The program.
    pub spec: ProgramSpec,
    child: Child,
    /// The exit status, once it has ended: as a shell says it, 128 and the signal's number if a signal has ended it.
    pub status: Option<i32>,
}

impl Program {
    /// Starts a program in a node's namespace, with a file in place of `/etc/hosts`.
    ///
    /// # Errors
    /// Where it cannot be found or started.
    pub fn start(
        spec: &ProgramSpec,
        node: &NodePlan,
        network: impl AsFd,
        hosts: &Path,
    ) -> Result<Self, String> {
        let name = spec.command.first().ok_or("a program: expected its name after --")?;
        let failed = |error: io::Error| format!("node {}: {name}: {error}", node.name);
        let c_string = |text: &str| CString::new(text).map_err(|error| failed(error.into()));
        let hosts =
            if Path::new("/etc/hosts").exists() { Some(c_string(&hosts.to_string_lossy())?) } else { None };
        let surroundings = Surroundings {
            network: network.as_fd().try_clone_to_owned().map_err(failed)?,
            host: c_string(&node.host)?,
            hosts,
        };
        // Found before its folders change.
        let mut command =
            Command::new(found(name).ok_or_else(|| failed(io::Error::other("no such program")))?);
        command.args(&spec.command[1..]).env("AIRFAIR_NODE", &node.name);
        sys::unblock_signals(&mut command);
        sys::run_in(&mut command, surroundings);
        let child = command.spawn().map_err(failed)?;
        Ok(Self { spec: spec.clone(), child, status: None })
    }

    /// Looks whether it has ended.
    pub fn look(&mut self) {
        if self.status.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            use std::os::unix::process::ExitStatusExt;
            self.status = Some(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
    }

    /// Ends it, if it runs.
    pub fn stop(&mut self) {
        if self.status.is_none() {
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// The file of a program: its own path, or the first of its name in the folders of PATH.
fn found(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}
