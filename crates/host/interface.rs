//! Queue, AQM and hop of an output interface as one pipeline.
//!
//! A packet's way: it arrives (the hop handles it, the AQM judges it, the queue stores it), it is dequeued (the AQM judges it again), it
//! departs (the hop is notified); a packet received through the interface is passed to the hop, then to the AQM. Each step returns the
//! verdict on the packet; the pipeline notifies its hop of drops that it returns itself, the caller of all others
//! ([`Pipeline::on_dropped`]). Drop-tail without AQM and hop costs one virtual call to store and one to dequeue.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Aqm, AqmEffects, Backlog, Calls, Capability, Context, Ecn, Enqueued, Finished, FlowId, Head, Header,
    Heard, Hop, HopContext, HopEffects, Interface, LabelledQueue, NodeId, OutputQueue, Packet, PacketId,
    Passage, QueueEffects, QueueView, Setting, Timer, Verdict, Waiting, Wants,
};
use airfair_units::random::Stream;
use airfair_units::{Rate, Time};

use crate::header::{HeaderId, HeaderKinds, HeaderRef};
use crate::slot::{Firing, Slot};

/// A packet that has left the queue, with its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeued {
    /// The dequeued packet.
    pub packet: Packet,
    /// Verdict of the AQM; after a drop the next packet may be dequeued at once.
    pub verdict: Verdict,
}

/// A hop and the kind of header that it uses.
struct HopSlot {
    slot: Slot<Box<dyn Hop>>,
    header_kind: HeaderId,
}

impl HopSlot {
    /// The header of a packet, if it is of the hop's kind.
    fn own_header<'a>(&self, (id, header): HeaderRef<'a>) -> Option<&'a mut Header> {
        header.filter(|_| !id.is_none() && id == self.header_kind)
    }
}

/// Queue, AQM and hop that a scheme has placed at an output interface.
pub struct Pipeline {
    queue: OutputQueue,
    /// The interface.
    at: Interface,
    aqm: Option<Box<dyn Aqm>>,
    hop: Option<Box<HopSlot>>,
    /// Random stream of queue and AQM.
    random: Stream,
    /// Bytes that the link adds to a packet in the counts of hops.
    framing: u32,
    /// True if there is an AQM or a hop.
    judges: bool,
    /// The wants of its scheme.
    wants: Wants,
    /// Kind of header that the queue reads and writes.
    queue_header: HeaderId,
}

impl Pipeline {
    /// The pipeline of a scheme at an interface whose link adds `framing` bytes to a packet. Queue and AQM draw from `random`.
    #[must_use]
    pub fn new(scheme: &dyn Scheme, at: &Interface, framing: u32, random: Stream) -> Self {
        let (queue, aqm) = (scheme.queue(at), scheme.aqm(at));
        let judges = aqm.is_some();
        Self {
            queue,
            at: *at,
            aqm,
            hop: None,
            random,
            framing,
            judges,
            wants: scheme.wants(at),
            queue_header: HeaderId::NONE,
        }
    }

    /// Registers the kind of header that the queue reads and writes, if it has one.
    pub fn register_header(&mut self, kinds: &mut HeaderKinds) {
        self.queue_header = kinds.id(self.queue.labels().map(LabelledQueue::header));
    }

    /// Kind of header that the queue reads and writes.
    #[must_use]
    #[inline]
    pub const fn queue_header(&self) -> HeaderId {
        self.queue_header
    }

    /// True if the scheme wants a capability here.
    #[must_use]
    #[inline]
    pub const fn wants(&self, capability: Capability) -> bool {
        self.wants.has(capability)
    }

    /// True if [`Pipeline::link_finished`] must be called for packets that the link has finished.
    #[must_use]
    #[inline]
    pub const fn wants_access_times(&self) -> bool {
        self.hop.is_some() && self.wants.has(Capability::AccessTimes)
    }

