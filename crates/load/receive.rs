//! The receiver: one thread, which listens for TCP and UDP at one port, over IPv6 and IPv4.

use std::io::{self, ErrorKind, Read};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::net::{self, AddressFamily, SocketType, sockopt};

use crate::arrivals::{Arrivals, Measures};
use crate::datagram::MOST;
use crate::flows::{Datagram, MOST_FLOWS, UdpFlow, UdpFlows};
use crate::options::ReceiveOptions;
use crate::report::{FlowReport, Packets, ReceiveReport};
use crate::sys;
use crate::wait::{self, NEVER, Stop, now};

/// Bytes of a read from a connection.
const READ: usize = 128 << 10;

/// Reads of a socket before it is the others' turn.
const TURN: usize = 16;

/// Time for which a receiver that has no descriptor left accepts nobody.
const DEAF: u64 = 100_000_000;

/// Bytes that may wait at the port before the kernel drops datagrams, if it allows as many.
const ROOM: usize = 4 << 20;

/// Ports that are tried where any is right: one that is free for TCP need not be so for UDP.
const TRIES: usize = 16;

/// A receiver that listens.
#[derive(Debug)]
pub struct Receiver {
    tcp: TcpListener,
    udp: UdpSocket,
    options: ReceiveOptions,
    measures: Measures,
    port: u16,
}

/// A connection.
struct Connection {
    stream: TcpStream,
    from: SocketAddr,
    /// The number of its flow; none before its first byte.
    flow: Option<usize>,
    open: bool,
}

/// A flow over TCP.
struct TcpFlow {
    from: SocketAddr,
    arrivals: Arrivals,
    /// True once the connection is no more.
    over: bool,
    /// True if it has ended as TCP ends.
    ended: bool,
}

impl Receiver {
    /// Listens.
    ///
    /// # Errors
    /// Options that do not go together, and a port that cannot be had.
    pub fn new(options: &ReceiveOptions) -> Result<Self, String> {
        let measures = options.measures()?;
        let mut tries = if options.port == 0 { TRIES } else { 1 };
        loop {
            tries -= 1;
            match listen(options.port) {
                Ok((tcp, udp, port)) => {
                    return Ok(Self { tcp, udp, options: options.clone(), measures, port });
                }
                Err(error) if tries == 0 || error.kind() != ErrorKind::AddrInUse => {
                    return Err(format!("--port: {}: {error}", options.port));
                }
                Err(_) => {}
            }
        }
    }

    /// The port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Receives until the flows have ended, or until another end that was chosen, or the user's request.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn run(self, stop: &mut Stop<'_>) -> io::Result<ReceiveReport> {
        let start = now();
        let udp = UdpFlows::new(self.measures, wait::boot());
        let mut state = State {
            of: self,
            connections: Vec::new(),
            tcp: Vec::new(),
            udp,
            last_byte: None,
            overflowed: if cfg!(target_os = "linux") { Some(0) } else { None },
            deaf_until: 0,
            buffer: vec![0; READ.max(MOST)],
        };
        loop {
            let now = now();
            let until = state.until(start, now);
            if until <= now || stop.due(now) {
                break;
            }
            state.step(stop, until)?;
        }
        Ok(state.report(start, now(), stop.requested))
    }
}

/// Sockets at a port, and the port.
fn listen(port: u16) -> io::Result<(TcpListener, UdpSocket, u16)> {
    let (tcp, _) = bound(SocketType::STREAM, port)?;
    net::listen(&tcp, MOST_FLOWS as i32)?;
    let tcp = TcpListener::from(tcp);
    let port = tcp.local_addr()?.port();
    let (udp, over_6) = bound(SocketType::DGRAM, port)?;
    let udp = UdpSocket::from(udp);
    sys::note_tos(&udp, over_6);
    _ = sockopt::set_socket_recv_buffer_size(&udp, ROOM);
    tcp.set_nonblocking(true)?;
    Ok((tcp, udp, port))
}

