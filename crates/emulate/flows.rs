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

/// Most intervals of all flows: 100 MB.
const MOST_INTERVALS: usize = 2_500_000;

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
    /// TCP: its sender has closed it.
    ends: bool,
}

impl Counted {
    /// Of an IP packet.
    #[must_use]
    pub fn of(packet: &Ip<'_>) -> Self {
        let tuple = FiveTuple::new(packet);
        let whole = packet.transport.len();
        let (mut begins, mut ends) = (false, false);
        let (payload, sequence) = match packet.protocol {
            Protocol::TCP if packet.fragment != Fragment::Later => match Tcp::decode(packet.transport) {
                Ok((header, payload)) => {
                    (begins, ends) = (header.flags.syn, header.flags.fin);
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
        Self { tuple, payload: payload as u32, sequence, begins, ends }
    }

    /// True of a segment of TCP.
    #[must_use]
    pub fn is_tcp(&self) -> bool {
        self.tuple.protocol == Protocol::TCP
    }
}

/// Packets with data from which on a flow is one of the results: less is what a control connection or a name's resolution needs.
const LEAST_PACKETS: u64 = 10;

/// Most gaps in the data of a flow that are told apart; of further ones the repairs do not count.
const MOST_GAPS: usize = 64;

/// Counts of a flow in an interval, or after the warm-up. Packets are those with data of the application.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes that have arrived; of TCP those that had not arrived before.
    pub bytes: u64,
    /// Packets that have arrived.
    pub packets: u64,
    /// Packets that the source has sent.
    pub sent: u64,
    /// Of those, segments of TCP that repeat what was sent before.
    pub repeated: u64,
    /// Packets that were lost.
    pub dropped: u64,
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
    sent_measured_bytes: u64,
    /// Packets with data among them.
    data_packets: u64,
    /// Packets that have arrived at the destination's stack.
    pub arrived_packets: u64,
    /// Bytes of the application in them; of TCP those that had not arrived before.
    pub arrived_bytes: u64,
    /// Counts after the warm-up.
    pub measured: Counts,
    /// Counts of the intervals in which anything has happened, and of those between, from this one on.
    pub from_interval: usize,
    /// The counts.
    pub intervals: Vec<Counts>,
    /// Packets that have arrived with a congestion mark.
    pub marked_packets: u64,
    /// The first packet that the source has sent.
    pub first: Time,
    /// The last packet that has arrived.
    pub last: Option<Time>,
    /// The last packet that the source has sent.
    last_sent: Time,
    /// TCP: the FIN has arrived.
    ended: bool,
    /// TCP: the number after the highest that has arrived, and after the highest that was sent.
    next: Option<u32>,
    sent_next: Option<u32>,
    /// TCP: data below `next` that have not arrived, from one number to another.
    gaps: Vec<[u32; 2]>,
}

impl Flow {
    /// True if an application has sent data, ten packets at least: the direction of acknowledgements has none, nor have ICMP and the like,
    /// which are the kernel's.
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.data_packets >= LEAST_PACKETS && matches!(self.tuple.protocol, Protocol::TCP | Protocol::UDP)
    }

    /// Bytes of a segment that had not arrived before. Numbers wrap.
    fn new_bytes(&mut self, sequence: u32, payload: u32) -> u32 {
        let end = sequence.wrapping_add(payload);
        let next = *self.next.get_or_insert(sequence);
        let mut new = 0;
        if is_after(end, next) {
            if is_after(sequence, next) && self.gaps.len() < MOST_GAPS {
                self.gaps.push([next, sequence]);
            }
            self.next = Some(end);
            new = end.wrapping_sub(next).min(payload);
        }
        // What is behind was there before, or fills gaps.
        let mut left = Vec::new();
        self.gaps.retain_mut(|[from, to]| {
            let first = if is_after(sequence, *from) { sequence } else { *from };
            let last = if is_after(*to, end) { end } else { *to };
            if !is_after(last, first) {
                return true;
            }
            new += last.wrapping_sub(first);
            if is_after(*to, last) && is_after(first, *from) {
                left.push([last, *to]);
                *to = first;
            } else if is_after(first, *from) {
                *to = first;
            } else {
                *from = last;
            }
            is_after(*to, *from)
        });
        self.gaps.extend(left);
        new
    }

    /// TCP: all that was sent has arrived.
    fn is_whole(&self) -> bool {
        self.next == self.sent_next && self.gaps.is_empty()
    }

    /// The time after which nothing was to be sent any more: the end of the run, unless all that TCP has sent has arrived, or the source of
    /// other packets has fallen silent before.
    fn until(&self, end: Time) -> Time {
        let outstanding = self.tuple.protocol == Protocol::TCP && !self.is_whole();
        if outstanding {
            end
        } else {
            self.last.map_or(self.last_sent, |last| last.max(self.last_sent)).min(end)
        }
    }

    /// Bytes per second that have arrived in the life of the flow: from its first packet, or the warm-up, to the last one, or to the end of
    /// the run if data of TCP are outstanding then.
    #[must_use]
    pub fn goodput_bps(&self, warmup: Time, end: Time) -> f64 {
        let Span(length) = self.until(end).since(self.first.max(warmup));
        if length == 0 { 0.0 } else { self.measured.bytes as f64 * 8e9 / length as f64 }
    }

    /// Bytes that its application had to send, as far as that is known: what a source of datagrams has sent, and of TCP what has arrived if
    /// the connection was closed in less than half of the measured time. A sender that goes on for longer, or was not done in the end, may
    /// have had more.
    #[must_use]
    pub fn offered_bytes(&self, warmup: Time, end: Time) -> Option<u64> {
        if self.tuple.protocol != Protocol::TCP {
            return Some(self.sent_measured_bytes);
        }
        let life = self.until(end).since(self.first.max(warmup));
        let short = life.0 < end.since(warmup).0 / 2;
        (self.ended && self.is_whole() && short).then_some(self.measured.bytes)
    }
}

/// All flows.
#[derive(Debug, Clone, Default)]
pub struct Flows {
    flows: Vec<Flow>,
    by_tuple: BTreeMap<FiveTuple, usize>,
    /// End of the warm-up.
    warmup: Time,
    /// Length of an interval; 0: none are counted.
    interval: Span,
    /// Intervals of all flows; true once they were too many.
    kept: usize,
    full: bool,
    /// Packets of flows beyond the number that is told apart.
    others: u64,
}

impl Flows {
    /// For a run with this warm-up, counted in intervals of this length.
    #[must_use]
    pub fn new(warmup: Time, interval: Span) -> Self {
        Self { warmup, interval, ..Self::default() }
    }

