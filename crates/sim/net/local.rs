//! What a node's own flows may have waiting in its interface: the limit that leaves room there for what the node forwards
//! ([`crate::spec::LocalLimit`]).
//!
//! Packets of a TCP sender count from TCP to the end of their transmission, where Linux frees them (`tcp_wfree` in
//! `net/ipv4/tcp_output.c`, called when the driver reports a packet as sent): by wire when the last bit has left, by radio when the
//! MAC has its acknowledgement or has given the packet up.

use std::collections::{BTreeMap, VecDeque};

use airfair_units::Time;

use super::connections::Connection;
use super::packet::Packet;
use super::{Blocked, Net, Port, class};
use crate::event::{Order, What};
use crate::ids::ConnectionRef;

/// Most packets that saturating sources, and flows beside them, keep in a queue.
const SATURATING_PACKETS: u32 = 64;

/// Packets that the time of the limit, and the mean of the node's flows, leave to a TCP connection: the one that is sent, and the one
/// after it.
const LEAST_PACKETS: u32 = 2;

/// What a packet takes beside its payload, bytes: Linux compares the memory of packets (`truesize`) with its limit. A segment has
/// `SKB_TRUESIZE(MAX_TCP_HEADER)` (`include/linux/skbuff.h`, `include/net/tcp.h`): 320 for headers, 256 and 320 for what describes it.
const PACKET_MEMORY: u64 = 896;

/// Packets of a flow over UDP that wait in its node, or of a TCP sender that are still in its node (those that queue, those that the MAC
/// has, those on a wire or its timetable), and the interface that counts them among its own: the one by which the next one goes, where
/// that is known.
#[derive(Debug, Default)]
pub(crate) struct AtSource {
    packets: u32,
    tcp: bool,
    port: Option<u32>,
}

/// What the flows of an interface's node have there.
#[derive(Debug, Default)]
pub(crate) struct OwnFlows {
    /// Packets.
    packets: u32,
    /// Flows over UDP and TCP connections that have some.
    active: u32,
    /// Connections among them.
    tcp: u32,
    /// Packets of flows over UDP that wait on a wire's timetable: when they leave, and whose they are; in order.
    waits: VecDeque<(u64, u32)>,
    /// Packets of TCP senders on a wire or its timetable, in order.
    leaving: VecDeque<Leaving>,
}

/// What a TCP sender has in its node, and whether it has to wait.
#[derive(Debug, Default)]
pub(crate) struct Local {
    at_source: AtSource,
    /// Payload of all packets that are there, bytes.
    bytes: u64,
    /// No limit holds: the law reads what waits in the node.
    pub exempt: bool,
    /// The limit keeps the sender from sending.
    pub held: bool,
    /// An event is to come when the limit may let it go on.
    awaited: bool,
}

/// A packet of a TCP sender on a wire.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    /// When its last bit leaves.
    end: u64,
    connection: ConnectionRef,
    payload: u32,
}

/// A packet of a TCP sender that a station's MAC has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InMac {
    packet: u64,
    connection: ConnectionRef,
    payload: u32,
}

impl AtSource {
    /// How many there are.
    #[inline]
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// A packet goes on its way, by a port where the way is known.
    #[inline]
    pub fn enter(&mut self, port: Option<u32>, ports: &mut [Port]) {
        if port.is_some() && port != self.port {
            let packets = self.packets;
            self.set(0, ports);
            self.port = port;
            self.set(packets, ports);
        }
        self.set(self.packets + 1, ports);
    }

    /// A packet is there no more.
    #[inline]
    pub fn end(&mut self, ports: &mut [Port]) {
        debug_assert!(self.packets > 0);
        self.set(self.packets - 1, ports);
    }

