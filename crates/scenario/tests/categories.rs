//! Access categories: tables by name, defaults of the other keys, the complete form, keys without effect.

use airfair_scenario::read;
use airfair_sim::spec::{Countdown, EdcaSpec, TxopEnd};
use airfair_units::Span;

fn text(radio: &str) -> String {
    format!(
        "name = \"categories\"\nduration = \"1 s\"\n[radio]\n{radio}\n[[node]]\nid = \"a\"\nposition = [\"0 m\", \"0 m\"]\n\
         [[node]]\nid = \"b\"\nposition = [\"9 m\", \"0 m\"]\n[[flow]]\nid = \"f\"\nfrom = \"a\"\nto = \"b\"\ndscp = \"EF\"\n\
         traffic = {{ kind = \"saturating\" }}\n"
    )
}

/// The categories of a radio, and the warnings; the complete form reads as the same.
fn edca(radio: &str) -> (Option<EdcaSpec>, Vec<String>) {
    let scenario = read(&text(radio), "categories.toml", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let again = read(&scenario.resolved, "resolved.toml", &[]).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again, scenario, "{}", scenario.resolved);
    assert_eq!(scenario.spec.flows[0].dscp, 46);
    (scenario.spec.radios[0].mac.edca.clone(), scenario.warnings)
}

#[test]
fn the_dcf_has_none() {
    let unused = "the dscp of flow \"f\" has no effect: no radio has access categories";
    assert_eq!(edca(""), (None, vec![unused.to_string()]));
    assert_eq!(edca("categories = \"dcf\""), (None, vec![unused.to_string()]));
    let ordinary = text("").replace("\"EF\"", "\"DF\"");
    assert_eq!(read(&ordinary, "categories.toml", &[]).unwrap().warnings, Vec::<String>::new());
    let flow = |id: &str| {
        format!(
            "[[flow]]\nid = \"{id}\"\nfrom = \"a\"\nto = \"b\"\ndscp = 8\ntraffic = {{ kind = \"saturating\" }}\n"
        )
    };
    // The flow that is named is the first by name, wherever it stands.
    for (more, subject) in [
        (&["g"][..], "\"f\" and of another flow"),
        (&["g", "h"][..], "\"f\" and of 2 other flows"),
        (&["e10", "e9"][..], "\"e9\" and of 2 other flows"),
    ] {
        let flows = text("") + &more.iter().map(|id| flow(id)).collect::<String>();
        let warnings = read(&flows, "categories.toml", &[]).unwrap().warnings;
        assert_eq!(
            warnings,
            [format!("the dscp of flow {subject} has no effect: no radio has access categories")]
        );
        let one = flows.replace("[radio]", "[radio]\ncategories = \"edca\"");
        assert_eq!(read(&one, "categories.toml", &[]).unwrap().warnings, Vec::<String>::new());
    }
}

#[test]
fn defaults_follow_the_table_and_the_profile() {
    let (standard, warnings) = edca("categories = \"edca\"");
    let standard = standard.unwrap();
    assert_eq!((standard.categories.len(), warnings), (4, vec![]));
    assert_eq!(
        (standard.countdown, standard.qos_header, standard.txop_end),
        (Countdown::Standard, true, TxopEnd::CfEnd)
    );
    // EF is video by its first three bits, voice by RFC 8325.
    assert_eq!(standard.category_of_dscp[46], 2);
    assert_eq!(
        edca("categories = \"edca\"\ndscp_categories = \"rfc8325\"").0.unwrap().category_of_dscp[46],
        3
    );
    let lowest = edca("categories = \"edca\"\ndscp_categories = \"lowest\"").0.unwrap().category_of_dscp;
    assert_eq!(lowest, [1; 64], "best effort, where there is one");
    let ns3 = edca("categories = \"edca\"\nprofile = \"ns-3\"").0.unwrap();
    assert_eq!(ns3.txop_end, TxopEnd::CfEndNs3);
    let levels = edca("categories = \"diffq\"").0.unwrap();
    assert_eq!((levels.categories.len(), levels.category_of_dscp), (8, [0; 64]));
}