    /// Counts something in the interval of this time, and after the warm-up.
    fn count(&mut self, at: usize, now: Time, add: impl Fn(&mut Counts)) {
        let flow = &mut self.flows[at];
        if now >= self.warmup {
            add(&mut flow.measured);
        }
        if self.interval == Span::ZERO {
            return;
        }
        let number = (now.0 / self.interval.0) as usize;
        if flow.intervals.is_empty() {
            flow.from_interval = number;
        }
        // Ends of packets may come in any order.
        let number = number.max(flow.from_interval) - flow.from_interval;
        let missing = (number + 1).saturating_sub(flow.intervals.len());
        if self.kept + missing <= MOST_INTERVALS {
            self.kept += missing;
            flow.intervals.resize(flow.intervals.len() + missing, Counts::default());
        } else {
            self.full = true;
        }
        flow.intervals.get_mut(number).into_iter().for_each(add);
    }

    /// True if counts over time are missing since there were too many.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.full
    }

    /// Takes the counts over time of each flow, with the number of the first interval.
    pub fn take_intervals(&mut self) -> Vec<(usize, Vec<Counts>)> {
        self.flows.iter_mut().map(|flow| (flow.from_interval, std::mem::take(&mut flow.intervals))).collect()
    }

    /// End of the warm-up.
    #[must_use]
    pub const fn warmup(&self) -> Time {
        self.warmup
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
                    sent_measured_bytes: 0,
                    data_packets: 0,
                    arrived_packets: 0,
                    arrived_bytes: 0,
                    measured: Counts::default(),
                    from_interval: 0,
                    intervals: Vec::new(),
                    marked_packets: 0,
                    first: now,
                    last: None,
                    last_sent: now,
                    ended: false,
                    next: None,
                    sent_next: None,
                    gaps: Vec::new(),
                });
                self.flows.len() - 1
            }
        };
        let flow = &mut self.flows[at];
        flow.sent_packets += 1;
        flow.sent_bytes += u64::from(of.payload);
        flow.data_packets += u64::from(of.payload > 0);
        if now >= self.warmup {
            flow.sent_measured_bytes += u64::from(of.payload);
        }
        flow.last_sent = now;
        if of.begins {
            (flow.sent_next, flow.ended) = (of.sequence, false);
        }
        let mut repeats = false;
        if let Some(sequence) = of.sequence.filter(|_| of.payload > 0) {
            let end = sequence.wrapping_add(of.payload);
            repeats = !is_after(end, *flow.sent_next.get_or_insert(sequence));
            if !repeats {
                flow.sent_next = Some(end);
            }
        }
        if of.payload > 0 {
            self.count(at, now, |counts| {
                counts.sent += 1;
                counts.repeated += u64::from(repeats);
            });
        }
    }

    /// A packet was lost on its way.
    pub fn dropped(&mut self, of: &Counted, now: Time) {
        if let Some(&at) = self.by_tuple.get(&of.tuple).filter(|_| of.payload > 0) {
            self.count(at, now, |counts| counts.dropped += 1);
        }
    }

    /// A packet has arrived at the destination's stack.
    pub fn arrived(&mut self, of: &Counted, marked: bool, now: Time) {
        let Some(&at) = self.by_tuple.get(&of.tuple) else { return };
        let flow = &mut self.flows[at];
        if of.begins {
            // Ports that are used again have other numbers.
            flow.next = of.sequence;
            flow.gaps.clear();
        }
        flow.ended |= of.ends;
        let mut new = of.payload;
        if let Some(sequence) = of.sequence.filter(|_| of.payload > 0) {
            new = flow.new_bytes(sequence, of.payload);
        }
        flow.arrived_packets += 1;
        flow.arrived_bytes += u64::from(new);
        flow.marked_packets += u64::from(marked);
        flow.last = Some(now);
        if of.payload > 0 {
            self.count(at, now, |counts| {
                counts.bytes += u64::from(new);
                counts.packets += 1;
            });
        }
    }
}

