//! RED against Floyd and Jacobson 1993: the average, the thresholds, the random draw and the gaps between drops.

use airfair_schemes::places::{Aqm, DropReason, MarkReason, Verdict};
use airfair_schemes::red::Red;
use airfair_schemes::{ParamValue, Params};
use airfair_units::{Span, Time};
use proptest::prelude::*;

use crate::{Host, aqm, flag, millis, number, packet, refusal, set, view};
use airfair_schemes::places::AqmEffects;

const EARLY_DROP: Verdict = Verdict::Drop(DropReason("red-early"));
const EARLY_MARK: Verdict = Verdict::Mark(MarkReason("red-early"));
const FORCED: Verdict = Verdict::Drop(DropReason("red-forced"));

fn red(values: &[(&str, ParamValue)]) -> Red {
    Red::from_params(&set(values)).unwrap()
}

/// RED whose average is the present queue: w = 1.
fn direct(values: &[(&str, ParamValue)]) -> Red {
    let mut all = values.to_vec();
    all.push(("weight", number(1.0)));
    red(&all)
}

fn arrive(red: &mut Red, host: &mut Host<AqmEffects>, queue: u32) -> Verdict {
    red.on_enqueue(&packet(0, 0, 1000, host.now), &view(queue, 0), &mut host.context())
}

