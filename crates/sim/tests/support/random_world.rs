//! Worlds drawn at random, small enough to run by the dozen.

use airfair_sim::spec::*;
use airfair_units::{Bytes, Db, Dbm, Rate, Span, Time};
use proptest::prelude::*;

use super::*;

/// One choice of the rules that simulators read differently.
pub const PROFILES: [&str; 14] = [
    "standard",
    "rts",
    "ns-2",
    "saturation",
    "worst-sinr",
    "per-chunk",
    "dot11a",
    "dot11g",
    "far",
    "edca",
    "edca-rts",
    "levels",
    "fading",
    "gains",
];

/// Number of the profiles whose powers rest while nodes do: the first of `PROFILES`.
const STEADY: usize = 12;

/// Metres for each metre drawn: in a large world signals take up to 90 us, and slots allow for half of that.
pub fn scale(name: &str) -> f64 {
    if name == "far" { 40.0 } else { 1.0 }
}

/// Four categories with TXOPs; DSCPs 0, 8, 34 and 46 belong to them in the order 1, 0, 2, 3.
pub fn edca(countdown: Countdown, txop_end: TxopEnd) -> EdcaSpec {
    let rows = [(7, 31, 1023, 0), (3, 31, 1023, 0), (2, 15, 31, 6016), (2, 7, 15, 3264)];
    EdcaSpec {
        qos_header: true,
        category_of_dscp: std::array::from_fn(|dscp| match dscp {
            8 => 0,
            34 => 2,
            46 | 48 => 3,
            _ => 1,
        }),
        tids: [1, 0, 5, 6, 0, 0, 0, 0],
        ..edca_table(&rows, countdown, txop_end)
    }
}

/// Eight categories, of which DSCPs name each.
fn levels() -> EdcaSpec {
    let mut spec = edca(Countdown::Standard, TxopEnd::Silent);
    spec.categories = (0..8)
        .map(|i| CategorySpec {
            name: i.to_string(),
            aifsn: [7, 6, 6, 6, 3, 3, 3, 2][i],
            cw_min: [31, 31, 31, 31, 15, 7, 3, 1][i],
            cw_max: [1023, 511, 255, 127, 31, 15, 7, 7][i],
            txop: Span::ZERO,
        })
        .collect();
    spec.category_of_dscp = std::array::from_fn(|dscp| (dscp % 8) as u8);
    spec
}

/// A radio with the rules of a profile.
pub fn profile(name: &str) -> RadioSpec {
    let mut radio = dot11b(250.0, 550.0);
    match name {
        "rts" => {
            radio.mac.rts_threshold = Bytes(0);
            radio.phy.relock = Some(Db(10.0));
            radio.phy.interference = Interference::Strongest;
        }
        "ns-2" => {
            radio.phy.lock_on = LockOn::Energy;
            radio.phy.preamble_detection = Span::ZERO;
            radio.phy.interference = Interference::Strongest;
            radio.mac.eifs_on_energy = true;
            radio.mac.eifs_as_nav = true;
            radio.mac.nav_reset = false;
            radio.mac.cts_needs_idle_carrier = true;
            radio.mac.sensing_delay = Span::ZERO;
            radio.mac.immediate_access = false;
            radio.mac.response_timeout = ResponseTimeout::WholeResponse;
            radio.mac.rts_threshold = Bytes(0);
            radio.mac.backpressure = false;
        }
        "saturation" => {
            radio.mac.eifs = Eifs::ResponseRate;
            radio.mac.after_timeout = AfterTimeout::Immediate;
            radio.mac.cts_needs_idle_nav = false;
            radio.mac.mac_queue = 4;
        }
        "worst-sinr" | "per-chunk" => {
            radio.phy.noise = Dbm(-88.0);
            radio.phy.error_model =
                if name == "per-chunk" { ErrorModel::PerChunk } else { ErrorModel::WorstSinr };
            radio.propagation = Propagation::LogDistance {
                exponent: 2.4,
                reference_m: 1.0,
                reference_loss: Db(40.0),
                shadowing: Db(6.0),
                shadowing_seed: 1,
            };
            radio.phy.preamble_detect = Dbm(-90.0);
            radio.phy.energy_detect = Dbm(-90.0);
            radio.phy.cutoff = Dbm(-100.0);
        }
        "dot11a" => {
            radio = dot11a(54, 250.0, 550.0);
            radio.mac.coverage_class = 1;
            radio.mac.eifs = Eifs::Off;
        }
        "dot11g" => {
            radio.phy.standard = Standard::Dot11g;
            radio.phy.data_rate = Rate::from_mbps(24);
            radio.phy.basic_rates = [1, 2, 6, 12, 24].map(Rate::from_mbps).to_vec();
            radio.phy.protection = Protection::CtsToSelf;
            radio.phy.preamble = Preamble::Short;
            radio.phy.short_slot = true;
            radio.phy.relock = Some(Db(6.0));
            radio.packet_loss = 0.05;
        }
        "edca" => {
            radio = dot11a(54, 250.0, 550.0);
            radio.mac.edca = Some(edca(Countdown::Standard, TxopEnd::CfEnd));
        }
        "edca-rts" => {
            radio.mac.rts_threshold = Bytes(500);
            radio.mac.immediate_access = false;
            radio.mac.mac_queue = 3;
            radio.mac.edca = Some(edca(Countdown::Dcf, TxopEnd::Silent));
        }
        "levels" => radio.mac.edca = Some(levels()),
        "fading" => {
            // Most frames are on the air when a block ends.
            radio.fading = Some(FadingSpec { law: FadingLaw::Rayleigh, coherence: Span::from_micros(300) });
            radio.phy.relock = Some(Db(6.0));
        }
        "gains" => radio.propagation = Propagation::Matrix,
        "far" => {
            radio = dot11b(250.0 * scale(name), 550.0 * scale(name));
            radio.phy.noise = Dbm(-200.0);
            radio.mac.coverage_class = 31;
            radio.mac.rts_threshold = Bytes(500);
            radio.phy.relock = Some(Db(10.0));
        }
        _ => {}
    }
    radio.queue.packets = 10;
    radio
}

