//! Queue, AQM and hop of an output interface as one pipeline.
//!
//! A packet's way: it arrives (the hop meets it, the AQM judges it, the queue stores it), it is dequeued (the AQM judges it again), it
//! departs (the hop sees it go); a packet that comes in through the interface is received (hop, then AQM). Each step returns what is
//! to become of the packet; the pipeline tells its hop of drops that it returns itself, the caller of all others
//! ([`Pipeline::dropped`]). Drop-tail without AQM and hop costs one virtual call to store and one to take out.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Aqm, AqmEffects, Backlog, Context, Ecn, Enqueued, Header, Hop, HopContext, HopEffects, Interface, Packet,
    Passage, Queue, QueueEffects, QueueView, Setting, Timer, Verdict, Wants,
};
use airfair_units::random::Stream;
use airfair_units::{Rate, Time};

use crate::header::{HeaderId, HeaderKinds, HeaderRef};
use crate::slot::{Firing, Slot};

/// A packet that has left the queue, and what is to become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeued {
    /// The packet.
    pub packet: Packet,
    /// After a drop the next packet may be dequeued at once.
    pub verdict: Verdict,
}

/// A hop and the kind of header that it speaks.
struct HopSlot {
    slot: Slot<Box<dyn Hop>>,
    speaks: HeaderId,
}

impl HopSlot {
    /// The header of a packet, if the hop speaks its kind.
    fn own<'a>(&self, (id, header): HeaderRef<'a>) -> Option<&'a mut Header> {
        header.filter(|_| !id.is_none() && id == self.speaks)
    }
}

/// What a scheme has put at an output interface.
pub struct Pipeline {
    queue: Box<dyn Queue>,
    aqm: Option<Box<dyn Aqm>>,
    hop: Option<Box<HopSlot>>,
    /// Of queue and AQM.
    random: Stream,
    /// Bytes that the link adds to a packet, as far as hops count them.
    framing: u32,
    /// There is an AQM or a hop.
    judges: bool,
    wants_received: bool,
    wants_departures: bool,
}

impl Pipeline {
    /// What a scheme puts at an interface whose link adds so many bytes to a packet. Queue and AQM draw from `random`.
    #[must_use]
    pub fn new(scheme: &dyn Scheme, at: &Interface, framing: u32, random: Stream) -> Self {
        let wants = scheme.wants(at);
        let (queue, aqm) = (scheme.queue(at), scheme.aqm(at));
        let judges = aqm.is_some();
        let Wants { received, departures, .. } = wants;
        Self {
            queue,
            aqm,
            hop: None,
            random,
            framing,
            judges,
            wants_received: received,
            wants_departures: departures,
        }
    }

    /// Adds the scheme's hop, with a stream and a rank of its own.
    pub fn add_hop(&mut self, hop: Box<dyn Hop>, kinds: &mut HeaderKinds, random: Stream, rank: u32) {
        let speaks = kinds.id(Some(hop.header()));
        self.hop = Some(Box::new(HopSlot { slot: Slot::new(hop, random, rank), speaks }));
        self.judges = true;
    }

    /// Whether anything judges packets beside the queue: an AQM or a hop.
    #[must_use]
    #[inline]
    pub const fn judges(&self) -> bool {
        self.judges
    }

    /// Whether there is a hop.
    #[must_use]
    #[inline]
    pub const fn has_hop(&self) -> bool {
        self.hop.is_some()
    }

    /// Whether [`Pipeline::receive`] is to be called for packets that come in.
    #[must_use]
    #[inline]
    pub const fn wants_received(&self) -> bool {
        self.judges && self.wants_received
    }

    /// Whether [`Pipeline::depart`] is to be called.
    #[must_use]
    #[inline]
    pub const fn wants_departures(&self) -> bool {
        self.hop.is_some() && self.wants_departures
    }

    /// The limit of the queue, if it is first in, first out, no AQM judges, and no hop wants departures: a link that knows when packets
    /// will leave may then keep them in its own books. Its hop meets them by [`Pipeline::pass`].
    #[must_use]
    pub fn tail_drop(&self) -> Option<u32> {
        if self.aqm.is_some() || self.wants_departures() { None } else { self.queue.tail_drop() }
    }

    /// How full the queue is.
    #[must_use]
    #[inline]
    pub fn view(&self) -> QueueView {
        self.queue.view()
    }

    /// What waits in the queue, as the link carries it.
    #[must_use]
    pub fn backlog(&self) -> Backlog {
        let view = self.queue.view();
        let framing = u64::from(view.packets) * u64::from(self.framing);
        Backlog { packets: view.packets, bytes: view.bytes + framing }
    }

    /// Shows each packet that is stored, in any order.
    pub fn show(&self, see: &mut dyn FnMut(&Packet)) {
        self.queue.show(see);
    }

    /// Takes over what the interface's agent has settled.
    pub fn apply(&mut self, setting: Setting) {
        self.aqm.iter_mut().for_each(|aqm| aqm.apply(setting));
    }

    /// Inner values of the hop.
    #[must_use]
    pub fn hop_gauges(&self) -> Vec<(&'static str, f64)> {
        self.hop.as_ref().map_or_else(Vec::new, |hop| hop.slot.machine.gauges())
    }

    /// A packet as the hop sees it.
    const fn passage(&self, packet: &Packet, backlog: Backlog) -> Passage {
        Passage { bytes: packet.bytes + self.framing, flow: packet.flow, class: packet.class, backlog }
    }

