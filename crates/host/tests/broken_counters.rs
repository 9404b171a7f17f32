//! Counters that lie: whatever a driver says, every value of an agent stays in its range.

use airfair_host::{AgentSlot, InterfaceCounters};
use airfair_schemes::places::{
    AgentEffects, AgentSetup, Airtime, Interface, LinkUse, LoneExchange, NodeId, NodeSample, Probability,
    QueueView, Setting,
};
use airfair_schemes::{Params, find};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};

/// Samples of a series.
const SAMPLES: u64 = 8;
/// Length of an interval, ns.
const INTERVAL: u64 = 10_000_000;
const RATE: Rate = Rate::from_mbps(11);

/// The agent of a scheme at the radio of an access point.
fn agent(name: &str) -> AgentSlot {
    let scheme = (find(name).unwrap().build)(&Params::default()).unwrap();
    let at = Interface { access_point: true, ..Interface::radio(50) };
    let random = Stream::new(1, name, Purpose::Agent);
    let mut slot = AgentSlot::new(scheme.agent(&at).unwrap(), Span(INTERVAL), 2, random, 0);
    let setup = AgentSetup {
        node: NodeId(1),
        rate: RATE,
        exchange: LoneExchange { rate: RATE, ..LoneExchange::default() },
        neighbours: &[NodeId(2), NodeId(3)],
        sense_margin: None,
    };
    slot.on_start(&setup, Time::ZERO, &mut AgentEffects::default(), &mut Vec::new());
    slot
}

/// Right counters of a radio whose use changes from interval to interval.
fn advance(counters: &mut InterfaceCounters, random: &mut Stream) {
    let mut left = INTERVAL;
    let mut part = |random: &mut Stream| {
        let part = u64::from(random.next_u32()) % (left + 1);
        left -= part;
        part
    };
    let Airtime { transmit, receive, busy, nav, idle } = counters.airtime.get_or_insert_default();
    for state in [transmit, &mut *receive, busy, nav] {
        state.0 += part(random);
    }
    idle.0 += left;
    counters.at.0 += INTERVAL;
    counters.receive_own = Span(receive.0 / 2);
    counters.retries += u64::from(random.next_u32() % 30);
    counters.traffic += u64::from(random.next_u32() % 30);
    let packets = u64::from(random.next_u32() % 5);
    counters.link.sent_packets += packets;
    counters.link.sent_bytes += packets * 1500;
    counters.link.received_packets += packets;
    counters.link.received_bytes += packets * 1500;
    counters.link.delay.0 += packets * 3_000_000;
    counters.link.access.0 += packets * 1_000_000;
}

/// The counters as a driver says them: a counter or all of them step back, stand still, wrap at 32 bits, jump, or are anything, or the
/// times of the radio's states are missing.
fn broken(
    counters: &InterfaceCounters,
    before: &InterfaceCounters,
    random: &mut Stream,
) -> InterfaceCounters {
    let mut said = *counters;
    let LinkUse { sent_packets, sent_bytes, received_packets, received_bytes, delay, access } =
        &mut said.link;
    let Airtime { transmit, receive, busy, nav, idle } = said.airtime.get_or_insert_default();
    let fields = [
        &mut transmit.0,
        &mut receive.0,
        &mut busy.0,
        &mut nav.0,
        &mut idle.0,
        &mut said.receive_own.0,
        &mut said.retries,
        &mut said.traffic,
        sent_packets,
        sent_bytes,
        received_packets,
        received_bytes,
        &mut delay.0,
        &mut access.0,
        &mut said.at.0,
    ];
    let chosen = random.next_u32() as usize % fields.len();
    let (kind, size) = (random.next_u32() % 8, random.next_u32() % 64);
    for (at, field) in fields.into_iter().enumerate() {
        if at != chosen && !random.next_u32().is_multiple_of(8) {
            continue;
        }
        *field = match kind {
            0 => field.saturating_sub(1 << size),
            1 => *field & 0xffff_ffff,
            2 => field.wrapping_add(1 << size),
            3 => u64::from(random.next_u32()) << (size % 32),
            4 => 0,
            5 => u64::MAX,
            _ => *field,
        };
    }
    if kind == 7 {
        said.airtime = None;
    }
    if kind == 6 { InterfaceCounters { at: counters.at, ..*before } } else { said }
}

/// The largest value of a gauge, by its meaning in the scheme; the least is 0.
fn most(name: &str, latest: Time) -> f64 {
    match name {
        // The index of a saturated channel, W/C: 2 Mbit/s in packets of 1030 B.
        "avg" | "avg_tx" | "avg_rx" => 2e6 / (8.0 * 1030.0) * (1.0 + 1e-12),
        // Probabilities and parts; rho_0 ends at 1.
        "p_b" | "normalized_p_b" | "probability" | "rho0" | "foreign" => 1.0,
        // Twice the rate in each direction, 54 Mbit/s of neighbours, and 64 KiB in an interval of at least an eighth of its length.
        "rho" => 2.0 + 2.0 * 54.0 / 11.0 + 2.0 * 8.0 * 65_536.0 / (11e6 * 0.01 / 8.0),
        // A packet cannot wait for longer than the counters exist; times may be anything here.
        "delay_s" => latest.as_nanos() as f64 / 1e9,
        other => panic!("a gauge without a range: {other}"),
    }
}

fn drive(name: &str, series: u64) {
    let mut random = Stream::new(7, name, Purpose::Agent);
    let (mut effects, mut firings) = (AgentEffects::default(), Vec::new());
    let (mut bad, mut good) = (0, 0);
    let mut slot = agent(name);
    let mut latest = Time::ZERO;
    for number in 0..series {
        if number % 16 == 0 {
            bad += slot.bad_samples();
            slot = agent(name);
            latest = Time::ZERO;
        }
        let mut counters = InterfaceCounters::default();
        let mut last = counters;
        slot.count_from(counters);
        for _ in 0..SAMPLES {
            advance(&mut counters, &mut random);
            let lies = random.next_u32().is_multiple_of(2);
            let said = if lies { broken(&counters, &last, &mut random) } else { counters };
            if let Some(difference) = slot.difference(said) {
                latest = latest.max(said.at);
                let queue = QueueView { packets: 1, bytes: 1500, limit_packets: 50 };
                let sample = NodeSample { queue, ..difference };
                slot.on_sample(&sample, said.at, &mut effects, &mut firings);
            }
            last = said;
            good += 1;
            for (gauge, value) in slot.gauges() {
                let none_yet = gauge == "delay_s" && value.is_nan();
                assert!(
                    none_yet || (0.0..=most(gauge, latest)).contains(&value),
                    "{name}: {gauge} is {value}"
                );
            }
            for setting in effects.settings.drain(..) {
                let Setting::Probability(_, p) = setting else { continue };
                assert!(p <= Probability::ONE);
            }
            effects.messages.clear();
            firings.clear();
        }
    }
    bad += slot.bad_samples();
    assert!(bad > good / 5 && good - bad > good / 5, "{name}: {bad} of {good} samples were skipped");
}

#[test]
fn broken_counters_move_no_value_out_of_its_range() {
    ["nred", "lbm"].iter().for_each(|name| drive(name, 100_000));
}

/// The same for a million series in all.
#[test]
#[ignore = "ten seconds"]
fn a_million_broken_series() {
    ["nred", "lbm"].iter().for_each(|name| drive(name, 500_000));
}
