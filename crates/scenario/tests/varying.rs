//! Gains that vary: fading of radios, changes of measured gains.

use std::path::PathBuf;

use airfair_scenario::{Limits, Override, Scenario, read, read_file, read_within};
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

/// The scenario as its complete form, which names no other file.
fn without_files(scenario: Scenario) -> Scenario {
    assert_eq!(scenario.files.len(), 1);
    Scenario { files: Vec::new(), ..scenario }
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
    assert_eq!(
        late.warnings,
        [
            "the gain from \"a\" to \"b\": the change at \"20 s\" is not before the end of the run and has no effect"
        ]
    );
}

#[test]
fn late_changes_are_named_and_others_are_not() {
    let warnings = |times: &[&str], more: &[&str]| {
        let list: Vec<String> =
            times.iter().map(|at| format!("{{ at = \"{at}\", gain = \"-95 dB\" }}")).collect();
        let changes = format!("gain.0.changes=[{}]", list.join(", "));
        with(&[&[changes.as_str()], more].concat()).warnings
    };
    let text =
        |rest: &str| vec![format!("the gain from \"a\" to \"b\": {rest} of the run and have no effect")];
    assert_eq!(warnings(&["500 ms", "19999 ms"], &[]), Vec::<String>::new());
    assert_eq!(
        warnings(&["500 ms", "50 s"], &[]),
        [
            "the gain from \"a\" to \"b\": the change at \"50 s\" is not before the end of the run and has no effect"
        ]
    );
    assert_eq!(
        warnings(&["500 ms", "20 s", "50 s"], &[]),
        text("2 of 3 changes, the first at \"20 s\", are not before the end")
    );
    // The return to the first gain after a period is not written, and does not count.
    assert_eq!(warnings(&["500 ms"], &["gain.0.period=\"30 s\""]), Vec::<String>::new());
    assert_eq!(
        warnings(&["500 ms", "20 s", "25 s"], &["gain.0.period=\"30 s\""]),
        text("2 of 3 changes, the first at \"20 s\", are not before the end")
    );
}

/// Writes a scenario and the changes of its gain into one folder, and reads the scenario with overrides.
fn with_file(name: &str, csv: &[u8], set: &[&str]) -> Result<Scenario, String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("changes-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("door.csv"), csv).unwrap();
    let file = folder.join("x.toml");
    std::fs::write(&file, PAIR.replace("both = true", "both = true\nfile = \"door.csv\"")).unwrap();
    let set: Vec<Override> = set.iter().map(|text| Override::parse(text).unwrap()).collect();
    read_file(&file, &set).map_err(|e| e.to_string().replace(&format!("{}/", folder.display()), ""))
}

/// The numbers are those of `changes_of_gains_have_both_directions_and_return_after_a_period`.
#[test]
fn changes_from_a_file_are_those_that_are_written() {
    let written = r#"gain.0.changes=[{ at = "2 s", gain = "-95 dB" }, { at = "3.25 s", gain = "-80.5 dB" }]"#;
    for csv in [
        "at_s,gain_db\n2,-95\n3.25,-80.5\n",
        "\u{feff}\"at_s\", \"gain_db\"\r\n2.0,-95.0\r\n\r\n\"325e-2\", -8.05e1\r\n",
    ] {
        for period in [&[][..], &["gain.0.period=\"4 s\""]] {
            let scenario = without_files(with_file("good", csv.as_bytes(), period).unwrap());
            assert_eq!(scenario, with(&[&[written], period].concat()));
            assert!(!scenario.resolved.contains("door.csv"), "{}", scenario.resolved);
            assert_eq!(reread(&scenario), scenario);
        }
        // An override has precedence over what is in the file.
        assert_eq!(with_file("override", b"?", &[written]).unwrap(), with(&[written]));
    }
    let late = with_file("late", b"at_s,gain_db\n20,-95\n", &[]).unwrap();
    assert_eq!(
        late.warnings,
        [
            "the gain from \"a\" to \"b\": the change at \"20 s\" is not before the end of the run and has no effect"
        ]
    );
}