/// A draw: profile, positions, flows (from, to, kind, bytes), links, ARP known.
pub type Draw = (usize, Vec<(u16, u16)>, Vec<(usize, usize, u8, u16)>, Vec<(usize, usize)>, bool);

pub fn draw() -> impl Strategy<Value = Draw> {
    draw_of(STEADY)
}

/// Draws with powers that vary while nodes rest, too.
pub fn draw_any() -> impl Strategy<Value = Draw> {
    draw_of(PROFILES.len())
}

fn draw_of(profiles: usize) -> impl Strategy<Value = Draw> {
    let position = (0u16..600, 0u16..350);
    let flow = (0usize..12, 0usize..12, 0u8..4, 1u16..2200);
    let link = (0usize..12, 0usize..12);
    (
        0..profiles,
        proptest::collection::vec(position, 3..13),
        proptest::collection::vec(flow, 3..10),
        proptest::collection::vec(link, 0..3),
        any::<bool>(),
    )
}

/// The world of a draw. Flows stop at `stop`.
pub fn build(drawn: &Draw, stop: Time, duration: Span) -> WorldSpec {
    let (profile_number, positions, flows, links, prefilled) = drawn;
    let mut spec = world(profile(PROFILES[*profile_number]), 1);
    spec.duration = duration;
    spec.arp.prefilled = *prefilled;
    spec.arp.retry = Span::from_millis(50);
    for (i, &(x, y)) in positions.iter().enumerate() {
        let scale = scale(PROFILES[*profile_number]);
        node(&mut spec, &format!("n{i}"), scale * f64::from(x), scale * f64::from(y));
    }
    if PROFILES[*profile_number] == "gains" {
        measure_gains(&mut spec);
    }
    let n = positions.len();
    for &(a, b) in links.iter().filter(|l| l.0 % n != l.1 % n) {
        spec.links.push(LinkSpec {
            ends: [a % n, b % n],
            rate: Rate::from_mbps(2),
            // Every other one's rate changes while packets are on it.
            rate_changes: (1..=3 * (a % 2) as u64)
                .map(|i| RateChange { at: Time(i * 70_000_000), rate: Rate::from_mbps(i) })
                .collect(),
            delay: Span::from_micros(700),
            loss: 0.1,
            loss_every: 7,
            queue: QueueSpec { packets: 5 },
            local_limit: Some(Span::from_millis(1)).filter(|_| b % 2 == 0),
        });
    }
    for (i, &(from, to, kind, bytes)) in flows.iter().enumerate().filter(|(_, f)| f.0 % n != f.1 % n) {
        let (packet, rate) = (Bytes(u64::from(bytes)), Rate(u64::from(bytes) * 4000));
        let traffic = match kind {
            0 => Traffic::Saturating { packet },
            1 => Traffic::ConstantRate { rate, packet, gap_jitter: 0.0 },
            2 => Traffic::ConstantRate { rate, packet, gap_jitter: 1.0 },
            _ => Traffic::Poisson { rate, packet, exponential_sizes: true },
        };
        flow(&mut spec, &format!("f{i}"), from % n, to % n, traffic);
        let last = spec.flows.last_mut().unwrap();
        last.stop = stop;
        last.dscp = [0, 8, 34, 46, 1, 2, 3, 4, 5, 6][i % 10];
        last.start_jitter = Span::from_millis(5);
    }
    spec
}

/// Gains of two-ray ground between all nodes, as measured ones that change again and again: of some pairs both directions, of some one.
pub fn measure_gains(spec: &mut WorldSpec) {
    let ms = Span::from_millis;
    for from in 0..spec.nodes.len() {
        for to in (0..spec.nodes.len()).filter(|&to| to != from) {
            let [dx, dy] = [0, 1].map(|axis| spec.nodes[from].position[axis] - spec.nodes[to].position[axis]);
            let gain = gain_at(&two_ray(), (dx * dx + dy * dy).sqrt().max(1.0));
            spec.gains.push(GainSpec { from, to, gain });
            let change = match (from + to, from > to) {
                (sum, _) if sum % 3 == 0 => -60.0,
                (sum, true) if sum % 3 == 1 => -8.0,
                _ => continue,
            };
            for (at, gain) in [(17, Db(gain.0 + change)), (31, gain)] {
                spec.gain_changes.push(GainChangeSpec {
                    from,
                    to,
                    at: Time::ZERO + ms(at),
                    gain,
                    every: Some(ms(29)),
                });
            }
        }
    }
}
