//! The result of a format's reader: nodes, links, and the records that were left out, each with its reason.

use std::collections::BTreeMap;

use airfair_units::{Bytes, Rate, Span};

use super::aliases::Aliases;
use super::reason::{Reason, Record};
use crate::resolve::movement_file::Leg;
use crate::text::error::{clean, cut, quoted};

/// Delivery ratios above 1 by no more than this are rounding.
const ROUNDING: f64 = 1e-6;
/// An expected transmission count from which olsrd calls a link broken (2^22 in steps of 1/1024).
const BROKEN_ETX: f64 = 4096.0;
/// Farthest coordinate in a plane, m.
const FARTHEST: f64 = 9e6;

/// The location of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum NodeLocation {
    /// Degrees, and metres above the sea.
    Earth { latitude: f64, longitude: f64, altitude: f64 },
    /// Metres in a plane, and above it.
    Plane([f64; 3]),
}

/// A node of a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImportedNode {
    pub id: String,
    /// The name that people use, if it is not the id.
    pub label: Option<String>,
    pub location: Option<NodeLocation>,
    /// True if, by the file, the node leads to the Internet.
    pub gateway: bool,
    /// The movements of the node.
    pub legs: Vec<Leg>,
}

/// The medium of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Radio.
    Radio,
    /// A cable, a fibre, or a 60 GHz link, which shares no air with others.
    Cable,
    /// A tunnel through another network.
    Tunnel,
    /// Unknown: the file has radio links and others, and does not say which this link is.
    Unknown,
}

/// The quality of one direction of a link, as far as the file gives it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct DirectionQuality {
    /// Share of frames that arrive, 0 to 1.
    pub delivery: Option<f64>,
    /// Received power, dBm.
    pub power: Option<f64>,
    /// True if the record is about this direction; else it repeats the record of the other end, or is valid for both.
    pub own: bool,
}

impl DirectionQuality {
    /// A delivery ratio of this direction.
    pub fn own(delivery: f64) -> Self {
        Self { delivery: Some(delivery), power: None, own: true }
    }

    /// A delivery ratio that is replaced if another record is about this direction.
    pub fn echo(delivery: f64) -> Self {
        Self { delivery: Some(delivery), power: None, own: false }
    }

    /// True if anything is known.
    pub fn is_known(&self) -> bool {
        self.delivery.is_some() || self.power.is_some()
    }
}

/// A record of a link.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ImportedLink {
    /// From, to: indices in [`Imported::nodes`].
    pub ends: [usize; 2],
    pub medium: Medium,
    /// From the first end to the second.
    pub forward: DirectionQuality,
    /// From the second end to the first.
    pub reverse: DirectionQuality,
    /// The length of the link if the file states it, m.
    pub length_m: Option<f64>,
}

/// The traffic of a flow of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowTraffic {
    /// TCP without an end.
    Bulk { segment: Bytes },
    /// UDP at a constant rate; with gaps of random length or not.
    Constant { rate: Rate, packet: Bytes, random: bool },
}

/// A flow of a file, from node to node by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportedFlow {
    pub id: String,
    pub from: String,
    pub to: String,
    pub traffic: FlowTraffic,
    pub start: Span,
    pub stop: Option<Span>,
}

/// The content of a file.
#[derive(Debug, Default)]
pub(crate) struct Imported {
    /// When the data were taken, in the words of the file.
    pub date: Option<String>,
    pub nodes: Vec<ImportedNode>,
    pub links: Vec<ImportedLink>,
    /// The pairs that links name, whether or not the links are kept; the lesser node first.
    pub pairs: Vec<(usize, usize)>,
    /// True if a link is written once for both directions, so that a second record of the pair is a duplicate.
    pub undirected: bool,
    /// Flows of the file.
    pub flows: Vec<ImportedFlow>,
    /// Records left out.
    pub rejected: Vec<Record>,
    /// Records that are kept, but not as the file has them.
    pub noted: Vec<Record>,
    /// How many records of each kind the file has, those left out included.
    pub read: BTreeMap<&'static str, u64>,
    /// Different ids that links or sectors name and that no node has.
    pub missing: BTreeMap<String, u64>,
    /// Assumptions: how the file was read where it is ambiguous.
    pub assumed: Vec<String>,
}

/// How large a file and its network may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportLimits {
    /// Most bytes of a file.
    pub file_bytes: u64,
    /// Most records of nodes.
    pub nodes: u64,
    /// Most records of links.
    pub links: u64,
}

impl Default for ImportLimits {
    fn default() -> Self {
        Self { file_bytes: 32 << 20, nodes: 50_000, links: 100_000 }
    }
}

/// Options of a reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadOptions<'a> {
    /// Records older than this moment (an ISO 8601 text) are left out.
    pub since: Option<&'a str>,
    /// True if links that are not built yet are read.
    pub planned: bool,
    pub limits: &'a ImportLimits,
}

/// The treatment of a link with an end that no node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownEnd {
    /// The link is left out.
    Reject,
    /// The node is made, since the file lists links only, or not all nodes.
    Make,
}

