//! Scenarios as the runs of a selection have them: presets, changes, and keys that a scheme brings.

use std::num::NonZeroU8;

use airfair_scenario::{Override, Reader, ScenarioText, Selected, Selection};
use airfair_schemes::{ParamValue, Preset, Registry, SchemeEntry, find};

const TEXT: &str = r#"
name = "mesh"
duration = "1 s"
scheme = "strict"
node = [
  { id = "a", position = ["0 m", "0 m"], radios = ["default", "far"] },
  { id = "b", position = ["10 m", "0 m"] },
]
flow = [{ id = "up", from = "a", to = "b", transport = "tcp", traffic = { kind = "ftp" } }]

[radio]
channel = 1

[radios.far]
channel = 6
rts_threshold = "1000 B"

[schemes.strict]
min_th = 7
max_p = 0.3
"#;

/// The built-in schemes, and RED with a preset, which sets a key for its own runs.
fn schemes() -> Registry {
    let strict = SchemeEntry { name: "strict", ..find("red").unwrap().clone() };
    let strict = strict.with_presets(&[Preset {
        name: "early",
        about: "drops early",
        values: &[("min_th", ParamValue::Number(2.0)), ("max_th", ParamValue::Number(9.0))],
    }]);
    Registry::built_in().clone().with(strict).unwrap()
}

fn selected(text: &str, overrides: &[&str], selection: &str) -> Result<Selected, String> {
    let schemes = schemes();
    let overrides: Vec<Override> = overrides.iter().map(|o| Override::parse(o).unwrap()).collect();
    let written = ScenarioText::here(text, "mesh.toml", &overrides);
    let selection = Selection::parse(selection, &schemes)?;
    Reader::with_schemes(&schemes).selected(&written, &selection).map_err(|errors| errors.to_string())
}

/// The values of `min_th`, `max_th` and `max_p` of the scheme with the preset.
fn values(found: &Selected) -> [ParamValue; 3] {
    let params = &found.scenario.scheme_params["strict"].0;
    ["min_th", "max_th", "max_p"].map(|name| params[name])
}

fn numbers(values: [f64; 3]) -> [ParamValue; 3] {
    values.map(ParamValue::Number)
}

/// RED's defaults are 5, 15 and 0.1.
#[test]
fn a_preset_replaces_the_values_of_the_file_and_overrides_follow() {
    let of = |overrides: &[&str], selection| values(&selected(TEXT, overrides, selection).unwrap());
    assert_eq!(of(&[], "strict"), numbers([7.0, 15.0, 0.3]));
    assert_eq!(of(&[], "strict:default"), numbers([5.0, 15.0, 0.1]));
    assert_eq!(of(&[], "strict:early"), numbers([2.0, 9.0, 0.1]));
    assert_eq!(of(&["strict.max_p=0.5"], "strict:early"), numbers([2.0, 9.0, 0.5]));
    assert_eq!(of(&["strict.max_p=0.5"], "strict:early[strict.max_p=0.6]"), numbers([2.0, 9.0, 0.6]));
}

#[test]
fn a_file_names_a_preset_under_its_own_values() {
    let text = TEXT.replace("max_p = 0.3", "preset = \"early\"");
    assert_eq!(values(&selected(&text, &[], "strict").unwrap()), numbers([7.0, 9.0, 0.1]));
    let wrong = TEXT.replace("max_p = 0.3", "preset = \"late\"");
    assert_eq!(
        selected(&wrong, &[], "red").unwrap_err(),
        "mesh.toml:20: schemes.strict.preset: \"late\": strict has no such preset; expected \"default\" or \"early\""
    );
}

/// The complete form has every value and no preset, and a selection of it is that of the file.
#[test]
fn the_complete_form_gives_the_same_selections() {
    for selection in ["strict", "strict:early", "newreno+strict[rts; window=4]", "fq-codel[queue=9]"] {
        let found = selected(TEXT, &[], selection).unwrap();
        let again = selected(&found.scenario.resolved, &[], selection).unwrap();
        assert_eq!(again.scenario.spec, found.scenario.spec, "{selection}");
        assert_eq!(again.scenario.resolved, found.scenario.resolved, "{selection}");
    }
}

