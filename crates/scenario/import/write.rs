//! Writing a network as a scenario, in TOML that people can read.

use std::fmt::Write as _;

use airfair_units::{Meters, Rate};

use super::draft::NodeLocation;
use super::file_flows::FileFlows;
use super::flows::Chosen;
use super::geo::plane;
use super::network::{Network, Wire, round};
use super::options::{ImportOptions, LinkModel, standard_name};
use super::quality::{NOISE_FIGURE, Radio, TX_POWER, broadcast_rate};
use super::report::{Report, count};
use super::timeouts::LongLinks;
use crate::declare::field::quote;
use crate::defaults::standard::PREAMBLE_DETECT;
use crate::resolve::movement::waypoints;
use crate::text::error::{clean, cut};

/// Links with a lower delivery ratio do not influence the preamble threshold.
const HEARD: f64 = 0.01;
/// How far the preamble threshold lies below the weakest link, dB.
const BELOW: f64 = 0.5;
/// The usual least SINR of a preamble, dB.
const LOCK: f64 = 4.0;
/// How far carrier sense reaches beyond reception, as in ns-2: 550 m to 250 m.
const SENSE: f64 = 2.2;
/// Propagation time in a fibre or a cable, ns/m: two thirds of the speed of light.
const NS_PER_METRE: f64 = 5.0;
/// Delay of a tunnel.
const TUNNEL_DELAY: &str = "10 ms";

/// The parts of a scenario to write.
pub(crate) struct Scenario<'a> {
    pub name: &'a str,
    /// The origin of the network, in words.
    pub title: &'a str,
    pub network: &'a Network,
    /// The names of the nodes.
    pub names: &'a [String],
    /// Which of them have a radio.
    pub radios: &'a [bool],
    pub model: LinkModel,
    pub radio: &'a Radio,
    /// How radios wait for answers over long links, if there are any.
    pub long_links: Option<LongLinks>,
    /// True if RTS and CTS precede all data.
    pub rts: bool,
    pub chosen: Option<&'a Chosen>,
    pub file_flows: &'a FileFlows,
    pub options: &'a ImportOptions,
    pub report: &'a Report,
}

