//! Laws that choose the mode of data frames: what follows from it on the air, and who learns of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use airfair_schemes::Scheme;
use airfair_schemes::places::{Agent, AgentContext, AgentSetup, Interface, LoneExchange, NodeId};
use airfair_schemes::{Params, Registry, find};
use airfair_sim::World;
use airfair_sim::air::{Attempt, Ending, Pair, RateControl};
use airfair_sim::engine::drive;
use airfair_sim::ids::{FlowIx, StationIx};
use airfair_sim::measure::summary::RunResult;
use airfair_sim::modes::Mode;
use airfair_sim::observe::states::StatesSpec;
use airfair_sim::optimum::OptimumSpec;
use airfair_sim::record::{FrameKind, FrameView, Loss};
use airfair_sim::spec::*;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};
use proptest::prelude::*;

use crate::rate_law::{WEAK, of_kind, per_rate, run_two, times, two_modes};
use crate::support::everything;
use crate::support::random_world::{build, draw_any};
use crate::support::rig::*;
use crate::support::*;

/// The same mode for every attempt of every pair.
#[derive(Debug)]
struct Always(Mode);

impl RateControl for Always {
    fn mode(&mut self, _: Pair, _: Attempt) -> Mode {
        self.0
    }

    fn outcome(&mut self, _: Pair, _: Ending) {}

    fn usual(&self, _: Pair) -> Mode {
        self.0
    }
}

/// The time-out follows the mode of the ACK: SIFS, slot and its header; the next attempt begins a DIFS after it, since windows are 0. With
/// a short preamble the header of an ACK at 11 Mbit/s takes 96 us, at 1 Mbit/s 192.
#[test]
fn the_time_out_follows_the_mode() {
    let mut radio = per_rate();
    radio.phy.preamble = Preamble::Short;
    radio.mac.short_retry_limit = 4;
    // b hears a, a does not hear b.
    let (_, trace, _) = run_two(radio, &[(0, 1, WEAK)], 1);
    let data = of_kind(&trace, FrameKind::Data);
    let gaps: Vec<u64> = data.windows(2).map(|pair| pair[1].start.0 - pair[0].end.0).collect();
    let wait = |header: u64| 1000 * (10 + 20 + header + 50);
    assert_eq!(gaps, [wait(96), wait(96), wait(192)]);
    assert_eq!(data.iter().map(|f| f.mode).collect::<Vec<_>>(), times(&[(2, Mode::CCK11), (2, Mode::DSSS1)]));
}

