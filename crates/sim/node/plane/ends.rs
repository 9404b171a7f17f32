//! The ends of packets other than delivery: drops, and of control packets the time at which all receivers have them.

use airfair_schemes::places::{Ecn, PacketClass};
use airfair_units::{Span, Time};

use super::{DataPlane, PlaneNews};
use crate::event::{EventKind, Order, class};
use crate::ids::{CopyRef, ForeignIx, LinkRef, MessageIx, NodeIx, PortIx};
use crate::link::opposite;
use crate::node::plane::outside::{Egress, Fate};
use crate::packet::{Packet, PacketCopy, Payload};
use crate::record::Record;

/// Time from the end of a broadcast's transmission to its release: distant hearers receive it a little later than its sender has sent it.
const RELEASE_DELAY: Span = Span::from_millis(1);

impl DataPlane {
    /// Drops a packet at a node. A forwarded message ends later ([`DataPlane::schedule_release`]).
    pub(crate) fn drop_packet(&mut self, node: NodeIx, copy: CopyRef, reason: &'static str, now: Time) {
        // A forwarded message: a station that overhears the frame which has brought it may receive it a little later.
        if self
            .packets
            .packet_and_copy(copy)
            .is_some_and(|(packet, copy)| copy.hops > 0 && packet.is_message())
        {
            self.schedule_release(node, copy, now);
            return;
        }
        let Some((&packet, &ended)) = self.packets.end(copy) else { return };
        if let Payload::Foreign { at: foreign, .. } = packet.payload {
            self.foreign_left(foreign, (node, copy, &ended), Fate::Dropped(reason), now);
        } else if packet.class == PacketClass::Control {
            self.on_control_ended(&packet, now);
        }
        if packet.class == PacketClass::Control {
            return;
        }
        self.accounts.drop(reason);
        if self.records.are_enabled() {
            let content = self.packets.content(&packet, &ended);
            let (flow, sequence) = (packet.flow(), self.packets.sequence(&packet, &ended));
            let record = Record::Dropped { node, flow, packet: ended.of, content, sequence, reason };
            self.records.push(now, record);
        }
        if packet.flow().is_some() {
            self.add_news(PlaneNews::Lost { packet, copy: ended });
        }
    }

    /// Drops a packet at a port, and notifies the port's hop.
    #[inline(never)]
    pub(crate) fn drop_at(&mut self, port: PortIx, copy: CopyRef, reason: &'static str, now: Time) {
        if let Some(packet) = self.packets.get(copy) {
            self.interfaces.pipeline_mut(port).on_dropped(packet.bytes);
        }
        self.drop_packet(self.interfaces.node(port), copy, reason, now);
    }

    /// Adds news, which are settled at the end of the present event at the latest.
    pub(super) fn add_news(&mut self, news: PlaneNews) {
        self.news.push_back(news);
        self.leave_unsettled();
    }

    /// There may be room at a port, of which sources are told when this call is over, at the end of the present event at the latest.
    pub(super) fn add_room(&mut self, port: PortIx) {
        self.rooms.push_back(port);
        self.leave_unsettled();
    }

    /// Something is left to the end of the present event.
    fn leave_unsettled(&mut self) {
        (self.unsettled, self.schedule.pending) = (true, true);
    }

    /// Schedules the end of a packet that is sent without an acknowledgement.
    pub(crate) fn schedule_release(&mut self, node: NodeIx, copy: CopyRef, now: Time) {
        let order = Order::new(class::TIMER, self.interfaces.rank(node));
        self.schedule.add(now + RELEASE_DELAY, order, EventKind::Release(copy));
    }

    /// Ends a control packet, which has reached all its receivers.
    pub(crate) fn end_control(&mut self, copy: CopyRef, now: Time) {
        match self.packets.end(copy).map(|(packet, _)| *packet) {
            Some(packet) => self.on_control_ended(&packet, now),
            None => self.packets.release(copy),
        }
    }

    /// Ends a control packet that is no longer in the list of packets.
    pub(crate) fn on_control_ended(&mut self, packet: &Packet, now: Time) {
        match packet.payload {
            Payload::Message(message) => self.message_ended(message),
            Payload::Routing(message) => self.routes.end(message),
            Payload::Forwarded(header) => {
                self.messages.end(header);
            }
            Payload::Foreign { at: foreign, .. } => self.broadcast_left(foreign, packet, now),
            _ => {}
        }
    }

    /// The only or last copy of a packet from outside leaves at a node.
    #[cold]
    pub(crate) fn foreign_left(
        &mut self,
        foreign: ForeignIx,
        (node, copy, ended): (NodeIx, CopyRef, &PacketCopy),
        fate: Fate,
        now: Time,
    ) {
        let port = match self.outside.port(foreign).map(|port| self.interfaces.link(port)) {
            Some(LinkRef::Wire(wire)) if fate == Fate::Arrived => Some(self.links.port(opposite(wire))),
            Some(LinkRef::Station(_)) if fate == Fate::Arrived => self.outside.received_by(foreign),
            _ => None,
        };
        let header = self.packets.header(copy).copied().filter(|_| !ended.header.is_none());
        self.outside.leave(
            foreign,
            Egress {
                port,
                echo: ended.echo,
                last: true,
                ..Egress::copy(now, node, (ended.ecn, header), fate)
            },
        );
    }

    /// A broadcast from outside has reached all its receivers.
    fn broadcast_left(&mut self, foreign: ForeignIx, packet: &Packet, now: Time) {
        let port = self.outside.port(foreign);
        let node = port.map_or(packet.source, |port| self.interfaces.node(port));
        let (ecn, header, fate) = (Ecn::NotEct, None, Fate::Ended);
        self.outside
            .leave(foreign, Egress { port, last: true, ..Egress::copy(now, node, (ecn, header), fate) });
    }

    /// Frees a message that has ended.
    pub(crate) fn message_ended(&mut self, message: MessageIx) {
        if let Some(ended) = self.messages.end(message) {
            self.ended_messages.push(ended);
            self.leave_unsettled();
        }
    }
}
