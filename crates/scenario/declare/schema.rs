//! The file format as a JSON Schema (draft 2020-12), from the definitions that the reader uses: editors complete it.
//!
//! It knows keys, types, units, choices, ranges of plain numbers, required keys and tagged tables. It does not know what
//! hangs on two keys, on names, or on the size of a quantity: that is the reader's.

use airfair_units::Quantity;
use serde_json::{Map, Value, json};

use crate::declare::field::Field;
use crate::declare::name::Name;
use crate::declare::table::{DefaultDoc, KeyDoc, TableDoc};
use crate::keys::inherit::HOISTED;
use crate::keys::network::{
    ArpTable, GainTable, HeadersTable, LinkTable, NodeTable, NodesTable, RoutingTable, TopTable,
};
use crate::keys::radio::RadioTable;
use crate::keys::routing::PROTOCOLS;
use crate::keys::tcp::TcpTable;
use crate::keys::traffic::{FlowTable, FlowsTable};
use crate::text::location::At;
use crate::text::tree;

/// A JSON Schema, or a part of one.
pub(crate) type Schema = Value;

/// A value of this type.
pub(crate) fn of_type(name: &str) -> Schema {
    json!({ "type": name })
}

/// A whole number from 0.
pub(crate) fn integer(most: u64) -> Schema {
    json!({ "type": "integer", "minimum": 0, "maximum": most })
}

/// One of several words.
pub(crate) fn words(words: &[&str]) -> Schema {
    json!({ "type": "string", "enum": words })
}

/// A text of this form.
pub(crate) fn text_like(pattern: &str) -> Schema {
    json!({ "type": "string", "pattern": pattern })
}

/// One of several words, or a value of another form.
pub(crate) fn words_or(choices: &[&str], other: Schema) -> Schema {
    any_of(vec![words(choices), other])
}

/// A value of any of these forms.
pub(crate) fn any_of(forms: Vec<Schema>) -> Schema {
    json!({ "anyOf": forms })
}

/// A list, if need be of so many items.
pub(crate) fn list(item: Schema, lengths: Option<(usize, usize)>) -> Schema {
    match lengths {
        None => json!({ "type": "array", "items": item }),
        Some((least, most)) => {
            json!({ "type": "array", "items": item, "minItems": least, "maxItems": most })
        }
    }
}

/// A list of two different things.
pub(crate) fn pair(first: Schema, second: Schema) -> Schema {
    json!({ "type": "array", "prefixItems": [first, second], "items": false, "minItems": 2, "maxItems": 2 })
}

/// A name of so many characters: no control characters, no space around it.
pub(crate) fn name(longest: usize) -> Schema {
    let pattern = r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$";
    json!({ "type": "string", "minLength": 1, "maxLength": longest, "pattern": pattern })
}

/// A number with one of the quantity's units.
pub(crate) fn quantity<Q: Quantity>() -> Schema {
    let sign = if Q::SIGNED { r"[+\-]?" } else { r"\+?" };
    let number = r"([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9][0-9_]*)([eE][+\-]?[0-9]+)?";
    // No unit has a sign of regular expressions in it.
    text_like(&format!(r"^\s*{sign}{number}\s*({})\s*$", Q::units().join("|")))
}

/// A table that stands among the definitions.
pub(crate) fn shared(name: &str) -> Schema {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Puts the ends of a range into a schema of plain numbers.
pub(crate) fn within(mut schema: Schema, [least, most]: [Option<Schema>; 2]) -> Schema {
    if let Value::Object(map) = &mut schema {
        map.extend(least.map(|value| ("minimum".to_string(), value)));
        map.extend(most.map(|value| ("maximum".to_string(), value)));
    }
    schema
}

/// A table of which one key tells what the others are.
pub(crate) fn tagged(tag: &str, variants: &[(&str, TableDoc)]) -> Schema {
    let choices: Vec<&str> = variants.iter().map(|(word, _)| *word).collect();
    let variants: Vec<Schema> = variants
        .iter()
        .map(|(word, table)| {
            let mut schema = table.schema();
            schema["title"] = json!(format!("{tag} = \"{word}\""));
            schema["properties"][tag] = json!({ "const": word, "description": table.about });
            if let Some(required) = schema["required"].as_array_mut() {
                required.insert(0, json!(tag));
            }
            schema
        })
        .collect();
    json!({ "type": "object", "required": [tag], "properties": { tag: words(&choices) }, "oneOf": variants })
}

impl KeyDoc {
    /// Its value, with what it does and what stands where it is not written.
    fn described(&self) -> Schema {
        let mut schema = self.schema.clone();
        let mut text = self.doc.clone();
        if let Some(range) = self.range.as_ref().filter(|_| schema.get("minimum").is_none()) {
            text.push_str(&format!(" From {range}."));
        }
        match &self.default {
            DefaultDoc::Required => {}
            DefaultDoc::Value(toml) => {
                schema["default"] =
                    tree::parse_value(toml, At::Line(1)).map_or(Value::Null, |node| plain(&node));
            }
            DefaultDoc::Words(words) => text.push_str(&format!(" Default: {words}.")),
        }
        schema["description"] = json!(text);
        schema
    }
}

impl TableDoc {
    /// The table with these keys and no other.
    pub(crate) fn schema(&self) -> Schema {
        let properties: Map<String, Value> =
            self.keys.iter().map(|key| (key.name.to_string(), key.described())).collect();
        let required: Vec<&str> =
            self.keys.iter().filter(|key| key.default == DefaultDoc::Required).map(|key| key.name).collect();
        json!({
            "type": "object",
            "description": self.about,
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// A TOML value as JSON.
fn plain(node: &tree::Node) -> Value {
    match &node.value {
        tree::Value::Text(text) | tree::Value::Huge(text) | tree::Value::Date(text) => json!(text),
        tree::Value::Integer(value) => json!(value),
        tree::Value::Number(value) => json!(value),
        tree::Value::Flag(value) => json!(value),
        tree::Value::List(items) => items.iter().map(plain).collect(),
        tree::Value::Table(table) => {
            table.entries.iter().map(|(key, entry)| (key.clone(), plain(&entry.node))).collect()
        }
    }
}

/// Lets the keys of a flow that may stand in its `traffic` stand there.
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
        .map(|entry| (entry.name.to_string(), crate::params::doc(entry).schema()))
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
        ("movement", crate::resolve::movement::schema()),
        ("nodes", about("Nodes that are placed by a rule.", NodesTable::schema())),
        ("link", about("Wired links.", list(table(LinkTable::doc(no_name())), None))),
        ("gain", about("Measured path gains.", list(table(GainTable::doc(no_name())), None))),
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
    fn every_table_of_the_reader_stands_in_the_schema() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let found: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let mut known: Vec<&str> =
            TopTable::KEYS.iter().copied().chain(crate::resolve::world::tables()).collect();
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
