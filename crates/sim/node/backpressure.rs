//! What a node's own sources may have waiting at its interfaces, and who of them waits for room: backpressure, and the limit that leaves
//! room there for what the node forwards ([`crate::spec::LocalLimit`]).
//!
//! Packets of a TCP sender count from TCP to the end of their transmission, where Linux frees them (`tcp_wfree` in
//! `net/ipv4/tcp_output.c`, called when the driver reports a packet as sent): by wire when the last bit has left, by radio when the
//! MAC has its acknowledgement or has given the packet up.

use std::collections::VecDeque;

use airfair_units::{Rate, Span, Time};

use crate::event::{Order, Schedule, What, class};
use crate::ids::{ConnectionRef, FlowIx, PacketRef, PortIx, Table};

/// Most packets that saturating sources, and flows beside them, keep in a queue.
const SATURATING_PACKETS: u32 = 64;

/// Packets that the time of the limit, and the mean of the node's flows, leave to a TCP connection: the one that is sent, and the one
/// after it.
const LEAST_PACKETS: u32 = 2;

/// What a packet takes beside its payload, bytes: Linux compares the memory of packets (`truesize`) with its limit. A segment has
/// `SKB_TRUESIZE(MAX_TCP_HEADER)` (`include/linux/skbuff.h`, `include/net/tcp.h`): 320 for headers, 256 and 320 for what describes it.
const PACKET_MEMORY: u64 = 896;

/// A source that waits for room in a queue of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// A flow over UDP.
    Flow(FlowIx),
    /// A connection of a flow over TCP.
    Connection(ConnectionRef),
}

/// Whether a connection's sender may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Nothing holds it back.
    Send,
    /// Departures of its own packets will tell it when to go on.
    Held,
    /// It has nothing in its node: it has to wait for room at the port.
    Block,
}

/// How a port treats the sources of its node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Sources hold their packets back when the queue is full, instead of losing them.
    pub backpressure: bool,
    /// How long a connection that starts here may take to send what it has in the node at its pacing rate
    /// ([`crate::spec::LocalLimit`]).
    pub local_limit: Option<Span>,
    /// The node's own flows are not limited here although they could be: they can fill the queue and keep it full.
    pub fillable: bool,
}

/// The packets that a source has in its node - of a flow over UDP those that queue, of a TCP sender also those that the MAC or a wire
/// has - and the port that counts them among its own: the port by which the next one goes, where that is known.
#[derive(Debug, Default)]
struct AtSource {
    packets: u32,
    tcp: bool,
    port: Option<PortIx>,
}

/// The packets of a connection's sender in its node, and whether the sender has to wait.
#[derive(Debug, Default)]
struct Local {
    /// Which of the connections that have had the place.
    generation: u32,
    /// Rank of the flow among events of equal time.
    rank: u32,
    at_source: AtSource,
    /// Payload of all these packets, bytes.
    bytes: u64,
    /// No limit holds: the law reads the backlog of the node.
    exempt: bool,
    /// The limit keeps the sender from sending.
    held: bool,
    /// The sender waits for room in its node's queue.
    blocked: bool,
    /// An event is to come when the limit may let the sender go on.
    awaited: bool,
}

/// A port as the sources of its node see it.
#[derive(Debug, Default)]
struct Port {
    rules: Rules,
    own: OwnFlows,
    /// Packets of the node's TCP senders that the MAC has.
    in_mac: VecDeque<InMac>,
    /// Flows that start here and always have more to send.
    saturating: Vec<FlowIx>,
    /// Others that waited for room too had the last turn.
    saturating_first: bool,
    /// Sources that wait for room, in their order.
    blocked: VecDeque<Waiter>,
}

/// What the flows of a port's node have there.
#[derive(Debug, Default)]
struct OwnFlows {
    /// Packets.
    packets: u32,
    /// Flows over UDP and TCP connections that have some.
    active: u32,
    /// Connections among them.
    tcp: u32,
    /// Packets of flows over UDP in a wire's own queue: when each leaves, and its flow; in order.
    waits: VecDeque<(Time, FlowIx)>,
    /// Packets of TCP senders that a wire has, in order.
    leaving: VecDeque<Leaving>,
}

/// A packet of a TCP sender that a wire has.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    /// When its last bit leaves.
    end: Time,
    connection: ConnectionRef,
    payload: u32,
}

