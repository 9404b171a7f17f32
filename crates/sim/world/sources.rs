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
    let f = &mut network.endpoints.flows[flow];
    f.set_start(now);
    if f.is_tcp {
        network.endpoints.tcp_start(&mut network.plane, flow, agenda);
        return;
    }
    let due = f.source.start(now);
    let (order, stop) = (f.order(), f.stop);
    let saturating = f.source.is_saturating();
    if network.endpoints.udp.controls(flow) {
        network.endpoints.udp.start(flow, now, &mut network.plane.schedule);
        if saturating {
            network.endpoints.udp.request(flow);
            network.endpoints.send_paced(&mut network.plane, flow, now);
            return;
        }
    }
    if saturating {
        match network.endpoints.port_towards(&mut network.plane, flow) {
            Some(port) => {
                network.endpoints.backpressure.add_saturating(port, flow);
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
    let f = &mut network.endpoints.flows[flow];
    if f.is_tcp {
        let size = u64::from(f.source.size());
        f.count_offered(size);
        network.endpoints.schedule_source(flow, agenda);
        let id = network.endpoints.tcp.connection_of(flow);
        if network.endpoints.tcp.write(id, size) {
            network.endpoints.send_segments(&mut network.plane, id, now);
        }
        return;
    }
    if network.endpoints.udp.controls(flow) {
        network.endpoints.udp.request(flow);
        network.endpoints.send_paced(&mut network.plane, flow, now);
        return;
    }
    if f.source.is_saturating() {
        f.retry_due();
        if let Some(port) = network.endpoints.port_towards(&mut network.plane, flow) {
            if network.plane.routes.are_found() {
                network.endpoints.register_departure_port(&mut network.plane, flow, port);
            }
            refill(network, port, now);
        }
        return;
    }
    if let Some(NextHop { port, .. }) = network.endpoints.first_hop(&mut network.plane, flow)
        && network.endpoints.backpressure.rules(port).backpressure
        && (network.endpoints.is_full_for(&mut network.plane, port, flow, now)
            || network.endpoints.udp_source_must_wait(&mut network.plane, port, flow, now))
    {
        network.endpoints.flows[flow].hold(now);
        network.endpoints.wait_for_room(&mut network.plane, port, Waiter::Flow(flow), now);
        return;
    }
    make_packet(network, flow, now);
    network.endpoints.schedule_source(flow, agenda);
}

/// Makes a flow's next packet and sends it from its source; returns the packet's copy. A forwarder that has room takes it at once.
fn make_packet(network: &mut Network, flow: FlowIx, now: Time) -> CopyRef {
    let copy = network.endpoints.make_packet(&mut network.plane, flow, now);
    if std::mem::take(&mut network.endpoints.offered) {
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
    let by_destination =
        network.plane.rules.queues_label && !network.plane.interfaces.pipeline(port).queue_header().is_none();
    while by_destination || !network.plane.interfaces.is_full(port, &mut network.plane.links, now) {
        match network.endpoints.next_waiter(&mut network.plane, port, now) {
            Some(Waiter::Flow(flow)) => resume_udp_source(network, flow, now),
            Some(Waiter::Connection(id)) => {
                if network.endpoints.tcp.get(id).is_some() {
                    network.endpoints.backpressure.unblock(id);
                    network.endpoints.send_segments(&mut network.plane, id, now);
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
    if network.endpoints.udp.set_blocked(flow, false) {
        network.endpoints.send_paced(&mut network.plane, flow, now);
        return;
    }
    let f = &mut network.endpoints.flows[flow];
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
    let flows = &network.endpoints.flows;
    network.endpoints.backpressure.retain_saturating(port, |&flow| now < flows[flow].stop);
    network.endpoints.backpressure.remove_departed(port, now);
    let limit = network.plane.interfaces.pipeline(port).view().limit_packets;
    let share = network.endpoints.backpressure.share_of_saturating(port, limit);
    let mut made = false;
    for i in 0..network.endpoints.backpressure.saturating(port).len() {
        let flow = network.endpoints.backpressure.saturating(port)[i];
        while network.endpoints.backpressure.packets_of(flow) < share {
            let waits = network.endpoints.udp_source_must_wait(&mut network.plane, port, flow, now);
            if waits && network.endpoints.backpressure.packets_of(flow) > 0 {
                break;
            }
            let view = network.plane.interfaces.pipeline(port).view();
            if waits || network.endpoints.is_full_for(&mut network.plane, port, flow, now) {
                network.endpoints.backpressure.rotate_saturating(port, i);
                return made;
            }
            let copy = make_packet(network, flow, now);
            made = true;
            if network.plane.interfaces.pipeline(port).view().packets == view.packets
                && network.endpoints.flows[flow].forwarded.is_none()
            {
                // The packet waits for an address, is in the MAC, or was dropped: another packet now would end the same way.
                if network.plane.packets.get(copy).is_none() {
                    network.endpoints.schedule_retry(&mut network.plane, flow, now);
                }
                break;
            }
        }
    }
    made
}
