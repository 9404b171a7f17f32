//! The observer that explains a flow: it accounts for the time between events and for the records of each event.

use std::collections::BTreeMap;

use airfair_units::Time;

use super::allocation::{Allocations, ShareOfLink, stamped};
use super::attempts::AttemptCounts;
use super::hop::{HopSender, ObservedHop};
use super::levels::Levels;
use super::route::Route;
use super::sending::Senders;
use super::standing::{Compared, offered_bps, standing};
use super::station::{ActivityIntervals, Holder, ObservedStation};
use super::view::{self, Owner};
use super::wire::Wire;
use super::{
    Attempts, CategoriesExplanation, Cause, DifferentialExplanation, Drops, Explanation, HopExplanation,
    QueueExplanation, Sending, Standing, TcpExplanation, Waiting,
};
use crate::air::Air;
use crate::ids::{ConnectionRef, FlowIx, LinkRef, NodeIx, PacketRef, StationIx};
use crate::link::link_of;
use crate::measure::summary::InhibitedLink;
use crate::node::Network;
use crate::node::endpoints::flow::Flow;
use crate::node::plane::accounts::drop_reason;
use crate::observe::paths;
use crate::observe::{Observer, RunInfo, WorldView};
use crate::record::{Content, FrameKind, FrameView, Names, Record};
use crate::spec::Traffic;

/// A hop that a packet has left so long ago is still one of the path, ns.
const RECENTLY: u64 = 1_000_000_000;

/// A packet of the flow that has not ended.
#[derive(Debug)]
struct Tracked {
    forward: bool,
    /// Number of its hops so far.
    hops_so_far: usize,
    /// Present hop of the packet; none while the packet waits for a route.
    hop: Option<usize>,
    connection: Option<ConnectionRef>,
    /// The rates that the hops so far have stamped into it.
    stamped: Vec<ShareOfLink>,
}

/// Dropped packets of the flow that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Dropped {
    data: bool,
    opening: bool,
}

/// Observer that explains a flow.
#[derive(Debug)]
pub(crate) struct Explainer {
    flow: FlowIx,
    offered_bps: Option<f64>,
    /// Start and end of the explained time, ns.
    window: (u64, u64),
    /// End of the time that is accounted for, ns.
    seen: u64,
    stations: Vec<ObservedStation>,
    /// Index of each station among the observed ones.
    place: Vec<Option<usize>>,
    node_of_station: Vec<NodeIx>,
    /// Hops of the flow's path, with fixed routes: forward, then back.
    hops: Vec<ObservedHop>,
    /// Number of forward hops with fixed routes; with a routing protocol hops are added when packets first use them.
    forward_hops: Option<usize>,
    /// True if a packet of the flow waits for a route, and the total time of that, ns.
    awaits_route: bool,
    awaited_route: u64,
    route: Route,
    packets: BTreeMap<PacketRef, Tracked>,
    /// Number of lists of hearers that movement had changed after the last event.
    renewed: u64,
    /// The last packet of every station, with its owner. A packet may have been delivered before it is retransmitted.
    sending: Vec<(PacketRef, Owner)>,
    senders: Option<Senders>,
    drops: BTreeMap<(NodeIx, &'static str, Dropped), u64>,
    stretches: ActivityIntervals,
    allocations: Allocations,
}

impl Observer for Explainer {
    fn record(&mut self, _at: Time, record: &Record, world: &WorldView<'_>) {
        // State is constant between events; the time since the last one is accounted for with the state recorded then.
        self.account_until(world.now.as_nanos());
        self.on_record(world.now.as_nanos(), record, world.air, world.network);
    }

