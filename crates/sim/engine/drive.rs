//! Three drivers of a world: loops over the same interface with the same results.

use airfair_units::{Span, Time};

/// Interface of a world to its driver: simulation, real time, or stepping.
pub trait Steppable {
    /// Handles all events before `until`, and makes `until` the present.
    fn advance(&mut self, until: Time);

    /// Time of the next event, or none.
    fn next_deadline(&mut self) -> Option<Time>;

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
        if !each(at) {
            return;
        }
    }
    world.advance(end);
}

/// Wall clock, provided by the caller: the simulator itself has none.
pub trait WallClock {
    /// Time since the driver started.
    fn now(&mut self) -> Time;
    /// Waits until a time.
    fn wait_until(&mut self, at: Time);
}

/// Lateness of a paced run: from the due time of a step to its execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Number of steps.
    pub steps: u64,
    /// Largest lateness.
    pub worst: Span,
    /// Counts by lateness: below 10 us, 100 us, 1 ms, 10 ms, 100 ms, and above.
    pub histogram: [u64; 6],
}

impl Lateness {
    fn add(&mut self, late: Span) {
        self.steps += 1;
        self.worst = self.worst.max(late);
        let mut limit = 10_000;
        let mut bin = 0;
        while bin < 5 && late.0 >= limit {
            limit *= 10;
            bin += 1;
        }
        self.histogram[bin] += 1;
    }
}

/// Real time: runs each step when the clock, `speed` times as fast as the wall clock, has reached its time.
pub fn paced(world: &mut impl Steppable, clock: &mut impl WallClock, speed: f64) -> Lateness {
    let wall = |at: Time| Time((at.0 as f64 / speed) as u64);
    let mut lateness = Lateness::default();
    let end = world.end();
    while let Some(at) = world.next_deadline().filter(|&at| at < end) {
        clock.wait_until(wall(at));
        lateness.add(clock.now().since(wall(at)));
        world.advance(at.saturating_add(Span(1)));
    }
    clock.wait_until(wall(end));
    world.advance(end);
    lateness
}

#[cfg(test)]
mod tests {
    use super::*;

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
        fn next_deadline(&mut self) -> Option<Time> {
            self.due.first().map(|&t| Time(t))
        }
        fn end(&self) -> Time {
            Time(1000)
        }
    }

    struct FakeClock(u64);
    impl WallClock for FakeClock {
        fn now(&mut self) -> Time {
            Time(self.0)
        }
        fn wait_until(&mut self, at: Time) {
            self.0 = self.0.max(at.0) + 20_000;
        }
    }

    #[test]
    fn all_drivers_see_the_same_and_stop_at_the_end() {
        let world = || Ticks { due: vec![0, 5, 5, 999, 1000], seen: vec![], now: 0 };
        let (mut a, mut b, mut c) = (world(), world(), world());
        to_end(&mut a);
        by_deadline(&mut b, |_| true);
        let lateness = paced(&mut c, &mut FakeClock(0), 1.0);
        for w in [&a, &b, &c] {
            assert_eq!(w.seen, [0, 5, 5, 999]);
            assert_eq!(w.now, 1000);
        }
        assert_eq!(lateness.steps, 3);
        assert!(lateness.worst.0 >= 20_000);
        assert_eq!(lateness.histogram.iter().sum::<u64>(), 3);
    }

    #[test]
    fn stepping_can_be_stopped() {
        let mut world = Ticks { due: vec![1, 2, 3], seen: vec![], now: 0 };
        by_deadline(&mut world, |at| at.0 < 2);
        assert_eq!(world.seen, [1, 2]);
    }
}