/// A packet of a TCP sender that a station's MAC has.
#[derive(Debug, Clone, Copy)]
struct InMac {
    packet: PacketRef,
    connection: ConnectionRef,
    payload: u32,
}

/// Who of a network's sources has how much in its node, and who waits.
#[derive(Debug, Default)]
pub(crate) struct Backpressure {
    ports: Table<PortIx, Port>,
    flows: Table<FlowIx, AtSource>,
    connections: Vec<Local>,
    /// Some port limits what TCP senders of its node have there.
    pub limits_tcp: bool,
}

impl AtSource {
    /// A packet goes on its way, by a port where the way is known.
    #[inline]
    fn enter(&mut self, port: Option<PortIx>, ports: &mut Table<PortIx, Port>) {
        if port.is_some() && port != self.port {
            let packets = self.packets;
            self.set(0, ports);
            self.port = port;
            self.set(packets, ports);
        }
        self.set(self.packets + 1, ports);
    }

    /// A packet has left the node or has ended.
    #[inline]
    fn end(&mut self, ports: &mut Table<PortIx, Port>) {
        debug_assert!(self.packets > 0);
        self.set(self.packets - 1, ports);
    }

    #[inline]
    fn set(&mut self, packets: u32, ports: &mut Table<PortIx, Port>) {
        if let Some(port) = self.port {
            let own = &mut ports[port].own;
            let (was, is) = (u32::from(self.packets > 0), u32::from(packets > 0));
            own.packets = own.packets + packets - self.packets;
            own.active = own.active + is - was;
            if self.tcp {
                own.tcp = own.tcp + is - was;
            }
        }
        self.packets = packets;
    }
}

impl Local {
    /// A packet has left the node or has ended.
    fn end(&mut self, payload: u32, ports: &mut Table<PortIx, Port>) {
        self.bytes -= u64::from(payload);
        self.at_source.end(ports);
    }

    /// Whether the sender has as much in its node as it sends in the time of the limit at a pacing rate.
    #[inline]
    fn fills_limit(&self, limit: Span, pacing: Option<Rate>) -> bool {
        let memory = self.bytes + u64::from(self.at_source.packets) * PACKET_MEMORY;
        pacing.is_some_and(|rate| {
            u128::from(memory) * 8_000_000_000 >= u128::from(rate.as_bps()) * u128::from(limit.0)
        })
    }
}

impl OwnFlows {
    /// Whether so many packets of a flow are more than the mean of the flows that have some.
    fn mean_is_less(&self, packets: u32) -> bool {
        u64::from(packets) * u64::from(self.active) > u64::from(self.packets)
    }
}

impl Port {
    /// Packets that all flows of the node may have in a queue of `limit` packets together: half of it, with saturating ones at most
    /// [`SATURATING_PACKETS`]. The packet that is being sent counts as a connection's, so there is one more beside TCP.
    fn room_of_own(&self, limit: u32) -> u32 {
        let half = (limit / 2).max(1);
        let room = if self.saturating.is_empty() { half } else { half.min(SATURATING_PACKETS) };
        room + u32::from(self.own.tcp > 0)
    }

    /// Returns the allowance of all own flows, and an equal share of it for a flow that has so many packets here; the share is 0 if there
    /// are more flows than places. With saturating sources the allowance is the share times the flows: nobody uses the remainder.
    fn share(&self, packets: u32, limit: u32) -> (u32, u32) {
        let (all, flows) = (self.room_of_own(limit), (self.own.active + u32::from(packets == 0)).max(1));
        let share = all / flows;
        (if self.saturating.is_empty() || share == 0 { all } else { share * flows }, share)
    }

    /// Whether the flows of the node have as much here as all of them may have, and one with so many packets its share. A flow with none
    /// waits only while a departure is to come: while the queue is not empty.
    fn has_share(&self, packets: u32, (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool)) -> bool {
        let (all, share) = self.share(packets, limit());
        self.own.packets >= all && packets >= share && (packets > 0 || !empty())
    }
}

impl Backpressure {
    /// Adds a port.
    pub fn add_port(&mut self, rules: Rules) {
        self.ports.push(Port { rules, ..Port::default() });
    }

    /// Adds a flow.
    pub fn add_flow(&mut self) {
        self.flows.push(AtSource::default());
    }

