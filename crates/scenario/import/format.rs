//! Formats of maps, recognised by the content of a file, never by its name.

use serde_json::Value;

use super::content::{Content, parse};
use super::draft::{Imported, ReadOptions};
use super::options::LinkModel;
use super::recognise::{Kind, candidates, recognise};
use super::{
    aredn, batadv, batman, bmx6, cnml, ffmap, graphml, libremap, matrix, meshviewer, movement, netjson, ns2,
};
use super::{nycmesh, olsr, openwifimap, topohub};

/// A format that can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// NetJSON NetworkGraph.
    NetJson,
    /// Meshviewer, of Freifunk networks.
    Meshviewer,
    /// OpenWifiMap.
    OpenWifiMap,
    /// LibreMap.
    LibreMap,
    /// AREDN's sysinfo.
    Aredn,
    /// Freifunk's nodes.json and graph.json.
    Ffmap,
    /// OLSR's jsoninfo.
    OlsrJson,
    /// OLSR's txtinfo.
    OlsrText,
    /// batman-adv's vis server, JSON.
    BatmanJson,
    /// batman-adv's vis server, a table.
    BatmanText,
    /// batman-adv's vis server, a JSON object on each line.
    BatadvVis,
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
    /// Scripts of ns-2: positions, movements and flows.
    Ns2Script,
    /// Movements of BonnMotion.
    BonnMotion,
    /// TopoHub: wired graphs.
    TopoHub,
}

impl Format {
    /// Every format by its name.
    pub const NAMES: [(&'static str, Self); 20] = [
        ("netjson", Self::NetJson),
        ("meshviewer", Self::Meshviewer),
        ("openwifimap", Self::OpenWifiMap),
        ("libremap", Self::LibreMap),
        ("aredn", Self::Aredn),
        ("ffmap", Self::Ffmap),
        ("olsr-jsoninfo", Self::OlsrJson),
        ("olsr-txtinfo", Self::OlsrText),
        ("batman-vis-json", Self::BatmanJson),
        ("batman-vis-txt", Self::BatmanText),
        ("batadv-vis", Self::BatadvVis),
        ("bmx6", Self::Bmx6),
        ("cnml", Self::Cnml),
        ("graphml", Self::GraphMl),
        ("nycmesh", Self::NycMesh),
        ("dbm-matrix", Self::DbmMatrix),
        ("ns2-movement", Self::Ns2Movement),
        ("ns2-script", Self::Ns2Script),
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
            Self::Ns2Movement | Self::Ns2Script | Self::BonnMotion => LinkModel::Positions,
            _ => LinkModel::Delivery,
        }
    }

    /// True if its records have dates.
    pub(crate) fn has_dates(self) -> bool {
        self == Self::OpenWifiMap
    }

    /// True if several files may be one network.
    pub(crate) fn has_parts(self) -> bool {
        matches!(self, Self::NycMesh | Self::Meshviewer | Self::Ffmap | Self::Aredn)
    }

    /// True if its networks use 5 GHz.
    pub(crate) fn is_5_ghz(self) -> bool {
        matches!(self, Self::Cnml | Self::NycMesh)
    }

    /// True if its networks are of radios, though no record says so.
    pub(crate) fn assumes_radio(self) -> bool {
        use Format::{
            BatadvVis, BatmanJson, BatmanText, Bmx6, GraphMl, LibreMap, NetJson, OlsrJson, OlsrText,
        };
        matches!(
            self,
            NetJson | OlsrJson | OlsrText | BatmanJson | BatmanText | BatadvVis | Bmx6 | GraphMl | LibreMap
        )
    }

    /// The syntax of its files.
    pub(crate) fn syntax(self) -> Syntax {
        use Format::{BatmanText, BonnMotion, Cnml, DbmMatrix, GraphMl, Ns2Movement, Ns2Script, OlsrText};
        match self {
            Cnml | GraphMl => Syntax::Xml,
            OlsrText | BatmanText | DbmMatrix | Ns2Movement | Ns2Script | BonnMotion => Syntax::Text,
            _ => Syntax::Json,
        }
    }
}

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, or a JSON value on each line.
    Json,
    Xml,
    Text,
}

/// A file: its name, which is only for messages, and its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The name of the file.
    pub name: &'a str,
    /// The content of the file.
    pub bytes: &'a [u8],
}

/// An error of one file: its name and the problem.
pub(crate) type Problem = (String, String);

/// A network that was read: its format, and the mark by which the format was recognised.
pub(crate) struct Found {
    pub format: Format,
    pub mark: &'static str,
    pub imported: Imported,
}

