//! Agenda of a world and the drivers of a run.

pub mod drive;
mod heap;
pub mod lateness;
mod wheel;

pub use heap::Heap4;
pub use wheel::Wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airfair_units::Time;

use crate::event::{Event, EventKind, Order, ScheduledEvent};

/// A set of pending events, from which the event with the smallest key is popped first.
pub trait EventQueue: Default {
    /// Adds an event.
    fn push(&mut self, event: Event);
    /// Removes and returns the smallest event if its time is below `limit`.
    fn pop_before(&mut self, limit: u64) -> Option<Event>;
    /// Removes and returns the smallest event.
    fn pop(&mut self) -> Option<Event> {
        self.pop_before(u64::MAX)
    }
    /// Pops the first event that its owner does not defer, if its time is below `limit`; deferred events are stored with their new time.
    fn pop_due(&mut self, limit: u64, owner: &mut impl EventOwner) -> Option<Event> {
        loop {
            let event = self.pop_before(limit)?;
            let time = owner.due(&event);
            if time <= event.time {
                return Some(event);
            }
            self.push(Event { time, ..event });
        }
    }
    /// Time of the smallest event. `&mut` allows internal reordering.
    fn next_time(&mut self) -> Option<u64>;
    /// Number of pending events.
    fn len(&self) -> usize;
    /// True if no event is pending.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The standard library's binary heap: the reference of the benchmark and of the tests.
#[derive(Debug, Default)]
pub struct StdHeap(BinaryHeap<Reverse<ByKey>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ByKey(Event);

impl Ord for ByKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.key().cmp(&other.0.key())
    }
}
impl PartialOrd for ByKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl EventQueue for StdHeap {
    fn push(&mut self, event: Event) {
        self.0.push(Reverse(ByKey(event)));
    }
    fn pop_before(&mut self, limit: u64) -> Option<Event> {
        if self.0.peek()?.0.0.time >= limit {
            return None;
        }
        self.0.pop().map(|r| r.0.0)
    }
    fn next_time(&mut self) -> Option<u64> {
        self.0.peek().map(|r| r.0.0.time)
    }
    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Owner of the events on an agenda.
pub trait EventOwner {
    /// Due time of an event that has reached the front: later than its time if its deadline has moved in the meantime.
    fn due(&mut self, event: &Event) -> u64;
    /// Prefetches the state of the next events, given in any order. Changes nothing.
    fn prefetch(&self, events: &[Event]);
}

/// An owner that defers no event.
struct NoDeferral;

impl EventOwner for NoDeferral {
    fn due(&mut self, event: &Event) -> u64 {
        event.time
    }
    fn prefetch(&self, _: &[Event]) {}
}

/// An owner whose answers are recorded: a deferred event is recorded as a pop and a push.
#[cfg(feature = "record-agenda")]
struct Recorder<'a, O> {
    owner: &'a mut O,
    record: &'a mut Vec<(bool, Event)>,
}

#[cfg(feature = "record-agenda")]
impl<O: EventOwner> EventOwner for Recorder<'_, O> {
    fn due(&mut self, event: &Event) -> u64 {
        self.record.push((false, *event));
        let time = self.owner.due(event);
        if time > event.time {
            self.record.push((true, Event { time, ..*event }));
        }
        time
    }
    fn prefetch(&self, events: &[Event]) {
        self.owner.prefetch(events);
    }
}

/// Agenda of a world: the present and all pending events. The queue was chosen by `make bench` (see docs/engine.md).
#[derive(Debug, Default)]
pub struct Agenda<Q: EventQueue = Wheel> {
    /// Present time.
    pub now: Time,
    pending: Q,
    pushes: u32,
    /// Number of events popped.
    pub popped: u64,
    /// Pushes (true) and pops in order, for the benchmark of event queues.
    #[cfg(feature = "record-agenda")]
    pub record: Vec<(bool, Event)>,
}

impl<Q: EventQueue> Agenda<Q> {
    /// Adds an event. Its time must not lie in the past.
    #[inline(always)]
    pub fn push(&mut self, at: Time, order: Order, kind: EventKind) {
        debug_assert!(at >= self.now, "an event in the past: {at} < {}", self.now);
        let order = order.0 | u64::from(self.pushes);
        self.pushes = self.pushes.wrapping_add(1);
        let event = Event { time: at.0, order, kind };
        #[cfg(feature = "record-agenda")]
        self.record.push((true, event));
        self.pending.push(event);
    }

    /// Adds an event that a part has returned, if any.
    #[inline(always)]
    pub fn push_if(&mut self, due: Option<ScheduledEvent>) {
        if let Some(ScheduledEvent { at, order, kind }) = due {
            self.push(at, order, kind);
        }
    }

