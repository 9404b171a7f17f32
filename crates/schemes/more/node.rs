//! A node of MORE: source, forwarder and destination of flows (§3).
//!
//! - A **source** has all natives of a batch and sends fresh combinations until the batch is acknowledged.
//! - A **forwarder** earns its credit by each packet from a node farther from the destination, stores innovative packets, and sends a fresh
//!   combination of what it holds while its credit counter is above 0; each costs 1.
//! - The **destination** acknowledges a batch when its rank is K.
//!
//! An acknowledgement that is heard, by whomever it is meant for, ends the batch and all before; so does a packet of a later batch.
//!
//! Readings:
//! - A packet that is not innovative earns credit too: credit pays for what was sent upstream (`dependent_earns`).
//! - A packet from a node that is not in the list earns nothing, and is stored if it is innovative.
//! - The destination repeats an acknowledgement when it hears packets of a batch that it has decoded, as the last one may be lost: first
//!   after `again`, then after twice that, up to a second. At a constant rate of 20 a second a diamond with losses of 0.6 came to a stand:
//!   the path back carries fewer, and the acknowledgement of each batch waited behind all those of the last.
//! - That a batch was acknowledged is remembered where no packet of it was heard: a late packet would revive it.
//! - Of several flows that have something to send each has a turn, in the order of their numbers.
//! - Credits are counted in parts of 1/1024, as they are in headers, so that no sum depends on rounding.
//! - Under a rate (DiffQ-MORE's source) a source sends what it was granted; without one, always.
//! - Under DiffQ a forwarder's credit is at most D packets, the size of a destination queue: what is above it would be dropped there.
//!   Credit that nobody takes would otherwise grow, and a flow with ever more of it than others would have every turn.
//! - A number of a batch or of natives that is forged would make all that the source sends look old, or not fit, for ever. So a batch of
//!   which nothing that fits was heard for three seconds gives way to whatever comes, unless that was acknowledged. Against one that forges
//!   all the time nothing helps without signatures.
//!
//! Memory: at most `flows` flows of others, the one heard longest ago gives way; of each one batch, of which K packets are stored.

use airfair_units::random::Stream;
use airfair_units::{Span, Time};
use airfair_wire::more::{
    Acknowledgement, Coded, CodedView, Credit, Flow, Forwarder, Forwarders, ForwardersView,
};

use super::decoder::Decoder;
use super::differential;
use crate::opportunistic::backpressure::Backlogged;
use crate::opportunistic::flows::Flows;
use crate::opportunistic::{QUIET, later};

/// A transmission, in parts.
const ONE: i64 = Credit::PARTS as i64;

/// Longest time between two acknowledgements of a batch that is heard again or of which nothing more is heard, unless the first was longer.
const LONGEST: Span = Span::from_secs(1);

/// The parameters of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoreConfig {
    /// A packet that is not innovative earns credit.
    pub dependent_earns: bool,
    /// Sources send what they are granted, instead of always.
    pub granted: bool,
    /// Most packets that credit entitles a forwarder to send at a time.
    pub depth: u32,
    /// Time between the first two acknowledgements of a batch; each further one takes twice as long as the last, up to a second.
    pub again: Span,
    /// Most flows that are known.
    pub flows: usize,
}

impl Default for MoreConfig {
    fn default() -> Self {
        Self {
            dependent_earns: true,
            granted: false,
            depth: u32::MAX,
            again: Span::from_millis(50),
            flows: 256,
        }
    }
}

/// The meaning of a packet for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// None: the node is neither in the list nor the destination, or it is the source, or the packet does not fit to the batch.
    Ignored,
    /// The batch has been acknowledged, or a later one has begun.
    Old,
    /// The node holds as much without it.
    Dependent,
    /// It is stored.
    Innovative,
    /// It is stored, and the destination has the batch.
    Decodes,
}

/// The consequences of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// The meaning of the packet.
    pub meaning: Meaning,
    /// A batch that it has ended, because it belongs to a later one.
    pub ended: Option<u32>,
    /// The acknowledgement that the destination has to send to the source.
    pub acknowledge: Option<Acknowledgement>,
}