#[test]
fn a_table_that_is_written_out() {
    let (own, warnings) = edca(
        "cw_max = 255\ncategories = [\n{ name = \"low\", aifsn = 7, cw_min = 31, cw_max = 1023 },\n\
         { name = \"high\", aifsn = 1, cw_min = 0, cw_max = 7, txop = \"2 ms\" },\n]\nedca_countdown = \"dcf\"\n\
         dscp_categories = [{ dscp = \"EF\", category = \"high\" }]\nqos_header = false",
    );
    let own = own.unwrap();
    let high = &own.categories[1];
    assert_eq!((high.name.as_str(), high.aifsn, high.cw_min, high.cw_max), ("high", 1, 0, 7));
    assert_eq!((high.txop, own.countdown, own.qos_header), (Span::from_millis(2), Countdown::Dcf, false));
    assert_eq!((own.category_of_dscp[46], own.category_of_dscp[0]), (1, 0));
    assert_eq!(warnings, ["radio.cw_max has no effect: the categories have their own"]);
}

/// A list begins with the lowest priority: a later category with longer waits in both ways is probably meant the other way round. One
/// of both alone is a choice.
#[test]
fn a_list_that_begins_with_the_highest_priority_is_reported() {
    let warnings = |rows: &[(&str, u8, u32)]| {
        let rows: Vec<String> = rows
            .iter()
            .map(|(name, aifsn, cw_min)| {
                format!("{{ name = \"{name}\", aifsn = {aifsn}, cw_min = {cw_min}, cw_max = 1023 }}")
            })
            .collect();
        let dscps = "dscp_categories = [{ dscp = \"EF\", category = \"VO\" }]";
        edca(&format!("categories = [{}]\n{dscps}", rows.join(", "))).1
    };
    let (low, video, high) = (("BK", 7, 31), ("VI", 2, 15), ("VO", 2, 7));
    assert_eq!(warnings(&[low, video, high]), [""; 0]);
    assert_eq!(warnings(&[high, ("BE", 2, 31), ("VI", 3, 7)]), [""; 0], "one of both");
    assert_eq!(
        warnings(&[high, video, low]),
        [
            "radio.categories: \"BK\" comes after \"VO\" and so has the higher priority, but defers more: aifsn 7 and 2, cw_min 31 \
          and 7; expected the lowest priority first"
        ]
    );
}

/// A table without the standard's names has no category for voice unless the scenario says which.
#[test]
fn a_dscp_without_a_category_is_reported() {
    let table = "categories = [\n{ name = \"low\", aifsn = 7, cw_min = 31, cw_max = 1023 },\n\
                 { name = \"high\", aifsn = 2, cw_min = 7, cw_max = 15 },\n]\n";
    let warning = |radio: &str| {
        format!(
            "the dscp of flow \"f\" has no effect: {radio}.dscp_categories names no category for it, so that their packets are in \
             \"low\"; expected such as dscp_categories = [{{ dscp = \"EF\", category = \"high\" }}]"
        )
    };
    let of = |map: &str| edca(&format!("{table}{map}")).1;
    assert_eq!(of(""), [warning("radio")]);
    assert_eq!(of("dscp_categories = \"lowest\""), [warning("radio")]);
    assert_eq!(of("dscp_categories = [{ dscp = \"CS6\", category = \"high\" }]"), [warning("radio")]);
    for category in ["low", "high"] {
        let map = format!("dscp_categories = [{{ dscp = \"EF\", category = \"{category}\" }}]");
        assert_eq!(of(&map), Vec::<String>::new());
    }
    let one = "categories = [{ name = \"all\", aifsn = 2, cw_min = 15, cw_max = 1023 }]";
    assert_eq!(edca(one).1, Vec::<String>::new());
    // Each radio has a map of its own.
    let two = text("categories = \"edca\"")
        .replace("[[node]]\nid = \"b\"", "[radios.two]\nchannel = 11\n{table}[[node]]\nid = \"b\"");
    let two = two
        .replace("{table}", table)
        .replace("position = [\"9 m\"", "radios = [\"default\", \"two\"]\nposition = [\"9 m\"");
    assert_eq!(read(&two, "categories.toml", &[]).unwrap().warnings, [warning("radios.two")]);
}

#[test]
fn keys_of_categories_have_no_effect_on_the_dcf() {
    let (none, warnings) = edca("qos_header = true");
    assert_eq!(none, None);
    assert_eq!(warnings[0], "radio.qos_header has no effect: categories = \"dcf\"");
}
