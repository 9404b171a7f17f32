//! What a node's own flows may have waiting in its interface: the limit that leaves room there for what the node forwards
//! ([`crate::spec::LocalLimit`]).
//!
//! Packets of a TCP sender count from TCP to the end of their transmission, where Linux frees them (`tcp_wfree` in
//! `net/ipv4/tcp_output.c`, called when the driver reports a packet as sent): by wire when the last bit has left, by radio when the
//! MAC has its acknowledgement or has given the packet up.

use std::collections::{BTreeMap, VecDeque};

use airfair_units::Time;

use super::connections::{Connection, ConnectionId};
use super::packet::Packet;
use super::{Net, Port, class, kinds};
use crate::engine::Order;

/// Packets that a TCP connection may always have in its node: the one that is sent, and the one after it.
const LEAST_PACKETS: u32 = 2;

/// What a packet takes beside its payload, bytes: Linux compares the memory of packets (`truesize`) with its limit. A segment has
/// `SKB_TRUESIZE(MAX_TCP_HEADER)` (`include/linux/skbuff.h`, `include/net/tcp.h`): 320 for headers, 256 and 320 for what describes it.
const PACKET_MEMORY: u64 = 896;

/// Packets of a TCP sender that are still in its node: those that queue, those that the MAC has, those on a wire or its timetable.
#[derive(Debug, Default)]
pub(crate) struct Local {
    packets: u32,
    /// Payload of all of them, bytes.
    bytes: u64,
    /// The interface that counts them among its own, where their way is known, and how many it has counted.
    port: Option<u32>,
    counted: u32,
    /// No limit holds: the law reads what waits in the node.
    pub exempt: bool,
    /// The limit keeps the sender from sending.
    pub held: bool,
    /// An event is to come when the limit may let it go on.
    awaited: bool,
}

/// What all TCP senders of an interface's node have in it.
#[derive(Debug, Default)]
pub(crate) struct OwnTcp {
    /// Packets.
    packets: u32,
    /// Connections that have some.
    pub active: u32,
    /// Those on a wire or its timetable, in order.
    leaving: VecDeque<Leaving>,
}

/// A packet of a TCP sender on a wire.
#[derive(Debug, Clone, Copy)]
struct Leaving {
    /// When its last bit leaves.
    end: u64,
    connection: ConnectionId,
    payload: u32,
}

/// A packet of a TCP sender that a station's MAC has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InMac {
    packet: u64,
    connection: ConnectionId,
    payload: u32,
}

impl Local {
    /// A packet goes on its way, by a port where the way is known.
    #[inline]
    pub fn enter(&mut self, port: Option<u32>, payload: u32, ports: &mut [Port]) {
        if self.counted == 0 {
            self.port = port;
        }
        self.packets += 1;
        self.bytes += u64::from(payload);
        self.tell(ports);
    }

    /// A packet is there no more.
    fn end(&mut self, payload: u32, ports: &mut [Port]) {
        self.packets -= 1;
        self.bytes -= u64::from(payload);
        self.tell(ports);
    }

    /// The connection ends: nothing that it has there counts any more.
    pub fn clear(&mut self, ports: &mut [Port]) {
        self.packets = 0;
        self.tell(ports);
    }

    /// Its interface counts what it has there now.
    fn tell(&mut self, ports: &mut [Port]) {
        let Some(port) = self.port else { return };
        let own = &mut ports[port as usize].own_tcp;
        own.packets = own.packets + self.packets - self.counted;
        own.active = own.active + u32::from(self.packets > 0) - u32::from(self.counted > 0);
        self.counted = self.packets;
    }
}

impl Connection {
    /// Whether its sender has as much in its node as it sends in `limit_ns`.
    #[inline]
    fn fills_limit(&self, limit_ns: u64, now: u64) -> bool {
        let memory = self.local.bytes + u64::from(self.local.packets) * PACKET_MEMORY;
        self.sender.pacing_rate(Time(now)).is_some_and(|rate| {
            u128::from(memory) * 8_000_000_000 >= u128::from(rate.as_bps()) * u128::from(limit_ns)
        })
    }
}

