//! `[dsdv]`: defaults, and every key as the parameter of the same name.

use std::any::Any;

use airfair_routing::dsdv::DsdvConfig;
use airfair_scenario::{Scenario, read};
use airfair_sim::spec::RoutingSpec;
use airfair_units::Span;

fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "name = \"x\"\nduration = \"1 s\"\n[radio]\n[nodes]\nkind = \"chain\"\ncount = 3\nspacing = \"100 m\"\n\
         [flows]\nkind = \"random\"\ncount = 1\ntraffic = {{ kind = \"saturating\" }}\n\
         [routing]\nprotocol = \"dsdv\"\n[dsdv]\n{keys}"
    );
    read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}"))
}

fn dsdv(keys: &str) -> DsdvConfig {
    match scenario(keys).spec.routing {
        RoutingSpec::Found(protocol) => *(&*protocol as &dyn Any).downcast_ref().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_the_protocols() {
    assert_eq!(dsdv(""), DsdvConfig::default());
}

/// The values of ns-2, which docs/dsdv.md shows.
#[test]
fn every_key_is_a_parameter() {
    let ms = Span::from_millis;
    let keys = "period = \"11.25 s\"\nperiod_jitter = \"3.75 s\"\nstart_jitter = \"2 s\"\nhold_periods = 4\n\
                settling_time = \"12 s\"\nweighted_settling = false\nsettling_weight = 0.5\nsettle_all = true\n\
                trigger_on_new_number = false\nanswer_broken = true\ntrigger_interval = \"1 s\"\nfull_dump_share = 0.3\n\
                update_jitter = \"10 ms\"\nlink_layer_feedback = true\nforget_periods = 9\n\
                table_limit = 99\nbuffer_per_destination = 6\nbuffer_packets = 60\nbuffer_time = \"20 s\"\n";
    let expected = DsdvConfig {
        period: ms(11_250),
        period_jitter: ms(3750),
        start_jitter: ms(2000),
        hold_periods: 4,
        settling_time: ms(12_000),
        weighted_settling: false,
        settling_weight: 0.5,
        settle_all: true,
        trigger_on_new_number: false,
        answer_broken: true,
        trigger_interval: ms(1000),
        full_dump_share: 0.3,
        update_jitter: ms(10),
        link_layer_feedback: true,
        forget_periods: 9,
        table_limit: 99,
        buffer_per_destination: 6,
        buffer_packets: 60,
        buffer_time: ms(20_000),
    };
    assert_eq!(dsdv(keys), expected);
    assert_eq!(expected.hold_time(), ms(45_000));
}

#[test]
fn keys_without_effect_are_reported() {
    let keys = "settling_weight = 0.5\nweighted_settling";
    assert_eq!(
        scenario(&format!("{keys} = false")).warnings,
        ["dsdv.settling_weight has no effect: weighted_settling = false"]
    );
    assert_eq!(scenario(&format!("{keys} = true")).warnings, [""; 0]);
    assert_eq!(scenario("weighted_settling = false").warnings, [""; 0]);
}
