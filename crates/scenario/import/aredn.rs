//! AREDN's sysinfo: the answer of one node about itself and its links, or those of several nodes.
//!
//! The API has versions from 1.0 to 2.0; links are in it from 1.7 on, if they are asked for (`sysinfo?link_info=1`). A record of
//! `link_info`, by the address of the neighbour, has the neighbour's name and the kind of the link: RF; DTD, a cable between devices at one
//! site, and XLINK; TUN and WIREGUARD, tunnels. `linkQuality` is the share that the node receives from the neighbour, `neighborLinkQuality`
//! the share that the neighbour receives from it; version 2.0, with Babel instead of OLSR, has neither, only `signal` and `noise`. The
//! link quality monitor (`lqm`), where it is in the answer, has the locations of neighbours. `topology` is olsrd's: links of the whole
//! network by address, of unknown kind. Names are those of DNS: upper and lower case are the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::aliases::Aliases;
use super::draft::{
    DirectionQuality, Draft, Imported, Medium, NodeLocation, ReadOptions, UnknownEnd, link_record, ratio,
};
use super::json::{id, list, number, text};
use super::reason::Reason;

/// Powers that a receiver can report, dBm.
const POWERS: std::ops::RangeInclusive<f64> = -130.0..=30.0;
/// The width of the simulator's channels, MHz.
const WIDTH: f64 = 20.0;

/// True if a value is a sysinfo.
pub(crate) fn is_node(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    has("api_version") && has("node") && (has("interfaces") || has("meshrf") || has("link_info"))
}

/// Reads the answers, each with its place in the file; `wrong` are lines that are no JSON.
///
/// # Errors
/// If no answer has links, or if there is too much.
pub(crate) fn read(
    nodes: &[(usize, &Value)],
    wrong: &[(usize, &str)],
    read_options: &ReadOptions<'_>,
) -> Result<Imported, String> {
    if !nodes.iter().any(|(_, node)| node.get("link_info").is_some() || node.get("topology").is_some()) {
        return Err("AREDN sysinfo without link_info, its links; expected the answer to sysinfo?link_info=1"
            .to_string());
    }
    let mut draft = Draft::new(read_options);
    let names = Names::of(nodes);
    draft.set_aliases(names.aliases());
    for (line, problem) in wrong {
        draft.count("nodes")?;
        draft.reject(format!("line {line}"), Reason::Malformed, format!("not JSON: {problem}"));
    }
    let mut own = Vec::with_capacity(nodes.len());
    let mut narrow: BTreeSet<String> = BTreeSet::new();
    for &(place, node) in nodes {
        draft.count("nodes")?;
        let Some(id) = names.of_node(node) else {
            draft.reject(format!("sysinfo number {place}"), Reason::Malformed, "no node".to_string());
            continue;
        };
        let Some(index) = draft.node(&id, location(node)) else { continue };
        let gateway = node.get("node_details").and_then(|details| details.get("mesh_gateway"));
        if let Some(made) = draft.found.nodes.get_mut(index) {
            made.gateway =
                gateway.is_some_and(|is| is.as_bool().unwrap_or_else(|| number(Some(is)) == Some(1.0)));
        }
        let width = node.get("meshrf").and_then(|rf| number(rf.get("chanbw")));
        narrow.extend(
            width
                .filter(|width| *width > 0.0 && (*width - WIDTH).abs() > 1e-6)
                .map(|width| width.to_string()),
        );
        own.push((id, node));
    }
    locate_neighbours(&own, &names, &mut draft)?;
    let mut told = BTreeSet::new();
    for (from, node) in &own {
        for (address, link) in node.get("link_info").and_then(Value::as_object).into_iter().flatten() {
            let to = names.of_link(link).unwrap_or_else(|| address.clone());
            read_link(from, &to, link, &mut told, &mut draft)?;
        }
    }
    for (_, node) in &own {
        read_topology(node, &told, &mut draft)?;
    }
    if !narrow.is_empty() {
        let widths: Vec<&str> = narrow.iter().map(String::as_str).collect();
        draft.found.assumed.push(format!("channels of {} MHz are read as 20 MHz", widths.join(" and ")));
    }
    Ok(draft.found)
}

/// The names of nodes: each as its own node spells it, or else as the first of its spellings in the order of texts.
struct Names<'a> {
    nodes: &'a [(usize, &'a Value)],
    spelled: BTreeMap<String, String>,
}