#[test]
fn mistakes_in_changes_have_their_line_and_column() {
    let fails = |name: &str, csv: &str| with_file(name, csv.as_bytes(), &[]).unwrap_err();
    let key = "x.toml:15: gain.0.file: \"door.csv\"";
    assert_eq!(fails("empty", ""), format!("{key} line 1: \"\": expected the header at_s,gain_db"));
    assert_eq!(
        fails("header", "start_s,bytes\n1,1\n"),
        format!("{key} line 1: \"start_s,bytes\": expected the header at_s,gain_db")
    );
    assert_eq!(
        fails("no-rows", "at_s,gain_db\n\n"),
        format!("{key} line 2: nothing below the header; expected a moment and a gain")
    );
    assert_eq!(
        fails("cells", "at_s,gain_db\n1,-70\n2\n"),
        format!("{key} line 3: 1 cells; expected 2, at_s,gain_db")
    );
    assert_eq!(
        fails("moment", "at_s,gain_db\n0,-70\n1 s,-70\n-1,-70\nnan,-70\n1e8,-70\n"),
        format!(
            "{key} line 2, column at_s: \"0\": `gain` is the gain of time 0; expected more than 0\n{}",
            [(3, "1 s"), (4, "-1"), (5, "nan"), (6, "1e8")]
                .map(|(line, text)| format!(
                    "{key} line {line}, column at_s: \"{text}\": expected a number of seconds, more than 0 and at most 31536000"
                ))
                .join("\n")
        )
    );
    assert_eq!(
        fails("gain", "at_s,gain_db\n1,-70 dB\n2,-300.5\n3,60\n4,nan\n"),
        [(2, "-70 dB"), (3, "-300.5"), (5, "nan")]
            .map(|(line, text)| format!(
                "{key} line {line}, column gain_db: \"{text}\": expected a number of dB, -300 to 60"
            ))
            .join("\n")
    );
    assert_eq!(
        fails("order", "at_s,gain_db\n2.5,-70\n2.5,-71\n1,-70\n"),
        [(3, "2.5"), (4, "1")]
            .map(|(line, text)| format!(
                "{key} line {line}, column at_s: \"{text}\": not after the moment above; expected more than 2.5, in ascending order"
            ))
            .join("\n")
    );
    assert_eq!(
        with_file("period", b"at_s,gain_db\n3,-70\n\n4,-71\n", &["gain.0.period=\"4 s\""]).unwrap_err(),
        format!("{key} line 4, column at_s: \"4\": not before the period's end; expected less than 4")
    );
    // A period without changes is no second mistake where their file is wrong, but a mistake where there are none.
    assert_eq!(with_file("both", b"", &["gain.0.period=\"4 s\""]).unwrap_err().lines().count(), 1);
    assert_eq!(
        with_file("none", b"at_s,gain_db\n1,-70\n", &["gain.0.period=\"4 s\"", "gain.0.changes=[]"])
            .unwrap_err(),
        "--set gain.0.period: \"4 s\": there are no changes to repeat; expected `changes` or `file`"
    );
}

#[test]
fn a_file_of_changes_and_written_changes_exclude_each_other() {
    let list = "both = true\nfile = \"door.csv\"\nchanges = [{ at = \"1 s\", gain = \"-90 dB\" }]";
    let error = read(&PAIR.replace("both = true", list), "x.toml", &[]).unwrap_err().to_string();
    assert_eq!(error, "x.toml:16: gain.0.changes: `file` gives the same list; write one of them");
    let file = PAIR.replace("both = true", "file = \"door.csv\"");
    assert_eq!(
        read(&file, "x.toml", &[]).unwrap_err().to_string(),
        "x.toml:14: gain.0.file: \"door.csv\": this scenario was not read from a file, so there is no folder to find it in; expected \
         `changes = [{ at = \"10 s\", gain = \"-95 dB\" }, ...]`"
    );
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("no-changes.toml");
    std::fs::write(&path, PAIR.replace("both = true", "file = \"none.csv\"")).unwrap();
    let error = read_file(&path, &[]).unwrap_err().to_string();
    assert!(error.contains(":14: gain.0.file: \"none.csv\": cannot be read: "), "{error}");
}

#[test]
fn the_longest_changes_read_and_read_back() {
    let rows = |count: u64| {
        let rows: String = (1..=count).map(|i| format!("{i}.123456789,-{}.5\n", i % 250)).collect();
        format!("at_s,gain_db\n{rows}")
    };
    let scenario = with_file("longest", rows(200_000).as_bytes(), &[]).unwrap();
    assert_eq!(scenario.spec.gain_changes.len(), 400_000, "both directions");
    assert!(reread(&scenario) == without_files(scenario));
    assert_eq!(
        with_file("too-long", rows(200_001).as_bytes(), &[]).unwrap_err(),
        "x.toml:1: gain: 200001 changes or more of all gains; expected at most 200000"
    );
    let two = r#"gain.0.changes=[{ at = "2 s", gain = "-95 dB" }, { at = "3 s", gain = "-80 dB" }]"#;
    let limits = Limits { gain_changes: 1, ..Limits::default() };
    let error = read_within(PAIR, "x.toml", &[Override::parse(two).unwrap()], &limits).unwrap_err();
    assert_eq!(error.to_string(), "x.toml:1: gain: 2 changes or more of all gains; expected at most 1");
}
