//! States of stations as intervals of time: back-off, NAV, EIFS. They are timers of a station and may overlap.

use airfair_units::Time;

use super::{Observer, WorldView};
use crate::air::{Air, Countdown};
use crate::ids::{NodeIx, StationIx};
use crate::record::{FrameKind, FrameView, Names, Record};

/// Longest time for which a state lasts that began before the observed part of the run, ns: a duration field holds 32.767 ms.
const LONGEST: u64 = 50_000_000;

/// Names of states in the table.
const STATES: [&str; 3] = ["backoff", "nav", "eifs"];

/// Missing value in a column of integers, all of which are non-negative.
const NONE: i64 = -1;

/// The part of a run whose states are observed.
#[derive(Debug, Clone)]
pub struct StatesSpec {
    /// Stations of this node only.
    pub node: Option<NodeIx>,
    /// Intervals that end after this time.
    pub from: Time,
    /// Intervals that begin before this time, at which they are cut.
    pub until: Time,
}

/// Intervals as columns, in the order of their ends. Codes stand for names; missing values are -1.
#[derive(Debug, Default)]
pub struct StateColumns {
    /// Node of the station.
    pub node: Vec<i64>,
    /// The station.
    pub station: Vec<i64>,
    /// The state: a place in [`StateColumns::NAMES`].
    pub state: Vec<i64>,
    /// Start of the interval, ns since the start of the run.
    pub from_ns: Vec<i64>,
    /// End of the interval, ns.
    pub until_ns: Vec<i64>,
    /// Of a back-off: slots to count from the start of the interval.
    pub slots: Vec<i64>,
    /// Of a back-off, at a station with access categories: the number of the category.
    pub category: Vec<i64>,
}

impl StateColumns {
    /// Names of states.
    pub const NAMES: &[&'static str] = &STATES;

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.from_ns.len()
    }

    /// True if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An interval of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Interval {
    from: u64,
    until: u64,
}

/// Timers of a station after the last event.
#[derive(Debug)]
struct Timers {
    station: StationIx,
    /// Of each category; the DCF has one.
    backoffs: Vec<Backoff>,
    nav: Option<Interval>,
    eifs: Eifs,
}

/// The EIFS of a station after the last event. An EIFS is known from the start of the frame that causes it, if energy alone is enough, and
/// begins with the end of that frame, unless the medium stays busy longer: then another one has replaced it before.
#[derive(Debug, Default)]
struct Eifs {
    /// The one that has begun.
    now: Option<Interval>,
    /// The one that begins later.
    next: Option<Interval>,
}

/// The back-off of a category after the last event.
#[derive(Debug)]
struct Backoff {
    /// Number of the category; [`NONE`] with the DCF.
    category: i64,
    countdown: Option<Countdown>,
    /// True if the countdown has a row.
    counted: bool,
}

/// An interval that has ended.
#[derive(Debug, Clone, Copy)]
struct Row {
    station: StationIx,
    state: usize,
    from: u64,
    until: u64,
    slots: i64,
    category: i64,
}

/// Observer of the states of stations.
#[derive(Debug)]
pub(crate) struct States {
    spec: StatesSpec,
    stations: Vec<Timers>,
    /// Frames whose duration field may still set a NAV.
    on_air: Vec<FrameView>,
    /// Longest time from a frame's end to its end at a hearer, ns.
    echo: u64,
    /// Rows of the present event.
    ended: Vec<Row>,
    columns: StateColumns,
    over: bool,
}

impl Observer for States {
    fn record(&mut self, _at: Time, record: &Record, _world: &WorldView<'_>) {
        if let Record::Start { frame } = *record {
            self.on_air.push(frame);
        }
    }

    fn event_done(&mut self, world: &WorldView<'_>) {
        self.observe(world.now, world);
        let echo = self.echo;
        self.on_air.retain(|frame| frame.end.0 + echo >= world.now.0);
    }
}

impl States {
    /// Starts at the start of a run.
    pub(crate) fn new(spec: StatesSpec, names: &Names, air: &Air) -> Self {
        let observed =
            |station: &StationIx| spec.node.is_none_or(|node| names.node_of_station[station.ix()] == node);
        Self {
            stations: air.stations().filter(observed).map(|station| Timers::new(station, air)).collect(),
            spec,
            on_air: Vec::new(),
            echo: air.max_delay_after_end().as_nanos(),
            ended: Vec::new(),
            columns: StateColumns::default(),
            over: false,
        }
    }

    /// Intervals to append to those of the last call; fewer than `least` are kept, until the run is over.
    pub(crate) fn take(&mut self, over: bool, least: usize, world: &WorldView<'_>) -> Option<StateColumns> {
        if over {
            self.finish(world);
        }
        let enough = self.columns.len() >= if over { 1 } else { least.max(1) };
        enough.then(|| std::mem::take(&mut self.columns))
    }

