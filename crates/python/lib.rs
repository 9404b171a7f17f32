//! `airfair._core`: the simulator for Python. Thin: it reads scenarios, runs them, and writes results as JSON.
//!
//! The interpreter is released while a world runs. A run consists of slices of simulated time, between which signals are checked; the
//! slices do not change the result.

mod allocation;
mod arguments;
mod capabilities;
mod capture;
mod columns;
mod completions;
mod contract;
mod document;
mod drive;
mod emulation;
mod error;
mod explain;
mod form;
mod hosted;
mod importing;
mod interned;
mod load;
mod network;
mod optimum;
mod precision;
mod reference;
mod scenario;
mod schemes;
mod series;
mod summary;
mod tables;
mod trace;
mod verdict;
mod world;
mod written;

use pyo3::prelude::*;

/// Reads a time with its unit, such as "1.5 ms", as nanoseconds; `name` is the name of the argument in errors.
#[pyfunction]
#[pyo3(signature = (text, name=None))]
fn parse_time(text: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<u64> {
    arguments::time(text, name)
}

/// The simulator: scenarios, runs, statistics, traces.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("InputError", m.py().get_type::<error::InputError>())?;
    m.add("SchemeError", m.py().get_type::<error::SchemeError>())?;
    m.add("LimitError", m.py().get_type::<error::LimitError>())?;
    m.add("ScenarioError", m.py().get_type::<error::ScenarioError>())?;
    m.add_class::<scenario::Scenario>()?;
    m.add_class::<world::World>()?;
    m.add_class::<world::Egress>()?;
    m.add_class::<trace::Trace>()?;
    m.add_class::<drive::Stop>()?;
    m.add_class::<series::Recorded>()?;
    m.add_class::<written::Context>()?;
    m.add_class::<written::Random>()?;
    m.add_function(wrap_pyfunction!(written::register_scheme, m)?)?;
    m.add_function(wrap_pyfunction!(emulation::emulation_lacks, m)?)?;
    m.add_function(wrap_pyfunction!(emulation::sources_at_edge, m)?)?;
    m.add_function(wrap_pyfunction!(emulation::emulations, m)?)?;
    m.add_function(wrap_pyfunction!(emulation::execute_in, m)?)?;
    m.add_function(wrap_pyfunction!(load::load_receive, m)?)?;
    m.add_function(wrap_pyfunction!(load::load_send, m)?)?;
    m.add_class::<capture::Watch>()?;
    m.add_function(wrap_pyfunction!(parse_time, m)?)?;
    m.add_function(wrap_pyfunction!(document::nearest, m)?)?;
    m.add_function(wrap_pyfunction!(document::read_toml, m)?)?;
    m.add_function(wrap_pyfunction!(importing::import_network, m)?)?;
    m.add_function(wrap_pyfunction!(importing::parts_of_maps, m)?)?;
    m.add_function(wrap_pyfunction!(allocation::max_min_rates, m)?)?;
    m.add_function(wrap_pyfunction!(allocation::maximal_cliques, m)?)?;
    m.add_function(wrap_pyfunction!(allocation::proportional_rates, m)?)?;
    m.add_function(wrap_pyfunction!(allocation::time_shared_rates, m)?)?;
    m.add_function(wrap_pyfunction!(reference::reference, m)?)?;
    m.add_function(wrap_pyfunction!(reference::scenario_schema, m)?)?;
    m.add_function(wrap_pyfunction!(capabilities::capabilities, m)?)?;
    m.add_function(wrap_pyfunction!(schemes::schemes, m)?)?;
    m.add_function(wrap_pyfunction!(schemes::short_changes, m)?)?;
    m.add_function(wrap_pyfunction!(form::selections, m)?)?;
    m.add_function(wrap_pyfunction!(summary::summarise, m)?)?;
    m.add_function(wrap_pyfunction!(summary::estimate_of, m)?)?;
    m.add_function(wrap_pyfunction!(summary::median_of, m)?)?;
    m.add_function(wrap_pyfunction!(summary::share_of, m)?)?;
    m.add_function(wrap_pyfunction!(trace::trace, m)?)?;
    m.add_function(wrap_pyfunction!(drive::fix_slices, m)?)?;
    m.add_function(wrap_pyfunction!(drive::run_paced, m)?)
}