    /// True if a packet of this kind of header that leaves the interface has a header that its hop has written.
    #[must_use]
    pub fn hop_writes(&self, id: HeaderId) -> bool {
        !id.is_none() && self.hop.as_ref().is_some_and(|hop| hop.header_kind == id)
    }

    /// Adds the scheme's hop, with a stream and a rank of its own.
    pub fn add_hop(&mut self, hop: Box<dyn Hop>, kinds: &mut HeaderKinds, random: Stream, rank: u32) {
        let header_kind = kinds.id(Some(hop.header()));
        self.hop = Some(Box::new(HopSlot { slot: Slot::new(hop, random, rank), header_kind }));
        self.judges = true;
    }

    /// True if an AQM or a hop handles packets beside the queue.
    #[must_use]
    #[inline]
    pub const fn judges(&self) -> bool {
        self.judges
    }

    /// True if there is a hop.
    #[must_use]
    #[inline]
    pub const fn has_hop(&self) -> bool {
        self.hop.is_some()
    }

    /// True if [`Pipeline::receive`] must be called for received packets.
    #[must_use]
    #[inline]
    pub const fn wants_received(&self) -> bool {
        self.judges && self.wants.has(Capability::Received)
    }

    /// True if [`Pipeline::depart`] must be called for departures.
    #[must_use]
    #[inline]
    pub const fn wants_departures(&self) -> bool {
        self.hop.is_some() && self.wants.has(Capability::Departures)
    }

    /// Limit of the queue, if it is first in, first out, there is no AQM, and the hop needs no departures: a link that knows departures in
    /// advance may then keep the packets itself. Its hop handles them in [`Pipeline::pass_hop`].
    #[must_use]
    pub fn tail_drop(&self) -> Option<u32> {
        if self.aqm.is_some() || self.wants_departures() { None } else { self.queue.discipline().tail_drop() }
    }

    /// State of the queue.
    #[must_use]
    #[inline]
    pub fn view(&self) -> QueueView {
        self.queue.discipline().view()
    }

