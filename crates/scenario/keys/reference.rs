//! The reference of the file format, from the definitions that the reader uses.

use airfair_schemes::Registry;
use airfair_units::{Bytes, Db, Dbm, Meters, Quantity, Rate, Span, Speed};

use crate::declare::field::Field;
use crate::declare::frequency::Frequency;
use crate::declare::table::TableDoc;
use crate::keys::network::{
    ArpTable, ControllerTable, GainChangeTable, GainTable, HeadersTable, LinkTable, NodeTable, NodesTable,
    RateChangeTable, RoutingTable, TopTable,
};
use crate::keys::propagation::{FadingTable, PropagationTable};
use crate::keys::radio::RadioTable;
use crate::keys::routing::PROTOCOLS;
use crate::keys::traffic::{FlowTable, FlowsTable, TrafficTable};
use crate::keys::transport::has_law;
use crate::keys::{examples, scheme_params};
use crate::text::error::one_of;

/// Tables that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The subject of the tables.
    pub title: &'static str,
    /// How they are used. The examples of all sections, one after the other, are one scenario.
    pub example: &'static str,
    /// The tables.
    pub tables: Vec<TableDoc>,
}

/// A type of value that is written with a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityDoc {
    /// The type's name in [`KeyDoc::kind`](crate::KeyDoc::kind).
    pub name: &'static str,
    /// The expected form, with an example.
    pub expected: &'static str,
    /// The units of the type.
    pub units: Vec<&'static str>,
    /// True if it may be negative.
    pub signed: bool,
}

fn quantity<Q: Quantity + Field>() -> QuantityDoc {
    QuantityDoc { name: Q::TYPE, expected: Q::EXPECTED, units: Q::units(), signed: Q::SIGNED }
}

/// Every type that is written with a unit.
#[must_use]
pub fn quantities() -> Vec<QuantityDoc> {
    vec![
        quantity::<Span>(),
        quantity::<Rate>(),
        quantity::<Bytes>(),
        quantity::<Meters>(),
        quantity::<Speed>(),
        quantity::<Dbm>(),
        quantity::<Db>(),
        quantity::<Frequency>(),
    ]
}

/// Every table of a scenario file, every key, its type, default and meaning, in the order in which a user needs them.
#[must_use]
pub fn reference() -> Vec<Section> {
    reference_with(Registry::built_in())
}

/// The reference with the parameters and names of these schemes.
#[must_use]
pub fn reference_with(schemes: &Registry) -> Vec<Section> {
    let table = |doc: fn(String) -> TableDoc, name: &str| doc(name.to_string());
    let mut radios = vec![table(RadioTable::doc, "[radio]")];
    radios.extend(PropagationTable::docs("propagation"));
    radios.extend(FadingTable::docs("fading"));
    let mut nodes = vec![table(NodeTable::doc, "[[node]]")];
    nodes.extend(crate::keys::movement::docs());
    nodes.extend(NodesTable::docs("[nodes]"));
    let mut flows = vec![table(FlowTable::doc, "[[flow]]")];
    flows.extend(FlowsTable::docs("[flows]"));
    let mut sections = vec![
        Section {
            title: "The run",
            example: examples::RUN,
            tables: vec![table(TopTable::doc, "top of the file")],
        },
        Section { title: "Radios", example: examples::RADIOS, tables: radios },
        Section { title: "Nodes", example: examples::NODES, tables: nodes },
        Section {
            title: "Wired links and measured gains",
            example: examples::LINKS,
            tables: vec![
                table(LinkTable::doc, "[[link]]"),
                table(RateChangeTable::doc, "rate_changes"),
                table(GainTable::doc, "[[gain]]"),
                table(GainChangeTable::doc, "changes"),
            ],
        },
        Section {
            title: "Controllers",
            example: examples::CONTROLLERS,
            tables: vec![table(ControllerTable::doc, "[[controller]]")],
        },
        Section { title: "Flows", example: examples::FLOWS, tables: flows },
        Section { title: "Traffic", example: examples::TRAFFIC, tables: TrafficTable::docs("traffic") },
        Section { title: "TCP", example: examples::TCP, tables: crate::keys::tcp::docs() },
        Section {
            title: "Routing, addresses, headers",
            example: examples::NETWORK,
            tables: std::iter::once(table(RoutingTable::doc, "[routing]"))
                .chain(PROTOCOLS.iter().map(|entry| (entry.doc)(format!("[{}]", entry.word))))
                .chain([table(ArpTable::doc, "[arp]"), table(HeadersTable::doc, "[headers]")])
                .collect(),
        },
        Section {
            title: "Parameters of schemes",
            example: examples::SCHEMES,
            tables: schemes.entries().iter().map(scheme_params::page).collect(),
        },
        Section {
            title: "Readings of schemes",
            example: examples::READINGS,
            tables: schemes.entries().iter().filter_map(scheme_params::readings).collect(),
        },
    ];
    // The words of these keys depend on the schemes, not on the types of the keys.
    let all: Vec<String> = schemes.entries().iter().map(|entry| entry.name.to_string()).collect();
    let laws: Vec<String> =
        schemes.entries().iter().filter(|entry| has_law(entry)).map(|entry| entry.name.to_string()).collect();
    for table in sections.iter_mut().flat_map(|section| &mut section.tables) {
        let of_flow = table.keys.iter().any(|key| key.name == "transport");
        for key in &mut table.keys {
            match key.name {
                "transport" => key.choices = crate::keys::transport::names(schemes),
                "scheme" => key.choices.clone_from(if of_flow { &laws } else { &all }),
                _ => continue,
            }
            key.expected = one_of(&key.choices);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented() {
        let sections = reference();
        assert!(sections.iter().map(|section| section.tables.len()).sum::<usize>() > 15);
        for page in sections.iter().flat_map(|section| &section.tables) {
            assert!(!page.about.is_empty(), "{}", page.name);
            for key in &page.keys {
                assert!(!key.doc.is_empty() && !key.expected.is_empty(), "{} {}", page.name, key.name);
            }
        }
    }

    #[test]
    fn the_examples_together_are_a_scenario() {
        let text: String = reference().iter().map(|section| section.example).collect();
        let scenario = crate::read(&text, "examples", &[]).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(scenario.warnings, Vec::<String>::new());
        assert!(scenario.spec.flows.len() > 8 && !scenario.spec.links.is_empty());
    }
}