/// Reads files that together are one network.
///
/// # Errors
/// The file that is wrong, and the problem.
pub(crate) fn read(
    parts: &[Part<'_>],
    format: Option<Format>,
    read_options: &ReadOptions<'_>,
) -> Result<Found, Problem> {
    let Some(first) = parts.first() else {
        return Err((String::new(), "no file".to_string()));
    };
    let mut contents = Vec::with_capacity(parts.len());
    for part in parts {
        let fail = |problem| (part.name.to_string(), problem);
        let content = parse(part.bytes, format, read_options.limits).map_err(fail)?;
        contents.push((part, content));
    }
    let (format, mark) = match format {
        Some(format) => (format, "--format"),
        None => {
            let mut found: Option<(Format, &'static str)> = None;
            for (part, content) in &contents {
                let (kind, mark) = recognise(content).map_err(|problem| (part.name.to_string(), problem))?;
                match found {
                    None => found = Some((kind.format(), mark)),
                    Some((other, _)) if other == kind.format() => {}
                    Some((other, _)) => {
                        let names = (kind.format().name(), first.name, other.name());
                        let problem =
                            format!("{}, but {} is {}; expected one network", names.0, names.1, names.2);
                        return Err((part.name.to_string(), problem));
                    }
                }
            }
            found.unwrap_or((Format::NetJson, ""))
        }
    };
    if let (Some(second), false) = (parts.get(1), format.has_parts()) {
        return Err((second.name.to_string(), format!("a second file; {} has one", format.name())));
    }
    let read = read_as(format, &contents, read_options);
    let fail = |problem| (first.name.to_string(), problem);
    read.map(|imported| Found { format, mark, imported }).map_err(fail)
}

fn read_as(
    format: Format,
    contents: &[(&Part<'_>, Content<'_>)],
    read_options: &ReadOptions<'_>,
) -> Result<Imported, String> {
    let Some((_, first)) = contents.first() else { return Err("no file".to_string()) };
    let values = || -> Vec<&Value> {
        let json = contents.iter().map(|(_, content)| content);
        json.filter_map(|content| if let Content::Json(value) = content { Some(value) } else { None })
            .collect()
    };
    match (format, first) {
        (Format::NycMesh, _) => {
            let mut lists = nycmesh::Lists::default();
            for (_, content) in contents {
                let Content::Json(value) = content else { continue };
                for (kind, _) in candidates(content) {
                    match kind {
                        Kind::NycNodes => lists.nodes = Some(value),
                        Kind::NycLinks => lists.links = Some(value),
                        Kind::NycSectors => lists.sectors = Some(value),
                        _ => {}
                    }
                }
            }
            nycmesh::read(&lists, read_options)
        }
        (Format::Meshviewer, _) => meshviewer::read(&values(), read_options),
        (Format::Ffmap, _) => ffmap::read(&values(), read_options),
        (Format::Aredn, _) => {
            let mut nodes: Vec<(usize, &Value)> = Vec::new();
            let mut wrong: Vec<(usize, &str)> = Vec::new();
            for (_, content) in contents {
                match content {
                    Content::Json(Value::Array(list)) => nodes.extend((1..).zip(list)),
                    Content::Json(value) => nodes.push((1, value)),
                    Content::Lines(lines) => {
                        for (line, value) in lines {
                            match value {
                                Ok(value) => nodes.push((*line, value)),
                                Err(problem) => wrong.push((*line, problem)),
                            }
                        }
                    }
                    _ => {}
                }
            }
            aredn::read(&nodes, &wrong, read_options)
        }
        (Format::NetJson, Content::Json(value)) => netjson::read(value, read_options),
        (Format::OpenWifiMap, Content::Json(value)) => openwifimap::read(value, read_options),
        (Format::LibreMap, Content::Json(value)) => libremap::read(value, read_options),
        (Format::OlsrJson, Content::Json(value)) => olsr::read_json(value, read_options),
        (Format::BatmanJson, Content::Json(value)) => batman::read_json(value, read_options),
        (Format::BatadvVis, Content::Lines(lines)) => batadv::read(lines, read_options),
        (Format::BatadvVis, Content::Json(value)) => batadv::read(&[(1, Ok(value.clone()))], read_options),
        (Format::Bmx6, Content::Json(value)) => bmx6::read(value, read_options),
        (Format::TopoHub, Content::Json(value)) => topohub::read(value, read_options),
        (Format::Cnml, Content::Xml(document)) => cnml::read(document, read_options),
        (Format::GraphMl, Content::Xml(document)) => graphml::read(document, read_options),
        (Format::OlsrText, Content::Text(text)) => olsr::read_text(text, read_options),
        (Format::BatmanText, Content::Text(text)) => batman::read_text(text, read_options),
        (Format::DbmMatrix, Content::Text(text)) => matrix::read(text, read_options),
        (Format::Ns2Movement, Content::Text(text)) => ns2::read(text, false, read_options),
        (Format::Ns2Script, Content::Text(text)) => ns2::read(text, true, read_options),
        (Format::BonnMotion, Content::Text(text)) => movement::read_bonnmotion(text, read_options),
        _ => Err(format!("not {}", format.name())),
    }
}
