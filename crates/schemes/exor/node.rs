//! A node of ExOR: source, forwarder and destination of flows (§3).
//!
//! In its turn a node sends its fragment: the packets that it holds and that no better node is known to hold, each with its batch map. The
//! destination sends its map alone, ten times. When the destination holds nine tenths of a batch, what is left is not broadcast any more,
//! but handed to ordinary routing.
//!
//! Readings:
//! - A packet of a fragment that a better node turns out to hold is left out, its number in the fragment too.
//! - A node that has no packet to broadcast in its turn sends its map once. The source has to learn of the end of a batch, and behind nine
//!   tenths there are no broadcasts that would tell; and who is heard is not waited for.
//! - The source begins the next batch when the destination has all of the last; a packet of a later batch ends the one before.
//! - A packet that was handed to routing is handed again, in the turn that follows `again` later, unless a map shows it at the destination.
//! - A node that for 3 s has learnt nothing new, nor heard a node that is farther from the destination, is silent until it does: the
//!   source may have ended the batch, or be gone. The source itself is never silent.
//! - A source that has learnt nothing new for 5 s takes all that is not delivered for its own: who was known to hold it may be gone.
//! - The destination knows what it holds, and takes no map's word for it.
//! - Under a rate (DiffQ's source) a source sends of a batch what it was granted, each packet as often as it takes; without one, all.
//! - A number of a batch or a list that is forged would make all that the source sends look old, or not fit, for ever. So a node that is
//!   silent, for three seconds at least, begins whatever batch it hears. Against one that forges all the time only signatures would help.
//!
//! Memory: at most `flows` flows of others, the one heard longest ago gives way; of each one batch of at most 100 packets, by
//! their numbers.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::{Span, Time};
use airfair_wire::Flow;
use airfair_wire::exor::{BatchMap, Exor, ExorView, Fragment, Head, Nodes, NodesView};

use super::map;
use super::turns::{self, Turns};
use crate::opportunistic::backpressure::Backlogged;
use crate::opportunistic::flows::Flows;
use crate::opportunistic::{QUIET, later};

/// Time without news after which the source sends anew what is not delivered (ours): later than forwarders fall silent, which may still
/// deliver it.
const STUCK: Span = Span::from_secs(5);

/// The parameters of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExorConfig {
    /// Turns.
    pub turns: turns::TurnsConfig,
    /// Maps that the destination sends in a turn.
    pub maps: u8,
    /// Part of a batch that is broadcast, before the rest goes by routing.
    pub broadcast: f64,
    /// Time after which a packet is handed to routing again.
    pub again: Span,
    /// Sources send what they are granted, instead of whole batches.
    pub granted: bool,
    /// Most flows that are known.
    pub flows: usize,
}

impl Default for ExorConfig {
    fn default() -> Self {
        let turns = turns::TurnsConfig::default();
        let again = Span::from_secs(1);
        Self { turns, maps: 10, broadcast: 0.9, again, granted: false, flows: 256 }
    }
}

/// The meaning of a packet for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// None: the node is not in the list, or the packet does not fit to the batch.
    Ignored,
    /// A later batch has begun, or the source has ended this one.
    Old,
    /// A map alone, or a packet that the node holds already.
    Known,
    /// A packet that the node did not hold; at the destination it has arrived.
    New,
}

/// The consequences of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// The meaning of the packet.
    pub meaning: Meaning,
    /// A batch that has ended with it: the source learnt that all of it is delivered, or it belongs to a later one.
    pub ended: Option<u32>,
}

/// The packets that a node sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sending {
    /// A broadcast: as long as with the packet that the header names, or the header alone.
    Broadcast(Exor),
    /// A packet of the batch at hand goes to the destination by ordinary routing.
    Routed {
        /// The batch.
        batch: u32,
        /// The packet.
        packet: u8,
    },
}

