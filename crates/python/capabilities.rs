//! The capabilities of networks that schemes may want, the schemes that want them, and those that a typical driver can run.

use airfair_host::{Capabilities, Fit, Offer, OnDriver, Origin};
use airfair_schemes::places::{Capability, Interface, Medium};
use airfair_schemes::{Build, Change, Params, SchemeEntry, Wanted, WantsByKind};
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::json;
use crate::hosted::Raised;

/// A capability that a scheme wants.
#[derive(Serialize)]
pub(crate) struct Want {
    capability: &'static str,
    words: &'static str,
    /// Kinds of interfaces at which it is wanted.
    at: Vec<&'static str>,
    /// True where an estimate does not do.
    exactly: bool,
    /// For priorities: how many.
    levels: Option<u32>,
}

/// A parameter with another value than its default.
#[derive(Serialize)]
struct With {
    param: &'static str,
    value: String,
}

/// All wants with another value of one parameter.
#[derive(Serialize)]
pub(crate) struct Changed {
    #[serde(flatten)]
    with: With,
    wants: Vec<Want>,
}

impl From<&Change> for With {
    fn from(change: &Change) -> Self {
        Self { param: change.param, value: change.value.to_string() }
    }
}

/// The wants in the order in which capabilities are declared.
fn listed(wants: &WantsByKind) -> Vec<Want> {
    let kinds = || Interface::all_kinds().into_iter().zip(wants);
    let row = |&capability: &Capability| {
        let at: Vec<_> =
            kinds().filter(|(_, wants)| wants.has(capability)).map(|(at, _)| at.kind()).collect();
        let highest = wants.iter().map(|wants| u32::from(wants.priority().0)).max();
        (!at.is_empty()).then(|| Want {
            capability: capability.name(),
            words: capability.words(),
            at,
            exactly: wants.iter().any(|wants| wants.exact().has(capability)),
            levels: highest.filter(|_| capability == Capability::Priorities).map(|highest| highest + 1),
        })
    };
    Capability::ALL.iter().filter_map(row).collect()
}

/// The wants of a scheme with its defaults, and with each value of a parameter that changes them. Values that a scheme in Python
/// refuses, or with which its constructor fails, are left out.
pub(crate) fn wanted(entry: &SchemeEntry) -> (Vec<Want>, Vec<Changed>) {
    // A scheme in Python each time of a new registry: after an exception nothing more is built.
    let mut build = |params: &Params| {
        let known = crate::written::schemes(&Raised::default());
        (known.find(entry.name).unwrap_or(entry).build)(params)
    };
    let is_function = matches!(entry.build, Build::Function(_));
    let wanted = if is_function { entry.wanted() } else { entry.wanted_by(&mut build) };
    wanted.map_or_else(Default::default, |wanted| lists(&wanted))
}

/// The wants with the defaults, and with each change.
fn lists(wanted: &Wanted) -> (Vec<Want>, Vec<Changed>) {
    let changed = |(change, wants): &(Change, _)| Changed { with: change.into(), wants: listed(wants) };
    (listed(&wanted.default), wanted.changed.iter().map(changed).collect())
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    words: &'static str,
    doc: &'static str,
    /// True if a wire of the simulator offers it; a radio offers all.
    wire: bool,
    /// The part of a host on real interfaces that has it.
    origin: &'static str,
    /// The degree to which a typical driver has it.
    driver: &'static str,
    /// The source there, or the reason for its absence.
    source: &'static str,
}

#[derive(Serialize)]
struct Lack {
    capability: &'static str,
    /// Each of these changes takes it away and puts nothing in its place.
    unless: Vec<With>,
}

#[derive(Serialize)]
struct OfScheme {
    name: &'static str,
    wants: Vec<Want>,
    wants_with: Vec<Changed>,
    /// The capabilities that a typical driver lacks.
    lacks: Vec<Lack>,
    /// These changes together make the scheme run there.
    runs_with: Vec<With>,
    /// Where it runs: each of these changes makes it want what such a driver lacks.
    refused_with: Vec<With>,
}

#[derive(Serialize)]
struct Page {
    origins: Vec<&'static str>,
    capabilities: Vec<Row>,
    schemes: Vec<OfScheme>,
}

/// The capabilities that schemes may want of a network, and the schemes of the tree with their wants, as JSON.
#[pyfunction]
pub(crate) fn capabilities() -> PyResult<String> {
    let row = |&capability: &Capability| {
        let driver = OnDriver::of(capability);
        Row {
            name: capability.name(),
            words: capability.words(),
            doc: capability.doc().trim(),
            wire: airfair_sim::offered(Medium::Wire).contains(&capability),
            origin: driver.origin.words(),
            driver: match driver.offer {
                Offer::Exact => "exact",
                Offer::Estimated => "estimated",
                Offer::Absent => "absent",
            },
            source: driver.doc,
        }
    };
    let of_scheme = |entry: &SchemeEntry| {
        let wanted = entry.wanted()?;
        let fit = Fit::new(&Capabilities::DRIVER, entry)?;
        let lack = |(capability, unless): &(Capability, Vec<Change>)| Lack {
            capability: capability.name(),
            unless: unless.iter().map(With::from).collect(),
        };
        let (wants, wants_with) = lists(&wanted);
        Some(OfScheme {
            name: entry.name,
            wants,
            wants_with,
            lacks: fit.lacks.iter().map(lack).collect(),
            runs_with: fit.runs_with.iter().map(With::from).collect(),
            refused_with: fit.refused_with.iter().map(With::from).collect(),
        })
    };
    json(&Page {
        origins: Origin::ALL.map(Origin::words).into(),
        capabilities: Capability::ALL.iter().map(row).collect(),
        schemes: airfair_schemes::registry().iter().filter_map(of_scheme).collect(),
    })
}
