//! External schemes in the reader, its messages and the reference.

use airfair_scenario::{Override, Reader, read, reference_with};
use airfair_schemes::places::Source;
use airfair_schemes::{ParamKind, ParamValue, Params, Registry, Scheme, SchemeEntry, find, params};
use airfair_sim::World;
use airfair_sim::engine::drive;

params! {
    /// The parameter of the scheme below.
    struct Parameters {
        /// how fast the window answers
        paper gain: f64 = 0.5, in 0.0..=1.0;
    }
}

/// NewReno under another name, with an additional parameter.
struct Gentle(Box<dyn Scheme>);

impl Scheme for Gentle {
    fn source(&self) -> Option<Box<dyn Source>> {
        self.0.source()
    }
}

fn schemes() -> Registry {
    let entry =
        SchemeEntry::new("gentle", "from outside", "this test", &["source"], Parameters::LIST, |params| {
            Parameters::read(params)?;
            Ok(Box::new(Gentle((find("newreno").unwrap().build)(&Params::default())?)))
        });
    Registry::built_in().clone().with(entry).unwrap()
}

const TEXT: &str = r#"
name = "pair"
duration = "5 s"
scheme = "droptail"

[radio]
data_rate = "2 Mbit/s"

[nodes]
kind = "chain"
count = 2
spacing = "100 m"

[tcp]

[[flow]]
id = "one"
from = "0"
to = "1"
transport = "tcp-gentle"
traffic = { kind = "ftp" }

[[flow]]
id = "two"
from = "1"
to = "0"
transport = "tcp"
scheme = "gentle"
traffic = { kind = "ftp" }

[schemes.gentle]
gain = 0.25
"#;

fn problem(text: &str, overrides: &[&str]) -> String {
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
    let schemes = schemes();
    Reader::with_schemes(&schemes).text(text, "x.toml", &overrides).unwrap_err().to_string()
}

#[test]
fn a_scenario_may_name_them_everywhere() {
    let schemes = schemes();
    let reader = Reader::with_schemes(&schemes);
    let scenario = reader.text(TEXT, "x.toml", &[]).unwrap();
    assert_eq!(scenario.scheme_params["gentle"].0["gain"], ParamValue::Number(0.25));
    assert_eq!(reader.text(&scenario.resolved, "again", &[]).unwrap(), scenario);
    let set = [Override::parse("gentle.gain=0.75").unwrap(), Override::parse("scheme=gentle").unwrap()];
    let other = reader.text(TEXT, "x.toml", &set).unwrap();
    assert_eq!(other.scheme_params["gentle"].0["gain"], ParamValue::Number(0.75));
    assert_eq!(other.scheme, "gentle");
    // The reader with only the built-in schemes has no such scheme.
    let errors = read(TEXT, "x.toml", &[]).unwrap_err();
    assert_eq!(errors.list.len(), 3, "{errors}");
}

#[test]
fn a_world_finds_their_window_laws() {
    let schemes = schemes();
    let scenario = Reader::with_schemes(&schemes).text(TEXT, "x.toml", &[]).unwrap();
    let droptail = || (find("droptail").unwrap().build)(&Params::default()).unwrap();
    let mut world = World::with_schemes(&scenario.spec, "droptail", droptail(), 1, &schemes).unwrap();
    drive::to_end(&mut world);
    assert!(world.result().flows.iter().all(|flow| flow.delivered_bytes > 0));
    let refused = World::new(&scenario.spec, "droptail", droptail(), 1).err();
    assert_eq!(refused.as_deref(), Some("flow one: no such scheme: gentle"));
}

