//! Stations with a forwarder: the packets of flows that their nodes forward, places in the MAC for broadcasts to be made, and what is
//! counted.
//!
//! A packet of such a flow stays at its source, in its list here, until a forwarder hands it up at its destination. What is on the air
//! meanwhile are broadcasts of forwarders, which are no packets of flows.

use std::collections::VecDeque;

use airfair_host::MessageIx;
use airfair_schemes::places::{FlowId, ForwarderEffects};
use airfair_units::Time;

use crate::ids::{CopyRef, FlowIx, NodeIx, PortIx, StationIx, Table};
use crate::measure::summary::ForwardCounts;

/// Most packets of a flow that have been taken by its forwarder and have not ended: a bound for forwarders that always have room.
const MOST_TAKEN: usize = 1 << 12;

/// Forwarders of a world, beside the agents that they are parts of. Empty if the scheme has none.
#[derive(Debug, Default)]
pub(crate) struct Forwarders {
    stations: Table<StationIx, Option<Forwarding>>,
    flows: Table<FlowIx, Option<ForwardedFlow>>,
    /// Flows by their scheme numbers, ascending, with their destinations.
    numbers: Vec<(FlowId, FlowIx, NodeIx)>,
    /// The first mistake of a forwarder whose effects are checked: its node, and what it asked for.
    pub mistake: Option<(NodeIx, String)>,
    /// Flows and batches of the broadcasts that have not ended, by the place of their headers.
    made: Vec<Option<(FlowIx, u32)>>,
}

/// A station with a forwarder.
#[derive(Debug, Clone)]
pub(crate) struct Forwarding {
    pub node: NodeIx,
    pub port: PortIx,
    /// It is told the delivery ratios of the network.
    pub wants_ratios: bool,
    /// The MAC holds a place for a broadcast.
    pub contends: bool,
    /// The forwarder sends next if the interface's queue has a packet, too: the two take turns.
    pub is_next: bool,
    /// Flows whose source is the node.
    own: Vec<FlowIx>,
}

/// A flow that forwarders carry.
#[derive(Debug, Clone)]
struct ForwardedFlow {
    source: StationIx,
    /// Packets that the forwarder of the source has not taken.
    waiting: VecDeque<CopyRef>,
    /// Packets that it has taken, from number `first` on; [`CopyRef::NONE`]: one that has been removed.
    taken: VecDeque<CopyRef>,
    first: u32,
    /// Batches that are whole at the destination: all before this one.
    whole_before: u32,
    counts: ForwardCounts,
    /// Nothing is counted afterwards, as nothing counts as delivered.
    stop: Time,
}

impl Forwarders {
    /// Adds a station's forwarder. `stations`: number of all stations.
    pub fn add(
        &mut self,
        (station, stations): (StationIx, usize),
        (node, port): (NodeIx, PortIx),
        wants_ratios: bool,
    ) {
        if self.stations.is_empty() {
            self.stations = (0..stations).map(|_| None).collect();
        }
        self.stations[station] =
            Some(Forwarding { node, port, wants_ratios, contends: false, is_next: false, own: Vec::new() });
    }

    /// True if a station has a forwarder.
    pub fn any(&self) -> bool {
        !self.stations.is_empty()
    }

    /// The stations with a forwarder.
    pub fn stations(&self) -> impl Iterator<Item = (StationIx, &Forwarding)> {
        self.stations.places().filter_map(|station| Some((station, self.stations[station].as_ref()?)))
    }

    /// The station of a node's forwarder.
    pub fn of_node(&self, node: NodeIx) -> Option<StationIx> {
        self.stations().find(|(_, at)| at.node == node).map(|(station, _)| station)
    }

    /// A station with a forwarder.
    pub fn at(&self, station: StationIx) -> Option<&Forwarding> {
        self.stations.get(station)?.as_ref()
    }

    /// A station with a forwarder, to be changed.
    pub fn at_mut(&mut self, station: StationIx) -> Option<&mut Forwarding> {
        self.stations.get_mut(station)?.as_mut()
    }