    fn event_done(&mut self, world: &WorldView<'_>) {
        let (now, air, network) = (world.now.as_nanos(), world.air, world.network);
        self.account_until(now);
        self.arrive(network);
        let renewed = air.renewed_lists();
        for station in &mut self.stations {
            station.observe(air, network);
            if renewed != self.renewed {
                station.recompute_signals(air);
            }
        }
        self.renewed = renewed;
        for hop in &mut self.hops {
            let own = Owner::Flow(self.flow, hop.is_forward());
            match &mut hop.sends {
                HopSender::Wire(wire) => wire.observe(network, own),
                &mut HopSender::Station(place, _) => hop.observe(&self.stations[place]),
            }
        }
        if let Some(senders) = &mut self.senders {
            senders.observe(network, now, self.window);
        }
        self.observe_shares(network, now);
        self.route.observe(network, self.flow);
        self.awaits_route =
            self.forward_hops.is_none() && self.packets.values().any(|packet| packet.hop.is_none());
    }
}

impl Explainer {
    pub(crate) fn new(flow: FlowIx, traffic: &Traffic, world: &WorldView<'_>) -> Self {
        let (air, network) = (world.air, world.network);
        let &Flow { start, stop, .. } = &network.endpoints.flows[flow];
        let tcp = network.endpoints.flows[flow].is_tcp();
        let mut explainer = Self {
            flow,
            offered_bps: offered_bps(traffic),
            window: (start.max(world.run.warmup).0, stop.0),
            seen: 0,
            stations: Vec::new(),
            place: vec![None; air.len()],
            node_of_station: world.run.names.node_of_station.clone(),
            hops: Vec::new(),
            forward_hops: None,
            awaits_route: false,
            awaited_route: 0,
            route: Route::default(),
            packets: BTreeMap::new(),
            renewed: 0,
            sending: vec![(PacketRef::NONE, Owner::Other); air.len()],
            senders: tcp.then(Senders::default),
            drops: BTreeMap::new(),
            stretches: ActivityIntervals::default(),
            allocations: Allocations::default(),
        };
        if network.plane.routes.are_found() {
            // Signals that a station has received before it is observed cannot be determined later.
            air.stations().for_each(|station| _ = explainer.add_station(station, air));
            return explainer;
        }
        explainer.add_path(true, air, network);
        explainer.forward_hops = Some(explainer.hops.len());
        if tcp {
            explainer.add_path(false, air, network);
        }
        explainer
    }

    fn add_path(&mut self, forward: bool, air: &Air, network: &Network) {
        for ends in paths::hops(network, self.flow, forward) {
            self.add_hop(ends, forward, air, network);
        }
    }

    /// Adds a hop without packets of the flow; returns its index.
    fn add_hop(&mut self, ends: paths::PathHop, forward: bool, air: &Air, network: &Network) -> usize {
        let sends = match ends.link {
            LinkRef::Station(station) => {
                self.add_station(ends.peer, air);
                HopSender::Station(self.add_station(station, air), ends.peer)
            }
            LinkRef::Wire(wire) => HopSender::Wire(Wire::new(wire)),
        };
        let category = view::category_of_queue(network, ends.link, self.flow);
        let port = view::port(network, ends.link, self.flow);
        let pipeline = network.plane.interfaces.pipeline(port);
        let holds = !pipeline.queue_header().is_none() || pipeline.may_hold_back();
        let mut hop = ObservedHop::new(ends, Owner::Flow(self.flow, forward), sends, category, holds);
        hop.observed = self.seen.min(self.window.1).saturating_sub(self.window.0);
        hop.no_packet = hop.observed;
        self.hops.push(hop);
        self.hops.len() - 1
    }

    fn add_station(&mut self, station: StationIx, air: &Air) -> usize {
        *self.place[station.ix()].get_or_insert_with(|| {
            self.stations.push(ObservedStation::new(station, air));
            self.stations.len() - 1
        })
    }

    /// Accounts for the time since the last event.
    fn account_until(&mut self, now: u64) {
        if self.seen < now {
            self.route.settle((self.window.0..self.window.1).contains(&self.seen));
        }
        let (from, until) = (self.seen.max(self.window.0), now.min(self.window.1));
        if from < until {
            self.account(from, until);
        }
        if self.seen < now {
            self.seen = now;
            for station in &mut self.stations {
                station.remove_ended(now);
            }
            for hop in &mut self.hops {
                if let HopSender::Wire(wire) = &mut hop.sends {
                    wire.remove_ended(now);
                }
            }
        }
    }

    fn account(&mut self, from: u64, until: u64) {
        self.awaited_route += if self.awaits_route { until - from } else { 0 };
        self.route.add(until - from);
        for place in 0..self.stations.len() {
            // Hops of the flow may share a station; the activities are those for a packet in this category.
            let mut known = None;
            for hop in &mut self.hops {
                if !matches!(hop.sends, HopSender::Station(at, _) if at == place) {
                    continue;
                }
                let station = &self.stations[place];
                if let Some(category) = hop.concerns().filter(|&category| known != Some(category)) {
                    station.add_activities(category, from, until, &mut self.stretches);
                    known = Some(category);
                }
                hop.add(until - from, station, &self.stretches);
            }
        }
        for hop in &mut self.hops {
            hop.add_wire(from, until);
        }
        if let Some(senders) = &mut self.senders {
            senders.add(until - from);
        }
    }