/// A turn that has begun.
#[derive(Debug, Clone)]
struct Turn {
    /// Packets, `None` for a map alone; and what was sent of them.
    planned: Vec<Option<u8>>,
    sent: usize,
    /// The packets are handed to routing.
    routed: bool,
}

#[derive(Debug, Clone)]
struct Batch {
    number: u32,
    rank: u8,
    nodes: Nodes,
    map: BatchMap,
    held: Vec<bool>,
    /// Packets that may be sent, the first ones of the batch; all but at a source under a rate.
    granted: usize,
    /// When a packet was last handed to routing.
    routed: Vec<Option<Time>>,
    turns: Turns,
    turn: Option<Turn>,
    /// When something new was learnt, and when that or a word of a farther node.
    news: Time,
    alive: Time,
}

/// The state of a flow.
#[derive(Debug, Clone, Default)]
struct Known {
    batch: Option<Batch>,
    /// The last batch that has ended here.
    ended: Option<u32>,
}

/// The flows of ExOR at a node.
#[derive(Debug, Clone)]
pub struct ExorNode {
    me: u32,
    config: ExorConfig,
    flows: Flows<Known>,
    /// The flow that has sent last.
    turn: Option<Flow>,
}

impl Batch {
    fn new(
        (number, rank): (u32, u8),
        nodes: Nodes,
        packets: usize,
        turns: turns::TurnsConfig,
        now: Time,
    ) -> Option<Self> {
        // All that is known at first: the source holds everything.
        let count = nodes.view().len() as u8;
        let map = BatchMap::new(vec![count - 1; packets])?;
        let turns = Turns::new(turns, rank, count, now);
        let (held, routed) = (vec![false; packets], vec![None; packets]);
        let granted = packets;
        Some(Self {
            number,
            rank,
            nodes,
            map,
            held,
            granted,
            routed,
            turns,
            turn: None,
            news: now,
            alive: now,
        })
    }

    fn is_source(&self) -> bool {
        usize::from(self.rank) + 1 == self.nodes.view().len()
    }

    fn fits(&self, packets: usize, nodes: NodesView<'_>) -> bool {
        self.held.len() == packets && self.nodes.view() == nodes
    }

    fn is_delivered(&self) -> bool {
        map::delivered(&self.map) == self.held.len()
    }

    /// The packets that this node has to forward.
    fn left(&self) -> impl Iterator<Item = u8> + '_ {
        let may = |packet: &u8| self.held[usize::from(*packet)] && usize::from(*packet) < self.granted;
        map::left_to(&self.map, self.rank).filter(may)
    }

    /// True if the node is silent at a time.
    fn is_silent(&self, at: Time) -> bool {
        !self.is_source() && at.since(self.alive) >= QUIET
    }

    /// Begins the turn, if it is time and there is something to send.
    fn tick(&mut self, config: &ExorConfig, now: Time) {
        if self.turn.is_some() || now < self.turns.begins() {
            return;
        }
        if self.is_silent(now) {
            self.turns.passed(now);
            return;
        }
        if self.is_source() && now.since(self.news) >= STUCK {
            self.map.ranks_mut().iter_mut().filter(|rank| **rank > 0).for_each(|rank| *rank = self.rank);
        }
        let enough = map::delivered(&self.map) as f64 >= config.broadcast * self.held.len() as f64;
        let waits = |last: Option<Time>| last.is_some_and(|last| now.since(last) < config.again);
        let due = |packet: &u8| !enough || !waits(self.routed[usize::from(*packet)]);
        let mut planned: Vec<Option<u8>> = self.left().filter(due).map(Some).collect();
        if self.rank == 0 {
            planned = vec![None; config.maps.into()];
        } else if enough || planned.is_empty() {
            planned.push(None);
        }
        if planned.is_empty() {
            self.turns.passed(now);
        } else {
            self.turn = Some(Turn { planned, sent: 0, routed: enough });
        }
    }

    /// The rest of the turn, its number in front.
    fn rest(&self) -> impl Iterator<Item = (usize, Option<u8>)> + '_ {
        let turn = self.turn.iter();
        let rest = turn.flat_map(|turn| turn.planned.iter().copied().enumerate().skip(turn.sent));
        rest.filter(|(_, packet)| packet.is_none_or(|p| self.map.ranks()[usize::from(p)] == self.rank))
    }

    fn learnt(&mut self, news: bool, from_farther: bool, now: Time) {
        if news {
            self.news = now;
        }
        if news || from_farther {
            self.alive = now;
        }
    }

    fn make(&mut self, flow: &Flow, now: Time) -> Option<Sending> {
        let next = self.rest().next();
        let (turn, (number, packet)) = (self.turn.as_mut()?, next?);
        turn.sent = number + 1;
        let (size, routed) = (turn.planned.len() as u8, turn.routed);
        if self.rest().next().is_none() {
            self.turn = None;
            self.turns.passed(now.saturating_add(self.turns.packet()));
        }
        if let Some(packet) = packet.filter(|_| routed) {
            self.routed[usize::from(packet)] = Some(now);
            return Some(Sending::Routed { batch: self.number, packet });
        }
        let fragment = Fragment { number: number as u8, size };
        let nodes = self.nodes.clone();
        let head = Head { flow: flow.flow, batch: self.number, rank: self.rank, fragment, nodes };
        Exor::new(head, packet, self.map.clone()).map(Sending::Broadcast)
    }
}

