//! Lateness of a run, and the times at which the machine was away.

use airfair_sim::engine::drive::Lateness;
use airfair_units::{Span, Time};

/// A delivery in a run that kept up is not later than this, but for one in a hundred.
pub const KEPT_UP: Span = Span::from_millis(1);

/// Of so many deliveries one may be later; three of few deliveries are no fault of a machine.
const ONE_IN: u64 = 100;
const ALWAYS_ALLOWED: u64 = 3;

/// The least time in which the emulator wanted to run and did not that counts as a pause of the machine.
const SHORTEST_PAUSE: Span = Span::from_millis(5);

/// A pause is made good within this many times its length.
const MADE_GOOD: u64 = 2;

/// The processor time of the emulator is read at most so often: each time is a system call. A pause is too short by what the emulator has
/// computed since then.
const CPU_EVERY: Span = Span::from_micros(250);

/// The largest part of a run, as its divisor, that pauses may explain: 5 %.
const MOST_EXPLAINED: u64 = 20;

/// Times at which the emulator wanted to run and did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pauses {
    /// Number.
    pub count: u64,
    /// The longest.
    pub longest: Span,
    /// All together.
    pub total: Span,
}

/// Deliveries, and those of them that were late.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    deliveries: u64,
    late: u64,
}

impl Counted {
    fn add(&mut self, is_late: bool) {
        self.deliveries += 1;
        self.late += u64::from(is_late);
    }

    /// True if more were late than a run that kept up may have.
    fn too_many(self) -> bool {
        self.late > (self.deliveries / ONE_IN).max(ALWAYS_ALLOWED)
    }
}

/// Deliveries of a second of the run.
#[derive(Debug, Clone, Copy, Default)]
struct Second {
    number: u64,
    counted: Counted,
    first_late: Option<Time>,
}

/// Lateness of deliveries, with and without those that pauses of the machine explain.
#[derive(Debug, Clone, Default)]
pub struct Punctuality {
    all: Lateness,
    /// Deliveries that no pause explains, and those of them that were late.
    unexplained: Counted,
    pauses: Pauses,
    /// Until then lateness is explained by a pause.
    explained_until: Time,
    second: Second,
    /// The first delivery that was late in a second with too many of them.
    late_from: Option<Time>,
    /// The first time at which the world took no frames.
    refused_from: Option<Time>,
    last: Look,
}

/// The end of the last look of the clock, and the processor time used until a time.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    at: Time,
    cpu: Span,
    cpu_at: Time,
}

impl Punctuality {
    /// Of a run that begins at this time, with this processor time used before.
    #[must_use]
    pub fn beginning((at, cpu): (Time, Span)) -> Self {
        Self { last: Look { at, cpu, cpu_at: at }, ..Self::default() }
    }

    /// Counts a delivery of a time.
    pub fn delivered(&mut self, at: Time, now: Time) {
        let late = now.since(at);
        self.all.add(late);
        if now < self.explained_until {
            return;
        }
        self.unexplained.add(late > KEPT_UP);
        let number = now.0 / 1_000_000_000;
        if number != self.second.number {
            self.end_second();
            self.second = Second { number, ..Second::default() };
        }
        self.second.counted.add(late > KEPT_UP);
        if late > KEPT_UP {
            self.second.first_late.get_or_insert(now);
        }
    }

    fn end_second(&mut self) {
        if self.second.counted.too_many() {
            self.late_from = self.late_from.or(self.second.first_late);
        }
    }

    /// The world was so late that it took no frames.
    pub fn refused(&mut self, now: Time) {
        if now >= self.explained_until {
            self.refused_from.get_or_insert(now);
        }
    }

    /// A look of the clock, that began and ended at these times, and could have slept until a time; `cpu` reads the processor time used.
    /// Time that the emulator has neither slept nor computed is a pause.
    pub fn looked(&mut self, began: Time, ended: Time, until: Time, cpu: impl FnOnce() -> Span) {
        let mut busy = began.since(self.last.at);
        let overslept = ended.since(until.max(began));
        self.last.at = ended;
        if ended.since(self.last.cpu_at) >= CPU_EVERY {
            let cpu = cpu();
            busy = left(busy, left(cpu, self.last.cpu));
            self.last = Look { at: ended, cpu, cpu_at: ended };
        }
        for away in [busy, overslept] {
            if away >= SHORTEST_PAUSE {
                self.pauses.count += 1;
                self.pauses.longest = self.pauses.longest.max(away);
                self.pauses.total += away;
                let until = ended.saturating_add(Span(away.0.saturating_mul(MADE_GOOD)));
                self.explained_until = self.explained_until.max(until);
            }
        }
    }