impl Scenario<'_> {
    /// The scenario as TOML.
    pub fn toml(&self) -> String {
        let mut out = String::new();
        self.comments(&mut out);
        self.top(&mut out);
        self.nodes(&mut out);
        self.gains(&mut out);
        self.wires(&mut out);
        if self.radios.contains(&true) {
            self.radio(&mut out);
        }
        if self.model != LinkModel::Positions {
            out.push_str("\n[routing]\nmetric = \"etx\"\n");
        }
        out.push_str(&self.file_flows.toml(|node| self.name(node)));
        self.flows(&mut out);
        out
    }

    fn has_radio(&self, node: usize) -> bool {
        self.radios.get(node).copied().unwrap_or(false)
    }

    fn name(&self, node: usize) -> String {
        quote(self.names.get(node).map_or("", String::as_str))
    }

    fn comments(&self, out: &mut String) {
        let r = self.report;
        let date = r.date.as_ref().map_or_else(String::new, |d| format!(", data of {}", clean(&cut(d))));
        let _ = writeln!(out, "# Imported from {} ({}){date}.", clean(&cut(self.title)), r.format);
        let _ = writeln!(out, "#   read: {}", r.read_line());
        let _ = writeln!(out, "#   written: {}", r.written_line());
        if !r.rejected.is_empty() {
            let _ = writeln!(out, "#   rejected: {}", super::report::reasons(&r.rejected));
        }
        out.push_str("# Assumed:\n");
        for words in &r.assumed {
            let _ = writeln!(out, "#   {}", clean(words));
        }
    }

    fn top(&self, out: &mut String) {
        let w = &self.report.written;
        let (nodes, links) = (count(w.nodes, "node"), count(w.radio_links, "radio link"));
        let about = format!("{nodes} and {links} of {}", clean(&cut(self.title)));
        let duration = self.options.duration;
        let _ = writeln!(out, "\nname = {}", quote(self.name));
        let _ = writeln!(out, "description = {}", quote(&about));
        let _ = writeln!(out, "duration = {}", quote(&duration.to_string()));
    }

    fn nodes(&self, out: &mut String) {
        let locations: Vec<_> = self.network.nodes.iter().map(|n| n.location).collect();
        let metres = |x: f64| quote(&Meters(round(x, 10.0) + 0.0).to_string());
        out.push_str("\nnode = [\n");
        for (i, (node, position)) in self.network.nodes.iter().zip(plane(&locations)).enumerate() {
            let _ = write!(out, "  {{ id = {}", self.name(i));
            // A position in a plane is exact, and a path begins there.
            let metres = |x: f64| {
                if matches!(node.location, Some(NodeLocation::Plane(_))) {
                    quote(&Meters(x + 0.0).to_string())
                } else {
                    metres(x)
                }
            };
            if let Some([x, y, z]) = position {
                let _ = write!(out, ", position = [{}, {}", metres(x), metres(y));
                if z != 0.0 {
                    let _ = write!(out, ", {}", metres(z));
                }
                out.push(']');
                if self.network.guessed.get(i) == Some(&true) {
                    out.push_str(", position_is_a_guess = true");
                }
            }
            if !self.has_radio(i) {
                out.push_str(", radios = []");
            }
            if !node.legs.is_empty() {
                let waypoints = waypoints(&node.legs);
                let _ = write!(out, ", movement = {{ waypoints = [\n{waypoints}  ] }}");
            }
            out.push_str(" },");
            if let Some(label) = &node.label {
                let _ = write!(out, "  # {}", clean(&cut(label)));
            }
            out.push('\n');
        }
        out.push_str("]\n");
    }

    fn gains(&self, out: &mut String) {
        let powers = &self.network.powers;
        if powers.is_empty() {
            return;
        }
        let gain = |power: f64| round(power - TX_POWER.0, 100.0);
        out.push_str("\n# Received power less transmit power; what is not listed is not heard.\ngain = [\n");
        for (&(from, to), &power) in powers {
            let gain_forward = gain(power);
            let reverse = powers.get(&(to, from)).map(|&p| gain(p));
            let both = reverse.is_some_and(|reverse| reverse.to_bits() == gain_forward.to_bits());
            if both && to < from {
                continue;
            }
            let tail = if both { ", both = true" } else { "" };
            let (from, to) = (self.name(from), self.name(to));
            let _ = writeln!(out, "  {{ from = {from}, to = {to}, gain = \"{gain_forward} dB\"{tail} }},");
        }
        out.push_str("]\n");
    }

    fn wires(&self, out: &mut String) {
        if self.network.wires.is_empty() {
            return;
        }
        out.push_str("\nlink = [\n");
        for (&(a, b), wire) in &self.network.wires {
            let rate: Rate = if wire.tunnel { self.options.tunnel_rate } else { self.options.wire_rate };
            let (a, b, rate) = (self.name(a), self.name(b), quote(&rate.to_string()));
            let _ = writeln!(out, "  {{ ends = [{a}, {b}], rate = {rate}, delay = \"{}\" }},", delay(wire));
        }
        out.push_str("]\n");
    }

    fn radio(&self, out: &mut String) {
        let _ = writeln!(out, "\n[radio]\nstandard = \"{}\"", standard_name(self.radio.standard));
        let _ = writeln!(out, "data_rate = \"{}\"", self.radio.data_rate);
        let _ = writeln!(out, "broadcast_rate = \"{}\"", broadcast_rate(self.radio.standard));
        match self.long_links {
            None => {}
            Some(LongLinks::Class(class)) => {
                let _ = writeln!(out, "coverage_class = {class}");
            }
            Some(LongLinks::EachLink) => out.push_str("timeout_distance = \"each-link\"\n"),
        }
        if self.rts {
            out.push_str("rts_threshold = \"0 B\"                    # neighbours of a node need not hear each other\n");
        }
        if self.model == LinkModel::Positions {
            let range = self.options.range;
            let sense = Meters(round(range.0 * SENSE, 10.0));
            let _ = writeln!(
                out,
                "propagation = {{ model = \"two-ray\", range = \"{range}\", carrier_sense = \"{sense}\" }}"
            );
            return;
        }
        let _ = writeln!(out, "tx_power = \"{TX_POWER}\"");
        let _ = writeln!(out, "noise_figure = \"{NOISE_FIGURE}\"");
        out.push_str(
            "error_model = \"per-chunk\"              # a link's gain decides how many frames it loses\n",
        );
        let least = self.radio.power_of(HEARD, LinkModel::Delivery);
        let heard = self.network.powers.values().filter(|&&p| p >= least);
        let weakest = heard.fold(f64::INFINITY, |least, &p| least.min(p)) - BELOW;
        if weakest < PREAMBLE_DETECT.0 {
            let _ = writeln!(out, "preamble_detect = \"{} dBm\"", down(weakest));
        }
        if weakest - self.radio.noise.0 < LOCK {
            let _ = writeln!(out, "lock_sinr = \"{} dB\"", down(weakest - self.radio.noise.0));
        }
        out.push_str("propagation = { model = \"matrix\" }\n");
    }

    fn flows(&self, out: &mut String) {
        let Some(chosen) = self.chosen else { return };
        for (i, &(source, gateway)) in chosen.flows.iter().enumerate() {
            let (from, to) = (self.name(source), self.name(gateway));
            let _ = writeln!(out, "\n[[flow]]\nid = \"flow-{i}\"\nfrom = {from}\nto = {to}");
            out.push_str("transport = \"tcp-newreno\"\ntraffic = { kind = \"ftp\" }\n");
        }
    }
}

fn delay(wire: &Wire) -> String {
    if wire.tunnel {
        return TUNNEL_DELAY.to_string();
    }
    format!("{} ns", (wire.length_m * NS_PER_METRE).round().clamp(0.0, 1e15) as u64)
}

/// A level rounded down to a tenth.
fn down(level: f64) -> f64 {
    (level * 10.0).floor() / 10.0
}
