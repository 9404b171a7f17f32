//! `[routing]` and `[olsr]`: defaults are those of RFC 3626 section 18, and keys that depend on others follow these.

use std::any::Any;

use airfair_routing::SendRate;
use airfair_routing::olsr::{Advertised, Hysteresis, Metric, OlsrConfig};
use airfair_scenario::{Scenario, read};
use airfair_sim::spec::RoutingSpec;
use airfair_units::Span;

fn scenario(olsr: &str) -> Scenario {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\n[radio]\n[nodes]\nkind = \"chain\"\ncount = 3\nspacing = \"100 m\"\n\
         [flows]\nkind = \"random\"\ncount = 1\ntraffic = {{ kind = \"saturating\" }}\n\
         [routing]\nprotocol = \"olsr\"\n[olsr]\n{olsr}"
    );
    read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn olsr(keys: &str) -> OlsrConfig {
    match scenario(keys).spec.routing {
        RoutingSpec::Found(protocol) => *(&*protocol as &dyn Any).downcast_ref().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_the_rfcs() {
    let protocol = olsr("");
    assert_eq!(protocol, OlsrConfig::default());
    let ms = Span::from_millis;
    assert_eq!((protocol.hello_interval, protocol.tc_interval), (ms(2000), ms(5000)));
    assert_eq!((protocol.neighbour_hold, protocol.topology_hold), (ms(6000), ms(15_000)));
    assert_eq!((protocol.duplicate_hold, protocol.max_jitter), (ms(30_000), ms(500)));
    assert_eq!((protocol.willingness, protocol.mpr_coverage), (3, 1));
    assert_eq!((protocol.advertised, protocol.metric), (Advertised::Selectors, Metric::Hops));
    assert_eq!((protocol.hysteresis, protocol.link_layer_feedback), (None, false));
    assert!(!protocol.synchronous_start);
    assert_eq!((protocol.etx_window, protocol.probe_rate, protocol.probe_size), (10, SendRate::Broadcast, 0));
    assert_eq!(protocol.table_limit, 65_536);
}

#[test]
fn times_follow_the_intervals() {
    let ms = Span::from_millis;
    let fast = olsr("hello_interval = \"1 s\"\ntc_interval = \"3 s\"");
    assert_eq!((fast.neighbour_hold, fast.topology_hold, fast.max_jitter), (ms(3000), ms(9000), ms(250)));
    let written = olsr("neighbour_hold = \"5 s\"\ntopology_hold = \"20 s\"\nmax_jitter = \"0 s\"");
    assert_eq!(
        (written.neighbour_hold, written.topology_hold, written.max_jitter),
        (ms(5000), ms(20_000), ms(0))
    );
    // No message can state more.
    let slow = olsr("hello_interval = \"2000 s\"\ntc_interval = \"2000 s\"");
    assert_eq!((slow.neighbour_hold, slow.topology_hold), (ms(3_968_000), ms(3_968_000)));
}

#[test]
fn etx_has_other_defaults() {
    let etx = olsr("metric = \"etx\"");
    assert_eq!((etx.metric, etx.advertised, etx.mpr_coverage), (Metric::Etx, Advertised::All, 7));
    let less = olsr("metric = \"etx\"\ntc_redundancy = 1\nmpr_coverage = 2");
    assert_eq!((less.advertised, less.mpr_coverage), (Advertised::SelectorsAndRelays, 2));
    let probes = olsr("metric = \"etx\"\nprobe_rate = \"data\"\nprobe_size = \"134 B\"\netx_window = 20");
    assert_eq!((probes.probe_rate, probes.probe_size, probes.etx_window), (SendRate::Data, 134, 20));
}

#[test]
fn the_other_keys_are_passed_on() {
    let protocol = olsr(
        "duplicate_hold = \"9 s\"\nsynchronous_start = true\nwillingness = 6\ntc_redundancy = 2\nmpr_coverage = 3\n\
         hysteresis = true\nhyst_threshold_high = 0.9\nhyst_threshold_low = 0.2\nhyst_scaling = 0.25\n\
         link_layer_feedback = true\ntable_limit = 99",
    );
    let expected = OlsrConfig {
        duplicate_hold: Span::from_secs(9),
        synchronous_start: true,
        willingness: 6,
        advertised: Advertised::All,
        mpr_coverage: 3,
        hysteresis: Some(Hysteresis { high: 0.9, low: 0.2, scaling: 0.25 }),
        link_layer_feedback: true,
        table_limit: 99,
        ..OlsrConfig::default()
    };
    assert_eq!(protocol, expected);
}

/// Keys of a measurement that is switched off. With their default values, which the complete form has, they are no mistake.
#[test]
fn keys_without_effect_are_reported() {
    let warned = |keys: &str| scenario(keys).warnings;
    let no_effect = |key: &str, reason: &str| format!("olsr.{key} has no effect: {reason}");
    assert_eq!(warned("etx_window = 20"), [no_effect("etx_window", "metric = \"hops\"")]);
    let keys = "hyst_threshold_high = 0.9\nhyst_threshold_low = 0.2\nhyst_scaling = 0.4";
    let names = ["hyst_threshold_high", "hyst_threshold_low", "hyst_scaling"];
    assert_eq!(warned(keys), names.map(|name| no_effect(name, "hysteresis = false")));
    for effective in
        ["metric = \"etx\"\netx_window = 20", &format!("hysteresis = true\n{keys}"), "etx_window = 10"]
    {
        assert_eq!(warned(effective), [""; 0], "{effective}");
    }
}

/// The complete form has every key, and reads as the same scenario.
#[test]
fn the_complete_form_reads_back() {
    let first = scenario("metric = \"etx\"\nhysteresis = true");
    let again = read(&first.resolved, "resolved.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.spec, first.spec);
    assert!(first.resolved.contains("\n[olsr]\n") && !first.resolved.contains("[aodv]"));
}
