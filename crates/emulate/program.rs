//! Programs in nodes.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use airfair_units::Time;
use rustix::process::Pid;

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
    /// The time of its start.
    pub at: Time,
    /// The time at which it is asked to end, if it is.
    pub until: Option<Time>,
    /// The file that gets what it writes; none: the caller's output.
    pub output: Option<PathBuf>,
}

/// Starts a program in a node's network, with a text in place of `/etc/hosts`.
///
/// # Errors
/// Where it cannot be found or started.
pub(crate) fn start(
    spec: &ProgramSpec,
    node: &NodePlan,
    network: impl AsFd,
    hosts: impl AsFd,
) -> Result<Pid, String> {
    let failed = |error: io::Error| format!("node {}: {}: {error}", node.name, spec.command.join(" "));
    let own = |of: std::os::fd::BorrowedFd<'_>| of.try_clone_to_owned().map_err(failed);
    let surroundings = Surroundings {
        network: own(network.as_fd())?,
        host: CString::new(node.host.as_str()).map_err(|error| failed(error.into()))?,
        hosts: if Path::new("/etc/hosts").exists() { Some(own(hosts.as_fd())?) } else { None },
        entered: None,
    };
    let mut command = command(&node.name, &spec.command)?;
    if let Some(path) = &spec.output {
        let file = File::options().create(true).append(true).open(path);
        let file = file.map_err(|error| format!("{}: {error}", path.display()))?;
        command.stdin(std::process::Stdio::null());
        command.stdout(file.try_clone().map_err(failed)?).stderr(file);
    }
    sys::run_in(&mut command, surroundings);
    let child = command.spawn().map_err(failed)?;
    Pid::from_raw(child.id() as i32).ok_or_else(|| failed(io::ErrorKind::Other.into()))
}

/// A command for a node with this name, whose program is found before its folders change.
///
/// # Errors
/// Without such a program.
pub(crate) fn command(node: &str, words: &[String]) -> Result<Command, String> {
    let (name, arguments) = words.split_first().ok_or("a program: expected its name")?;
    let program = found(name).ok_or_else(|| format!("node {node}: {name}: no such program"))?;
    let mut command = Command::new(program);
    command.args(arguments).env("AIRFAIR_NODE", node).env("TMPDIR", "/tmp").env_remove("XDG_RUNTIME_DIR");
    Ok(command)
}

/// The file of a program: its own path, or the first of its name in the folders of PATH.
pub(crate) fn found(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// An exit status as a shell says it: 128 and the signal's number if a signal has ended the program.
pub(crate) fn status_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// A file in memory with a text.
pub(crate) fn file_of(text: &str) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create(c"hosts", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(file);
    file.write_all(text.as_bytes())?;
    Ok(file.into())
}
