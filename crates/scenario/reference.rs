//! The reference of the file format, from the definitions that the reader uses.

use airfair_schemes::Registry;

use crate::error::one_of;
use crate::network::{
    ArpTable, GainTable, HeadersTable, LinkTable, NodeTable, NodesTable, RoutingTable, TopTable,
};
use crate::propagation::PropagationTable;
use crate::radio::RadioTable;
use crate::table::TableDoc;
use crate::traffic::{FlowTable, FlowsTable, TrafficTable};

/// Every table of a scenario file, every key, its type, default and meaning, in the order in which a user meets them.
#[must_use]
pub fn reference() -> Vec<TableDoc> {
    reference_with(Registry::built_in())
}

/// The same, with these schemes.
#[must_use]
pub fn reference_with(schemes: &Registry) -> Vec<TableDoc> {
    let mut out = vec![TopTable::doc("top of the file".to_string()), RadioTable::doc("[radio]".to_string())];
    out.extend(PropagationTable::docs("propagation"));
    out.push(NodeTable::doc("[[node]]".to_string()));
    out.extend(NodesTable::docs("[nodes]"));
    out.push(LinkTable::doc("[[link]]".to_string()));
    out.push(GainTable::doc("[[gain]]".to_string()));
    out.push(FlowTable::doc("[[flow]]".to_string()));
    out.extend(TrafficTable::docs("traffic"));
    out.extend(FlowsTable::docs("[flows]"));
    out.push(RoutingTable::doc("[routing]".to_string()));
    out.push(ArpTable::doc("[arp]".to_string()));
    out.push(HeadersTable::doc("[headers]".to_string()));
    out.extend(crate::tcp::docs());
    // Which words `transport` knows hangs on the schemes, not on its type.
    for key in out.iter_mut().flat_map(|page| &mut page.keys).filter(|key| key.name == "transport") {
        key.choices = crate::carrier::names(schemes);
        key.expected = one_of(&key.choices);
    }
    out.extend(schemes.entries().iter().map(crate::params::doc));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented() {
        let pages = reference();
        assert!(pages.len() > 15);
        for page in &pages {
            assert!(!page.about.is_empty(), "{}", page.name);
            for key in &page.keys {
                assert!(!key.doc.is_empty() && !key.expected.is_empty(), "{} {}", page.name, key.name);
            }
        }
    }
}
