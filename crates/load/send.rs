//! The sender.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use airfair_units::Rate;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketType, sockopt};

use crate::datagram::{HEADER, Header, Kind};
use crate::options::SendOptions;
use crate::receive::{is_of_path, seconds};
use crate::report::{SendReport, TcpNumbers};
use crate::sys;
use crate::wait::{self, Exact, NEVER, Stop, now};

/// A sender that is later than this leaves out what it should have sent since: a burst would be another kind of traffic.
pub const MOST_BEHIND: u64 = 100_000_000;

/// Time after which a receiver that does not listen yet is tried again.
const AGAIN: u64 = 250_000_000;

/// Time in which an answer that nobody listens comes to a probe.
const PROBED: u64 = 200_000_000;

/// The end of a flow of datagrams is announced as often, at this interval.
const ENDS: u64 = 10;
const BETWEEN_ENDS: u64 = 100_000_000;

/// Time in which a connection may deliver what it holds after the time of sending.
const DRAIN: u64 = 1_000_000_000;

/// Bytes that a connection holds unsent at most, nearly.
const UNSENT: i32 = 16 << 10;

/// Bytes of a write at most.
const WRITE: usize = 16 << 10;

/// Sends a flow, and reports it when it has ended.
///
/// # Errors
/// One line: options that do not go together, a host that is not found, a receiver that does not listen.
pub fn send(host: &str, options: &SendOptions, stop: &mut Stop<'_>) -> Result<SendReport, String> {
    options.check()?;
    let addresses: Vec<SocketAddr> =
        (host, options.port).to_socket_addrs().map_err(|error| format!("{host}: {error}"))?.collect();
    let _exact = Exact::new();
    let sent = if options.udp {
        Found::search(&addresses, options, stop, udp_to)?.map(|found| found.send_datagrams(options, stop))
    } else {
        Found::search(&addresses, options, stop, tcp_to)?.map(|found| found.send_stream(options, stop))
    };
    match sent {
        Some(sent) => sent.map_err(|error| format!("{host}: {error}")),
        None => Ok(SendReport { interrupted: true, ..empty(options.udp, host.to_string()) }),
    }
}

/// A report of nothing.
fn empty(udp: bool, to: String) -> SendReport {
    SendReport {
        udp,
        to,
        start_monotonic_s: seconds(now()),
        sending_s: 0.0,
        bytes: 0,
        packets: udp.then_some(0),
        skipped: udp.then_some(0),
        refused: udp.then_some(0),
        broken: None,
        tcp: None,
        interrupted: false,
    }
}

/// A socket that is connected to the receiver.
struct Found<S> {
    socket: S,
    to: SocketAddr,
}

/// An attempt that has failed.
enum Failed {
    /// An error that another attempt may not have.
    Now(io::Error),
    /// An error that will stay.
    Always(String),
}

impl From<Errno> for Failed {
    fn from(error: Errno) -> Self {
        Self::Now(error.into())
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Now(error)
    }
}

impl<S> Found<S> {
    /// Tries the addresses one after the other, for as long as the user has said; none if the user has ended it.
    fn search(
        addresses: &[SocketAddr],
        options: &SendOptions,
        stop: &mut Stop<'_>,
        connect: impl Fn(SocketAddr, &SendOptions, &mut Stop<'_>) -> Result<Option<S>, Failed>,
    ) -> Result<Option<Self>, String> {
        let give_up = now().saturating_add(options.wait.0);
        loop {
            let mut last = None;
            for &to in addresses {
                match connect(to, options, stop) {
                    Ok(Some(socket)) => return Ok(Some(Self { socket, to })),
                    Ok(None) => return Ok(None),
                    Err(Failed::Always(error)) => return Err(error),
                    Err(Failed::Now(error)) => last = Some((to, error)),
                }
            }
            let Some((to, error)) = last else { return Err("the host has no address".to_string()) };
            let again = now().saturating_add(AGAIN);
            if again > give_up || !may_change(&error) {
                let tried =
                    if options.wait.0 > 0 { format!(", tried for {}", options.wait) } else { String::new() };
                return Err(format!("{to}: {error}{tried}"));
            }
            if !stop.sleep(again).map_err(|error| error.to_string())? {
                return Ok(None);
            }
        }
    }
}

/// True for errors that end when the receiver begins to listen, or a path is found.
fn may_change(error: &io::Error) -> bool {
    is_of_path(error) || matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::AddrNotAvailable)
}