/// A batch at a node.
#[derive(Debug, Clone)]
struct Batch {
    number: u32,
    forwarders: Forwarders,
    held: Decoder,
    /// Credit that is not used, parts of a transmission.
    counter: i64,
    /// When a packet of it was last heard that fits.
    heard: Time,
}

impl Batch {
    fn is_quiet(&self, now: Time) -> bool {
        now.since(self.heard) >= QUIET
    }
}

/// The state of a flow.
#[derive(Debug, Clone, Default)]
struct Known {
    /// The batch at hand.
    batch: Option<Batch>,
    /// The last batch that was acknowledged.
    ended: Option<u32>,
    /// When the destination last sent an acknowledgement, and after which time it may send the next.
    acknowledged: Option<(Time, Span)>,
}

/// The flows of MORE at a node.
#[derive(Debug, Clone)]
pub struct MoreNode {
    me: u32,
    config: MoreConfig,
    flows: Flows<Known>,
    /// The flow that has sent last.
    turn: Option<Flow>,
    /// Coefficients and entries of lists that heard packets have made it look at.
    pub(super) work: u64,
}

/// Place of a node in the order from the destination to the source: 0 the destination, then forwarders, then the source.
fn place(flow: &Flow, forwarders: ForwardersView<'_>, node: u32) -> Option<usize> {
    match node {
        _ if node == flow.destination => Some(0),
        _ if node == flow.source => Some(forwarders.len() + 1),
        _ => forwarders.iter().position(|forwarder| forwarder.node == node).map(|place| place + 1),
    }
}

impl MoreNode {
    /// A node without flows.
    #[must_use]
    pub const fn new(me: u32, config: MoreConfig) -> Self {
        Self { me, config, flows: Flows::new(me, config.flows), turn: None, work: 0 }
    }

    /// The source begins the next batch of a flow, with these natives and forwarders. Returns its number; `None` where the last one is not
    /// acknowledged, the node is not the source, or the natives are not all there.
    pub fn begin(&mut self, flow: Flow, natives: Decoder, forwarders: Forwarders, now: Time) -> Option<u32> {
        let number =
            self.flows.get(&flow).and_then(|known| known.ended).map_or(0, |ended| ended.wrapping_add(1));
        self.begin_as(number, flow, natives, forwarders, now).then_some(number)
    }

    /// The same with a number for the batch, which must be later than those before. Returns whether it has begun.
    pub fn begin_as(
        &mut self,
        number: u32,
        flow: Flow,
        natives: Decoder,
        forwarders: Forwarders,
        now: Time,
    ) -> bool {
        if flow.source != self.me || flow.destination == self.me || !natives.is_full() {
            return false;
        }
        self.flows.make_room(&flow, |_, known| known.batch.is_none());
        let Some(known) = self.flows.entry(flow, now) else { return false };
        if known.batch.is_some() || known.ended.is_some_and(|ended| !later(number, ended)) {
            return false;
        }
        known.batch = Some(Batch { number, forwarders, held: natives, counter: 0, heard: now });
        true
    }

    /// New forwarders for the batch at hand and its further packets: delivery ratios have changed.
    pub fn set_forwarders(&mut self, flow: &Flow, forwarders: Forwarders) {
        let mine = flow.source == self.me;
        if let Some(batch) = self.flows.get_mut(flow).and_then(|known| known.batch.as_mut()).filter(|_| mine)
        {
            batch.forwarders = forwarders;
        }
    }

