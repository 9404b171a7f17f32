//! `airfair._core`: the simulator for Python. Thin: it reads, runs, and writes the result contract as JSON.
//!
//! The interpreter is free while a world runs. A run goes in slices of simulated time, and between two slices Python is
//! asked whether a signal has come; how a run is sliced changes nothing of its result.

mod capture;
mod columns;
mod completions;
mod contract;
mod document;
mod drive;
mod error;
mod explain;
mod hosted;
mod importing;
mod interned;
mod network;
mod precision;
mod reference;
mod scenario;
mod schemes;
mod series;
mod summary;
mod tables;
mod trace;
mod world;
mod written;

use airfair_units::{Quantity, Span};
use pyo3::prelude::*;

use error::input_error;

/// Reads a time with its unit, such as "1.5 ms", as nanoseconds.
#[pyfunction]
fn parse_time(text: &Bound<'_, PyAny>) -> PyResult<u64> {
    let Ok(text) = text.extract::<String>() else {
        let given = text.repr().map_or_else(|_| "?".to_string(), |text| text.to_string());
        return Err(input_error(format!("{given} is no text; expected {}", Span::EXPECTED)));
    };
    Span::parse(&text)
        .map(|span| span.0)
        .map_err(|e| input_error(format!("\"{text}\": {}; expected {}", e.problem, Span::EXPECTED)))
}

/// The simulator: scenarios, runs, statistics, traces.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("InputError", m.py().get_type::<error::InputError>())?;
    m.add("SchemeError", m.py().get_type::<error::SchemeError>())?;
    m.add("ScenarioError", m.py().get_type::<error::ScenarioError>())?;
    m.add_class::<scenario::Scenario>()?;
    m.add_class::<world::World>()?;
    m.add_class::<trace::Trace>()?;
    m.add_class::<drive::Stop>()?;
    m.add_class::<series::Recorded>()?;
    m.add_class::<written::Context>()?;
    m.add_class::<written::Random>()?;
    m.add_function(wrap_pyfunction!(written::register_scheme, m)?)?;
    m.add_class::<capture::Watch>()?;
    m.add_function(wrap_pyfunction!(parse_time, m)?)?;
    m.add_function(wrap_pyfunction!(document::nearest, m)?)?;
    m.add_function(wrap_pyfunction!(document::read_toml, m)?)?;
    m.add_function(wrap_pyfunction!(importing::import_network, m)?)?;
    m.add_function(wrap_pyfunction!(reference::reference, m)?)?;
    m.add_function(wrap_pyfunction!(reference::scenario_schema, m)?)?;
    m.add_function(wrap_pyfunction!(schemes::schemes, m)?)?;
    m.add_function(wrap_pyfunction!(summary::summarise, m)?)?;
    m.add_function(wrap_pyfunction!(summary::estimate_of, m)?)?;
    m.add_function(wrap_pyfunction!(summary::median_of, m)?)?;
    m.add_function(wrap_pyfunction!(summary::share_of, m)?)?;
    m.add_function(wrap_pyfunction!(trace::trace, m)?)?;
    m.add_function(wrap_pyfunction!(drive::run_paced, m)?)
}