/// A socket for an address, with the DSCP and the ECN field of the options.
fn socket(to: SocketAddr, kind: SocketType, options: &SendOptions) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket(family, kind, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    // ECT(0); TCP decides on its own.
    let tos = options.dscp << 2 | if options.ecn { 2 } else { 0 };
    if tos > 0 && to.is_ipv4() {
        sockopt::set_ip_tos(&socket, tos)?;
    } else if tos > 0 {
        sockopt::set_ipv6_tclass(&socket, tos.into())?;
    }
    Ok(socket)
}

/// A connection; none if the user has ended it.
fn tcp_to(to: SocketAddr, options: &SendOptions, stop: &mut Stop<'_>) -> Result<Option<TcpStream>, Failed> {
    let socket = socket(to, SocketType::STREAM, options)?;
    if let Some(name) = &options.congestion_control {
        choose(&socket, name).map_err(Failed::Always)?;
    }
    sys::limit_unsent(socket.as_fd(), UNSENT);
    let stream = TcpStream::from(socket);
    stream.set_nonblocking(true)?;
    match net::connect(&stream, &to) {
        Ok(()) => return Ok(Some(stream)),
        Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    loop {
        if stop.due(now()) {
            return Ok(None);
        }
        if stop.poll(&mut [PollFd::new(&stream, PollFlags::OUT)], NEVER)? {
            sockopt::socket_error(&stream)??;
            return Ok(Some(stream));
        }
    }
}

/// Chooses a congestion control.
fn choose(socket: &OwnedFd, name: &str) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        let listed = |setting: &str| {
            let path = format!("/proc/sys/net/ipv4/{setting}");
            let names = std::fs::read_to_string(path).unwrap_or_default();
            format!("net.ipv4.{setting} lists: {}", names.trim())
        };
        sockopt::set_tcp_congestion(socket, name).map_err(|error| {
            let reason = match error {
                Errno::PERM => {
                    format!("the kernel lets only root use it; {}", listed("tcp_allowed_congestion_control"))
                }
                Errno::NOENT => {
                    format!(
                        "the kernel has none of this name; {}",
                        listed("tcp_available_congestion_control")
                    )
                }
                error => error.to_string(),
            };
            format!("--congestion-control: {name}: {reason}")
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = socket;
        Err(format!("--congestion-control: {name}: only Linux lets a program choose it"))
    }
}

/// A socket for datagrams to an address at which somebody seems to listen; none if the user has ended it.
fn udp_to(to: SocketAddr, options: &SendOptions, stop: &mut Stop<'_>) -> Result<Option<UdpSocket>, Failed> {
    let socket = UdpSocket::from(socket(to, SocketType::DGRAM, options)?);
    socket.set_nonblocking(true)?;
    net::connect(&socket, &to)?;
    if options.wait.0 == 0 {
        return Ok(Some(socket));
    }
    socket.send(&Header { kind: Kind::Probe, run: 0, sequence: 0, sent_at: 0, boot: 0 }.encode())?;
    let until = now() + PROBED;
    loop {
        let now = now();
        if stop.due(now) {
            return Ok(None);
        }
        if now >= until {
            return Ok(Some(socket));
        }
        if stop.poll(&mut [PollFd::new(&socket, PollFlags::empty())], until)? {
            sockopt::socket_error(&socket)??;
        }
    }
}

/// A random number, by which a receiver distinguishes flows.
fn random() -> u64 {
    let mut bytes = [0; 8];
    match File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)) {
        Ok(()) => u64::from_ne_bytes(bytes),
        Err(_) => now() ^ u64::from(std::process::id()) << 40,
    }
}

/// Bytes that a rate allows in nanoseconds.
fn allowed(rate: Rate, nanos: u64) -> u64 {
    (u128::from(rate.0) * u128::from(nanos) / 8_000_000_000) as u64
}

/// Nanoseconds that a rate needs for bytes.
fn needed(rate: Rate, bytes: u128) -> u64 {
    u64::try_from(bytes.saturating_mul(8_000_000_000) / u128::from(rate.0)).unwrap_or(NEVER)
}

