//! Drivers of a world: loops over the same interface. Three have the same results; the fourth couples a world to the outside in real time.

use airfair_units::{Span, Time};

pub use super::lateness::Lateness;

/// Interface of a world to its driver: simulation, real time, or stepping.
pub trait Steppable {
    /// Handles all events before `until`, and makes `until` the present.
    fn advance(&mut self, until: Time);

    /// The present.
    fn now(&self) -> Time;

    /// Time of the next event, or none.
    fn next_deadline(&mut self) -> Option<Time>;

    /// A time before which nothing arrives outside, if nothing more enters; none if nothing will happen.
    fn next_output(&mut self) -> Option<Time> {
        self.next_deadline()
    }

    /// True if nothing will happen any more although events are left: the world needs more memory than it may have, for example.
    fn is_stuck(&self) -> bool {
        false
    }

    /// The end of the run.
    fn end(&self) -> Time;
}

/// Simulation: runs to the end without pause.
pub fn to_end(world: &mut impl Steppable) {
    let end = world.end();
    world.advance(end);
}

/// Stepping: runs from event time to event time. `each` is called after every step and stops the loop by returning false.
pub fn by_deadline(world: &mut impl Steppable, mut each: impl FnMut(Time) -> bool) {
    let end = world.end();
    while let Some(at) = world.next_deadline().filter(|&at| at < end) {
        world.advance(at.saturating_add(Span(1)));
        if !each(at) || world.is_stuck() {
            return;
        }
    }
    world.advance(end);
}

/// The reason why a wait has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// The time has come.
    Due,
    /// Something has come from outside.
    Input,
}

/// A clock that can be waited for, provided by the caller: the simulator itself has none. On a wall clock a time is the time since the
/// driver started.
pub trait Clock {
    /// The present.
    fn now(&mut self) -> Time;
    /// Waits until a time, or until something comes from outside. `Input` precedes: what has come while the clock was late would starve
    /// otherwise.
    fn wait(&mut self, until: Time) -> Wake;
}

/// Real time: runs each step when the clock, `speed` times as fast as the wall clock, has reached its time. Returns the lateness of the
/// steps, from their due times to their execution. Nothing comes from outside.
pub fn paced(world: &mut impl Steppable, clock: &mut impl Clock, speed: f64) -> Lateness {
    let wall = |at: Time| Time((at.0 as f64 / speed) as u64);
    let wait = |clock: &mut _, at| while Clock::wait(clock, at) == Wake::Input {};
    let mut lateness = Lateness::default();
    let end = world.end();
    while let Some(at) = world.next_deadline().filter(|&at| at < end) {
        wait(clock, wall(at));
        lateness.add(clock.now().since(wall(at)));
        world.advance(at.saturating_add(Span(1)));
        if world.is_stuck() {
            return lateness;
        }
    }
    wait(clock, wall(end));
    world.advance(end);
    lateness
}

/// Whatever brings packets to a world and takes them.
pub trait Coupling<W> {
    /// Lets what has come enter the world, at its present. Returns false to stop.
    fn enter(&mut self, world: &mut W) -> bool;
    /// Takes what has left the world, and calls `arrived` with the time of each arrival.
    fn leave(&mut self, world: &mut W, arrived: &mut dyn FnMut(Time));
}

