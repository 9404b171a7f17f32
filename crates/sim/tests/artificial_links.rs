//! Links that exist, or do not exist, by decree: the run says so before it starts. And worlds that are too large.

use crate::support::*;
use airfair_schemes::{Params, find};
use airfair_sim::World;
use airfair_sim::spec::*;
use airfair_units::{Bytes, Db, Dbm, Rate};

/// Two radios at noise of -94 dBm; each receives the other with `dbm`.
fn pair(dbm: f64, change: impl FnOnce(&mut RadioSpec)) -> WorldSpec {
    let mut radio = dot11b(100.0, 100.0);
    radio.propagation = Propagation::Matrix;
    radio.phy.noise = Dbm(-94.0);
    radio.phy.preamble_detect = Dbm(-90.0);
    radio.phy.energy_detect = Dbm(-90.0);
    radio.phy.cutoff = Dbm(-104.0);
    let tx = radio.phy.tx_power.0;
    change(&mut radio);
    let mut spec = world(radio, 1);
    node(&mut spec, "a", 0.0, 0.0);
    node(&mut spec, "b", 10.0, 0.0);
    for (from, to) in [(0, 1), (1, 0)] {
        spec.gains.push(GainSpec { from, to, gain: Db(dbm - tx) });
    }
    flow(&mut spec, "f", 0, 1, saturating(1000));
    spec
}

fn ofdm(radio: &mut RadioSpec, mbps: u64) {
    radio.phy.standard = Standard::Dot11g;
    radio.phy.data_rate = Rate::from_mbps(mbps);
}

fn warnings(spec: &WorldSpec) -> Vec<String> {
    make(spec, 1).result().warnings
}

/// 54 Mbit/s needs 21.9 dB over the noise, -72.1 dBm. With one range for all rates the frames are received all the same, with a warning;
/// with "per-rate" no such link exists. 11 Mbit/s needs 6.4 dB, and `capture` 10.
#[test]
fn a_rate_above_what_the_power_allows_causes_a_warning() {
    let far = pair(-80.0, |radio| ofdm(radio, 54));
    let warned = warnings(&far);
    assert_eq!(warned.len(), 1, "{warned:?}");
    let start = "54 Mbit/s from a to b arrives with -80.0 dBm and needs -72.1 dBm";
    assert!(warned[0].starts_with(start), "{warned:?}");
    assert!(run(&far, 1).flows[0].goodput_bps > 1e6);
    let by_rate = |dbm: f64| {
        pair(dbm, |radio| {
            ofdm(radio, 54);
            radio.phy.sensitivity = Sensitivity::PerRate;
        })
    };
    assert_eq!(warnings(&by_rate(-72.2)), ["flow f: no route from a to b"]);
    assert_eq!(warnings(&by_rate(-72.0)), [""; 0]);
    assert_eq!(warnings(&pair(-72.0, |radio| ofdm(radio, 54))), [""; 0]);
    assert_eq!(warnings(&pair(-83.9, |_| {})), [""; 0], "11 Mbit/s");
}

/// The rate of the sender decides, not that of the receiver: `slow` receives `fast` from -72.1 dBm on, `fast` receives `slow` (6 Mbit/s)
/// wherever the SINR is 10 dB.
#[test]
fn the_rate_of_the_sender_decides() {
    let mut spec = pair(-80.0, |radio| {
        ofdm(radio, 54);
        radio.phy.sensitivity = Sensitivity::PerRate;
    });
    let mut slow = spec.radios[0].clone();
    slow.name = "slow".to_string();
    slow.phy.data_rate = Rate::from_mbps(6);
    spec.radios.push(slow);
    spec.nodes[1].radios = vec![1];
    let world = make(&spec, 1);
    let receives: Vec<(u32, u32)> =
        world.relations().filter(|r| r.receives()).map(|r| (r.from.0, r.to.0)).collect();
    assert_eq!(receives, [(1, 0)]);
}

