//! The door of a run: a socket at which its user asks from another terminal for a node, to start programs there.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, socket_with,
};
use serde::{Deserialize, Serialize};

use crate::channel::Channel;
use crate::program;
use crate::sys::{Entered, Surroundings};

/// Visitors that are in the door at the same time.
const MOST_VISITORS: usize = 16;

/// A visitor's request.
#[derive(Debug, Serialize, Deserialize)]
struct Visit {
    node: String,
}

/// The answer to a visitor.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// The name that was asked for, and of the host. The network, the text of `/etc/hosts`, the namespace of processes, and that of users if
    /// it is not the visitor's, come with it.
    Come {
        name: String,
        host: String,
    },
    Refused {
        error: String,
    },
}

/// The folder of the doors of a user's runs.
#[must_use]
pub fn folder() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    own.map_or_else(
        || std::env::temp_dir().join(format!("airfair-{}", rustix::process::geteuid().as_raw())),
        |folder| folder.join("airfair"),
    )
}

/// The numbers of the processes whose runs have a door here, with its path. Doors of runs that have been killed are removed.
///
/// # Errors
/// Where the folder cannot be read, or is not the user's own.
pub fn doors() -> io::Result<Vec<(u32, PathBuf)>> {
    let folder = folder();
    if !folder.exists() {
        return Ok(Vec::new());
    }
    check(&folder)?;
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let Some(number) = path.file_stem().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        match knock(&path) {
            Ok(_) => found.push((number, path)),
            Err(rustix::io::Errno::CONNREFUSED) => _ = fs::remove_file(&path),
            Err(_) => {}
        }
    }
    found.sort();
    Ok(found)
}

/// A folder in which others could put a socket of theirs is none for doors.
fn check(folder: &Path) -> io::Result<()> {
    let of = fs::symlink_metadata(folder)?;
    if of.is_dir() && of.uid() == rustix::process::geteuid().as_raw() && of.permissions().mode() & 0o077 == 0
    {
        return Ok(());
    }
    let problem = format!("{}: expected a folder of your own that others cannot enter", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

/// The door of this process, removed at its end.
#[derive(Debug)]
pub(crate) struct DoorPath(PathBuf);

impl DoorPath {
    /// The path for this process, in a folder that is there.
    pub fn new() -> io::Result<Self> {
        // What killed runs have left is taken away.
        _ = doors();
        let folder = folder();
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => check(&folder)?,
        }
        Ok(Self(folder.join(format!("{}.socket", std::process::id()))))
    }
}

impl Drop for DoorPath {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

/// The keeper's side of a door.
#[derive(Debug)]
pub(crate) struct Door {
    listener: OwnedFd,
    visitors: Vec<Channel>,
}

/// A node as the door shows it.
pub(crate) struct Shown<'a> {
    /// The name of the host.
    pub host: &'a str,
    /// The network.
    pub network: BorrowedFd<'a>,
    /// The text of `/etc/hosts`.
    pub hosts: BorrowedFd<'a>,
}

impl Door {
    /// Opens a door.
    pub fn open(path: &DoorPath) -> io::Result<Self> {
        _ = fs::remove_file(&path.0);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&listener, &SocketAddrUnix::new(&path.0)?)?;
        // The folder is the user's alone already.
        fs::set_permissions(&path.0, fs::Permissions::from_mode(0o600))?;
        listen(&listener, MOST_VISITORS as i32)?;
        Ok(Self { listener, visitors: Vec::new() })
    }

    /// Descriptors that are readable when there is something to serve.
    pub fn watched(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.listener.as_fd()).chain(self.visitors.iter().map(AsFd::as_fd))
    }

    /// Serves those of the watched that are readable.
    pub fn serve<'a>(&mut self, ready: &[bool], node: impl Fn(&str) -> Option<Shown<'a>>) {
        let (comes, ready) = ready.split_first().map_or((false, ready), |(comes, rest)| (*comes, rest));
        let mut at = 0;
        // A visitor has one answer.
        self.visitors.retain(|visitor| {
            let has_asked = ready.get(at).copied().unwrap_or(false);
            at += 1;
            if has_asked {
                answer(visitor, &node);
            }
            !has_asked
        });
        if comes && let Ok(visitor) = accept_with(&self.listener, SocketFlags::CLOEXEC) {
            if self.visitors.len() >= MOST_VISITORS {
                self.visitors.remove(0);
            }
            self.visitors.push(Channel::of(visitor));
        }
    }
}

fn answer<'a>(visitor: &Channel, node: &impl Fn(&str) -> Option<Shown<'a>>) {
    let Ok(Some((Visit { node: name }, _))) = visitor.receive(false) else { return };
    let Some(Shown { host, network, hosts }) = node(&name) else {
        _ = visitor.send(&Answer::Refused { error: format!("{name}: the run has no such node") }, &[]);
        return;
    };
    let own = |kind: &str| fs::File::open(format!("/proc/self/ns/{kind}"));
    let opened = own("pid").and_then(|processes| Ok((processes, own("user")?)));
    _ = match opened {
        Ok((processes, users)) => visitor.send(
            &Answer::Come { name, host: host.to_string() },
            &[network, hosts, processes.as_fd(), users.as_fd()],
        ),
        Err(error) => visitor.send(&Answer::Refused { error: error.to_string() }, &[]),
    };
}

fn knock(path: &Path) -> Result<Channel, rustix::io::Errno> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(Channel::of(socket))
}

/// Runs a command in a node of the run behind a door, with this process's terminal and folder. Returns its exit status.
///
/// # Errors
/// Without such a node, program, or right.
pub fn execute(door: &Path, node: &str, command: &[String]) -> Result<i32, String> {
    let as_text = |error: io::Error| error.to_string();
    let channel = knock(door).map_err(|error| format!("{}: {error}", door.display()))?;
    channel.send(&Visit { node: node.to_string() }, &[]).map_err(as_text)?;
    let (name, host, descriptors) = match channel.receive(true).map_err(as_text)? {
        Some((Answer::Come { name, host }, descriptors)) => (name, host, descriptors),
        Some((Answer::Refused { error }, _)) => return Err(error),
        None => return Err("the run has ended".to_string()),
    };
    let Ok([network, hosts, processes, users]) = <[OwnedFd; 4]>::try_from(descriptors) else {
        return Err("an answer without the node's namespaces".to_string());
    };
    let same = |one: &OwnedFd, path: &str| -> io::Result<bool> {
        let (one, other) = (rustix::fs::fstat(one)?, rustix::fs::stat(path)?);
        Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
    };
    let users = if same(&users, "/proc/self/ns/user").map_err(as_text)? { None } else { Some(users) };
    let surroundings = Surroundings {
        network,
        host: CString::new(host).map_err(|error| error.to_string())?,
        hosts: Path::new("/etc/hosts").exists().then_some(hosts),
        entered: Some(Entered { users, processes }),
    };
    let mut command: Command = program::command(&name, command)?;
    crate::sys::run_in(&mut command, surroundings);
    let mut child = command.spawn().map_err(|error| format!("node {name}: {error}"))?;
    let status = child.wait().map_err(as_text)?;
    Ok(program::status_of(status))
}
