//! Differences of successive surveys, and a guard against those that cannot be right.
//!
//! Drivers reset the counters of a survey, or clear them by reading (both in ath10k), let them pass below zero (mt76, issue 1135), never
//! set them (mwlwifi, issue 114), or have 32 bits that wrap. A wrong difference is worse than none, so a difference that cannot be right is
//! bad, with its reason, and a driver with nothing but bad ones is unusable.

use std::fmt;

use airfair_units::{Span, Time};

use super::survey::Survey;

/// Bad readings in a row after which the counters are unusable.
pub const BAD_READINGS: u32 = 10;

/// Time after which counters have to move.
const LONGEST_STILL: Span = Span(2_000_000_000);

/// Time after which counters that stand still are compared with new ones: a difference over more would mix past and present.
const LONGEST_DIFFERENCE: Span = Span(30_000_000_000);

/// Each counter is rounded to 1 ms, and read at a moment that is not exactly that of the clock.
const GRAIN: u64 = 2_000_000;

/// A part of a survey that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// No survey is that of the channel in use.
    NoChannel,
    /// The survey leaves a counter out.
    Missing(&'static str),
    /// A counter has a value of more than 584 years: it has passed below zero, or was never set.
    OutOfRange(&'static str),
    /// The interface is on another channel, which has counters of its own.
    OtherChannel,
    /// A counter is less than before: it was reset, or has wrapped.
    SteppedBack(&'static str),
    /// The active time is the same, 2 s or more later.
    StoodStill,
    /// The active time grew by more than 9/8 of the time between the readings.
    FasterThanClock,
    /// The active time grew by less than 1/8 of the time between the readings: a counter that each reading clears, or a radio that was
    /// elsewhere or asleep for most of the time.
    SlowerThanClock,
    /// The busy time grew by more than the active time.
    BusyOverActive,
    /// The times of receiving and transmitting grew by more than 1.12 of the busy time.
    PartsOverBusy,
    /// The time of receiving frames of the own BSS grew by more than the active time.
    OwnOverActive,
    /// The clock of the readings has stepped back.
    ClockSteppedBack,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoChannel => f.write_str("no channel was in use"),
            Self::Missing(counter) => write!(f, "{counter} was missing"),
            Self::OutOfRange(counter) => write!(f, "{counter} was out of range"),
            Self::OtherChannel => f.write_str("the channel changed"),
            Self::SteppedBack(counter) => write!(f, "{counter} stepped back"),
            Self::StoodStill => f.write_str("active time stood still"),
            Self::FasterThanClock => f.write_str("active time ran faster than the clock"),
            Self::SlowerThanClock => f.write_str("active time ran slower than an eighth of the clock"),
            Self::BusyOverActive => f.write_str("busy time exceeded active time"),
            Self::PartsOverBusy => f.write_str("receive and transmit time exceeded busy time"),
            Self::OwnOverActive => f.write_str("BSS receive time exceeded active time"),
            Self::ClockSteppedBack => f.write_str("the clock stepped back"),
        }
    }
}

/// The difference of two surveys of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SurveyDifference {
    /// Time between the readings, by the clock of the host.
    pub elapsed: Span,
    /// Frequency of the channel, in MHz.
    pub frequency_mhz: u32,
    /// Noise at the later reading, in dBm.
    pub noise_dbm: Option<i8>,
    /// Time on the channel, less than `elapsed` by scans of others; at least 1/8 of it, but for rounding, and never zero.
    pub active: Span,
    /// Time for which the channel was busy, at most `active`.
    pub busy: Span,
    /// Time of receiving, from anyone. None where one of the surveys leaves it out.
    pub receive: Option<Span>,
    /// Time of receiving frames of the own BSS. None where one of the surveys leaves it out.
    pub receive_own: Option<Span>,
    /// Time of transmitting. None where one of the surveys leaves it out.
    pub transmit: Option<Span>,
}

