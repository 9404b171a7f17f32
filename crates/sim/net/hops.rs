//! Hops of explicit-rate schemes at interfaces, and the headers that their packets carry.

use std::collections::BTreeMap;

use airfair_schemes::places::{
    Backlog, Context, FlowId, Header, HeaderKind, Hop, HopContext, Passage, Timer,
};
use airfair_units::random::Stream;
use airfair_units::{Rate, Time};

use super::describe::LONGEST_HEADER;
use super::fault::due;
use super::{Behind, Net, class};
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::PortIx;
use crate::packet::Packet;

/// Which scheme's header a packet carries: a number among the kinds of the world, none for most packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HeaderId(u8);

impl HeaderId {
    /// No header.
    pub(crate) const NONE: Self = Self(0);
}

/// The kinds of header that the world's hops and flows speak.
#[derive(Debug, Default)]
pub(super) struct HeaderKinds {
    kinds: Vec<&'static HeaderKind>,
    /// Headers become bytes and are read again at every hop.
    check: bool,
}

impl HeaderKinds {
    /// The number of a kind; kinds of one name are one.
    pub(super) fn id(&mut self, kind: Option<&'static HeaderKind>) -> HeaderId {
        let Some(kind) = kind else { return HeaderId::NONE };
        let at = self.kinds.iter().position(|known| known.name == kind.name).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        HeaderId(u8::try_from(at + 1).unwrap_or(0))
    }

    pub(super) fn of(&self, id: HeaderId) -> Option<&'static HeaderKind> {
        self.kinds.get(usize::from(id.0).checked_sub(1)?).copied()
    }

    /// The header as it comes out of its bytes, if headers are checked. One without bytes stays as it is.
    #[inline]
    fn checked(&self, id: HeaderId, header: &mut Header) {
        if self.check
            && let Some(kind) = self.of(id)
        {
            *header = through_bytes(kind, header);
        }
    }
}

/// A header encoded and decoded; empty where the bytes cannot be read, so that results tell.
fn through_bytes(kind: &HeaderKind, header: &Header) -> Header {
    let mut bytes = vec![0; kind.wire_len as usize];
    match (kind.encode)(header, &mut bytes) {
        None => *header,
        Some(len) => bytes.get(..len).and_then(kind.decode).unwrap_or_default(),
    }
}

/// A hop and what is kept for it.
pub(crate) struct HopHost {
    hop: Box<dyn Hop>,
    id: HeaderId,
    random: Stream,
    rank: u32,
    heeds_departures: bool,
    /// Which setting of each timer counts.
    timers: BTreeMap<u16, u32>,
}

impl HopHost {
    pub(super) fn new(hop: Box<dyn Hop>, kinds: &mut HeaderKinds, random: Stream, rank: u32) -> Box<Self> {
        let (id, heeds_departures) = (kinds.id(Some(hop.header())), hop.heeds_departures());
        Box::new(Self { hop, id, random, rank, heeds_departures, timers: BTreeMap::new() })
    }

    /// Whether departures need not be told at their time.
    pub(super) fn leaves_alone(&self) -> bool {
        !self.heeds_departures
    }

    pub(super) fn heeds_received(&self) -> bool {
        self.hop.heeds_received()
    }

    /// A packet arrives, with a header of that kind if it has one.
    #[inline(always)]
    pub(super) fn meet(
        &mut self,
        passage: &Passage,
        (id, header): (HeaderId, Option<&mut Header>),
        kinds: &HeaderKinds,
        now: u64,
    ) {
        match header.filter(|_| id != HeaderId::NONE && id == self.id) {
            Some(header) => {
                kinds.checked(id, header);
                self.hop.on_arrival(passage, Some(header), Time(now));
                header.spoken = header.spoken.saturating_add(1);
            }
            None => self.hop.on_arrival(passage, None, Time(now)),
        }
    }
}

/// A packet as a hop sees it.
#[inline(always)]
pub(super) fn passage(packet: &Packet, framing: u32, backlog: Backlog) -> Passage {
    let bytes = packet.bytes + framing;
    Passage { bytes, flow: FlowId(packet.scheme_flow), class: packet.class, backlog }
}

impl Net {
    /// From now on headers become bytes and are read again at every hop.
    pub(crate) fn check_headers(&mut self) {
        self.kinds_of_header.check = true;
    }

    /// Every hop starts, at time 0.
    pub(crate) fn start_hops(&mut self, agenda: &mut Agenda) {
        for port in 0..self.ports.len() as u32 {
            self.ask_hop(port, 0, |hop, _, context| hop.on_start(context));
        }
        self.flush(agenda);
    }

    /// What waits at a port.
    #[inline(never)]
    pub(super) fn backlog(&mut self, port: u32, now: u64) -> Backlog {
        let at = &self.ports[port as usize];
        let framing = match at.behind {
            Behind::Wire(wire) => match self.links.backlog(wire, Time(now)) {
                Some(backlog) => return backlog,
                None => self.headers.wired,
            },
            Behind::Station(_) => 0,
        };
        let view = at.queue.view();
        Backlog { packets: view.packets, bytes: view.bytes + u64::from(view.packets) * u64::from(framing) }
    }

    /// Bytes that the link behind a port adds to a packet, as far as hops count them.
    pub(super) fn framing(&self, port: u32) -> u32 {
        match self.ports[port as usize].behind {
            Behind::Wire(_) => self.headers.wired,
            Behind::Station(_) => 0,
        }
    }

