//! Files beside scenarios: their values with lines, and the names that were meant.

use airfair_scenario::{Item, read_document};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arguments::FilePath;
use crate::error::scenario_error;

/// Reads a TOML file: a dict of key to (line, value), where a list holds (line, value) too. Raises `ScenarioError`.
#[pyfunction]
pub(crate) fn read_toml(py: Python<'_>, path: FilePath) -> PyResult<Bound<'_, PyDict>> {
    match py.detach(|| read_document(&path.0)) {
        Ok(table) => dict(py, table),
        Err(errors) => Err(scenario_error(py, &errors)),
    }
}

fn dict(py: Python<'_>, table: Vec<(String, u32, Item)>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (key, line, item) in table {
        dict.set_item(key, (line, value(py, item)?))?;
    }
    Ok(dict)
}

fn value(py: Python<'_>, item: Item) -> PyResult<Bound<'_, PyAny>> {
    match item {
        Item::Text(text) => text.into_bound_py_any(py),
        Item::Integer(i) => i.into_bound_py_any(py),
        Item::Number(x) => x.into_bound_py_any(py),
        Item::Flag(flag) => flag.into_bound_py_any(py),
        Item::List(items) => {
            let list = PyList::empty(py);
            for (line, item) in items {
                list.append((line, value(py, item)?))?;
            }
            Ok(list.into_any())
        }
        Item::Table(table) => Ok(dict(py, table)?.into_any()),
    }
}

/// The name of `known` that is most like `name`, if any is like it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "what Python hands over")]
pub(crate) fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    airfair_scenario::nearest(name, known.iter().map(String::as_str)).map(str::to_string)
}