/// An [`Imported`] that is being filled.
pub(crate) struct Draft<'a> {
    pub found: Imported,
    index: BTreeMap<String, usize>,
    /// The main address of each alias.
    mains: BTreeMap<String, String>,
    read_options: &'a ReadOptions<'a>,
}

impl<'a> Draft<'a> {
    /// An empty draft.
    pub fn new(read_options: &'a ReadOptions<'a>) -> Self {
        Self { found: Imported::default(), index: BTreeMap::new(), mains: BTreeMap::new(), read_options }
    }

    /// Counts a record of some kind.
    ///
    /// # Errors
    /// If there are more nodes or links than allowed.
    pub fn count(&mut self, kind: &'static str) -> Result<(), String> {
        let count = self.found.read.entry(kind).or_insert(0);
        *count += 1;
        let most = match kind {
            "nodes" => self.read_options.limits.nodes,
            _ => self.read_options.limits.links,
        };
        if *count > most {
            return Err(format!("more than {most} {kind}; expected at most {most}"));
        }
        Ok(())
    }

    /// Leaves a record out.
    pub fn reject(&mut self, record: String, reason: Reason, detail: String) {
        self.found.rejected.push(Record { record, reason, detail });
    }

    /// Sets the other addresses of nodes, before the first node is made: every one of them is its main address from then on.
    pub fn set_aliases(&mut self, aliases: Aliases) {
        self.mains = aliases.mains();
    }

    /// The main address of an address.
    pub fn main<'b>(&'b self, id: &'b str) -> &'b str {
        self.mains.get(id).map_or(id, String::as_str)
    }

    /// Adds a node and returns its index in [`Imported::nodes`]; `None` if a node has its id already, or the id is an alias.
    pub fn node(&mut self, id: &str, location: Option<NodeLocation>) -> Option<usize> {
        if let Some(main) = self.mains.get(id) {
            let detail = format!("another address of {}", node_record(main));
            self.reject(node_record(id), Reason::DuplicateNode, detail);
            return None;
        }
        if self.index.contains_key(id) {
            self.reject(node_record(id), Reason::DuplicateNode, String::new());
            return None;
        }
        let location = match location.map(check_location) {
            Some(Err(detail)) => {
                self.reject(format!("location of {}", node_record(id)), Reason::BadPosition, detail);
                None
            }
            Some(Ok(location)) => Some(location),
            None => None,
        };
        Some(self.add(id, location))
    }

    fn add(&mut self, id: &str, location: Option<NodeLocation>) -> usize {
        let index = self.found.nodes.len();
        self.found.nodes.push(ImportedNode {
            id: id.to_string(),
            label: None,
            location,
            gateway: false,
            legs: Vec::new(),
        });
        self.index.insert(id.to_string(), index);
        index
    }

    /// Sets the name that people use for a node.
    pub fn label(&mut self, node: usize, label: Option<&str>) {
        if let (Some(node), Some(label)) = (self.found.nodes.get_mut(node), label) {
            node.label = Some(label.trim().to_string()).filter(|l| !l.is_empty() && *l != node.id);
        }
    }

    /// Sets the movements of a node.
    pub fn set_movements(&mut self, node: Option<usize>, legs: Vec<Leg>) {
        if let Some(node) = node.and_then(|node| self.found.nodes.get_mut(node)) {
            node.legs = legs;
        }
    }

    /// The node of an id or another of its names.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.index.get(self.main(id)).copied()
    }

    /// The node of an id or another of its names, made if there is none.
    ///
    /// # Errors
    /// If there are more nodes than allowed.
    pub fn find_or_make(&mut self, id: &str) -> Result<usize, String> {
        if let Some(found) = self.find(id) {
            return Ok(found);
        }
        let most = self.read_options.limits.nodes;
        if self.found.nodes.len() as u64 >= most {
            return Err(format!("more than {most} nodes; expected at most {most}"));
        }
        let main = self.main(id).to_string();
        Ok(self.add(&main, None))
    }

    /// Notes that an id is named which no node has.
    pub fn missing(&mut self, id: &str) {
        *self.found.missing.entry(clean(&cut(id))).or_insert(0) += 1;
    }

    /// The two nodes of a link. `None` after leaving the link out.
    ///
    /// # Errors
    /// If there are more nodes than allowed.
    pub fn ends(&mut self, from: &str, to: &str, unknown: UnknownEnd) -> Result<Option<[usize; 2]>, String> {
        let mut ends = [0; 2];
        let mut absent = Vec::new();
        for (end, id) in ends.iter_mut().zip([from, to]) {
            match (self.find(id), unknown) {
                (Some(found), _) => *end = found,
                (None, UnknownEnd::Make) => *end = self.find_or_make(id)?,
                (None, UnknownEnd::Reject) => absent.push(id),
            }
        }
        absent.dedup();
        if !absent.is_empty() {
            let names: Vec<String> = absent.iter().map(|id| name(id)).collect();
            absent.iter().for_each(|id| self.missing(id));
            self.reject(link_record(from, to), Reason::Dangling, format!("no node {}", names.join(" nor ")));
            return Ok(None);
        }
        if ends[0] == ends[1] {
            let detail = if from == to { String::new() } else { "two names of one node".to_string() };
            self.reject(link_record(from, to), Reason::SelfLink, detail);
            return Ok(None);
        }
        self.found.pairs.push((ends[0].min(ends[1]), ends[0].max(ends[1])));
        Ok(Some(ends))
    }

    /// Adds a link.
    pub fn link(
        &mut self,
        ends: [usize; 2],
        medium: Medium,
        forward: DirectionQuality,
        reverse: DirectionQuality,
    ) {
        self.found.links.push(ImportedLink { ends, medium, forward, reverse, length_m: None });
    }
}

