//! Sources at their nodes, over the whole network: a forwarder takes a packet as soon as it is made, before its source goes on.

use airfair_host::forwarders;
use airfair_units::Time;

use crate::engine::Agenda;
use crate::event::EventKind;
use crate::ids::{CopyRef, FlowIx, PortIx};
use crate::node::Network;
use crate::node::endpoints::backpressure::Waiter;
use crate::route::NextHop;

/// Starts the traffic of a flow.
#[inline(never)]
pub(super) fn start(network: &mut Network, flow: FlowIx, agenda: &mut Agenda) {
    let now = agenda.now;
    let Network { endpoints, plane, .. } = &mut *network;
    let f = &mut endpoints.flows[flow];
    f.set_start(now);
    if f.is_tcp() {
        endpoints.tcp_start(plane, flow, agenda);
        return;
    }
    let due = f.source.start(now);
    let (order, stop) = (f.order(), f.stop);
    let saturating = f.source.is_saturating();
    if endpoints.udp.controls(flow) {
        // Without a route now, the fastest of the node's links.
        let of = |port| plane.interfaces.pipeline(port).at().rate;
        let fastest = || plane.interfaces.ports_of(endpoints.flows[flow].from).map(of).max();
        let link = endpoints.first_hop(plane, flow).map(|hop| of(hop.port)).or_else(fastest);
        endpoints.udp.start(flow, link, now, &mut plane.schedule);
        if saturating {
            endpoints.udp.request(flow);
            endpoints.send_paced(plane, flow, now);
            return;
        }
    }
    if saturating {
        match endpoints.port_towards(plane, flow) {
            Some(port) => {
                endpoints.backpressure.add_saturating(port, flow);
                refill(network, port, now);
            }
            None => {
                make_packet(network, flow, now);
            }
        }
    } else if due < stop {
        agenda.push(due, order, EventKind::Source(flow));
    }
}

/// Handles the due time of the next packet of a flow's application.
pub(super) fn due(network: &mut Network, flow: FlowIx, agenda: &mut Agenda) {
    let now = agenda.now;
    let Network { endpoints, plane, .. } = &mut *network;
    let f = &mut endpoints.flows[flow];
    if f.is_tcp() {
        let size = u64::from(f.source.size());
        f.count_offered(size);
        endpoints.schedule_source(flow, agenda);
        let id = endpoints.tcp.connection_of(flow);
        if endpoints.tcp.write(id, size) {
            endpoints.send_segments(plane, id, now);
        }
        return;
    }
    if endpoints.udp.controls(flow) {
        endpoints.udp.request(flow);
        endpoints.send_paced(plane, flow, now);
        return;
    }
    if f.source.is_saturating() {
        f.retry_due();
        if let Some(port) = endpoints.port_towards(plane, flow) {
            if plane.routes.are_found() {
                endpoints.register_departure_port(plane, flow, port);
            }
            refill(network, port, now);
        }
        return;
    }
    if let Some(NextHop { port, .. }) = endpoints.first_hop(plane, flow)
        && endpoints.backpressure.rules(port).backpressure
        && (endpoints.is_full_for(plane, port, flow, now)
            || endpoints.udp_source_must_wait(plane, port, flow, now))
    {
        endpoints.flows[flow].hold(now);
        endpoints.wait_for_room(plane, port, Waiter::Flow(flow), now);
        return;
    }
    make_packet(network, flow, now);
    network.endpoints.schedule_source(flow, agenda);
}

/// Makes a flow's next packet and sends it from its source; returns the packet's copy. A forwarder that has room takes it at once.
fn make_packet(network: &mut Network, flow: FlowIx, now: Time) -> CopyRef {
    let copy = network.endpoints.make_packet(&mut network.plane, flow, now);
    let forwarded = network.endpoints.flows[flow].forwarded.as_ref();
    if forwarded.is_some_and(|forwarded| forwarded.waiting.back() == Some(&copy)) {
        forwarders::offered(network, flow, now);
    }
    network.settle(now);
    copy
}

