//! Parts of a JSON Schema (draft 2020-12): what it can say of a type of value, of a key and of a table of keys.

use airfair_units::Quantity;
use serde_json::{Map, Value, json};

use crate::declare::table::{DefaultDoc, KeyDoc, TableDoc};
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

/// A text that matches a regular expression.
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

/// A list, of a limited number of items if `lengths` gives the least and the most.
pub(crate) fn list(item: Schema, lengths: Option<(usize, usize)>) -> Schema {
    match lengths {
        None => json!({ "type": "array", "items": item }),
        Some((least, most)) => {
            json!({ "type": "array", "items": item, "minItems": least, "maxItems": most })
        }
    }
}

/// A list of two items of different types.
pub(crate) fn pair(first: Schema, second: Schema) -> Schema {
    json!({ "type": "array", "prefixItems": [first, second], "items": false, "minItems": 2, "maxItems": 2 })
}

/// A name of at most `longest` characters, without control characters and without space around it.
pub(crate) fn name(longest: usize) -> Schema {
    let pattern = r"^[^\s\x00-\x1f\x7f-\x9f]([^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f])?$";
    json!({ "type": "string", "minLength": 1, "maxLength": longest, "pattern": pattern })
}

/// A number with one of the quantity's units.
pub(crate) fn quantity<Q: Quantity>() -> Schema {
    let sign = if Q::SIGNED { r"[+\-]?" } else { "" };
    // An underscore stands between two digits.
    let number = r"([0-9](_?[0-9])*(\.([0-9](_?[0-9])*)?)?|\.[0-9](_?[0-9])*)([eE][+\-]?[0-9]+)?";
    // No unit contains a character that regular expressions reserve.
    text_like(&format!(r"^\s*{sign}{number}\s*({})\s*$", Q::units().join("|")))
}

/// A reference to a table among the schema's definitions.
pub(crate) fn shared(name: &str) -> Schema {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// Adds the bounds of a range to a schema of plain numbers.
pub(crate) fn within(mut schema: Schema, [least, most]: [Option<Schema>; 2]) -> Schema {
    if let Value::Object(map) = &mut schema {
        map.extend(least.map(|value| ("minimum".to_string(), value)));
        map.extend(most.map(|value| ("maximum".to_string(), value)));
    }
    schema
}

/// A table in which the value of one key (`tag`) decides which other keys it has.
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
    /// The schema of the key's value, with its description and its default.
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
                    tree::parse_value(toml, At::Line(1)).map_or(Value::Null, |item| plain(&item));
            }
            DefaultDoc::Words(words) => text.push_str(&format!(" Default: {words}.")),
        }
        schema["description"] = json!(text);
        schema
    }
}

impl TableDoc {
    /// The schema of a table that has these keys and no other.
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
fn plain(item: &tree::Located) -> Value {
    match &item.value {
        tree::Value::Text(text) | tree::Value::Huge(text) | tree::Value::Date(text) => json!(text),
        tree::Value::Integer(value) => json!(value),
        tree::Value::Number(value) => json!(value),
        tree::Value::Flag(value) => json!(value),
        tree::Value::List(items) => items.iter().map(plain).collect(),
        tree::Value::Table(table) => {
            table.entries.iter().map(|(key, entry)| (key.clone(), plain(&entry.item))).collect()
        }
    }
}
