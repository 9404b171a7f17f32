//! A netlink socket for requests to the kernel, with a limit of the time and of the memory that a reply takes.

use std::io;
use std::os::fd::AsFd;

use netlink_sys::{Socket, SocketAddr};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::attributes::{Malformed, Request};
use super::messages::{Failure, Reply};
use super::numbers::{EAGAIN, EINTR, ENOMEM};

/// Longest wait for a datagram, in milliseconds. The kernel makes a reply while the request is sent or the part before it is received, so
/// there is no wait in practice; a driver that asks its firmware holds the thread in those calls, and no time-out shortens that.
pub(crate) const TIME_OUT_MS: u32 = 200;

/// Bytes of the longest datagram. Those of the kernel have at most 32 KiB.
const LONGEST_DATAGRAM: usize = 1 << 16;

/// Most calls that may be interrupted by signals, in one exchange.
const MOST_SIGNALS: u32 = 64;

/// A socket of one protocol, in the network namespace of the calling thread.
pub(crate) struct Exchange {
    protocol: isize,
    /// None after a failure: the rest of a reply may still come, and a dump that is not read to its end keeps its socket busy.
    socket: Option<Socket>,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Exchange {
    /// Opens a socket of this protocol (`netlink_sys::protocols`).
    pub fn open(protocol: isize) -> Result<Self, Failure> {
        let socket = Some(open(protocol)?);
        Ok(Self { protocol, socket, sequence: 0, buffer: Vec::with_capacity(LONGEST_DATAGRAM) })
    }

    /// Sends a request and hands on the payload of each message of this type that replies to it.
    pub fn request(
        &mut self,
        request: Request,
        kind: u16,
        is_dump: bool,
        each: &mut dyn FnMut(&[u8]) -> Result<(), Malformed>,
    ) -> Result<(), Failure> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => open(self.protocol)?,
        };
        self.sequence = self.sequence.wrapping_add(1).max(1);
        send(&socket, &request.finish(self.sequence))?;
        let mut reply = Reply::new(self.sequence, kind, is_dump);
        let mut signals = 0;
        loop {
            let is_from_kernel = receive(&socket, &mut self.buffer, &mut signals)?;
            let datagram = if is_from_kernel { &self.buffer[..] } else { &[] };
            if reply.take(datagram, each)? {
                break;
            }
        }
        self.socket = Some(socket);
        Ok(())
    }
}

fn open(protocol: isize) -> Result<Socket, Failure> {
    let mut socket = Socket::new(protocol).map_err(|error| failed("socket", &error))?;
    socket.bind_auto().map_err(|error| failed("bind", &error))?;
    socket.connect(&SocketAddr::new(0, 0)).map_err(|error| failed("connect", &error))?;
    // Texts of errors are a help where the kernel has them (since 4.12).
    let _ = socket.set_ext_ack(true);
    let _ = socket.set_cap_ack(true);
    Ok(socket)
}

fn failed(call: &'static str, error: &io::Error) -> Failure {
    Failure::Socket { call, errno: error.raw_os_error().unwrap_or(EAGAIN) }
}

fn send(socket: &Socket, request: &[u8]) -> Result<(), Failure> {
    let sent = socket.send(request, libc::MSG_DONTWAIT).map_err(|error| failed("send", &error))?;
    if sent == request.len() { Ok(()) } else { Err(Failure::Socket { call: "send", errno: ENOMEM }) }
}

/// Receives a datagram into the buffer; false if it is not from the kernel.
fn receive(socket: &Socket, buffer: &mut Vec<u8>, signals: &mut u32) -> Result<bool, Failure> {
    loop {
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(TIME_OUT_MS) * 1_000_000 };
        let ready = match poll(&mut [PollFd::new(&socket.as_fd(), PollFlags::IN)], Some(&wait)) {
            Err(errno) if errno.raw_os_error() == EINTR && *signals < MOST_SIGNALS => {
                *signals += 1;
                continue;
            }
            ready => ready.map_err(|errno| failed("poll", &errno.into()))?,
        };
        if ready == 0 {
            return Err(Failure::TimeOut);
        }
        buffer.clear();
        match socket.recv_from(buffer, libc::MSG_DONTWAIT | libc::MSG_TRUNC) {
            Ok((length, _)) if length > buffer.len() => return Err(Failure::TooLong),
            Ok((_, sender)) => return Ok(sender.port_number() == 0),
            Err(error) if matches!(error.raw_os_error(), Some(EINTR | EAGAIN)) && *signals < MOST_SIGNALS => {
                *signals += 1;
            }
            Err(error) => return Err(failed("recvfrom", &error)),
        }
    }
}
