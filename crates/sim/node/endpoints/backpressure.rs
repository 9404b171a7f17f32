//! Packets of a node's own sources at its interfaces, and the sources that wait for room there: backpressure, and the limit that leaves
//! room for forwarded packets ([`crate::spec::LocalLimit`]).
//!
//! Packets of a TCP sender count from TCP to the end of their transmission, where Linux frees them (`tcp_wfree` in
//! `net/ipv4/tcp_output.c`, called when the driver reports a packet as sent): by wire when the last bit has left, by radio when the
//! MAC has received the acknowledgement or has given the packet up.

use std::collections::VecDeque;

use airfair_units::{Rate, Span, Time};

use crate::event::{EventKind, Order, Schedule, class};
use crate::ids::{ConnectionRef, FlowIx, PacketRef, PortIx, Table};

/// Upper bound of the packets that saturating sources, and flows beside them, keep in a queue.
const SATURATING_PACKETS: u32 = 64;

/// Packets that a TCP connection may have in any case, whatever the limit's time and the mean of the flows are: the one in transmission and
/// the next one.
const LEAST_PACKETS: u32 = 2;

/// Memory of a packet beyond its payload, bytes: Linux compares the memory of packets (`truesize`) with its limit. A segment has
/// `SKB_TRUESIZE(MAX_TCP_HEADER)` (`include/linux/skbuff.h`, `include/net/tcp.h`): 320 for headers, 256 and 320 for its descriptors.
const PACKET_MEMORY: u64 = 896;

/// A source that waits for room in a queue of its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// A flow over UDP.
    Flow(FlowIx),
    /// A connection of a flow over TCP.
    Connection(ConnectionRef),
}

/// Permission of a connection's sender to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permit {
    /// The sender may send.
    Send,
    /// The limit is reached; departures of its own packets will resume the sender.
    Held,
    /// The limit is reached and the sender has no packet in its node: it waits for room at the port.
    Block,
}

/// Rules of a port for the sources of its node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SourceRules {
    /// Sources hold packets back when the queue is full, instead of losing them.
    pub backpressure: bool,
    /// Upper bound of the time in which a connection that starts here sends the packets that it has in the node, at its pacing rate
    /// ([`crate::spec::LocalLimit`]).
    pub local_limit: Option<Span>,
    /// The node's own flows have no limit here although one is possible: they can fill the queue and keep it full.
    pub fillable: bool,
}

/// Packets of a source in its node (of a flow over UDP the queued ones, of a TCP sender also those in the MAC or on a wire), and the port
/// that counts them: the port of the next packet, where that is known.
#[derive(Debug, Default)]
struct FlowBacklog {
    packets: u32,
    tcp: bool,
    port: Option<PortIx>,
    /// No limit applies, because the law goes by the node's backlog.
    exempt: bool,
}

/// Packets of a connection's sender in its node, and the state of the sender.
#[derive(Debug, Default)]
struct ConnectionBacklog {
    /// Generation: counts the connections that have used the place.
    generation: u32,
    /// Rank of the flow among events of equal time.
    rank: u32,
    at_source: FlowBacklog,
    /// Payload of these packets, bytes.
    bytes: u64,
    /// The limit prevents the sender from sending.
    held: bool,
    /// The sender waits for room in its node's queue.
    blocked: bool,
    /// An event is scheduled for the time at which the limit may release the sender.
    awaited: bool,
}

/// State of a port for the sources of its node.
#[derive(Debug, Default)]
struct PortSources {
    rules: SourceRules,
    own: OwnFlows,
    /// Packets of the node's TCP senders in the MAC.
    in_mac: VecDeque<InMac>,
    /// Saturating flows that start here.
    saturating: Vec<FlowIx>,
    /// The last turn was that of a source which waited for room: the next is a saturating source's.
    saturating_first: bool,
    /// Sources that wait for room, in order.
    blocked: VecDeque<Waiter>,
}

/// Packets of the node's own flows at a port.
#[derive(Debug, Default)]
struct OwnFlows {
    /// Number of packets.
    packets: u32,
    /// Flows over UDP and TCP connections with packets here.
    active: u32,
    /// TCP connections with packets here.
    tcp: u32,
    /// Packets of flows over UDP in a wire's own queue, in order: time of departure and flow.
    waits: VecDeque<(Time, FlowIx)>,
    /// Packets of TCP senders that were offered to a wire and have not left it, in order.
    leaving: VecDeque<DepartingPacket>,
}