impl ExorNode {
    /// A node without flows.
    #[must_use]
    pub const fn new(me: u32, config: ExorConfig) -> Self {
        Self { me, config, flows: Flows::new(me, config.flows), turn: None }
    }

    fn batch(&self, flow: &Flow) -> Option<&Batch> {
        self.flows.get(flow)?.batch.as_ref()
    }

    fn batch_mut(&mut self, flow: &Flow) -> Option<&mut Batch> {
        self.flows.get_mut(flow)?.batch.as_mut()
    }

    /// The source begins the next batch of a flow, of so many packets (1 to 100). Returns its number; `None` where the last one is not
    /// delivered, or the node is not the last of the list.
    pub fn begin(&mut self, flow: u32, packets: u8, nodes: &Nodes, now: Time) -> Option<u32> {
        let ended = self.flows.get(&nodes.view().flow(flow)).and_then(|known| known.ended);
        let number = ended.map_or(0, |ended| ended.wrapping_add(1));
        self.begin_as(number, flow, packets, nodes, now).then_some(number)
    }

    /// The same with a number for the batch, which must be later than those before. Returns whether it has begun.
    pub fn begin_as(&mut self, number: u32, flow: u32, packets: u8, nodes: &Nodes, now: Time) -> bool {
        let (ends, rank, config) = (nodes.view().flow(flow), nodes.view().len() as u8 - 1, self.config);
        if ends.source != self.me || ends.source == ends.destination {
            return false;
        }
        self.flows.make_room(&ends, |_, known| known.batch.is_none());
        let Some(known) = self.flows.entry(ends, now) else { return false };
        if known.batch.is_some() || known.ended.is_some_and(|ended| !later(number, ended)) {
            return false;
        }
        let Some(mut batch) = Batch::new((number, rank), nodes.clone(), packets.into(), config.turns, now)
        else {
            return false;
        };
        batch.held.fill(true);
        batch.turns.due(now);
        if config.granted {
            batch.granted = 0;
        }
        known.batch = Some(batch);
        true
    }