    /// Adds a flow, the next one, that is counted until `stop`. Forwarders carry it if `may` and both its ends have a forwarder.
    pub fn add_flow(&mut self, id: FlowId, [from, to]: [NodeIx; 2], may: bool, stop: Time) {
        let ends = if may && from != to { self.of_node(from).zip(self.of_node(to)) } else { None };
        let source = ends.map(|(source, _)| source);
        let flow = self.flows.push(source.map(|source| ForwardedFlow {
            source,
            waiting: VecDeque::new(),
            taken: VecDeque::new(),
            first: 0,
            whole_before: 0,
            counts: ForwardCounts::default(),
            stop,
        }));
        if let Some(at) = source.and_then(|source| self.at_mut(source)) {
            at.own.push(flow);
            let at = self.numbers.partition_point(|&(other, ..)| other < id);
            self.numbers.insert(at, (id, flow, to));
        }
    }

    /// A flow that forwarders carry, by its scheme number, with its destination.
    pub fn of_number(&self, id: FlowId) -> Option<(FlowIx, NodeIx)> {
        let at = self.numbers.binary_search_by_key(&id, |&(other, ..)| other).ok()?;
        self.numbers.get(at).map(|&(_, flow, to)| (flow, to))
    }

    fn flow(&mut self, flow: FlowIx) -> Option<&mut ForwardedFlow> {
        self.flows.get_mut(flow)?.as_mut()
    }

    /// The station whose forwarder takes the packets of a flow; none if routes carry the flow.
    #[inline]
    pub fn source_of(&self, flow: FlowIx) -> Option<StationIx> {
        self.flows.get(flow)?.as_ref().map(|flow| flow.source)
    }

    /// A flow whose source is a station's node, by its place among these.
    pub fn own(&self, station: StationIx, place: usize) -> Option<FlowIx> {
        self.at(station)?.own.get(place).copied()
    }

    /// Packets of a flow that its forwarder has not taken.
    pub fn waiting(&self, flow: FlowIx) -> usize {
        self.flows.get(flow).and_then(Option::as_ref).map_or(0, |flow| flow.waiting.len())
    }