/// Couples a world to its outside in real time, until its end, until [`Coupling::enter`] stops it, or until it is stuck. Events are handled
/// late, in bursts, each at its own time: only what comes from outside and what leaves has to keep the time. Returns the lateness of
/// arrivals.
pub fn coupled<W: Steppable>(
    world: &mut W,
    clock: &mut impl Clock,
    outside: &mut impl Coupling<W>,
) -> Lateness {
    let mut lateness = Lateness::default();
    loop {
        let end = world.end();
        let until = world.next_output().unwrap_or(Time::NEVER).min(end);
        let wake = clock.wait(until);
        let to = if wake == Wake::Due { until.saturating_add(Span(1)) } else { clock.now().max(world.now()) };
        world.advance(to.min(end));
        outside.leave(world, &mut |at| lateness.add(clock.now().since(at)));
        let stops = wake == Wake::Input && !outside.enter(world);
        if stops || world.is_stuck() || world.now() >= end {
            return lateness;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    struct Ticks {
        due: Vec<u64>,
        seen: Vec<u64>,
        now: u64,
    }
    impl Steppable for Ticks {
        fn advance(&mut self, until: Time) {
            while self.due.first().is_some_and(|&t| t < until.0) {
                self.seen.push(self.due.remove(0));
            }
            self.now = until.0;
        }
        fn now(&self) -> Time {
            Time(self.now)
        }
        fn next_deadline(&mut self) -> Option<Time> {
            self.due.first().map(|&t| Time(t))
        }
        fn end(&self) -> Time {
            Time(1000)
        }
    }

    /// A clock that is 20 us late at each time; inputs come at given times.
    struct FakeClock {
        now: u64,
        inputs: VecDeque<u64>,
    }
    impl FakeClock {
        fn new(inputs: &[u64]) -> Self {
            Self { now: 0, inputs: inputs.iter().copied().collect() }
        }
    }
    impl Clock for FakeClock {
        fn now(&mut self) -> Time {
            Time(self.now)
        }
        fn wait(&mut self, until: Time) -> Wake {
            if let Some(&at) = self.inputs.front().filter(|&&at| at <= until.0.max(self.now)) {
                self.inputs.pop_front();
                self.now = self.now.max(at);
                return Wake::Input;
            }
            self.now = self.now.max(until.0) + 20_000;
            Wake::Due
        }
    }

    #[test]
    fn all_drivers_see_the_same_and_stop_at_the_end() {
        let world = || Ticks { due: vec![0, 5, 5, 999, 1000], seen: vec![], now: 0 };
        let (mut a, mut b, mut c) = (world(), world(), world());
        to_end(&mut a);
        by_deadline(&mut b, |_| true);
        let lateness = paced(&mut c, &mut FakeClock::new(&[3]), 1.0);
        for w in [&a, &b, &c] {
            assert_eq!(w.seen, [0, 5, 5, 999]);
            assert_eq!(w.now, 1000);
        }
        assert_eq!(lateness.steps(), 3);
        assert!(lateness.worst().0 >= 20_000);
        assert_eq!(lateness.below(Span(10_000)), 0);
    }

    #[test]
    fn stepping_can_be_stopped() {
        let mut world = Ticks { due: vec![1, 2, 3], seen: vec![], now: 0 };
        by_deadline(&mut world, |at| at.0 < 2);
        assert_eq!(world.seen, [1, 2]);
    }

    /// Each input is a tick 100 ns after it; each tick that was handled leaves.
    struct Echo {
        entered: Vec<u64>,
        taken: usize,
        stop_after: usize,
    }
    impl Coupling<Ticks> for Echo {
        fn enter(&mut self, world: &mut Ticks) -> bool {
            self.entered.push(world.now);
            world.due.push(world.now + 100);
            world.due.sort_unstable();
            self.entered.len() < self.stop_after
        }
        fn leave(&mut self, world: &mut Ticks, arrived: &mut dyn FnMut(Time)) {
            world.seen[self.taken..].iter().for_each(|&at| arrived(Time(at)));
            self.taken = world.seen.len();
        }
    }

    /// A world that lacks memory, for example, ends every drive.
    struct Stuck(u64);
    impl Steppable for Stuck {
        fn advance(&mut self, until: Time) {
            self.0 = until.0;
        }
        fn now(&self) -> Time {
            Time(self.0)
        }
        fn next_deadline(&mut self) -> Option<Time> {
            Some(Time(5))
        }
        fn is_stuck(&self) -> bool {
            self.0 > 5
        }
        fn end(&self) -> Time {
            Time::NEVER
        }
    }
    impl Coupling<Stuck> for () {
        fn enter(&mut self, _: &mut Stuck) -> bool {
            true
        }
        fn leave(&mut self, _: &mut Stuck, _: &mut dyn FnMut(Time)) {}
    }

    #[test]
    fn a_world_that_is_stuck_ends_every_drive() {
        let mut steps = 0;
        by_deadline(&mut Stuck(0), |_| {
            steps += 1;
            true
        });
        let paced = paced(&mut Stuck(0), &mut FakeClock::new(&[]), 1.0);
        coupled(&mut Stuck(0), &mut FakeClock::new(&[]), &mut ());
        assert_eq!((steps, paced.steps()), (1, 1));
    }

    /// An input wakes the driver before the next event, and enters at its own time; one that has waited during an event enters at the
    /// clock's time, which is past.
    #[test]
    fn inputs_wake_the_driver() {
        let mut world = Ticks { due: vec![500], seen: vec![], now: 0 };
        let mut echo = Echo { entered: vec![], taken: 0, stop_after: 9 };
        let lateness = coupled(&mut world, &mut FakeClock::new(&[40, 70]), &mut echo);
        assert_eq!(echo.entered, [40, 70]);
        // 140 is due first: the clock is 20 us late then, and for all others more so.
        assert_eq!((&world.seen[..], world.now), (&[140, 170, 500][..], 1000));
        assert_eq!((lateness.steps(), lateness.below(Span(20_000))), (3, 0));
        let mut world = Ticks { due: vec![500], seen: vec![], now: 0 };
        let mut echo = Echo { entered: vec![], taken: 0, stop_after: 1 };
        coupled(&mut world, &mut FakeClock::new(&[40, 70]), &mut echo);
        assert_eq!((echo.entered, world.now), (vec![40], 40), "stopped");
    }
}