    /// A packet of `from` was heard.
    pub fn heard(&mut self, header: CodedView<'_>, from: u32, now: Time) -> Heard {
        let mut result = Heard { meaning: Meaning::Ignored, ended: None, acknowledge: None };
        let (CodedView { flow, batch: number, forwarders, .. }, config) = (header, self.config);
        self.work += 1 + forwarders.len() as u64;
        let Some(mine) = place(&flow, forwarders, self.me).filter(|_| flow.source != self.me) else {
            return result;
        };
        let Some(known) = self.flows.entry(flow, now) else { return result };
        let open = known.batch.as_ref().map(|batch| batch.number);
        if known.ended.is_some_and(|ended| !later(number, ended))
            || known.batch.as_ref().is_some_and(|open| later(open.number, number) && !open.is_quiet(now))
        {
            result.meaning = Meaning::Old;
            if mine == 0 {
                result.acknowledge = known.acknowledge_again(flow, now);
            }
            return result;
        }
        result.ended = open.filter(|&open| open != number);
        let natives = header.vector().len();
        let fits = |held: &Decoder| usize::from(held.natives()) == natives;
        let batch = match &mut known.batch {
            Some(batch) if batch.number == number && (fits(&batch.held) || !batch.is_quiet(now)) => batch,
            none => none.insert(Batch {
                number,
                forwarders: forwarders.shared(),
                held: Decoder::new(natives as u8),
                counter: 0,
                heard: now,
            }),
        };
        if !fits(&batch.held) {
            return result;
        }
        batch.heard = now;
        // A step of the elimination for each packet that is held.
        self.work += natives as u64 * (1 + u64::from(batch.held.rank()));
        let innovative = batch.held.add(header.vector());
        result.meaning = if innovative { Meaning::Innovative } else { Meaning::Dependent };
        if mine == 0 {
            if batch.held.is_full() {
                known.ended = Some(number);
                known.acknowledged = Some((now, config.again));
                result.meaning = Meaning::Decodes;
                result.acknowledge = Some(Acknowledgement { flow, batch: number });
            }
            return result;
        }
        // The newest list counts, for what the node sends too.
        if batch.forwarders.view() != forwarders {
            batch.forwarders = forwarders.shared();
        }
        let farther = place(&flow, forwarders, from).is_some_and(|from| from > mine);
        if farther
            && (innovative || config.dependent_earns)
            && let Some(Forwarder { credit, .. }) = forwarders.get(mine - 1)
        {
            batch.counter = (batch.counter + i64::from(credit.0)).min(ONE * i64::from(config.depth));
        }
        result
    }

    /// True if the destination may send this acknowledgement once more by itself; then it counts as sent. It may if the flow is forgotten.
    pub fn acknowledges_again(&mut self, acknowledgement: &Acknowledgement, now: Time) -> bool {
        let &Acknowledgement { flow, batch } = acknowledgement;
        match self.flows.get_mut(&flow) {
            Some(known) if known.ended == Some(batch) => known.acknowledge_again(flow, now).is_some(),
            _ => true,
        }
    }

    /// An acknowledgement was heard, passed on or received. Returns the batch that this ends here: nothing of it is sent any more. At the
    /// source the next one may begin.
    pub fn acknowledged(&mut self, acknowledgement: &Acknowledgement, now: Time) -> Option<u32> {
        let Acknowledgement { flow, batch: number } = *acknowledgement;
        let me = self.me;
        // The destination knows by itself; a source knows its flows, and numbers that it has not given mean nothing.
        let known = match flow {
            _ if flow.destination == me => return None,
            _ if flow.source == me => self.flows.get_mut(&flow)?,
            _ => self.flows.entry(flow, now)?,
        };
        let open = known.batch.as_ref().map(|batch| batch.number);
        if flow.source == me && open != Some(number) {
            return None;
        }
        if known.ended.is_none_or(|ended| later(number, ended)) {
            known.ended = Some(number);
        }
        let ended = open.filter(|&open| !later(open, number));
        if ended.is_some() {
            known.batch = None;
        }
        ended
    }

    /// Packets that the node may send now for a flow: what credit, or a rate's grant, entitles it to. A source that always sends has 1.
    #[must_use]
    pub fn backlog(&self, flow: &Flow) -> u32 {
        self.flows.get(flow).map_or(0, |known| self.backlog_of(flow, known))
    }

    fn backlog_of(&self, flow: &Flow, known: &Known) -> u32 {
        let Some(batch) = &known.batch else { return 0 };
        // Without credit, as at the destination, it is 0 too.
        if batch.held.rank() == 0 {
            0
        } else if flow.source == self.me && !self.config.granted {
            1
        } else {
            u32::try_from((batch.counter.max(0) as u64).div_ceil(ONE as u64)).unwrap_or(u32::MAX)
        }
    }