fn depart(red: &mut Red, host: &mut Host<AqmEffects>, queue: u32) -> Verdict {
    red.on_dequeue(&packet(0, 0, 1000, host.now), &view(queue, 0), &mut host.context())
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

/// The next random draw of RED, in 0..1.
fn next_draw(host: &Host<AqmEffects>) -> f64 {
    f64::from(host.random.clone().next_u32()) / 4_294_967_296.0
}

/// w = 1/2: 4 and 4 packets make 2 and 3. w = 0.002: 100 packets make 0.2, then 0.998 x 0.2 + 0.2 = 0.3996.
#[test]
fn the_average_is_a_moving_one() {
    let (mut red_half, mut host) = (red(&[("weight", number(0.5))]), Host::new(1));
    for (queue, average) in [(4, 2.0), (4, 3.0), (1, 2.0), (6, 4.0)] {
        arrive(&mut red_half, &mut host, queue);
        near(red_half.average_packets(), average);
    }
    let mut slow = red(&[]);
    for average in [0.2, 0.3996] {
        arrive(&mut slow, &mut host, 100);
        near(slow.average_packets(), average);
    }
}

/// Packets of 10 ms, w = 1/2: 29 ms of idleness are two packets and reduce the average from 3 to 3/4; the 9 ms that remain and
/// 1 ms more are a third packet. Idle time counts once, from the departure that empties the queue.
#[test]
fn an_idle_queue_ages_the_average() {
    let mut red = red(&[("weight", number(0.5)), ("mean_packet_time", millis(10))]);
    let mut host = Host::new(1);
    arrive(&mut red, &mut host, 6);
    near(red.average_packets(), 3.0);
    let at = |host: &mut Host<AqmEffects>, ms: u64| host.now = Time(ms * 1_000_000);
    at(&mut host, 50);
    assert_eq!(depart(&mut red, &mut host, 2), Verdict::Pass, "one is left: not idle");
    arrive(&mut red, &mut host, 0);
    near(red.average_packets(), 3.0);
    at(&mut host, 100);
    assert_eq!(depart(&mut red, &mut host, 1), Verdict::Pass);
    for (ms, average) in [(129, 0.75), (129, 0.75), (130, 0.375), (139, 0.375)] {
        at(&mut host, ms);
        arrive(&mut red, &mut host, 0);
        near(red.average_packets(), average);
    }
    // A new idle period starts without the remainder of the old one.
    at(&mut host, 200);
    depart(&mut red, &mut host, 1);
    at(&mut host, 209);
    arrive(&mut red, &mut host, 0);
    near(red.average_packets(), 0.375);
}

/// 4 s are a thousand packets of the default 4 ms: 0.998^1000 = 0.135064522.
#[test]
fn ageing_uses_the_default_weight_and_time() {
    let (mut red, mut host) = (red(&[]), Host::new(1));
    for _ in 0..200 {
        arrive(&mut red, &mut host, 50);
    }
    let before = red.average_packets();
    depart(&mut red, &mut host, 1);
    host.now = Time::ZERO + Span::from_secs(4);
    arrive(&mut red, &mut host, 0);
    assert!((red.average_packets() / before - 0.135_064_522).abs() < 1e-6);
    host.now = Time(u64::MAX);
    arrive(&mut red, &mut host, 0);
    near(red.average_packets(), 0.0);
}

/// Below min_th no packet is dropped, from max_th on every packet; at min_th the probability is 0.
#[test]
fn thresholds() {
    for seed in 0..300 {
        let (mut red, mut host) = (direct(&[]), Host::new(seed));
        for queue in [0, 1, 4, 5] {
            for _ in 0..10 {
                assert_eq!(arrive(&mut red, &mut host, queue), Verdict::Pass);
            }
        }
        assert_ne!(arrive(&mut red, &mut host, 14), FORCED);
        assert_eq!(arrive(&mut red, &mut host, 15), FORCED);
        assert_eq!(arrive(&mut red, &mut host, 1000), FORCED);
    }
}

/// max_p = 1/8 half-way: p_b = 1/16. After n arrivals since a drop p_a = 1/(16 - n): checked by the value of the draw.
/// `count` starts at -1, is 0 after an early and after a forced drop, and is -1 again below min_th.
#[test]
fn the_draw_is_compared_with_p_a() {
    for seed in 0..100 {
        let (mut red, mut host) = (direct(&[("max_p", number(0.125))]), Host::new(seed));
        let mut count = -1.0;
        for i in 0..200 {
            if i % 37 == 36 {
                assert_eq!(arrive(&mut red, &mut host, 15), FORCED);
                count = 0.0;
            }
            if i % 61 == 60 {
                assert_eq!(arrive(&mut red, &mut host, 4), Verdict::Pass);
                count = -1.0;
            }
            count += 1.0;
            let expected = next_draw(&host) < 1.0 / (16.0 - count);
            let verdict = arrive(&mut red, &mut host, 10);
            assert_eq!(verdict, if expected { EARLY_DROP } else { Verdict::Pass }, "count {count}");
            if expected {
                count = 0.0;
            }
        }
    }
}

/// An arrival at min_th itself counts, though its probability is 0: after three of them p_a is 1/(16 - 3).
#[test]
fn min_th_belongs_to_the_draw() {
    for seed in 0..500 {
        let (mut red, mut host) = (direct(&[("max_p", number(0.125))]), Host::new(seed));
        assert!((0..3).all(|_| arrive(&mut red, &mut host, 5) == Verdict::Pass));
        let expected = next_draw(&host) < 1.0 / 13.0;
        assert_eq!(arrive(&mut red, &mut host, 10) == EARLY_DROP, expected);
    }
}

/// Gaps between early drops at a constant average: a queue of 10 packets.
fn gaps(red: &mut Red, arrivals: u32) -> Vec<u32> {
    let mut host = Host::new(11);
    let (mut gaps, mut last) = (vec![], None);
    for i in 0..arrivals {
        if arrive(red, &mut host, 10) == EARLY_DROP {
            gaps.extend(last.map(|l| i - l));
            last = Some(i);
        }
    }
    gaps
}

/// Pearson's statistic of a uniform distribution on `from..=to`; every value must lie there.
fn chi_square(values: &[u32], from: u32, to: u32) -> f64 {
    let mut cells = vec![0.0; (to - from + 1) as usize];
    for &v in values {
        assert!((from..=to).contains(&v), "{v} is outside {from}..={to}");
        cells[(v - from) as usize] += 1.0;
    }
    let expected = values.len() as f64 / cells.len() as f64;
    cells.iter().map(|c: &f64| (c - expected) * (c - expected) / expected).sum()
}

/// Section VI: gaps are uniform, so that drops are neither clustered nor far apart. With p_b = 1/16 the first gap is
/// uniform on 1..16 (15 degrees of freedom: 37.7 in one of a thousand cases), the others on 1..15 (14: 36.1).
#[test]
fn gaps_are_uniform() {
    let gaps = gaps(&mut direct(&[("max_p", number(0.125))]), 200_000);
    assert!(chi_square(&gaps, 1, 15) < 36.1);
    let first: Vec<u32> = (0..16_000)
        .map(|seed| {
            let (mut red, mut host) = (direct(&[("max_p", number(0.125))]), Host::new(seed));
            1 + (0..99).take_while(|_| arrive(&mut red, &mut host, 10) == Verdict::Pass).count() as u32
        })
        .collect();
    assert!(chi_square(&first, 1, 16) < 37.7);
}

/// The long-run rate of drops is 2 p_b: gaps of mean 10 and standard deviation 5.5 for p_b = 1/20.
#[test]
fn the_long_run_rate_is_twice_p_b() {
    let gaps = gaps(&mut direct(&[]), 400_000);
    let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
    assert!((mean - 10.0).abs() < 4.0 * 5.48 / (gaps.len() as f64).sqrt(), "mean gap {mean}");
}

/// With `wait` the gaps are uniform on 16..31, and a drop is certain when `count` reaches 2/p_b.
#[test]
fn wait_spaces_drops_wider() {
    let mut red = direct(&[("max_p", number(0.125)), ("wait", flag(true))]);
    let gaps = gaps(&mut red, 200_000);
    assert!(chi_square(&gaps, 16, 31) < 37.7);
    // After 15 packets have passed at the first average, the next one is the first that may be dropped; below min_th the count restarts.
    let mut host = Host::new(3);
    arrive(&mut red, &mut host, 15);
    for _ in 0..15 {
        assert_eq!(arrive(&mut red, &mut host, 10), Verdict::Pass);
    }
    assert_eq!(arrive(&mut red, &mut host, 4), Verdict::Pass);
    assert!((0..16).all(|_| arrive(&mut red, &mut host, 10) == Verdict::Pass));
    // If the average rises meanwhile, count p_b may exceed 2: then the drop is certain.
    let mut red = direct(&[("wait", flag(true))]);
    for _ in 0..25 {
        assert_eq!(arrive(&mut red, &mut host, 6), Verdict::Pass, "1/p_b is 100");
    }
    assert_eq!(arrive(&mut red, &mut host, 14), EARLY_DROP, "25 x 0.09 > 2");
}

/// Without `wait`: if `count p_b` exceeds 1 because the average has risen, the packet is dropped.
#[test]
fn beyond_the_pole_the_packet_is_dropped() {
    for seed in 0..20 {
        let (mut red, mut host) = (direct(&[]), Host::new(seed));
        // Until 12 packets in a row have passed at p_b = 0.01.
        let mut passed = 0;
        for _ in 0..1000 {
            passed = match arrive(&mut red, &mut host, 6) {
                Verdict::Pass => passed + 1,
                _ => 0,
            };
            if passed == 12 {
                break;
            }
        }
        assert_eq!(passed, 12);
        assert_eq!(arrive(&mut red, &mut host, 14), EARLY_DROP, "12 x 0.09 > 1");
    }
}

/// Gentle: p_b is 0.1 at 15, 0.1 + 0.9/3 = 0.4 at 20, 0.1 + 0.9 x 14/15 = 0.94 at 29, and 30 is forced.
#[test]
fn gentle_rises_to_one_at_twice_max_th() {
    let rates = [(14, 0.09), (15, 0.1), (20, 0.4), (29, 0.94)];
    for (queue, p_b) in rates {
        for seed in 0..2000 {
            let (mut red, mut host) =
                (direct(&[("gentle", flag(true)), ("ecn", flag(true))]), Host::new(seed));
            let dropped = next_draw(&host) < p_b;
            let action = if queue < 15 { EARLY_MARK } else { EARLY_DROP };
            let expected = if dropped { action } else { Verdict::Pass };
            assert_eq!(arrive(&mut red, &mut host, queue), expected, "queue {queue}");
        }
    }
    let (mut red, mut host) = (direct(&[("gentle", flag(true))]), Host::new(1));
    assert_eq!(arrive(&mut red, &mut host, 30), FORCED);
    let (mut harsh, mut host) = (direct(&[]), Host::new(1));
    assert_eq!(arrive(&mut harsh, &mut host, 15), FORCED);
}

/// RFC 3168 section 7: marks instead of early drops, never instead of forced ones.
#[test]
fn ecn_marks_below_max_th() {
    let (mut red, mut host) = (direct(&[("ecn", flag(true)), ("max_p", number(1.0))]), Host::new(1));
    let verdicts: Vec<_> = (0..50).map(|_| arrive(&mut red, &mut host, 14)).collect();
    assert!(verdicts.contains(&EARLY_MARK));
    assert!(verdicts.iter().all(|v| matches!(v, &EARLY_MARK | Verdict::Pass)));
    assert_eq!(arrive(&mut red, &mut host, 15), FORCED);
}

/// A max_p of 0 causes no early drops; with a max_p of 1 a drop just below max_th is certain.
#[test]
fn the_ends_of_max_p() {
    let (mut never, mut host) = (direct(&[("max_p", number(0.0))]), Host::new(1));
    assert!((0..1000).all(|_| arrive(&mut never, &mut host, 14) == Verdict::Pass));
    let values = [("max_p", number(1.0)), ("min_th", number(0.0)), ("max_th", number(1e-9 + 10.0))];
    let (mut always, mut host) = (direct(&values), Host::new(1));
    assert!((0..1000).all(|_| arrive(&mut always, &mut host, 10) == EARLY_DROP));
}

#[test]
fn impossible_parameters_are_refused() {
    let thresholds = [("min_th", number(15.0)), ("max_th", number(15.0))];
    let problem = "is not below max_th".to_string();
    assert_eq!(refusal("red", &thresholds), Some(("min_th", problem.clone())));
    assert_eq!(refusal("red", &[("min_th", number(20.0))]), Some(("min_th", problem)));
    let outside = [
        ("max_p", number(1.01)),
        ("max_p", number(-0.1)),
        ("max_p", number(f64::NAN)),
        ("weight", number(0.0)),
        ("weight", number(1.5)),
        ("min_th", number(-1.0)),
        ("max_th", number(f64::INFINITY)),
        ("mean_packet_time", millis(0)),
        ("mean_packet_time", millis(10_001)),
    ];
    for value in outside {
        assert_eq!(refusal("red", &[value]).map(|r| r.0), Some(value.0), "{value:?}");
    }
    assert_eq!(refusal("red", &[("max_p", number(0.0)), ("weight", number(1.0))]), None);
}

proptest! {
    /// For any arrivals and departures: the average is at most the longest queue seen, and every verdict has its name.
    #[test]
    fn the_average_stays_within_what_was_seen(
        events in proptest::collection::vec((0u32..60, any::<bool>(), 0u64..50_000_000), 1..300),
        gentle in any::<bool>(),
        wait in any::<bool>(),
        weight in 1e-6f64..=1.0,
        seed in any::<u64>(),
    ) {
        let values = [("gentle", flag(gentle)), ("wait", flag(wait)), ("weight", number(weight))];
        let mut red = Red::from_params(&set(&values)).unwrap();
        let mut host = Host::new(seed);
        let mut longest = 0;
        for (queue, arrival, later) in events {
            host.now = Time(host.now.0 + later);
            if arrival {
                longest = longest.max(queue);
                let verdict = arrive(&mut red, &mut host, queue);
                prop_assert!(matches!(verdict, Verdict::Pass | EARLY_DROP | FORCED));
                let limit = if gentle { 30.0 } else { 15.0 };
                prop_assert_eq!(verdict == FORCED, red.average_packets() >= limit);
            } else {
                prop_assert_eq!(depart(&mut red, &mut host, queue), Verdict::Pass);
            }
            prop_assert!((0.0..=f64::from(longest)).contains(&red.average_packets()));
        }
    }
}

/// The longest queue, the latest time and the largest packet cause no overflow.
#[test]
fn extremes() {
    let (mut red, mut host) = (aqm("red", &Params::default()), Host::new(1));
    host.now = Time::NEVER;
    let p = packet(u32::MAX, u32::MAX, u32::MAX, Time::NEVER);
    for _ in 0..100_000 {
        red.on_enqueue(&p, &view(u32::MAX, u64::MAX), &mut host.context());
    }
    assert_eq!(red.on_enqueue(&p, &view(u32::MAX, u64::MAX), &mut host.context()), FORCED);
    assert_eq!(red.on_dequeue(&p, &view(0, 0), &mut host.context()), Verdict::Pass);
}