    /// Pops the next event if its time is before `limit` (exclusive), and makes its time the present.
    ///
    /// The owner may defer an event at the front (lazy deadline): it stores a later time in its state and leaves the event in place. A
    /// deferred event costs a place in the agenda, nothing more.
    #[inline(always)]
    pub fn next_before(&mut self, limit: Time, owner: &mut impl EventOwner) -> Option<Event> {
        #[cfg(feature = "record-agenda")]
        let owner = &mut Recorder { owner, record: &mut self.record };
        let event = self.pending.pop_due(limit.0, owner)?;
        debug_assert!(event.time >= self.now.0, "time went back");
        self.now = Time(event.time);
        self.popped += 1;
        Some(event)
    }

    /// Time of the next event.
    #[inline]
    pub fn next_time(&mut self) -> Option<Time> {
        self.pending.next_time().map(Time)
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// True if no event is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(time: u64, order: u64) -> Event {
        Event { time, order, ..Event::NONE }
    }

    /// Pops and pushes in any mixture, as in a simulation: no push is earlier than the last pop.
    fn same_order<A: EventQueue, B: EventQueue>(steps: &[(bool, u64, u8)]) {
        let (mut a, mut b) = (A::default(), B::default());
        let mut now = 0;
        for (i, &(pop, ahead, class)) in steps.iter().enumerate() {
            if pop {
                assert_eq!(a.next_time(), b.next_time());
                let (x, y) = (a.pop(), b.pop());
                assert_eq!(x, y);
                now = x.map_or(now, |e| e.time);
            } else {
                let e = event(now + ahead, Order::new(class % 16, 7).0 | i as u64);
                a.push(e);
                b.push(e);
            }
            assert_eq!(a.len(), b.len());
        }
        while let Some(x) = a.pop() {
            assert_eq!(Some(x), b.pop());
        }
        assert!(b.is_empty());
    }

    /// Delays at the limits of the wheel: now, the same bucket, the edges of the horizon, far beyond.
    fn delay() -> impl Strategy<Value = u64> {
        prop_oneof![
            Just(0u64),
            0u64..40_000,
            0u64..70_000_000,
            (4095u64 << 14) - 3..(4097u64 << 14) + 3,
            0u64..10_000_000_000
        ]
    }

    proptest! {
        #[test]
        fn back_ends_agree(steps in proptest::collection::vec((any::<bool>(), delay(), any::<u8>()), 0..400)) {
            same_order::<Wheel, StdHeap>(&steps);
            same_order::<Heap4, StdHeap>(&steps);
        }
    }

    /// Defers each event at most once, to a time that is a multiple of `grain`.
    struct Late {
        grain: u64,
        put_off: std::collections::BTreeSet<u64>,
    }

    impl EventOwner for Late {
        fn due(&mut self, event: &Event) -> u64 {
            if self.put_off.insert(event.order) {
                event.time.next_multiple_of(self.grain)
            } else {
                event.time
            }
        }
        fn prefetch(&self, _: &[Event]) {}
    }

    /// Due events in order, up to a limit in each of the given steps.
    fn due_in_order<Q: EventQueue>(events: &[(u64, u8)], grain: u64, steps: &[u64]) -> Vec<Option<Event>> {
        let (mut queue, mut owner) = (Q::default(), Late { grain, put_off: Default::default() });
        for (i, &(time, class)) in events.iter().enumerate() {
            queue.push(event(time, Order::new(class % 16, 7).0 | i as u64));
        }
        let (mut out, mut limit) = (Vec::new(), 0);
        for &step in steps.iter().chain([&20_000_000_000]) {
            limit += step;
            loop {
                let popped = queue.pop_due(limit, &mut owner);
                out.push(popped);
                if popped.is_none() {
                    break;
                }
            }
        }
        assert!(queue.is_empty());
        out
    }

    proptest! {
        /// A deferred event is placed among the others at its new time: in the same bucket, in a later one, beyond the horizon.
        #[test]
        fn back_ends_agree_on_what_is_put_off(
            events in proptest::collection::vec((delay(), any::<u8>()), 0..100),
            grain in prop_oneof![1u64..40_000, 1u64..10_000_000, Just(100_000_000)],
            steps in proptest::collection::vec(delay(), 0..5),
        ) {
            let yardstick = due_in_order::<StdHeap>(&events, grain, &steps);
            prop_assert_eq!(&due_in_order::<Wheel>(&events, grain, &steps), &yardstick);
            prop_assert_eq!(&due_in_order::<Heap4>(&events, grain, &steps), &yardstick);
        }
    }

    #[test]
    fn a_push_after_a_look_ahead_comes_first() {
        let mut wheel = Wheel::default();
        wheel.push(event(50_000_000, 0));
        assert_eq!(wheel.next_time(), Some(50_000_000));
        wheel.push(event(10, 0));
        assert_eq!(wheel.pop().map(|e| e.time), Some(10));
        assert_eq!(wheel.pop().map(|e| e.time), Some(50_000_000));
    }
}
