//! Completed files, passed to Python in blocks during the run, so that few are in memory at a time.

use airfair_sim::World;
use airfair_sim::ids::FlowIx;
use airfair_sim::measure::files::Completion;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::{self, Column, ROWS};

/// The Python function that receives the blocks.
pub(crate) struct Completions(Py<PyAny>);

impl Completions {
    /// Makes the world record completed files, for `on_completions`.
    pub fn begin(world: &mut World, on_completions: &Py<PyAny>) -> Self {
        world.keep_completions();
        Self(Python::attach(|py| on_completions.clone_ref(py)))
    }

    /// Passes on the full blocks, and at the end of the run the rest.
    pub fn hand_over(&self, world: &mut World) -> PyResult<()> {
        while let Some(block) = world.take_completion_block(ROWS) {
            Python::attach(|py| self.0.call1(py, (table(py, world, &block)?,)))?;
        }
        Ok(())
    }
}

fn table<'py>(
    py: Python<'py>,
    world: &World,
    block: &[(FlowIx, Completion)],
) -> PyResult<Bound<'py, PyDict>> {
    let flows: Vec<&str> = world.names().flows.iter().map(String::as_str).collect();
    // No count of a run comes near 2^63.
    let whole = |of: &dyn Fn(&Completion) -> u64| block.iter().map(|(_, c)| of(c) as i64).collect::<Vec<_>>();
    let seconds =
        |of: &dyn Fn(&Completion) -> u64| block.iter().map(|(_, c)| of(c) as f64 / 1e9).collect::<Vec<_>>();
    let flow: Vec<i64> = block.iter().map(|(flow, _)| i64::from(flow.0)).collect();
    columns::table(
        py,
        &[
            ("flow", Column::Code(&flow, &flows)),
            ("file", Column::Whole(&whole(&|c| c.file))),
            ("start_s", Column::Float(&seconds(&|c| c.start.0))),
            ("bytes", Column::Whole(&whole(&|c| c.bytes))),
            ("completion_s", Column::Float(&seconds(&|c| c.duration.0))),
            ("timeouts", Column::Whole(&whole(&|c| c.timeouts))),
            ("retransmissions", Column::Whole(&whole(&|c| c.retransmissions))),
        ],
    )
}