impl<'a> Names<'a> {
    fn of(nodes: &'a [(usize, &'a Value)]) -> Self {
        let mut spelled: BTreeMap<String, String> = BTreeMap::new();
        for (_, node) in nodes {
            least(&mut spelled, text(node.get("node")).and_then(host));
        }
        let mut others: BTreeMap<String, String> = BTreeMap::new();
        for (_, node) in nodes {
            neighbours(node).for_each(|(_, neighbour)| least(&mut others, host_of(neighbour)));
        }
        for (name, spelling) in others {
            spelled.entry(name).or_insert(spelling);
        }
        Self { nodes, spelled }
    }

    /// The addresses of nodes: those of their interfaces, and those under which their neighbours list them.
    fn aliases(&self) -> Aliases {
        let mut aliases = Aliases::default();
        for (_, node) in self.nodes {
            if let Some(name) = self.of_node(node) {
                let address = |interface: &Value| id(interface.get("ip")).filter(|ip| ip != "none");
                let own = list(node.get("interfaces")).iter().filter_map(address);
                own.for_each(|address| aliases.add(&name, &address));
            }
            for (address, neighbour) in neighbours(node) {
                if let Some(name) = self.of_link(neighbour) {
                    aliases.add(&name, address);
                }
            }
        }
        aliases
    }

    fn of_node(&self, node: &Value) -> Option<String> {
        self.spelling(&text(node.get("node")).and_then(host)?)
    }

    fn of_link(&self, link: &Value) -> Option<String> {
        self.spelling(&host_of(link)?)
    }

    fn spelling(&self, name: &str) -> Option<String> {
        self.spelled.get(&name.to_lowercase()).cloned()
    }
}

/// Keeps the first spelling of a name in the order of texts.
fn least(spelled: &mut BTreeMap<String, String>, name: Option<String>) {
    let Some(name) = name else { return };
    let kept = spelled.entry(name.to_lowercase()).or_insert_with(|| name.clone());
    if name < *kept {
        *kept = name;
    }
}

/// The neighbours in the links of a node and in its link quality monitor, by address.
fn neighbours(node: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let links = node.get("link_info").and_then(Value::as_object).into_iter().flatten();
    let links = links.map(|(address, link)| (address.as_str(), link));
    links.chain(trackers(node).filter_map(|tracker| Some((text(tracker.get("ip"))?, tracker))))
}

/// The records of neighbours in the link quality monitor of a node.
fn trackers(node: &Value) -> impl Iterator<Item = &Value> {
    let trackers = node.get("lqm").and_then(|lqm| lqm.get("info")?.get("trackers"));
    trackers.and_then(Value::as_object).into_iter().flatten().map(|(_, tracker)| tracker)
}

fn host_of(link: &Value) -> Option<String> {
    text(link.get("hostname")).and_then(host)
}

/// The name of a node in a name of DNS: without the domain, and without the interface that may stand before it.
fn host(name: &str) -> Option<String> {
    let name = name.trim().trim_start_matches('.');
    let domain = ".local.mesh";
    let name = match name.len().checked_sub(domain.len()).and_then(|at| name.split_at_checked(at)) {
        Some((host, end)) if end.eq_ignore_ascii_case(domain) => host,
        _ => name,
    };
    let interface = |label: &str| {
        let kind = label.trim_end_matches(|c: char| c.is_ascii_digit()).to_lowercase();
        ["dtdlink", "mid", "xlink", "wlan", "lan"].contains(&kind.as_str())
    };
    let name = name.split_once('.').filter(|(label, _)| interface(label)).map_or(name, |(_, rest)| rest);
    (!name.is_empty()).then(|| name.to_string())
}

fn location(node: &Value) -> Option<NodeLocation> {
    let (latitude, longitude) = number(node.get("lat")).zip(number(node.get("lon")))?;
    Some(NodeLocation::Earth { latitude, longitude, altitude: 0.0 })
}

/// Makes the neighbours that link quality monitors locate and that have no answer of their own. Where answers differ, that of the node
/// whose name is the first counts.
fn locate_neighbours(
    own: &[(String, &Value)],
    names: &Names<'_>,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    let mut answers: Vec<&(String, &Value)> = own.iter().collect();
    answers.sort_by_key(|(name, _)| name);
    let mut located: BTreeMap<String, NodeLocation> = BTreeMap::new();
    for (_, node) in answers {
        let links = node.get("link_info").and_then(Value::as_object).into_iter().flatten();
        let linked: BTreeSet<String> = links.filter_map(|(_, link)| names.of_link(link)).collect();
        for tracker in trackers(node) {
            if let (Some(name), Some(location)) = (names.of_link(tracker), location(tracker))
                && linked.contains(&name)
            {
                located.entry(name).or_insert(location);
            }
        }
    }
    for (name, location) in located {
        if draft.find(&name).is_none() {
            draft.count("nodes")?;
            draft.node(&name, Some(location));
        }
    }
    Ok(())
}

