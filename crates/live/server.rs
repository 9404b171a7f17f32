//! Clients that get the state of a daemon: at a socket of the system, and for Prometheus.
//!
//! Each client gets one answer. Nobody is waited for: a client that does not read, or does not ask, is closed for the next ones.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use airfair_units::{Span, Time};

use crate::config::StatusConfig;
use crate::log::{Level, line};

/// Clients of the page that have not asked yet.
const MOST_CLIENTS: usize = 8;

/// Clients that are served at once: samples and settings have their turn then.
const AT_ONCE: usize = 16;

/// Most bytes of an answer.
const LARGEST: u64 = 1 << 20;

/// Longest time for the answer of a daemon.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// No client is waited for during this time after one could not be accepted: descriptors do not come back at once.
const REST: Span = Span::from_secs(1);

/// The listeners of a daemon. The path of the socket is removed when this is dropped.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    socket: UnixListener,
    page: Option<TcpListener>,
    clients: Vec<TcpStream>,
    /// The end of the last rest.
    rests_until: Time,
    /// A rest is logged once.
    has_rested: bool,
}

/// The texts that a client may get.
pub trait Texts {
    /// For `airfaird status`.
    fn json(&self) -> String;
    /// For Prometheus.
    fn metrics(&self) -> String;
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// Another daemon listens there; the folder is not there and cannot be made; the port is taken.
    pub fn open(config: &StatusConfig) -> Result<Self, String> {
        let path = config.socket.clone();
        let wrong = |error: io::Error| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        let page = config.metrics.map(listen).transpose()?;
        clear(&path)?;
        let socket = UnixListener::bind(&path).map_err(wrong)?;
        socket.set_nonblocking(true).map_err(wrong)?;
        // Root and the daemon's own user ask.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(wrong)?;
        Ok(Self { path, socket, page, clients: Vec::new(), rests_until: Time::ZERO, has_rested: false })
    }

    /// Descriptors that are readable when there is something to serve.
    pub fn watched(&self, now: Time) -> impl Iterator<Item = BorrowedFd<'_>> {
        let rests = now < self.rests_until;
        let listeners = std::iter::once(self.socket.as_fd()).chain(self.page.iter().map(AsFd::as_fd));
        listeners.filter(move |_| !rests).chain(self.clients.iter().map(AsFd::as_fd))
    }

    /// Serves all that can be served now.
    pub fn serve(&mut self, texts: &dyn Texts, now: Time) {
        let mut text = None;
        for _ in 0..AT_ONCE {
            let mut client = match self.socket.accept() {
                Ok((client, _)) => client,
                Err(error) => {
                    self.rest(&error, now);
                    break;
                }
            };
            // An answer is smaller than the room of a new connection.
            _ = client.set_nonblocking(true);
            _ = client.write_all(text.get_or_insert_with(|| texts.json()).as_bytes());
        }
        for _ in 0..AT_ONCE {
            let client = match self.page.as_ref().map(TcpListener::accept) {
                Some(Ok((client, _))) => client,
                Some(Err(error)) => {
                    self.rest(&error, now);
                    break;
                }
                None => break,
            };
            if client.set_nonblocking(true).is_ok() {
                if self.clients.len() >= MOST_CLIENTS {
                    self.clients.remove(0);
                }
                self.clients.push(client);
            }
        }
        self.clients.retain_mut(|client| !answer(client, texts));
    }

    /// Rests where no client can be accepted, as this process has all the descriptors that it may have: the client stays in the queue, and
    /// its listener readable.
    fn rest(&mut self, error: &io::Error, now: Time) {
        use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
        if matches!(error.kind(), ConnectionAborted | Interrupted | WouldBlock) {
            return;
        }
        self.rests_until = now.saturating_add(REST);
        if !std::mem::replace(&mut self.has_rested, true) {
            line(Level::Warning, &format!("clients of the state have to wait: {error}"));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.path);
    }
}

/// Removes the socket of a daemon that has ended.
fn clear(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::FileTypeExt;
    let name = path.display();
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(format!("{name}: expected a place for a socket; another file is there"));
    }
    if connect(path).is_ok_and(|socket| socket.is_some()) {
        return Err(format!("{name}: another daemon runs and answers there"));
    }
    fs::remove_file(path).map_err(|error| format!("{name}: {error}"))
}

/// A connection to a daemon's socket; none where it has too many already.
fn connect(path: &Path) -> io::Result<Option<UnixStream>> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &SocketAddrUnix::new(path)?) {
        Err(rustix::io::Errno::AGAIN) => Ok(None),
        other => other.map(|()| Some(UnixStream::from(socket))).map_err(io::Error::from),
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(address).map_err(|error| format!("{address}: {error}"))?;
    listener.set_nonblocking(true).map_err(|error| format!("{address}: {error}"))?;
    Ok(listener)
}

/// Answers a client of the page if it has asked. True if it is done with.
fn answer(client: &mut TcpStream, texts: &dyn Texts) -> bool {
    let mut request = [0; 2048];
    let length = match client.read(&mut request) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
        Ok(length) if length > 0 => length,
        _ => return true,
    };
    let wants_page =
        request[..length].starts_with(b"GET /metrics ") || request[..length].starts_with(b"GET / ");
    let (status, body) =
        if wants_page { ("200 OK", texts.metrics()) } else { ("404 Not Found", String::new()) };
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    // A page is smaller than the room of a new connection.
    _ = client.write_all(head.as_bytes()).and_then(|()| client.write_all(body.as_bytes()));
    true
}

/// The answer of a daemon at its socket.
///
/// # Errors
/// No daemon answers within two seconds, or it belongs to another user.
pub fn state_at(path: &Path) -> Result<String, String> {
    let silent = || format!("no daemon answers at {}: is it running?", path.display());
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::WouldBlock => silent(),
        _ => format!("{}: {error}", path.display()),
    };
    // One whose queue is full is stopped, or has no descriptors left.
    let socket = connect(path).map_err(failed)?.ok_or_else(silent)?;
    socket.set_nonblocking(false).and_then(|()| socket.set_read_timeout(Some(PATIENCE))).map_err(failed)?;
    let mut text = String::new();
    socket.take(LARGEST).read_to_string(&mut text).map_err(failed)?;
    if text.is_empty() { Err(silent()) } else { Ok(text) }
}
