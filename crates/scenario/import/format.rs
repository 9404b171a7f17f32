//! Formats of maps, recognised by the content of a file, never by its name.

use serde_json::Value;

use super::draft::{ImportLimits, Imported, ReadOptions};
use super::options::LinkModel;
use super::{batman, bmx6, cnml, graphml, matrix, meshviewer, movement, netjson, nycmesh, olsr, openwifimap};
use super::{topohub, xml};
use crate::resolve::movement_file;
use crate::text::error::{one_of, quoted};
use crate::text::limits::too_large;

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// NetJSON NetworkGraph.
    NetJson,
    /// Meshviewer, of Freifunk networks.
    Meshviewer,
    /// OpenWifiMap.
    OpenWifiMap,
    /// OLSR's jsoninfo.
    OlsrJson,
    /// OLSR's txtinfo.
    OlsrText,
    /// batman-adv's vis server, JSON.
    BatmanJson,
    /// batman-adv's vis server, a table.
    BatmanText,
    /// BMX6.
    Bmx6,
    /// guifi.net's CNML.
    Cnml,
    /// GraphML with ETX.
    GraphMl,
    /// NYC Mesh: nodes, links, sectors.
    NycMesh,
    /// A matrix of received powers.
    DbmMatrix,
    /// Movements of ns-2.
    Ns2Movement,
    /// Movements of BonnMotion.
    BonnMotion,
    /// TopoHub: wired graphs.
    TopoHub,
}

impl Format {
    /// Every format by its name.
    pub const NAMES: [(&'static str, Self); 15] = [
        ("netjson", Self::NetJson),
        ("meshviewer", Self::Meshviewer),
        ("openwifimap", Self::OpenWifiMap),
        ("olsr-jsoninfo", Self::OlsrJson),
        ("olsr-txtinfo", Self::OlsrText),
        ("batman-vis-json", Self::BatmanJson),
        ("batman-vis-txt", Self::BatmanText),
        ("bmx6", Self::Bmx6),
        ("cnml", Self::Cnml),
        ("graphml", Self::GraphMl),
        ("nycmesh", Self::NycMesh),
        ("dbm-matrix", Self::DbmMatrix),
        ("ns2-movement", Self::Ns2Movement),
        ("bonnmotion", Self::BonnMotion),
        ("topohub", Self::TopoHub),
    ];

    /// The name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, f)| *f == self).map_or("", |(name, _)| name)
    }

    /// The default link model.
    pub(crate) fn link_model(self) -> LinkModel {
        match self {
            Self::DbmMatrix => LinkModel::Signal,
            Self::Cnml | Self::NycMesh => LinkModel::Distance,
            Self::Ns2Movement | Self::BonnMotion => LinkModel::Positions,
            _ => LinkModel::Delivery,
        }
    }

    /// True if its records have dates.
    pub(crate) fn has_dates(self) -> bool {
        self == Self::OpenWifiMap
    }

    /// True if its networks use 5 GHz.
    pub(crate) fn is_5_ghz(self) -> bool {
        matches!(self, Self::Cnml | Self::NycMesh)
    }

    fn is_json(self) -> bool {
        !self.is_xml() && !self.is_text()
    }

    fn is_xml(self) -> bool {
        matches!(self, Self::Cnml | Self::GraphMl)
    }

    fn is_text(self) -> bool {
        use Format::{BatmanText, BonnMotion, DbmMatrix, Ns2Movement, OlsrText};
        matches!(self, OlsrText | BatmanText | DbmMatrix | Ns2Movement | BonnMotion)
    }
}

/// A file: its name, which is only for messages, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// The content of the file.
    pub bytes: &'a [u8],
}

/// The kind of a file, by its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Whole(Format),
    NycNodes,
    NycLinks,
    NycSectors,
    MeshviewerNodes,
    MeshviewerLinks,
}

impl Kind {
    /// True if other files belong to it.
    pub fn is_part(self) -> bool {
        !matches!(self, Self::Whole(_))
    }

    fn format(self) -> Format {
        match self {
            Self::Whole(format) => format,
            Self::NycNodes | Self::NycLinks | Self::NycSectors => Format::NycMesh,
            Self::MeshviewerNodes | Self::MeshviewerLinks => Format::Meshviewer,
        }
    }
}

