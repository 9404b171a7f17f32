//! Imports: maps of real networks become scenarios.
//!
//! A reader for each format turns bytes into nodes, links and rejected records (`draft`). `network` makes a received power
//! of the quality of each direction, by the link model (`quality`); `write` makes the scenario. The [`Report`] names every record
//! that the scenario does not contain as the file has it.
//!
//! ```
//! use airfair_scenario::import::{ImportOptions, Part, import};
//!
//! let map = br#"{ "type": "NetworkGraph", "protocol": "olsr", "metric": "etx",
//!                 "nodes": [{ "id": "a" }, { "id": "b" }, { "id": "c" }],
//!                 "links": [{ "source": "a", "target": "b", "cost": 1.5 }, { "source": "b", "target": "c", "cost": 0 }] }"#;
//! let done = import(&[Part { name: "map.json", bytes: map }], &ImportOptions::default())?;
//! assert_eq!(done.report.rejected[0].record, "link b - c");
//! assert_eq!(done.report.rejected[0].detail, "ETX 0; expected at least 1");
//! let scenario = airfair_scenario::read(&done.scenario, "map.toml", &[])?;
//! assert_eq!(scenario.spec.gains.len(), 2);
//! # Ok::<(), airfair_scenario::Errors>(())
//! ```

mod aliases;
mod aredn;
mod batadv;
mod batman;
mod bmx6;
mod cnml;
mod content;
mod draft;
mod ffmap;
mod file_flows;
mod flows;
mod format;
mod geo;
mod graphml;
mod hidden;
mod json;
mod libremap;
mod matrix;
mod meshviewer;
mod movement;
mod names;
mod netjson;
mod network;
mod ns2;
mod ns2_flows;
mod nycmesh;
mod olsr;
mod openwifimap;
mod options;
mod placement;
mod quality;
mod reason;
mod recognise;
mod report;
mod tcl;
mod timeouts;
mod topohub;
mod topologies;
mod write;
mod xml;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use airfair_sim::spec::Standard;
use airfair_units::Rate;

use crate::defaults::standard;
use crate::import::draft::ReadOptions;
use crate::import::file_flows::FileFlows;
use crate::import::recognise::kind_of;
use crate::text::error::{Errors, one_of};
use crate::text::limits::{Limits, too_large};
use crate::text::source::open_regular;

pub use draft::ImportLimits;
pub use format::{Format, Part};
pub use options::{IMPORT_OPTIONS, ImportOptions, LinkModel, UnknownMedium};
pub use reason::{Reason, Record};
pub use report::{Report, WrittenCounts};

/// Names of files in one folder that are parts of one network: reading one reads the others.
pub const SIBLINGS: [&str; 4] = ["nodes.json", "links.json", "sectors.json", "graph.json"];

/// A scenario made from a map, and what was read, written and left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The scenario as TOML.
    pub scenario: String,
    /// The report.
    pub report: Report,
}

