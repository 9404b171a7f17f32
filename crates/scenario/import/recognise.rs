//! The formats that a file may be, by marks in its content, and the looks of a file that is none of them.

use serde_json::Value;

use super::content::{Content, parse};
use super::draft::{ImportLimits, name};
use super::format::Format;
use super::{aredn, batadv, ffmap, matrix, ns2};
use crate::resolve::movement_file;
use crate::text::error::{one_of, quoted};

/// The kind of a file, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole(Format),
    NycNodes,
    NycLinks,
    NycSectors,
    MeshviewerNodes,
    MeshviewerLinks,
    FfmapNodes,
    FfmapGraph,
}

impl Kind {
    /// True if other files belong to it.
    pub fn is_part(self) -> bool {
        !matches!(self, Self::Whole(_))
    }

    /// The format.
    pub fn format(self) -> Format {
        match self {
            Self::Whole(format) => format,
            Self::NycNodes | Self::NycLinks | Self::NycSectors => Format::NycMesh,
            Self::MeshviewerNodes | Self::MeshviewerLinks => Format::Meshviewer,
            Self::FfmapNodes | Self::FfmapGraph => Format::Ffmap,
        }
    }
}

/// A kind that a file may be, and the mark that says so, in words.
pub(crate) type Candidate = (Kind, &'static str);

/// The kind of a file, if its content has the marks of one format only.
pub(crate) fn kind_of(bytes: &[u8], limits: &ImportLimits) -> Option<Kind> {
    let candidates = parse(bytes, None, limits).ok().map(|content| candidates(&content))?;
    match candidates.as_slice() {
        [(kind, _)] => Some(*kind),
        _ => None,
    }
}

/// The one kind of a file, with its mark.
///
/// # Errors
/// If the file has the marks of no format, or of several.
pub(crate) fn recognise(content: &Content<'_>) -> Result<Candidate, String> {
    match candidates(content).as_slice() {
        [] => Err(unknown(content)),
        [candidate] => Ok(*candidate),
        several => {
            let words: Vec<String> =
                several.iter().map(|(kind, mark)| format!("{} ({mark})", kind.format().name())).collect();
            let last = words.last().map_or("", String::as_str);
            let first = words.get(..words.len().saturating_sub(1)).unwrap_or_default().join(", ");
            Err(format!("may be {first} or {last}; expected its format, with --format"))
        }
    }
}

/// Every kind that a file may be. A format that another one contains, as AREDN's contains OLSR's topology, is none of them.
pub(crate) fn candidates(content: &Content<'_>) -> Vec<Candidate> {
    use Format::{BatmanText, BonnMotion, Cnml, DbmMatrix, GraphMl, Ns2Movement, Ns2Script, OlsrText};
    let whole = |format, mark| vec![(Kind::Whole(format), mark)];
    match content {
        Content::Json(value) => in_json(value),
        Content::Lines(lines) => {
            let mut values = lines.iter().take(10).filter_map(|(_, value)| value.as_ref().ok());
            if values.clone().any(aredn::is_node) {
                whole(Format::Aredn, "\"api_version\" with \"node\"")
            } else if values.any(batadv::is_record) {
                whole(Format::BatadvVis, "lines of \"primary\", or of \"router\" with \"neighbor\"")
            } else {
                Vec::new()
            }
        }
        Content::Xml(document) => match document.root_element().tag_name().name() {
            "graphml" => whole(GraphMl, "<graphml>"),
            "cnml" => whole(Cnml, "<cnml>"),
            _ => Vec::new(),
        },
        Content::Text(text) => {
            let topology = text
                .lines()
                .skip_while(|line| line.trim() != "Table: Topology")
                .nth(1)
                .map(str::to_lowercase);
            match topology {
                Some(header) if header.contains("mac") => {
                    whole(BatmanText, "\"Table: Topology\" with columns of MAC addresses")
                }
                Some(_) => whole(OlsrText, "\"Table: Topology\""),
                None if text.lines().take(10).any(matrix::is_head) => whole(DbmMatrix, "a line of Tx\\Rx"),
                None if ns2::is_script(text) => whole(Ns2Script, "\"new Simulator\" with \"set X_\""),
                None if movement_file::is_ns2(text) => whole(Ns2Movement, "\"$node_(\" or \"$ns_\""),
                None if movement_file::is_bonnmotion(text) => whole(BonnMotion, "numbers only"),
                None => Vec::new(),
            }
        }
    }
}

fn in_json(value: &Value) -> Vec<Candidate> {
    let has = |keys: &[&str]| keys.iter().all(|key| value.get(key).is_some());
    let first = |key: &str| value.get(key).and_then(|list| list.get(0));
    if let Some(list) = value.as_array() {
        let any = |keys: &[&str]| list.iter().take(10).any(|v| keys.iter().all(|key| v.get(key).is_some()));
        let marks: [(bool, Candidate); 6] = [
            (any(&["id", "coordinates"]), (Kind::NycNodes, "a list of \"id\" with \"coordinates\"")),
            (any(&["from", "to"]), (Kind::NycLinks, "a list of \"from\" with \"to\"")),
            (any(&["nodeId", "azimuth"]), (Kind::NycSectors, "a list of \"nodeId\" with \"azimuth\"")),
            (any(&["name", "links"]), (Kind::Whole(Format::Bmx6), "a list of \"name\" with \"links\"")),
            (
                list.iter().take(10).any(aredn::is_node),
                (Kind::Whole(Format::Aredn), "a list of \"api_version\" with \"node\""),
            ),
            (
                any(&["api_rev"]) || any(&["aliases", "links"]),
                (Kind::Whole(Format::LibreMap), "a list of \"api_rev\", or of \"aliases\" with \"links\""),
            ),
        ];
        return marks.into_iter().filter(|(found, _)| *found).map(|(_, candidate)| candidate).collect();
    }
    let type_is = |name: &str| value.get("type").and_then(Value::as_str) == Some(name);
    if type_is("NetworkGraph") || type_is("NetworkCollection") {
        return vec![(Kind::Whole(Format::NetJson), "\"type\" NetworkGraph or NetworkCollection")];
    }
    let aredn = aredn::is_node(value);
    let meshviewer = first("nodes").is_some_and(|node| node.get("node_id").is_some());
    let ffmap_nodes = ffmap::has_nodes(value);
    let libremap = list_of_libremap(value);
    let edge = |key: &str| first("edges").is_some_and(|edge| edge.get(key).is_some());
    let graph = |key: &str| value.get("graph").is_some_and(|graph| graph.get(key).is_some());
    let own_topohub = edge("ecmp_fwd") || graph("demands") || graph("stats");
    let topohub_mark =
        if own_topohub { "\"edges\" beside demands, statistics or loads" } else { "\"edges\" with \"dist\"" };
    let topohub = has(&["nodes", "edges"]) && (own_topohub || edge("dist"));
    let plain = has(&["nodes"]) && (has(&["links"]) || has(&["edges"]));
    let marks: [(bool, Candidate); 13] = [
        (aredn, (Kind::Whole(Format::Aredn), "\"api_version\" with \"node\"")),
        (libremap, (Kind::Whole(Format::LibreMap), "\"rows\" with \"api_rev\" or \"aliases\"")),
        (has(&["rows"]) && !libremap, (Kind::Whole(Format::OpenWifiMap), "\"rows\"")),
        (has(&["vis"]), (Kind::Whole(Format::BatmanJson), "\"vis\"")),
        (
            batadv::is_record(value),
            (Kind::Whole(Format::BatadvVis), "\"primary\", or \"router\" with \"neighbor\""),
        ),
        (has(&["topology"]) && !aredn, (Kind::Whole(Format::OlsrJson), "\"topology\"")),
        (ffmap_nodes, (Kind::FfmapNodes, "\"nodes\" with \"nodeinfo\"")),
        (ffmap::has_graph(value), (Kind::FfmapGraph, "\"batadv\" with \"links\"")),
        (topohub, (Kind::Whole(Format::TopoHub), topohub_mark)),
        (meshviewer && has(&["links"]), (Kind::Whole(Format::Meshviewer), "\"nodes\" with \"node_id\"")),
        (meshviewer && !has(&["links"]), (Kind::MeshviewerNodes, "\"nodes\" with \"node_id\"")),
        (
            plain && !meshviewer && !ffmap_nodes && !own_topohub,
            (Kind::Whole(Format::NetJson), "\"nodes\" with \"links\" or \"edges\""),
        ),
        (
            !has(&["nodes"]) && first("links").is_some_and(|link| link.get("source_tq").is_some()),
            (Kind::MeshviewerLinks, "\"links\" with \"source_tq\""),
        ),
    ];
    marks.into_iter().filter(|(found, _)| *found).map(|(_, candidate)| candidate).collect()
}

fn list_of_libremap(value: &Value) -> bool {
    let row = value.get("rows").and_then(|list| list.get(0));
    let row =
        row.map(|row| row.get("doc").or_else(|| row.get("value")).filter(|v| v.is_object()).unwrap_or(row));
    row.is_some_and(|row| row.get("api_rev").is_some() || row.get("aliases").is_some())
}

/// True if the first line that says anything is a section of an INI file, such as `[General]`: no JSON begins so.
pub(crate) fn is_ini(text: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let inside = first.and_then(|line| line.strip_prefix('[')?.strip_suffix(']')).map(str::trim);
    inside.is_some_and(|name| {
        let word = |c: char| c.is_alphanumeric() || "_- .".contains(c);
        name.starts_with(|c: char| c.is_alphabetic())
            && name.chars().all(word)
            && !["true", "false", "null"].contains(&name)
    })
}

/// The looks of a file of no known format, what was looked for, and the formats that can be named.
fn unknown(content: &Content<'_>) -> String {
    let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
    format!(
        "no known format; {}; looked for JSON with nodes and links or edges, rows, topology, vis, batadv or api_version, lists of NYC \
         Mesh and of BMX6, lines of batadv-vis; XML of <graphml> and <cnml>; text with {}, {}, Tx\\Rx and numbers only; a format can \
         be named: {}",
        looks(content),
        quoted("Table: Topology"),
        quoted("$node_(0) set X_"),
        one_of(&names)
    )
}

/// The looks of a file, in words.
fn looks(content: &Content<'_>) -> String {
    match content {
        Content::Json(Value::Object(map)) => {
            let kind = map.get("type").and_then(Value::as_str).map_or_else(String::new, |kind| {
                let geo = ["FeatureCollection", "Feature", "GeometryCollection"].contains(&kind);
                if geo { "GeoJSON, ".to_string() } else { format!("of type {}, ", name(kind)) }
            });
            let keys: Vec<String> = map.keys().take(5).map(|key| name(key)).collect();
            let more = if map.len() > 5 { ", …" } else { "" };
            match keys.is_empty() {
                true => "it is an empty JSON object".to_string(),
                false => {
                    let plural = if keys.len() == 1 { "" } else { "s" };
                    format!("it is JSON, {kind}with the key{plural} {}{more}", keys.join(", "))
                }
            }
        }
        Content::Json(_) => "it is a JSON list".to_string(),
        Content::Lines(_) => "it has a JSON object on each line".to_string(),
        Content::Xml(document) => {
            let root = document.root_element().tag_name().name();
            let whose = match root {
                "scenario" => ", as CORE writes",
                "fcd-export" | "net" | "routes" | "additional" => {
                    ", as SUMO writes (its traceExporter writes ns-2's movements)"
                }
                "kml" => ", places without links",
                _ => "",
            };
            format!("it is XML of <{}>{whose}", name(root))
        }
        Content::Text(text) => looks_of_text(text),
    }
}

fn looks_of_text(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let Some(first) = lines.next() else { return "it is empty".to_string() };
    let second = lines.next().unwrap_or_default();
    let word = first.split_whitespace().next().unwrap_or_default();
    let opens = |line: &str| line.starts_with('{') || line.starts_with('(');
    let assigned = first.split_once([':', '=']).is_some_and(|(key, value)| {
        let plain = key.trim().chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        plain && (opens(value.trim()) || value.trim().is_empty() && opens(second))
    });
    if is_ini(text) {
        format!("it is an INI file that begins with {}, as OMNeT++'s and others are", name(first))
    } else if assigned {
        format!("it is a libconfig file that begins with {}, as wmediumd's are", name(word))
    } else if ["digraph", "graph", "strict"].contains(&word) {
        "it is a graph in DOT".to_string()
    } else if text.contains("new Simulator") || text.contains("$ns ") {
        "it is an ns-2 script without the coordinates of a node, such as `$n0 set X_ 100`".to_string()
    } else if first.matches(',').count() > 1 {
        format!("it is a table with commas that begins with {}", quoted(first))
    } else {
        format!("it is text that begins with {}", quoted(first))
    }
}
