//! Wired links: rates that change, the limit of local flows.

use airfair_scenario::{Override, Scenario, read};
use airfair_sim::spec::RateChange;
use airfair_units::{Rate, Span, Time};

const PAIR: &str = r#"
name = "pair"
duration = "20 s"
[[node]]
id = "a"
[[node]]
id = "b"
[[link]]
ends = ["a", "b"]
rate = "150 Mbit/s"
[[flow]]
id = "f"
from = "a"
to = "b"
traffic = { kind = "saturating" }
"#;

fn with(changes: &str) -> Scenario {
    let set = Override::parse(&format!("link.0.rate_changes={changes}")).unwrap();
    read(PAIR, "pair.toml", &[set]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn changes_are_read_in_their_order() {
    assert_eq!(read(PAIR, "pair.toml", &[]).unwrap().spec.links[0].rate_changes, []);
    let scenario = with(r#"[{ at = "5 s", rate = "75 Mbit/s" }, { rate = "0.3 Gbit/s", at = "10500 ms" }]"#);
    let expected = [(5_000, 75), (10_500, 300)]
        .map(|(ms, mbps)| RateChange { at: Time(ms * 1_000_000), rate: Rate::from_mbps(mbps) });
    assert_eq!(scenario.spec.links[0].rate_changes, expected);
    assert!(scenario.warnings.is_empty(), "{:?}", scenario.warnings);
}

#[test]
fn a_change_after_the_end_causes_a_warning() {
    let scenario = with(r#"[{ at = "20 s", rate = "75 Mbit/s" }]"#);
    assert_eq!(
        scenario.warnings,
        [
            "the rate of link \"a\"-\"b\": the change at \"20 s\" is not before the end of the run and has no effect"
        ]
    );
}

/// The default is about 1 ms, as in Linux; hosts of ns-2 and ns-3 have no such limit.
#[test]
fn local_flows_are_limited_unless_the_hosts_know_no_limit() {
    let limit = |set: &[&str]| {
        let set: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
        let scenario = read(PAIR, "pair.toml", &set).unwrap_or_else(|errors| panic!("{errors}"));
        scenario.spec.links[0].local_limit
    };
    assert_eq!(limit(&[]), Some(Span::from_millis(1)));
    assert_eq!(limit(&["tcp.profile=\"linux\""]), Some(Span::from_millis(1)));
    for profile in ["ns-2", "ns-3"] {
        assert_eq!(limit(&[&format!("tcp.profile=\"{profile}\"")]), None);
        let set = [&format!("tcp.profile=\"{profile}\""), "link.0.local_limit=\"2 ms\""];
        assert_eq!(limit(&set), Some(Span::from_millis(2)));
    }
    assert_eq!(limit(&["link.0.local_limit=\"off\""]), None);
}

/// The limit of a radio is 8 ms, and off if a full queue drops packets; a limit in the file then causes a warning.
#[test]
fn no_limit_without_backpressure() {
    let text = "name = \"x\"\nduration = \"1 s\"\n[radio]\n[nodes]\nkind = \"chain\"\ncount = 2\nspacing = \"100 m\"\n\
                [[flow]]\nid = \"f\"\nfrom = \"0\"\nto = \"1\"\ntraffic = { kind = \"saturating\" }\n";
    let of = |text: &str, set: &[&str]| {
        let set: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
        let scenario = read(text, "x.toml", &set).unwrap_or_else(|errors| panic!("{errors}"));
        (scenario.spec.radios[0].mac.local_limit, scenario.warnings)
    };
    let none = Vec::<String>::new();
    assert_eq!(of(text, &[]), (Some(Span::from_millis(8)), none.clone()));
    assert_eq!(of(text, &["radio.profile=\"ns-2\""]), (None, none.clone()));
    assert_eq!(of(text, &["radio.profile=\"ns-2\"", "radio.backpressure=true"]), (None, none.clone()));
    assert_eq!(of(text, &["radio.backpressure=false"]), (None, none.clone()));
    let written = text.replace("[radio]", "[radio]\nlocal_limit = \"4 ms\"");
    assert_eq!(of(&written, &[]), (Some(Span::from_millis(4)), none.clone()));
    assert_eq!(of(&written, &["radio.backpressure=false"]), (None, none));
    let useless =
        vec!["radio.local_limit has no effect: a full queue drops, backpressure = false".to_string()];
    assert_eq!(
        of(&written.replace("[nodes]", "backpressure = false\n[nodes]"), &[]),
        (None, useless.clone())
    );
    assert_eq!(of(&written, &["radio.profile=\"ns-3\""]), (None, useless.clone()));
    // Like all keys without effect, the limit stays in the complete form, which has the same warning.
    let twice = written.replace("[nodes]", "backpressure = false\n[nodes]");
    assert_eq!(of(&read(&twice, "x.toml", &[]).unwrap().resolved, &[]), (None, useless));
    let wrong = read(&written.replace("4 ms", "soon"), "x.toml", &[]).unwrap_err().to_string();
    assert!(
        wrong.contains("x.toml:4: radio.local_limit: \"soon\"") && wrong.contains("a time such as"),
        "{wrong}"
    );
}