/// Makes a scenario from the files of one network. The scenario is checked: `read` accepts it.
///
/// # Errors
/// Why the files are not a network of a known format, or what is wrong with an option.
pub fn import(parts: &[Part<'_>], options: &ImportOptions) -> Result<Import, Errors> {
    let origin = parts.first().map_or("", |p| p.name);
    let name = options.name.clone().unwrap_or_else(|| scenario_name(origin));
    import_as(parts, (origin, origin), &name, options)
}

/// Makes a scenario from a file, or from a folder with `nodes.json`, `links.json`, `sectors.json` or `graph.json`. If the file is one
/// part of several, the others are read from the same folder.
///
/// # Errors
/// As [`import`], and why a file cannot be read.
pub fn import_path(path: &Path, options: &ImportOptions) -> Result<Import, Errors> {
    let most = options.limits.file_bytes;
    let shown = |path: &Path| path.display().to_string();
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    if path.is_dir() {
        for file in SIBLINGS.iter().map(|name| path.join(name)).filter(|file| file.exists()) {
            files.push((shown(&file), load(&file, most)?));
        }
        if files.is_empty() {
            let problem = format!("a folder without {}; expected a file", one_of(&SIBLINGS));
            return Err(Errors::whole(&shown(path), problem));
        }
    } else {
        files.push((shown(path), load(path, most)?));
        let part = files.first().and_then(|(_, bytes)| kind_of(bytes, &options.limits));
        if let Some(part) = part.filter(|part| part.is_part()) {
            let folder = path.parent().unwrap_or(Path::new(""));
            let beside = SIBLINGS.iter().map(|name| folder.join(name));
            for file in beside.filter(|file| file.file_name() != path.file_name() && file.exists()) {
                let bytes = load(&file, most)?;
                // Another kind of file may have the same name.
                let kind = kind_of(&bytes, &options.limits);
                if kind.is_some_and(|kind| kind != part && kind.format() == part.format()) {
                    files.push((shown(&file), bytes));
                }
            }
        }
    }
    let parts: Vec<Part<'_>> = files.iter().map(|(name, bytes)| Part { name, bytes }).collect();
    // The name of several files is that of their folder, without the path to it.
    let named = if files.len() > 1 && !path.is_dir() { path.parent() } else { Some(path) };
    let title =
        named.and_then(Path::file_name).or(path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let title = title.unwrap_or_else(|| shown(path));
    let name = options.name.clone().unwrap_or_else(|| scenario_name(&title));
    import_as(&parts, (&shown(path), &title), &name, options)
}

fn load(path: &Path, most: u64) -> Result<Vec<u8>, Errors> {
    let origin = path.display().to_string();
    let mut bytes = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|e| Errors::whole(&origin, format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > most {
        return Err(Errors::whole(&origin, too_large(most)));
    }
    Ok(bytes)
}

/// The file's name without its ending, without characters that a scenario's name must not have.
fn scenario_name(origin: &str) -> String {
    let stem = PathBuf::from(origin);
    let stem = stem.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let (mut names, _) = names::names(&[&stem]);
    names.pop().filter(|_| !stem.is_empty()).unwrap_or_else(|| "imported".to_string())
}

fn import_as(
    parts: &[Part<'_>],
    (origin, title): (&str, &str),
    name: &str,
    options: &ImportOptions,
) -> Result<Import, Errors> {
    let fail = |problem: String| Errors::whole(origin, problem);
    let read_options =
        ReadOptions { since: options.since.as_deref(), planned: options.planned, limits: &options.limits };
    let format::Found { format, mark, imported: mut found } =
        format::read(parts, options.format, &read_options).map_err(|(file, problem)| {
            Errors::whole(if file.is_empty() { origin } else { &file }, problem)
        })?;
    if options.since.is_some() && !format.has_dates() {
        let dated = Format::NAMES.iter().filter(|(_, format)| format.has_dates()).map(|(name, _)| *name);
        let dated: Vec<&str> = dated.collect();
        return Err(fail(format!(
            "since: records of {} have no date; expected no such option (those of {} have one)",
            format.name(),
            one_of(&dated)
        )));
    }
    let model = options.link_model.unwrap_or(format.link_model());
    let radio = radio(format, options).map_err(fail)?;
    let linked = network::linked(&found);
    let (date, read, missing, ids) =
        (found.date.clone(), found.read.clone(), found.missing.clone(), found.nodes.len());
    let file_flows = std::mem::take(&mut found.flows);
    let mut network = network::build(found, model, &radio, options).map_err(fail)?;
    let file_flows = FileFlows::of(file_flows, &mut network);
    let (flows, most) = (file_flows.count() as u64 + u64::from(options.flows), Limits::default().flows);
    if flows > most {
        return Err(fail(format!("{flows} flows, those of the file included; expected at most {most}")));
    }
    if network.powers.is_empty() && network.wires.is_empty() && model != LinkModel::Positions
        || network.nodes.is_empty()
    {
        let links = read.get("links").copied().unwrap_or(0);
        let rejected = report::reasons(&network.rejected);
        let tail = if rejected.is_empty() { String::new() } else { format!("; rejected: {rejected}") };
        return Err(fail(format!(
            "nothing is left of {} and {}{tail}",
            report::count(ids, "node"),
            report::count(usize::try_from(links).unwrap_or(usize::MAX), "link")
        )));
    }
    assume(&mut network, model, &radio, options);
    if format.assumes_radio() && !network.powers.is_empty() {
        network.assumed.push(format!("every link is radio: {} does not say which are cables", format.name()));
    }
    let long_links = timeouts::long_links(&network, model, &radio, options);
    let long_links = long_links.map(|(choice, words)| {
        network.assumed.push(words);
        choice
    });
    network.assumed.extend(file_flows.late(options.duration));
    let protection = hidden::protection(&network);
    let rts = protection.is_some();
    network.assumed.extend(protection);
    let chosen = flows::choose(&mut network, (model, &radio), options).map_err(fail)?;
    let ids_of: Vec<&str> = network.nodes.iter().map(|n| n.id.as_str()).collect();
    let (names, renamed) = names::names(&ids_of);
    let largest = network::largest(&network::components(&network.usable)).1;
    let mut report = Report {
        origin: origin.to_string(),
        format: format.name(),
        recognised_by: mark,
        link_model: model.name(),
        date,
        read,
        ids,
        linked: linked.into(),
        missing,
        rejected: std::mem::take(&mut network.rejected),
        noted: std::mem::take(&mut network.noted),
        renamed,
        assumed: std::mem::take(&mut network.assumed),
        gateways: chosen.as_ref().map_or_else(BTreeMap::new, |chosen| flows_to(chosen, &names)),
        written: WrittenCounts {
            nodes: names.len(),
            radios: 0,
            radio_links: pairs(&network),
            gains: network.powers.len(),
            wires: network.wires.len(),
            movements: network.nodes.iter().map(|node| node.legs.len()).sum(),
            flows: chosen.as_ref().map_or(0, |chosen| chosen.flows.len()),
            file_flows: file_flows.count(),
            largest,
        },
    };
    let radios = network.radios(model);
    report.written.radios = radios.iter().filter(|has| **has).count();
    let writer = write::Scenario {
        name,
        title,
        network: &network,
        names: &names,
        radios: &radios,
        model,
        radio: &radio,
        long_links,
        rts,
        chosen: chosen.as_ref(),
        file_flows: &file_flows,
        options,
        report: &report,
    };
    let scenario = writer.toml();
    // A scenario that was written must be readable: checked at once.
    crate::reader::read(&scenario, origin, &[])?;
    Ok(Import { scenario, report })
}

/// Number of flows to each gateway, by name.
fn flows_to(chosen: &flows::Chosen, names: &[String]) -> BTreeMap<String, usize> {
    let mut counts: BTreeMap<usize, usize> = chosen.gateways.iter().map(|&gateway| (gateway, 0)).collect();
    for (_, gateway) in &chosen.flows {
        *counts.entry(*gateway).or_default() += 1;
    }
    counts.into_iter().filter_map(|(gateway, flows)| Some((names.get(gateway)?.clone(), flows))).collect()
}

fn pairs(network: &network::Network) -> usize {
    let powers = &network.powers;
    powers.keys().filter(|&&(a, b)| a < b || !powers.contains_key(&(b, a))).count()
}

fn radio(format: Format, options: &ImportOptions) -> Result<quality::Radio, String> {
    let usual = if format.is_5_ghz() { Standard::Dot11a } else { Standard::Dot11g };
    let standard = options.standard.unwrap_or(usual);
    let usual = if standard == Standard::Dot11b { Rate::from_mbps(11) } else { Rate::from_mbps(24) };
    let data_rate = options.data_rate.unwrap_or(usual);
    quality::Radio::new(standard, data_rate, options.margin, options.antenna).ok_or_else(|| {
        let modes: Vec<String> = standard::defaults(standard).modes.iter().map(Rate::to_string).collect();
        let standard = options::standard_name(standard);
        format!(
            "data-rate: \"{data_rate}\": {standard} has no such mode; expected one of {}",
            modes.join(", ")
        )
    })
}

/// The assumptions of the link model, in words.
fn assume(network: &mut network::Network, model: LinkModel, radio: &quality::Radio, options: &ImportOptions) {
    let (directions, measured) = (network.powers.len(), network.measured.len());
    let no_radio = directions == 0;
    let mut say = |words: String| network.assumed.push(words);
    match model {
        _ if no_radio && model != LinkModel::Positions => {}
        LinkModel::Positions => {
            say(format!("two-ray ground, received within {}; links are not read", options.range));
        }
        LinkModel::Distance => say(format!(
            "free space over each link's length, antennas of {} at both ends; other nodes receive nothing",
            options.antenna
        )),
        LinkModel::Delivery | LinkModel::Probe | LinkModel::Signal => {
            let ratios = if model == LinkModel::Probe {
                "a 100-byte broadcast at the broadcast rate".to_string()
            } else {
                format!("a 1500-byte packet at {}", radio.data_rate)
            };
            let delivery = format!(
                "a delivery ratio is that of {ratios}; a link without losses has {} more",
                options.margin
            );
            if model != LinkModel::Signal {
                say(delivery);
            } else if measured == 0 {
                say(format!("no link has a measured power, so as with the link model delivery: {delivery}"));
            } else {
                let which = report::count(measured, "direction");
                say(format!(
                    "the measured powers of {which} are received as they stand, whatever radio measured them"
                ));
                if measured < directions {
                    say(format!("other directions as with the link model delivery: {delivery}"));
                }
            }
            say("nodes that are not linked do not hear each other".to_string());
        }
    }
    if !no_radio {
        say(format!("all radios share one channel, and send data at {}", radio.data_rate));
    }
    let (rate, tunnel_rate) = (options.wire_rate, options.tunnel_rate);
    if network.wires.values().any(|w| !w.tunnel) {
        network.assumed.push(format!("wires carry {rate}, 5 ns per metre"));
    }
    if network.wires.values().any(|w| w.tunnel) {
        network.assumed.push(format!("tunnels carry {tunnel_rate} in 10 ms"));
    }
}
