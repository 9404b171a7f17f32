//! The complete scenario as TOML: every default filled in, generated nodes and flows written out.

use airfair_schemes::ParamValue;
use airfair_sim::air::least_power;
use airfair_sim::modes::Mode;
use airfair_sim::spec::{Propagation, RadioSpec};

use crate::declare::field::quote;
use crate::keys::scheme_params;
use crate::resolve::propagation::reach;
use crate::resolve::world::Model;

/// The complete form of a scenario.
pub(crate) fn write(model: &Model) -> String {
    let mut out = String::from("# Complete: every default is filled in.\n");
    pairs(&mut out, &model.top.pairs());
    for (table, spec) in model.radios.kinds.iter().flatten() {
        let header = if spec.name == "default" {
            "[radio]".to_string()
        } else {
            format!("[radios.{}]", key(&spec.name))
        };
        out.push_str(&format!("\n{header}\n{}", ranges(spec)));
        pairs(&mut out, &table.pairs());
    }
    section(&mut out, "[routing]", &model.routing.pairs());
    for (protocol, pairs) in &model.protocols {
        section(&mut out, &format!("[{protocol}]"), pairs);
    }
    section(&mut out, "[arp]", &model.arp.pairs());
    section(&mut out, "[headers]", &model.headers.pairs());
    if let Some(tcp) = &model.tcp {
        section(&mut out, "[tcp]", &tcp.pairs());
    }
    for (name, values) in &model.schemes {
        let line = |(name, value): (&String, &ParamValue)| {
            format!("{} = {}\n", key(name), scheme_params::write(value))
        };
        let lines: String = values.0.iter().map(line).collect();
        out.push_str(&format!("\n[schemes.{}]\n{lines}", key(name)));
    }
    if let Some(movement) = &model.movement {
        section(&mut out, "[movement]", movement);
    }
    for table in &model.nodes.tables {
        section(&mut out, "[[node]]", &table.pairs());
    }
    for table in &model.links {
        section(&mut out, "[[link]]", &table.pairs());
    }
    for table in &model.gains {
        section(&mut out, "[[gain]]", &table.pairs());
    }
    for table in &model.controllers {
        section(&mut out, "[[controller]]", &table.pairs());
    }
    for table in &model.flows.tables {
        section(&mut out, "[[flow]]", &table.pairs());
    }
    out
}

fn section(out: &mut String, header: &str, lines: &[(&'static str, String)]) {
    out.push_str(&format!("\n{header}\n"));
    pairs(out, lines);
}

fn pairs(out: &mut String, lines: &[(&'static str, String)]) {
    for (key, value) in lines {
        out.push_str(&format!("{key} = {value}\n"));
    }
}

/// A comment with the thresholds as distances; the keys have the thresholds. Nothing where distances do not decide.
fn ranges(radio: &RadioSpec) -> String {
    if radio.propagation == Propagation::Matrix {
        return String::new();
    }
    let far = |level| {
        reach(&radio.propagation, radio.phy.tx_power, level)
            .map_or_else(|| "-".to_string(), |d| format!("{d:.1} m"))
    };
    let phy = &radio.phy;
    let data = Mode::of_rate(phy.standard, phy.data_rate)
        .map_or_else(|| "-".to_string(), |mode| far(least_power(phy, mode)));
    let [preamble, sense, cutoff] = [phy.preamble_detect, phy.energy_detect, phy.cutoff].map(far);
    let rate = phy.data_rate;
    format!(
        "# data at {rate} up to {data}, preambles {preamble} (preamble_detect), carrier sense {sense} (energy_detect), nothing \
         beyond {cutoff} (cutoff)\n"
    )
}

/// A key, in quotes if it needs them.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_string() } else { quote(name) }
}
