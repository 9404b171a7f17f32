//! Immediate access, back-off, post-back-off.

use airfair_sim::spec::RadioSpec;

use crate::support::rig::*;
use crate::support::*;

fn pair(radio: &RadioSpec, seed: u64) -> Rig {
    Rig::new(std::slice::from_ref(radio), &[("a", 0, 0.0), ("b", 0, 300.0)], &[], seed)
}

/// Number of slots of 20 us between two times, which must be an integer.
fn slots(from: u64, to: u64) -> u64 {
    assert!(to >= from && (to - from).is_multiple_of(20_000), "{from}..{to}");
    (to - from) / 20_000
}

/// Draws out of 0..=31: every one occurs, and the mean is 15.5. With n draws the mean's standard error is 9.23 / sqrt(n).
fn looks_uniform(draws: &[u64]) {
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<u64>() as f64 / n;
    assert!((mean - 15.5).abs() < 5.0 * 9.233 / n.sqrt(), "{mean}");
    assert_eq!((draws.iter().min(), draws.iter().max()), (Some(&0), Some(&31)));
}

#[test]
fn a_lone_packet_goes_at_once() {
    for seed in 0..20 {
        let mut rig = pair(&dot11b(400.0, 550.0), seed);
        rig.send(1_000_000, 0, 1, 1500);
        assert_eq!(starts(&rig.run(3_000_000), 0), [1_000_000]);
    }
}

/// The medium has become idle at 1000000 + 1280000 + 1001; 20 us later a packet comes. It waits for the rest of the DIFS
/// and draws nothing.
#[test]
fn a_packet_within_difs_waits_for_its_end_only() {
    for seed in 0..20 {
        let mut rig = pair(&dot11b(400.0, 550.0), seed);
        rig.broadcast(1_000_000, 1, 100);
        rig.send(2_301_001, 0, 1, 1500);
        assert_eq!(starts(&rig.run(4_000_000), 0), [2_331_001]);
    }
}

#[test]
fn a_packet_that_finds_the_medium_busy_backs_off() {
    let draws: Vec<u64> = (0..300)
        .map(|seed| {
            let mut rig = pair(&dot11b(400.0, 550.0), seed);
            rig.broadcast(1_000_000, 1, 100);
            rig.send(2_000_000, 0, 1, 1500);
            slots(2_331_001, starts(&rig.run(4_000_000), 0)[0])
        })
        .collect();
    looks_uniform(&draws);
}

/// Immediate access is lost when the medium becomes busy during the DIFS: a back-off follows. `b`'s frame ends at 2280000, `a` gets a
/// packet at 2290000 for 2330000, and at 2305000 a frame of `c` arrives, which hears no station; it ends at 3585000.
#[test]
fn immediate_access_is_lost_to_a_signal_within_difs() {
    let radio = by_matrix(dot11b(400.0, 550.0));
    let draws: Vec<u64> = (0..300)
        .map(|seed| {
            let stations = [("a", 0, 0.0), ("b", 0, 0.0), ("c", 0, 0.0)];
            let mut rig =
                Rig::new(std::slice::from_ref(&radio), &stations, &[(1, 0, -60.0), (2, 0, -60.0)], seed);
            rig.broadcast(1_000_000, 1, 100);
            rig.broadcast(2_290_000, 0, 100);
            rig.broadcast(2_305_000, 2, 100);
            slots(3_635_000, starts(&rig.run(6_000_000), 0)[0])
        })
        .collect();
    looks_uniform(&draws);
}

/// The first ACK ends at 2626002: DATA 1000000..2310000, + 1001 + 10000, ACK 2321001..2625001, + 1001.
fn second_packet(seed: u64, at: u64) -> u64 {
    let mut rig = pair(&dot11b(400.0, 550.0), seed);
    rig.send(1_000_000, 0, 1, 1500);
    rig.send(at, 0, 1, 1500);
    starts(&rig.run(5_000_000), 0)[1]
}

#[test]
fn the_next_packet_waits_a_post_back_off() {
    let draws: Vec<u64> = (0..300).map(|seed| slots(2_676_002, second_packet(seed, 1_000_000))).collect();
    looks_uniform(&draws);
}