/// At 2 Mbit/s nine of ten frames of 1500 B arrive at 1.5 dB over the noise, -92.5 dBm: a threshold of -90 dBm hides the whole
/// curve. A link at -91 dBm is missing; at -89 dBm, or with the threshold at -98 dBm, nothing is.
#[test]
fn a_threshold_that_cuts_the_error_curve_causes_a_warning() {
    let lossy = |dbm: f64, detect: f64, lock: f64| {
        pair(dbm, |radio| {
            radio.phy.error_model = ErrorModel::PerChunk;
            radio.phy.data_rate = Rate::from_mbps(2);
            radio.phy.preamble_detect = Dbm(detect);
            radio.phy.energy_detect = Dbm(detect);
            radio.phy.lock_sinr = Db(lock);
        })
    };
    let warned = warnings(&lossy(-91.0, -90.0, 4.0));
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert_eq!(warned[0], "flow f: no route from a to b");
    assert!(warned[1].contains("detects nothing below -90.0 dBm (preamble_detect), where"), "{warned:?}");
    assert!(warned[1].ends_with("; with a lower preamble_detect and lock_sinr, they do"), "{warned:?}");
    assert!(warned[1].contains("100 % of frames of 1500 B at 2 Mbit/s still arrive: 2 links"), "{warned:?}");
    assert_eq!(warnings(&lossy(-89.0, -90.0, 4.0)), [""; 0]);
    assert_eq!(warnings(&lossy(-91.0, -98.0, -5.0)), [""; 0]);
    // The SINR alone: 94 - 4 = -90 dBm again.
    let warned = warnings(&lossy(-91.0, -98.0, 4.0));
    assert!(warned[1].contains("(lock_sinr, over the noise), where"), "{warned:?}");
    // A range of 100 m, two nodes at 110 m: whoever wrote `range` has not written preamble_detect.
    let mut radio = dot11b(100.0, 120.0);
    radio.phy.error_model = ErrorModel::PerChunk;
    let mut far = world(radio, 1);
    node(&mut far, "a", 0.0, 0.0);
    node(&mut far, "b", 110.0, 0.0);
    let warned = warnings(&far);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(
        warned[0].contains(" dBm (preamble_detect, or the `range` that sets it), where 100 % of"),
        "{warned:?}"
    );
    let remedy = ": 2 links that would carry some of their frames do not exist; with a longer `range` or none, or a lower \
                  preamble_detect and lock_sinr, they do";
    assert!(warned[0].ends_with(remedy), "{warned:?}");
    // 11 Mbit/s has lost everything at -90 dBm.
    let fast = pair(-88.0, |radio| radio.phy.error_model = ErrorModel::PerChunk);
    assert_eq!(warnings(&fast), [""; 0]);
}

/// n nodes in a square, 1 m apart: all hear each other.
fn crowd(side: usize, limit: u64) -> Result<World, String> {
    let mut spec = world(dot11b(250.0, 550.0), 1);
    for i in 0..side * side {
        node(&mut spec, &format!("n{i}"), (i % side) as f64, (i / side) as f64);
    }
    spec.memory_limit = Bytes(limit);
    World::new(&spec, "droptail", (find("droptail").unwrap().build)(&Params::default()).unwrap(), 1)
}

#[test]
fn a_world_that_needs_too_much_memory_is_refused() {
    // 900 x 899 pairs.
    assert!(crowd(30, 73_000_000).is_ok());
    let error = crowd(30, 72_000_000).err().unwrap();
    assert!(error.starts_with("900 radios hear each other in some 809100 pairs"), "{error}");
    assert!(error.contains("about 73 MB of memory; expected at most 72 MB (memory_limit)"), "{error}");
    let error = crowd(2, 100).err().unwrap();
    assert!(
        error.contains("some 12 pairs, which take about 1080 B of memory; expected at most 100 B"),
        "{error}"
    );
}