    /// Counters of the hops over which one station sends to another.
    fn trials_between(&mut self, from: StationIx, to: StationIx) -> impl Iterator<Item = &mut AttemptCounts> {
        let stations = &self.stations;
        self.hops.iter_mut().filter_map(move |hop| match hop.sends {
            HopSender::Station(sender, peer) if (stations[sender].number, peer) == (from, to) => {
                Some(&mut hop.trials)
            }
            _ => None,
        })
    }

    fn counts(&self, now: u64) -> bool {
        (self.window.0..=self.window.1).contains(&now)
    }

    /// The flow's hop after `hops_so_far` others, with fixed routes.
    fn hop_at(&self, forward: bool, hops_so_far: usize) -> Option<usize> {
        let middle = self.forward_hops?;
        let (first, end) = if forward { (0, middle) } else { (middle, self.hops.len()) };
        (hops_so_far < end - first).then_some(first + hops_so_far)
    }

    /// Sender of a frame and the flow that the frame serves: a response serves the flow of the station that requested it.
    fn holder(&self, kind: FrameKind, sender: StationIx, receiver: Option<StationIx>) -> Holder {
        let is_response = matches!(kind, FrameKind::Cts | FrameKind::Ack);
        let served = receiver.filter(|_| is_response).unwrap_or(sender);
        let owner = self.sending.get(served.ix()).map_or(Owner::Other, |s| s.1);
        Holder { node: Some(self.node_of_station[sender.ix()]), owner }
    }

    fn on_record(&mut self, now: u64, record: &Record, air: &Air, network: &Network) {
        match *record {
            Record::Start { frame } => self.on_start(&frame, now, air, network),
            Record::Received { frame, at, signal: _ }
                if matches!(frame.kind, FrameKind::Rts | FrameKind::Data) =>
            {
                self.trials_between(frame.sender, at).for_each(|trials| trials.on_received(frame.number));
                if frame.kind == FrameKind::Data {
                    self.moved(frame.packet, network);
                }
            }
            Record::LateResponse { at, from, number, cts: _ } => {
                self.trials_between(at, from).for_each(|trials| trials.on_late(number));
            }
            Record::Lost { frame, at, loss, signal } => {
                let Some(place) = self.place[at.ix()] else { return };
                let comes_late = frame.is_response() && air.mac(at).comes_late(signal.delay);
                let station = &self.stations[place];
                for hop in &mut self.hops {
                    let HopSender::Station(sender, peer) = hop.sends else { continue };
                    let sender = self.stations[sender].number;
                    if (frame.sender, at) == (sender, peer) {
                        hop.trials.on_lost(&frame, loss, station, None);
                    } else if (frame.sender, at) == (peer, sender) {
                        let response = frame.is_response().then_some(comes_late);
                        hop.trials.on_lost(&frame, loss, station, response);
                    }
                }
            }
            Record::CtsWithheld { at, to, .. } => {
                let Some(place) = self.place[at.ix()] else { return };
                let (reserved, by) = self.stations[place].withholds(now);
                self.trials_between(to, at).for_each(|trials| trials.on_withheld(reserved, by));
            }
            Record::NoResponse { at, cts, given_up, .. } => {
                let counts = self.counts(now);
                for hop in &mut self.hops {
                    if let HopSender::Station(sender, _) = hop.sends
                        && self.stations[sender].number == at
                        && hop.is_own(&self.stations[sender], self.stations[sender].sending())
                    {
                        hop.trials.on_no_response(cts, given_up, counts);
                    }
                }
            }
            Record::InternalCollision { at, category, winner, given_up, .. } => {
                let Some(place) = self.place[at.ix()] else { return };
                let counts = self.counts(now);
                for hop in &mut self.hops {
                    if counts && matches!(hop.sends, HopSender::Station(sender, _) if sender == place) {
                        hop.on_internal_collision(&self.stations[place], (category, winner), given_up);
                    }
                }
                self.stations[place].on_internal_collision(category, winner);
            }
            Record::Made { packet, flow, forward, connection } if flow == self.flow => {
                self.on_made(packet, forward, connection);
            }
            Record::SenderRan { connection, flow } if flow == self.flow => {
                self.senders.iter_mut().for_each(|senders| senders.on_touched(connection));
            }
            Record::Compared { node, packet, differential } => {
                let tracked = self.packets.get(&packet).and_then(|tracked| tracked.hop);
                let counts = self.counts(now);
                if let Some(hop) = tracked.map(|hop| &mut self.hops[hop]).filter(|hop| hop.ends.from == node)
                {
                    hop.levels.on_compared(packet, differential, counts);
                }
            }
            Record::Routed { node, flow, packet, next, port, hops } if flow == self.flow => {
                let ends = paths::hop(network, node, next, port);
                self.on_routed(packet, usize::from(hops), ends, (air, network));
            }
            Record::Delivered { flow, packet, .. } if flow == Some(self.flow) => {
                self.note_stamp(packet, network);
                if let Some(tracked) = self.packets.get(&packet) {
                    self.allocations.on_delivered(&tracked.stamped, network, now, self.window);
                }
                self.remove_packet(packet);
            }
            Record::Dropped { node, flow, packet, content, reason, .. } if flow == Some(self.flow) => {
                self.on_dropped((node, packet), content, reason, now, network);
            }
            _ => {}
        }
    }

