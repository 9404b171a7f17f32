//! Flows of the stacks, by their five-tuples.

use std::collections::BTreeMap;

use airfair_sim::ids::NodeIx;
use airfair_units::{Span, Time};
use airfair_wire::five_tuple::FiveTuple;
use airfair_wire::ip::Ip;
use airfair_wire::ipv4::{Fragment, Protocol};
use airfair_wire::tcp::Tcp;
use airfair_wire::udp::Udp;

/// Most flows that are told apart: a program that scans ports would fill the memory.
const MOST_FLOWS: usize = 1024;

/// The part of a packet that flows count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The flow.
    pub tuple: FiveTuple,
    /// Bytes of the application.
    pub payload: u32,
    /// TCP: the number of the first of them.
    sequence: Option<u32>,
    /// TCP: a connection begins.
    begins: bool,
}

impl Counted {
    /// Of an IP packet.
    #[must_use]
    pub fn of(packet: &Ip<'_>) -> Self {
        let tuple = FiveTuple::new(packet);
        let whole = packet.transport.len();
        let mut begins = false;
        let (payload, sequence) = match packet.protocol {
            Protocol::TCP if packet.fragment != Fragment::Later => match Tcp::decode(packet.transport) {
                Ok((header, payload)) => {
                    begins = header.flags.syn;
                    // A SYN takes a number of its own.
                    (payload.len(), Some(header.sequence.wrapping_add(u32::from(header.flags.syn))))
                }
                Err(_) => (0, None),
            },
            Protocol::UDP if packet.fragment != Fragment::Later => {
                (whole.saturating_sub(Udp::wire_len()), None)
            }
            _ => (whole, None),
        };
        Self { tuple, payload: payload as u32, sequence, begins }
    }
}

/// A flow in one direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Addresses, protocol and ports.
    pub tuple: FiveTuple,
    /// Source and destination.
    pub ends: [NodeIx; 2],
    /// Packets that the source's stack has sent.
    pub sent_packets: u64,
    /// Bytes of the application in them.
    pub sent_bytes: u64,
    /// Packets that have arrived at the destination's stack.
    pub arrived_packets: u64,
    /// Bytes of the application in them; of TCP those that had not arrived before.
    pub arrived_bytes: u64,
    /// The same, after the warm-up.
    pub measured_bytes: u64,
    /// Packets that have arrived with a congestion mark.
    pub marked_packets: u64,
    /// The first packet that the source has sent.
    pub first: Time,
    /// The last packet that has arrived.
    pub last: Option<Time>,
    /// TCP: the number after the highest that has arrived.
    next: Option<u32>,
}

/// All flows.
#[derive(Debug, Clone, Default)]
pub struct Flows {
    flows: Vec<Flow>,
    by_tuple: BTreeMap<FiveTuple, usize>,
    /// End of the warm-up.
    warmup: Time,
    /// Packets of flows beyond the number that is told apart.
    others: u64,
}

impl Flows {
    /// For a run with this warm-up.
    #[must_use]
    pub fn new(warmup: Time) -> Self {
        Self { warmup, ..Self::default() }
    }

    /// Flows in the order of their first packets.
    #[must_use]
    pub fn all(&self) -> &[Flow] {
        &self.flows
    }

    /// Packets of flows beyond the number that is told apart.
    #[must_use]
    pub const fn others(&self) -> u64 {
        self.others
    }

    /// The source's stack has sent a packet.
    pub fn sent(&mut self, of: &Counted, ends: [NodeIx; 2], now: Time) {
        let at = match self.by_tuple.get(&of.tuple) {
            Some(&at) => at,
            None if self.flows.len() >= MOST_FLOWS => {
                self.others += 1;
                return;
            }
            None => {
                self.by_tuple.insert(of.tuple, self.flows.len());
                self.flows.push(Flow {
                    tuple: of.tuple,
                    ends,
                    sent_packets: 0,
                    sent_bytes: 0,
                    arrived_packets: 0,
                    arrived_bytes: 0,
                    measured_bytes: 0,
                    marked_packets: 0,
                    first: now,
                    last: None,
                    next: None,
                });
                self.flows.len() - 1
            }
        };
        let flow = &mut self.flows[at];
        flow.sent_packets += 1;
        flow.sent_bytes += u64::from(of.payload);
    }