    /// A connection opens, of a flow with this rank among events of equal time; `exempt`: no limit holds for it.
    pub fn open(&mut self, id: ConnectionRef, rank: u32, exempt: bool) {
        if id.slot as usize >= self.connections.len() {
            self.connections.resize_with(id.slot as usize + 1, Local::default);
        }
        let at_source = AtSource { tcp: true, ..AtSource::default() };
        self.connections[id.slot as usize] =
            Local { generation: id.generation, rank, at_source, exempt, ..Local::default() };
    }

    /// A connection ends: nothing that it has in its node counts any more.
    pub fn close(&mut self, id: ConnectionRef) {
        let Self { ports, connections, .. } = self;
        if let Some(local) = local(connections, id) {
            local.at_source.set(0, ports);
            *local = Local { generation: id.generation.wrapping_add(1), ..Local::default() };
        }
    }

    /// How a port treats the sources of its node.
    #[inline(always)]
    pub fn rules(&self, port: PortIx) -> Rules {
        self.ports[port].rules
    }

    /// Whether a connection waits for room, and whether the limit holds it.
    pub fn state(&self, id: ConnectionRef) -> (bool, bool) {
        let local = self.connections.get(id.slot as usize).filter(|local| local.generation == id.generation);
        local.map_or((false, false), |local| (local.blocked, local.held))
    }

    /// Packets that a flow over UDP has in its node.
    #[inline]
    pub fn packets_of(&self, flow: FlowIx) -> u32 {
        self.flows[flow].packets
    }

    /// The port that counts a flow's packets.
    pub fn port_of(&self, flow: FlowIx) -> Option<PortIx> {
        self.flows[flow].port
    }

    /// A packet of a flow over UDP goes on its way, by a port where the way is known.
    #[inline]
    pub fn flow_enters(&mut self, flow: FlowIx, port: Option<PortIx>) {
        self.flows[flow].enter(port, &mut self.ports);
    }

    /// A packet of a flow over UDP has left its node's queue or has ended.
    #[inline]
    pub fn flow_leaves(&mut self, flow: FlowIx) {
        self.flows[flow].end(&mut self.ports);
    }

    /// A packet of a flow over UDP waits in a wire's own queue until a moment.
    pub fn flow_leaves_at(&mut self, flow: FlowIx, port: PortIx, at: Time) {
        self.ports[port].own.waits.push_back((at, flow));
    }

    /// A packet of a connection's sender goes on its way.
    #[inline]
    pub fn connection_enters(&mut self, id: ConnectionRef, port: Option<PortIx>, payload: u32) {
        let Self { ports, connections, .. } = self;
        if let Some(local) = local(connections, id) {
            local.bytes += u64::from(payload);
            local.at_source.enter(port, ports);
        }
    }

    /// Whether packets of a connection's sender count.
    #[inline]
    pub fn counts(&self, id: ConnectionRef) -> bool {
        self.limits_tcp && self.connections.get(id.slot as usize).is_some_and(|local| !local.exempt)
    }

    /// What has left a port's wire is not in the node any more; what the wire has begun to send waits no more.
    pub fn forget_left(&mut self, port: PortIx, now: Time) {
        let Self { ports, flows, connections, .. } = self;
        while let Some(&(_, flow)) = ports[port].own.waits.front().filter(|first| first.0 <= now) {
            ports[port].own.waits.pop_front();
            flows[flow].end(ports);
        }
        while let Some(&left) = ports[port].own.leaving.front().filter(|first| first.end <= now) {
            ports[port].own.leaving.pop_front();
            if let Some(local) = local(connections, left.connection) {
                local.end(left.payload, ports);
            }
        }
    }

