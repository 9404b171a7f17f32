//! Records as lines of text: time, station or node, and the event in words.

use airfair_schemes::places::Holding;
use airfair_units::Time;

use crate::ids::{FlowIx, NodeIx, StationIx};
use crate::record::{Announced, Content, FrameView, Loss, Names, Record, TcpCause};

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

impl Loss {
    /// The cause of a loss as a clause.
    fn text(self) -> String {
        match self {
            Self::OutOfReach => "it is out of reach".to_string(),
            Self::Transmitting => "it was transmitting itself".to_string(),
            Self::LockedOn(n) => format!("its receiver was busy with #{n}"),
            Self::PreambleDrowned => "the preamble was drowned by other signals".to_string(),
            Self::PreambleInNoise => "the preamble was drowned by noise".to_string(),
            Self::LockTaken(n) => format!("the receiver locked on #{n} instead"),
            Self::LockAborted => "it began to transmit before the end".to_string(),
            Self::TooWeak => "it was too weak for its rate".to_string(),
            Self::Interference(None) => "drowned by interference that had begun before the frame".to_string(),
            Self::Interference(Some(n)) => {
                format!("drowned by interference, strongest after the start of #{n}")
            }
            Self::Noise => "noise".to_string(),
        }
    }
}

impl TcpCause {
    /// The event at a TCP sender, before the byte that it concerns.
    const fn text(self) -> &'static str {
        match self {
            Self::Timeout => "TIME-OUT",
            Self::FastLoss => "LOSS indicated by acknowledgements",
            Self::Mark => "MARK echoed",
            Self::Fallback => "FALLBACK to TCP's law, a router does not support the scheme,",
            Self::GaveUp => "GIVES UP after too many time-outs",
        }
    }
}

/// The frame that answers an RTS or a data frame.
const fn response(cts: bool) -> &'static str {
    if cts { "CTS" } else { "ACK" }
}

/// The consequence of a failed attempt.
fn consequence(given_up: bool, cw: u32) -> String {
    if given_up { "gives up".to_string() } else { format!("backs off within {cw} slots") }
}

impl Names {
    /// A record as a line of text, without a line feed; none if another line contains it.
    #[must_use]
    pub fn line(&self, at: Time, record: &Record) -> Option<String> {
        let (subject, event) = self.on_the_air(record).or_else(|| self.above_the_air(record))?;
        Some(format!("{:>14.9} s  {subject:<8} {event}", at.as_secs_f64()))
    }

    /// An event of the medium or the MAC: its station, and the event in words.
    fn on_the_air(&self, record: &Record) -> Option<(&str, String)> {
        Some(match *record {
            Record::Start { frame } => (self.station(frame.sender), self.start(&frame)),
            Record::Overheard { frame, at, loss, .. } => {
                let errors = if loss.is_some() { ", with errors" } else { "" };
                (self.station(at), format!("overhears {}{errors}", self.frame(&frame)))
            }
            Record::Received { frame, at, .. } => {
                (self.station(at), format!("receives {}", self.frame(&frame)))
            }
            Record::Lost { frame, at, loss, .. } => {
                (self.station(at), format!("LOSES {}: {}", self.frame(&frame), loss.text()))
            }
            Record::CtsWithheld { at, to, nav_until } => {
                let (to, until) = (self.station(to), nav_until.as_secs_f64());
                let event = format!("does not answer the RTS of {to}: its NAV is set until {until:.9} s");
                (self.station(at), event)
            }
            Record::NoResponse { at, to, cts, attempts, cw, given_up } => {
                let (response, to) = (response(cts), self.station(to));
                let then = consequence(given_up, cw);
                (
                    self.station(at),
                    format!("receives no {response} from {to} in time ({attempts} failed), {then}"),
                )
            }
            Record::LateResponse { at, from, cts, number } => {
                let (response, from) = (response(cts), self.station(from));
                let event = format!("ignores {response} #{number} from {from}: it came after the time-out");
                (self.station(at), event)
            }
            Record::InternalCollision { at, category, winner, attempts, cw, given_up } => {
                let name = |category| self.category(at, Some(category)).unwrap_or("?");
                let (loser, winner, then) = (name(category), name(winner), consequence(given_up, cw));
                let event = format!("category {loser} loses access to {winner} ({attempts} failed), {then}");
                (self.station(at), event)
            }
            _ => return None,
        })
    }

    /// An event of a queue, a flow or a sender: its node, and the event in words.
    fn above_the_air(&self, record: &Record) -> Option<(&str, String)> {
        Some(match *record {
            Record::Dropped { node, flow, content, sequence, reason, .. } => {
                let (content, flow) = (content.text(sequence), self.flow(flow));
                (self.node(node), format!("drops {content} of {flow}: {reason}"))
            }
            Record::Delivered { node, flow, content, sequence, delay, .. } => {
                let (content, flow) = (content.text(sequence), self.flow(flow));
                let after = delay.as_secs_f64();
                (self.node(node), format!("delivers {content} of {flow} after {after:.6} s"))
            }
            Record::Held { node, flow, holding: Holding { batch, packets, of, .. } } => {
                let flow = self.flow(Some(flow));
                (self.node(node), format!("holds {packets} of {of} of batch {batch} of {flow}"))
            }
            Record::Tcp { node, flow, cause, sequence, window, rto } => {
                let (flow, what) = (self.flow(Some(flow)), cause.text());
                let next = match cause {
                    TcpCause::GaveUp => String::new(),
                    _ => {
                        format!(", window {} B, next time-out in {:.3} s", window.0, rto.as_secs_f64())
                    }
                };
                (self.node(node), format!("TCP of {flow}: {what} for byte {sequence}{next}"))
            }
            // The missing response and the drop of the packet have lines of their own.
            Record::GivenUp { .. } => return None,
            // Their consequences have lines of their own.
            Record::Made { .. }
            | Record::Routed { .. }
            | Record::Compared { .. }
            | Record::OnWire { .. }
            | Record::SenderRan { .. } => return None,
            // On the air.
            Record::Start { .. }
            | Record::Overheard { .. }
            | Record::Received { .. }
            | Record::Lost { .. }
            | Record::CtsWithheld { .. }
            | Record::NoResponse { .. }
            | Record::LateResponse { .. }
            | Record::InternalCollision { .. } => return None,
        })
    }

    /// The start of a frame.
    fn start(&self, f: &FrameView) -> String {
        let again = if f.retry { " again" } else { "" };
        let category = self.category(f.sender, f.category);
        let category = category.map_or_else(String::new, |name| format!(" in {name}"));
        let announced = f.announced.map_or_else(String::new, |Announced { queue, destination }| {
            format!(" (queue {queue} of {})", self.node(destination))
        });
        format!(
            "sends {} #{}{again}{category}{}{announced} to {}: {} B at {}, {} us on the air, reserves {} us",
            f.kind.name(),
            f.number,
            self.carried(f),
            f.receiver.map_or("all", |receiver| self.station(receiver)),
            f.bytes,
            f.mode.rate(),
            f.end.since(f.start).as_nanos() / 1000,
            f.nav_us
        )
    }

    /// A frame at a receiver: "DATA #7 (batch 32 of f) from a1".
    fn frame(&self, f: &FrameView) -> String {
        format!("{} #{}{} from {}", f.kind.name(), f.number, self.carried(f), self.station(f.sender))
    }

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
}