/// A socket for both families, or for IPv4 where there is no IPv6; true: for both.
fn bound(kind: SocketType, port: u16) -> io::Result<(OwnedFd, bool)> {
    let make = |family, address: SocketAddr| -> io::Result<OwnedFd> {
        let socket = net::socket(family, kind, None)?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
        if kind == SocketType::STREAM {
            sockopt::set_socket_reuseaddr(&socket, true)?;
        }
        if family == AddressFamily::INET6 {
            sockopt::set_ipv6_v6only(&socket, false)?;
        }
        net::bind(&socket, &address)?;
        Ok(socket)
    };
    match make(AddressFamily::INET6, (Ipv6Addr::UNSPECIFIED, port).into()) {
        Err(error) if error.kind() != ErrorKind::AddrInUse && error.kind() != ErrorKind::PermissionDenied => {
            make(AddressFamily::INET, (Ipv4Addr::UNSPECIFIED, port).into()).map(|socket| (socket, false))
        }
        made => made.map(|socket| (socket, true)),
    }
}

/// A receiver at work.
struct State {
    of: Receiver,
    connections: Vec<Connection>,
    tcp: Vec<TcpFlow>,
    udp: UdpFlows,
    last_byte: Option<u64>,
    overflowed: Option<u64>,
    /// The time from which on connections are accepted again.
    deaf_until: u64,
    buffer: Vec<u8>,
}

impl State {
    /// The time at which it ends if nothing more arrives.
    fn until(&self, start: u64, now: u64) -> u64 {
        let options = &self.of.options;
        let limit = options.run_for.map_or(NEVER, |span| start.saturating_add(span.0));
        let idle = options.idle.zip(self.last_byte).map_or(NEVER, |(span, last)| last.saturating_add(span.0));
        let tcp = self.tcp.iter().filter(|flow| flow.over).map(|_| now);
        let mut over: Vec<u64> = tcp.chain(self.udp.flows.iter().filter_map(UdpFlow::over_at)).collect();
        over.sort_unstable();
        let ended = over.get(options.flows - 1).copied().unwrap_or(NEVER);
        limit.min(idle).min(ended)
    }

    /// True if there is room for one more connection: those of strangers, which say nothing, keep nobody out.
    fn accepts(&self) -> bool {
        let active = self.connections.iter().filter(|connection| connection.flow.is_some()).count();
        active < self.of.options.flows
            && self.connections.len() < MOST_FLOWS
            && self.tcp.len() < MOST_FLOWS
            && now() >= self.deaf_until
    }

    /// Waits until something is there or until a time, and receives what is there.
    fn step(&mut self, stop: &mut Stop<'_>, until: u64) -> io::Result<()> {
        let accepts = self.accepts();
        let connections = self.connections.iter().map(|connection| connection.stream.as_fd());
        let listener = accepts.then_some(self.of.tcp.as_fd());
        let mut ready: Vec<PollFd<'_>> = [self.of.udp.as_fd()]
            .into_iter()
            .chain(connections)
            .chain(listener)
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        let until = if self.deaf_until > now() { until.min(self.deaf_until) } else { until };
        if !stop.poll(&mut ready, until)? {
            return Ok(());
        }
        let ready: Vec<bool> = ready.iter().map(|of| !of.revents().is_empty()).collect();
        if ready[0] {
            self.read_datagrams()?;
        }
        let before = self.connections.len();
        for number in 0..before {
            if ready[1 + number] {
                self.read_connection(number);
            }
        }
        if accepts && ready[1 + before] {
            self.accept();
        }
        self.connections.retain(|connection| connection.open);
        Ok(())
    }