    /// Whether a connection's sender has to wait until packets have left its node by a port with a queue of `limit` packets: it has its
    /// share of what the node's flows may have there, or it has two there, and as much as it sends in the time of the limit, or more than
    /// the mean of the node's flows.
    #[inline]
    pub fn permit(
        &mut self,
        id: ConnectionRef,
        port: Option<PortIx>,
        now: Time,
        (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool),
        pacing: impl FnOnce() -> Option<Rate>,
        schedule: &mut Schedule,
    ) -> Permit {
        let limited = port.and_then(|port| self.ports[port].rules.local_limit.map(|time| (port, time)));
        let Some((port, time)) = limited else {
            if let Some(local) = local(&mut self.connections, id) {
                local.held = false;
            }
            return Permit::Send;
        };
        self.forget_left(port, now);
        let Some(local) = local(&mut self.connections, id) else { return Permit::Send };
        let at = &self.ports[port];
        let count = local.at_source.packets;
        let held = !local.exempt
            && (at.has_share(count, (limit, empty))
                || count >= LEAST_PACKETS
                    && (at.own.mean_is_less(count) || local.fills_limit(time, pacing())));
        // A connection that has nothing there waits for the departure of others.
        local.held = held && count > 0;
        local.blocked = held && count == 0;
        if local.blocked {
            return Permit::Block;
        }
        if !held {
            return Permit::Send;
        }
        self.await_departure(id, port, now, schedule);
        Permit::Held
    }

    /// Whether a connection that waits for room at a port has to wait on: it has nothing there, and the others have all that the node's
    /// flows may have. Once it has something its own departures tell it when to go on.
    pub fn connection_waits(
        &mut self,
        id: ConnectionRef,
        port: PortIx,
        now: Time,
        (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool),
    ) -> bool {
        if self.ports[port].rules.local_limit.is_none() {
            return false;
        }
        self.forget_left(port, now);
        local(&mut self.connections, id).is_some_and(|local| !local.exempt && local.at_source.packets == 0)
            && self.ports[port].has_share(0, (limit, empty))
    }

    /// Whether a flow over UDP has to wait at its node's port: it has its share of what the node's flows may have there, and they have all
    /// of that; or, beside TCP, more than their mean, since a connection whose packets wait behind many of others sends less.
    pub fn source_waits(
        &mut self,
        port: PortIx,
        flow: FlowIx,
        now: Time,
        (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool),
    ) -> bool {
        if self.ports[port].rules.local_limit.is_none() {
            return false;
        }
        self.forget_left(port, now);
        let count = self.flows[flow].packets;
        let at = &self.ports[port];
        // The packet that is being sent counts as a connection's, and not here.
        at.own.tcp > 0 && count > 0 && at.own.mean_is_less(count + 1) || at.has_share(count, (limit, empty))
    }

    /// Packets that each saturating source of a port keeps there. Where nothing limits the others, these share among themselves what all
    /// may have.
    pub fn share_of_saturating(&self, port: PortIx, limit: u32) -> u32 {
        let at = &self.ports[port];
        let none_there = |flow: &&FlowIx| self.flows[**flow].packets == 0;
        let flows = match at.rules.local_limit {
            Some(_) => at.own.active as usize + at.saturating.iter().filter(none_there).count(),
            None => at.saturating.len(),
        };
        (at.room_of_own(limit) / flows.max(1) as u32).max(1)
    }

    /// A held connection goes on when the next of its packets has left by wire. Those that have left are forgotten first: a connection
    /// that had nothing to send stays marked as held, and nobody has looked since.
    fn await_departure(&mut self, id: ConnectionRef, port: PortIx, now: Time, schedule: &mut Schedule) {
        self.forget_left(port, now);
        let Some(local) = local(&mut self.connections, id) else { return };
        if !local.held || local.awaited {
            return;
        }
        let leaving = &self.ports[port].own.leaving;
        if let Some(next) = leaving.iter().find(|leaving| leaving.connection == id) {
            local.awaited = true;
            schedule.add(next.end, Order::new(class::TIMER, local.rank), What::LocalRoom(id));
        }
    }

    /// Some of a connection's packets have left its node. Returns whether the sender may go on.
    pub fn departed(&mut self, id: ConnectionRef) -> bool {
        let Some(local) = local(&mut self.connections, id) else { return false };
        local.awaited = false;
        local.held
    }

    /// A packet of a connection's sender is the last that a wire was given; its last bit leaves at `end`.
    #[inline]
    pub fn leaves_by_wire(
        &mut self,
        connection: ConnectionRef,
        port: PortIx,
        (end, payload): (Time, u32),
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.ports[port].own.leaving.push_back(Leaving { end, connection, payload });
        self.await_departure(connection, port, now, schedule);
    }

    /// A MAC takes a packet of a connection's sender.
    #[inline]
    pub fn enters_mac(&mut self, port: PortIx, packet: PacketRef, connection: ConnectionRef, payload: u32) {
        self.ports[port].in_mac.push_back(InMac { packet, connection, payload });
    }

