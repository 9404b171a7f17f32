//! The control socket of a run, at which its user requests a node from another terminal, to start programs there.

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

/// Clients that are connected at the same time.
const MOST_CLIENTS: usize = 16;

/// A client's request.
#[derive(Debug, Serialize, Deserialize)]
struct EntryRequest {
    node: String,
}

/// The answer to a client.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    /// The name that was asked for, and of the host. With it come the network, the text of `/etc/hosts`, and the namespaces of processes
    /// and of users.
    Granted {
        name: String,
        host: String,
    },
    Refused {
        error: String,
    },
}

/// The folder of the control sockets of a user's runs.
#[must_use]
pub fn folder() -> PathBuf {
    let own = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_dir());
    own.map_or_else(
        || std::env::temp_dir().join(format!("airfair-{}", rustix::process::geteuid().as_raw())),
        |folder| folder.join("airfair"),
    )
}

/// The numbers of the processes whose runs have a control socket, with its path. Those of runs that were killed are removed.
///
/// # Errors
/// Where the folder cannot be read, or is not the user's own.
pub fn sockets() -> io::Result<Vec<(u32, PathBuf)>> {
    let folder = folder();
    if !folder.exists() {
        return Ok(Vec::new());
    }
    check(&folder)?;
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let Some(number) = path.file_stem().and_then(|name| name.to_str()?.parse().ok()) else { continue };
        match connect_to(&path) {
            Ok(_) => found.push((number, path)),
            Err(rustix::io::Errno::CONNREFUSED) => _ = fs::remove_file(&path),
            Err(_) => {}
        }
    }
    found.sort();
    Ok(found)
}

/// A folder in which others could put a socket of theirs is refused.
fn check(folder: &Path) -> io::Result<()> {
    let of = fs::symlink_metadata(folder)?;
    if of.is_dir() && of.uid() == rustix::process::geteuid().as_raw() && of.permissions().mode() & 0o077 == 0
    {
        return Ok(());
    }
    let problem = format!("{}: expected a folder of your own that others cannot enter", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

/// The path of this process's control socket, which is removed at the end.
#[derive(Debug)]
pub(crate) struct SocketPath(PathBuf);

impl SocketPath {
    /// The path for this process, in a folder that is there.
    pub fn new() -> io::Result<Self> {
        // This takes away the sockets of runs that were killed.
        _ = sockets();
        let folder = folder();
        match fs::DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => check(&folder)?,
        }
        Ok(Self(folder.join(format!("{}.socket", std::process::id()))))
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

/// The keeper's end of the control socket.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    listener: OwnedFd,
    clients: Vec<Channel>,
}

/// A node that a client may enter.
pub(crate) struct NodeEntry<'a> {
    /// The name of the host.
    pub host: &'a str,
    /// The network.
    pub network: BorrowedFd<'a>,
    /// The text of `/etc/hosts`.
    pub hosts: BorrowedFd<'a>,
}

impl ControlSocket {
    /// Listens at a path.
    pub fn open(path: &SocketPath) -> io::Result<Self> {
        _ = fs::remove_file(&path.0);
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let listener = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        bind(&listener, &SocketAddrUnix::new(&path.0)?)?;
        // The folder is the user's alone already.
        fs::set_permissions(&path.0, fs::Permissions::from_mode(0o600))?;
        listen(&listener, MOST_CLIENTS as i32)?;
        Ok(Self { listener, clients: Vec::new() })
    }

    /// Descriptors that are readable when there is something to serve.
    pub fn watched(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.listener.as_fd()).chain(self.clients.iter().map(AsFd::as_fd))
    }

    /// Serves those of the watched that are readable.
    pub fn serve<'a>(&mut self, ready: &[bool], node: impl Fn(&str) -> Option<NodeEntry<'a>>) {
        let (comes, ready) = ready.split_first().map_or((false, ready), |(comes, rest)| (*comes, rest));
        let mut at = 0;
        // A client has one answer.
        self.clients.retain(|client| {
            let has_asked = ready.get(at).copied().unwrap_or(false);
            at += 1;
            if has_asked {
                answer(client, &node);
            }
            !has_asked
        });
        if comes && let Ok(client) = accept_with(&self.listener, SocketFlags::CLOEXEC) {
            if self.clients.len() >= MOST_CLIENTS {
                self.clients.remove(0);
            }
            self.clients.push(Channel::of(client));
        }
    }
}

fn answer<'a>(client: &Channel, node: &impl Fn(&str) -> Option<NodeEntry<'a>>) {
    let Ok(Some((EntryRequest { node: name }, _))) = client.receive(false) else { return };
    let Some(NodeEntry { host, network, hosts }) = node(&name) else {
        _ = client.send(&Answer::Refused { error: format!("{name}: the run has no such node") }, &[]);
        return;
    };
    let own = |kind: &str| fs::File::open(format!("/proc/self/ns/{kind}"));
    let opened = own("pid").and_then(|processes| Ok((processes, own("user")?)));
    _ = match opened {
        Ok((processes, users)) => client.send(
            &Answer::Granted { name, host: host.to_string() },
            &[network, hosts, processes.as_fd(), users.as_fd()],
        ),
        Err(error) => client.send(&Answer::Refused { error: error.to_string() }, &[]),
    };
}

fn connect_to(path: &Path) -> Result<Channel, rustix::io::Errno> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(Channel::of(socket))
}

/// Runs a command in a node of the run with this control socket, with this process's terminal and folder. Returns its exit status.
///
/// # Errors
/// Without such a node, program, or right.
pub fn execute(socket: &Path, node: &str, command: &[String]) -> Result<i32, String> {
    let as_text = |error: io::Error| error.to_string();
    let channel = connect_to(socket).map_err(|error| format!("{}: {error}", socket.display()))?;
    channel.send(&EntryRequest { node: node.to_string() }, &[]).map_err(as_text)?;
    let (name, host, descriptors) = match channel.receive(true).map_err(as_text)? {
        Some((Answer::Granted { name, host }, descriptors)) => (name, host, descriptors),
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
    // With the run its programs end.
    if !status.success() && connect_to(socket).is_err() {
        return Err("the run has ended".to_string());
    }
    Ok(program::status_of(status))
}