    /// Backlog of the queue in bytes on the link.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        let view = self.queue.discipline().view();
        let framing = u64::from(view.packets) * u64::from(self.framing);
        Backlog { packets: view.packets, bytes: view.bytes + framing }
    }

    /// Calls `see` with each stored packet, in any order.
    pub fn for_each_packet(&self, see: &mut dyn FnMut(&Packet)) {
        self.queue.discipline().show(see);
    }

    /// State of the queue for a source at this node: of what waits for a destination, if the queue distinguishes destinations.
    #[must_use]
    pub fn backlog_to(&self, destination: NodeId, labelled: bool) -> QueueView {
        match self.queue.labels() {
            Some(labels) => labels.backlog_to(destination, labelled),
            None => self.view(),
        }
    }

    /// True if a packet of the queue may leave: there is one, and a route for it.
    #[must_use]
    pub fn may_serve(&self) -> bool {
        self.view().packets > self.queue.labels().map_or(0, LabelledQueue::without_route)
    }

    /// The interface.
    #[must_use]
    pub const fn at(&self) -> &Interface {
        &self.at
    }

    /// Packets that wait for a destination, if the queue distinguishes destinations.
    #[must_use]
    pub fn waiting_for(&self, destination: NodeId, labelled: bool) -> Waiting {
        let at = Some(self.at);
        if let Some(labels) = self.queue.labels() {
            let all = labels.backlog_to(destination, labelled).packets;
            let own = labels.own_backlog_to(destination, labelled);
            return Waiting { all, own, at, calls: labels.calls() };
        }
        let mut own = 0;
        self.queue.discipline().show(&mut |packet| own += u32::from(packet.own));
        Waiting { all: self.view().packets, own, at, calls: Calls::default() }
    }

    /// Lets the queue write the header of a packet that has left it, if the header is of the queue's kind.
    pub fn stamp(&mut self, packet: &Packet, (id, header): HeaderRef<'_>, kinds: &HeaderKinds, now: Time) {
        if id == self.queue_header
            && let (Some(header), Some(labels)) = (header, self.queue.labels_mut())
        {
            labels.stamp(packet, header, now);
            kinds.round_trip(id, header);
        }
    }

    /// The difference to the next hop's queue with which the last labelled packet has left.
    #[must_use]
    pub fn differential(&self) -> Option<i64> {
        self.queue.labels()?.differential()
    }

    /// Notifies the queue of a header in a frame that the interface has received or overheard. True if a packet that had to wait may leave.
    #[inline]
    pub fn heard(&mut self, id: HeaderId, heard: &Heard<'_>, now: Time) -> bool {
        self.wants.has(Capability::HeardHeaders)
            && id == self.queue_header
            && self.queue.labels_mut().is_some_and(|labels| labels.on_heard(heard, now))
    }

    /// The time after `now` from which on the queue names by itself a packet that has to wait now.
    #[must_use]
    pub fn wakes_at(&self, now: Time) -> Option<Time> {
        self.queue.waits()?.wakes_at(now)
    }

    /// True if [`Pipeline::wakes_at`] must be called each time that the link has taken what it has room for.
    #[must_use]
    pub fn may_wait(&self) -> bool {
        self.queue.waits().is_some()
    }

    /// Notifies the queue of the end of a transmission.
    pub fn finished(&mut self, packet: PacketId) {
        if let Some(labels) = self.queue.labels_mut() {
            labels.on_finished(packet);
        }
    }

    /// Notifies the hop of a packet of a flow that the link has finished; `finished.bytes` is its size as an IP packet.
    pub fn link_finished(&mut self, finished: Finished, now: Time) {
        let finished = Finished { bytes: finished.bytes + self.framing, ..finished };
        self.hop.iter_mut().for_each(|hop| hop.slot.machine.on_finished(&finished, now));
    }

    /// Notifies the queue of changed routes.
    pub fn routes_changed(&mut self, next_hop: &mut dyn FnMut(NodeId) -> Option<NodeId>) {
        if let Some(labels) = self.queue.labels_mut() {
            labels.on_routes(next_hop);
        }
    }

    /// Takes back the first packet for a destination.
    pub fn withdraw(&mut self, destination: NodeId) -> Option<Packet> {
        self.queue.labels_mut()?.withdraw(destination)
    }

    /// Internal values of the queue, by name.
    #[must_use]
    pub fn queue_gauges(&self) -> Vec<(&'static str, f64)> {
        self.queue.discipline().gauges()
    }

    /// Applies a setting that the interface's agent has requested.
    pub fn apply(&mut self, setting: Setting, now: Time) {
        self.aqm.iter_mut().for_each(|aqm| aqm.apply(setting));
        self.queue.discipline_mut().apply(setting, now);
        self.hop.iter_mut().for_each(|hop| hop.slot.machine.apply(setting, now));
    }

    /// The rate at which a flow's source sends, if the hop knows.
    #[must_use]
    pub fn stated_rate(&self, flow: FlowId) -> Option<Rate> {
        self.hop.as_ref()?.slot.machine.stated_rate(flow)
    }

    /// True if packets may wait in the queue although the link is free.
    #[must_use]
    pub fn may_hold_back(&self) -> bool {
        self.queue.waits().is_some()
    }

    /// The rate that the hop would stamp now into packets of this size of a flow, which carry this header; none if the hop has another
    /// header, or stamps none.
    #[must_use]
    pub fn stamped_rate(&self, header: HeaderId, flow: FlowId, packet_bytes: u32) -> Option<Rate> {
        let hop = self.hop.as_ref().filter(|hop| !header.is_none() && hop.header_kind == header)?;
        hop.slot.machine.stamped_rate(flow, packet_bytes)
    }

    /// Calls `see` for each destination with the packets that wait for it.
    pub fn backlogs(&self, see: &mut dyn FnMut(NodeId, u32)) {
        if let Some(labels) = self.queue.labels() {
            labels.backlogs(see);
        }
    }

    /// Internal values of the hop, by name.
    #[must_use]
    pub fn hop_gauges(&self) -> Vec<(&'static str, f64)> {
        self.hop.as_ref().map_or_else(Vec::new, |hop| hop.slot.machine.gauges())
    }

    /// A packet in the form that hops handle.
    const fn passage(&self, packet: &Packet, backlog: Backlog) -> Passage {
        let &Packet { bytes, flow, next_hop, class, .. } = packet;
        Passage { bytes: bytes + self.framing, flow, next_hop, class, backlog }
    }

    /// First half of an arrival, if [`Pipeline::judges`] is true. Unless the verdict is a drop, the packet must be stored. A mark is set in
    /// the packet already.
    #[inline(never)]
    pub fn judge(
        &mut self,
        packet: &mut Packet,
        carried: HeaderRef<'_>,
        kinds: &HeaderKinds,
        now: Time,
    ) -> Verdict {
        if self.hop.is_some() {
            let passage = self.passage(packet, self.backlog());
            self.pass_hop(&passage, carried, kinds, now);
        }
        let Some(aqm) = &mut self.aqm else { return Verdict::Pass };
        let mut context = Context { now, random: &mut self.random, out: &mut AqmEffects };
        let verdict =
            aqm.on_enqueue(packet, &self.queue.discipline().view(), &mut context).for_ecn(packet.ecn);
        match verdict {
            Verdict::Mark(_) => packet.ecn = Ecn::Ce,
            Verdict::Drop(_) => self.on_dropped(packet.bytes),
            Verdict::Pass | Verdict::Echo(_) => {}
        }
        verdict
    }

    /// Second half of an arrival. Packets that the queue drops or marks by itself are in `effects`; the hop is notified of a refusal here;
    /// the caller notifies it of the other drops.
    #[inline(always)]
    pub fn store(&mut self, packet: Packet, now: Time, effects: &mut QueueEffects) -> Enqueued {
        let mut context = Context { now, random: &mut self.random, out: effects };
        let enqueued = self.queue.discipline_mut().enqueue(packet, &mut context);
        if let Enqueued::Refused(_) = enqueued
            && self.judges
        {
            self.on_dropped(packet.bytes);
        }
        enqueued
    }

    /// Passes an arriving packet and its header to the hop, and counts the hop in the header. `passage.backlog`: that of the queue, or of a
    /// link that keeps waiting packets itself.
    #[inline(always)]
    pub fn pass_hop(&mut self, passage: &Passage, carried: HeaderRef<'_>, kinds: &HeaderKinds, now: Time) {
        let Some(hop) = &mut self.hop else { return };
        match hop.own_header(carried) {
            Some(header) => {
                kinds.round_trip(hop.header_kind, header);
                hop.slot.machine.on_arrival(passage, Some(header), now);
                header.supported = header.supported.saturating_add(u8::from(hop.slot.machine.supports()));
            }
            None => hop.slot.machine.on_arrival(passage, None, now),
        }
    }

    /// Notifies the hop of a packet of `bytes` (as an IP packet) that was dropped at the interface.
    #[inline]
    pub fn on_dropped(&mut self, bytes: u32) {
        if let Some(hop) = &mut self.hop {
            hop.slot.machine.on_drop(bytes + self.framing);
        }
    }

    /// The packet at the head of the queue and its priority. Packets that the queue drops or marks by itself are in `effects`.
    pub fn head(&mut self, now: Time, effects: &mut QueueEffects) -> Option<Head> {
        self.queue.discipline_mut().peek(&mut Context { now, random: &mut self.random, out: effects })
    }

    /// The packet that the queue names instead of the one that it has named last, for which the link has no room.
    pub fn pass_over(&mut self, now: Time, effects: &mut QueueEffects) -> Option<Head> {
        self.queue.labels_mut()?.pass_over(&mut Context { now, random: &mut self.random, out: effects })
    }

    /// Dequeues the next packet if [`Pipeline::judges`] is false: [`Pipeline::dequeue`] without a verdict.
    #[inline(always)]
    pub fn pop(&mut self, now: Time, effects: &mut QueueEffects) -> Option<Packet> {
        self.queue.discipline_mut().pop(&mut Context { now, random: &mut self.random, out: effects })
    }

    /// Dequeues the next packet. Packets that the queue drops or marks by itself are in `effects`: they precede it.
    #[inline(never)]
    pub fn dequeue(&mut self, now: Time, effects: &mut QueueEffects) -> Option<Dequeued> {
        let head = self
            .queue
            .discipline_mut()
            .peek(&mut Context { now, random: &mut self.random, out: effects })?
            .packet;
        let mut context = Context { now, random: &mut self.random, out: &mut AqmEffects };
        let verdict = match &mut self.aqm {
            Some(aqm) => {
                aqm.on_dequeue(&head, &self.queue.discipline().view(), &mut context).for_ecn(head.ecn)
            }
            None => Verdict::Pass,
        };
        let packet = self.queue.discipline_mut().commit()?;
        if let Verdict::Drop(_) = verdict {
            self.on_dropped(packet.bytes);
        }
        Some(Dequeued { packet, verdict })
    }

    /// Notifies the hop of a packet that has left the queue for the link. To be called only if [`Pipeline::wants_departures`] is true.
    #[inline(never)]
    pub fn depart(&mut self, packet: &Packet, carried: HeaderRef<'_>, now: Time) {
        let passage = self.passage(packet, self.backlog());
        let Some(hop) = &mut self.hop else { return };
        let header = hop.own_header(carried);
        hop.slot.machine.on_departure(&passage, header, now);
    }

    /// Judges a packet received through the interface, for this node or to be forwarded. To be called only if [`Pipeline::wants_received`]
    /// is true.
    #[inline(never)]
    pub fn receive(&mut self, packet: &Packet, carried: HeaderRef<'_>, now: Time) -> Verdict {
        if self.hop.is_some() {
            let passage = self.passage(packet, self.backlog());
            if let Some(hop) = &mut self.hop {
                let header = hop.own_header(carried);
                hop.slot.machine.on_receive(&passage, header, now);
            }
        }
        let Some(aqm) = &mut self.aqm else { return Verdict::Pass };
        let mut context = Context { now, random: &mut self.random, out: &mut AqmEffects };
        aqm.on_receive(packet, &mut context).for_ecn(packet.ecn)
    }

    /// Notifies the hop of a new rate of the link.
    pub fn set_rate(&mut self, rate: Rate) {
        self.hop.iter_mut().for_each(|hop| hop.slot.machine.on_rate(rate));
    }

    /// Rank of the hop's timers.
    #[must_use]
    pub fn hop_rank(&self) -> u32 {
        self.hop.as_ref().map_or(0, |hop| hop.slot.rank)
    }

    /// Calls the hop's hook for the start of the run.
    pub fn start(&mut self, now: Time, effects: &mut HopEffects, firings: &mut Vec<Firing>) {
        self.call_hop(now, effects, firings, |hop, context| hop.on_start(context));
    }

    /// Calls the hop's hook for a due timer. `backlog`: that of a link that keeps waiting packets itself; otherwise that of the queue is
    /// used.
    pub fn timer(
        &mut self,
        (timer, generation): (Timer, u32),
        backlog: Option<Backlog>,
        now: Time,
        effects: &mut HopEffects,
        firings: &mut Vec<Firing>,
    ) {
        let Some(hop) = &mut self.hop else { return };
        if hop.slot.timers.fires(timer, generation) {
            let backlog = backlog.unwrap_or_else(|| self.backlog());
            self.call_hop(now, effects, firings, |hop, context| hop.on_timer(timer, backlog, context));
        }
    }

    fn call_hop(
        &mut self,
        now: Time,
        effects: &mut HopEffects,
        firings: &mut Vec<Firing>,
        hook: impl FnOnce(&mut dyn Hop, &mut HopContext<'_>),
    ) {
        if let Some(hop) = &mut self.hop {
            hop.slot.call(now, effects, firings, |hop, context| hook(&mut **hop, context));
        }
    }
}
