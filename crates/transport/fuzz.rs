//! Fuzzer entry point: any bytes are a configuration and events; only a violated guarantee of this crate panics.
//!
//! The guarantees: no segment, time or parameter makes a sender or receiver panic; the sums of the scoreboard equal a recount; no new data
//! are sent beyond the receiver's window except the probe of a closed one; polling terminates; the numbers of bytes delivered and
//! acknowledged never decrease.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{
    Acked, Allowance, Congestion, Ecn, FlowSetup, PartialAck, Source, SourceContext, SourceEffects,
};
use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Span, Time};

use crate::rate;
use crate::{DelayedAck, Flags, InitialWindow, PartialAckTimer, SackBlocks};
use crate::{Receiver, Segment, Sender, TcpConfig, TickMode, Timestamps};

/// Upper bound of segments from one poll: windows below are at most that many segments.
const MOST_SEGMENTS: usize = 100_000;

/// A window law whose decisions come from the input.
struct RandomLaw {
    window: Option<u64>,
    rate: Option<u64>,
    quantum: Option<u64>,
    reno: bool,
}

impl Source for RandomLaw {
    fn on_start(&mut self, _setup: &FlowSetup, _context: &mut SourceContext<'_>) {}

    fn on_acked(&mut self, acked: &Acked, _context: &mut SourceContext<'_>) {
        assert!(acked.bytes.0 > 0 || acked.cumulative.0 > 0);
    }

    fn on_congestion(&mut self, congestion: &Congestion, _context: &mut SourceContext<'_>) {
        self.window = self.window.map(|window| window / 2 + congestion.in_flight.0 % 7);
    }

    fn allowance(&self, _now: Time) -> Allowance {
        Allowance {
            window: self.window.map(Bytes),
            rate: self.rate.map(Rate),
            quantum: self.quantum.map(Bytes),
        }
    }

    fn partial_ack(&self) -> PartialAck {
        if self.reno { PartialAck::EndsRecovery } else { PartialAck::RepairsNext }
    }
}

fn config(data: &mut Input<'_>) -> TcpConfig {
    let bits = data.byte();
    let more = data.byte();
    let bit = |byte: u8, place: u8| byte >> place & 1 == 1;
    TcpConfig {
        mss: data.number().min(70_000) as u32,
        headers: 40,
        initial_window: [InitialWindow::Segments(2), InitialWindow::Rfc3390, InitialWindow::Rfc6928]
            [usize::from(data.byte() % 3)],
        window_limit: data.number().min(1 << 16),
        send_buffer: data.flag().then(|| data.number()),
        receive_window: data.number(),
        window_tuning: data.flag(),
        delayed_ack: bit(more, 0).then_some(DelayedAck {
            segments: 2,
            timeout: Span(data.number()),
            quick: 2,
            requick: data.flag(),
            pushed: data.flag(),
        }),
        initial_rto: Span(data.number()),
        rto_after_syn_loss: Span(data.number()),
        min_rto: Span(data.number()),
        min_rto_beyond_rtt: data.flag(),
        max_rto: Span(data.number()),
        tick: Span(data.number()),
        tick_mode: if data.flag() { TickMode::Bsd } else { TickMode::RoundUp },
        syn_window: data.flag().then(|| data.number()),
        sack: bit(bits, 0),
        duplicate_sack: bit(bits, 1),
        limited_transmit: bit(bits, 2),
        prr: bit(bits, 3),
        undo: bit(more, 3),
        undo_earlier_copies: data.flag(),
        timestamps: bit(bits, 4),
        window_scale: more >> 4,
        ecn: bit(bits, 5),
        handshake: bit(bits, 6),
        idle_restart: bit(bits, 7),
        nagle: bit(more, 1),
        fin: bit(more, 2),
        push: data.flag(),
        dupack_threshold: u32::from(data.byte() % 5),
        fast_retransmit_once: bit(more, 7),
        partial_ack_timer: PartialAckTimer::Impatient,
        syn_retries: bit(more, 3).then_some(3),
        retries: None,
    }
}

fn segment(data: &mut Input<'_>, seq: u64, ack: u64) -> Segment {
    let bits = data.byte();
    let bit = |place: u8| bits >> place & 1 == 1;
    let mut sack = SackBlocks::default();
    if bit(5) {
        for _ in 0..data.byte() % 5 {
            let left = data.near(ack);
            sack.push(left, left.saturating_add(data.number()));
        }
    }
    Segment {
        seq: data.near(seq),
        payload: data.number() as u32,
        window: data.number(),
        flags: Flags {
            syn: bit(0) && bit(1),
            ack: !bit(2),
            fin: bit(3),
            ece: bit(4),
            cwr: data.flag(),
            psh: data.flag(),
        },
        ecn: if bit(6) { Ecn::Ce } else { Ecn::NotEct },
        timestamps: bit(7).then(|| Timestamps { value: data.number() as u32, echo: data.number() as u32 }),
        sack,
        mss: bit(3).then(|| data.number() as u16),
        window_scale: bit(4).then(|| data.byte()),
        sack_permitted: bit(5),
        ..Segment::bare(0, data.near(ack), 0)
    }
}

/// Runs a configuration and events from bytes on a sender and a receiver, which are also connected to each other.
pub fn fuzz_transport(data: &[u8]) {
    let data = &mut Input::new(data);
    let config = config(data);
    let window = data.flag().then(|| data.number().min(1 << 16));
    let rate = data.flag().then(|| data.number());
    let quantum = data.flag().then(|| data.number());
    let law = RandomLaw { window, rate, quantum, reno: data.flag() };
    let mut sender = Sender::new(&config, Box::new(law));
    let mut receiver = Receiver::new(&config);
    let (mut random, mut out) = (Stream::new(1, "fuzz", Purpose::Source), SourceEffects::default());
    let mut now = Time::ZERO;
    let (mut last_data, mut last_ack) = (None, None);
    while !data.is_empty() {
        let (una, delivered) = (sender.unacknowledged(), receiver.delivered());
        let context = &mut SourceContext { now, random: &mut random, out: &mut out };
        match data.byte() % 16 {
            0 => sender.open(context),
            1 => sender.write(data.number()),
            2 if data.byte() == 255 => sender.close(),
            6 if data.byte() == 255 => sender.stop(),
            3 => now = now.saturating_add(Span(data.number())),
            4 => {
                now = sender.deadline().unwrap_or(now).max(now);
                sender.on_timer(&mut SourceContext { now, random: &mut random, out: &mut out });
            }
            5 => {
                now = receiver.deadline().unwrap_or(now).max(now);
                receiver.on_timer(now);
            }
            6 => sender.on_timer(context),
            7 => sender.on_link_drop(data.near(una), context),
            8 => sender.on_segment(&segment(data, 1, una), context),
            9 => receiver.on_segment(&segment(data, delivered + 1, 1), now),
            10 | 11 => last_data.iter().for_each(|segment| receiver.on_segment(segment, now)),
            12 | 13 => last_ack.iter().for_each(|segment| sender.on_segment(segment, context)),
            14 => receiver.set_reading(data.flag()),
            _ => receiver.read(data.number()),
        }
        let context = &mut SourceContext { now, random: &mut random, out: &mut out };
        let next = sender.next_sequence();
        let mut polls = 0;
        while let Some(departure) = sender.poll(context) {
            let segment = sender.segment(&departure, now);
            let edge = sender.unacknowledged().saturating_add(sender.peer().window);
            let probe = segment.payload == 1 && segment.seq == sender.next_sequence();
            let is_new = segment.seq >= next && segment.payload > 0;
            assert!(!is_new || probe || segment.seq + u64::from(segment.payload) <= edge, "{segment:?}");
            last_data = Some(segment);
            polls += 1;
            assert!(polls < MOST_SEGMENTS, "polling does not end");
        }
        if let Some(segment) = receiver.poll(now) {
            last_ack = Some(segment);
            assert_eq!(receiver.poll(now), None);
        }
        assert!(sender.sums_are_right());
        assert!(sender.unacknowledged() >= una && receiver.delivered() >= delivered);
        assert!(sender.next_sequence() >= sender.unacknowledged());
    }
}

/// Any bytes as a course of events for a sender and a receiver of the transport with a rate.
///
/// The guarantees: nothing panics; both ends store a bounded number of datagrams; what is outstanding and not lost has a deadline; the
/// receiver delivers no more than was sent, each byte once.
pub fn fuzz_rate(data: &[u8]) {
    let data = &mut Input::new(data);
    let (mut sender, mut receiver) = (rate::Sender::default(), rate::Receiver::default());
    let mut now = Time(1);
    // Bytes of each datagram, by its number; each number has one size.
    let bytes = |number: u32| 1 + number % 1500;
    let (mut sent, mut delivered) = (0u32, 0u64);
    let mut last = rate::Data::default();
    while !data.is_empty() {
        match data.byte() % 8 {
            0 => now = now.saturating_add(Span(data.number())),
            1 => {
                now = sender.deadline().unwrap_or(now).max(now);
                sender.on_timer(now);
            }
            2 => sender.on_timer(now),
            3 | 4 => match sender.to_send() {
                rate::Next::New => {
                    assert_eq!(sender.sent_new(bytes(sent), now), sent);
                    last = rate::Data { number: sent, sent: rate::time_stamp(now) };
                    sent += 1;
                }
                rate::Next::Again(number, size) => {
                    assert!(number < sent && size == bytes(number));
                    sender.sent_again(now);
                    last = rate::Data { number, sent: rate::time_stamp(now) };
                }
                rate::Next::Nothing => assert_eq!(sender.outstanding(), rate::MOST_OUTSTANDING),
            },
            5 => {
                // A datagram that was sent: in an attack any number, but of the size that it has.
                let number = if data.flag() { last.number } else { data.near(u64::from(last.number)) as u32 };
                if number < sent {
                    let datagram = rate::Data { number, sent: data.near(u64::from(last.sent)) as u32 };
                    delivered += receiver.on_data(datagram, bytes(number), now).delivered;
                }
            }
            6 => {
                let room = data.near(200) as usize;
                for part in 0..usize::from(1 + data.byte() % 12) {
                    let Some(arrivals) = receiver.arrivals(part, room, now) else { break };
                    assert!(arrivals.wire_len() <= room.max(14));
                    assert!(sender.on_arrivals(&arrivals, now).is_some());
                }
            }
            _ => {
                let near = |data: &mut Input<'_>| data.near(u64::from(last.number)) as u32;
                let blocks: Vec<rate::Block> = (0..data.byte() % 24)
                    .map(|_| rate::Block { first: near(data), end: near(data) })
                    .collect();
                let (next, stamp, held) = (near(data), data.number() as u32, data.number() as u32);
                let map =
                    rate::Arrivals::with_map((next, stamp, held), 255, (near(data), 300), |at| at % 3 == 0);
                let forged = rate::Arrivals::with_blocks(next, stamp, held, 255, blocks.into_iter());
                sender.on_arrivals(&forged.unwrap_or(map), now);
            }
        }
        assert!(sender.outstanding() <= rate::MOST_OUTSTANDING);
        let waits = sender.is_done() || matches!(sender.to_send(), rate::Next::Again(..));
        assert_eq!(sender.deadline().is_none(), waits);
        let all: u64 = (0..sent).map(|number| u64::from(bytes(number))).sum();
        assert!(delivered <= all);
    }
}