    /// A packet has arrived at the destination's stack.
    pub fn arrived(&mut self, of: &Counted, marked: bool, now: Time) {
        let Some(&at) = self.by_tuple.get(&of.tuple) else { return };
        let flow = &mut self.flows[at];
        if of.begins {
            // Ports that are used again have other numbers.
            flow.next = of.sequence;
        }
        let mut new = of.payload;
        if let Some(sequence) = of.sequence.filter(|_| of.payload > 0) {
            let end = sequence.wrapping_add(of.payload);
            let next = *flow.next.get_or_insert(sequence);
            // Numbers wrap; what is behind was there before, or fills a gap that was counted already.
            let ahead = end.wrapping_sub(next).cast_signed();
            new = ahead.max(0).cast_unsigned();
            if ahead > 0 {
                flow.next = Some(end);
            }
        }
        flow.arrived_packets += 1;
        flow.arrived_bytes += u64::from(new);
        flow.marked_packets += u64::from(marked);
        flow.last = Some(now);
        if now >= self.warmup {
            flow.measured_bytes += u64::from(new);
        }
    }

    /// Bits per second that have arrived between the warm-up and a time.
    #[must_use]
    pub fn goodput_bps(&self, flow: &Flow, until: Time) -> f64 {
        let Span(length) = until.since(self.warmup);
        if length == 0 { 0.0 } else { flow.measured_bytes as f64 * 8e9 / length as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    fn counted(sequence: u32, payload: u32) -> Counted {
        let address = |last| IpAddr::from(Ipv4Addr::new(10, 77, 0, last));
        let tuple = FiveTuple {
            source: address(1),
            destination: address(2),
            protocol: Protocol::TCP,
            source_port: 1,
            destination_port: 2,
        };
        Counted { tuple, payload, sequence: Some(sequence), begins: false }
    }

    /// Bytes count once, whatever is repeated, out of order, or beyond the largest number.
    #[test]
    fn bytes_of_tcp_count_once() {
        let mut flows = Flows::new(Time(0));
        let start = u32::MAX - 1500;
        for (number, payload) in
            [(0, 1000), (1000, 1000), (1000, 1000), (3000, 1000), (2000, 1000), (4000, 0)]
        {
            let of = counted(start.wrapping_add(number), payload);
            flows.sent(&of, [NodeIx(0), NodeIx(1)], Time(1));
            flows.arrived(&of, number == 0, Time(1_000_000));
        }
        let flow = &flows.all()[0];
        assert_eq!((flow.arrived_bytes, flow.arrived_packets, flow.sent_bytes), (4000, 6, 5000));
        assert_eq!(flow.marked_packets, 1);
        assert!((flows.goodput_bps(flow, Time(1_000_000)) - 32e6).abs() < 1e-9);
    }

    #[test]
    fn a_connection_from_the_same_port_begins_again() {
        let mut flows = Flows::default();
        for start in [5_000, 4_000_000_000, 100] {
            let first = Counted { begins: true, ..counted(start, 0) };
            for of in [first, counted(start, 1000), counted(start + 1000, 500)] {
                flows.sent(&of, [NodeIx(0), NodeIx(1)], Time(1));
                flows.arrived(&of, false, Time(2));
            }
        }
        assert_eq!(flows.all()[0].arrived_bytes, 4500);
    }

    #[test]
    fn the_number_of_flows_is_bounded() {
        let mut flows = Flows::default();
        for port in 0..2000_u16 {
            let mut of = counted(0, 10);
            of.tuple.source_port = port;
            flows.sent(&of, [NodeIx(0), NodeIx(1)], Time(1));
            flows.arrived(&of, false, Time(2));
        }
        assert_eq!((flows.all().len(), flows.others()), (1024, 976));
    }
}
