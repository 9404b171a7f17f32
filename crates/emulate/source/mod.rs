//! Sources of a scheme at the edge of the stacks: schemes whose routers write rates into headers (QFCP, RCP, XCP, C3L), over kernels that
//! are unchanged.
//!
//! - **The header travels as a TCP option** ([`SchemeOption`]) that the edge adds to a segment as it leaves its source, so that the kernels
//!   of relays pass it on. A SYN announces segments that are shorter by as much. Hops of the world rewrite it. Data carry what the source
//!   stamps, acknowledgements without data what the receiver's edge has kept; a segment without room for it, an acknowledgement with
//!   blocks beside timestamps, goes without: reports of losses precede, and what an XCP router has granted stays kept.
//! - **The law runs at the edge**, by what passes there: segments, acknowledgements, repetitions. A segment beyond its window or before its
//!   pace waits at the edge, and acknowledgements announce no larger window to the kernel than the law's and two segments, so that data
//!   wait in the kernel rather than here.
//! - **The kernel's part** is the repair of losses, and its own congestion control below the law's: where a loss does not slow the law
//!   down, it still slows the kernel down. Marks are the kernel's alone.
//! - **TCP only**: datagrams pass as they are, and so do connections whose first segment was not seen.

mod flight;
mod half;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use airfair_host::Slot;
use airfair_schemes::places::{Header, HeaderKind, Source, Timer};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Time};
use airfair_wire::Ethernet;
use airfair_wire::ethernet::EtherType;
use airfair_wire::five_tuple::FiveTuple;
use airfair_wire::ip::{Ip, lower_mtu};
use airfair_wire::ipv4::{Fragment, Protocol};
use airfair_wire::tcp::{SchemeOption, Tcp, insert_scheme, limit_mss, set_scheme, set_window};
use serde::Serialize;

use half::{Effects, Half};

/// Most directions of connections; beyond, those that were idle for longest make room.
const MOST: usize = 2048;

/// Most frames that wait at all edges: some 100 MB.
const MOST_HELD: u64 = 65_536;

/// Largest IP packet of a device, bytes.
pub(crate) const MTU: u32 = 1500;

/// Headers of IP and TCP without options.
const HEADERS: [usize; 2] = [20 + 20, 40 + 20];

/// Reason of a drop at an edge where too many wait.
const FULL: &str = "source-queue-full";

/// A frame that waits at an edge.
#[derive(Debug)]
pub struct Held {
    /// The device that has sent it.
    pub device: usize,
    /// The frame, from its Ethernet header on.
    pub frame: Vec<u8>,
    sequence: u32,
    payload: u32,
}

/// Connections at the edges of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Edges {
    /// Connections that were opened.
    pub connections: u64,
    /// Directions whose law has followed TCP's since some time, because routers did not support its scheme.
    pub fallbacks: u64,
    /// Connections that have lost their laws to newer ones, since there were too many.
    pub evicted: u64,
    /// Repetitions by the kernel of segments that still waited: one of both was sent.
    pub repeated: u64,
    /// Segments that waited as their connection was reset.
    pub discarded: u64,
    /// Segments that wait.
    pub held: u64,
}

/// A segment in a frame.
struct Segment {
    ether_type: EtherType,
    tuple: FiveTuple,
    header: Tcp,
    payload: u32,
    /// The packet's time to live.
    lives: u8,
    /// Lengths of the IP packet and of TCP's header.
    lengths: [usize; 2],
}

impl Segment {
    fn of(frame: &[u8]) -> Option<Self> {
        let (ethernet, packet) = Ethernet::decode(frame).ok()?;
        let ip = Ip::decode(ethernet.ether_type, packet).ok()??;
        if ip.protocol != Protocol::TCP || ip.fragment != Fragment::Whole {
            return None;
        }
        let (header, payload) = Tcp::decode(ip.transport).ok()?;
        let lives = *packet.get(if ip.source.is_ipv4() { 8 } else { 7 })?;
        Some(Self {
            ether_type: ethernet.ether_type,
            tuple: FiveTuple::new(&ip),
            header,
            payload: payload.len() as u32,
            lives,
            lengths: [ip.transport_at + ip.transport.len(), ip.transport.len() - payload.len()],
        })
    }

    /// An acknowledgement and no data: it carries what the receiver's edge has kept. So does the answer to a SYN.
    const fn is_answer(&self) -> bool {
        self.header.flags.ack && (self.payload == 0 && !self.header.flags.fin || self.header.flags.syn)
    }
}

