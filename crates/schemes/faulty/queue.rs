//! A queue that writes false headers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_units::Time;

use super::FalseHeader;
use crate::places::{
    Calls, Enqueued, Head, Header, HeaderKind, Heard, LabelledQueue, NodeId, Packet, PacketId, Queue,
    QueueContext, QueueView, Setting, WaitingQueue,
};

/// A queue whose headers are changed after it has written them.
pub struct FaultyQueue {
    inner: Box<dyn LabelledQueue>,
    lie: FalseHeader,
}

impl FaultyQueue {
    /// A queue with this lie in its headers.
    #[must_use]
    pub fn new(inner: Box<dyn LabelledQueue>, lie: FalseHeader) -> Self {
        Self { inner, lie }
    }
}

impl Queue for FaultyQueue {
    fn enqueue(&mut self, packet: Packet, context: &mut QueueContext<'_>) -> Enqueued {
        self.inner.enqueue(packet, context)
    }

    fn peek(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        self.inner.peek(context)
    }

    fn commit(&mut self) -> Option<Packet> {
        self.inner.commit()
    }

    fn pop(&mut self, context: &mut QueueContext<'_>) -> Option<Packet> {
        self.inner.pop(context)
    }

    fn tail_drop(&self) -> Option<u32> {
        self.inner.tail_drop()
    }

    fn view(&self) -> QueueView {
        self.inner.view()
    }

    fn apply(&mut self, setting: Setting, now: Time) {
        self.inner.apply(setting, now);
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.inner.gauges()
    }

    fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.inner.show(see);
    }
}

impl WaitingQueue for FaultyQueue {
    fn wakes_at(&self, now: Time) -> Option<Time> {
        self.inner.wakes_at(now)
    }
}

impl LabelledQueue for FaultyQueue {
    fn header(&self) -> &'static HeaderKind {
        self.inner.header()
    }

    fn stamp(&mut self, packet: &Packet, header: &mut Header, now: Time) {
        self.inner.stamp(packet, header, now);
        (self.lie)(header);
    }

    fn differential(&self) -> Option<i64> {
        self.inner.differential()
    }

    fn pass_over(&mut self, context: &mut QueueContext<'_>) -> Option<Head> {
        self.inner.pass_over(context)
    }

    fn on_heard(&mut self, heard: &Heard<'_>, now: Time) -> bool {
        self.inner.on_heard(heard, now)
    }

    fn on_finished(&mut self, packet: PacketId) {
        self.inner.on_finished(packet);
    }

    fn on_routes(&mut self, next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {
        self.inner.on_routes(next_hop);
    }

    fn withdraw(&mut self, destination: NodeId) -> Option<Packet> {
        self.inner.withdraw(destination)
    }

    fn backlogs(&self, see: &mut dyn FnMut(NodeId, u32)) {
        self.inner.backlogs(see);
    }

    fn backlog_to(&self, destination: NodeId, labelled: bool) -> QueueView {
        self.inner.backlog_to(destination, labelled)
    }

    fn without_route(&self) -> u32 {
        self.inner.without_route()
    }

    fn own_backlog_to(&self, destination: NodeId, labelled: bool) -> u32 {
        self.inner.own_backlog_to(destination, labelled)
    }

    fn calls(&self) -> Calls {
        self.inner.calls()
    }

    fn work(&self) -> u64 {
        self.inner.work()
    }
}