/// Resumes the sources that wait for room at a port.
#[inline(always)]
pub(super) fn resume(network: &mut Network, port: PortIx, now: Time) {
    if network.endpoints.backpressure.needs_room(port) {
        give_room(network, port, now);
    }
}

/// Resumes the sources at ports where packets that waited for a route or an address have ended.
#[cold]
#[inline(never)]
pub(super) fn resume_where_room(network: &mut Network, now: Time) {
    while let Some(port) = network.plane.rooms.pop_front() {
        resume(network, port, now);
    }
}

#[inline(never)]
fn give_room(network: &mut Network, port: PortIx, now: Time) {
    // Saturating and other sources take turns whenever there is room.
    if network.endpoints.backpressure.is_turn_of_saturating(port) {
        let made = refill(network, port, now);
        network.endpoints.backpressure.end_saturating_turn(port, made);
    }
    loop {
        let Network { endpoints, plane, .. } = &mut *network;
        let by_destination =
            plane.rules.queues_label && !plane.interfaces.pipeline(port).queue_header().is_none();
        if !by_destination && plane.interfaces.is_full(port, &mut plane.links, now) {
            break;
        }
        match endpoints.next_waiter(plane, port, now) {
            Some(Waiter::Flow(flow)) => resume_udp_source(network, flow, now),
            Some(Waiter::Connection(id)) => {
                if endpoints.tcp.get(id).is_some() {
                    endpoints.backpressure.unblock(id);
                    endpoints.send_segments(plane, id, now);
                }
            }
            None => break,
        }
    }
    if !network.endpoints.backpressure.saturating(port).is_empty() {
        refill(network, port, now);
    }
}

/// Resumes the UDP source of a flow, which has held back a packet.
fn resume_udp_source(network: &mut Network, flow: FlowIx, now: Time) {
    let Network { endpoints, plane, .. } = &mut *network;
    if endpoints.udp.set_blocked(flow, false) {
        endpoints.send_paced(plane, flow, now);
        return;
    }
    let f = &mut endpoints.flows[flow];
    f.release(now);
    if now >= f.stop {
        return;
    }
    f.source.resume(now);
    let due = f.source.next(now);
    let (stop, order) = (f.stop, f.order());
    make_packet(network, flow, now);
    if due < stop {
        network.plane.schedule.add(due, order, EventKind::Source(flow));
    }
}

/// Refills the packets of saturating sources: each keeps its share of half of the queue filled, so that the queue is never empty and
/// forwarded packets still find room. Where there is less room than sources they take turns.
///
/// Returns true if a packet was made.
fn refill(network: &mut Network, port: PortIx, now: Time) -> bool {
    let Network { endpoints, plane, .. } = &mut *network;
    let flows = &endpoints.flows;
    endpoints.backpressure.retain_saturating(port, |&flow| now < flows[flow].stop);
    endpoints.backpressure.remove_departed(port, now);
    let limit = plane.interfaces.pipeline(port).view().limit_packets;
    let share = endpoints.backpressure.share_of_saturating(port, limit);
    let mut made = false;
    for i in 0..network.endpoints.backpressure.saturating(port).len() {
        let flow = network.endpoints.backpressure.saturating(port)[i];
        while network.endpoints.backpressure.packets_of(flow) < share {
            let Network { endpoints, plane, .. } = &mut *network;
            let waits = endpoints.udp_source_must_wait(plane, port, flow, now);
            if waits && endpoints.backpressure.packets_of(flow) > 0 {
                break;
            }
            let view = plane.interfaces.pipeline(port).view();
            if waits || endpoints.is_full_for(plane, port, flow, now) {
                endpoints.backpressure.rotate_saturating(port, i);
                return made;
            }
            let copy = make_packet(network, flow, now);
            made = true;
            let Network { endpoints, plane, .. } = &mut *network;
            if plane.interfaces.pipeline(port).view().packets == view.packets
                && endpoints.flows[flow].forwarded.is_none()
            {
                // The packet waits for an address, is in the MAC, or was dropped: another packet now would end the same way.
                if plane.packets.get(copy).is_none() {
                    endpoints.schedule_retry(plane, flow, now);
                }
                break;
            }
        }
    }
    made
}