/// True if a number of TCP is after another; numbers wrap.
pub(crate) const fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() > 0
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
        Counted { tuple, payload, sequence: Some(sequence), begins: false, ends: false }
    }

    /// Bytes count once, whatever is repeated, out of order, or beyond the largest number.
    #[test]
    fn bytes_of_tcp_count_once() {
        let mut flows = Flows::new(Time(0), Span(1000));
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
        // One was sent twice, and one after the next one: both are below the highest.
        assert_eq!((flow.measured.sent, flow.measured.repeated, flow.measured.packets), (5, 2, 5));
        let (sent, arrived) = (flow.intervals[0], flow.intervals[1000]);
        assert_eq!((sent.sent, sent.bytes, arrived.sent, arrived.bytes), (5, 0, 0, 4000));
        // From the first packet to the last.
        assert!((flow.goodput_bps(Time(1), Time(2_000_000)) - 32e12 / 999_999.0).abs() < 1e-3);
    }

    /// A starving sender whose last bytes arrive at the end had no less to send than it could; a short transfer had what has arrived.
    #[test]
    fn only_a_transfer_that_was_closed_early_is_known_to_be_whole() {
        let end = Time(100);
        for (last, closed, offered) in [(40, true, Some(100)), (40, false, None), (60, true, None)] {
            let mut flows = Flows::new(Time::ZERO, Span::ZERO);
            let of = Counted { ends: closed, ..counted(0, 100) };
            flows.sent(&of, [NodeIx(0), NodeIx(1)], Time(0));
            assert_eq!(flows.all()[0].offered_bytes(Time::ZERO, end), None, "outstanding");
            flows.arrived(&of, false, Time(last));
            let flow = &flows.all()[0];
            assert_eq!(flow.offered_bytes(Time::ZERO, end), offered, "{last} {closed}");
            assert!((flow.goodput_bps(Time::ZERO, end) - 800e9 / last as f64).abs() < 1e-3);
            // What is outstanding counts to the end.
            flows.sent(&counted(100, 100), [NodeIx(0), NodeIx(1)], Time(60));
            assert!((flows.all()[0].goodput_bps(Time::ZERO, end) - 8e9).abs() < 1e-3);
        }
    }

    /// Intervals begin with the first one of a flow, and are bounded.
    #[test]
    fn counts_over_time_are_bounded() {
        let mut flows = Flows::new(Time::ZERO, Span(1));
        let ends = [NodeIx(0), NodeIx(1)];
        flows.sent(&counted(0, 10), ends, Time(1_000_000_000));
        assert_eq!((flows.all()[0].from_interval, flows.all()[0].intervals.len()), (1_000_000_000, 1));
        flows.sent(&counted(10, 10), ends, Time(1_000_000_000 + MOST_INTERVALS as u64));
        assert_eq!((flows.is_full(), flows.kept), (true, 1));
    }

    /// A gap counts when it is filled, in parts too, and no segment counts for more than it carries.
    #[test]
    fn gaps_count_when_they_are_filled() {
        let mut flows = Flows::new(Time::ZERO, Span::ZERO);
        let mut arrive = |sequence, payload| {
            let of = counted(sequence, payload);
            flows.sent(&of, [NodeIx(0), NodeIx(1)], Time(1));
            flows.arrived(&of, false, Time(2));
            (flows.all()[0].arrived_bytes, flows.all()[0].is_whole())
        };
        assert_eq!(arrive(0, 100), (100, true));
        assert_eq!(arrive(1_000_000, 100), (200, false), "a forged number");
        assert_eq!(arrive(300, 100), (300, false));
        assert_eq!(arrive(250, 100), (350, false), "half of it was there");
        assert_eq!(arrive(300, 100), (350, false));
        assert_eq!(arrive(100, 150), (500, false));
        assert_eq!(arrive(400, 999_600), (1_000_100, true));
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
