//! Output interfaces (*ports*) of nodes: queue, AQM and hop of a scheme, and the neighbours behind them.

use std::collections::VecDeque;

use airfair_host::{Dequeued, Firing, Pipeline};
use airfair_schemes::places::{
    Backlog, Capability, Enqueued, FlowId, HopEffects, NodeId, Packet as QueuedPacket, PacketClass,
    QueueEffects, QueueView, Setting, Timer, Waiting,
};
use airfair_units::{Rate, Span, Time};

use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{CopyRef, LinkRef, NodeIx, PortIx, StationIx, Table, WireIx};
use crate::link::Links;

/// Description of an output interface to create.
pub(crate) struct NewPort {
    pub node: NodeIx,
    pub link: LinkRef,
    /// Queue, AQM and hop from the port's scheme.
    pub pipeline: Pipeline,
    /// Nodes that the port reaches, by scheme numbers, with their stations; sorted.
    pub peers: Vec<(NodeId, StationIx)>,
    /// Access categories of the port's radio, if it has several.
    pub categories: Option<Box<PortCategories>>,
}

/// Access categories of a radio, and the ports whose queues serve them.
#[derive(Debug, Clone)]
pub(crate) struct PortCategories {
    /// Number of categories.
    pub count: u8,
    /// Category of an IP packet by its DSCP.
    pub of_dscp: [u8; 64],
    /// Port of each category; empty if one queue serves all.
    pub ports: Vec<PortIx>,
    /// True if the priority that the queue gives to a packet is its category; false if its DSCP decides.
    pub by_priority: bool,
}

/// Most packets that wait ahead of a queue: the first band of Linux's `pfifo_fast` (`txqueuelen` of 1000). Without a limit the
/// messages of an interface that sends more slowly than they are made would fill the memory.
pub(crate) const MOST_AHEAD: usize = 1000;

/// An output interface.
struct Port {
    node: NodeIx,
    link: LinkRef,
    pipeline: Pipeline,
    /// See [`NewPort::peers`]. With movement also nodes that the port has reached before.
    peers: Vec<(NodeId, StationIx)>,
    /// Totals of the queue, and those at the end of the warm-up; a wire with its own queue has its own totals.
    totals: QueueTotals,
    warmup: QueueTotals,
    /// Messages of agents that have left the queue.
    control_left: u64,
    /// Packets that precede the queue: the node's own control packets, and packets that precede others on their whole way.
    ahead: VecDeque<Ahead>,
    /// Packets that have found no room there.
    refused_ahead: u64,
    /// See [`NewPort::categories`].
    categories: Option<Box<PortCategories>>,
    /// Revision of the node's routes that the queue knows, if it follows their changes.
    known_routes: u64,
    /// Time of the pending event at which the queue may name a packet by itself.
    wakes: Time,
}

/// A packet that waits ahead of a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ahead {
    pub copy: CopyRef,
    /// The neighbour that receives it, or everyone.
    pub next: NodeIx,
    /// The time at which it arrived there.
    pub since: Time,
}

/// Totals of packets that have left a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct QueueTotals {
    /// Number of packets.
    pub left: u64,
    /// Sum of the times that they have spent in the queue.
    pub waited: Span,
}

/// A node with interfaces.
#[derive(Debug)]
struct Node {
    /// See [`Interfaces::ports_of`].
    ports: Box<[PortIx]>,
    /// Scheme number of the node ([`airfair_host::scheme_ids`]).
    id: NodeId,
    /// Rank of the node among events of equal time.
    rank: u32,
}

/// The node with a scheme number, among all nodes sorted by these numbers.
fn find_node(sorted: &[(NodeId, NodeIx)], id: NodeId) -> Option<NodeIx> {
    let at = sorted.binary_search_by_key(&id, |node| node.0).ok()?;
    Some(sorted[at].1)
}