/// The result of one reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Nothing to compare with yet: the first reading, or the active time is the same in less than 2 s. The next good difference includes
    /// this time.
    Pending,
    /// A difference that can be right.
    Good(SurveyDifference),
    /// A reading without a difference.
    Bad(Fault),
}

/// A judgement of the counters of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No difference has been good yet, and not enough were bad.
    Unknown,
    /// At least one of the last readings was good.
    Usable,
    /// All of the last readings were bad. A good reading makes the counters usable again.
    Unusable {
        /// Reason of the last reading.
        fault: Fault,
        /// Bad readings in a row.
        readings: u32,
        /// True if not all of them have the same reason.
        is_mixed: bool,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("nothing is known yet about this driver's survey counters"),
            Self::Usable => f.write_str("this driver's survey counters are usable"),
            Self::Unusable { fault, readings, is_mixed: false } => {
                write!(f, "this driver's survey counters are unusable: {fault} for {readings} readings")
            }
            Self::Unusable { fault, readings, is_mixed: true } => write!(
                f,
                "this driver's survey counters are unusable: {readings} bad readings in a row, in the last {fault}"
            ),
        }
    }
}

/// A reading with which the next one is compared.
#[derive(Debug, Clone, Copy)]
struct Base {
    at: Time,
    survey: Survey,
}

/// Bad readings in a row.
#[derive(Debug, Clone, Copy)]
struct Row {
    fault: Fault,
    readings: u32,
    is_mixed: bool,
}

/// Follows the survey of the channel in use of one interface.
#[derive(Debug, Clone, Default)]
pub struct SurveyGuard {
    base: Option<Base>,
    row: Option<Row>,
    good: u64,
    bad: u64,
    steps_back: u64,
}

impl SurveyGuard {
    /// Takes the surveys of an interface that were read at a moment, by a clock that does not step.
    pub fn read(&mut self, at: Time, surveys: &[Survey]) -> Reading {
        let reading = match self.difference(at, surveys) {
            Ok(None) => Reading::Pending,
            Ok(Some(difference)) => Reading::Good(difference),
            Err(fault) => Reading::Bad(fault),
        };
        match reading {
            Reading::Pending => {}
            Reading::Good(_) => {
                self.good += 1;
                self.row = None;
            }
            Reading::Bad(fault) => {
                self.bad += 1;
                self.steps_back += u64::from(matches!(fault, Fault::SteppedBack(_)));
                let earlier = self.row.unwrap_or(Row { fault, readings: 0, is_mixed: false });
                let is_mixed = earlier.is_mixed || earlier.fault != fault;
                self.row = Some(Row { fault, readings: earlier.readings.saturating_add(1), is_mixed });
            }
        }
        reading
    }

    /// The judgement so far.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.row {
            Some(Row { fault, readings, is_mixed }) if readings >= BAD_READINGS => {
                Verdict::Unusable { fault, readings, is_mixed }
            }
            _ if self.good > 0 => Verdict::Usable,
            _ => Verdict::Unknown,
        }
    }

    /// Good readings so far.
    #[must_use]
    pub const fn good_readings(&self) -> u64 {
        self.good
    }

    /// Bad readings so far.
    #[must_use]
    pub const fn bad_readings(&self) -> u64 {
        self.bad
    }

    /// Readings so far in which a counter was less than before: resets, and counters of 32 bits that wrapped.
    #[must_use]
    pub const fn steps_back(&self) -> u64 {
        self.steps_back
    }

    fn difference(&mut self, at: Time, surveys: &[Survey]) -> Result<Option<SurveyDifference>, Fault> {
        let earlier = self.base.take();
        let survey = *surveys.iter().find(|survey| survey.in_use).ok_or(Fault::NoChannel)?;
        let now = Base { at, survey };
        complete(&survey)?;
        self.base = Some(now);
        let Some(earlier) = earlier else { return Ok(None) };
        let elapsed = Span(at.0.checked_sub(earlier.at.0).ok_or(Fault::ClockSteppedBack)?);
        let difference = between(&earlier.survey, &survey, elapsed)?;
        if difference.active > Span::ZERO {
            return check(&difference).map(|()| Some(fitted(difference)));
        }
        // Drivers may update their counters less often than they are read.
        if elapsed < LONGEST_DIFFERENCE {
            self.base = Some(earlier);
        }
        if elapsed < LONGEST_STILL { Ok(None) } else { Err(Fault::StoodStill) }
    }
}

