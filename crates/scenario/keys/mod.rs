//! The keys of each block of a scenario, declared: what the reader accepts, and the reference made from it.

pub(crate) mod categories;
pub(crate) mod examples;
pub(crate) mod file_schema;
pub(crate) mod file_traffic;
pub(crate) mod inherit;
pub(crate) mod movement;
pub(crate) mod network;
pub(crate) mod propagation;
pub(crate) mod radio;
pub(crate) mod reference;
pub(crate) mod routing;
pub(crate) mod scheme_name;
pub(crate) mod scheme_params;
pub(crate) mod tcp;
pub(crate) mod traffic;
pub(crate) mod transport;

use crate::keys::network::TopTable;
use crate::keys::routing::PROTOCOLS;

/// Tables and blocks that a file may have beside those of routing protocols.
const TABLES: [&str; 15] = [
    "radio",
    "radios",
    "node",
    "nodes",
    "movement",
    "link",
    "gain",
    "controller",
    "flow",
    "flows",
    "routing",
    "arp",
    "headers",
    "tcp",
    "schemes",
];

/// Tables and blocks that a file may have.
pub(crate) fn tables() -> impl Iterator<Item = &'static str> {
    TABLES.into_iter().chain(PROTOCOLS.iter().map(|entry| entry.word))
}

/// Keys at the top of a file: those of the run, tables and blocks.
pub(crate) fn top_keys() -> impl Iterator<Item = &'static str> {
    TopTable::KEYS.iter().copied().chain(tables())
}

/// True if a file may have this key at its top: no scheme may be called so, for `--set NAME.parameter=value` would mean both.
#[must_use]
pub fn is_key(name: &str) -> bool {
    top_keys().any(|key| key == name)
}