/// The interfaces of a world's nodes.
pub(crate) struct Interfaces {
    ports: Table<PortIx, Port>,
    nodes: Table<NodeIx, Node>,
    /// Node and port of each station.
    stations: Table<StationIx, (NodeIx, PortIx)>,
    /// Effects that hooks have requested, by the kind of hook.
    queue: QueueEffects,
    hop: HopEffects,
    firings: Vec<Firing>,
    /// True if a port has access categories.
    has_categories: bool,
    /// True if an arriving packet may be for another queue than that of its port, or for none, or is counted.
    sorts_arrivals: bool,
    /// Nodes by scheme number, sorted.
    nodes_by_id: Box<[(NodeId, NodeIx)]>,
}

impl Interfaces {
    /// Creates the interfaces. `nodes`: ports ([`Interfaces::ports_of`]), scheme number and rank of each node.
    /// `stations`: node and port of each station.
    pub fn new(
        ports: impl Iterator<Item = NewPort>,
        nodes: impl Iterator<Item = (Vec<PortIx>, NodeId, u32)>,
        stations: Vec<(NodeIx, PortIx)>,
    ) -> Self {
        let port = |NewPort { node, link, pipeline, peers, categories }| Port {
            node,
            link,
            pipeline,
            peers,
            totals: QueueTotals::default(),
            warmup: QueueTotals::default(),
            control_left: 0,
            ahead: VecDeque::new(),
            refused_ahead: 0,
            categories,
            known_routes: 0,
            wakes: Time::NEVER,
        };
        let ports: Table<_, _> = ports.map(port).collect();
        let nodes: Table<NodeIx, _> =
            nodes.map(|(ports, id, rank)| Node { ports: ports.into(), id, rank }).collect();
        let mut nodes_by_id: Vec<_> = nodes.pairs().map(|(at, node)| (node.id, at)).collect();
        nodes_by_id.sort_unstable();
        let has_categories = ports.iter().any(|port: &Port| port.categories.is_some());
        Self {
            has_categories,
            sorts_arrivals: has_categories,
            ports,
            nodes,
            nodes_by_id: nodes_by_id.into(),
            stations: stations.into_iter().collect(),
            queue: QueueEffects::default(),
            hop: HopEffects::default(),
            firings: Vec::new(),
        }
    }

    /// All ports; those of a node are adjacent, and followed by the ports of further access categories of all nodes.
    pub fn ports(&self) -> impl ExactSizeIterator<Item = PortIx> + use<> {
        self.ports.places()
    }

