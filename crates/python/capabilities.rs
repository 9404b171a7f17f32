//! The capabilities of networks that schemes may want.

use airfair_schemes::Params;
use airfair_schemes::places::{Capability, Interface, Medium};
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::json;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    words: &'static str,
    doc: &'static str,
    /// True if a wire of the simulator offers it; a radio offers all.
    wire: bool,
    /// Schemes of the tree that want it at some interface, with their defaults.
    schemes: Vec<&'static str>,
}

/// Every capability that a scheme may want of a network, as JSON.
#[pyfunction]
pub(crate) fn capabilities() -> PyResult<String> {
    let built = airfair_schemes::registry().iter().filter_map(|entry| {
        let scheme = (entry.build)(&Params::default()).ok()?;
        Some((entry.name, Interface::all_kinds().map(|at| scheme.wants(&at))))
    });
    let built: Vec<_> = built.collect();
    let row = |&capability: &Capability| Row {
        name: capability.name(),
        words: capability.words(),
        doc: capability.doc().trim(),
        wire: airfair_sim::offered(Medium::Wire).contains(&capability),
        schemes: built
            .iter()
            .filter(|(_, wants)| wants.iter().any(|wants| wants.has(capability)))
            .map(|&(name, _)| name)
            .collect(),
    };
    json(&Capability::ALL.iter().map(row).collect::<Vec<_>>())
}
