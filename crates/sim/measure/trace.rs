//! The frame trace: what happened on the air and in the queues, told so that one can follow why a frame was lost.

use std::fmt::Write as _;

use airfair_units::Time;

use crate::air::{BROADCAST, FrameKind, Loss, Mode};

/// What happened, with its time in ns.
pub type Trace = Vec<(u64, Record)>;

/// A frame as the trace shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameView {
    /// Running number.
    pub number: u32,
    /// What it is.
    pub kind: FrameKind,
    /// Its mode.
    pub mode: Mode,
    /// Station that sends it.
    pub sender: u32,
    /// Station that it is for.
    pub receiver: u32,
    /// Handle of its packet.
    pub packet: u64,
    /// PSDU bytes.
    pub bytes: u32,
    /// First bit, ns.
    pub start: u64,
    /// Last bit, ns.
    pub end: u64,
    /// Duration field, us.
    pub nav_us: u32,
    /// Sequence number.
    pub sequence: u16,
    /// Retry bit.
    pub retry: bool,
}

/// What a receiver got of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Signal {
    /// Its power, aW; 0: it did not reach the receiver.
    pub power: u64,
    /// The interference that it met at worst, aW, if the receiver was locked on it to its end.
    pub interference: Option<u64>,
    /// How long it was on its way, ns.
    pub delay: u32,
}

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A frame goes on the air.
    Start {
        /// The frame.
        frame: FrameView,
    },
    /// It was received.
    Received {
        /// The frame.
        frame: FrameView,
        /// Where.
        at: u32,
        /// How strong.
        signal: Signal,
    },
    /// A station that is monitored has come to the end of a frame for another one.
    Overheard {
        /// The frame.
        frame: FrameView,
        /// Where.
        at: u32,
        /// How strong.
        signal: Signal,
        /// Why it was not received, if it was not.
        loss: Option<Loss>,
    },
    /// It was lost at a station that it was for.
    Lost {
        /// The frame.
        frame: FrameView,
        /// Where.
        at: u32,
        /// Why.
        loss: Loss,
        /// How strong.
        signal: Signal,
    },
    /// An RTS is not answered: the NAV is set.
    CtsWithheld {
        /// Who keeps silent.
        at: u32,
        /// Who asked.
        to: u32,
        /// Until when the NAV lasts, ns.
        nav_until: u64,
    },
    /// CTS or ACK did not come.
    NoResponse {
        /// Who waited.
        at: u32,
        /// For whom.
        to: u32,
        /// For a CTS; otherwise for an ACK.
        cts: bool,
        /// Attempts that have failed.
        attempts: u32,
        /// The contention window from now on.
        cw: u32,
        /// The packet is given up.
        given_up: bool,
    },
    /// A packet is given up after too many attempts.
    GivenUp {
        /// Where.
        at: u32,
        /// Its handle.
        packet: u64,
    },
    /// A packet is dropped by a node.
    Dropped {
        /// Where.
        node: u32,
        /// Its flow, if it has one.
        flow: Option<u32>,
        /// Its handle.
        packet: u64,
        /// What it is.
        content: Content,
        /// Its number within the flow, or the byte that it begins with or acknowledges.
        sequence: u32,
        /// Why.
        reason: &'static str,
    },
    /// A packet has reached its destination.
    Delivered {
        /// Where.
        node: u32,
        /// Its flow, if it has one.
        flow: Option<u32>,
        /// Its handle.
        packet: u64,
        /// What it is.
        content: Content,
        /// Its number within the flow, or the byte that it begins with or acknowledges.
        sequence: u32,
        /// How long it took, ns.
        delay: u64,
    },
    /// TCP's sender believes that something is lost, or that the path is congested.
    Tcp {
        /// Where.
        node: u32,
        /// Its flow.
        flow: u32,
        /// What made it believe so.
        cause: TcpCause,
        /// The first byte that is not acknowledged.
        sequence: u32,
        /// The window from now on, bytes.
        window: u64,
        /// The retransmission time-out from now on, ns.
        rto: u64,
    },
}

/// What a packet is, in the words of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A packet with a number.
    Packet,
    /// Data of TCP, by their first byte.
    Data,
    /// A segment of TCP without data, by the byte that it expects.
    Ack,
    /// TCP's first segment.
    Syn,
    /// The answer to it.
    SynAck,
    /// A FIN without data.
    Fin,
}

impl Content {
    /// Itself, with its number where one tells it from others.
    fn tell(self, sequence: u32) -> String {
        match self {
            Self::Packet => format!("packet {sequence}"),
            Self::Data => format!("data from byte {sequence}"),
            Self::Ack => format!("ACK {sequence}"),
            Self::Syn => "SYN".to_string(),
            Self::SynAck => "SYN-ACK".to_string(),
            Self::Fin => "FIN".to_string(),
        }
    }
}

/// Why TCP's sender slows down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpCause {
    /// The retransmission timer expired.
    Timeout,
    /// Duplicate acknowledgements or SACK told of a loss.
    FastLoss,
    /// The receiver echoed a mark.
    Mark,
    /// Routers of the path do not speak the flow's scheme: it follows TCP's law from now on.
    Fallback,
    /// Too many time-outs in a row, or SYNs without an answer: the connection has failed.
    GaveUp,
}

/// Names that the story uses.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Of stations.
    pub stations: Vec<String>,
    /// Node of each station.
    pub node_of_station: Vec<u32>,
    /// Of nodes.
    pub nodes: Vec<String>,
    /// Of flows.
    pub flows: Vec<String>,
}

impl Names {
    fn station(&self, station: u32) -> &str {
        if station == BROADCAST.0 {
            return "everybody";
        }
        self.stations.get(station as usize).map_or("?", String::as_str)
    }