    /// A packet arrives: the first half, where anything [judges](Pipeline::judges). Unless the verdict is a drop, it is to be stored.
    /// A mark is in the packet already.
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
            self.pass(&passage, carried, kinds, now);
        }
        let Some(aqm) = &mut self.aqm else { return Verdict::Pass };
        let mut context = Context { now, random: &mut self.random, out: &mut AqmEffects };
        let verdict = aqm.on_enqueue(packet, &self.queue.view(), &mut context).for_ecn(packet.ecn);
        match verdict {
            Verdict::Mark(_) => packet.ecn = Ecn::Ce,
            Verdict::Drop(_) => self.dropped(packet.bytes),
            Verdict::Pass | Verdict::Echo(_) => {}
        }
        verdict
    }

    /// A packet arrives: the second half. Packets that the queue throws away or marks by itself are in `effects`; the hop is told of
    /// a refusal, not of them nor of a packet that was displaced.
    #[inline(always)]
    pub fn store(&mut self, packet: Packet, now: Time, effects: &mut QueueEffects) -> Enqueued {
        let mut context = Context { now, random: &mut self.random, out: effects };
        let enqueued = self.queue.enqueue(packet, &mut context);
        if let Enqueued::Refused(_) = enqueued
            && self.judges
        {
            self.dropped(packet.bytes);
        }
        enqueued
    }

    /// A packet meets the hop on its way to a link that keeps waiting packets in its own books: the link says what waits there.
    #[inline(always)]
    pub fn pass(&mut self, passage: &Passage, carried: HeaderRef<'_>, kinds: &HeaderKinds, now: Time) {
        let Some(hop) = &mut self.hop else { return };
        match hop.own(carried) {
            Some(header) => {
                kinds.checked(hop.speaks, header);
                hop.slot.machine.on_arrival(passage, Some(header), now);
                header.spoken = header.spoken.saturating_add(1);
            }
            None => hop.slot.machine.on_arrival(passage, None, now),
        }
    }

    /// A packet of so many bytes, as an IP packet, is dropped at the interface.
    #[inline]
    pub fn dropped(&mut self, bytes: u32) {
        if let Some(hop) = &mut self.hop {
            hop.slot.machine.on_drop(bytes + self.framing);
        }
    }

    /// The next packet leaves a queue where nothing [judges](Pipeline::judges): [`Pipeline::dequeue`] without a verdict.
    #[inline(always)]
    pub fn pop(&mut self, now: Time, effects: &mut QueueEffects) -> Option<Packet> {
        self.queue.pop(&mut Context { now, random: &mut self.random, out: effects })
    }

    /// The next packet leaves the queue. Packets that the queue throws away or marks by itself are in `effects`: they come before it.
    #[inline(never)]
    pub fn dequeue(&mut self, now: Time, effects: &mut QueueEffects) -> Option<Dequeued> {
        let head = self.queue.peek(&mut Context { now, random: &mut self.random, out: effects })?.packet;
        let mut context = Context { now, random: &mut self.random, out: &mut AqmEffects };
        let verdict = match &mut self.aqm {
            Some(aqm) => aqm.on_dequeue(&head, &self.queue.view(), &mut context).for_ecn(head.ecn),
            None => Verdict::Pass,
        };
        let packet = self.queue.commit()?;
        if let Verdict::Drop(_) = verdict {
            self.dropped(packet.bytes);
        }
        Some(Dequeued { packet, verdict })
    }

    /// A packet that was dequeued and not dropped goes to the link. Called where [wanted](Pipeline::wants_departures).
    #[inline(never)]
    pub fn depart(&mut self, packet: &Packet, carried: HeaderRef<'_>, now: Time) {
        let passage = self.passage(packet, self.backlog());
        let Some(hop) = &mut self.hop else { return };
        let header = hop.own(carried);
        hop.slot.machine.on_departure(&passage, header, now);
    }

    /// A packet has come in through the interface, to keep or to pass on. Called where [wanted](Pipeline::wants_received).
    #[inline(never)]
    pub fn receive(&mut self, packet: &Packet, carried: HeaderRef<'_>, now: Time) -> Verdict {
        if self.hop.is_some() {
            let passage = self.passage(packet, self.backlog());
            if let Some(hop) = &mut self.hop {
                let header = hop.own(carried);
                hop.slot.machine.on_receive(&passage, header, now);
            }
        }
        let Some(aqm) = &mut self.aqm else { return Verdict::Pass };
        let mut context = Context { now, random: &mut self.random, out: &mut AqmEffects };
        aqm.on_receive(packet, &mut context).for_ecn(packet.ecn)
    }

    /// The rate of the link is another one.
    pub fn set_rate(&mut self, rate: Rate) {
        self.hop.iter_mut().for_each(|hop| hop.slot.machine.on_rate(rate));
    }

    /// The rank of the hop's timers.
    #[must_use]
    pub fn hop_rank(&self) -> u32 {
        self.hop.as_ref().map_or(0, |hop| hop.slot.rank)
    }

    /// The run starts: the hop may set timers.
    pub fn start(&mut self, now: Time, effects: &mut HopEffects, firings: &mut Vec<Firing>) {
        self.call_hop(now, effects, firings, |hop, context| hop.on_start(context));
    }

    /// The time of a firing of the hop has come. `backlog` is what waits at a link that keeps packets in its own books; the pipeline
    /// knows its own queue.
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