/// A link as a report names it: by the ids of its ends.
pub(crate) fn link_record(from: &str, to: &str) -> String {
    format!("link {} - {}", name(from), name(to))
}

/// A node as a report names it.
pub(crate) fn node_record(id: &str) -> String {
    format!("node {}", name(id))
}

/// The name of a record without an id in a report, by its number in the file.
pub(crate) fn numbered(kind: &str, index: usize) -> String {
    format!("{kind} number {}", index + 1)
}

/// An id in a report: short, on one line, in quotes only if it could be misread.
pub(crate) fn name(id: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._:-/".contains(c);
    if !id.is_empty() && id.chars().all(plain) { cut(id) } else { clean(&quoted(id)) }
}

/// A delivery ratio, or the problem if the value is not one.
pub(crate) fn ratio(value: Option<f64>, what: &str) -> Result<f64, (Reason, String)> {
    match value {
        None => Err((Reason::BadQuality, format!("{what} is not a number"))),
        Some(x) if (0.0..=1.0 + ROUNDING).contains(&x) => Ok(x.min(1.0)),
        Some(x) => Err((Reason::BadQuality, format!("{what} {}; expected 0 to 1", shown(x)))),
    }
}

/// The delivery ratio of each direction from an expected transmission count: 1/sqrt(ETX), since ETX is
/// 1/(there * back) and nothing says how the two differ.
pub(crate) fn from_etx(value: Option<f64>) -> Result<f64, (Reason, String)> {
    match value {
        None => Err((Reason::BadQuality, "ETX is not a number".to_string())),
        Some(x) if x >= BROKEN_ETX => {
            Err((Reason::NoDelivery, format!("ETX {}: olsrd's value for a broken link", shown(x))))
        }
        Some(x) if x >= 1.0 => Ok(1.0 / x.sqrt()),
        Some(x) => Err((Reason::BadQuality, format!("ETX {}; expected at least 1", shown(x)))),
    }
}

/// A number in a report.
pub(crate) fn shown(x: f64) -> String {
    if x != 0.0 && (x.abs() < 1e-4 || x.abs() >= 1e9) { format!("{x:e}") } else { x.to_string() }
}

fn check_location(location: NodeLocation) -> Result<NodeLocation, String> {
    let fits = match location {
        NodeLocation::Earth { latitude, longitude, altitude } => {
            latitude.abs() <= 90.0
                && longitude.abs() <= 180.0
                && altitude.abs() <= 1e5
                && (latitude, longitude) != (0.0, 0.0)
        }
        NodeLocation::Plane(p) => p.iter().all(|x| x.abs() <= FARTHEST),
    };
    match location {
        _ if fits => Ok(location),
        NodeLocation::Earth { latitude, longitude, altitude } => Err(format!(
            "latitude {}, longitude {}, altitude {}",
            shown(latitude),
            shown(longitude),
            shown(altitude)
        )),
        NodeLocation::Plane(p) => Err(format!("{} m, {} m, {} m", shown(p[0]), shown(p[1]), shown(p[2]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etx_is_split_evenly() {
        assert_eq!(from_etx(Some(1.0)), Ok(1.0));
        assert_eq!(from_etx(Some(4.0)), Ok(0.5));
        for (wrong, words) in [(0.0, "ETX 0; expected"), (0.999, "ETX 0.999;"), (-2.0, "ETX -2;")] {
            let (reason, detail) = from_etx(Some(wrong)).unwrap_err();
            assert!(reason == Reason::BadQuality && detail.starts_with(words), "{detail}");
        }
        assert_eq!(from_etx(Some(f64::NAN)).unwrap_err().1, "ETX NaN; expected at least 1");
        assert_eq!(from_etx(Some(4096.0)).unwrap_err().0, Reason::NoDelivery);
        assert_eq!(from_etx(None).unwrap_err().1, "ETX is not a number");
    }

    #[test]
    fn ratios_end_at_one() {
        assert_eq!(ratio(Some(1.000_000_5), "TQ"), Ok(1.0));
        assert!(ratio(Some(1.1), "TQ").is_err() && ratio(Some(-0.1), "TQ").is_err());
        assert_eq!(ratio(Some(f64::NAN), "TQ").unwrap_err().1, "TQ NaN; expected 0 to 1");
    }

    #[test]
    fn names_are_quoted_where_they_could_be_misread() {
        assert_eq!(link_record("10.0.0.1", "b"), "link 10.0.0.1 - b");
        assert_eq!(link_record("a - b", "\n"), "link \"a - b\" - \"\\n\"");
    }
}