    fn read_datagrams(&mut self) -> io::Result<()> {
        for _ in 0..TURN {
            let received = match sys::receive(&self.of.udp, &mut self.buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A signal, or a message about another datagram.
                Err(error) if error.kind() == ErrorKind::Interrupted || is_transient(&error) => continue,
                Err(error) => return Err(error),
            };
            let at = now();
            let payload = &self.buffer[..received.length];
            let marked = received.tos & 3 == 3;
            let of_flow = self.udp.note(&Datagram { payload, from: received.from, at, marked });
            if of_flow {
                self.last_byte = Some(at);
            }
            self.overflowed = received.overflowed.or(self.overflowed);
        }
        Ok(())
    }

    fn read_connection(&mut self, number: usize) {
        let connection = &mut self.connections[number];
        for _ in 0..TURN {
            let length = match connection.stream.read(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => {
                    connection.open = false;
                    if let Some(flow) = connection.flow {
                        self.tcp[flow].over = true;
                    }
                    return;
                }
            };
            if length == 0 {
                connection.open = false;
                if let Some(flow) = connection.flow {
                    self.tcp[flow].over = true;
                    self.tcp[flow].ended = true;
                }
                return;
            }
            let at = now();
            self.last_byte = Some(at);
            let flow = *connection.flow.get_or_insert(self.tcp.len());
            if flow == self.tcp.len() {
                let arrivals = Arrivals::new(self.of.measures);
                self.tcp.push(TcpFlow { from: connection.from, arrivals, over: false, ended: false });
            }
            self.tcp[flow].arrivals.note(at, length as u64);
        }
    }

    fn accept(&mut self) {
        match self.of.tcp.accept() {
            Ok((stream, from)) if stream.set_nonblocking(true).is_ok() => {
                let from = SocketAddr::new(from.ip().to_canonical(), from.port());
                self.connections.push(Connection { stream, from, flow: None, open: true });
            }
            Err(error) if error.kind() != ErrorKind::WouldBlock => self.deaf_until = now() + DEAF,
            // One that is gone already.
            _ => {}
        }
    }

    fn report(self, start: u64, end: u64, interrupted: bool) -> ReceiveReport {
        let measured = |arrivals: Arrivals, from: SocketAddr, ended, packets| FlowReport {
            from: from.to_string(),
            bytes: arrivals.bytes,
            first_and_last_s: arrivals.first_and_last.map(|(first, last)| {
                (seconds(first.saturating_sub(start)), seconds(last.saturating_sub(start)))
            }),
            goodput_kbps: arrivals.goodput_kbps(),
            window_goodput_kbps: arrivals.window_goodput_kbps(ended, end),
            ended,
            intervals: self.of.measures.every.map(|_| arrivals.intervals),
            packets,
        };
        let tcp = self.tcp.into_iter().map(|flow| measured(flow.arrivals, flow.from, flow.ended, None));
        let udp = self.udp.flows.into_iter().map(|flow| {
            let delays = [flow.delays.quantile(50), flow.delays.quantile(99), flow.delays.longest()];
            let packets = Packets {
                received: flow.sequences.received,
                lost: flow.lost(),
                duplicated: flow.sequences.duplicated,
                reordered: flow.sequences.reordered,
                too_late: flow.sequences.too_late,
                marked: flow.marked,
                delays: flow.delays.longest().map(|_| delays.map(|delay| seconds(delay.unwrap_or(0)))),
            };
            measured(flow.arrivals, flow.from, flow.end.is_some(), Some(packets))
        });
        ReceiveReport {
            port: self.of.port,
            start_monotonic_s: seconds(start),
            wall_s: seconds(end - start),
            every_s: self.of.measures.every.map(seconds),
            flows: tcp.chain(udp).collect(),
            ignored: self.udp.ignored,
            too_many: self.udp.too_many,
            overflowed: self.overflowed,
            interrupted,
        }
    }
}

/// True for errors of earlier packets, which a socket reports instead of the next one.
fn is_transient(error: &io::Error) -> bool {
    is_of_path(error) || error.kind() == ErrorKind::InvalidData
}

/// True for errors of a path, or of the host at its end: nobody listens, or nothing leads there.
pub(crate) fn is_of_path(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
    )
}

/// Nanoseconds in seconds.
pub(crate) fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