    /// Registers a packet that the flow has made.
    fn on_made(&mut self, packet: PacketRef, forward: bool, connection: Option<ConnectionRef>) {
        let hop = self.hop_at(forward, 0);
        if hop.is_none() && self.forward_hops.is_some() {
            return;
        }
        if let (Some(senders), Some(id)) = (&mut self.senders, connection) {
            senders.on_made(id);
        }
        self.packets
            .insert(packet, Tracked { forward, hops_so_far: 0, hop: None, connection, stamped: Vec::new() });
        self.enter(packet, hop);
    }

    fn on_start(&mut self, frame: &FrameView, now: u64, air: &Air, network: &Network) {
        let is_for_own_packet = matches!(frame.kind, FrameKind::Rts | FrameKind::Data | FrameKind::Broadcast)
            || Some(frame.sender) == frame.receiver;
        if is_for_own_packet {
            let packet = air.held(frame.sender).next().map_or(PacketRef::NONE, |msdu| msdu.packet);
            let sending = &mut self.sending[frame.sender.ix()];
            match view::owner(network, packet) {
                Some(owner) => *sending = (packet, owner),
                None if sending.0 == packet => {}
                None => *sending = (packet, Owner::Other),
            }
        }
        let holder = self.holder(frame.kind, frame.sender, frame.receiver);
        let category = air.view(frame.sender).sends.unwrap_or(0);
        for station in &mut self.stations {
            station.on_start(frame, category, holder, air);
        }
        if matches!(frame.kind, FrameKind::Cts | FrameKind::Ack) {
            let to = frame.receiver.unwrap_or(frame.sender);
            self.trials_between(to, frame.sender).for_each(|trials| trials.on_response(frame.number));
        }
        if !matches!(frame.kind, FrameKind::Rts | FrameKind::Data) {
            return;
        }
        let counts = self.counts(now);
        for hop in &mut self.hops {
            if let HopSender::Station(place, _) = hop.sends
                && self.stations[place].number == frame.sender
                && hop.is_own(&self.stations[place], category)
            {
                hop.trials.on_start(frame, counts);
                hop.levels.on_start(frame, frame.category);
            }
        }
    }

    /// Counts a packet of the flow that was dropped at a node.
    fn on_dropped(
        &mut self,
        (node, packet): (NodeIx, PacketRef),
        content: Content,
        reason: &'static str,
        now: u64,
        network: &Network,
    ) {
        if self.counts(now) {
            // Without a record of its making, the packet's content decides its direction.
            let of_data = !matches!(content, Content::Ack | Content::SynAck | Content::Report);
            let forward = self.packets.get(&packet).map_or(of_data, |tracked| tracked.forward);
            let opening = matches!(content, Content::Syn | Content::SynAck);
            let what = Dropped { data: forward && !opening, opening };
            *self.drops.entry((node, reason, what)).or_default() += 1;
            if drop_reason::is_of_queue(reason) {
                self.on_dropped_by_queue(node, packet, now, network);
            }
        }
        self.remove_packet(packet);
    }