/// A packet of a TCP sender that was offered to a wire.
#[derive(Debug, Clone, Copy)]
struct DepartingPacket {
    /// Time at which its last bit leaves.
    end: Time,
    connection: ConnectionRef,
    payload: u32,
}

/// A packet of a TCP sender in a station's MAC.
#[derive(Debug, Clone, Copy)]
struct InMac {
    packet: PacketRef,
    connection: ConnectionRef,
    payload: u32,
}

/// Packets in their nodes of all sources of a network, and the sources that wait.
#[derive(Debug, Default)]
pub(crate) struct Backpressure {
    ports: Table<PortIx, PortSources>,
    flows: Table<FlowIx, FlowBacklog>,
    connections: Vec<ConnectionBacklog>,
    /// True if a port limits the packets of its node's TCP senders.
    pub limits_tcp: bool,
}

impl FlowBacklog {
    /// Counts a packet that was sent; `port`: its port, where that is known.
    #[inline]
    fn count_sent(&mut self, port: Option<PortIx>, ports: &mut Table<PortIx, PortSources>) {
        if port.is_some() && port != self.port {
            let packets = self.packets;
            self.set(0, ports);
            self.port = port;
            self.set(packets, ports);
        }
        self.set(self.packets + 1, ports);
    }

    /// Counts a packet that has left the node or has ended.
    #[inline]
    fn count_ended(&mut self, ports: &mut Table<PortIx, PortSources>) {
        debug_assert!(self.packets > 0);
        self.set(self.packets - 1, ports);
    }

    /// Sets whether a limit applies; packets to which none does take nothing of the allowance of others.
    fn set_exempt(&mut self, exempt: bool, ports: &mut Table<PortIx, PortSources>) {
        if exempt != self.exempt {
            let packets = self.packets;
            self.set(0, ports);
            self.exempt = exempt;
            self.set(packets, ports);
        }
    }