/// A file whose syntax was read.
enum Content<'a> {
    Json(Value),
    Xml(roxmltree::Document<'a>),
    Text(&'a str),
}

/// An error of one file: its name and the problem.
pub(crate) type Problem = (String, String);

/// Reads files that together are one network.
///
/// # Errors
/// The file that is wrong, and the problem.
pub(crate) fn read(
    parts: &[Part<'_>],
    format: Option<Format>,
    read_options: &ReadOptions<'_>,
) -> Result<(Format, Imported), Problem> {
    let Some(first) = parts.first() else {
        return Err((String::new(), "no file".to_string()));
    };
    let mut contents = Vec::with_capacity(parts.len());
    for part in parts {
        let fail = |problem| (part.name.to_string(), problem);
        let content = parse(part.bytes, format, read_options.limits).map_err(fail)?;
        let kind = recognise(&content);
        contents.push((part, content, kind));
    }
    let format = match format {
        Some(format) => format,
        None => {
            let mut found = None;
            for (part, _, kind) in &contents {
                let Some(kind) = kind else { return Err((part.name.to_string(), unknown())) };
                match found {
                    None => found = Some(kind.format()),
                    Some(other) if other == kind.format() => {}
                    Some(other) => {
                        let names = (kind.format().name(), first.name, other.name());
                        let problem =
                            format!("{}, but {} is {}; expected one network", names.0, names.1, names.2);
                        return Err((part.name.to_string(), problem));
                    }
                }
            }
            found.unwrap_or(Format::NetJson)
        }
    };
    let many = matches!(format, Format::NycMesh | Format::Meshviewer);
    if let (Some(second), false) = (parts.get(1), many) {
        return Err((second.name.to_string(), format!("a second file; {} has one", format.name())));
    }
    let read = read_as(format, &contents, read_options);
    read.map(|found| (format, found)).map_err(|problem| (first.name.to_string(), problem))
}

fn read_as(
    format: Format,
    contents: &[(&Part<'_>, Content<'_>, Option<Kind>)],
    read_options: &ReadOptions<'_>,
) -> Result<Imported, String> {
    let Some((_, first, _)) = contents.first() else { return Err("no file".to_string()) };
    match (format, first) {
        (Format::NycMesh, _) => {
            let mut lists = nycmesh::Lists::default();
            for (_, content, kind) in contents {
                let Content::Json(value) = content else { continue };
                match kind {
                    Some(Kind::NycNodes) => lists.nodes = Some(value),
                    Some(Kind::NycLinks) => lists.links = Some(value),
                    Some(Kind::NycSectors) => lists.sectors = Some(value),
                    _ => {}
                }
            }
            nycmesh::read(&lists, read_options)
        }
        (Format::Meshviewer, _) => {
            let values: Vec<&Value> = contents
                .iter()
                .filter_map(
                    |(_, content, _)| if let Content::Json(value) = content { Some(value) } else { None },
                )
                .collect();
            meshviewer::read(&values, read_options)
        }
        (Format::NetJson, Content::Json(value)) => netjson::read(value, read_options),
        (Format::OpenWifiMap, Content::Json(value)) => openwifimap::read(value, read_options),
        (Format::OlsrJson, Content::Json(value)) => olsr::read_json(value, read_options),
        (Format::BatmanJson, Content::Json(value)) => batman::read_json(value, read_options),
        (Format::Bmx6, Content::Json(value)) => bmx6::read(value, read_options),
        (Format::TopoHub, Content::Json(value)) => topohub::read(value, read_options),
        (Format::Cnml, Content::Xml(document)) => cnml::read(document, read_options),
        (Format::GraphMl, Content::Xml(document)) => graphml::read(document, read_options),
        (Format::OlsrText, Content::Text(text)) => olsr::read_text(text, read_options),
        (Format::BatmanText, Content::Text(text)) => batman::read_text(text, read_options),
        (Format::DbmMatrix, Content::Text(text)) => matrix::read(text, read_options),
        (Format::Ns2Movement, Content::Text(text)) => movement::read_ns2(text, read_options),
        (Format::BonnMotion, Content::Text(text)) => movement::read_bonnmotion(text, read_options),
        _ => Err(format!("not {}", format.name())),
    }
}

/// The first character that is not a space, by which the syntax is recognised.
fn parse<'a>(bytes: &'a [u8], format: Option<Format>, limits: &ImportLimits) -> Result<Content<'a>, String> {
    if bytes.len() as u64 > limits.file_bytes {
        return Err(too_large(limits.file_bytes));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = bytes.iter().take(e.valid_up_to()).filter(|&&b| b == b'\n').count() + 1;
        format!("line {line} is not UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (json, markup) = match (format, text.trim_start().chars().next()) {
        (Some(format), _) => (format.is_json(), format.is_xml()),
        (None, first) => (matches!(first, Some('{' | '[')), first == Some('<')),
    };
    if json {
        serde_json::from_str(text).map(Content::Json).map_err(|e| format!("not JSON: {e}"))
    } else if markup {
        xml::parse(text, limits.links).map(Content::Xml)
    } else {
        Ok(Content::Text(text))
    }
}

/// Recognises the kind of a file.
pub(crate) fn kind_of(bytes: &[u8], limits: &ImportLimits) -> Option<Kind> {
    parse(bytes, None, limits).ok().and_then(|content| recognise(&content))
}

fn recognise(content: &Content<'_>) -> Option<Kind> {
    use Format::{BatmanText, BonnMotion, Cnml, DbmMatrix, GraphMl, Ns2Movement, OlsrText};
    match content {
        Content::Json(value) => recognise_json(value),
        Content::Xml(document) => match document.root_element().tag_name().name() {
            "graphml" => Some(Kind::Whole(GraphMl)),
            "cnml" => Some(Kind::Whole(Cnml)),
            _ => None,
        },
        Content::Text(text) => {
            let topology = text
                .lines()
                .skip_while(|line| line.trim() != "Table: Topology")
                .nth(1)
                .map(str::to_lowercase);
            Some(Kind::Whole(match topology {
                Some(header) if header.contains("mac") => BatmanText,
                Some(_) => OlsrText,
                None if text.lines().take(10).any(matrix::is_head) => DbmMatrix,
                None if movement_file::is_ns2(text) => Ns2Movement,
                None if movement_file::is_bonnmotion(text) => BonnMotion,
                None => return None,
            }))
        }
    }
}

fn recognise_json(value: &Value) -> Option<Kind> {
    let has = |keys: &[&str]| keys.iter().all(|key| value.get(key).is_some());
    let first = |key: &str| value.get(key).and_then(|list| list.get(0));
    if let Some(list) = value.as_array() {
        let has = |keys: &[&str]| list.iter().take(10).any(|v| keys.iter().all(|key| v.get(key).is_some()));
        return match () {
            () if has(&["id", "coordinates"]) => Some(Kind::NycNodes),
            () if has(&["from", "to"]) => Some(Kind::NycLinks),
            () if has(&["nodeId", "azimuth"]) => Some(Kind::NycSectors),
            () if has(&["name", "links"]) => Some(Kind::Whole(Format::Bmx6)),
            () => None,
        };
    }
    let meshviewer = first("nodes").is_some_and(|node| node.get("node_id").is_some());
    let type_is = |name: &str| value.get("type").and_then(Value::as_str) == Some(name);
    Some(match () {
        () if type_is("NetworkGraph") || type_is("NetworkCollection") => Kind::Whole(Format::NetJson),
        () if has(&["rows"]) => Kind::Whole(Format::OpenWifiMap),
        () if has(&["vis"]) => Kind::Whole(Format::BatmanJson),
        () if has(&["topology"]) => Kind::Whole(Format::OlsrJson),
        () if has(&["nodes", "edges"]) => Kind::Whole(Format::TopoHub),
        () if meshviewer && has(&["links"]) => Kind::Whole(Format::Meshviewer),
        () if meshviewer => Kind::MeshviewerNodes,
        () if has(&["nodes", "links"]) => Kind::Whole(Format::NetJson),
        () if first("links").is_some_and(|link| link.get("source_tq").is_some()) => Kind::MeshviewerLinks,
        () => return None,
    })
}

/// The names of the formats that were tried.
fn unknown() -> String {
    let names: Vec<&str> = Format::NAMES.iter().map(|(name, _)| *name).collect();
    format!(
        "no known format; looked for JSON with nodes and links, nodes and edges, rows, topology or vis, lists of NYC Mesh and \
         of BMX6; XML of <graphml> and <cnml>; text with {}, {}, Tx\\Rx and numbers only; a format can be named: {}",
        quoted("Table: Topology"),
        quoted("$node_(0) set X_"),
        one_of(&names)
    )
}
