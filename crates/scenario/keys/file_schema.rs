//! The file format as a JSON Schema (draft 2020-12), from the definitions that the reader uses: editors complete it.
//!
//! It knows keys, types, units, choices, ranges of plain numbers, required keys and tagged tables. It does not know what
//! depends on two keys, on names, or on the size of a quantity: that is the reader's.

use serde_json::{Map, Value, json};

use crate::declare::field::Field;
use crate::declare::name::Name;
use crate::declare::schema::{Schema, list, shared};
use crate::declare::table::TableDoc;
use crate::keys::inherit::HOISTED;
use crate::keys::movement::MovementTable;
use crate::keys::network::{
    ArpTable, ControllerTable, GainTable, HeadersTable, LinkTable, NodeTable, NodesTable, RoutingTable,
    TopTable,
};
use crate::keys::radio::RadioTable;
use crate::keys::routing::PROTOCOLS;
use crate::keys::scheme_params;
use crate::keys::tcp::TcpTable;
use crate::keys::traffic::{FlowTable, FlowsTable};

/// Adds the keys of a flow that its `traffic` may have too to the schema of `traffic`.
fn with_hoisted(mut flow: Schema) -> Schema {
    let hoisted: Vec<(&str, Value)> =
        HOISTED.iter().map(|key| (*key, flow["properties"][*key].clone())).collect();
    for variant in flow["properties"]["traffic"]["oneOf"].as_array_mut().into_iter().flatten() {
        for (key, schema) in &hoisted {
            variant["properties"][*key] = schema.clone();
        }
    }
    flow
}

/// The schema of scenario files, as JSON text.
#[must_use]
pub fn schema() -> String {
    let table = |doc: TableDoc| doc.schema();
    let no_name = String::new;
    let mut flows = FlowsTable::schema();
    for variant in flows["oneOf"].as_array_mut().into_iter().flatten() {
        *variant = with_hoisted(variant.take());
    }
    let schemes: Map<String, Value> = airfair_schemes::registry()
        .iter()
        .map(|entry| (entry.name.to_string(), scheme_params::doc(entry).schema()))
        .collect();
    let radio = RadioTable::doc(no_name());
    let about = |text: &str, mut schema: Schema| {
        schema["description"] = json!(text);
        schema
    };
    let mut root = table(TopTable::doc(no_name()));
    let tables = [
        ("radio", about(&radio.about, shared("radio"))),
        (
            "radios",
            json!({
                "type": "object",
                "description": "Further kinds of radio by name. What one does not write it takes from [radio].",
                "propertyNames": Name::schema(),
                "additionalProperties": shared("radio"),
            }),
        ),
        ("node", about("Nodes that are written out.", list(table(NodeTable::doc(no_name())), None))),
        ("movement", table(MovementTable::doc(no_name()))),
        ("nodes", about("Nodes that are placed by a rule.", NodesTable::schema())),
        ("link", about("Wired links.", list(table(LinkTable::doc(no_name())), None))),
        ("gain", about("Measured path gains.", list(table(GainTable::doc(no_name())), None))),
        (
            "controller",
            about("Where and when controllers run.", list(table(ControllerTable::doc(no_name())), None)),
        ),
        (
            "flow",
            about("Flows that are written out.", list(with_hoisted(table(FlowTable::doc(no_name()))), None)),
        ),
        ("flows", about("Flows that are drawn.", flows)),
        ("routing", table(RoutingTable::doc(no_name()))),
        ("arp", table(ArpTable::doc(no_name()))),
        ("headers", table(HeadersTable::doc(no_name()))),
        ("tcp", about(&TcpTable::doc(no_name()).about, shared("tcp"))),
        (
            "schemes",
            json!({
                "type": "object",
                "description": "Parameters of schemes.",
                "properties": schemes,
                "additionalProperties": false,
            }),
        ),
    ];
    let protocols = PROTOCOLS.iter().map(|entry| (entry.word, table((entry.doc)(no_name()))));
    for (key, schema) in tables.into_iter().chain(protocols) {
        root["properties"][key] = schema;
    }
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Airfair scenario");
    root["description"] = json!("What the simulator runs. Quantities are texts with a unit.");
    root["anyOf"] = json!([{ "required": ["node"] }, { "required": ["nodes"] }]);
    root["$defs"] = json!({ "radio": table(radio), "tcp": table(TcpTable::doc(no_name())) });
    format!("{root:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_the_reader_is_in_the_schema() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let found: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut known: Vec<&str> = crate::keys::top_keys().collect();
        known.sort_unstable();
        assert_eq!(found, known);
    }

    #[test]
    fn ranges_and_defaults_are_values() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let link = &schema["properties"]["link"]["items"]["properties"];
        assert_eq!(link["loss"]["maximum"], json!(1.0));
        assert_eq!(link["loss_every"]["default"], json!(0));
        assert_eq!(link["delay"]["default"], json!("0 s"));
        let red = &schema["properties"]["schemes"]["properties"]["red"]["properties"];
        assert_eq!(red["gentle"]["type"], json!("boolean"));
    }
}