    #[inline]
    fn set(&mut self, packets: u32, ports: &mut Table<PortIx, PortSources>) {
        if let Some(port) = self.port
            && !self.exempt
        {
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

impl ConnectionBacklog {
    /// Counts a packet that has left the node or has ended.
    fn count_ended(&mut self, payload: u32, ports: &mut Table<PortIx, PortSources>) {
        self.bytes -= u64::from(payload);
        self.at_source.count_ended(ports);
    }

    /// True if the sender's packets in its node are as many as it sends in the time `limit` at a pacing rate.
    #[inline]
    fn has_reached_limit(&self, limit: Span, pacing: Option<Rate>) -> bool {
        let memory = self.bytes + u64::from(self.at_source.packets) * PACKET_MEMORY;
        pacing.is_some_and(|rate| {
            u128::from(memory) * 8_000_000_000 >= u128::from(rate.as_bps()) * u128::from(limit.0)
        })
    }
}

impl OwnFlows {
    /// True if `packets` of a flow exceed the mean of the flows that have packets here.
    fn exceeds_mean(&self, packets: u32) -> bool {
        u64::from(packets) * u64::from(self.active) > u64::from(self.packets)
    }
}

impl PortSources {
    /// Packets that all flows of the node together may have in a queue of `limit` packets: half of it, with saturating ones at most
    /// [`SATURATING_PACKETS`]. The packet in transmission counts for a connection, so there is one more beside TCP.
    fn allowance_of_own(&self, limit: u32) -> u32 {
        let half = (limit / 2).max(1);
        let room = if self.saturating.is_empty() { half } else { half.min(SATURATING_PACKETS) };
        room + u32::from(self.own.tcp > 0)
    }

    /// The allowance of all own flows, and an equal share of it for a flow that has `packets` here; the share is 0 if there are more flows
    /// than places. With saturating sources the allowance is the share times the number of flows: the remainder is unused.
    fn share(&self, packets: u32, limit: u32) -> (u32, u32) {
        let (all, flows) = (self.allowance_of_own(limit), (self.own.active + u32::from(packets == 0)).max(1));
        let share = all / flows;
        (if self.saturating.is_empty() || share == 0 { all } else { share * flows }, share)
    }

    /// True if the node's flows have used their allowance here, and a flow with `packets` has its share. A flow without packets waits only
    /// while a departure is still ahead: while the queue is not empty.
    fn has_used_share(
        &self,
        packets: u32,
        (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool),
    ) -> bool {
        let (all, share) = self.share(packets, limit());
        self.own.packets >= all && packets >= share && (packets > 0 || !empty())
    }
}

impl Backpressure {
    /// Adds a port.
    pub fn add_port(&mut self, rules: SourceRules) {
        self.ports.push(PortSources { rules, ..PortSources::default() });
    }

    /// Adds a flow; `exempt`: no limit applies if it is over UDP.
    pub fn add_flow(&mut self, exempt: bool) {
        self.flows.push(FlowBacklog { exempt, ..FlowBacklog::default() });
    }

    /// Sets whether a flow over UDP is free of limits.
    pub fn set_flow_exempt(&mut self, flow: FlowIx, exempt: bool) {
        self.flows[flow].set_exempt(exempt, &mut self.ports);
    }

    /// Registers a connection of a flow with this rank among events of equal time; `exempt`: no limit applies.
    pub fn open(&mut self, id: ConnectionRef, rank: u32, exempt: bool) {
        if id.place as usize >= self.connections.len() {
            self.connections.resize_with(id.place as usize + 1, ConnectionBacklog::default);
        }
        let at_source = FlowBacklog { tcp: true, exempt, ..FlowBacklog::default() };
        self.connections[id.place as usize] =
            ConnectionBacklog { generation: id.generation, rank, at_source, ..ConnectionBacklog::default() };
    }

    /// Sets whether a connection is free of limits: its later packets count or do not.
    pub fn set_exempt(&mut self, id: ConnectionRef, exempt: bool) {
        if let Some(local) = local(&mut self.connections, id) {
            local.at_source.set_exempt(exempt, &mut self.ports);
        }
    }

    /// Removes a connection; its packets in the node no longer count.
    pub fn close(&mut self, id: ConnectionRef) {
        let Self { ports, connections, .. } = self;
        if let Some(local) = local(connections, id) {
            local.at_source.set(0, ports);
            *local = ConnectionBacklog {
                generation: id.generation.wrapping_add(1),
                ..ConnectionBacklog::default()
            };
        }
    }

    /// Rules of a port for the sources of its node.
    #[inline(always)]
    pub fn rules(&self, port: PortIx) -> &SourceRules {
        &self.ports[port].rules
    }

    /// Two states of a connection: it waits for room, and the limit holds it.
    pub fn state(&self, id: ConnectionRef) -> (bool, bool) {
        let local = self.connections.get(id.place as usize).filter(|local| local.generation == id.generation);
        local.map_or((false, false), |local| (local.blocked, local.held))
    }

    /// Packets of a flow over UDP in its node.
    #[inline]
    pub fn packets_of(&self, flow: FlowIx) -> u32 {
        self.flows[flow].packets
    }

    /// The port that counts a flow's packets.
    pub fn port_of(&self, flow: FlowIx) -> Option<PortIx> {
        self.flows[flow].port
    }

    /// Counts a sent packet of a flow over UDP; `port`: its port, where that is known.
    #[inline]
    pub fn count_flow_sent(&mut self, flow: FlowIx, port: Option<PortIx>) {
        self.flows[flow].count_sent(port, &mut self.ports);
    }

    /// Counts a packet of a flow over UDP that has left its node's queue or has ended.
    #[inline]
    pub fn count_flow_left(&mut self, flow: FlowIx) {
        self.flows[flow].count_ended(&mut self.ports);
    }

    /// Counts a packet of a flow over UDP that waits in a wire's own queue until `at`.
    pub fn count_flow_leaving_at(&mut self, flow: FlowIx, port: PortIx, at: Time) {
        self.ports[port].own.waits.push_back((at, flow));
    }

    /// Counts a sent packet of a connection's sender.
    #[inline]
    pub fn count_connection_sent(&mut self, id: ConnectionRef, port: Option<PortIx>, payload: u32) {
        let Self { ports, connections, .. } = self;
        if let Some(local) = local(connections, id) {
            local.bytes += u64::from(payload);
            local.at_source.count_sent(port, ports);
        }
    }

    /// True if packets of a connection's sender are counted.
    #[inline]
    pub fn counts(&self, id: ConnectionRef) -> bool {
        self.limits_tcp
            && self.connections.get(id.place as usize).is_some_and(|local| !local.at_source.exempt)
    }

    /// Removes packets that have left a port's wire from the counts, and those in transmission from the waiting ones.
    pub fn remove_departed(&mut self, port: PortIx, now: Time) {
        let Self { ports, flows, connections, .. } = self;
        while let Some(&(_, flow)) = ports[port].own.waits.front().filter(|first| first.0 <= now) {
            ports[port].own.waits.pop_front();
            flows[flow].count_ended(ports);
        }
        while let Some(&left) = ports[port].own.leaving.front().filter(|first| first.end <= now) {
            ports[port].own.leaving.pop_front();
            if let Some(local) = local(connections, left.connection) {
                local.count_ended(left.payload, ports);
            }
        }
    }

    /// Decides whether a connection's sender may send, by a port with a queue of `limit` packets. The sender must wait if it has its share
    /// of the allowance of the node's flows; or if it has two packets there, and either as much as it sends in the time of the limit or
    /// more than the mean of the node's flows.
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
        self.remove_departed(port, now);
        let Some(local) = local(&mut self.connections, id) else { return Permit::Send };
        let at = &self.ports[port];
        let count = local.at_source.packets;
        let held = !local.at_source.exempt
            && (at.has_used_share(count, (limit, empty))
                || count >= LEAST_PACKETS
                    && (at.own.exceeds_mean(count) || local.has_reached_limit(time, pacing())));
        // A connection without packets there waits for departures of others.
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

    /// True if a connection must continue to wait for room at a port: it has no packets there, and the others have used the allowance of
    /// the node's flows. A connection with packets is resumed by their departures.
    pub fn connection_must_wait(
        &mut self,
        id: ConnectionRef,
        port: PortIx,
        now: Time,
        (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool),
    ) -> bool {
        if self.ports[port].rules.local_limit.is_none() {
            return false;
        }
        self.remove_departed(port, now);
        local(&mut self.connections, id)
            .is_some_and(|local| !local.at_source.exempt && local.at_source.packets == 0)
            && self.ports[port].has_used_share(0, (limit, empty))
    }

    /// True if a flow over UDP has to wait at its node's port: it has its share, and the node's flows have used their allowance; or, beside
    /// TCP, it has more than their mean, since a connection sends less if its packets wait behind many others.
    pub fn udp_source_must_wait(
        &mut self,
        port: PortIx,
        flow: FlowIx,
        now: Time,
        (limit, empty): (impl FnOnce() -> u32, impl FnOnce() -> bool),
    ) -> bool {
        if self.ports[port].rules.local_limit.is_none() || self.flows[flow].exempt {
            return false;
        }
        self.remove_departed(port, now);
        let count = self.flows[flow].packets;
        let at = &self.ports[port];
        // The packet in transmission counts for a connection, but not here.
        at.own.tcp > 0 && count > 0 && at.own.exceeds_mean(count + 1)
            || at.has_used_share(count, (limit, empty))
    }

    /// Packets that each saturating source of a port keeps there. Where no limit applies to the other sources, the saturating ones share
    /// the allowance of all flows.
    pub fn share_of_saturating(&self, port: PortIx, limit: u32) -> u32 {
        let at = &self.ports[port];
        let none_there = |flow: &&FlowIx| self.flows[**flow].packets == 0;
        let flows = if at.rules.local_limit.is_some() {
            at.own.active as usize + at.saturating.iter().filter(none_there).count()
        } else {
            at.saturating.len()
        };
        (at.allowance_of_own(limit) / flows.max(1) as u32).max(1)
    }

    /// Schedules the resumption of a held connection for the departure of its next packet by wire. Packets that have left are removed
    /// first: a connection that had nothing to send stays marked as held, and its counts are not up to date.
    fn await_departure(&mut self, id: ConnectionRef, port: PortIx, now: Time, schedule: &mut Schedule) {
        self.remove_departed(port, now);
        let Some(local) = local(&mut self.connections, id) else { return };
        if !local.held || local.awaited {
            return;
        }
        let leaving = &self.ports[port].own.leaving;
        if let Some(next) = leaving.iter().find(|leaving| leaving.connection == id) {
            local.awaited = true;
            schedule.add(next.end, Order::new(class::TIMER, local.rank), EventKind::LocalRoom(id));
        }
    }

    /// Handles the departure of a connection's packets from its node. Returns true if the sender may resume.
    pub fn departed(&mut self, id: ConnectionRef) -> bool {
        let Some(local) = local(&mut self.connections, id) else { return false };
        local.awaited = false;
        local.held
    }

    /// Handles a packet of a connection's sender that was just offered to a wire; its last bit leaves at `end`.
    #[inline]
    pub fn on_sent_by_wire(
        &mut self,
        connection: ConnectionRef,
        port: PortIx,
        (end, payload): (Time, u32),
        now: Time,
        schedule: &mut Schedule,
    ) {
        self.ports[port].own.leaving.push_back(DepartingPacket { end, connection, payload });
        self.await_departure(connection, port, now, schedule);
    }

    /// Counts a packet of a connection's sender that the MAC has dequeued.
    #[inline]
    pub fn count_in_mac(&mut self, port: PortIx, packet: PacketRef, connection: ConnectionRef, payload: u32) {
        self.ports[port].in_mac.push_back(InMac { packet, connection, payload });
    }

    /// Handles a packet that the MAC behind a port has finished. Returns the connection to resume, if the packet belonged to a held sender
    /// of the node.
    #[inline]
    pub fn count_out_of_mac(&mut self, port: PortIx, packet: PacketRef) -> Option<ConnectionRef> {
        let Self { ports, connections, .. } = self;
        let in_mac = &mut ports[port].in_mac;
        let at = in_mac.iter().position(|in_mac_packet| in_mac_packet.packet == packet)?;
        let InMac { connection: id, payload, .. } = in_mac.remove(at)?;
        let local = local(connections, id)?;
        local.count_ended(payload, ports);
        local.held.then_some(id)
    }

    /// Handles a packet of a connection's sender that has ended in its node's queue. The sender resumes at the same time, but after the
    /// queue that has dropped the packet is settled.
    pub fn count_ended_in_node(
        &mut self,
        id: ConnectionRef,
        payload: u32,
        now: Time,
        schedule: &mut Schedule,
    ) {
        let Self { ports, connections, .. } = self;
        let Some(local) = local(connections, id) else { return };
        local.count_ended(payload, ports);
        if local.held && !local.awaited {
            local.awaited = true;
            schedule.add(now, Order::new(class::TIMER, local.rank), EventKind::LocalRoom(id));
        }
    }

    /// True if a source waits for room at a port, or a saturating one sends by it.
    #[inline(always)]
    pub fn needs_room(&self, port: PortIx) -> bool {
        !self.ports[port].blocked.is_empty() || !self.ports[port].saturating.is_empty()
    }

    /// Registers a source that waits for room at a port.
    pub fn block(&mut self, port: PortIx, waiter: Waiter) {
        if let Waiter::Connection(id) = waiter
            && let Some(local) = local(&mut self.connections, id)
        {
            local.blocked = true;
        }
        self.ports[port].blocked.push_back(waiter);
    }

    /// True if a connection waits for room.
    #[inline]
    pub fn is_blocked(&self, id: ConnectionRef) -> bool {
        self.connections.get(id.place as usize).is_some_and(|local| local.blocked)
    }

    /// Removes a connection from those that wait for room.
    pub fn unblock(&mut self, id: ConnectionRef) {
        if let Some(local) = local(&mut self.connections, id) {
            local.blocked = false;
        }
    }

    /// The source at a place in the list of those that wait at a port.
    pub fn waiter(&self, port: PortIx, place: usize) -> Option<Waiter> {
        self.ports[port].blocked.get(place).copied()
    }

    /// Removes a source from the list of those that wait at a port; the next turn there is a saturating source's.
    pub fn remove_waiter(&mut self, port: PortIx, place: usize) {
        let port = &mut self.ports[port];
        port.blocked.remove(place);
        port.saturating_first = true;
    }

    /// True if it is a saturating source's turn at a port where other sources wait too.
    pub fn is_turn_of_saturating(&self, port: PortIx) -> bool {
        let port = &self.ports[port];
        port.saturating_first && !port.saturating.is_empty() && !port.blocked.is_empty()
    }

    /// Ends the turn of a saturating source at a port, unless it made no packet.
    pub fn end_saturating_turn(&mut self, port: PortIx, made: bool) {
        self.ports[port].saturating_first = !made;
    }

    /// Registers a saturating flow at a port.
    pub fn add_saturating(&mut self, port: PortIx, flow: FlowIx) {
        self.ports[port].saturating.push(flow);
    }

    /// Saturating flows of a port.
    pub fn saturating(&self, port: PortIx) -> &[FlowIx] {
        &self.ports[port].saturating
    }

    /// Keeps only the saturating flows of a port for which `keep` is true.
    pub fn retain_saturating(&mut self, port: PortIx, keep: impl FnMut(&FlowIx) -> bool) {
        self.ports[port].saturating.retain(keep);
    }

    /// Lets the saturating flow at a place be the first in the next turn.
    pub fn rotate_saturating(&mut self, port: PortIx, place: usize) {
        self.ports[port].saturating.rotate_left(place);
    }

    /// True if a source waits for room at a port.
    pub fn has_waiting(&self, port: PortIx) -> bool {
        !self.ports[port].blocked.is_empty()
    }
}

/// The record of an open connection's packets in its node.
#[inline(always)]
fn local(connections: &mut [ConnectionBacklog], id: ConnectionRef) -> Option<&mut ConnectionBacklog> {
    connections.get_mut(id.place as usize).filter(|local| local.generation == id.generation)
}
