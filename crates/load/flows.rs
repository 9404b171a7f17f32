//! The flows of datagrams that have arrived at a port. Anybody may send there: at most [`MOST_FLOWS`] flows are kept, each in bounded
//! memory, and the work for a datagram is bounded.

use std::net::SocketAddr;

use crate::arrivals::{Arrivals, Measures};
use crate::datagram::{Header, Kind};
use crate::delays::Delays;
use crate::sequences::{Arrived, Sequences};

/// Flows that are kept, of each transport.
pub const MOST_FLOWS: usize = 64;

/// Time in which packets that were overtaken by the end of their flow are still counted, nanoseconds.
pub const GRACE: u64 = 500_000_000;

/// A datagram as a socket gives it.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    /// The payload.
    pub payload: &'a [u8],
    /// The sender's address.
    pub from: SocketAddr,
    /// The time of the arrival, nanoseconds.
    pub at: u64,
    /// True if a queue on the path has marked it (CE).
    pub marked: bool,
}

/// A flow of datagrams.
#[derive(Debug, Clone)]
pub struct UdpFlow {
    /// The sender's address.
    pub from: SocketAddr,
    /// The flow's random number.
    pub run: u64,
    /// Bytes, without those of duplicates.
    pub arrivals: Arrivals,
    /// Sequence numbers.
    pub sequences: Sequences,
    /// Delays from sender to receiver, where both have one clock.
    pub delays: Delays,
    /// Packets with CE, without duplicates.
    pub marked: u64,
    /// The number of packets that were sent, and the time at which the end arrived.
    pub end: Option<(u64, u64)>,
}

impl UdpFlow {
    /// Packets that were lost, as far as is known.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.sequences.lost(self.end.map(|(total, _)| total))
    }

    /// The time from which on nothing more is expected; none while the flow goes on.
    #[must_use]
    pub fn over_at(&self) -> Option<u64> {
        let (_, at) = self.end?;
        Some(if self.lost() == 0 { at } else { at.saturating_add(GRACE) })
    }
}

/// The flows of a port.
#[derive(Debug, Clone)]
pub struct UdpFlows {
    measures: Measures,
    /// A hash of this machine's boot id, or 0.
    boot: u64,
    /// The flows, by their first datagrams.
    pub flows: Vec<UdpFlow>,
    /// The flow of the last datagram.
    last: usize,
    /// Datagrams of another format.
    pub ignored: u64,
    /// Datagrams of flows for which there was no room.
    pub too_many: u64,
}

impl UdpFlows {
    /// None yet. `boot` is a hash of this machine's boot id, or 0.
    #[must_use]
    pub const fn new(measures: Measures, boot: u64) -> Self {
        Self { measures, boot, flows: Vec::new(), last: 0, ignored: 0, too_many: 0 }
    }

    /// Counts a datagram. True if it was a packet of a flow.
    pub fn note(&mut self, datagram: &Datagram<'_>) -> bool {
        let Some(header) = Header::decode(datagram.payload) else {
            self.ignored += 1;
            return false;
        };
        if header.kind == Kind::Probe {
            return false;
        }
        let Some(boot) = self.find(&header, datagram.from).map(|number| {
            self.last = number;
            self.boot
        }) else {
            self.too_many += 1;
            return false;
        };
        let flow = &mut self.flows[self.last];
        if header.kind == Kind::End {
            flow.end = flow.end.or(Some((header.sequence, datagram.at)));
            return false;
        }
        if flow.sequences.note(header.sequence) != Arrived::New {
            return false;
        }
        flow.arrivals.note(datagram.at, datagram.payload.len() as u64);
        flow.marked += u64::from(datagram.marked);
        if boot != 0
            && header.boot == boot
            && let Some(delay) = datagram.at.checked_sub(header.sent_at)
        {
            flow.delays.note(delay);
        }
        true
    }

    /// The number of a datagram's flow, which is made if it is new; none if there is no room.
    fn find(&mut self, header: &Header, from: SocketAddr) -> Option<usize> {
        let is_it = |flow: &UdpFlow| flow.run == header.run && flow.from == from;
        if self.flows.get(self.last).is_some_and(is_it) {
            return Some(self.last);
        }
        if let Some(number) = self.flows.iter().position(is_it) {
            return Some(number);
        }
        if self.flows.len() == MOST_FLOWS {
            return None;
        }
        self.flows.push(UdpFlow {
            from,
            run: header.run,
            arrivals: Arrivals::new(self.measures),
            sequences: Sequences::default(),
            delays: Delays::default(),
            marked: 0,
            end: None,
        });
        Some(self.flows.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use airfair_units::random::{Purpose, Stream};

    use super::*;
    use crate::datagram::HEADER;

    fn from(port: u16) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, port).into()
    }

    /// Random and mutated datagrams: none panics, memory stays bounded, and the true flow's counts are exact beside them.
    #[test]
    fn a_hundred_thousand_hostile_datagrams() {
        let every = Measures { window: None, every: Some(1_000_000) };
        let mut flows = UdpFlows::new(every, 5);
        let mut random = Stream::new(7, "hostile", Purpose::Source);
        let mut next = 0;
        for at in 0..100_000u64 {
            let mut bytes = [0u8; 64];
            let header = Header { kind: Kind::Data, run: 1, sequence: next, sent_at: at, boot: 5 };
            bytes[..HEADER].copy_from_slice(&header.encode());
            if at % 4 == 0 {
                flows.note(&Datagram { payload: &bytes, from: from(1), at, marked: false });
                next += 1;
                continue;
            }
            if at % 4 == 1 {
                bytes.iter_mut().for_each(|byte| *byte = random.below(256) as u8);
            }
            for _ in 0..random.below(4) {
                bytes[random.below(64) as usize] ^= 1 << random.below(8);
            }
            let length = if random.below(3) == 0 { random.below(65) as usize } else { 64 };
            flows.note(&Datagram {
                payload: &bytes[..length],
                from: from(2),
                at: u64::from(random.below(u32::MAX)) << 32,
                marked: true,
            });
        }
        assert_eq!(flows.flows.len(), MOST_FLOWS);
        assert!(flows.ignored > 30_000 && flows.too_many > 100, "{} {}", flows.ignored, flows.too_many);
        assert!(
            flows.flows.iter().all(|flow| flow.arrivals.intervals.len() <= crate::arrivals::MOST_INTERVALS)
        );
        let own = &flows.flows[0];
        assert_eq!((own.run, own.sequences.received, own.arrivals.bytes), (1, 25_000, 25_000 * 64));
        assert_eq!((own.lost(), own.sequences.duplicated, own.sequences.reordered, own.marked), (0, 0, 0, 0));
    }

    #[test]
    fn an_end_that_overtakes_packets_leaves_them_time() {
        let mut flows = UdpFlows::new(Measures::default(), 0);
        let mut note = |kind, sequence, at| {
            let payload = Header { kind, run: 1, sequence, sent_at: 0, boot: 0 }.encode();
            flows.note(&Datagram { payload: &payload, from: from(1), at, marked: true });
            flows.flows[0].clone()
        };
        assert_eq!(note(Kind::Data, 0, 10).over_at(), None);
        assert_eq!(note(Kind::End, 2, 11).over_at(), Some(11 + GRACE));
        assert_eq!(note(Kind::End, 9, 12).end, Some((2, 11)));
        let flow = note(Kind::Data, 1, 12);
        assert_eq!((flow.over_at(), flow.lost(), flow.marked), (Some(11), 0, 2));
        assert_eq!(flow.delays.longest(), None);
    }
}