/// The answer of an edge to a frame that its stack has sent.
#[derive(Debug)]
pub enum Leave {
    /// It leaves now, with this header of the scheme.
    Now(Option<Header>),
    /// It waits.
    Waits,
    /// The same segment waits already: this one is not needed.
    Twice,
    /// Too many wait: it is dropped, for this reason.
    Full(&'static str),
}

/// Something that is due at an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// The first frame that waits may leave.
    Look,
    /// A timer of the law, with its generation.
    Timer(u16, u32),
}

/// The edges of all stacks.
pub struct Sources {
    kind: &'static HeaderKind,
    seed: u64,
    halves: BTreeMap<FiveTuple, Half>,
    /// Times, with the direction and its number: another may have the same ports later.
    due: BinaryHeap<Reverse<(Time, FiveTuple, u64, Due)>>,
    effects: Effects,
    /// Frames that may leave now: of connections that have ended.
    ready: VecDeque<Held>,
    /// Directions whose first frame may be able to leave.
    looks: VecDeque<FiveTuple>,
    /// Directions so far.
    opened: u64,
    counts: Edges,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources").field("kind", &self.kind.name).field("halves", &self.halves.len()).finish()
    }
}

impl Sources {
    /// For sources whose packets carry this kind of header; `None` if it does not fit into a TCP option. `seed` is that of the laws.
    #[must_use]
    pub fn new(kind: &'static HeaderKind, seed: u64) -> Option<Self> {
        let encoded = (kind.encode)(&Header::default(), &mut [0; SchemeOption::LONGEST]);
        SchemeOption::new(&[0; SchemeOption::LONGEST][..encoded.filter(|_| !kind.trailer)?])?;
        Some(Self {
            kind,
            seed,
            halves: BTreeMap::new(),
            due: BinaryHeap::new(),
            effects: Effects::default(),
            ready: VecDeque::new(),
            looks: VecDeque::new(),
            opened: 0,
            counts: Edges::default(),
        })
    }

