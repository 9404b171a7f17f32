//! Frame trace: events on the air and in the queues as text, so that a reader can follow why a frame was lost.

use std::fmt::Write as _;

use airfair_schemes::places::Holding;
use airfair_units::Time;

use super::{Observer, WorldView, describe};
use crate::ids::{FlowIx, NodeIx, StationIx};
use crate::record::{Announced, Content, FrameKind, FrameView, Loss, Names, Record, TcpCause, Trace};

/// Records of a trace that were not returned yet.
#[derive(Debug, Default)]
pub(crate) struct Tracer(Trace);

impl Observer for Tracer {
    fn record(&mut self, at: Time, record: &Record, world: &WorldView<'_>) {
        let mut record = *record;
        if let Record::Start { frame }
        | Record::Received { frame, .. }
        | Record::Overheard { frame, .. }
        | Record::Lost { frame, .. } = &mut record
            && matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast)
        {
            frame.messages = describe::messages(world.network, frame.packet);
            frame.forwarded = describe::batch(world.network, frame.packet);
        }
        if let Record::Start { frame } = &mut record
            && frame.kind == FrameKind::Data
        {
            // The sender's copy keeps the header as it was written until the packet is acknowledged: retries announce the same.
            let mut held = world.air.held(frame.sender);
            let sent = held.find(|msdu| msdu.packet == frame.packet);
            frame.announced = sent.and_then(|msdu| describe::announced(world.network, msdu.copy));
        }
        if record.is_traced() {
            self.0.push((at, record));
        }
    }
}

impl Tracer {
    /// Records since the last call, in order of time. Those from `settled` on are kept for the next call, since earlier ones may follow.
    pub(crate) fn take(&mut self, settled: Time) -> Trace {
        self.0.sort_by_key(|(at, record)| (*at, !record.is_of_the_air()));
        let young = self.0.split_off(self.0.partition_point(|r| r.0 < settled));
        std::mem::replace(&mut self.0, young)
    }
}

impl Content {
    /// Text of the content, with its number if it has one.
    fn text(self, sequence: u32) -> String {
        match self {
            Self::Packet => format!("packet {sequence}"),
            Self::Data => format!("data from byte {sequence}"),
            Self::Ack => format!("ACK {sequence}"),
            Self::Syn => "SYN".to_string(),
            Self::SynAck => "SYN-ACK".to_string(),
            Self::Fin => "FIN".to_string(),
            Self::Report => format!("feedback {sequence}"),
            Self::Messages(name) => messages_text(name),
        }
    }
}

/// Name of messages as standards write it: OLSR HELLO for `olsr-hello`.
fn messages_text(name: &str) -> String {
    name.replacen('-', " ", 1).to_uppercase()
}

impl Names {
    /// The contents of a frame beside packets of flows by routes: " (OLSR HELLO)", " (batch 32 of f)"; nothing for other frames.
    fn carried(&self, frame: &FrameView) -> String {
        match (frame.messages, frame.forwarded) {
            (Some(name), _) => format!(" ({})", messages_text(name)),
            (None, Some((flow, batch))) => format!(" (batch {batch} of {})", self.flow(Some(flow))),
            (None, None) => String::new(),
        }
    }

    fn station(&self, station: StationIx) -> &str {
        self.stations.get(station.ix()).map_or("?", String::as_str)
    }

    fn node(&self, node: NodeIx) -> &str {
        self.nodes.get(node.ix()).map_or("?", String::as_str)
    }

    fn flow(&self, flow: Option<FlowIx>) -> &str {
        flow.and_then(|f| self.flows.get(f.ix())).map_or("control", String::as_str)
    }