impl Found<UdpSocket> {
    /// Sends datagrams at equal intervals by an absolute schedule.
    fn send_datagrams(self, options: &SendOptions, stop: &mut Stop<'_>) -> io::Result<SendReport> {
        let Some(rate) = options.rate else { return Err(ErrorKind::InvalidInput.into()) };
        let start = now();
        let end = options.time().map_or(NEVER, |time| start.saturating_add(time.0));
        let mut datagram = vec![0; options.size];
        let mut header =
            Header { kind: Kind::Data, run: random(), sequence: 0, sent_at: 0, boot: wait::boot() };
        // Turns of the schedule: sent, skipped and refused ones.
        let (mut turn, mut skipped, mut refused) = (0u64, 0, 0);
        let due = |turn: u64| start.saturating_add(needed(rate, u128::from(turn) * options.size as u128));
        loop {
            let (at, now) = (due(turn), now());
            if at >= end || stop.due(now) {
                break;
            }
            if now < at {
                stop.poll(&mut [], at)?;
                continue;
            }
            if now - at > MOST_BEHIND {
                let late = allowed(rate, now.min(end) - at) / options.size as u64;
                let late = late.max(1);
                turn += late;
                skipped += late;
                continue;
            }
            header.sent_at = now;
            datagram[..HEADER].copy_from_slice(&header.encode());
            match self.socket.send(&datagram) {
                Ok(_) => {
                    header.sequence += 1;
                    turn += 1;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let behind = at.saturating_add(MOST_BEHIND + 1).min(end);
                    stop.poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], behind)?;
                }
                Err(error) if may_change(&error) || Errno::from_io_error(&error) == Some(Errno::NOBUFS) => {
                    refused += 1;
                    turn += 1;
                }
                Err(error) => return Err(error),
            }
        }
        let sent = header.sequence;
        let sending = now().min(end).max(start) - start;
        self.announce_end(header, stop)?;
        Ok(SendReport {
            start_monotonic_s: seconds(start),
            sending_s: seconds(sending),
            bytes: sent * options.size as u64,
            packets: Some(sent),
            skipped: Some(skipped),
            refused: Some(refused),
            interrupted: stop.requested,
            ..empty(true, self.to.to_string())
        })
    }

    /// Announces the end, as often as it may be lost. A user who has ended it need not wait for that.
    fn announce_end(&self, of: Header, stop: &mut Stop<'_>) -> io::Result<()> {
        for _ in 0..ENDS {
            match self.socket.send(&Header { kind: Kind::End, sent_at: now(), ..of }.encode()) {
                // The receiver has ended.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => break,
                _ => {}
            }
            if !stop.requested {
                stop.sleep(now() + BETWEEN_ENDS)?;
            }
        }
        Ok(())
    }
}