    /// All nodes.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = NodeIx> + use<> {
        self.nodes.places()
    }

    /// All stations.
    pub fn stations(&self) -> impl ExactSizeIterator<Item = StationIx> + use<> {
        self.stations.places()
    }

    /// The ports of a node, one for each link: radios in the node's order, then wires in the order of the names of the nodes at their far
    /// ends. The ports of further access categories are reached by [`Interfaces::port_of`].
    pub fn ports_of(&self, node: NodeIx) -> impl Iterator<Item = PortIx> + use<> {
        self.nodes[node].ports.clone().into_iter()
    }

    /// True if a port has access categories.
    #[inline(always)]
    pub fn has_categories(&self) -> bool {
        self.has_categories
    }

    /// True if an arriving packet may be for another queue than that of its port, or for none, or is counted.
    #[inline(always)]
    pub fn sorts_arrivals(&self) -> bool {
        self.sorts_arrivals
    }

    /// From now on packets may precede others on their whole way, or a meter counts arrivals.
    pub fn sort_arrivals(&mut self) {
        self.sorts_arrivals = true;
    }

    /// Access categories of a node's port, if its radio has several.
    pub fn categories(&self, port: PortIx) -> Option<&PortCategories> {
        self.ports[port].categories.as_deref()
    }

    /// Category of an IP packet with this DSCP at a node's port.
    pub fn category(&self, port: PortIx, dscp: u8) -> u8 {
        self.categories(port).map_or(0, |of| of.of_dscp[usize::from(dscp) % of.of_dscp.len()])
    }

    /// The port whose queue serves a category of a node's port.
    pub fn port_of(&self, port: PortIx, category: u8) -> PortIx {
        let of = self.categories(port).and_then(|of| of.ports.get(usize::from(category)));
        of.copied().unwrap_or(port)
    }

    /// The ports of a link: a node's port, and those of the other categories of its radio.
    pub fn ports_of_link(&self, port: PortIx) -> impl Iterator<Item = PortIx> + '_ {
        let of = self.categories(port).map_or(&[][..], |of| &of.ports);
        std::iter::once(port).chain(of.iter().copied().filter(move |&other| other != port))
    }

    /// The packet that a port's queue would return next, with the category that the queue's priorities give it, if they decide. `instead`:
    /// of the one that it has named last, for which its category has no room.
    pub fn head(&mut self, port: PortIx, instead: bool, now: Time) -> Option<(QueuedPacket, Option<u8>)> {
        let Port { pipeline, categories, .. } = &mut self.ports[port];
        let highest = categories.as_ref().filter(|of| of.by_priority).map(|of| of.count - 1);
        let head = match instead {
            false => pipeline.head(now, &mut self.queue)?,
            true => pipeline.pass_over(now, &mut self.queue)?,
        };
        // A queue that labels packets gives no priority to others.
        let decides = head.packet.labelled || pipeline.queue_header().is_none();
        let highest = highest.filter(|_| decides);
        Some((head.packet, highest.map(|highest| head.priority.0.min(highest))))
    }

    /// Removes and returns the first packet ahead of a port's queue that `may_leave` permits.
    pub fn pop_ahead_if(
        &mut self,
        port: PortIx,
        mut may_leave: impl FnMut(CopyRef) -> bool,
    ) -> Option<Ahead> {
        let ahead = &mut self.ports[port].ahead;
        let at = ahead.iter().position(|waits| may_leave(waits.copy))?;
        ahead.remove(at)
    }

    /// The node that a port belongs to.
    #[inline(always)]
    pub fn node(&self, port: PortIx) -> NodeIx {
        self.ports[port].node
    }

    /// Node and port of a station.
    #[inline(always)]
    pub fn of_station(&self, station: StationIx) -> (NodeIx, PortIx) {
        self.stations[station]
    }

    /// The link that a port sends by.
    #[inline(always)]
    pub fn link(&self, port: PortIx) -> LinkRef {
        self.ports[port].link
    }

    /// Scheme number of a node, or of everyone.
    #[inline(always)]
    pub fn id(&self, node: NodeIx) -> NodeId {
        self.nodes.get(node).map_or(NodeId(NodeIx::EVERYONE.0), |node| node.id)
    }

    /// The rank of a node among events of equal time.
    pub fn rank(&self, node: NodeIx) -> u32 {
        self.nodes[node].rank
    }

    /// The station to which a port sends packets for a neighbour; none for everyone, and for a node without a radio.
    #[inline(always)]
    pub fn peer(&self, port: PortIx, node: NodeId) -> Option<StationIx> {
        let peers = &self.ports[port].peers;
        match peers.binary_search_by_key(&node, |peer| peer.0) {
            Ok(at) => Some(peers[at].1),
            Err(_) => self.out_of_reach(node),
        }
    }

    /// The first station of a node that a port does not reach: frames to it will not be answered.
    #[cold]
    #[inline(never)]
    fn out_of_reach(&self, node: NodeId) -> Option<StationIx> {
        // A broadcast needs no search through all nodes.
        if node == self.id(NodeIx::EVERYONE) {
            return None;
        }
        self.first_station(self.node_of_id(node)?)
    }

    /// The node with a scheme number.
    pub fn node_of_id(&self, id: NodeId) -> Option<NodeIx> {
        find_node(&self.nodes_by_id, id)
    }

    /// The first station of a node.
    pub fn first_station(&self, node: NodeIx) -> Option<StationIx> {
        self.ports_of(node).find_map(|port| match self.link(port) {
            LinkRef::Station(station) => Some(station),
            LinkRef::Wire(_) => None,
        })
    }

    /// Nodes that a port reaches or, with movement, has reached.
    pub fn peers(&self, port: PortIx) -> Vec<NodeIx> {
        self.ports[port].peers.iter().map(|peer| self.stations[peer.1].0).collect()
    }

    /// Stations of the nodes that a port reaches.
    pub fn peer_stations(&self, port: PortIx) -> impl Iterator<Item = StationIx> + '_ {
        self.ports[port].peers.iter().map(|peer| peer.1)
    }

    /// Adds a station to those that a port reaches.
    pub fn add_peer(&mut self, port: PortIx, station: StationIx) {
        let id = self.id(self.stations[station].0);
        let peers = &mut self.ports[port].peers;
        if let Err(at) = peers.binary_search_by_key(&id, |peer| peer.0) {
            peers.insert(at, (id, station));
        }
    }

    /// Puts a packet ahead of a port's queue; returns false if there is no room, after counting the packet.
    #[must_use]
    pub fn push_ahead(&mut self, port: PortIx, waits: Ahead) -> bool {
        let Port { ahead, refused_ahead, .. } = &mut self.ports[port];
        let fits = ahead.len() < MOST_AHEAD;
        if fits {
            ahead.push_back(waits);
        } else {
            *refused_ahead += 1;
        }
        fits
    }

    /// Packets ahead of a port's queue.
    pub fn ahead(&self, port: PortIx) -> impl Iterator<Item = &Ahead> {
        self.ports[port].ahead.iter()
    }

    /// Packets that have found no room ahead of a port's queue.
    pub fn refused_ahead(&self, port: PortIx) -> u64 {
        self.ports[port].refused_ahead
    }

    /// Removes and returns the next packet ahead of a port's queue.
    #[inline(always)]
    pub fn pop_ahead(&mut self, port: PortIx) -> Option<Ahead> {
        self.ports[port].ahead.pop_front()
    }

    /// Queue, AQM and hop of a port, to read.
    #[inline(always)]
    pub fn pipeline(&self, port: PortIx) -> &Pipeline {
        &self.ports[port].pipeline
    }

    /// Queue, AQM and hop of a port, for calls without effects that would have to be kept here.
    #[inline(always)]
    pub fn pipeline_mut(&mut self, port: PortIx) -> &mut Pipeline {
        &mut self.ports[port].pipeline
    }

    // ---- The queue ----

    /// Stores a packet in a port's queue. Its effects follow in [`Interfaces::queue_effects`].
    #[inline(always)]
    pub fn store(&mut self, port: PortIx, packet: QueuedPacket, now: Time) -> Enqueued {
        debug_assert!(self.queue.is_empty(), "effects of another queue");
        self.ports[port].pipeline.store(packet, now, &mut self.queue)
    }

    /// Dequeues from a port without AQM and hop. Effects follow in [`Interfaces::queue_effects`].
    #[inline(always)]
    pub fn pop(&mut self, port: PortIx, now: Time) -> Option<QueuedPacket> {
        debug_assert!(self.queue.is_empty(), "effects of another queue");
        self.ports[port].pipeline.pop(now, &mut self.queue)
    }

    /// Dequeues from a port with an AQM or a hop. Effects follow in [`Interfaces::queue_effects`].
    #[inline(always)]
    pub fn dequeue(&mut self, port: PortIx, now: Time) -> Option<Dequeued> {
        debug_assert!(self.queue.is_empty(), "effects of another queue");
        self.ports[port].pipeline.dequeue(now, &mut self.queue)
    }

    /// Packets that the queue of the last call has dropped or marked by itself; to be taken before the next call.
    #[inline(always)]
    pub fn queue_effects(&mut self) -> &mut QueueEffects {
        &mut self.queue
    }

    /// Counts a packet that has left a port's queue after waiting for `waited`.
    #[inline(always)]
    pub fn count_departure(&mut self, port: PortIx, class: PacketClass, waited: Span) {
        let Port { totals, control_left, .. } = &mut self.ports[port];
        totals.left += 1;
        totals.waited += waited;
        *control_left += u64::from(class == PacketClass::Control);
    }

    // ---- Headers that queues read and write, and other news for them ----

    /// Schedules the time from which on a port's queue names by itself a packet that has to wait, unless an earlier one is pending.
    pub fn arm(&mut self, port: PortIx, now: Time, schedule: &mut Schedule) {
        let order = Order::new(class::TIMER, self.rank(self.ports[port].node));
        let at = &mut self.ports[port];
        if let Some(due) = at.pipeline.wakes_at(now).filter(|&due| due > now && due < at.wakes) {
            at.wakes = due;
            schedule.add(due, order, EventKind::QueueWakes(port));
        }
    }

    /// Handles the event of [`Interfaces::arm`]. Returns false if an earlier one has replaced it.
    pub fn wakes(&mut self, port: PortIx, now: Time) -> bool {
        let at = &mut self.ports[port];
        let due = at.wakes == now;
        if due {
            at.wakes = Time::NEVER;
        }
        due
    }

    /// Ports whose queues follow changes of routes and do not know the present revision, which they then do.
    pub fn with_new_routes(&mut self, revision: impl Fn(NodeIx) -> u64) -> Vec<PortIx> {
        let ports = self.ports.places().filter(|&port| self.ports[port].pipeline.wants(Capability::Routes));
        let changed: Vec<_> =
            ports.filter(|&port| self.ports[port].known_routes != revision(self.ports[port].node)).collect();
        for &port in &changed {
            self.ports[port].known_routes = revision(self.ports[port].node);
        }
        changed
    }

    /// Notifies a port's queue of changed routes.
    pub fn routes_changed(&mut self, port: PortIx, mut next_hop: impl FnMut(NodeIx) -> Option<NodeIx>) {
        let Self { ports, nodes, nodes_by_id, .. } = self;
        ports[port].pipeline.routes_changed(&mut |destination| {
            next_hop(find_node(nodes_by_id, destination)?).map(|next| nodes[next].id)
        });
    }

    /// State of a port's queue for a source that sends to a destination.
    pub fn backlog_to(&self, port: PortIx, destination: NodeIx, labelled: bool) -> QueueView {
        self.ports[port].pipeline.backlog_to(self.id(destination), labelled)
    }

    /// Packets that wait in a port's queue for a destination, of all flows and of those that begin at the node.
    pub fn waiting_for(&self, port: PortIx, destination: NodeIx, labelled: bool) -> Waiting {
        self.ports[port].pipeline.waiting_for(self.id(destination), labelled)
    }

    /// Packets that wait in a port's queue, by destination.
    pub fn backlogs(&self, port: PortIx) -> Vec<(NodeId, u32)> {
        let mut sizes = Vec::new();
        self.ports[port].pipeline.backlogs(&mut |destination, packets| sizes.push((destination, packets)));
        sizes
    }

    /// Packets of flows that have left the queues of a station's port.
    pub fn packets_left(&self, port: PortIx) -> u64 {
        let left = |port| self.ports[port].totals.left - self.ports[port].control_left;
        self.ports_of_link(port).map(left).sum()
    }

    /// State of all queues of a station's port.
    pub fn view_of_link(&self, port: PortIx) -> QueueView {
        self.ports_of_link(port).map(|port| self.ports[port].pipeline.view()).fold(
            QueueView::default(),
            |sum, view| QueueView {
                packets: sum.packets + view.packets,
                bytes: sum.bytes + view.bytes,
                limit_packets: sum.limit_packets.saturating_add(view.limit_packets),
            },
        )
    }

    /// Applies a setting that an agent of the port has requested.
    pub fn apply(&mut self, port: PortIx, setting: Setting, now: Time) {
        let others = self.categories(port).map_or_else(Vec::new, |of| of.ports.clone());
        for other in others.into_iter().filter(|&other| other != port) {
            self.ports[other].pipeline.apply(setting, now);
        }
        self.ports[port].pipeline.apply(setting, now);
    }

    /// The rate at which a flow's source sends, if a hop of a station's port knows.
    pub fn stated_rate(&self, port: PortIx, flow: FlowId) -> Option<Rate> {
        self.ports_of_link(port).filter_map(|port| self.ports[port].pipeline.stated_rate(flow)).max()
    }

    // ---- The queue of a port, kept by the interface or by its wire ----

    /// The wire behind a port, if the wire keeps its own queue.
    #[inline]
    pub fn wire_with_queue(&self, port: PortIx, links: &Links) -> Option<WireIx> {
        match self.ports[port].link {
            LinkRef::Wire(wire) => links.keeps_queue(wire).then_some(wire),
            LinkRef::Station(_) => None,
        }
    }

    /// True if a port has no room for a packet now.
    #[inline]
    pub fn is_full(&self, port: PortIx, links: &mut Links, now: Time) -> bool {
        if let Some(wire) = self.wire_with_queue(port, links) {
            return links.is_full(wire, now);
        }
        let view = self.ports[port].pipeline.view();
        view.packets >= view.limit_packets
    }

    /// True if no packet waits in a port's queue or its wire's; control packets ahead of the queue, and packets without a route, do not
    /// count.
    #[inline]
    pub fn is_empty(&self, port: PortIx, links: &Links, now: Time) -> bool {
        match self.wire_with_queue(port, links) {
            Some(wire) => links.is_empty(wire, now),
            None => !self.ports[port].pipeline.may_serve(),
        }
    }

    /// Number of packets that wait in a port's queue or its wire's; control packets ahead of the queue do not count.
    pub fn waiting(&self, port: PortIx, links: &Links, now: Time) -> u64 {
        let at_wire = match self.ports[port].link {
            LinkRef::Wire(wire) => links.view(wire, now).waiting,
            LinkRef::Station(_) => 0,
        };
        u64::from(self.ports[port].pipeline.view().packets) + at_wire
    }

    /// Totals of a port's queue.
    pub fn totals(&self, port: PortIx, links: &Links, now: Time) -> QueueTotals {
        let Port { link, mut totals, .. } = self.ports[port];
        if let LinkRef::Wire(wire) = link {
            let view = links.view(wire, now);
            totals.left += view.left;
            totals.waited += view.waited;
        }
        totals
    }

    /// Backlog of the wire behind a port, if the wire keeps its own queue.
    fn backlog_of_link(&self, port: PortIx, links: &mut Links, now: Time) -> Option<Backlog> {
        match self.ports[port].link {
            LinkRef::Wire(wire) => links.backlog(wire, now),
            LinkRef::Station(_) => None,
        }
    }

    /// Totals of a port's queue at the end of the warm-up.
    pub fn totals_at_warmup(&self, port: PortIx) -> QueueTotals {
        self.ports[port].warmup
    }

    /// Stores the totals at the end of the warm-up.
    pub fn warmed_up(&mut self, links: &Links, now: Time) {
        for port in self.ports() {
            self.ports[port].warmup = self.totals(port, links, now);
        }
    }

    // ---- Hops of explicit-rate schemes ----

    /// Starts all hops, at time 0.
    pub fn start_hops(&mut self, schedule: &mut Schedule) {
        for port in self.ports() {
            self.ports[port].pipeline.start(Time::ZERO, &mut self.hop, &mut self.firings);
            self.schedule_hop(port, schedule);
        }
    }

    /// Handles the timer of a hop, unless it was moved in the meantime.
    #[inline(never)]
    pub fn hop_timer(
        &mut self,
        port: PortIx,
        timer: (Timer, u32),
        links: &mut Links,
        now: Time,
        schedule: &mut Schedule,
    ) {
        let backlog = self.backlog_of_link(port, links, now);
        self.ports[port].pipeline.timer(timer, backlog, now, &mut self.hop, &mut self.firings);
        self.schedule_hop(port, schedule);
    }

    fn schedule_hop(&mut self, port: PortIx, schedule: &mut Schedule) {
        let order = Order::new(class::TIMER, self.ports[port].pipeline.hop_rank());
        for Firing { at, timer, generation } in self.firings.drain(..) {
            schedule.add(at, order, EventKind::HopTimer { port, generation, timer: timer.0 });
        }
    }
}
