//! Ports with a wire behind: packets go to [`crate::link::Links`], and what comes of that goes on here.

use crate::packet::Packet;
use airfair_schemes::places::{DropReason, FlowId, Passage};
use airfair_units::{Rate, Time};

use super::{Behind, Net, Port, QueueTotals, Taken, drop_reason};
use crate::engine::Agenda;
use crate::ids::{CopyRef, PortIx, WireIx};
use crate::link::{Answer, Due, End, Free, Links, Offer};
use crate::node::backpressure::Waiter;

impl Net {
    /// Offers a packet to a wire that keeps its own queue.
    #[inline]
    pub(super) fn offer_to_wire(&mut self, wire: WireIx, copy: CopyRef, now: u64) {
        let Some(&packet) = self.packets.get(copy) else { return };
        self.enter_wire(wire, (&packet, copy), now, None);
    }

    /// The same where the agenda may be at hand. A packet that finds no room is dropped.
    #[inline(never)]
    fn enter_wire(
        &mut self,
        wire: WireIx,
        (packet, copy): (&Packet, CopyRef),
        now: u64,
        agenda: Option<&mut Agenda>,
    ) {
        let offer = Offer { packet: copy, bytes: packet.bytes, has_payload: packet.length > 0 };
        if self.hops_at_wires {
            let backlog = self.links.backlog(wire, Time(now)).unwrap_or_default();
            let (bytes, flow) = (packet.bytes + self.headers.wired, FlowId(packet.scheme_flow));
            let passage = Passage { bytes, flow, class: packet.class, backlog };
            let pipeline = &mut self.ports[self.links.port(wire).ix()].pipeline;
            pipeline.pass(&passage, self.packets.carried_header(copy), &self.kinds_of_header, Time(now));
        }
        match self.links.offer(wire, &offer, Time(now)) {
            Answer::Accepted(None) => {}
            Answer::Accepted(Some(due)) => match agenda {
                Some(agenda) => agenda.push(due.at.0, due.order, due.what),
                None => self.later(due.at.0, due.order, due.what),
            },
            Answer::Full => self.drop_at(self.links.port(wire).0, copy, DropReason::QUEUE_FULL.0, now),
        }
    }

    /// An event of a link goes on the agenda when the present event is done.
    fn plan(&mut self, due: Option<Due>) {
        if let Some(Due { at, order, what }) = due {
            self.later(at.0, order, what);
        }
    }

    /// Both directions of a link have another rate from now on.
    #[inline(never)]
    pub(crate) fn link_rate_changes(&mut self, link: u32, rate: Rate) {
        for port in self.links.on_rate_change(link, rate) {
            self.ports[port.ix()].pipeline.set_rate(rate);
        }
    }

    /// What has left a port's queue by now, whoever keeps that.
    pub(super) fn queue_totals(&self, port: u32, now: u64) -> QueueTotals {
        let port = &self.ports[port as usize];
        let mut totals = port.totals;
        if let Behind::Wire(wire) = port.behind {
            let view = self.links.view(wire, Time(now));
            totals.left += view.left;
            totals.waited_ns += view.waited.0;
        }
        totals
    }

    /// Packets that wait in a port's queue, whoever keeps that.
    pub(super) fn queue_packets(&self, port: u32, now: u64) -> u64 {
        let port = &self.ports[port as usize];
        let at_wire = match port.behind {
            Behind::Wire(wire) => self.links.view(wire, Time(now)).waiting,
            Behind::Station(_) => 0,
        };
        u64::from(port.pipeline.view().packets) + at_wire
    }

    /// Whether a port takes no packet now.
    #[inline]
    pub(super) fn is_full(&mut self, port: u32, now: u64) -> bool {
        if let Some(wire) = self.wire_with_queue(port) {
            return self.links.is_full(wire, Time(now));
        }
        let view = self.ports[port as usize].pipeline.view();
        view.packets >= view.limit_packets
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self, port: u32, now: u64) -> bool {
        self.ports[port as usize].is_empty(&self.links, now)
    }

    /// A source waits for room at a port.
    pub(super) fn block(&mut self, port: u32, who: Waiter, now: u64) {
        self.backpressure.block(PortIx(port), who);
        if let Behind::Wire(wire) = self.ports[port as usize].behind {
            let due = self.links.wake_at_departure(wire, Time(now));
            self.plan(due);
        }
    }