    /// Flows that have something to send, with how much, in the order of their numbers.
    pub fn backlogs(&self) -> impl Iterator<Item = (Flow, u32)> + '_ {
        self.flows
            .iter()
            .map(|(flow, known)| (flow, self.backlog_of(&flow, known)))
            .filter(|&(_, backlog)| backlog > 0)
    }

    /// The flow whose turn it is.
    #[must_use]
    pub fn next(&self) -> Option<Flow> {
        let after = self.backlogs().find(|(flow, _)| self.turn.is_none_or(|turn| *flow > turn));
        Some(after.or_else(|| self.backlogs().next())?.0)
    }

    /// The header of a fresh combination, when the medium is free; `None` where the flow has nothing to send.
    pub fn make(&mut self, flow: &Flow, random: &mut Stream) -> Option<Coded> {
        if self.backlog(flow) == 0 {
            return None;
        }
        let endless = flow.source == self.me && !self.config.granted;
        let batch = self.flows.get_mut(flow)?.batch.as_mut()?;
        let vector = batch.held.combine(random)?;
        let header = Coded::new(*flow, batch.number, batch.forwarders.clone(), vector)?;
        if !endless {
            batch.counter -= ONE;
        }
        self.turn = Some(*flow);
        Some(header)
    }

    /// The batch at hand: its number, its rank, and K.
    #[must_use]
    pub fn rank(&self, flow: &Flow) -> Option<(u32, u8, u8)> {
        let batch = self.flows.get(flow)?.batch.as_ref()?;
        Some((batch.number, batch.held.rank(), batch.held.natives()))
    }

    /// The forwarders of the batch at hand.
    #[must_use]
    pub fn forwarders(&self, flow: &Flow) -> Option<&Forwarders> {
        Some(&self.flows.get(flow)?.batch.as_ref()?.forwarders)
    }

    /// The last batch that is known to be acknowledged.
    #[must_use]
    pub fn last_acknowledged(&self, flow: &Flow) -> Option<u32> {
        self.flows.get(flow)?.ended
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

impl Backlogged for MoreNode {
    fn backlog_to(&self, destination: u32) -> u32 {
        let to = self.flows.iter().filter(|(flow, _)| flow.destination == destination);
        to.fold(0, |sum, (flow, known)| sum.saturating_add(self.backlog_of(&flow, known)))
    }

    fn ready(&self) -> impl Iterator<Item = Flow> {
        self.backlogs().map(|(flow, _)| flow)
    }

    fn turn(&self) -> Option<Flow> {
        self.turn
    }

    fn nearer(&self, flow: &Flow) -> impl Iterator<Item = u32> {
        let (me, flow) = (self.me, *flow);
        let list = self.forwarders(&flow).map(|list| differential::nearer(flow, list, me));
        list.into_iter().flatten()
    }

    fn grant(&mut self, flow: &Flow, packets: u32) -> bool {
        let mine = flow.source == self.me;
        match self.flows.get_mut(flow).and_then(|known| known.batch.as_mut()).filter(|_| mine) {
            Some(batch) => {
                batch.counter = batch.counter.saturating_add(ONE * i64::from(packets));
                true
            }
            None => false,
        }
    }
}

impl Known {
    /// The acknowledgement of the last batch that was decoded, if it is time for another one.
    fn acknowledge_again(&mut self, flow: Flow, now: Time) -> Option<Acknowledgement> {
        let batch = self.ended?;
        if let Some((last, gap)) = &mut self.acknowledged {
            if now.since(*last) < *gap {
                return None;
            }
            (*last, *gap) = (now, next_gap(*gap));
        }
        Some(Acknowledgement { flow, batch })
    }
}

/// The time between two acknowledgements of a batch, after this one. Repetitions at a constant rate would queue up on a path that carries
/// fewer, and the acknowledgement of the next batch would wait behind them.
#[must_use]
pub fn next_gap(gap: Span) -> Span {
    Span(gap.0.saturating_mul(2)).min(LONGEST.max(gap))
}