/// RTS and CTS go in the mode of the ACK. At 11 Mbit/s the RTS reserves 3 x 10 + 203 + 1310 + 203 = 1746 us, at 1 Mbit/s 30 + 304 + 12,480
/// + 304 = 13,118; the CTS what is left after itself and a SIFS. An RTS in an exchange at 11 Mbit/s does not get as far as one at 1.
#[test]
fn control_frames_follow_the_mode_of_their_exchange() {
    let (_, trace, calls) = run_two(with_rts(per_rate()), &both(0, 1, WEAK), 1);
    let seen: Vec<_> =
        frames(&trace).iter().map(|f| (f.kind, f.mode, (f.end.0 - f.start.0) / 1000, f.nav_us)).collect();
    let lost = (FrameKind::Rts, Mode::CCK11, 207, 1746);
    let expected = [
        lost,
        lost,
        (FrameKind::Rts, Mode::DSSS1, 352, 13_118),
        (FrameKind::Cts, Mode::DSSS1, 304, 12_804),
        (FrameKind::Data, Mode::DSSS1, 12_480, 314),
        (FrameKind::Ack, Mode::DSSS1, 304, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(calls.lock().unwrap().endings, [(0, 0), (0, 0), (1, 1)]);
}

/// A packet that has arrived twice is passed on once, whatever the modes of its frames: `a` does not hear the ACKs at 11 Mbit/s.
#[test]
fn duplicates_are_recognised_across_modes() {
    let (rig, trace, _) = run_two(per_rate(), &[(0, 1, -60.0), (1, 0, WEAK)], 3);
    let modes: Vec<_> = of_kind(&trace, FrameKind::Data).iter().map(|f| f.mode).collect();
    assert_eq!(modes, times(&[(2, Mode::CCK11), (3, Mode::DSSS1)]));
    assert_eq!(rig.diary.got.iter().map(|got| got.2).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(rig.air.counters(StationIx(1)).duplicates, 2);
}

/// A bystander that hears `a` with little power decodes its frames at 1 Mbit/s only, and then waits for the ACK, which it does not hear:
/// SIFS and 304 us before its DIFS of 50.
#[test]
fn a_bystander_decodes_by_the_mode() {
    let start_of_broadcast = |powers: &[(usize, usize, f64)], lower: bool| {
        let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
        let mut rig = Rig::new(&[per_rate()], &stations, powers, 1);
        if lower {
            rig.air.set_rate_control(Box::new(Always(Mode::DSSS1)));
        }
        rig.send(1_000_000, 0, 1, 1500);
        rig.broadcast(1_500_000, 2, 100);
        let trace = rig.run(100_000_000);
        let data_end = of_kind(&trace, FrameKind::Data)[0].end.0;
        (of_kind(&trace, FrameKind::Broadcast)[0].start.0 - data_end) / 1000
    };
    let powers = [both(0, 1, -60.0).to_vec(), vec![(0, 2, WEAK)]].concat();
    assert_eq!([false, true].map(|lower| start_of_broadcast(&powers, lower)), [50, 10 + 304 + 50]);
    // With much power it decodes both; the ACK at 11 Mbit/s takes 203 us.
    let powers = [both(0, 1, -60.0).to_vec(), vec![(0, 2, -60.0)]].concat();
    assert_eq!([false, true].map(|lower| start_of_broadcast(&powers, lower)), [10 + 203 + 50, 364]);
}

/// A NAV that an RTS has set ends when the CTS, which has the RTS's mode, and the header of the next frame should have come: 2 x 10 + 203 +
/// 192 + 2 x 20 us at 11 Mbit/s, 101 more at 1 Mbit/s. A DIFS later the bystander sends.
#[test]
fn a_nav_waits_for_the_cts_by_its_mode() {
    let start_of_broadcast = |law: Option<Mode>| {
        let mut radio = with_rts(per_rate());
        radio.mac.short_retry_limit = 1;
        let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
        let mut rig = Rig::new(&[radio], &stations, &[(0, 2, -60.0)], 1);
        if let Some(mode) = law {
            rig.air.set_rate_control(Box::new(Always(mode)));
        }
        rig.send(1_000_000, 0, 1, 1500);
        rig.broadcast(1_100_000, 2, 100);
        let trace = rig.run(100_000_000);
        (of_kind(&trace, FrameKind::Broadcast)[0].start.0 - of_kind(&trace, FrameKind::Rts)[0].end.0) / 1000
    };
    assert_eq!([None, Some(Mode::CCK11)].map(start_of_broadcast), [455 + 50; 2]);
    assert_eq!(start_of_broadcast(Some(Mode::DSSS1)), 556 + 50);
}

/// By error curves: at 2 dB above the noise hardly a bit is lost at 1 Mbit/s (it needs -3 dB), and no frame of 11 Mbit/s (6.4 dB) is good.
#[test]
fn errors_follow_the_mode() {
    for error_model in [ErrorModel::WorstSinr, ErrorModel::PerChunk] {
        let mut radio = per_rate();
        radio.phy.error_model = error_model;
        let (_, trace, _) = run_two(radio, &both(0, 1, WEAK), 11);
        let modes: Vec<_> = of_kind(&trace, FrameKind::Data).iter().map(|f| f.mode).collect();
        let (high, low) = (Mode::CCK11, Mode::DSSS1);
        assert_eq!(modes, times(&[(2, high), (10, low), (2, high), (1, low)]), "{error_model:?}");
        assert_eq!(losses(&trace, 1), vec![(FrameKind::Data, 0, Loss::Noise); 4], "{error_model:?}");
    }
}

/// Within a TXOP of 6016 us a second exchange at 11 Mbit/s fits (1523 us each) and follows a SIFS after the ACK; one at 1 Mbit/s does not.
#[test]
fn a_txop_goes_on_by_the_mode_of_its_next_packet() {
    #[derive(Debug)]
    struct Alternating(u32);
    impl RateControl for Alternating {
        fn mode(&mut self, pair: Pair, _: Attempt) -> Mode {
            self.0 += 1;
            if self.0 == 3 { Mode::DSSS1 } else { pair.nominal }
        }
        fn outcome(&mut self, _: Pair, _: Ending) {}
        fn usual(&self, pair: Pair) -> Mode {
            pair.nominal
        }
    }
    let table = edca_table(&[(2, 0, 0, 6016)], Countdown::Standard, TxopEnd::Silent);
    let mut radio = with_edca(per_rate(), table);
    radio.mac.mac_queue = 1;
    let mut rig = Rig::new(&[radio], &[("a", 0, 0.0), ("b", 0, 0.0)], &both(0, 1, -60.0), 1);
    rig.air.set_rate_control(Box::new(Alternating(0)));
    for _ in 0..4 {
        rig.send(1_000_000, 0, 1, 1500);
    }
    let trace = rig.run(100_000_000);
    let seen: Vec<_> = frames(&trace).iter().map(|f| (f.mode, f.start.0, f.end.0)).collect();
    let data: Vec<_> = of_kind(&trace, FrameKind::Data).iter().map(|f| f.mode).collect();
    assert_eq!(data, [Mode::CCK11, Mode::CCK11, Mode::DSSS1, Mode::CCK11]);
    let gap = |before: usize| (seen[before + 1].1 - seen[before].2) / 1000;
    assert_eq!([gap(1), gap(3)], [10, 50], "a SIFS within the TXOP, a DIFS after it");
}

/// The rates of links that an agent has heard: neighbour, Mbit/s, and the time of a packet of 1500 B in an exchange alone.
type Heard = Arc<Mutex<Vec<(NodeId, u64, Span)>>>;

/// An agent that notes the rates of links.
#[derive(Clone)]
struct Noting(Heard);

impl Agent for Noting {
    fn on_start(&mut self, setup: &AgentSetup<'_>, _: &mut AgentContext<'_>) {
        assert_eq!((setup.rate, setup.exchange.rate), (Rate::from_mbps(11), Rate::from_mbps(11)));
    }

    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, _: &mut AgentContext<'_>) {
        let mbps = exchange.rate.as_bps() / 1_000_000;
        self.0.lock().unwrap().push((neighbour, mbps, exchange.time(1500)));
    }
}

impl Scheme for Noting {
    fn agent(&self, _: &Interface) -> Option<Box<dyn Agent>> {
        Some(Box::new(self.clone()))
    }
}

/// Two nodes, a packet every 29 ms from the first to the second.
fn pair(radio: RadioSpec) -> WorldSpec {
    let mut spec = world(radio, 10);
    for (name, x) in [("0", 0.0), ("1", 10.0)] {
        node(&mut spec, name, x, 0.0);
    }
    let gain = Db(-75.0);
    spec.gains = [(0, 1), (1, 0)].map(|(from, to)| GainSpec { from, to, gain }).to_vec();
    let traffic = Traffic::ConstantRate { rate: Rate(400_000), packet: Bytes(1472), gap_jitter: 0.0 };
    flow(&mut spec, "f", 0, 1, traffic);
    spec
}

/// The agent hears of the nominal rate after the first attempt, of the lower one after two failures, of the nominal one after ten
/// successes: frames are lost at random. An exchange alone at 1 Mbit/s: DIFS 50, half of the window 310 (32 slots here), 192 + 8 x 1536,
/// SIFS 10, ACK 304.
#[test]
fn agents_hear_of_the_rates_of_links() {
    let mut radio = per_rate();
    (radio.mac.cw_min, radio.mac.cw_max) = (31, 1023);
    radio.phy.frame_loss = 0.15;
    let spec = pair(radio);
    let heard = Heard::default();
    let (law, _) = two_modes(Mode::DSSS1);
    let scheme = Box::new(Noting(heard.clone()));
    let mut world = World::with_rate_control(&spec, "noting", scheme, 1, Registry::built_in(), law).unwrap();
    drive::to_end(&mut world);
    let heard = heard.lock().unwrap();
    assert!(heard.len() >= 5, "{heard:?}");
    assert!(heard.iter().all(|(neighbour, ..)| *neighbour == id_of(1)), "{heard:?}");
    let slow = Span::from_micros(50 + 310 + 192 + 8 * 1536 + 10 + 304);
    for (at, &(_, mbps, time)) in heard.iter().enumerate() {
        let expected = if at % 2 == 0 { 11 } else { 1 };
        assert_eq!(mbps, expected, "{at}: {heard:?}");
        // Frames are whole microseconds long: 11 Mbit/s within one.
        let fast = Span::from_micros(50 + 310 + 1310 + 10 + 203);
        let expected = if at % 2 == 0 { fast } else { slow };
        assert!(time.0.abs_diff(expected.0) <= 1000, "{at}: {heard:?}");
    }
}

/// With the fixed rate no agent hears of rates.
#[test]
fn the_fixed_rate_is_not_told() {
    let heard = Heard::default();
    let spec = pair(no_back_off(by_matrix(dot11b(400.0, 550.0))));
    let mut world = World::new(&spec, "noting", Box::new(Noting(heard.clone())), 1).unwrap();
    drive::to_end(&mut world);
    assert_eq!(*heard.lock().unwrap(), []);
}

/// The view of each observer of a world: its optimum, the frames with their fates, captures, states, the explanation of a flow, and the
/// result.
fn seen_of(spec: &WorldSpec, law: Option<Mode>) -> Vec<String> {
    let scheme = (find("droptail").unwrap().build)(&Params::default()).unwrap();
    let schemes = Registry::built_in();
    let mut world = match law {
        None => World::with_schemes(spec, "droptail", scheme, 1, schemes),
        Some(mode) => World::with_rate_control(spec, "droptail", scheme, 1, schemes, Box::new(Always(mode))),
    }
    .unwrap();
    let mut seen = vec![
        format!("{:?}", world.optimum(spec, &OptimumSpec::default())),
        format!("{:?}", world.relations().collect::<Vec<_>>()),
    ];
    world.start_trace();
    world.observe_states(StatesSpec { node: None, from: Time::ZERO, until: Time::NEVER });
    let watch = everything(&world);
    world.capture(watch);
    if !spec.flows.is_empty() {
        world.explain(spec, FlowIx(0)).unwrap();
    }
    drive::to_end(&mut world);
    seen.push(format!("{:?}", world.take_states(1)));
    seen.push(format!("{:?}", world.take_captures(1)));
    seen.push(format!("{:?}", world.explanation()));
    seen.push(format!("{:?}", RunResult { radio_rates_bps: 0, warnings: Vec::new(), ..world.result() }));
    seen.extend(world.take_trace().iter().map(|line| format!("{line:?}")));
    seen
}

/// The nominal mode and another one for each standard.
fn nominal_and_other(standard: Standard) -> [Mode; 2] {
    match standard {
        Standard::Dot11b => [Mode::CCK11, Mode::DSSS2],
        Standard::Dot11a => [Mode::OFDM54, Mode::OFDM6],
        Standard::Dot11g => [Mode::OFDM54, Mode::CCK11],
    }
}

/// Another mode for each attempt, by a sequence that repeats nothing; all answers and endings.
#[derive(Debug)]
struct Restless {
    modes: [Mode; 2],
    asked: Arc<Mutex<Vec<Mode>>>,
    ended: Arc<Mutex<Vec<u32>>>,
}

impl RateControl for Restless {
    fn mode(&mut self, _: Pair, _: Attempt) -> Mode {
        let mut asked = self.asked.lock().unwrap();
        // A Weyl sequence.
        let high = (asked.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63;
        asked.push(self.modes[high as usize]);
        self.modes[high as usize]
    }

    fn outcome(&mut self, _: Pair, ending: Ending) {
        self.ended.lock().unwrap().push(ending.sent);
    }

    fn usual(&self, pair: Pair) -> Mode {
        pair.nominal
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each attempt has one answer: the RTS reserves the time of the data that follow in the mode in which they are sent, every data frame
    /// has an answer's mode, and the law learns of each ending once.
    #[test]
    fn an_attempt_keeps_its_mode(drawn in draw_any()) {
        let spec = build(&drawn, Time(150_000_000), Span::from_millis(200));
        let (asked, ended) = (Arc::default(), Arc::default());
        let modes = nominal_and_other(spec.radios[0].phy.standard);
        let law = Box::new(Restless { modes, asked: Arc::clone(&asked), ended: Arc::clone(&ended) });
        let scheme = (find("droptail").unwrap().build)(&Params::default()).unwrap();
        let mut world =
            World::with_rate_control(&spec, "droptail", scheme, 1, Registry::built_in(), law).unwrap();
        world.start_trace();
        drive::to_end(&mut world);
        let places: usize = world.air().stations().map(|at| world.air().category_counters(at).len().max(1)).sum();
        let trace = world.take_trace();
        conserved(world);
        let sent: Vec<FrameView> = frames(&trace);
        let (asked, ended) = (asked.lock().unwrap(), ended.lock().unwrap());
        // An attempt of each category may be under way at the end; one that never began ends with its packet in an internal collision.
        let collides = spec.radios[0].mac.edca.is_some();
        prop_assert!(ended.len() <= asked.len() && (collides || asked.len() <= ended.len() + places));
        let data: Vec<_> = sent.iter().filter(|frame| frame.kind == FrameKind::Data).collect();
        let counted = ended.iter().sum::<u32>() as usize;
        prop_assert!(counted <= data.len() && data.len() <= counted + places);
        for mode in modes {
            let answers = asked.iter().filter(|&&answer| answer == mode).count();
            let frames = data.iter().filter(|frame| frame.mode == mode).count();
            prop_assert!(frames <= answers, "{mode:?}");
        }
        // With TXOPs the RTS reserves their rest.
        if spec.radios[0].mac.edca.as_ref().is_some_and(|edca| edca.txop_end != TxopEnd::Silent) {
            return Ok(());
        }
        let threshold = spec.radios[0].mac.rts_threshold.get();
        let mut pending: BTreeMap<StationIx, FrameView> = BTreeMap::new();
        for &frame in &sent {
            match (frame.kind, pending.remove(&frame.sender)) {
                (FrameKind::Rts, _) => _ = pending.insert(frame.sender, frame),
                // A duration field ends at 32,767 us; small packets have no RTS, also after one that was lost.
                (FrameKind::Data, Some(rts)) if rts.nav_us < 32_767 && u64::from(frame.bytes) > threshold => {
                    let [first, second] = [rts, frame].map(|f| f.end.0 + 1000 * u64::from(f.nav_us));
                    // Signals travel to the neighbour and back in between, and durations are rounded up.
                    prop_assert!(second + 1000 >= first && second <= first + 1000 + 100_000, "{rts:?} {frame:?}");
                }
                _ => {}
            }
        }
    }

    /// A law that always chooses one mode makes the same run as a radio with this nominal rate, for every observer, and the same optimum:
    /// in worlds of every standard, profile and error model, with sensitivities by rate.
    #[test]
    fn a_constant_law_is_a_fixed_rate(drawn in draw_any(), per_rate in any::<bool>(), raise in any::<bool>()) {
        let mut spec = build(&drawn, Time(150_000_000), Span::from_millis(200));
        spec.arp.prefilled = true;
        let radio = &mut spec.radios[0];
        // The EIFS by the rate of responses is a constant of the radio, that of its nominal rate.
        if radio.mac.eifs == Eifs::ResponseRate {
            radio.mac.eifs = Eifs::LowestRate;
        }
        if per_rate && radio.phy.error_model == ErrorModel::Threshold {
            radio.phy.sensitivity = Sensitivity::PerRate;
            radio.phy.noise = Dbm(radio.phy.preamble_detect.0 - 5.0);
            radio.phy.lock_sinr = Db(0.0);
            radio.phy.capture = Db(3.0);
        }
        let mut modes = nominal_and_other(radio.phy.standard);
        if raise {
            modes.reverse();
        }
        let [nominal, chosen] = modes;
        radio.phy.data_rate = chosen.rate();
        let fixed = seen_of(&spec, None);
        spec.radios[0].phy.data_rate = nominal.rate();
        let by_law = seen_of(&spec, Some(chosen));
        let differing = fixed.iter().zip(&by_law).find(|(one, other)| one != other);
        prop_assert!(differing.is_none(), "{differing:?}");
        prop_assert_eq!(fixed.len(), by_law.len());
    }
}