/// The counters of a survey, with names for faults.
fn counters(survey: &Survey) -> [(&'static str, Option<Span>); 5] {
    [
        ("active time", survey.active),
        ("busy time", survey.busy),
        ("receive time", survey.receive),
        ("BSS receive time", survey.receive_own),
        ("transmit time", survey.transmit),
    ]
}

/// Refuses a survey without active or busy time, or with a counter that has no value.
fn complete(survey: &Survey) -> Result<(), Fault> {
    for (at, (name, counter)) in counters(survey).into_iter().enumerate() {
        match counter {
            None if at < 2 => return Err(Fault::Missing(name)),
            Some(Span(u64::MAX)) => return Err(Fault::OutOfRange(name)),
            _ => {}
        }
    }
    Ok(())
}

/// The differences of two complete surveys, if no counter has stepped back.
fn between(earlier: &Survey, later: &Survey, elapsed: Span) -> Result<SurveyDifference, Fault> {
    if earlier.frequency_mhz != later.frequency_mhz {
        return Err(Fault::OtherChannel);
    }
    let mut differences = [None; 5];
    let pairs = counters(earlier).into_iter().zip(counters(later));
    for (difference, ((name, before), (_, now))) in differences.iter_mut().zip(pairs) {
        if let (Some(before), Some(now)) = (before, now) {
            *difference = Some(Span(now.0.checked_sub(before.0).ok_or(Fault::SteppedBack(name))?));
        }
    }
    let [active, busy, receive, receive_own, transmit] = differences;
    Ok(SurveyDifference {
        elapsed,
        frequency_mhz: later.frequency_mhz,
        noise_dbm: later.noise_dbm,
        active: active.ok_or(Fault::Missing("active time"))?,
        busy: busy.ok_or(Fault::Missing("busy time"))?,
        receive,
        receive_own,
        transmit,
    })
}

/// Refuses differences that do not fit to each other, or to the clock.
fn check(difference: &SurveyDifference) -> Result<(), Fault> {
    let exceeds = |part: u128, whole: Span, per_mille: u128| {
        part * 1000 > u128::from(whole.0) * per_mille + u128::from(GRAIN) * 1000
    };
    let sum = |times: [Option<Span>; 2]| times.into_iter().flatten().map(|time| u128::from(time.0)).sum();
    let (active, busy) = (u128::from(difference.active.0), u128::from(difference.busy.0));
    if exceeds(active, difference.elapsed, 1125) {
        return Err(Fault::FasterThanClock);
    }
    if exceeds(u128::from(difference.elapsed.0), Span(difference.active.0.saturating_mul(8)), 1000) {
        return Err(Fault::SlowerThanClock);
    }
    if exceeds(busy, difference.active, 1000) {
        return Err(Fault::BusyOverActive);
    }
    if exceeds(sum([difference.receive, difference.transmit]), difference.busy, 1120) {
        return Err(Fault::PartsOverBusy);
    }
    if exceeds(sum([difference.receive_own, None]), difference.active, 1000) {
        return Err(Fault::OwnOverActive);
    }
    Ok(())
}

/// Takes from the busy time by how much rounding made it longer than the active time.
fn fitted(difference: SurveyDifference) -> SurveyDifference {
    SurveyDifference { busy: difference.busy.min(difference.active), ..difference }
}