    /// A record as a line of text, without a line feed; none if another line contains it.
    #[must_use]
    pub fn line(&self, at: Time, record: &Record) -> Option<String> {
        let mut line = format!("{:>14.9} s  ", at.as_secs_f64());
        let _ = match *record {
            Record::Start { frame: f } => {
                let packet = if f.retry { " again" } else { "" };
                let category = self.category(f.sender, f.category);
                let category = category.map_or_else(String::new, |name| format!(" in {name}"));
                let announced = f.announced.map_or_else(String::new, |Announced { queue, destination }| {
                    format!(" (queue {queue} of {})", self.node(destination))
                });
                write!(
                    line,
                    "{:<8} sends {} #{}{packet}{category}{}{announced} to {}: {} B at {}, {} us on the air, reserves {} us",
                    self.station(f.sender),
                    f.kind.name(),
                    f.number,
                    self.carried(&f),
                    f.receiver.map_or("all", |receiver| self.station(receiver)),
                    f.bytes,
                    f.mode.rate(),
                    f.end.since(f.start).as_nanos() / 1000,
                    f.nav_us
                )
            }
            Record::Overheard { frame: f, at, loss, .. } => {
                write!(
                    line,
                    "{:<8} overhears {} #{}{} from {}{}",
                    self.station(at),
                    f.kind.name(),
                    f.number,
                    self.carried(&f),
                    self.station(f.sender),
                    if loss.is_some() { ", with errors" } else { "" }
                )
            }
            Record::Received { frame: f, at, .. } => {
                write!(
                    line,
                    "{:<8} receives {} #{}{} from {}",
                    self.station(at),
                    f.kind.name(),
                    f.number,
                    self.carried(&f),
                    self.station(f.sender)
                )
            }
            Record::Lost { frame: f, at, loss, .. } => {
                let _ = write!(
                    line,
                    "{:<8} LOSES {} #{}{} from {}: ",
                    self.station(at),
                    f.kind.name(),
                    f.number,
                    self.carried(&f),
                    self.station(f.sender)
                );
                match loss {
                    Loss::OutOfReach => write!(line, "it is out of reach"),
                    Loss::Transmitting => write!(line, "it was transmitting itself"),
                    Loss::LockedOn(n) => write!(line, "its receiver was busy with #{n}"),
                    Loss::PreambleDrowned => write!(line, "the preamble was drowned by other signals"),
                    Loss::PreambleInNoise => write!(line, "the preamble was drowned by noise"),
                    Loss::LockTaken(n) => write!(line, "the receiver locked on #{n} instead"),
                    Loss::LockAborted => write!(line, "it began to transmit before the end"),
                    Loss::TooWeak => write!(line, "it was too weak for its rate"),
                    Loss::Interference(None) => {
                        write!(line, "drowned by interference that had begun before the frame")
                    }
                    Loss::Interference(Some(n)) => {
                        write!(line, "drowned by interference, strongest after the start of #{n}")
                    }
                    Loss::Noise => write!(line, "noise"),
                }
            }
            Record::CtsWithheld { at, to, nav_until } => write!(
                line,
                "{:<8} does not answer the RTS of {}: its NAV is set until {:.9} s",
                self.station(at),
                self.station(to),
                nav_until.as_secs_f64()
            ),
            Record::NoResponse { at, to, cts, attempts, cw, given_up } => write!(
                line,
                "{:<8} receives no {} from {} in time ({attempts} failed), {}",
                self.station(at),
                if cts { "CTS" } else { "ACK" },
                self.station(to),
                if given_up { "gives up".to_string() } else { format!("backs off within {cw} slots") }
            ),
            Record::LateResponse { at, from, cts, number } => write!(
                line,
                "{:<8} ignores {} #{number} from {}: it came after the time-out",
                self.station(at),
                if cts { "CTS" } else { "ACK" },
                self.station(from)
            ),
            Record::InternalCollision { at, category, winner, attempts, cw, given_up } => {
                let name = |category| self.category(at, Some(category)).unwrap_or("?");
                write!(
                    line,
                    "{:<8} category {} loses access to {} ({attempts} failed), {}",
                    self.station(at),
                    name(category),
                    name(winner),
                    if given_up { "gives up".to_string() } else { format!("backs off within {cw} slots") }
                )
            }
            // The missing response and the drop of the packet have lines of their own.
            Record::GivenUp { .. } => return None,
            // Their consequences have lines of their own.
            Record::Made { .. }
            | Record::Routed { .. }
            | Record::Compared { .. }
            | Record::OnWire { .. }
            | Record::SenderRan { .. } => return None,
            Record::Dropped { node, flow, content, sequence, reason, .. } => write!(
                line,
                "{:<8} drops {} of {}: {reason}",
                self.node(node),
                content.text(sequence),
                self.flow(flow)
            ),
            Record::Delivered { node, flow, content, sequence, delay, .. } => write!(
                line,
                "{:<8} delivers {} of {} after {:.6} s",
                self.node(node),
                content.text(sequence),
                self.flow(flow),
                delay.as_secs_f64()
            ),
            Record::Held { node, flow, holding: Holding { batch, packets, of, .. } } => write!(
                line,
                "{:<8} holds {packets} of {of} of batch {batch} of {}",
                self.node(node),
                self.flow(Some(flow))
            ),
            Record::Tcp { node, flow, cause, sequence, window, rto } => {
                let _ = write!(
                    line,
                    "{:<8} TCP of {}: {} for byte {sequence}",
                    self.node(node),
                    self.flow(Some(flow)),
                    match cause {
                        TcpCause::Timeout => "TIME-OUT",
                        TcpCause::FastLoss => "LOSS indicated by acknowledgements",
                        TcpCause::Mark => "MARK echoed",
                        TcpCause::Fallback => "FALLBACK to TCP's law, a router does not support the scheme,",
                        TcpCause::GaveUp => "GIVES UP after too many time-outs",
                    }
                );
                match cause {
                    TcpCause::GaveUp => Ok(()),
                    _ => {
                        write!(line, ", window {} B, next time-out in {:.3} s", window.0, rto.as_secs_f64())
                    }
                }
            }
        };
        Some(line)
    }
}
