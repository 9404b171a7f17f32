//! Messages about parameters of schemes that a file or `--set` gets wrong: each says what to write instead.

use airfair_scenario::{Override, Reader, Scenario, ScenarioText, read};
use airfair_schemes::{FORMER, Fate};

const PAIR: &str = r#"name = "pair"
duration = "10 s"
scheme = "c3l-faulty"
[radio]
data_rate = "2 Mbit/s"
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["100 m", "0 m"]
scheme = "red"
[[flow]]
id = "u"
from = "a"
to = "b"
traffic = { kind = "saturating" }
[[flow]]
id = "t"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "ftp" }
"#;

fn problem(set: &str) -> String {
    read(PAIR, "x.toml", &[Override::parse(set).unwrap()]).unwrap_err().to_string()
}

/// The text and its scenario with these overrides.
fn set(overrides: &[&str]) -> (ScenarioText, Scenario) {
    let overrides: Vec<Override> = overrides.iter().map(|set| Override::parse(set).unwrap()).collect();
    let text = ScenarioText::here(PAIR, "x.toml", &overrides);
    let scenario = Reader::default().read(&text).unwrap();
    (text, scenario)
}

fn unused(overrides: &[&str], runs: &[&str]) -> Vec<String> {
    let (text, scenario) = set(overrides);
    Reader::default().unused_settings(&text, &scenario, runs)
}

/// A parameter of a scheme that does not run changes nothing: a warning says so, and names the scheme that was meant.
#[test]
fn a_parameter_of_a_scheme_that_does_not_run() {
    let power = "c3l.probe_power=7";
    assert_eq!(
        unused(&[power, "c3l-faulty.lost=0.5"], &["c3l-faulty"]),
        ["--set c3l.probe_power: no node runs c3l here; did you mean c3l-faulty.probe_power?"]
    );
    assert_eq!(
        unused(&["schemes.c3l.cycle=4 s"], &["droptail"]),
        ["--set schemes.c3l.cycle: no node runs c3l here"]
    );
    // Of several runs, one is enough.
    assert_eq!(unused(&[power], &["droptail", "c3l"]), [""; 0]);
    // A node has red, whatever the run; the flow over TCP has newreno unless the run's scheme replaces it.
    assert_eq!(unused(&["red.max_p=0.5", "newreno.mark_to_one=true"], &["droptail"]), [""; 0]);
    assert_eq!(
        unused(&["newreno.initial_ssthresh=4000 B"], &["cubic"]),
        ["--set newreno.initial_ssthresh: no node runs newreno here; did you mean cubic.initial_ssthresh?"]
    );
    // Other keys are not parameters.
    assert_eq!(unused(&["radio.queue_packets=9", "duration=5 s"], &["droptail"]), [""; 0]);
}

/// Parameters that a file writes in `[schemes.NAME]` may be for other runs.
#[test]
fn a_table_of_the_file_is_no_override() {
    let text = format!("{PAIR}[schemes.c3l]\nprobe_power = 7\n");
    let text = ScenarioText::here(&text, "x.toml", &[]);
    let scenario = Reader::default().read(&text).unwrap();
    assert_eq!(Reader::default().unused_settings(&text, &scenario, &["droptail"]), [""; 0]);
}

#[test]
fn a_table_with_the_name_of_a_scheme() {
    let errors = read(&format!("{PAIR}[nred]\nmin_th = 50\n"), "x.toml", &[]).unwrap_err();
    assert_eq!(errors.to_string(), "x.toml:24: nred: unknown key; did you mean [schemes.nred]?");
    let errors = read(&format!("{PAIR}[nerd]\nmin_th = 50\n"), "x.toml", &[]).unwrap_err();
    assert!(!errors.to_string().contains("[schemes."), "{errors}");
}

/// The suggestion comes first, and no message lists the 58 parameters of C3L.
#[test]
fn a_parameter_that_does_not_exist() {
    assert_eq!(
        problem("c3l.cycl=4"),
        "--set c3l.cycl: not a parameter of c3l; did you mean \"cycle\"? (`airfair schemes c3l` lists all)"
    );
    assert_eq!(
        problem("c3l.banana=4"),
        "--set c3l.banana: not a parameter of c3l (`airfair schemes c3l` lists all)"
    );
    assert_eq!(problem("c3l.lost=0.5"), "--set c3l.lost: a parameter of c3l-faulty, not of c3l");
    assert_eq!(problem("droptail.limit=1"), "--set droptail.limit: droptail has no parameters");
    assert_eq!(
        problem("codel.banana=1"),
        "--set codel.banana: not a parameter of codel; expected \"target\", \"interval\", \"mtu\" or \"ecn\""
    );
}

/// A file of an older version is told what has become of its parameters.
#[test]
fn a_parameter_that_existed_once() {
    assert_eq!(problem("xcp.wish=1"), "--set xcp.wish: is called \"request\" now");
    assert_eq!(problem("tfrc-ecn.reordering=3"), "--set tfrc-ecn.reordering: is gone: it had no effect");
    for old in FORMER {
        for scheme in old.schemes {
            let expected = match old.fate {
                Fate::Renamed(new) => format!("is called \"{new}\" now"),
                Fate::Gone(why) => format!("is gone: {why}"),
            };
            let name = old.name;
            let text = format!("{PAIR}[schemes.{scheme}]\n{name} = 1\n");
            let errors = read(&text, "x.toml", &[]).unwrap_err();
            assert_eq!(errors.to_string(), format!("x.toml:25: schemes.{scheme}.{name}: {expected}"));
        }
    }
}

/// Both values, seen from the parameter that was set; bounds as the sources of the schemes have them.
#[test]
fn two_parameters_that_contradict_each_other() {
    for (set, expected) in [
        ("nred.min_th=300", "300 is not below nred.max_th, 240"),
        ("nred.max_th=50", "50 is not above nred.min_th, 100"),
        ("nred.lifetime=1 ms", "1 ms is below nred.ncn_interval, 200 ms"),
        ("red.min_th=15", "15 is not below red.max_th, 15"),
        ("codel.interval=4 ms", "4 ms is below codel.target, 5 ms"),
        ("fq-codel.target=200 ms", "200 ms is above fq-codel.interval, 100 ms"),
        ("c3l.cycle=50 s", "50 s is not below c3l.report_expiry, 40 s"),
        ("c3l.epoch=1 h", "3600 s is not below c3l.feedback_expiry, 5 s"),
        ("vegas.beta=0", "0 is below vegas.alpha, 1"),
        ("qfcp.min_interval=20 s", "20 s is above qfcp.max_interval, 10 s"),
    ] {
        let path = set.split('=').next().unwrap();
        assert_eq!(problem(set), format!("--set {path}: {expected}"));
    }
    // In a file, the line is that of the value which was written last of the two that are there.
    let text = format!("{PAIR}[schemes.nred]\nmin_th = 60\nmax_th = 50\n");
    assert_eq!(
        read(&text, "x.toml", &[]).unwrap_err().to_string(),
        "x.toml:26: schemes.nred.max_th: 50 is not above nred.min_th, 60"
    );
}

#[test]
fn a_number_with_its_unit() {
    assert_eq!(
        problem("c3l.probe_power=7 dB"),
        "--set c3l.probe_power: \"7 dB\": a text stands here; expected a number of dB: 7"
    );
    assert_eq!(
        problem("c3l.probe_power=7 W"),
        "--set c3l.probe_power: \"7 W\": a text stands here; expected a number"
    );
}