    fn node(&self, node: u32) -> &str {
        self.nodes.get(node as usize).map_or("?", String::as_str)
    }

    fn flow(&self, flow: Option<u32>) -> &str {
        flow.and_then(|f| self.flows.get(f as usize)).map_or("control", String::as_str)
    }

    /// Whether a record concerns a node.
    #[must_use]
    pub fn concerns(&self, record: &Record, node: u32) -> bool {
        let is = |station: u32| self.node_of_station.get(station as usize) == Some(&node);
        match *record {
            Record::Start { frame } => is(frame.sender) || is(frame.receiver),
            Record::Received { frame, at, .. } | Record::Lost { frame, at, .. } => is(at) || is(frame.sender),
            Record::Overheard { at, .. } => is(at),
            Record::CtsWithheld { at, to, .. } | Record::NoResponse { at, to, .. } => is(at) || is(to),
            Record::GivenUp { at, .. } => is(at),
            Record::Dropped { node: n, .. }
            | Record::Delivered { node: n, .. }
            | Record::Tcp { node: n, .. } => n == node,
        }
    }

    /// One line of the story, without a line feed; none for what another line says.
    #[must_use]
    pub fn tell(&self, at: u64, record: &Record) -> Option<String> {
        let mut line = format!("{:>14.9} s  ", Time(at).as_secs_f64());
        let _ = match *record {
            Record::Start { frame: f } => {
                let packet = if f.retry { " again" } else { "" };
                write!(
                    line,
                    "{:<8} sends {} #{}{packet} to {}: {} B at {}, {} us on the air, reserves {} us",
                    self.station(f.sender),
                    f.kind.name(),
                    f.number,
                    self.station(f.receiver),
                    f.bytes,
                    f.mode.rate(),
                    (f.end - f.start) / 1000,
                    f.nav_us
                )
            }
            Record::Overheard { frame: f, at, loss, .. } => {
                write!(
                    line,
                    "{:<8} overhears {} #{} from {}{}",
                    self.station(at),
                    f.kind.name(),
                    f.number,
                    self.station(f.sender),
                    if loss.is_some() { ", with errors" } else { "" }
                )
            }
            Record::Received { frame: f, at, .. } => {
                write!(
                    line,
                    "{:<8} receives {} #{} from {}",
                    self.station(at),
                    f.kind.name(),
                    f.number,
                    self.station(f.sender)
                )
            }
            Record::Lost { frame: f, at, loss, .. } => {
                let _ = write!(
                    line,
                    "{:<8} LOSES {} #{} from {}: ",
                    self.station(at),
                    f.kind.name(),
                    f.number,
                    self.station(f.sender)
                );
                match loss {
                    Loss::OutOfReach => write!(line, "it is out of reach"),
                    Loss::Transmitting => write!(line, "it was transmitting itself"),
                    Loss::LockedOn(n) => write!(line, "its receiver was busy with #{n}"),
                    Loss::PreambleDrowned => write!(line, "the preamble was drowned by other signals"),
                    Loss::LockTaken(n) => write!(line, "#{n} took the receiver away"),
                    Loss::LockAborted => write!(line, "it began to transmit before the end"),
                    Loss::TooWeak => write!(line, "it was too weak for its rate"),
                    Loss::Interference(None) => write!(line, "drowned by interference that was there before"),
                    Loss::Interference(Some(n)) => {
                        write!(line, "drowned by interference, at worst when #{n} joined in")
                    }
                    Loss::Noise => write!(line, "noise"),
                }
            }
            Record::CtsWithheld { at, to, nav_until } => write!(
                line,
                "{:<8} does not answer the RTS of {}: its NAV is set until {:.9} s",
                self.station(at),
                self.station(to),
                Time(nav_until).as_secs_f64()
            ),
            Record::NoResponse { at, to, cts, attempts, cw, given_up } => write!(
                line,
                "{:<8} gets no {} from {} ({attempts} failed), {}",
                self.station(at),
                if cts { "CTS" } else { "ACK" },
                self.station(to),
                if given_up { "gives up".to_string() } else { format!("backs off within {cw} slots") }
            ),
            // That no response came has said so, and what becomes of the packet is said where it is dropped.
            Record::GivenUp { .. } => return None,
            Record::Dropped { node, flow, content, sequence, reason, .. } => write!(
                line,
                "{:<8} drops {} of {}: {reason}",
                self.node(node),
                content.tell(sequence),
                self.flow(flow)
            ),
            Record::Delivered { node, flow, content, sequence, delay, .. } => write!(
                line,
                "{:<8} delivers {} of {} after {:.6} s",
                self.node(node),
                content.tell(sequence),
                self.flow(flow),
                Time(delay).as_secs_f64()
            ),
            Record::Tcp { node, flow, cause, sequence, window, rto } => {
                let _ = write!(
                    line,
                    "{:<8} TCP of {}: {} for byte {sequence}",
                    self.node(node),
                    self.flow(Some(flow)),
                    match cause {
                        TcpCause::Timeout => "TIME-OUT",
                        TcpCause::FastLoss => "LOSS told by acknowledgements",
                        TcpCause::Mark => "MARK echoed",
                        TcpCause::Fallback => "FALLBACK to TCP's law, a router does not speak the scheme,",
                        TcpCause::GaveUp => "GIVES UP after too many time-outs",
                    }
                );
                match cause {
                    TcpCause::GaveUp => Ok(()),
                    _ => {
                        write!(line, ", window {window} B, next time-out in {:.3} s", Time(rto).as_secs_f64())
                    }
                }
            }
        };
        Some(line)
    }
}