    /// The kind of the headers.
    #[must_use]
    pub const fn kind(&self) -> &'static HeaderKind {
        self.kind
    }

    /// Counts of connections so far.
    #[must_use]
    pub const fn edges(&self) -> Edges {
        self.counts
    }

    fn option(&self, header: &Header, answers: bool) -> Option<SchemeOption> {
        let mut bytes = [0; SchemeOption::LONGEST];
        let length = (self.kind.encode)(header, &mut bytes)?;
        let option = SchemeOption::new(bytes.get(..length)?)?;
        Some(if answers { option.answering() } else { option })
    }

    /// Bytes that the header takes in a segment.
    fn room(&self) -> usize {
        self.option(&Header::default(), false).map_or(0, |option| option.wire_len())
    }

    /// The header that a frame carries.
    #[must_use]
    pub fn carried(&self, frame: &[u8]) -> Option<Header> {
        self.decode(Segment::of(frame)?.header.options.scheme()?)
    }

    fn decode(&self, option: SchemeOption) -> Option<Header> {
        (self.kind.decode)(option.header())
    }

    /// Writes a header into a frame that carries one.
    pub fn rewrite(&self, frame: &mut [u8], header: &Header) {
        let Some(segment) = Segment::of(frame) else { return };
        let answers = segment.header.options.scheme().is_some_and(|option| option.answers());
        let Some(option) = self.option(header, answers) else { return };
        _ = set_scheme(segment.ether_type, &mut frame[Ethernet::wire_len()..], option);
    }

    /// A frame that a device has sent is about to leave its source. `law` makes a source, with the rate of the device's link.
    pub fn leave(
        &mut self,
        (device, frame): (usize, &mut Vec<u8>),
        law: impl Fn() -> Option<(Box<dyn Source>, Rate)>,
        now: Time,
    ) -> Leave {
        let Some(mut segment) = Segment::of(frame) else { return Leave::Now(None) };
        if segment.header.flags.syn {
            self.open(&mut segment, frame, law, now);
        }
        let tuple = segment.tuple;
        let Some(half) = self.halves.get_mut(&tuple) else { return Leave::Now(None) };
        half.lives = Some(segment.lives);
        if half.must_wait(&segment.header, segment.payload, now) {
            if half.holds(&segment.header, segment.payload) {
                self.counts.repeated += 1;
                return Leave::Twice;
            }
            let (sequence, payload) = (segment.header.sequence, segment.payload);
            let held = Held { device, frame: std::mem::take(frame), sequence, payload };
            if self.counts.held >= MOST_HELD || !half.hold(held) {
                return Leave::Full(FULL);
            }
            self.counts.held += 1;
            self.look_later(tuple, now);
            return Leave::Waits;
        }
        Leave::Now(self.stamp(&segment, frame, now))
    }

    /// A frame that has waited leaves; its header.
    pub fn leave_released(&mut self, frame: &mut Vec<u8>, now: Time) -> Option<Header> {
        let segment = Segment::of(frame)?;
        self.stamp(&segment, frame, now)
    }

    /// A SYN: both directions begin, and the segments that it announces leave room for the header.
    fn open(
        &mut self,
        segment: &mut Segment,
        frame: &mut [u8],
        law: impl Fn() -> Option<(Box<dyn Source>, Rate)>,
        now: Time,
    ) {
        let tuple = segment.tuple;
        let option = self.room();
        let most = MTU as usize - HEADERS[usize::from(!tuple.source.is_ipv4())] - option;
        _ = limit_mss(segment.ether_type, &mut frame[Ethernet::wire_len()..], most as u16);
        let Some(again) = Segment::of(frame) else { return };
        *segment = again;
        // A first SYN begins a connection anew; one that is sent again, and an answer, belong to it.
        let known = self.halves.get(&tuple).is_some_and(|half| half.repeats_syn(&segment.header));
        if !segment.header.flags.ack && !known {
            self.close(tuple);
            self.close(tuple.reversed());
            self.make_room();
            self.counts.connections += 1;
            for tuple in [tuple, tuple.reversed()] {
                let Some((source, _)) = law() else { return };
                let number = tuple.flow(self.seed);
                let random = Stream::of_hash(self.seed, number.into(), Purpose::Source);
                self.opened += 1;
                let ip = if tuple.source.is_ipv4() { 20 } else { 40 };
                let half = Half::new(Slot::new(source, random, 0), (self.opened, ip), now);
                self.halves.insert(tuple, half);
            }
        }
        if let Some(half) = self.halves.get_mut(&tuple) {
            half.syn_leaves(&segment.header, law().map(|(_, link)| link), now);
        }
        if let Some(half) = self.halves.get_mut(&tuple.reversed()) {
            half.receiver_says(&segment.header);
        }
    }

    /// The connection that was idle for longest ends if there is no room for another one.
    fn make_room(&mut self) {
        while self.halves.len() + 2 > MOST {
            self.counts.evicted += 1;
            let oldest = self.halves.iter().min_by_key(|(tuple, half)| (half.last_used, **tuple));
            let Some(tuple) = oldest.map(|(&tuple, _)| tuple) else { return };
            self.close(tuple);
            self.close(tuple.reversed());
        }
    }

    /// Both directions end by a reset; what waits is of no use any more.
    fn reset(&mut self, tuple: FiveTuple) {
        for tuple in [tuple, tuple.reversed()] {
            if let Some(mut half) = self.halves.remove(&tuple) {
                let held = half.take_held().len() as u64;
                self.counts.held -= held;
                self.counts.discarded += held;
            }
        }
    }

    /// A direction ends; what waits leaves.
    fn close(&mut self, tuple: FiveTuple) {
        let Some(mut half) = self.halves.remove(&tuple) else { return };
        let held = half.take_held();
        self.counts.held -= held.len() as u64;
        self.ready.extend(held);
    }

    /// The header of a segment that leaves, which is added to its frame; `None` if it carries none.
    fn stamp(&mut self, segment: &Segment, frame: &mut Vec<u8>, now: Time) -> Option<Header> {
        let tuple = segment.tuple;
        if segment.header.flags.rst {
            self.reset(tuple);
            return None;
        }
        if let Some(half) = self.halves.get_mut(&tuple) {
            half.leaves(&segment.header, segment.payload, &mut self.effects, now);
        }
        self.set_timers(tuple);
        let room = self.room();
        let [length, header] = segment.lengths;
        if header + room > 60 || length + room > MTU as usize {
            return None;
        }
        // Where both ends send data, every second segment brings the answer to what has come from the other end meanwhile.
        let both = self.halves.get_mut(&tuple).is_some_and(|half| std::mem::take(&mut half.has_stamped));
        let answers = segment.is_answer()
            || both && self.halves.get(&tuple.reversed()).is_some_and(|half| half.has_kept);
        let option = self.option(&Header::default(), answers)?;
        let half = self.halves.get_mut(&if answers { tuple.reversed() } else { tuple })?;
        let carries = if answers { half.echo.has_answer() } else { half.law().carries_header(now) };
        // A segment with a signature takes none: what routers have granted is kept for the next one.
        let added = carries
            && insert_scheme(segment.ether_type, frame, Ethernet::wire_len(), option).unwrap_or(false);
        if !added {
            return None;
        }
        let mut header = Header::default();
        if answers {
            header = half.echo.answer(self.kind);
            half.has_kept = false;
        } else {
            half.law().stamp(&mut header, now);
            half.has_stamped = true;
        }
        self.rewrite(frame, &header);
        Some(header)
    }

    /// A frame arrives at its destination's edge, with the header that hops have left; the frame may be changed.
    pub fn arrive(&mut self, frame: &mut [u8], now: Time) {
        let Some(segment) = Segment::of(frame) else {
            // A router speaks of packets with the header, its kernel makes them without.
            if let Ok((ethernet, _)) = Ethernet::decode(frame) {
                let room = self.room() as u16;
                _ = lower_mtu(ethernet.ether_type, &mut frame[Ethernet::wire_len()..], room);
            }
            return;
        };
        let carried = segment.header.options.scheme();
        let answers = carried.is_some_and(|option| option.answers());
        let mut header = carried.and_then(|option| self.decode(option));
        let (tuple, back) = (segment.tuple, segment.tuple.reversed());
        if segment.header.flags.rst {
            self.reset(tuple);
            return;
        }
        if let Some(half) = self.halves.get_mut(&tuple).filter(|_| !answers) {
            // RFC 4782 section 3.1: hops by what IP's time to live has lost since the packet has left.
            let hops = u16::from(half.lives.unwrap_or(segment.lives).saturating_sub(segment.lives)) + 1;
            match &mut header {
                Some(header) => {
                    half.echo.keep(self.kind, header, hops);
                    half.has_kept = true;
                }
                None if segment.payload > 0 => half.echo.note_bare(),
                None => {}
            }
        }
        if !segment.header.flags.ack {
            return;
        }
        let room = self.room() as u64;
        let Some(half) = self.halves.get_mut(&back) else { return };
        if let Some(header) = header.filter(|_| answers) {
            self.counts.fallbacks += u64::from(half.feedback(&header, &mut self.effects, now));
        }
        half.acknowledged(&segment.header, segment.payload == 0, room, &mut self.effects, now);
        if let Some(window) = half.window(&segment.header, now) {
            _ = set_window(segment.ether_type, &mut frame[Ethernet::wire_len()..], window);
        }
        let over = half.is_over() && self.halves.get(&tuple).is_none_or(Half::is_over);
        self.set_timers(back);
        if over {
            // The last acknowledgements of either direction are all that may come.
            self.close(back);
            self.close(tuple);
        } else {
            self.look(back);
        }
    }

    /// Timers that the law of a direction has set.
    fn set_timers(&mut self, tuple: FiveTuple) {
        let number = self.halves.get(&tuple).map_or(0, |half| half.number);
        for firing in self.effects.firings.drain(..) {
            let timer = Due::Timer(firing.timer.0, firing.generation);
            self.due.push(Reverse((firing.at, tuple, number, timer)));
        }
    }

    /// The first frame that waits in a direction is to be looked at: it may be able to leave.
    fn look(&mut self, tuple: FiveTuple) {
        if let Some(half) = self.halves.get_mut(&tuple).filter(|half| half.waits())
            && !std::mem::replace(&mut half.is_looked_at, true)
        {
            self.looks.push_back(tuple);
        }
    }

    fn look_later(&mut self, tuple: FiveTuple, now: Time) {
        let Some(half) = self.halves.get_mut(&tuple) else { return };
        let Some(at) = half.due(now) else { return };
        if half.look_at.is_none_or(|known| at < known) {
            half.look_at = Some(at);
            self.due.push(Reverse((at, tuple, half.number, Due::Look)));
        }
    }

    /// The next frame that may leave now. Whoever takes it calls [`Self::leave_released`] before the next.
    pub fn take_ready(&mut self, now: Time) -> Option<Held> {
        self.run(now);
        if let Some(held) = self.ready.pop_front() {
            return Some(held);
        }
        while let Some(tuple) = self.looks.pop_front() {
            let Some(half) = self.halves.get_mut(&tuple) else { continue };
            half.is_looked_at = false;
            if let Some(held) = half.release(now) {
                self.counts.held -= 1;
                // The next one may leave too, once this one has.
                self.look(tuple);
                return Some(held);
            }
            self.look_later(tuple, now);
        }
        None
    }

    /// Handles what is due.
    fn run(&mut self, now: Time) {
        while let Some(&Reverse((at, tuple, number, due))) = self.due.peek() {
            if at > now {
                return;
            }
            self.due.pop();
            let Some(half) = self.halves.get_mut(&tuple).filter(|half| half.number == number) else {
                continue;
            };
            match due {
                Due::Look => half.look_at = None,
                Due::Timer(timer, generation) => half.timer(Timer(timer), generation, &mut self.effects, now),
            }
            self.set_timers(tuple);
            self.look(tuple);
        }
    }

    /// The time of what is due next.
    #[must_use]
    pub fn next_due(&self) -> Option<Time> {
        self.due.peek().map(|&Reverse((at, ..))| at)
    }
}