#[test]
fn messages_know_them() {
    let wrong = TEXT.replace("gain = 0.25", "gian = 0.25");
    assert!(
        problem(&wrong, &[])
            .contains("schemes.gentle.gian: not a parameter of gentle; did you mean \"gain\"?")
    );
    assert!(problem(TEXT, &["gentle.gain=2"]).contains("gain: 2: out of range; expected 0.0 to 1.0"));
    assert!(problem(TEXT, &["scheme=gentel"]).contains("did you mean \"gentle\"?"));
    assert!(problem(TEXT, &["gentel.gain=1"]).contains("did you mean \"gentle\"?"));
    assert!(problem(TEXT, &["flow.one.transport=tcp-gentel"]).contains("did you mean \"tcp-gentle\"?"));
    assert!(problem(TEXT, &["flow.two.scheme=red"]).contains("or \"gentle\""));
}

#[test]
fn the_reference_knows_them() {
    let sections = reference_with(&schemes());
    let pages: Vec<_> = sections.iter().flat_map(|section| &section.tables).collect();
    let page = pages.iter().find(|page| page.name == "[schemes.gentle]").unwrap();
    assert_eq!((page.keys[0].name, page.keys[0].doc.as_str()), ("gain", "how fast the window answers"));
    let flow = pages.iter().find(|page| page.name == "[[flow]]").unwrap();
    let transport = flow.keys.iter().find(|key| key.name == "transport").unwrap();
    assert!(transport.choices.iter().any(|word| word == "tcp-gentle"));
    assert!(transport.expected.contains("\"tcp-gentle\""));
    let scheme = flow.keys.iter().find(|key| key.name == "scheme").unwrap();
    assert!(
        scheme.choices.iter().any(|word| word == "gentle")
            && !scheme.choices.iter().any(|word| word == "red")
    );
}

#[test]
fn none_may_have_the_name_of_a_key() {
    let red = find("red").unwrap().clone();
    let schemes = Registry::built_in().clone().with(SchemeEntry { name: "radio", ..red }).unwrap();
    let errors = Reader::with_schemes(&schemes).text(TEXT, "x.toml", &[]).unwrap_err();
    assert_eq!(errors.to_string(), "x.toml: a scheme is called \"radio\", which is a key of scenarios");
}

/// Parameters of parts that are switched off. With their default values, which the complete form has, they are no mistake.
#[test]
fn parameters_without_effect_are_reported() {
    let warned = |scheme: &str, keys: &str| {
        let text = TEXT.replace("scheme = \"gentle\"\n", "").replace("tcp-gentle", "tcp");
        let text = text.replace("[schemes.gentle]\ngain = 0.25", &format!("[schemes.{scheme}]\n{keys}"));
        read(&text, "x.toml", &[]).unwrap_or_else(|e| panic!("{e}")).warnings
    };
    let no_effect = |key: &str, flag: &str| format!("schemes.{key} has no effect: {flag} = false");
    for scheme in ["tfrc", "tfrc-ecn"] {
        let keys = "damping_weight = 0.5\nleast_discount = 0.5";
        assert_eq!(
            warned(scheme, &format!("{keys}\ndamping = false\ndiscounting = false")),
            [
                no_effect(&format!("{scheme}.damping_weight"), "damping"),
                no_effect(&format!("{scheme}.least_discount"), "discounting")
            ]
        );
        assert_eq!(warned(scheme, keys), [""; 0]);
        assert_eq!(warned(scheme, "damping = false\ndamping_weight = 0.9"), [""; 0]);
    }
}

/// Each flag that a parameter needs is one of its scheme.
#[test]
fn parameters_need_flags_of_their_scheme() {
    let entries = Registry::built_in().entries();
    let needs = |entry: &SchemeEntry| entry.params.iter().filter_map(|doc| doc.needs).collect::<Vec<_>>();
    let is_flag = |entry: &SchemeEntry, name: &str| {
        entry.params.iter().any(|doc| doc.name == name && doc.kind == ParamKind::Flag)
    };
    assert!(entries.iter().all(|entry| needs(entry).iter().all(|name| is_flag(entry, name))));
    assert!(entries.iter().any(|entry| !needs(entry).is_empty()));
}
