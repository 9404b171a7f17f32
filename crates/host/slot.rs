//! State machines of schemes with their hosts' state, and the rule for timers.

use alloc::vec::Vec;

use airfair_schemes::places::{
    AgentEffects, Context, ControllerEffects, ForwarderEffects, HopEffects, ReceiverEffects, SourceEffects,
    Timer,
};
use airfair_units::random::Stream;
use airfair_units::{Span, Time};

/// A timer to be scheduled. At its time the caller passes timer and generation to [`Timers::fires`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Firing {
    /// Due time of the timer.
    pub at: Time,
    /// The scheme's number of the timer.
    pub timer: Timer,
    /// Generation of the setting; earlier ones are ignored.
    pub generation: u32,
}

/// Timers of one state machine. A timer that was set fires once, at its time, but at the earliest one nanosecond after the hook that has
/// set it; setting it again moves it.
#[derive(Debug, Clone, Default)]
pub struct Timers {
    /// All timers that were ever set, by number, each with the generation of its last setting.
    known: Vec<TimerGeneration>,
}

#[derive(Debug, Clone, Copy)]
struct TimerGeneration {
    timer: Timer,
    generation: u32,
    pending: bool,
}

impl Timers {
    /// Sets a timer, or moves it.
    pub fn set(&mut self, timer: Timer, at: Time, now: Time) -> Firing {
        let i = match self.known.binary_search_by_key(&timer, |known| known.timer) {
            Ok(i) => i,
            Err(i) => {
                self.known.insert(i, TimerGeneration { timer, generation: 0, pending: false });
                i
            }
        };
        let known = &mut self.known[i];
        known.generation = known.generation.wrapping_add(1);
        known.pending = true;
        // Not in the past: time must advance, whatever a scheme requests.
        Firing { at: at.max(now.saturating_add(Span(1))), timer, generation: known.generation }
    }

    /// True if the timer fires at the time of a firing; false if the timer was moved in the meantime.
    pub fn fires(&mut self, timer: Timer, generation: u32) -> bool {
        let Ok(i) = self.known.binary_search_by_key(&timer, |known| known.timer) else { return false };
        let known = &mut self.known[i];
        known.generation == generation && core::mem::take(&mut known.pending)
    }
}

/// Effects of a place with timers.
pub trait Timed {
    /// Timers that a hook has set.
    fn timers(&mut self) -> &mut Vec<(Timer, Time)>;
}

macro_rules! timed {
    ($($effects:ty),*) => {
        $(impl Timed for $effects {
            #[inline]
            fn timers(&mut self) -> &mut Vec<(Timer, Time)> {
                &mut self.timers
            }
        })*
    };
}
timed!(AgentEffects, ControllerEffects, HopEffects, ReceiverEffects, SourceEffects);

impl Timed for ForwarderEffects {
    #[inline]
    fn timers(&mut self) -> &mut Vec<(Timer, Time)> {
        &mut self.agent.timers
    }
}

/// A state machine of a scheme with its random stream, its rank among events of equal time, and its timers.
#[derive(Debug, Clone)]
pub struct Slot<T> {
    /// The state machine.
    pub machine: T,
    /// Random stream of this machine alone.
    pub random: Stream,
    /// Rank of its timers.
    pub rank: u32,
    /// Timers of the machine.
    pub timers: Timers,
}

impl<T> Slot<T> {
    /// A machine that has set no timer.
    pub const fn new(machine: T, random: Stream, rank: u32) -> Self {
        Self { machine, random, rank, timers: Timers { known: Vec::new() } }
    }

    /// Calls a hook. Timers that it sets are appended to `firings`; its other effects stay in `effects` for the caller.
    #[inline]
    pub fn call<E: Timed, R>(
        &mut self,
        now: Time,
        effects: &mut E,
        firings: &mut Vec<Firing>,
        hook: impl FnOnce(&mut T, &mut Context<'_, E>) -> R,
    ) -> R {
        let answer = hook(&mut self.machine, &mut Context { now, random: &mut self.random, out: effects });
        if !effects.timers().is_empty() {
            self.set(now, effects.timers(), firings);
        }
        answer
    }

    #[inline(never)]
    fn set(&mut self, now: Time, timers: &mut Vec<(Timer, Time)>, firings: &mut Vec<Firing>) {
        firings.extend(timers.drain(..).map(|(timer, at)| self.timers.set(timer, at, now)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_units::random::Purpose;
    use alloc::vec;

    const A: Timer = Timer(7);
    const B: Timer = Timer(3);

    #[test]
    fn a_timer_fires_once_at_its_time() {
        let mut timers = Timers::default();
        let set = timers.set(A, Time(50), Time(20));
        assert_eq!((set.at, set.timer), (Time(50), A));
        assert!(timers.fires(A, set.generation));
        assert!(!timers.fires(A, set.generation), "it has fired");
        assert!(!timers.fires(B, set.generation), "it was never set");
    }

    /// A timer fires at the earliest a nanosecond after it was set, so that time advances.
    #[test]
    fn a_timer_of_the_past_fires_a_nanosecond_later() {
        let mut timers = Timers::default();
        for at in [Time(0), Time(19), Time(20), Time(21)] {
            assert_eq!(timers.set(A, at, Time(20)).at, Time(21));
        }
        assert_eq!(timers.set(A, Time(22), Time(20)).at, Time(22));
        assert_eq!(timers.set(A, Time(5), Time::NEVER).at, Time::NEVER);
    }

    /// A timer may be moved back to an earlier setting: of two firings at that time only the second counts.
    #[test]
    fn setting_a_timer_again_moves_it() {
        let mut timers = Timers::default();
        let settings = [100, 60, 100].map(|at| timers.set(A, Time(at), Time(1)));
        let other = timers.set(B, Time(60), Time(1));
        let fired = settings.map(|set| timers.fires(A, set.generation));
        assert_eq!(fired, [false, false, true]);
        assert!(timers.fires(B, other.generation), "each timer moves by itself");
        let again = timers.set(A, Time(200), Time(100));
        assert!(!timers.fires(A, settings[2].generation) && timers.fires(A, again.generation));
    }

    /// Effects other than timers remain for the caller; no timer remains for the next machine.
    #[test]
    fn a_call_leaves_no_timer_behind() {
        let random = || Stream::new(1, "slot", Purpose::Hop);
        let (mut one, mut other) = (Slot::new(1, random(), 5), Slot::new(2, random(), 6));
        let (mut effects, mut firings) = (SourceEffects::default(), vec![]);
        let drawn = one.call(Time(10), &mut effects, &mut firings, |machine, context| {
            *machine += 1;
            context.out.timers.push((A, context.now));
            context.out.timers.push((B, Time(40)));
            context.out.failed = true;
            context.random.next_u32()
        });
        assert_eq!((one.machine, drawn), (2, random().next_u32()));
        assert_eq!(
            firings.iter().map(|f| (f.at, f.timer)).collect::<Vec<_>>(),
            [(Time(11), A), (Time(40), B)]
        );
        assert!(effects.timers.is_empty() && effects.failed);
        firings.clear();
        other.call(Time(11), &mut effects, &mut firings, |_, _| ());
        assert_eq!(firings, []);
        assert!(!other.timers.fires(A, 1) && one.timers.fires(A, 1));
    }
}