fn read_link(
    from: &str,
    to: &str,
    link: &Value,
    told: &mut BTreeSet<[usize; 2]>,
    draft: &mut Draft<'_>,
) -> Result<(), String> {
    draft.count("links")?;
    let Some(ends) = draft.ends(from, to, UnknownEnd::Make)? else { return Ok(()) };
    told.insert([ends[0].min(ends[1]), ends[0].max(ends[1])]);
    let interface = text(link.get("interface").or_else(|| link.get("olsrInterface"))).unwrap_or_default();
    let signal = number(link.get("signal"));
    let medium = match text(link.get("linkType")).unwrap_or_default().to_uppercase().as_str() {
        "RF" => Medium::Radio,
        "DTD" | "XLINK" => Medium::Cable,
        "TUN" | "WIREGUARD" | "SUPER" => Medium::Tunnel,
        _ if interface.starts_with("wlan") => Medium::Radio,
        _ if interface.starts_with("tun") || interface.starts_with("wg") => Medium::Tunnel,
        _ if interface.starts_with("br-dtdlink") || interface.ends_with(".2") => Medium::Cable,
        _ => Medium::Unknown,
    };
    match ways(link, signal.filter(|_| medium == Medium::Radio)) {
        Ok((forward, reverse)) => draft.link(ends, medium, forward, reverse),
        Err((reason, detail)) => draft.reject(link_record(from, to), reason, detail),
    }
    Ok(())
}

fn ways(link: &Value, signal: Option<f64>) -> Result<(DirectionQuality, DirectionQuality), (Reason, String)> {
    let quality = |key: &'static str| link.get(key).map(|value| ratio(number(Some(value)), key)).transpose();
    let forward = quality("neighborLinkQuality")?.map_or(DirectionQuality::default(), DirectionQuality::echo);
    let mut reverse = quality("linkQuality")?.map_or(DirectionQuality::default(), DirectionQuality::own);
    if let Some(dbm) = signal {
        if !POWERS.contains(&dbm) {
            return Err((Reason::BadQuality, format!("signal {dbm} dBm; expected -130 to 30")));
        }
        (reverse.power, reverse.own) = (Some(dbm), true);
    }
    Ok((forward, reverse))
}

/// Reads olsrd's links of the whole network. Those of an answer's own links are known with their kind.
fn read_topology(node: &Value, told: &BTreeSet<[usize; 2]>, draft: &mut Draft<'_>) -> Result<(), String> {
    for (i, entry) in list(node.get("topology")).iter().enumerate() {
        draft.count("links")?;
        let (Some(last), Some(destination)) = (id(entry.get("lastHopIP")), id(entry.get("destinationIP")))
        else {
            let detail = "no lastHopIP or no destinationIP".to_string();
            draft.reject(format!("topology entry number {}", i + 1), Reason::Malformed, detail);
            continue;
        };
        let Some(ends) = draft.ends(&last, &destination, UnknownEnd::Make)? else { continue };
        let id = |end: usize| draft.found.nodes.get(end).map_or(String::new(), |node| node.id.clone());
        let record = link_record(&id(ends[0]), &id(ends[1]));
        if told.contains(&[ends[0].min(ends[1]), ends[0].max(ends[1])]) {
            draft.reject(record, Reason::DuplicateLink, "in link_info, too".to_string());
            continue;
        }
        let quality = |key: &'static str| ratio(number(entry.get(key)), key);
        match (quality("neighborLinkQuality"), quality("linkQuality")) {
            (Ok(forward), Ok(reverse)) => {
                let (forward, reverse) = (DirectionQuality::echo(forward), DirectionQuality::own(reverse));
                draft.link(ends, Medium::Unknown, forward, reverse);
            }
            (Err((reason, detail)), _) | (_, Err((reason, detail))) => draft.reject(record, reason, detail),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn names_of_interfaces_are_names_of_their_node() {
        for (name, node) in [
            ("AB1CD-farm.local.mesh", Some("AB1CD-farm")),
            ("AB1CD-FARM.LOCAL.MESH", Some("AB1CD-FARM")),
            ("dtdlink.AB1CD-farm.local.mesh", Some("AB1CD-farm")),
            ("mid12.AB1CD-farm", Some("AB1CD-farm")),
            (".AB1CD-farm", Some("AB1CD-farm")),
            ("farm.example", Some("farm.example")),
            (" ", None),
        ] {
            assert_eq!(host(name).as_deref(), node, "{name}");
        }
    }
}
