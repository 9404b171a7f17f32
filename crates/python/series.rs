//! Series over time, as columns of bytes that Python's libraries read without a conversion.

use airfair_sim::World;
use airfair_sim::engine::drive::Steppable;
use airfair_sim::observe::series::Series;
use airfair_units::Span;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::input_error;

/// Most rows of all tables together: some gigabytes.
const MOST_ROWS: u64 = 50_000_000;
/// Most windows of all lengths together, times the flows: the cost of evaluating them.
const MOST_SHARES: u64 = 200_000_000;

/// An error where a world cannot be read so often.
pub(crate) fn check(world: &World, interval_ns: u64) -> PyResult<()> {
    if interval_ns == 0 {
        return Err(input_error("an interval of 0 s: expected a longer one".to_string()));
    }
    let each = world.names().flows.len() + world.queues().len() + world.stations().len();
    let rows = world.end().as_nanos().div_ceil(interval_ns).saturating_mul(each as u64);
    if rows > MOST_ROWS {
        let interval = Span(interval_ns).as_secs_f64();
        return Err(input_error(format!(
            "an interval of {interval} s would make {rows} rows; expected at most {MOST_ROWS}"
        )));
    }
    Ok(())
}

/// Has fairness measured in windows of these lengths, if the run has room for them.
pub(crate) fn measure_fairness(world: &mut World, lengths_ns: &[u64]) -> PyResult<()> {
    let measured = world.end().since(world.warmup_end());
    let mut shares = 0u64;
    for (i, &length) in lengths_ns.iter().enumerate() {
        let problem =
            |what: String| Err(input_error(format!("window of {} s: {what}", Span(length).as_secs_f64())));
        if length == 0 {
            return problem("expected a longer one".to_string());
        }
        if length > measured.0 {
            return problem(format!(
                "expected at most {} s, what is measured of the run",
                measured.as_secs_f64()
            ));
        }
        if lengths_ns[..i].contains(&length) {
            return problem("expected each length once".to_string());
        }
        let flows = world.names().flows.len().max(1) as u64;
        shares = shares.saturating_add((measured.0 / length).saturating_mul(flows));
        if shares > MOST_SHARES {
            return problem(format!(
                "too short for this run: expected at most {MOST_SHARES} windows times flows"
            ));
        }
    }
    world.measure_fairness(&lengths_ns.iter().map(|&length| Span(length)).collect::<Vec<_>>());
    Ok(())
}

/// A run that was read over time.
#[pyclass(frozen, module = "airfair._core")]
pub(crate) struct Recorded {
    /// The result contract as JSON.
    #[pyo3(get)]
    pub result: String,
    /// Node and target of every queue.
    #[pyo3(get)]
    pub queues: Vec<(String, String)>,
    /// Node and radio of every station.
    #[pyo3(get)]
    pub stations: Vec<(String, String)>,
    pub series: Series,
}

#[pymethods]
impl Recorded {
    /// Indices of the stations whose agents have inner values: rows of the table "agents".
    #[getter]
    fn agents(&self) -> Vec<usize> {
        self.series.agents.places.clone()
    }

    /// Places of the controllers that have inner values in the result's list: rows of the table "controllers".
    #[getter]
    fn controllers(&self) -> Vec<usize> {
        self.series.controllers.places.clone()
    }

    /// Indices of the queues whose hops have inner values: rows of the table "hops".
    #[getter]
    fn hops(&self) -> Vec<usize> {
        self.series.hops.places.clone()
    }

    /// Indices of the queues that have inner values themselves: rows of the table "queue_gauges".
    #[getter]
    fn queue_gauges(&self) -> Vec<usize> {
        self.series.queue_gauges.places.clone()
    }

    /// Tables of columns, a column its kind ("int64" or "float64") and its bytes. Rows are all flows (queues, stations) of the
    /// first interval, then all of the second.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tables(py, &self.series)
    }
}

fn tables<'py>(py: Python<'py>, series: &Series) -> PyResult<Bound<'py, PyDict>> {
    let (flows, queues, channel) = (&series.flows, &series.queues, &series.channel);
    let tables = PyDict::new(py);
    let time = [("end_s", Column::Float(&series.end_s))];
    tables.set_item("time", table(py, &time)?)?;
    let columns = [
        ("delivered_bytes", Column::Count(&flows.delivered_bytes)),
        ("delivered_packets", Column::Count(&flows.delivered_packets)),
        ("sent_packets", Column::Count(&flows.sent_packets)),
        ("retransmissions", Column::Count(&flows.retransmissions)),
        ("window_bytes", Column::Float(&flows.window_bytes)),
        ("rtt_s", Column::Float(&flows.rtt_s)),
    ];
    tables.set_item("flow_series", table(py, &columns)?)?;
    let columns = [
        ("packets", Column::Count(&queues.packets)),
        ("left_packets", Column::Count(&queues.left)),
        ("mean_wait_s", Column::Float(&queues.mean_wait_s)),
        ("acknowledged_packets", Column::Count(&queues.acknowledged)),
        ("mean_link_delay_s", Column::Float(&queues.mean_link_delay_s)),
        ("link_delay_deviation_s", Column::Float(&queues.link_delay_deviation_s)),
    ];
    tables.set_item("queues", table(py, &columns)?)?;
    let columns = [
        ("transmit_s", Column::Float(&channel.transmit_s)),
        ("receive_s", Column::Float(&channel.receive_s)),
        ("busy_s", Column::Float(&channel.busy_s)),
        ("nav_s", Column::Float(&channel.nav_s)),
        ("idle_s", Column::Float(&channel.idle_s)),
        ("sent_frames", Column::Count(&channel.frames)),
        ("missed_answers", Column::Count(&channel.no_answer)),
        ("given_up_packets", Column::Count(&channel.given_up)),
        ("held_packets", Column::Count(&channel.held)),
    ];
    tables.set_item("channel", table(py, &columns)?)?;
    let gauges = [
        ("agents", &series.agents),
        ("controllers", &series.controllers),
        ("hops", &series.hops),
        ("queue_gauges", &series.queue_gauges),
    ];
    for (name, gauges) in gauges {
        let columns = gauges.names.iter().zip(&gauges.values);
        let columns: Vec<_> = columns.map(|(&name, values)| (name, Column::Float(values))).collect();
        tables.set_item(name, table(py, &columns)?)?;
    }
    Ok(tables)
}

enum Column<'a> {
    Count(&'a [u64]),
    Float(&'a [f64]),
}

fn table<'py>(py: Python<'py>, columns: &[(&str, Column<'_>)]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, column) in columns {
        let column = match column {
            // No count of a run comes near 2^63.
            Column::Count(values) => ("int64", bytes(py, values, |value| value.to_ne_bytes())?),
            Column::Float(values) => ("float64", bytes(py, values, |value| value.to_ne_bytes())?),
        };
        table.set_item(name, column)?;
    }
    Ok(table)
}

/// Values as their bytes.
pub(crate) fn bytes<'py, T>(
    py: Python<'py>,
    values: &[T],
    of: impl Fn(&T) -> [u8; 8],
) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, 8 * values.len(), |buffer| {
        for (place, value) in buffer.chunks_exact_mut(8).zip(values) {
            place.copy_from_slice(&of(value));
        }
        Ok(())
    })
}