    /// Counts the packets in a queue that has dropped a packet of the flow; a packet that has arrived in the same event counts too.
    fn on_dropped_by_queue(&mut self, node: NodeIx, packet: PacketRef, now: u64, network: &Network) {
        let Some(&Tracked { forward, hop, .. }) = self.packets.get(&packet) else { return };
        let is_here = |hop: &ObservedHop| hop.is_forward() == forward && hop.ends.from == node;
        let found = hop.filter(|&hop| is_here(&self.hops[hop]));
        let Some(hop) = found.or_else(|| self.hops.iter().position(is_here)) else { return };
        let hop = &mut self.hops[hop];
        hop.dropped += 1;
        for (owner, packets) in view::waiting_by_owner(network, hop.ends.link, self.flow, Time(now)) {
            *hop.full_of.entry(owner).or_default() += packets;
        }
    }

    /// Moves packets of the flow that have arrived at the end of a wire; each wire delivers in the order of sending.
    fn arrive(&mut self, network: &Network) {
        for hop in 0..self.hops.len() {
            if let HopSender::Wire(wire) = &self.hops[hop].sends
                && let Some(packet) = wire.first_in_flight()
            {
                self.moved(packet, network);
            }
        }
    }

    /// Samples the shares on the hops of the path: where routes are found, on those that have had packets of the flow for less than a
    /// second.
    fn observe_shares(&mut self, network: &Network, now: u64) {
        let is_fixed = self.forward_hops.is_some();
        let used = |hop: &&ObservedHop| is_fixed || hop.here > 0 || now.saturating_sub(hop.left) < RECENTLY;
        let path = self.hops.iter().filter(|hop| hop.is_forward()).filter(used);
        self.allocations.observe(self.flow, path, network, now, self.window);
    }

    /// Notes the rate that a packet has been given by the hop that it leaves.
    fn note_stamp(&mut self, packet: PacketRef, network: &Network) {
        let Some(tracked) = self.packets.get_mut(&packet).filter(|tracked| tracked.forward) else { return };
        let rate = tracked.hop.and_then(|hop| stamped(self.flow, &self.hops[hop], network));
        tracked.stamped.extend(rate);
    }

    /// Moves a packet to its next hop, if it is the flow's and was no duplicate.
    fn moved(&mut self, packet: PacketRef, network: &Network) {
        let Some(tracked) = self.packets.get_mut(&packet) else { return };
        let Some(hops_so_far) =
            view::hops_so_far(network, packet).filter(|&hops_so_far| hops_so_far > tracked.hops_so_far)
        else {
            return;
        };
        tracked.hops_so_far = hops_so_far;
        let forward = tracked.forward;
        self.note_stamp(packet, network);
        self.enter(packet, self.hop_at(forward, hops_so_far));
    }

    /// Moves a packet to the next hop that routing has found.
    fn on_routed(
        &mut self,
        packet: PacketRef,
        hops_so_far: usize,
        ends: paths::PathHop,
        (air, network): (&Air, &Network),
    ) {
        let Some(tracked) = self.packets.get_mut(&packet) else { return };
        tracked.hops_so_far = hops_so_far;
        let forward = tracked.forward;
        let known = self.hops.iter().position(|hop| hop.is_forward() == forward && hop.ends == ends);
        let hop = known.unwrap_or_else(|| self.add_hop(ends, forward, air, network));
        self.enter(packet, Some(hop));
    }

    /// Changes the hop of a packet.
    fn enter(&mut self, packet: PacketRef, hop: Option<usize>) {
        let Some(tracked) = self.packets.get_mut(&packet) else { return };
        let before = std::mem::replace(&mut tracked.hop, hop);
        self.leave(packet, before);
        if let Some(hop) = hop {
            self.hops[hop].here += 1;
        }
    }

    fn leave(&mut self, packet: PacketRef, hop: Option<usize>) {
        let Some(hop) = hop.map(|hop| &mut self.hops[hop]) else { return };
        hop.here = hop.here.saturating_sub(1);
        hop.left = self.seen;
        if let HopSender::Wire(wire) = &mut hop.sends {
            wire.on_ended(packet);
        }
    }

