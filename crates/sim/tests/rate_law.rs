//! A law of rates, whole: two modes, by failures and successes in a row. Its frames on the air are worked out by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use airfair_sim::air::{Attempt, Ending, Pair, RateControl};
use airfair_sim::ids::StationIx;
use airfair_sim::modes::Mode;
use airfair_sim::record::{FrameKind, FrameView, Loss, Trace};
use airfair_sim::spec::*;
use airfair_units::{Db, Dbm, Rate};

use crate::support::dot11b;
use crate::support::rig::*;

/// A law of two modes: the lower one after two failures in a row, the nominal one after ten successes.
#[derive(Debug)]
pub struct TwoModes {
    lower: Mode,
    pairs: BTreeMap<(StationIx, StationIx), State>,
    calls: Arc<Mutex<Calls>>,
}

#[derive(Debug, Default)]
struct State {
    low: bool,
    failures: u32,
    successes: u32,
}

/// Calls of the law: numbers of attempts, and (sent, acknowledged) of each that ended.
#[derive(Debug, Default)]
pub struct Calls {
    pub attempts: Vec<u32>,
    pub endings: Vec<(u32, u32)>,
}

pub fn two_modes(lower: Mode) -> (Box<TwoModes>, Arc<Mutex<Calls>>) {
    let calls = Arc::new(Mutex::new(Calls::default()));
    (Box::new(TwoModes { lower, pairs: BTreeMap::new(), calls: calls.clone() }), calls)
}

impl RateControl for TwoModes {
    fn mode(&mut self, pair: Pair, attempt: Attempt) -> Mode {
        self.calls.lock().unwrap().attempts.push(attempt.number);
        self.usual(pair)
    }

    fn outcome(&mut self, pair: Pair, Ending { sent, acknowledged, .. }: Ending) {
        self.calls.lock().unwrap().endings.push((sent, acknowledged));
        let state = self.pairs.entry((pair.from, pair.to)).or_default();
        if acknowledged > 0 {
            (state.failures, state.successes) = (0, state.successes + 1);
        } else {
            (state.failures, state.successes) = (state.failures + 1, 0);
        }
        if !state.low && state.failures == 2 || state.low && state.successes == 10 {
            *state = State { low: !state.low, ..State::default() };
        }
    }

    fn usual(&self, pair: Pair) -> Mode {
        let low = self.pairs.get(&(pair.from, pair.to)).is_some_and(|state| state.low);
        if low { self.lower } else { pair.nominal }
    }
}

/// 802.11b at 11 Mbit/s with ACKs at 1 and 11. The noise of -90 dBm lets -83.6 dBm be enough for 11 Mbit/s, -93 for 1 Mbit/s.
pub fn per_rate() -> RadioSpec {
    let mut radio = no_back_off(by_matrix(dot11b(400.0, 550.0)));
    radio.phy.basic_rates = [1, 11].map(Rate::from_mbps).to_vec();
    radio.phy.noise = Dbm(-90.0);
    radio.phy.preamble_detect = Dbm(-95.0);
    radio.phy.lock_sinr = Db(-3.0);
    radio.phy.capture = Db(0.0);
    radio.phy.sensitivity = Sensitivity::PerRate;
    radio.mac.eifs = Eifs::Off;
    radio
}

/// Between 11 and 1 Mbit/s.
pub const WEAK: f64 = -88.0;

/// A run of stations with a law of two modes.
pub fn run_two(
    radio: RadioSpec,
    powers: &[(usize, usize, f64)],
    packets: usize,
) -> (Rig, Trace, Arc<Mutex<Calls>>) {
    let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
    let mut rig = Rig::new(&[radio], &stations, powers, 1);
    let (law, calls) = two_modes(Mode::DSSS1);
    rig.air.set_rate_control(law);
    for _ in 0..packets {
        rig.send(1_000_000, 0, 1, 1500);
    }
    let trace = rig.run(1_000_000_000);
    (rig, trace, calls)
}

pub fn of_kind(trace: &Trace, kind: FrameKind) -> Vec<FrameView> {
    frames(trace).into_iter().filter(|frame| frame.kind == kind).collect()
}

pub fn times<T: Clone>(list: &[(usize, T)]) -> Vec<T> {
    list.iter().flat_map(|(n, item)| vec![item.clone(); *n]).collect()
}

/// 1536 B take 1310 us at 11 Mbit/s, 12,480 at 1; an ACK 203 and 304, which is what a data frame reserves after a SIFS of 10. Two attempts
/// in vain at 11, then ten packets at 1, then two attempts at 11 again.
#[test]
fn two_failures_lower_the_mode_and_ten_successes_raise_it() {
    let (rig, trace, calls) = run_two(per_rate(), &both(0, 1, WEAK), 12);
    let data: Vec<_> = of_kind(&trace, FrameKind::Data)
        .iter()
        .map(|f| (f.mode, (f.end.0 - f.start.0) / 1000, f.nav_us, f.retry))
        .collect();
    let (high, low) = ((Mode::CCK11, 1310, 213), (Mode::DSSS1, 12_480, 314));
    let frame = |(mode, us, nav), retry| (mode, us, nav, retry);
    let expected = times(&[
        (1, frame(high, false)),
        (1, frame(high, true)),
        (1, frame(low, true)),
        (9, frame(low, false)),
        (1, frame(high, false)),
        (1, frame(high, true)),
        (1, frame(low, true)),
        (1, frame(low, false)),
    ]);
    assert_eq!(data, expected);
    let acks: Vec<_> =
        of_kind(&trace, FrameKind::Ack).iter().map(|f| (f.mode, f.end.0 - f.start.0)).collect();
    assert_eq!(acks, vec![(Mode::DSSS1, 304_000); 12]);
    assert_eq!(losses(&trace, 1), vec![(FrameKind::Data, 0, Loss::TooWeak); 4]);
    assert_eq!(rig.diary.got.len(), 12);
    // Asked once an attempt, told of each.
    let calls = calls.lock().unwrap();
    assert_eq!(calls.attempts, times(&[(1, 0), (1, 1), (1, 2), (9, 0), (1, 0), (1, 1), (1, 2), (1, 0)]));
    let (lost, good) = ((1, 0), (1, 1));
    assert_eq!(calls.endings, times(&[(2, lost), (10, good), (2, lost), (2, good)]));
}