impl Net {
    /// Whether a connection's sender has to wait until some of its packets have left its node by a port: it has two there, and as much
    /// as it sends in the time of the limit, or more than the mean of the node's connections, or its share of the half of the queue
    /// that the node's own flows fill.
    #[inline]
    pub(super) fn is_held(&mut self, id: ConnectionId, port: Option<u32>, now: u64) -> bool {
        let limited =
            port.and_then(|port| self.ports[port as usize].local_limit.map(|limit_ns| (port, limit_ns)));
        let held = limited.is_some_and(|(port, limit_ns)| {
            self.forget_left(port, now);
            let Some(connection) = self.connections.get(id) else { return false };
            let count = connection.local.packets;
            let own = &self.ports[port as usize].own_tcp;
            !connection.local.exempt
                && count >= LEAST_PACKETS
                && (count * own.active > own.packets
                    || connection.fills_limit(limit_ns, now)
                    || self.has_share(port, count))
        });
        let Some(connection) = self.connections.get_mut(id) else { return false };
        connection.local.held = held;
        if let Some((port, _)) = limited.filter(|_| held) {
            self.await_departure(id, port, now);
        }
        held
    }

    /// The node's own flows have as much at a port as all of them may have, and one with so many packets its share of that.
    fn has_share(&self, port: u32, packets: u32) -> bool {
        let p = &self.ports[port as usize];
        let (all, share) = p.room_of_sources();
        packets >= share && self.own_packets(port) >= all
    }

    /// Packets of the node's own flows at a port. A saturating source fills its share whenever a packet of its own has left.
    fn own_packets(&self, port: u32) -> u32 {
        let p = &self.ports[port as usize];
        let waiting = |flow: &u32| self.flows[*flow as usize].waiting;
        let saturating =
            if p.saturating.is_empty() { 0 } else { p.room_of_sources().1 * p.saturating.len() as u32 };
        p.own_tcp.packets + saturating + p.sources.iter().map(waiting).sum::<u32>()
    }

    /// What has left a port's wire is not in the node any more; what it has begun to send waits no more.
    pub(super) fn forget_left(&mut self, port: u32, now: u64) {
        let p = &mut self.ports[port as usize];
        while let Some(&(_, flow)) = p.waits.front().filter(|first| first.0 <= now) {
            p.waits.pop_front();
            self.flows[flow as usize].waiting -= 1;
        }
        while let Some(&left) =
            self.ports[port as usize].own_tcp.leaving.front().filter(|first| first.end <= now)
        {
            self.ports[port as usize].own_tcp.leaving.pop_front();
            if let Some(connection) = self.connections.get_mut(left.connection) {
                connection.local.end(left.payload, &mut self.ports);
            }
        }
    }

    /// A held connection goes on when the next of its packets has left by wire. Those that have left are forgotten first: a connection
    /// that had nothing to send stays marked as held, and nobody has looked since.
    fn await_departure(&mut self, id: ConnectionId, port: u32, now: u64) {
        self.forget_left(port, now);
        let Some(connection) = self.connections.get_mut(id) else { return };
        let local = &mut connection.local;
        if !local.held || local.awaited {
            return;
        }
        let leaving = &self.ports[port as usize].own_tcp.leaving;
        if let Some(next) = leaving.iter().find(|leaving| leaving.connection == id) {
            local.awaited = true;
            let (flow, end) = (connection.flow, next.end);
            self.go_on_at(id, flow, end);
        }
    }

    fn go_on_at(&mut self, id: ConnectionId, flow: u32, at: u64) {
        let order = Order::new(class::TIMER, self.flows[flow as usize].rank);
        self.later(at, order, kinds::LOCAL_ROOM, id.slot, id.generation, 0);
    }

    /// Some of a connection's packets have left its node.
    pub(super) fn local_room(&mut self, id: ConnectionId, now: u64) {
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
        self.ports[port as usize].own_tcp.leaving.push_back(Leaving { end, connection, payload });
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
            self.flows[packet.flow as usize].waiting -= 1;
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

    /// Whether a flow over UDP has to wait at its node's port: the node's own flows hold half of the queue, and this one has its share of
    /// that half.
    pub(super) fn source_waits(&mut self, port: u32, flow: u32, now: u64) -> bool {
        if self.ports[port as usize].local_limit.is_none() {
            return false;
        }
        self.forget_left(port, now);
        self.has_share(port, self.flows[flow as usize].waiting)
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
                self.ports[port as usize].waits.push_back((begin, flow));
            } else {
                self.flows[flow as usize].waiting -= 1;
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