    /// A broadcast was heard.
    pub fn heard(&mut self, header: ExorView<'_>, now: Time) -> Heard {
        let mut result = Heard { meaning: Meaning::Ignored, ended: None };
        let (ExorView { flow, batch: number, rank: from, fragment, nodes, .. }, config) =
            (header, self.config);
        let Some(rank) = nodes.rank(self.me).filter(|&rank| rank != from) else { return result };
        let (source, packets) = (flow.source == self.me, header.map().len());
        // A source knows its flows.
        if source && self.flows.get(&flow).is_none() {
            return result;
        }
        let Some(known) = self.flows.entry(flow, now) else { return result };
        let open = known.batch.as_ref().map(|batch| batch.number);
        let over = known.ended.is_some_and(|ended| !later(number, ended));
        let anew = known.batch.as_ref().is_some_and(|batch| {
            let fits =
                if batch.number == number { batch.fits(packets, nodes) } else { later(number, batch.number) };
            !fits && now.since(batch.alive) >= QUIET
        });
        let old = over || open.is_some_and(|open| later(open, number));
        if old && !anew || source && open != Some(number) {
            result.meaning = Meaning::Old;
            return result;
        }
        if open != Some(number) || anew {
            let new = Batch::new((number, rank), nodes.shared(), packets, config.turns, now);
            let Some(new) = new else { return result };
            (result.ended, known.batch) = (open, Some(new));
            let before = if anew { known.ended } else { open.or(known.ended) };
            known.ended = before.filter(|&ended| later(number, ended));
        }
        let Some(batch) = known.batch.as_mut() else { return result };
        if !batch.fits(packets, nodes) {
            return result;
        }
        if batch.is_silent(now) {
            batch.turns.passed(now);
        }
        batch.turns.heard(from, fragment, now);
        let mut news = rank > 0 && map::merge(&mut batch.map, header.map());
        if batch.turn.is_some() && batch.rest().next().is_none() {
            // Better nodes turn out to hold all that was left.
            batch.turn = None;
            batch.turns.passed(now);
        }
        result.meaning = Meaning::Known;
        if let Some(packet) = header.packet()
            && !core::mem::replace(&mut batch.held[usize::from(packet)], true)
        {
            result.meaning = Meaning::New;
            news |= map::hold(&mut batch.map, packet, rank);
        }
        batch.learnt(news, from > rank, now);
        if source && batch.is_delivered() {
            (known.ended, known.batch, result.ended) = (Some(number), None, Some(number));
        }
        result
    }

    /// A packet has come to the destination by ordinary routing. True if the destination did not have it.
    pub fn routed(&mut self, flow: &Flow, number: u32, packet: u8, now: Time) -> bool {
        let mine = flow.destination == self.me;
        let Some(batch) = self.batch_mut(flow).filter(|batch| mine && batch.number == number) else {
            return false;
        };
        match batch.held.get_mut(usize::from(packet)) {
            Some(held) if !*held => {
                *held = true;
                map::hold(&mut batch.map, packet, 0);
                (batch.news, batch.alive) = (now, now);
                true
            }
            _ => false,
        }
    }

    /// Begins the turns that are due. The next is due at [`Self::wakes_at`].
    pub fn tick(&mut self, now: Time) {
        for batch in self.flows.values_mut().filter_map(|known| known.batch.as_mut()) {
            batch.tick(&self.config, now);
        }
    }

    /// When the next turn of this node begins, of all flows that are not having theirs; none if it will be silent then.
    #[must_use]
    pub fn wakes_at(&self) -> Option<Time> {
        let batches = self.flows.iter().filter_map(|(_, known)| known.batch.as_ref());
        let waits = batches.filter(|batch| batch.turn.is_none());
        let begins = waits.map(|batch| (batch.turns.begins(), batch));
        begins.filter(|(begins, batch)| !batch.is_silent(*begins)).map(|(begins, _)| begins).min()
    }

    /// Packets that are left of a flow's turn, if it has begun.
    #[must_use]
    pub fn backlog(&self, flow: &Flow) -> usize {
        self.batch(flow).map_or(0, |batch| batch.rest().count())
    }