    /// Lateness of all deliveries.
    #[must_use]
    pub const fn lateness(&self) -> &Lateness {
        &self.all
    }

    /// Pauses of the machine.
    #[must_use]
    pub const fn pauses(&self) -> Pauses {
        self.pauses
    }

    /// The verdict on a run of this length.
    #[must_use]
    pub fn verdict(&self, length: Span) -> Verdict {
        let mut last = self.clone();
        last.end_second();
        let too_many = last.pauses.total.0 > length.0 / MOST_EXPLAINED;
        if last.unexplained.too_many() || too_many || last.refused_from.is_some() {
            let from = [last.late_from, last.refused_from];
            Verdict::FellBehind { from: from.into_iter().flatten().min() }
        } else if last.pauses.count > 0 {
            Verdict::KeptUpBut
        } else {
            Verdict::KeptUp
        }
    }
}

const fn left(of: Span, without: Span) -> Span {
    Span(of.0.saturating_sub(without.0))
}

/// The verdict on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// One delivery in a hundred at most was later than [`KEPT_UP`].
    KeptUp,
    /// The same, but for pauses of the machine, each made good within twice its length.
    KeptUpBut,
    /// The numbers are not those of the scenario, from a time on if there is one.
    FellBehind {
        /// That time.
        from: Option<Time>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(of: u64) -> Time {
        Time(of * 1_000_000)
    }

    /// A run of ten seconds with a thousand deliveries a second, each as late as a function says, in microseconds.
    fn run(punctuality: &mut Punctuality, late_us: impl Fn(u64) -> u64) {
        for at in 0..10_000 {
            punctuality.delivered(ms(at), ms(at).saturating_add(Span::from_micros(late_us(at))));
        }
    }

    const TEN: Span = Span::from_secs(10);

    fn idle() -> Span {
        Span::ZERO
    }

    #[test]
    fn few_late_deliveries_are_allowed() {
        let mut punctuality = Punctuality::default();
        run(&mut punctuality, |at| if at % 200 == 0 { 3_000 } else { 80 });
        assert_eq!(punctuality.verdict(TEN), Verdict::KeptUp);
        assert_eq!(punctuality.lateness().steps(), 10_000);
    }

    #[test]
    fn the_time_is_that_of_the_first_bad_second() {
        let mut punctuality = Punctuality::default();
        run(&mut punctuality, |at| if at >= 6_250 { 2_000 } else { 80 });
        assert_eq!(punctuality.verdict(TEN), Verdict::FellBehind { from: Some(ms(6_252)) });
    }

    #[test]
    fn a_pause_explains_twice_its_length_and_no_more() {
        // The machine is away from 5.00 s to 5.04 s.
        let away = |punctuality: &mut Punctuality| {
            punctuality.looked(ms(0), ms(5_000), ms(5_000), idle);
            punctuality.looked(ms(5_000), ms(5_040), ms(5_000), idle);
        };
        let late = |end: u64| move |at: u64| if (5_000..end).contains(&at) { 40_000 } else { 80 };
        let mut made_good = Punctuality::default();
        away(&mut made_good);
        run(&mut made_good, late(5_080));
        assert_eq!(made_good.verdict(TEN), Verdict::KeptUpBut);
        assert_eq!(
            made_good.pauses(),
            Pauses { count: 1, longest: Span::from_millis(40), total: Span::from_millis(40) }
        );
        let mut not = Punctuality::default();
        away(&mut not);
        run(&mut not, late(5_500));
        assert!(matches!(not.verdict(TEN), Verdict::FellBehind { from: Some(_) }));
    }

    #[test]
    fn computing_is_no_pause() {
        let mut punctuality = Punctuality::default();
        punctuality.looked(ms(0), ms(1), ms(1), idle);
        // 30 ms of work, then a sleep that ends in time.
        punctuality.looked(ms(31), ms(40), ms(40), || Span::from_millis(30));
        assert_eq!(punctuality.pauses().count, 0);
        // Input ends a sleep early.
        punctuality.looked(ms(40), ms(41), ms(90), || Span::from_millis(30));
        assert_eq!(punctuality.pauses().count, 0);
    }

    #[test]
    fn pauses_cannot_explain_a_machine_that_is_away_all_the_time() {
        let mut punctuality = Punctuality::default();
        for at in (0..10_000).step_by(100) {
            punctuality.looked(ms(at), ms(at + 20), ms(at), idle);
            punctuality.looked(ms(at + 20), ms(at + 100), ms(at + 100), idle);
        }
        assert_eq!(punctuality.pauses().count, 100);
        assert!(matches!(punctuality.verdict(TEN), Verdict::FellBehind { .. }));
    }
}