    /// All packets of flows that wait for a forwarder or that one has taken.
    pub fn packets(&self) -> impl Iterator<Item = CopyRef> + '_ {
        let flows = self.flows.iter().flatten();
        flows.flat_map(|flow| flow.waiting.iter().chain(&flow.taken)).copied()
    }

    /// Adds a packet of a flow that waits for its forwarder.
    pub fn wait(&mut self, flow: FlowIx, copy: CopyRef) {
        self.flow(flow).into_iter().for_each(|flow| flow.waiting.push_back(copy));
    }

    /// The first packet of a flow that waits, now taken by its forwarder, with its number.
    pub fn take(&mut self, flow: FlowIx) -> Option<(CopyRef, u32)> {
        let flow = self.flow(flow).filter(|flow| flow.taken.len() < MOST_TAKEN)?;
        let copy = flow.waiting.pop_front()?;
        flow.taken.push_back(copy);
        Some((copy, flow.first.wrapping_add(flow.taken.len() as u32 - 1)))
    }

    /// A packet that a forwarder has taken, by its number; none if it has been removed.
    pub fn taken(&self, flow: FlowIx, number: u32) -> Option<CopyRef> {
        let flow = self.flows.get(flow)?.as_ref()?;
        let copy = *flow.taken.get(number.wrapping_sub(flow.first) as usize)?;
        Some(copy).filter(|&copy| copy != CopyRef::NONE)
    }

    /// Removes a packet that a forwarder has taken, by its number: it has arrived. None if that has happened before.
    pub fn remove(&mut self, flow: FlowIx, number: u32) -> Option<CopyRef> {
        let flow = self.flow(flow)?;
        let taken = flow.taken.get_mut(number.wrapping_sub(flow.first) as usize)?;
        let copy = std::mem::replace(taken, CopyRef::NONE);
        while flow.taken.front() == Some(&CopyRef::NONE) {
            flow.taken.pop_front();
            flow.first = flow.first.wrapping_add(1);
        }
        Some(copy).filter(|&copy| copy != CopyRef::NONE)
    }

    /// True if a forwarder has taken a packet with this number, whether or not it has been removed since.
    fn has_taken(&self, flow: FlowIx, number: u32) -> bool {
        self.flows.get(flow).and_then(Option::as_ref).is_some_and(|flow| {
            number < flow.first || (number.wrapping_sub(flow.first) as usize) < flow.taken.len()
        })
    }

    /// Keeps the first of these effects, requested by a hook of a node's forwarder, that concerns a flow or a packet that does not exist.
    pub fn check(&mut self, node: NodeIx, hook: &str, effects: &ForwarderEffects) {
        if self.mistake.is_none()
            && let Some(problem) = self.problem(node, effects)
        {
            self.mistake = Some((node, format!("{hook} has called Context.{problem}")));
        }
    }

    fn problem(&self, node: NodeIx, effects: &ForwarderEffects) -> Option<String> {
        let known = "expected a flow that forwarders carry";
        let unknown = |call: String| format!("{call}: there is no such flow; {known}");
        for held in &effects.holds {
            if self.of_number(held.flow).is_none() {
                return Some(unknown(format!("hold for flow {}", held.flow.0)));
            }
        }
        for &(id, batch) in &effects.whole {
            let call = format!("count_whole(flow {}, batch {batch})", id.0);
            match self.of_number(id) {
                None => return Some(unknown(call)),
                Some((_, to)) if to != node => {
                    return Some(format!(
                        "{call}: the flow ends at another node; expected one that ends here"
                    ));
                }
                Some(_) => {}
            }
        }
        let handed_up = effects.delivered.iter().map(|&(id, number)| ("deliver", id, number, true));
        let passed_on = effects.routed.iter().map(|&(id, number)| ("route", id, number, false));
        for (name, id, number, here) in handed_up.chain(passed_on) {
            let call = format!("{name}(flow {}, number {number})", id.0);
            match self.of_number(id) {
                None => return Some(unknown(call)),
                Some((_, to)) if (to == node) != here => {
                    let (is, expected) =
                        if here { ("at another node", "ends here") } else { ("here", "goes on") };
                    return Some(format!("{call}: the flow ends {is}; expected one that {expected}"));
                }
                Some((flow, _)) if !self.has_taken(flow, number) => {
                    return Some(format!(
                        "{call}: the flow has no such packet; expected a number that Forwarder.on_packet was given"
                    ));
                }
                Some(_) => {}
            }
        }
        None
    }

    /// Flow and batch of a broadcast, by its header.
    pub fn made(&self, header: MessageIx) -> Option<(FlowIx, u32)> {
        self.made.get(header.0 as usize).copied().flatten()
    }

    /// Counts a broadcast with this header for a batch of a flow.
    pub fn count_made(&mut self, header: MessageIx, of: Option<FlowIx>, batch: u32, now: Time) {
        let place = header.0 as usize;
        if place >= self.made.len() {
            self.made.resize(place + 1, None);
        }
        self.made[place] = of.map(|flow| (flow, batch));
        let Some(flow) = of.and_then(|flow| self.flow(flow)).filter(|flow| now <= flow.stop) else { return };
        if batch < flow.whole_before {
            flow.counts.late += 1;
        } else {
            flow.counts.broadcasts += 1;
        }
    }

    /// Counts a broadcast that has brought the destination something new.
    pub fn count_innovative(&mut self, flow: FlowIx, now: Time) {
        self.flow(flow).into_iter().for_each(|flow| flow.counts.innovative += u64::from(now <= flow.stop));
    }

    /// Counts a batch that has become whole at the destination.
    pub fn count_whole(&mut self, flow: FlowIx, batch: u32, now: Time) {
        let Some(flow) = self.flow(flow) else { return };
        flow.whole_before = flow.whole_before.max(batch.saturating_add(1));
        flow.counts.batches += u64::from(now <= flow.stop);
    }

    /// Counts of a flow; none if routes carry it.
    pub fn counts(&self, flow: FlowIx) -> Option<ForwardCounts> {
        self.flows.get(flow)?.as_ref().map(|flow| flow.counts)
    }

    /// Counts begin anew at the end of the warm-up.
    pub fn warmed_up(&mut self) {
        self.flows.iter_mut().flatten().for_each(|flow| flow.counts = ForwardCounts::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_stations() -> Forwarders {
        let mut forwarders = Forwarders::default();
        for i in 0..2 {
            forwarders.add((StationIx(i), 3), (NodeIx(i), PortIx(i)), false);
        }
        forwarders
    }

    #[test]
    fn both_ends_need_a_forwarder() {
        let mut forwarders = two_stations();
        for (from, to, may) in [(0, 1, true), (0, 2, true), (2, 0, true), (0, 0, true), (0, 1, false)] {
            forwarders.add_flow(FlowId(100 - from), [NodeIx(from), NodeIx(to)], may, Time(9));
        }
        assert_eq!(forwarders.of_number(FlowId(100)), Some((FlowIx(0), NodeIx(1))));
        assert_eq!(forwarders.of_number(FlowId(98)), None);
        let sources = [0, 1, 2, 3, 4].map(|flow| forwarders.source_of(FlowIx(flow)));
        assert_eq!(sources, [Some(StationIx(0)), None, None, None, None]);
        assert_eq!([0, 1].map(|place| forwarders.own(StationIx(0), place)), [Some(FlowIx(0)), None]);
    }

    #[test]
    fn packets_end_in_any_order_and_once() {
        let mut forwarders = two_stations();
        forwarders.add_flow(FlowId(7), [NodeIx(0), NodeIx(1)], true, Time(5));
        let flow = FlowIx(0);
        (0..4).for_each(|i| forwarders.wait(flow, CopyRef(i)));
        let taken: Vec<_> = std::iter::from_fn(|| forwarders.take(flow)).collect();
        assert_eq!(taken, [(CopyRef(0), 0), (CopyRef(1), 1), (CopyRef(2), 2), (CopyRef(3), 3)]);
        let removed = [1, 1, 0, 0, 8].map(|number| forwarders.remove(flow, number));
        assert_eq!(removed, [Some(CopyRef(1)), None, Some(CopyRef(0)), None, None]);
        let held = [0, 1, 2, 3, 4].map(|number| forwarders.taken(flow, number));
        assert_eq!(held, [None, None, Some(CopyRef(2)), Some(CopyRef(3)), None]);
        assert_eq!(forwarders.packets().collect::<Vec<_>>(), [CopyRef(2), CopyRef(3)]);
        forwarders.wait(flow, CopyRef(9));
        assert_eq!(forwarders.take(flow), Some((CopyRef(9), 4)));
        assert_eq!(forwarders.remove(flow, 2), Some(CopyRef(2)));
    }

    #[test]
    fn broadcasts_after_a_batch_is_whole_are_late() {
        let mut forwarders = two_stations();
        forwarders.add_flow(FlowId(7), [NodeIx(0), NodeIx(1)], true, Time(5));
        let flow = FlowIx(0);
        forwarders.count_made(MessageIx(3), Some(flow), 0, Time(1));
        forwarders.count_whole(flow, 0, Time(2));
        forwarders.count_made(MessageIx(1), Some(flow), 0, Time(3));
        forwarders.count_made(MessageIx(3), Some(flow), 1, Time(5));
        assert_eq!(forwarders.made(MessageIx(3)), Some((flow, 1)));
        let counts = ForwardCounts { broadcasts: 2, late: 1, innovative: 0, batches: 1 };
        assert_eq!(forwarders.counts(flow), Some(counts));
    }

    #[test]
    fn nothing_is_counted_after_the_stop() {
        let mut forwarders = two_stations();
        forwarders.add_flow(FlowId(7), [NodeIx(0), NodeIx(1)], true, Time(5));
        let flow = FlowIx(0);
        for now in [Time(5), Time(6)] {
            forwarders.count_made(MessageIx(3), Some(flow), 0, now);
            forwarders.count_innovative(flow, now);
            forwarders.count_whole(flow, 0, now);
        }
        let counts = ForwardCounts { broadcasts: 1, late: 0, innovative: 1, batches: 1 };
        assert_eq!(forwarders.counts(flow), Some(counts));
        // What the destination holds is known, still.
        forwarders.count_whole(flow, 8, Time(7));
        assert_eq!(forwarders.flow(flow).map(|flow| flow.whole_before), Some(9));
    }
}
