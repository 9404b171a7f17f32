//! Maps of real networks.

use airfair_scenario::import::{ImportOptions, SIBLINGS, import_path};
use pyo3::prelude::*;

use crate::arguments::FilePath;
use crate::error::{input_error, scenario_error};

/// Makes a scenario from the map at `path`: (the scenario as TOML, the report as JSON, the report as text with the first
/// `shown` records of each reason). `options` are names and texts, as on the command line. Raises `InputError`.
#[pyfunction]
#[pyo3(signature = (path, options=Vec::new(), shown=5), text_signature = "(path, options=(), shown=5)")]
pub(crate) fn import_network(
    py: Python<'_>,
    path: FilePath,
    options: Vec<(String, String)>,
    shown: usize,
) -> PyResult<(String, String, String)> {
    let mut chosen = ImportOptions::default();
    for (key, text) in &options {
        chosen.set(key, text).map_err(input_error)?;
    }
    match py.detach(|| import_path(&path.0, &chosen)) {
        Ok(done) => Ok((done.scenario, done.report.json(), done.report.text(shown))),
        Err(errors) => Err(scenario_error(py, &errors)),
    }
}

/// Names of files in one folder that may be parts of one map: reading one reads the others.
#[pyfunction]
pub(crate) fn parts_of_maps() -> [&'static str; 4] {
    SIBLINGS
}