#[test]
fn a_short_change_of_radios_is_for_all_kinds() {
    let found = selected(TEXT, &[], "strict[rts]").unwrap();
    let limits: Vec<u64> = found.scenario.spec.radios.iter().map(|radio| radio.mac.rts_threshold.0).collect();
    assert_eq!(limits, [0, 0]);
    assert_eq!(found.settings, ["radio.rts_threshold=0 B", "radios.\"far\".rts_threshold=0 B"]);
    let found = selected(TEXT, &[], "strict[rts_from=2]").unwrap();
    let attempts = found.scenario.spec.radios.iter().map(|radio| radio.mac.rts_from_attempt);
    assert_eq!(attempts.collect::<Vec<_>>(), [NonZeroU8::new(2); 2]);
}

#[test]
fn a_change_may_not_be_wrong() {
    let error = |selection| selected(TEXT, &[], selection).unwrap_err();
    assert_eq!(
        error("strict[radio.chanel=1]"),
        "scheme \"strict[radio.chanel=1]\": radio.chanel: unknown key; did you mean \"channel\"?"
    );
    assert_eq!(
        error("c3l+strict[cycle=5 s]"),
        "scheme \"c3l+strict[cycle=5 s]\": cycle: \"cycle\" is a parameter of c3l; did you mean c3l.cycle?"
    );
    let of_window = "scheme \"strict[window=0]\": tcp.window_limit: \"0 segments\": out of range; expected";
    assert!(error("strict[window=0]").starts_with(of_window), "{}", error("strict[window=0]"));
    let of_size = "scheme \"strict[window=x]\": tcp.window_limit: \"x\": ";
    assert!(error("strict[window=x]").starts_with(of_size), "{}", error("strict[window=x]"));
    assert_eq!(selected(TEXT, &[], "strict[window=4 kB]").unwrap().settings, ["tcp.window_limit=4 kB"]);
    let of_retries = "scheme \"strict[retries=x]\": radio.short_retry_limit: ";
    assert!(error("strict[retries=x]").starts_with(of_retries), "{}", error("strict[retries=x]"));
}

/// DiffQ gives eight priorities, and a radio without categories has one. What the file says stands.
#[test]
fn a_scheme_brings_what_it_needs() {
    let one = TEXT.replace(", radios = [\"default\", \"far\"]", "");
    let found = selected(&one, &[], "diffq:paper").unwrap();
    assert_eq!(found.settings, ["radio.categories=\"diffq\""]);
    assert_eq!(found.scenario.spec.radios[0].mac.edca.as_ref().unwrap().categories.len(), 8);
    assert!(selected(&one, &[], "diffq:paper[diffq.levels=1]").unwrap().settings == ["diffq.levels=1"]);
    let stated = one.replace("channel = 1", "channel = 1\ncategories = \"edca\"");
    assert!(selected(&stated, &[], "diffq:paper").unwrap().settings.is_empty());
    assert!(selected(&one, &["radio.categories=edca"], "diffq:paper").unwrap().settings.is_empty());
    // The complete form states every default, for each kind of radio.
    let complete = selected(&one, &[], "droptail").unwrap().scenario.resolved;
    let both = ["radio.categories=\"diffq\"", "radios.\"far\".categories=\"diffq\""];
    assert_eq!(selected(&complete, &[], "diffq:paper").unwrap().settings, both);
}

#[test]
fn a_file_may_name_several_schemes() {
    let several = |scheme: &str| TEXT.replace("scheme = \"strict\"", &format!("scheme = \"{scheme}\""));
    let schemes = schemes();
    let reader = Reader::with_schemes(&schemes);
    let found = reader.text(&several("cubic + strict"), "mesh.toml", &[]).unwrap();
    assert_eq!(found.scheme, "cubic+strict");
    assert!(found.scheme_params.contains_key("cubic"));
    let error = |scheme| reader.text(&several(scheme), "mesh.toml", &[]).unwrap_err().to_string();
    assert_eq!(
        error("red+strict"),
        "mesh.toml:4: scheme: \"red+strict\": red and strict do not go together: both fill the place \"aqm\""
    );
    assert!(
        error("strict:early").contains("a file has a preset in the scheme's table"),
        "{}",
        error("strict:early")
    );
    assert!(error("strict+rde").contains("\"rde\": no such scheme; expected"));
}