    /// Removes a packet of the flow that has ended.
    fn remove_packet(&mut self, packet: PacketRef) {
        let Some(tracked) = self.packets.remove(&packet) else { return };
        self.leave(packet, tracked.hop);
        if let (Some(senders), Some(id)) = (&mut self.senders, tracked.connection) {
            senders.on_ended(id);
        }
    }

    /// The explanation up to now.
    pub(crate) fn explanation(&mut self, world: &WorldView<'_>) -> Explanation {
        self.account_until(world.now.as_nanos());
        let (now, network, result) = (world.now.as_nanos(), world.network, &world.result());
        let names = &world.run.names;
        let flow = self.flow.ix();
        let until = now.min(self.window.1).max(self.window.0);
        let tcp = self.senders.as_ref().map(|senders| senders.explanation(network, now, self.window));
        let ways =
            [true, false].map(|forward| self.hops.iter().filter(move |hop| hop.is_forward() == forward));
        let compared = Compared::of(result, self.forward_hops.is_some());
        // No route is searched for before the first packet.
        let has_started = self.forward_hops.is_some() || result.flows[flow].has_traffic();
        let standing = if has_started && ways[0].clone().next().is_none() {
            Standing::Unreachable
        } else {
            standing(result, flow, compared, self.offered_bps, tcp.as_ref().is_none_or(is_backlogged))
        };
        Explanation {
            flow: names.flows[flow].clone(),
            from: self.window.0,
            until,
            standing,
            goodput_bps: result.flows[flow].goodput_bps,
            compared,
            offered_bps: self.offered_bps,
            hops: ways
                .into_iter()
                .flatten()
                .map(|hop| self.hop_explanation(hop, names, queue(hop, self.flow, world.run, network)))
                .collect(),
            awaited_route: self.forward_hops.is_none().then_some(self.awaited_route),
            route: self.route.explanation(network, names),
            drops: sorted(
                self.drops
                    .iter()
                    .map(|(&(node, reason, Dropped { data, opening }), &packets)| Drops {
                        node: names.nodes[node.ix()].clone(),
                        reason,
                        data,
                        opening,
                        packets,
                    })
                    .collect(),
            ),
            tcp,
            allocation: self.allocations.explanation(
                network,
                (names, world.now.0),
                network.endpoints.packet_bytes(&network.plane, self.flow),
                result.inhibited.as_deref().map(|links| self.inhibited(links, names)),
            ),
        }
    }

    /// The hops ahead among these links.
    fn inhibited(&self, links: &[InhibitedLink], names: &Names) -> Vec<InhibitedLink> {
        let name = |node: NodeIx| names.nodes[node.ix()].as_str();
        let ahead = |link: &&InhibitedLink| {
            let is_it = |hop: &ObservedHop| name(hop.ends.from) == link.src && name(hop.ends.to) == link.dst;
            self.hops.iter().any(|hop| hop.is_forward() && is_it(hop))
        };
        links.iter().filter(ahead).cloned().collect()
    }

    fn hop_explanation(&self, hop: &ObservedHop, names: &Names, queue: QueueExplanation) -> HopExplanation {
        let node = |node: NodeIx| names.nodes[node.ix()].clone();
        let flow = |flow: FlowIx| names.flows[flow.ix()].clone();
        let trials = &hop.trials;
        HopExplanation {
            queue,
            categories: self.categories(hop, names),
            differential: self.differential(hop, names),
            forward: hop.is_forward(),
            from: node(hop.ends.from),
            to: node(hop.ends.to),
            wired: matches!(hop.sends, HopSender::Wire(_)),
            observed: hop.observed,
            no_packet: hop.no_packet,
            own_turn: hop.own_turn,
            others_turn: hop.others_turn,
            behind: hop
                .behind
                .iter()
                .map(|(owner, &ns)| match *owner {
                    Owner::Flow(of, forward) => ((Some(flow(of)), forward), ns),
                    Owner::Other => ((None, true), ns),
                })
                .collect(),
            holders: hop.nodes.by.iter().map(|(&by, &held)| (by.map(node), held)).collect(),
            overlapped: hop.nodes.overlapped,
            holding_flows: hop.flows.by.iter().map(|(&by, &held)| (by.map(flow), held)).collect(),
            flows_overlapped: hop.flows.overlapped,
            attempts: matches!(hop.sends, HopSender::Station(..)).then(|| Attempts {
                exchanges: trials.exchanges,
                rts: trials.rts,
                data: trials.data,
                no_cts: trials.no_cts,
                no_ack: trials.no_ack,
                given_up: trials.given_up,
                causes: sorted(
                    trials
                        .causes
                        .iter()
                        .map(|(&(missing, why, by), &count)| {
                            let (by, of) = by.map_or((None, None), |by| (by.node, by.flow()));
                            let hidden = by.is_some_and(|by| self.is_hidden(hop, by));
                            (Cause { missing, why, by: by.map(node), of: of.map(flow), hidden }, count)
                        })
                        .collect(),
                ),
            }),
        }
    }