    /// Compares the timers with those after the last event.
    fn observe(&mut self, now: Time, world: &WorldView<'_>) {
        if self.over || now.0.saturating_add(LONGEST) < self.spec.from.0 {
            return;
        }
        if now >= self.spec.until {
            self.finish(world);
            return;
        }
        let Self { stations, on_air, ended, .. } = self;
        for timers in stations.iter_mut() {
            timers.observe(now.0, world.air, on_air, ended);
        }
        self.keep(world);
    }

    /// Ends all intervals at the end of the observed part.
    fn finish(&mut self, world: &WorldView<'_>) {
        if self.over {
            return;
        }
        self.over = true;
        let end = world.now.min(self.spec.until).0;
        for timers in &mut self.stations {
            timers.end(end, &mut self.ended);
        }
        self.keep(world);
    }

    /// Moves the rows of the present event into the columns: by their ends, then by the names of stations, states and categories.
    fn keep(&mut self, world: &WorldView<'_>) {
        let names = &world.run.names;
        let (from, until) = (self.spec.from.0, self.spec.until.0);
        self.ended.retain(|row| row.until > from && row.from < until);
        self.ended.sort_by(|a, b| {
            let key = |row: &Row| (row.until, row.from);
            let name = |row: &Row| (&names.stations[row.station.ix()], row.state, row.category);
            key(a).cmp(&key(b)).then_with(|| name(a).cmp(&name(b)))
        });
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let columns = &mut self.columns;
        for row in self.ended.drain(..) {
            columns.node.push(i64::from(names.node_of_station[row.station.ix()].0));
            columns.station.push(i64::from(row.station.0));
            columns.state.push(row.state as i64);
            columns.from_ns.push(whole(row.from));
            columns.until_ns.push(whole(row.until));
            columns.slots.push(row.slots);
            columns.category.push(row.category);
        }
    }
}

impl Timers {
    fn new(station: StationIx, air: &Air) -> Self {
        let has_categories = air.has_categories(station);
        let backoff = |category| {
            let category = if has_categories { category } else { NONE };
            Backoff { category, countdown: None, counted: false }
        };
        let backoffs = (0..).take(air.mac(station).category_count).map(backoff).collect();
        Self { station, backoffs, nav: None, eifs: Eifs::default() }
    }

    /// Ends the intervals that have ended by `now`, and begins those that have begun.
    fn observe(&mut self, now: u64, air: &Air, on_air: &[FrameView], ended: &mut Vec<Row>) {
        let view = air.view(self.station);
        for (category, backoff) in self.backoffs.iter_mut().enumerate() {
            let next = air.category_view(self.station, category).countdown;
            backoff.observe(now, next, (self.station, ended));
        }

        // A CF-End may end it now; without propagation its end is not later than this event.
        if let Some(nav) = &mut self.nav {
            nav.until = nav.until.min(view.nav_until.max(now));
        }
        self.end_nav(now, ended);
        if view.nav_until > now {
            match &mut self.nav {
                Some(nav) => nav.until = view.nav_until,
                none => {
                    let from = nav_start(view.nav_until, self.station, air, on_air).unwrap_or(now);
                    *none = Some(Interval { from, until: view.nav_until });
                }
            }
        }

        let failed =
            (view.eifs_from > 0).then_some(Interval { from: view.eifs_from, until: view.eifs_until });
        self.eifs.observe(now, failed, (self.station, ended));
    }

    /// Ends all intervals at a time.
    fn end(&mut self, now: u64, ended: &mut Vec<Row>) {
        for backoff in &mut self.backoffs {
            ended.extend(backoff.end(now, self.station));
        }
        if let Some(nav) = &mut self.nav {
            nav.until = nav.until.min(now);
        }
        self.end_nav(now, ended);
        self.eifs.begin_before(now, (self.station, ended));
        self.eifs.stop(now, (self.station, ended));
    }

    fn end_nav(&mut self, now: u64, ended: &mut Vec<Row>) {
        if let Some(nav) = self.nav.take_if(|nav| nav.until <= now) {
            ended.extend(nav.row(self.station, 1));
        }
    }
}

impl Eifs {
    /// Takes over what an event at `now` has left: the EIFS of the last failed frame, which may have passed, or none after a good frame.
    fn observe(&mut self, now: u64, failed: Option<Interval>, (station, ended): (StationIx, &mut Vec<Row>)) {
        self.begin_before(now, (station, ended));
        self.next = failed.filter(|next| next.until > now);
        if failed.is_none() {
            self.stop(now, (station, ended));
        }
        self.begin_before(now + 1, (station, ended));
        if let Some(over) = self.now.take_if(|eifs| eifs.until <= now) {
            ended.extend(over.row(station, 2));
        }
    }

    /// Begins the next one if its time is before `limit`: it continues the present one, or follows it.
    fn begin_before(&mut self, limit: u64, (station, ended): (StationIx, &mut Vec<Row>)) {
        let Some(next) = self.next.take_if(|next| next.from < limit) else { return };
        match &mut self.now {
            Some(eifs) if next.from <= eifs.until => eifs.until = next.until,
            _ => {
                ended.extend(self.now.and_then(|eifs| eifs.row(station, 2)));
                self.now = Some(next);
            }
        }
    }

