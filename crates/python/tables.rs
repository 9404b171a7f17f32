//! Python values as TOML.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::error::{input_error, unsuitable};

/// Deeper values are not a scenario.
const DEEPEST: usize = 32;

/// A scenario's tables as a file: `[table]` and `[[table]]` at the top, `{ ... }` and `[ ... ]` within.
pub(crate) fn document(tables: &Bound<'_, PyMapping>) -> PyResult<String> {
    let (mut plain, mut headed) = (Table::new(), Vec::new());
    for pair in tables.items()?.iter() {
        let (key, value) = key_value(&pair, "")?;
        match value_of(&value, &key, 0)? {
            Value::InlineTable(table) => headed.push((key, Item::Table(table.into_table()))),
            Value::Array(list) if !list.is_empty() && list.iter().all(Value::is_inline_table) => {
                let blocks = list.into_iter().filter_map(|v| Some(v.as_inline_table()?.clone().into_table()));
                headed.push((key, Item::ArrayOfTables(blocks.collect::<ArrayOfTables>())));
            }
            other => {
                plain.insert(&key, Item::Value(other));
            }
        }
    }
    for (key, item) in headed {
        plain.insert(&key, item);
    }
    Ok(DocumentMut::from(plain).to_string())
}

/// One value as TOML on a line; `path` names it in errors.
pub(crate) fn value(value: &Bound<'_, PyAny>, path: &str) -> PyResult<String> {
    Ok(value_of(value, path, 0)?.to_string())
}

fn value_of(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Value> {
    if depth > DEEPEST {
        return Err(input_error(format!("{path}: nested too deep")));
    }
    if value.is_instance_of::<PyString>() {
        let text = value.extract::<String>();
        return text
            .map(Value::from)
            .map_err(|_| unsuitable(value, path, "a text without halves of surrogate pairs"));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::from(value.extract::<bool>()?));
    }
    if value.is_instance_of::<PyInt>() {
        let whole = value.extract::<i64>().map_err(|_| unsuitable(value, path, "a whole number of 64 bits"));
        return Ok(Value::from(whole?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::from(value.extract::<f64>()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let mut list = Array::new();
        for (i, item) in value.try_iter()?.enumerate() {
            list.push(value_of(&item?, &format!("{path}[{i}]"), depth + 1)?);
        }
        return Ok(Value::Array(list));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let mut table = InlineTable::new();
        for pair in mapping.items()?.iter() {
            let (key, value) = key_value(&pair, path)?;
            table.insert(&key, value_of(&value, &format!("{path}.{key}"), depth + 1)?);
        }
        return Ok(Value::InlineTable(table));
    }
    // Scalars of numpy and similar libraries: numpy's booleans, which PyO3 reads; a value with `__index__` is a whole number, one with
    // `__float__` a number.
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(Value::from(flag));
    }
    if let Ok(whole) = value.extract::<i64>() {
        return Ok(Value::from(whole));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Value::from(number));
    }
    Err(unsuitable(value, path, "a text, a number, true or false, a list or a dict"))
}

fn key_value<'py>(pair: &Bound<'py, PyAny>, path: &str) -> PyResult<(String, Bound<'py, PyAny>)> {
    let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair.extract()?;
    match key.extract::<String>() {
        Ok(key) => Ok((key, value)),
        Err(_) => Err(unsuitable(&key, if path.is_empty() { "a key" } else { path }, "texts as keys")),
    }
}

/// The tables of a file as dicts, by the reader of Python's library.
pub(crate) fn dict<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    Ok(py.import("tomllib")?.call_method1("loads", (text,))?.cast_into()?)
}
