//! Rows that Python receives during a run: columns of bytes that its libraries read without a conversion.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::series::bytes;

/// Rows of a block. The writer of the file decides how many of them make a row group.
pub(crate) const ROWS: usize = 1 << 16;

/// A column.
pub(crate) enum Column<'a> {
    /// -1 is nothing.
    Whole(&'a [i64]),
    /// Places in a list of names.
    Code(&'a [i64], &'a [&'a str]),
    /// A NaN is a missing value.
    Float(&'a [f64]),
}

/// A table of columns: a column its kind, its values as bytes, and the names that they stand for if they are codes.
pub(crate) fn table<'py>(py: Python<'py>, columns: &[(&str, Column<'_>)]) -> PyResult<Bound<'py, PyDict>> {
    use Column::{Code, Float, Whole};
    let table = PyDict::new(py);
    for (name, column) in columns {
        let (kind, bytes, labels) = match column {
            Whole(values) => ("int64", bytes(py, values, |value| value.to_ne_bytes())?, None),
            Code(values, labels) => ("int64", bytes(py, values, |value| value.to_ne_bytes())?, Some(labels)),
            Float(values) => ("float64", bytes(py, values, |value| value.to_ne_bytes())?, None),
        };
        table.set_item(name, (kind, bytes, labels.map(|labels| labels.to_vec())))?;
    }
    Ok(table)
}
