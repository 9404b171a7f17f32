//! Gains that vary: fading of radios, changes of measured gains.

use airfair_scenario::{Override, Scenario, read};
use airfair_sim::spec::{FadingLaw, FadingSpec, GainChangeSpec};
use airfair_units::{Db, Span, Time};

const PAIR: &str = r#"
name = "pair"
duration = "20 s"
[radio]
propagation = { model = "matrix" }
[[node]]
id = "a"
[[node]]
id = "b"
[[gain]]
from = "a"
to = "b"
gain = "-70 dB"
both = true
[[flow]]
id = "f"
from = "a"
to = "b"
traffic = { kind = "saturating" }
"#;

fn with(set: &[&str]) -> Scenario {
    let set: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
    read(PAIR, "pair.toml", &set).unwrap_or_else(|errors| panic!("{errors}"))
}

fn reread(scenario: &Scenario) -> Scenario {
    read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn gains_rest_unless_a_file_says_otherwise() {
    let scenario = with(&[]);
    assert_eq!((scenario.spec.radios[0].fading, scenario.spec.gain_changes.len()), (None, 0));
    for key in ["fading", "changes", "period"] {
        assert!(!scenario.resolved.contains(key), "{key} is in the complete form");
    }
}

#[test]
fn laws_of_fading_are_read_and_written() {
    let coherence = Span::from_millis(20);
    for (text, law) in [
        (r#"{ model = "rayleigh", coherence = "20 ms" }"#, FadingLaw::Rayleigh),
        (r#"{ model = "rician", k = "6 dB", coherence = "20 ms" }"#, FadingLaw::Rician { k: Db(6.0) }),
        (
            r#"{ model = "log-normal", deviation = "4 dB", coherence = "20 ms" }"#,
            FadingLaw::LogNormal { deviation: Db(4.0) },
        ),
    ] {
        let scenario = with(&[&format!("radio.fading={text}")]);
        assert_eq!(scenario.spec.radios[0].fading, Some(FadingSpec { law, coherence }));
        assert_eq!(scenario.warnings, Vec::<String>::new());
        assert_eq!(reread(&scenario).spec, scenario.spec);
    }
    assert_eq!(with(&[r#"radio.fading="off""#]).spec, with(&[]).spec);
}

#[test]
fn fading_within_a_frame_causes_a_warning() {
    let fast = |rate: &str| {
        let fading = r#"radio.fading={ model = "rayleigh", coherence = "2 ms" }"#;
        with(&[fading, &format!("radio.data_rate=\"{rate}\"")]).warnings
    };
    assert_eq!(fast("11 Mbit/s"), Vec::<String>::new());
    // 192 us and 1536 B at 1 Mbit/s.
    assert_eq!(
        fast("1 Mbit/s"),
        [
            "radio \"default\" has fading of a coherence time of \"2 ms\", shorter than a frame of 1500 B at 1 Mbit/s (12480 us): a frame \
          keeps the power of its start"
        ]
    );
}

#[test]
fn changes_of_gains_have_both_directions_and_return_after_a_period() {
    let changes = r#"gain.0.changes=[{ at = "2 s", gain = "-95 dB" }, { at = "3 s", gain = "-80 dB" }]"#;
    let change = |from: usize, s: u64, gain: f64, every| GainChangeSpec {
        from,
        to: 1 - from,
        at: Time(s * 1_000_000_000),
        gain: Db(gain),
        every,
    };
    let once = with(&[changes]);
    let expected = [0, 1].map(|from| [change(from, 2, -95.0, None), change(from, 3, -80.0, None)]);
    assert_eq!(once.spec.gain_changes, expected.concat());
    assert_eq!(reread(&once).spec, once.spec);
    let repeated = with(&[changes, "gain.0.period=\"4 s\""]);
    let every = Some(Span::from_secs(4));
    let expected = [0, 1].map(|from| {
        [change(from, 2, -95.0, every), change(from, 3, -80.0, every), change(from, 4, -70.0, every)]
    });
    assert_eq!(repeated.spec.gain_changes, expected.concat());
    assert_eq!(reread(&repeated).spec, repeated.spec);
    let late = with(&[r#"gain.0.changes=[{ at = "20 s", gain = "-95 dB" }]"#]);
    assert_eq!(late.warnings, ["the gain from \"a\" to \"b\" changes after the end of the run"]);
}