/// A packet that comes while the post-back-off runs takes what is left of it; one that comes later goes at once.
#[test]
fn a_post_back_off_goes_on_without_a_packet() {
    for seed in 0..40 {
        let end = second_packet(seed, 1_000_000);
        let late = 2_730_000;
        assert_eq!(second_packet(seed, late), end.max(late), "seed {seed}");
        // 31 slots at most: 2676002 + 620000, and a nanosecond.
        assert_eq!(second_packet(seed, 3_296_003), 3_296_003);
    }
}

#[test]
fn without_immediate_access_there_is_always_a_back_off() {
    let mut radio = dot11b(400.0, 550.0);
    radio.mac.immediate_access = false;
    let draws: Vec<u64> = (0..300)
        .map(|seed| {
            let mut rig = pair(&radio, seed);
            rig.send(1_000_000, 0, 1, 1500);
            slots(1_000_000, starts(&rig.run(3_000_000), 0)[0])
        })
        .collect();
    looks_uniform(&draws);
}

/// `c` counts from 1000000 on. A frame arrives at 1065000 and is seen from 1080000 on: the boundaries at 1020000, 1040000
/// and 1060000 were idle. Three slots are spent; what is left counts from 1065000 + 1280000 + 50000.
#[test]
fn a_frozen_back_off_resumes() {
    let mut counting = by_matrix(dot11b(400.0, 550.0));
    counting.mac.immediate_access = false;
    let kinds = [no_back_off(by_matrix(dot11b(400.0, 550.0))), counting];
    let start = |seed, interrupted: u64| {
        let stations = [("a", 0, 0.0), ("c", 1, 0.0)];
        let mut rig = Rig::new(&kinds, &stations, &[(0, 1, -60.0)], seed);
        rig.broadcast(1_000_000, 1, 100);
        if interrupted >= 1 {
            rig.broadcast(1_065_000, 0, 100);
        }
        if interrupted >= 2 {
            rig.broadcast(2_436_000, 0, 100);
        }
        starts(&rig.run(8_000_000), 1)[0]
    };
    let mut tried = 0;
    for seed in 0..60 {
        let drawn = slots(1_000_000, start(seed, 0));
        if drawn < 4 {
            // It was sent before the frame was sensed.
            assert_eq!(start(seed, 1), 1_000_000 + 20_000 * drawn);
            continue;
        }
        assert_eq!(start(seed, 1), 2_395_000 + 20_000 * (drawn - 3), "seed {seed}");
        // Again, at 2436000: seen from 2451000, two boundaries later (2415000, 2435000).
        if drawn > 5 {
            tried += 1;
            assert_eq!(start(seed, 2), 3_766_000 + 20_000 * (drawn - 5), "seed {seed}");
        }
    }
    assert!(tried > 20);
}

/// Very long back-offs: 32767 slots of 785 us (coverage class 255) are 25.7 s, more nanoseconds than fit into 32 bits.
/// Counting from 2 ms; a frame comes at 20 s and is seen 15 us later: 19998015 / 785 = 25475.2 slots have passed.
#[test]
fn a_long_back_off_is_counted_right() {
    let mut counting = by_matrix(dot11b(400.0, 550.0));
    counting.mac.immediate_access = false;
    counting.mac.cw_min = 32_767;
    counting.mac.cw_max = 32_767;
    counting.mac.coverage_class = 255;
    let kinds = [no_back_off(by_matrix(dot11b(400.0, 550.0))), counting];
    let start = |seed, interrupted| {
        let stations = [("a", 0, 0.0), ("c", 1, 0.0)];
        let mut rig = Rig::new(&kinds, &stations, &[(0, 1, -60.0)], seed);
        rig.broadcast(2_000_000, 1, 100);
        if interrupted {
            rig.broadcast(20_000_000_000, 0, 100);
        }
        starts(&rig.run(30_000_000_000), 1)[0]
    };
    let mut tried = 0;
    for seed in 0..40 {
        let drawn = (start(seed, false) - 2_000_000) / 785_000;
        if drawn > 25_475 {
            tried += 1;
            // 20001280000 + DIFS of 10 + 2 x 785 us.
            assert_eq!(start(seed, true), 20_002_860_000 + 785_000 * (drawn - 25_475), "seed {seed}");
        }
    }
    assert!(tried > 2);
}