    /// A wire may have something to send: the next packet leaves its port's queue if the wire is idle, or an event is set for when
    /// the wire is free.
    pub(crate) fn kick_wire(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let port = self.links.port(wire).0;
        let mut schedule = |due: Option<Due>| {
            if let Some(Due { at, order, what }) = due {
                agenda.push(at.0, order, what);
            }
        };
        if !self.links.is_idle(wire, Time(now)) {
            schedule(self.links.wake(wire));
            return;
        }
        if let Some(offer) = self.next_control(port) {
            schedule(self.links.send(wire, &offer, Time(now), Time(now)));
            schedule(self.links.wake(wire));
            return;
        }
        let Some(Taken { copy, queued, payload, of_local_tcp, .. }) = self.take_or_tell(port, now) else {
            return;
        };
        let offer = Offer { packet: copy, bytes: queued.bytes, has_payload: payload > 0 };
        schedule(self.links.send(wire, &offer, queued.enqueued, Time(now)));
        if of_local_tcp {
            self.leaves_by_wire(wire, copy, now);
        }
        self.room(port, now);
        if self.ports[port as usize].pipeline.view().packets > 0 {
            schedule(self.links.wake(wire));
        }
    }

    pub(crate) fn wire_free(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let Free { port, queues_itself } = self.links.on_free(wire);
        if !queues_itself {
            self.kick_wire(wire, agenda);
            return;
        }
        self.room(port.0, agenda.now);
        if self.backpressure.anybody_waits(port) {
            let due = self.links.wake_at_departure(wire, Time(agenda.now));
            self.plan(due);
        }
    }

    pub(crate) fn wire_arrival(&mut self, wire: WireIx, agenda: &mut Agenda) {
        let now = agenda.now;
        let (end, due) = self.links.on_arrival(wire);
        if let Some(Due { at, order, what }) = due {
            agenda.push(at.0, order, what);
        }
        let (node, copy) = match end {
            Some(End::Arrived { node, packet }) => (node.0, packet),
            Some(End::Lost { node, packet }) => {
                self.drop_packet(node.0, packet, drop_reason::WIRE_LOSS, now);
                return;
            }
            None => return,
        };
        if self.routes.are_found() {
            self.arrives_by_wire(wire, copy, now);
            return;
        }
        let Some((&packet, at)) = self.packets.both_mut(copy) else { return };
        at.hops += 1;
        let (destination, hops) = (packet.destination, at.hops);
        // The usual way of a router: from wire to wire, without a detour.
        if destination != node
            && hops < self.hop_limit
            && let Some(onward) = self.onward(wire, destination)
        {
            self.enter_wire(onward, (&packet, copy), now, Some(agenda));
            return;
        }
        self.go_on_from(node, (destination, hops), copy, now);
    }

    /// The wire with its own queue by which packets of a wire go on to a destination: mostly the wire that the last packet took.
    #[inline(always)]
    fn onward(&mut self, wire: WireIx, destination: u32) -> Option<WireIx> {
        match self.onward[wire] {
            Some((to, onward)) if to == destination => Some(onward),
            _ => self.find_onward(wire, destination),
        }
    }

    #[inline(never)]
    fn find_onward(&mut self, wire: WireIx, destination: u32) -> Option<WireIx> {
        let node = self.links.far_end(wire).0;
        let onward = self.next_hop(node, destination).and_then(|hop| self.wire_with_queue(hop.port))?;
        self.onward[wire] = Some((destination, onward));
        Some(onward)
    }

    /// The wire behind a port, if the wire keeps its own queue.
    #[inline]
    pub(super) fn wire_with_queue(&self, port: u32) -> Option<WireIx> {
        match self.ports[port as usize].behind {
            Behind::Wire(wire) => self.links.queues_itself(wire).then_some(wire),
            Behind::Station(_) => None,
        }
    }
}

impl Port {
    /// Whether nothing waits here.
    pub(super) fn is_empty(&self, links: &Links, now: u64) -> bool {
        match self.behind {
            Behind::Wire(wire) if links.queues_itself(wire) => links.is_empty(wire, Time(now)),
            _ => self.pipeline.view().packets == 0,
        }
    }
}