    /// The flow that sends next, of those whose turns have begun: one after the other, in the order of their numbers.
    #[must_use]
    pub fn next(&self) -> Option<Flow> {
        let mut of = self.ready();
        let first = of.next()?;
        let is_next = |flow: &Flow| self.turn.is_none_or(|turn| *flow > turn);
        Some(if is_next(&first) { first } else { of.find(is_next).unwrap_or(first) })
    }

    /// The next packet of a flow's turn, when the medium is free.
    pub fn make(&mut self, flow: &Flow, now: Time) -> Option<Sending> {
        let sending = self.batch_mut(flow)?.make(flow, now)?;
        self.turn = Some(*flow);
        Some(sending)
    }

    /// Packets that are left to this node, of all flows of which that is true.
    pub(super) fn backlog_of(&self, which: impl Fn(&Flow) -> bool) -> u32 {
        let left = self.flows.iter().filter(|(flow, _)| flow.destination != self.me && which(flow));
        left.filter_map(|(_, known)| known.batch.as_ref()).map(|batch| batch.left().count() as u32).sum()
    }

    /// The batch at hand: its number, and its map.
    #[must_use]
    pub fn map(&self, flow: &Flow) -> Option<(u32, &BatchMap)> {
        self.batch(flow).map(|batch| (batch.number, &batch.map))
    }

    /// True if the node has all packets of the batch at hand.
    #[must_use]
    pub fn is_whole(&self, flow: &Flow) -> bool {
        self.batch(flow).is_some_and(|batch| batch.held.iter().all(|&held| held))
    }

    /// A flow to this node, by its number, whose batch at hand has a packet: the flow, the batch, and the packet's number in it. Numbers
    /// of batches are those of their first packets here.
    #[must_use]
    pub fn locate(&self, flow: u32, number: u32) -> Option<(Flow, u32, u8)> {
        let mut to_me =
            self.flows.iter().filter(|(ends, _)| ends.flow == flow && ends.destination == self.me);
        to_me.find_map(|(flow, known)| {
            let batch = known.batch.as_ref()?;
            let packet = u8::try_from(number.wrapping_sub(batch.number)).ok()?;
            (usize::from(packet) < batch.held.len()).then_some((flow, batch.number, packet))
        })
    }

    /// Packets of the batch at hand that the node holds, and all of the batch.
    #[must_use]
    pub fn held(&self, flow: &Flow) -> Option<[u16; 2]> {
        let held = &self.batch(flow)?.held;
        Some([held.iter().filter(|&&held| held).count(), held.len()].map(|count| count as u16))
    }

    /// Number of flows that are known.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.flows.len()
    }

    /// True if no flow is known.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Backlogged for ExorNode {
    fn backlog_to(&self, destination: u32) -> u32 {
        self.backlog_of(|flow| flow.destination == destination)
    }

    fn ready(&self) -> impl Iterator<Item = Flow> {
        let ready = |known: &Known| known.batch.as_ref().is_some_and(|batch| batch.rest().next().is_some());
        self.flows.iter().filter(move |(_, known)| ready(known)).map(|(flow, _)| flow)
    }

    /// Only maps: of its destination, or of a node that has nothing to forward.
    fn has_only_maps(&self, flow: &Flow) -> bool {
        self.batch(flow).is_some_and(|batch| batch.rest().all(|(_, packet)| packet.is_none()))
    }

    fn turn(&self) -> Option<Flow> {
        self.turn
    }

    fn nearer(&self, flow: &Flow) -> impl Iterator<Item = u32> {
        let list = self.batch(flow).map(|batch| batch.nodes.view().iter().take(batch.rank.into()));
        list.into_iter().flatten()
    }

    fn grant(&mut self, flow: &Flow, packets: u32) -> bool {
        let mine = flow.source == self.me;
        let Some(batch) = self.batch_mut(flow).filter(|_| mine) else { return false };
        let all = batch.held.len();
        let may = batch.granted < all;
        batch.granted = batch.granted.saturating_add(packets as usize).min(all);
        may
    }
}
