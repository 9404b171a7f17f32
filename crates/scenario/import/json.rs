//! Values of JSON as real maps contain them: numbers as text, ids as numbers.

use serde_json::Value;

/// An id: a text, or a whole number.
pub(crate) fn id(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number, or a number in quotes.
pub(crate) fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A text.
pub(crate) fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str()
}

/// The entries of a list; none if the value is absent or not a list.
pub(crate) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