    /// Ends the present one at `now`, if it lasts so long.
    fn stop(&mut self, now: u64, (station, ended): (StationIx, &mut Vec<Row>)) {
        if let Some(Interval { from, until }) = self.now.take() {
            ended.extend(Interval { from, until: until.min(now) }.row(station, 2));
        }
    }
}

impl Backoff {
    /// Ends the countdown that has ended by `now`, and begins the one that has begun.
    fn observe(&mut self, now: u64, next: Option<Countdown>, (station, ended): (StationIx, &mut Vec<Row>)) {
        let goes_on = self.countdown.zip(next).is_some_and(|(now, next)| now.goes_on_in(next));
        if next != self.countdown && !goes_on {
            ended.extend(self.end(now, station));
            (self.countdown, self.counted) = (next, false);
        }
        if self.countdown.is_some_and(|countdown| countdown.until <= now) {
            ended.extend(self.end(now, station));
        }
    }

    /// Ends a countdown that counts at `now`, or has ended before, unless it has a row.
    fn end(&mut self, now: u64, station: StationIx) -> Option<Row> {
        let Countdown { from, until, slots } = self.countdown.filter(|_| !self.counted)?;
        self.counted = true;
        let row = Interval { from, until: until.min(now) }.row(station, 0)?;
        Some(Row { slots: i64::from(slots), category: self.category, ..row })
    }
}

impl Interval {
    /// The row of an interval, unless it is empty.
    fn row(self, station: StationIx, state: usize) -> Option<Row> {
        let Self { from, until } = self;
        (from < until).then_some(Row { station, state, from, until, slots: NONE, category: NONE })
    }
}

/// End of the frame at a station whose duration field has set the station's NAV.
fn nav_start(nav_until: u64, station: StationIx, air: &Air, on_air: &[FrameView]) -> Option<u64> {
    on_air.iter().rev().find_map(|frame| {
        let end = frame.end.0 + air.reach().delay(frame.sender, station)?.as_nanos();
        let reserved = end + u64::from(frame.nav_us) * 1000;
        let provisional =
            frame.kind == FrameKind::Rts && nav_until == end + air.nav_reset_after(station, frame);
        (nav_until == reserved || provisional).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of EIFS, by hand: time of each event and the EIFS that it leaves, start and end.
    fn rows(events: &[(u64, Option<(u64, u64)>)], end: u64) -> Vec<(u64, u64)> {
        let (mut eifs, mut ended) = (Eifs::default(), Vec::new());
        for &(now, failed) in events {
            let failed = failed.map(|(from, until)| Interval { from, until });
            eifs.observe(now, failed, (StationIx(0), &mut ended));
        }
        eifs.begin_before(end, (StationIx(0), &mut ended));
        eifs.stop(end, (StationIx(0), &mut ended));
        ended.iter().map(|row| (row.from, row.until)).collect()
    }

    /// A frame of 12 to 25 is sensed while an EIFS lasts, and another frame is sensed after it, at 28: between the two there is no event,
    /// and the EIFS of the first one has begun.
    #[test]
    fn an_eifs_between_two_events_is_not_lost() {
        let first = [(10, Some((10, 20))), (12, Some((25, 35)))];
        assert_eq!(
            rows(&[&first[..], &[(28, Some((40, 50)))][..]].concat(), 60),
            [(10, 20), (25, 35), (40, 50)]
        );
        // The second frame is sensed from 24 on: the medium stays busy until it ends.
        assert_eq!(rows(&[&first[..], &[(24, Some((40, 50)))][..]].concat(), 60), [(10, 20), (40, 50)]);
        // A look without a change changes nothing.
        let looks = [(11, Some((10, 20))), (22, Some((25, 35))), (25, Some((25, 35))), (26, Some((25, 35)))];
        let all = [&first[..1], &looks[..1], &first[1..], &looks[1..], &[(28, Some((40, 50)))][..]].concat();
        assert_eq!(rows(&all, 60), [(10, 20), (25, 35), (40, 50)]);
    }

    #[test]
    fn an_eifs_that_begins_during_another_continues_that_one() {
        assert_eq!(rows(&[(10, Some((10, 20))), (12, Some((18, 28)))], 60), [(10, 28)]);
        assert_eq!(
            rows(&[(10, Some((10, 20))), (12, Some((18, 28))), (14, Some((40, 50)))], 60),
            [(10, 20), (40, 50)]
        );
    }

    #[test]
    fn a_good_frame_ends_an_eifs() {
        assert_eq!(rows(&[(10, Some((10, 20))), (15, None)], 60), [(10, 15)]);
        assert_eq!(rows(&[(10, Some((10, 20))), (12, Some((25, 35))), (30, None)], 60), [(10, 20), (25, 30)]);
        assert_eq!(rows(&[(10, Some((10, 20))), (12, Some((25, 35))), (24, None)], 60), [(10, 20)]);
        assert_eq!(rows(&[(10, Some((10, 20)))], 16), [(10, 16)], "cut at the end");
    }
}