    /// A packet has arrived at a port with a hop, where so much waits.
    #[inline(never)]
    pub(super) fn meet_hop(&mut self, port: u32, handle: u64, backlog: Backlog, framing: u32, now: u64) {
        let Some(packet) = self.packets.get(handle) else { return };
        let (passage, id) = (passage(packet, framing, backlog), packet.header);
        let Some(host) = &mut self.ports[port as usize].hop else { return };
        host.meet(&passage, (id, self.packets.header_mut(handle)), &self.kinds_of_header, now);
    }

    /// A packet leaves the queue of a port whose hop wants to know.
    #[inline(never)]
    pub(super) fn leave_hop(&mut self, port: u32, handle: u64, now: u64) {
        if self.ports[port as usize].hop.as_ref().is_none_or(|host| host.leaves_alone()) {
            return;
        }
        let (backlog, framing) = (self.backlog(port, now), self.framing(port));
        let Some(packet) = self.packets.get(handle) else { return };
        let (passage, id) = (passage(packet, framing, backlog), packet.header);
        let Some(host) = &mut self.ports[port as usize].hop else { return };
        let header = self.packets.header_mut(handle).filter(|_| id != HeaderId::NONE && id == host.id);
        host.hop.on_departure(&passage, header, Time(now));
    }

    /// A packet for this node came in through a port whose hop may want to know.
    #[inline(never)]
    pub(super) fn receive_hop(&mut self, port: u32, handle: u64, now: u64) {
        if self.ports[port as usize].hop.as_ref().is_none_or(|host| !host.heeds_received()) {
            return;
        }
        let backlog = self.backlog(port, now);
        let Some(packet) = self.packets.get(handle) else { return };
        let (passage, id) = (passage(packet, 0, backlog), packet.header);
        let Some(host) = &mut self.ports[port as usize].hop else { return };
        let header = self.packets.header_mut(handle).filter(|_| id != HeaderId::NONE && id == host.id);
        host.hop.on_receive(&passage, header, Time(now));
    }

    /// A packet is dropped at a port.
    #[inline(never)]
    pub(super) fn drop_at(&mut self, port: u32, handle: u64, reason: &'static str, now: u64) {
        self.tell_drop(port, handle);
        self.drop_packet(self.ports[port as usize].node, handle, reason, now);
    }

    /// The hop at a port is told that a packet is dropped there.
    pub(super) fn tell_drop(&mut self, port: u32, handle: u64) {
        let framing = self.framing(port);
        let bytes = self.packets.get(handle).map(|packet| packet.bytes + framing);
        if let (Some(host), Some(bytes)) = (&mut self.ports[port as usize].hop, bytes) {
            host.hop.on_drop(bytes);
        }
    }

    /// The rate of the wire behind a port is another one.
    pub(super) fn tell_rate(&mut self, port: u32, rate: Rate) {
        if let Some(host) = &mut self.ports[port as usize].hop {
            host.hop.on_rate(rate);
        }
    }

    /// A timer of a hop is due, unless it was moved meanwhile.
    #[inline(never)]
    pub(crate) fn hop_timer(&mut self, port: u32, generation: u32, timer: Timer, now: u64) {
        let host = self.ports[port as usize].hop.as_ref();
        if host.is_none_or(|host| host.timers.get(&timer.0) != Some(&generation)) {
            return;
        }
        self.ask_hop(port, now, |hop, backlog, context| hop.on_timer(timer, backlog, context));
    }

    /// Calls a hop and sets the timers that it asks for.
    fn ask_hop(
        &mut self,
        port: u32,
        now: u64,
        hook: impl FnOnce(&mut dyn Hop, Backlog, &mut HopContext<'_>),
    ) {
        if self.ports[port as usize].hop.is_none() {
            return;
        }
        let backlog = self.backlog(port, now);
        let Some(host) = &mut self.ports[port as usize].hop else { return };
        let mut context = Context { now: Time(now), random: &mut host.random, out: &mut self.out.hop };
        hook(&mut *host.hop, backlog, &mut context);
        let mut timers = std::mem::take(&mut self.out.hop.timers);
        let order = Order::new(class::TIMER, host.rank);
        let set = timers.drain(..).map(|(timer, at)| {
            let generation = host.timers.entry(timer.0).or_default();
            *generation = generation.wrapping_add(1);
            (due(at, now), *generation, timer.0)
        });
        let set: Vec<(u64, u32, u16)> = set.collect();
        self.out.hop.timers = timers;
        for (at, generation, timer) in set {
            self.later(at, order, What::HopTimer { port: PortIx(port), generation, timer });
        }
    }

    /// The bytes of a packet's header, and how many there are; what has no bytes shows as zeros.
    pub(super) fn header_bytes(&self, handle: u64, packet: &Packet) -> ([u8; LONGEST_HEADER], usize) {
        let mut bytes = [0; LONGEST_HEADER];
        let kind = self.kinds_of_header.of(packet.header);
        let Some((kind, header)) = kind.zip(self.packets.header(handle)) else { return (bytes, 0) };
        let len = (kind.wire_len as usize).min(bytes.len());
        let _ = (kind.encode)(header, &mut bytes);
        (bytes, len)
    }

    /// Inner values of the hop at a port.
    pub(crate) fn hop_gauges(&self, port: u32) -> Vec<(&'static str, f64)> {
        self.ports[port as usize].hop.as_ref().map_or_else(Vec::new, |host| host.hop.gauges())
    }
}