    #[inline]
    fn set(&mut self, packets: u32, ports: &mut [Port]) {
        if let Some(port) = self.port {
            let own = &mut ports[port as usize].own;
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
    pub fn new(exempt: bool) -> Self {
        Self { at_source: AtSource { tcp: true, ..AtSource::default() }, exempt, ..Self::default() }
    }

    /// A packet goes on its way, by a port where the way is known.
    #[inline]
    pub fn enter(&mut self, port: Option<u32>, payload: u32, ports: &mut [Port]) {
        self.bytes += u64::from(payload);
        self.at_source.enter(port, ports);
    }

    /// A packet is there no more.
    fn end(&mut self, payload: u32, ports: &mut [Port]) {
        self.bytes -= u64::from(payload);
        self.at_source.end(ports);
    }

    /// The connection ends: nothing that it has there counts any more.
    pub fn clear(&mut self, ports: &mut [Port]) {
        self.bytes = 0;
        self.at_source.set(0, ports);
    }
}

impl OwnFlows {
    /// Whether so many packets of a flow are more than the mean of the flows that have some.
    fn mean_is_less(&self, packets: u32) -> bool {
        u64::from(packets) * u64::from(self.active) > u64::from(self.packets)
    }
}

impl Port {
    /// Packets that all flows of the node may have here together: half of the queue, with saturating ones at most
    /// [`SATURATING_PACKETS`]. The packet that is being sent counts as a connection's, so there is one more beside TCP.
    fn room_of_own(&self) -> u32 {
        let half = (self.queue.view().limit_packets / 2).max(1);
        let room = if self.saturating.is_empty() { half } else { half.min(SATURATING_PACKETS) };
        room + u32::from(self.own.tcp > 0)
    }

    /// The same, and what of it a flow may have that has so many packets here: as much as each other that has some, nothing if there are
    /// more flows than room. Saturating ones keep their shares filled and no more, so what the division leaves is nobody's there.
    fn share(&self, packets: u32) -> (u32, u32) {
        let (all, flows) = (self.room_of_own(), (self.own.active + u32::from(packets == 0)).max(1));
        let share = all / flows;
        (if self.saturating.is_empty() || share == 0 { all } else { share * flows }, share)
    }
}

impl Connection {
    /// Whether its sender has as much in its node as it sends in `limit_ns`.
    #[inline]
    fn fills_limit(&self, limit_ns: u64, now: u64) -> bool {
        let memory = self.local.bytes + u64::from(self.local.at_source.packets) * PACKET_MEMORY;
        self.sender.pacing_rate(Time(now)).is_some_and(|rate| {
            u128::from(memory) * 8_000_000_000 >= u128::from(rate.as_bps()) * u128::from(limit_ns)
        })
    }
}

impl Net {
    /// Whether a connection's sender has to wait until packets have left its node by a port: it has its share of what the node's flows may
    /// have there, or it has two there, and as much as it sends in the time of the limit, or more than the mean of the node's flows.
    #[inline]
    pub(super) fn is_held(&mut self, id: ConnectionRef, port: Option<u32>, now: u64) -> bool {
        let limited =
            port.and_then(|port| self.ports[port as usize].local_limit.map(|limit_ns| (port, limit_ns)));
        let Some((port, limit_ns)) = limited else {
            if let Some(connection) = self.connections.get_mut(id) {
                connection.local.held = false;
            }
            return false;
        };
        self.forget_left(port, now);
        let Some(connection) = self.connections.get(id) else { return false };
        let count = connection.local.at_source.packets;
        let held = !connection.local.exempt
            && (self.has_share(port, count, now)
                || count >= LEAST_PACKETS
                    && (self.ports[port as usize].own.mean_is_less(count)
                        || connection.fills_limit(limit_ns, now)));
        let Some(connection) = self.connections.get_mut(id) else { return false };
        // One that has nothing there waits for the departure of others.
        connection.local.held = held && count > 0;
        connection.blocked = held && count == 0;
        if connection.blocked {
            self.block(port, Blocked::Connection(id), now);
        } else if held {
            self.await_departure(id, port, now);
        }
        held
    }

    /// Whether a connection that waits for room at a port has to wait on: it has nothing there, and the others have all that the node's
    /// flows may have. Once it has something its own departures tell it when to go on.
    pub(super) fn connection_waits(&mut self, id: ConnectionRef, port: u32, now: u64) -> bool {
        if self.ports[port as usize].local_limit.is_none() {
            return false;
        }
        self.forget_left(port, now);
        let local = self.connections.get(id).map(|connection| &connection.local);
        local.is_some_and(|local| !local.exempt && local.at_source.packets == 0)
            && self.has_share(port, 0, now)
    }

    /// Whether a flow over UDP has to wait at its node's port: it has its share of what the node's flows may have there, and they have all
    /// of that; or, beside TCP, more than their mean, since a connection whose packets wait behind many of others sends less.
    pub(super) fn source_waits(&mut self, port: u32, flow: u32, now: u64) -> bool {
        if self.ports[port as usize].local_limit.is_none() {
            return false;
        }
        self.forget_left(port, now);
        let count = self.flows[flow as usize].at_source.packets;
        let own = &self.ports[port as usize].own;
        // The packet that is being sent counts as a connection's, and not here.
        own.tcp > 0 && count > 0 && own.mean_is_less(count + 1) || self.has_share(port, count, now)
    }

    /// Packets that each saturating source of a port keeps there. Where nothing limits the others, these share among themselves what all
    /// may have.
    pub(super) fn share_of_saturating(&self, port: u32) -> u32 {
        let p = &self.ports[port as usize];
        let none_there = |flow: &&u32| self.flows[**flow as usize].at_source.packets() == 0;
        let flows = match p.local_limit {
            Some(_) => p.own.active as usize + p.saturating.iter().filter(none_there).count(),
            None => p.saturating.len(),
        };
        (p.room_of_own() / flows.max(1) as u32).max(1)
    }

    /// Whether the flows of a port's node have as much there as all of them may have, and one with so many packets its share. A flow
    /// with none waits only while a departure is to come.
    fn has_share(&self, port: u32, packets: u32, now: u64) -> bool {
        let p = &self.ports[port as usize];
        let (all, share) = p.share(packets);
        p.own.packets >= all && packets >= share && (packets > 0 || !self.is_empty(port, now))
    }

    /// What has left a port's wire is not in the node any more; what it has begun to send waits no more.
    pub(super) fn forget_left(&mut self, port: u32, now: u64) {
        while let Some(&(_, flow)) =
            self.ports[port as usize].own.waits.front().filter(|first| first.0 <= now)
        {
            self.ports[port as usize].own.waits.pop_front();
            self.flows[flow as usize].at_source.end(&mut self.ports);
        }
        while let Some(&left) = self.ports[port as usize].own.leaving.front().filter(|first| first.end <= now)
        {
            self.ports[port as usize].own.leaving.pop_front();
            if let Some(connection) = self.connections.get_mut(left.connection) {
                connection.local.end(left.payload, &mut self.ports);
            }
        }
    }

    /// A held connection goes on when the next of its packets has left by wire. Those that have left are forgotten first: a connection
    /// that had nothing to send stays marked as held, and nobody has looked since.
    fn await_departure(&mut self, id: ConnectionRef, port: u32, now: u64) {
        self.forget_left(port, now);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let local = &mut connection.local;
        if !local.held || local.awaited {
            return;
        }
        let leaving = &self.ports[port as usize].own.leaving;
        if let Some(next) = leaving.iter().find(|leaving| leaving.connection == id) {
            local.awaited = true;
            let (flow, end) = (connection.flow, next.end);
            self.go_on_at(id, flow, end);
        }
    }

    fn go_on_at(&mut self, id: ConnectionRef, flow: u32, at: u64) {
        let order = Order::new(class::TIMER, self.flows[flow as usize].rank);
        self.later(at, order, What::LocalRoom(id));
    }

    /// Some of a connection's packets have left its node.
    pub(crate) fn local_room(&mut self, id: ConnectionRef, now: u64) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.local.awaited = false;
        if connection.local.held {
            self.pump(id, now);
        }
    }

    /// A packet of a TCP sender is the last that a wire was given.
    #[inline]
    pub(super) fn leaves_by_wire(&mut self, wire: u32, handle: u64, now: u64) {
        let link = &self.wires[wire as usize];
        let Some(last) = link.in_flight.back().filter(|last| last.packet == handle) else { return };
        let (port, end) = (link.port, last.arrival - link.delay);
        let Some(packet) = self.packets.get_mut(handle) else { return };
        packet.at_source = false;
        let payload = packet.payload;
        let connection = self.packets.connection(handle);
        self.ports[port as usize].own.leaving.push_back(Leaving { end, connection, payload });
        self.await_departure(connection, port, now);
    }

    /// A MAC takes a packet of a TCP sender.
    #[inline]
    pub(super) fn enters_mac(&mut self, port: u32, packet: u64, payload: u32) {
        let connection = self.packets.connection(packet);
        self.ports[port as usize].in_mac.push_back(InMac { packet, connection, payload });
    }

    /// A station's MAC is done with a packet: its sender may go on if it was of this node.
    #[inline]
    pub(super) fn leaves_mac(&mut self, station: u32, packet: u64, now: u64) {
        let in_mac = &mut self.ports[self.port_of_station[station as usize] as usize].in_mac;
        let Some(at) = in_mac.iter().position(|taken| taken.packet == packet) else { return };
        let Some(InMac { connection: id, payload, .. }) = in_mac.remove(at) else { return };
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.local.end(payload, &mut self.ports);
        if connection.local.held {
            self.pump(id, now);
        }
    }

    /// A packet has come to its end before it left its source's queue.
    pub(super) fn ends_at_source(&mut self, packet: &Packet, handle: u64, now: u64) {
        if !packet.tcp {
            let at_source = &mut self.flows[packet.flow as usize].at_source;
            at_source.end(&mut self.ports);
            if let Some(port) = at_source.port.filter(|&port| self.is_empty(port, now)) {
                self.emptied(port, now);
            }
            // The first packet went by a port that nobody has known: no departure there is told to its source yet.
            if self.on_demand.is_some() && self.flows[packet.flow as usize].source.is_saturating() {
                self.offer_again(packet.flow, now);
            }
            return;
        }
        let id = self.packets.connection(handle);
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.local.end(packet.payload, &mut self.ports);
        if connection.local.held && !connection.local.awaited {
            connection.local.awaited = true;
            // Not before the queue that has dropped it is done.
            self.go_on_at(id, packet.flow, now);
        }
    }

    /// A source over UDP has sent a packet by a port. From a timetable nobody takes it later: what has to wait there is noted with its
    /// end.
    #[inline]
    pub(super) fn note_wait(&mut self, port: u32, handle: u64, now: u64) {
        if self.ports[port as usize].local_limit.is_some()
            && let Some(wire) = self.timetable_of(port)
            && let Some(last) = self.wires[wire as usize].in_flight.back()
            && last.packet == handle
            && let Some(packet) = self.packets.get_mut(handle)
        {
            packet.at_source = false;
            let (flow, begin) = (packet.flow, last.begin);
            if begin > now {
                self.ports[port as usize].own.waits.push_back((begin, flow));
            } else {
                self.flows[flow as usize].at_source.end(&mut self.ports);
            }
        }
    }

    /// Flows that may fill a queue which also carries what their node forwards, as nothing limits what they have there: each with its
    /// node and one of the flows that are forwarded. Where routes are found while the world runs nobody knows.
    pub(crate) fn crowders(&self, names: &[String]) -> Vec<(u32, u32, u32)> {
        let may_fill = |flow: &u32| {
            let f = &self.flows[*flow as usize];
            let Some(port) = f.first_hops[0].map(|hop| &self.ports[hop.port as usize]) else { return false };
            let window = f.tcp.as_ref().map_or(u64::MAX, |tcp| match tcp.reads_own_queue {
                true => 0,
                false => tcp.config.window_limit / u64::from(tcp.config.mss),
            });
            port.fillable && !f.source.is_saturating() && window >= u64::from(port.queue.view().limit_packets)
        };
        let crowders: Vec<u32> = (0..self.flows.len() as u32).filter(may_fill).collect();
        if crowders.is_empty() {
            return Vec::new();
        }
        // Of the flows that a port forwards the first by its name, not by its place in the file.
        let mut forwarded: BTreeMap<u32, u32> = BTreeMap::new();
        for (flow, f) in self.flows.iter().enumerate() {
            let ways =
                if f.tcp.is_some() { &[(f.from, f.to), (f.to, f.from)][..] } else { &[(f.from, f.to)] };
            for &(from, to) in ways {
                let mut at = from;
                while at != to
                    && let Some(hop) = self.next_hop(at, to)
                {
                    if at != from {
                        let known = forwarded.entry(hop.port).or_insert(flow as u32);
                        if names[flow] < names[*known as usize] {
                            *known = flow as u32;
                        }
                    }
                    at = hop.node;
                }
            }
        }
        let crowds = |&flow: &u32| {
            let f = &self.flows[flow as usize];
            let port = f.first_hops[0]?.port;
            forwarded.get(&port).map(|&other| (flow, f.from, other))
        };
        crowders.iter().filter_map(crowds).collect()
    }
}