    /// The MAC behind a port is done with a packet. Returns the connection that may go on, if the packet was one of a held sender of the
    /// node.
    #[inline]
    pub fn leaves_mac(&mut self, port: PortIx, packet: PacketRef) -> Option<ConnectionRef> {
        let Self { ports, connections, .. } = self;
        let in_mac = &mut ports[port].in_mac;
        let at = in_mac.iter().position(|taken| taken.packet == packet)?;
        let InMac { connection: id, payload, .. } = in_mac.remove(at)?;
        let local = local(connections, id)?;
        local.end(payload, ports);
        local.held.then_some(id)
    }

    /// A packet of a connection's sender has ended before it left its node's queue. The sender goes on at once, but not before the queue
    /// that has dropped the packet is done.
    pub fn ends_in_node(&mut self, id: ConnectionRef, payload: u32, now: Time, schedule: &mut Schedule) {
        let Self { ports, connections, .. } = self;
        let Some(local) = local(connections, id) else { return };
        local.end(payload, ports);
        if local.held && !local.awaited {
            local.awaited = true;
            schedule.add(now, Order::new(class::TIMER, local.rank), What::LocalRoom(id));
        }
    }

    /// Whether a source waits for room at a port, or a saturating one sends by it.
    #[inline(always)]
    pub fn wants_room(&self, port: PortIx) -> bool {
        !self.ports[port].blocked.is_empty() || !self.ports[port].saturating.is_empty()
    }

    /// A source waits for room at a port.
    pub fn block(&mut self, port: PortIx, who: Waiter) {
        if let Waiter::Connection(id) = who
            && let Some(local) = local(&mut self.connections, id)
        {
            local.blocked = true;
        }
        self.ports[port].blocked.push_back(who);
    }

    /// Whether a connection waits for room.
    #[inline]
    pub fn is_blocked(&self, id: ConnectionRef) -> bool {
        self.connections.get(id.slot as usize).is_some_and(|local| local.blocked)
    }

    /// A connection waits for room no more.
    pub fn unblock(&mut self, id: ConnectionRef) {
        if let Some(local) = local(&mut self.connections, id) {
            local.blocked = false;
        }
    }

    /// The sources that wait for room at a port, by their place in the row.
    pub fn waiter(&self, port: PortIx, place: usize) -> Option<Waiter> {
        self.ports[port].blocked.get(place).copied()
    }

    /// A source leaves the row of those that wait at a port: the next turn there is a saturating source's.
    pub fn next_turn(&mut self, port: PortIx, place: usize) {
        let port = &mut self.ports[port];
        port.blocked.remove(place);
        port.saturating_first = true;
    }

    /// Whether it is a saturating source's turn at a port where others wait too.
    pub fn is_turn_of_saturating(&self, port: PortIx) -> bool {
        let port = &self.ports[port];
        port.saturating_first && !port.saturating.is_empty() && !port.blocked.is_empty()
    }

    /// A saturating source at a port has had its turn, unless it made no packet.
    pub fn saturating_had_turn(&mut self, port: PortIx, made: bool) {
        self.ports[port].saturating_first = !made;
    }

    /// A saturating source sends by a port.
    pub fn saturates(&mut self, port: PortIx, flow: FlowIx) {
        self.ports[port].saturating.push(flow);
    }

    /// Flows that always have more to send by a port.
    pub fn saturating(&self, port: PortIx) -> &[FlowIx] {
        &self.ports[port].saturating
    }

    /// Only these go on to send by a port.
    pub fn retain_saturating(&mut self, port: PortIx, keep: impl FnMut(&FlowIx) -> bool) {
        self.ports[port].saturating.retain(keep);
    }

    /// The flow at a place is the first to be asked the next time.
    pub fn rotate_saturating(&mut self, port: PortIx, place: usize) {
        self.ports[port].saturating.rotate_left(place);
    }

    /// Whether anybody waits for room at a port.
    pub fn anybody_waits(&self, port: PortIx) -> bool {
        !self.ports[port].blocked.is_empty()
    }
}

/// What a connection has in its node, if it lives.
#[inline(always)]
fn local(connections: &mut [Local], id: ConnectionRef) -> Option<&mut Local> {
    connections.get_mut(id.slot as usize).filter(|local| local.generation == id.generation)
}