impl Found<TcpStream> {
    /// Sends a stream of bytes 0, 1, ... 255, 0, ...
    fn send_stream(mut self, options: &SendOptions, stop: &mut Stop<'_>) -> io::Result<SendReport> {
        let pattern: Vec<u8> = (0..=255).cycle().take(WRITE + 256).collect();
        let start = now();
        let end = options.time().map_or(NEVER, |time| start.saturating_add(time.0));
        let total = options.bytes.unwrap_or(NEVER);
        // Writes a hundred times a second, or as often as whole bytes are allowed.
        let share = options.rate.map_or(WRITE as u64, |rate| (rate.0 / 800).clamp(1, WRITE as u64));
        let (mut sent, mut left_out, mut broken) = (0u64, 0u64, None);
        loop {
            let now = now();
            if now >= end || sent >= total || stop.due(now) {
                break;
            }
            let bytes = share.min(total - sent);
            if let Some(rate) = options.rate {
                let due = allowed(rate, now - start).saturating_sub(left_out + sent);
                if due < bytes {
                    let at = needed(rate, u128::from(left_out + sent + bytes)).saturating_add(start + 1);
                    stop.poll(&mut [], at.min(end))?;
                    continue;
                }
                left_out += due.saturating_sub(allowed(rate, MOST_BEHIND).max(bytes));
            }
            let from = (sent % 256) as usize;
            match self.socket.write(&pattern[from..from + bytes as usize]) {
                Ok(length) => sent += length as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    stop.poll(&mut [PollFd::new(&self.socket, PollFlags::OUT)], end)?;
                }
                Err(error) => {
                    broken = Some(error.to_string());
                    break;
                }
            }
        }
        let sending = now().min(end) - start;
        if broken.is_none() && self.socket.shutdown(Shutdown::Write).is_ok() {
            let limit = if options.time().is_none() { NEVER } else { now() + DRAIN };
            self.drain(limit, stop)?;
        }
        Ok(SendReport {
            start_monotonic_s: seconds(start),
            sending_s: seconds(sending),
            bytes: sent,
            broken,
            tcp: self.numbers(sent),
            interrupted: stop.requested,
            ..empty(false, self.to.to_string())
        })
    }

    /// Waits until all is acknowledged, or until a time.
    fn drain(&mut self, limit: u64, stop: &mut Stop<'_>) -> io::Result<()> {
        const LOOK: u64 = 10_000_000;
        while !self.is_acknowledged() && now() < limit && stop.sleep(now() + LOOK)? {}
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn is_acknowledged(&self) -> bool {
        /// TCP_FIN_WAIT2, TCP_TIME_WAIT, TCP_CLOSE of linux/tcp_states.h: the end is acknowledged, or the connection is no more.
        const OVER: [u8; 3] = [5, 6, 7];
        sys::tcp_info(self.socket.as_fd()).is_none_or(|info| OVER.contains(&info[0]))
    }

    /// Without the kernel's numbers: the receiver has closed the connection.
    #[cfg(not(target_os = "linux"))]
    fn is_acknowledged(&self) -> bool {
        let mut byte = [0];
        (&self.socket)
            .read(&mut byte)
            .map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |length| length == 0)
    }

    /// The numbers of the kernel, by the places of `struct tcp_info` in linux/tcp.h.
    #[cfg(target_os = "linux")]
    fn numbers(&self, sent: u64) -> Option<TcpNumbers> {
        let info = sys::tcp_info(self.socket.as_fd())?;
        let word =
            |at: usize| info[at..].first_chunk().map_or(0, |bytes| u64::from(u32::from_ne_bytes(*bytes)));
        let long = |at: usize| info[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        let micros = |count: u64| count as f64 / 1e6;
        Some(TcpNumbers {
            congestion_control: sockopt::tcp_congestion(&self.socket).ok(),
            segments: word(156),
            retransmitted: word(100),
            // tcpi_bytes_acked counts the SYN, and the FIN once it is acknowledged.
            acknowledged: long(120).saturating_sub(1).min(sent),
            rtt_s: micros(word(68)),
            min_rtt_s: Some(word(148))
                .filter(|&micros| micros != 0 && micros != u64::from(u32::MAX))
                .map(micros),
            cwnd: word(80),
            mss: word(16),
            rto_s: micros(word(8)),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn numbers(&self, _sent: u64) -> Option<TcpNumbers> {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    /// The byte of the header that a receiver sees is DSCP and ECT(0), over both families.
    #[test]
    fn dscp_and_ecn_are_in_the_header() {
        let mut options = SendOptions::default();
        for (option, text) in [("dscp", "EF"), ("ecn", "")] {
            options.set(option, text).unwrap();
        }
        let addresses: [SocketAddr; 2] = [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()];
        for at in addresses {
            let receiver = UdpSocket::bind(at).unwrap();
            sys::note_tos(&receiver, at.is_ipv6());
            let to = receiver.local_addr().unwrap();
            let sender = UdpSocket::from(socket(to, SocketType::DGRAM, &options).unwrap());
            sender.send_to(b"1", to).unwrap();
            let mut look = || false;
            let ready = &mut [PollFd::new(&receiver, PollFlags::IN)];
            assert!(Stop::new(&mut look).poll(ready, now() + 1_000_000_000).unwrap());
            let received = sys::receive(&receiver, &mut [0; 8]).unwrap();
            assert_eq!(
                (received.tos, received.length, received.from),
                (
                    46 << 2 | 2,
                    1,
                    sender.local_addr().map(|from| SocketAddr::new(at.ip(), from.port())).unwrap()
                )
            );
        }
    }

    #[test]
    fn a_schedule_by_hand() {
        // 1000 B at 8 Mbit/s are a millisecond.
        assert_eq!(needed(Rate(8_000_000), 1000), 1_000_000);
        assert_eq!(needed(Rate(8_000_000), 1000 * (1 << 40)), 1_000_000 << 40);
        assert_eq!(needed(Rate(1), 1 << 100), NEVER);
        assert_eq!(allowed(Rate(8_000_000), 1_999_999), 1999);
    }
}