    fn categories(&self, hop: &ObservedHop, names: &Names) -> Option<CategoriesExplanation> {
        let HopSender::Station(place, _) = hop.sends else { return None };
        let station = self.stations[place].number;
        let names = names.categories.get(station.ix()).filter(|names| names.len() > 1)?;
        let name = |&category: &u8| names.get(usize::from(category)).cloned().unwrap_or_default();
        Some(CategoriesExplanation {
            names: names.iter().rev().cloned().collect(),
            own: hop.in_category.iter().rev().map(|(category, &ns)| (name(category), ns)).collect(),
            others: hop.categories.iter().rev().map(|(category, &time)| (name(category), time)).collect(),
        })
    }

    fn differential(&self, hop: &ObservedHop, names: &Names) -> Option<DifferentialExplanation> {
        let HopSender::Station(place, _) = hop.sends else { return None };
        let station = self.stations[place].number;
        let Levels { packets, sum, ref by_level, .. } = hop.levels;
        let name = |level: Option<u8>| names.category(station, level).map(str::to_string);
        let levels = by_level.iter().rev().map(|(&level, &counts)| (name(level), counts)).collect();
        (packets > 0).then_some(DifferentialExplanation { packets, sum, levels })
    }

    /// True if a hop's sender does not sense a node's transmissions.
    fn is_hidden(&self, hop: &ObservedHop, node: NodeIx) -> bool {
        let HopSender::Station(place, _) = hop.sends else { return false };
        let of_node = |&(_, n): &(usize, &NodeIx)| *n == node;
        let mut stations = self.node_of_station.iter().enumerate().filter(of_node);
        node != hop.ends.from && !stations.any(|(station, _)| self.stations[place].senses(station))
    }
}

/// Sorts a list whose elements begin with names, so that their order in the file has no effect.
fn sorted<T: Ord>(mut found: Vec<T>) -> Vec<T> {
    found.sort();
    found
}

/// State of the queue of a hop's sender.
fn queue(hop: &ObservedHop, flow: FlowIx, run: &RunInfo, network: &Network) -> QueueExplanation {
    let (names, radios) = (&run.names, &run.radios);
    let settings = match hop.ends.link {
        LinkRef::Station(station) if radios[station.ix()] == "default" => "radio".to_string(),
        LinkRef::Station(station) => format!("radios.{}", radios[station.ix()]),
        LinkRef::Wire(wire) => format!("link.{}", link_of(wire)),
    };
    let port = view::port(network, hop.ends.link, flow);
    let rules = network.endpoints.backpressure.rules(port);
    let labels = !network.plane.interfaces.pipeline(port).queue_header().is_none();
    let waiting = |(&owner, &packets): (&Owner, &u64)| match owner {
        Owner::Flow(flow, forward) => {
            let f = &network.endpoints.flows[flow];
            let waiting = Waiting { packets, local: f.ends(forward).0 == hop.ends.from, tcp: f.is_tcp() };
            ((Some(names.flows[flow.ix()].clone()), forward), waiting)
        }
        Owner::Other => ((None, true), Waiting { packets, local: false, tcp: false }),
    };
    QueueExplanation {
        settings,
        backpressure: rules.backpressure,
        local_limit: rules.local_limit.map(|limit| limit.0),
        dropped: hop.dropped,
        full_of: hop.full_of.iter().map(waiting).collect(),
        holds_back: hop.may_hold_back(),
        labelled_by: labels.then(|| run.scheme_of(hop.ends.from).to_string()),
        gives_categories: network.plane.interfaces.categories(port).is_some_and(|of| of.by_priority),
    }
}

/// True if the application left a TCP without data for less than half of the time.
fn is_backlogged(tcp: &TcpExplanation) -> bool {
    2 * tcp.waited[Sending::Application as usize] < tcp.observed.max(1)
}
