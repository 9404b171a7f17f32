//! Captures and the table of frames: what is observed, and how Python receives it during the run.

use airfair_scenario::Scenario;
use airfair_sim::World;
use airfair_sim::engine::drive::Steppable;
use airfair_sim::ids::{Ix, NodeIx, PortIx, StationIx};
use airfair_sim::observe::capture::{CaptureSpec, Columns};
use airfair_sim::observe::states::{StateColumns, StatesSpec};
use airfair_sim::record::Names;
use airfair_units::Time;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::{NodeName, Start, Until, arguments};
use crate::columns::{self, Column};
use crate::error::{input_error, unknown};

arguments! {
    WatchArgument(Py<Watch>) = "watch", "a Watch";
}

/// Bytes of a capture file that are handed over together.
const BYTES: usize = 1 << 18;

/// The part of a run that is captured, and the functions that receive it. Interfaces are "all", a node, or a node and one of its
/// queues: "ap:default" (a radio), "ap:server" (a wire, by the node at its far end).
#[pyclass(frozen, module = "airfair._core")]
pub(crate) struct Watch {
    interfaces: Vec<String>,
    snap_len: u32,
    errors: bool,
    node: Option<String>,
    from: Time,
    until: Option<Time>,
    on_capture: Py<PyAny>,
    on_frames: Option<Py<PyAny>>,
    on_states: Option<Py<PyAny>>,
}

#[pymethods]
impl Watch {
    #[new]
    #[pyo3(
        signature = (on_capture, interfaces=Vec::new(), snap_len=0, errors=false, on_frames=None, node=None, start=Start(0), until=None, on_states=None),
        text_signature = "(on_capture, interfaces=(), snap_len=0, errors=False, on_frames=None, node=None, start='0 s', until=None, on_states=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        on_capture: Py<PyAny>,
        interfaces: Vec<String>,
        snap_len: u32,
        errors: bool,
        on_frames: Option<Py<PyAny>>,
        node: Option<NodeName>,
        start: Start,
        until: Option<Until>,
        on_states: Option<Py<PyAny>>,
    ) -> Self {
        let until = until.map(|until| Time(until.0));
        let node = node.map(|node| node.0);
        let from = Time(start.0);
        Self { interfaces, snap_len, errors, node, from, until, on_capture, on_frames, on_states }
    }
}

impl Watch {
    /// True if it writes capture files.
    pub const fn captures(&self) -> bool {
        !self.interfaces.is_empty()
    }

    /// Begins to observe a world.
    pub fn begin(&self, world: &mut World, scenario: &Scenario) -> PyResult<()> {
        let until = self.until.unwrap_or(world.end()).min(world.end());
        if self.from >= until {
            let from = self.from;
            return Err(input_error(format!("a capture from {from} until {until} has no time in it")));
        }
        let queues = world.queues();
        let mut interfaces: Vec<PortIx> = Vec::new();
        for name in &self.interfaces {
            interfaces.extend(find(name, &queues)?.into_iter().map(PortIx::of));
        }
        let nodes = &scenario.spec.nodes;
        let node = self.node.as_ref().map(|name| {
            let at = nodes.iter().position(|n| n.id == *name);
            at.map(NodeIx::of).ok_or_else(|| unknown("node", name, nodes.iter().map(|n| n.id.as_str())))
        });
        let node = node.transpose()?;
        if self.on_states.is_some() {
            world.observe_states(StatesSpec { node, from: self.from, until });
        }
        world.capture(CaptureSpec {
            interfaces,
            snap_len: self.snap_len,
            errors: self.errors,
            rows: self.on_frames.is_some(),
            node,
            from: self.from,
            until,
        });
        // The beginnings of all files, by the names of their nodes: which has filled a block first depends on the slices of the run.
        let mut files = world.take_captures(1);
        files.sort_by(|a, b| world.names().nodes[a.0.ix()].cmp(&world.names().nodes[b.0.ix()]));
        Python::attach(|py| {
            files.iter().try_for_each(|(node, bytes)| {
                let name = &world.names().nodes[node.ix()];
                self.on_capture.call1(py, (name, PyBytes::new(py, bytes))).map(drop)
            })
        })?;
        if let Some(on_frames) = &self.on_frames {
            // No rows: the columns of this run, for a table that may stay empty.
            let columns = Columns::default();
            Python::attach(|py| on_frames.call1(py, (table(py, world, &columns)?,)).map(drop))?;
        }
        Ok(())
    }

    /// Passes on the packets and frames since the last call.
    pub fn hand_over(&self, world: &mut World) -> PyResult<()> {
        let captures = world.take_captures(BYTES);
        let frames = world.take_frames(columns::ROWS);
        let states = world.take_states(columns::ROWS);
        if captures.is_empty() && frames.is_none() && states.is_none() {
            return Ok(());
        }
        Python::attach(|py| {
            for (node, bytes) in captures {
                let name = &world.names().nodes[node.ix()];
                self.on_capture.call1(py, (name, PyBytes::new(py, &bytes)))?;
            }
            if let (Some(columns), Some(on_frames)) = (frames, &self.on_frames) {
                on_frames.call1(py, (table(py, world, &columns)?,))?;
            }
            if let (Some(columns), Some(on_states)) = (states, &self.on_states) {
                on_states.call1(py, (table_of_states(py, world, &columns)?,))?;
            }
            Ok(())
        })
    }
}

/// The interfaces that a name stands for, as places among the queues.
fn find(name: &str, queues: &[(String, String)]) -> PyResult<Vec<usize>> {
    let places = |wanted: &dyn Fn(&(String, String)) -> bool| -> Vec<usize> {
        queues.iter().enumerate().filter(|(_, queue)| wanted(queue)).map(|(place, _)| place).collect()
    };
    let of_node = places(&|(node, _)| node == name);
    if !of_node.is_empty() {
        return Ok(of_node);
    }
    let of_queue = places(&|(node, towards)| {
        name.strip_prefix(node.as_str()).and_then(|rest| rest.strip_prefix(':')) == Some(towards)
    });
    if !of_queue.is_empty() {
        return Ok(of_queue);
    }
    if name == "all" {
        return Ok(places(&|_| true));
    }
    let mut known: Vec<String> = vec!["all".to_string()];
    known.extend(queues.iter().map(|(node, _)| node.clone()));
    known.extend(queues.iter().map(|(node, towards)| format!("{node}:{towards}")));
    known.dedup();
    Err(unknown("interface", name, known.iter().map(String::as_str)))
}

/// Rows of the table of frames.
fn table<'py>(py: Python<'py>, world: &World, c: &Columns) -> PyResult<Bound<'py, PyDict>> {
    use Column::{Code, Float, Whole};
    let names = world.names();
    let nodes: Vec<&str> = names.nodes.iter().map(String::as_str).collect();
    let flows: Vec<&str> = names.flows.iter().map(String::as_str).collect();
    let stations = world.stations();
    let (radio, radios) = radios(&c.station, &stations);
    let categories: Vec<&str> = c.labels.categories.iter().map(String::as_str).collect();
    let mut columns = vec![
        ("time_ns", Whole(&c.time_ns)),
        ("event", Code(&c.event, c.labels.events)),
        ("node", Code(&c.node, &nodes)),
        ("radio", Code(&radio, &radios)),
        ("frame", Whole(&c.frame)),
        ("kind", Code(&c.kind, &c.labels.kinds)),
        ("from", Code(&c.from, &nodes)),
        ("to", Code(&c.to, &nodes)),
        ("flow", Code(&c.flow, &flows)),
        ("content", Code(&c.content, &c.labels.contents)),
        ("sequence", Whole(&c.sequence)),
        ("mac_sequence", Whole(&c.mac_sequence)),
        ("retry", Whole(&c.retry)),
        ("bytes", Whole(&c.bytes)),
        ("rate_bps", Whole(&c.rate_bps)),
        ("duration_ns", Whole(&c.duration_ns)),
        ("nav_ns", Whole(&c.nav_ns)),
        ("power_dbm", Float(&c.power_dbm)),
        ("sinr_db", Float(&c.sinr_db)),
        ("cause", Code(&c.cause, &c.labels.causes)),
        ("by_frame", Whole(&c.by_frame)),
        ("attempts", Whole(&c.attempts)),
        ("cw_slots", Whole(&c.cw_slots)),
        ("delay_ns", Whole(&c.delay_ns)),
        ("category", Code(&c.category, &categories)),
    ];
    if world.queue_header().is_some() {
        columns.push(("announced_packets", Whole(&c.announced)));
        columns.push(("announced_for", Code(&c.announced_of, &nodes)));
    }
    if world.has_forwarders() {
        columns.push(("held_packets", Whole(&c.held)));
        columns.push(("batch_packets", Whole(&c.held_of)));
    }
    columns::table(py, &columns)
}

/// Rows of the table of states.
fn table_of_states<'py>(py: Python<'py>, world: &World, c: &StateColumns) -> PyResult<Bound<'py, PyDict>> {
    use Column::{Code, Whole};
    let nodes: Vec<&str> = world.names().nodes.iter().map(String::as_str).collect();
    let stations = world.stations();
    let (radio, radios) = radios(&c.station, &stations);
    let (category, categories) = categories(c, world.names());
    let columns = [
        ("node", Code(&c.node, &nodes)),
        ("radio", Code(&radio, &radios)),
        ("state", Code(&c.state, StateColumns::NAMES)),
        ("from_ns", Whole(&c.from_ns)),
        ("until_ns", Whole(&c.until_ns)),
        ("slots", Whole(&c.slots)),
        ("category", Code(&category, &categories)),
    ];
    columns::table(py, &columns)
}

/// Names of the access categories of states, by code.
fn categories<'a>(c: &StateColumns, names: &'a Names) -> (Vec<i64>, Vec<&'a str>) {
    let mut known: Vec<&str> = names.categories.iter().flatten().map(String::as_str).collect();
    known.sort_unstable();
    known.dedup();
    let code = |(&station, &category): (&i64, &i64)| {
        let station = StationIx(u32::try_from(station).ok()?);
        let name = names.category(station, u8::try_from(category).ok())?;
        known.binary_search(&name).ok()
    };
    let of = |row| code(row).map_or(-1, |at| at as i64);
    (c.station.iter().zip(&c.category).map(of).collect(), known)
}

/// Names of radios by code, for a column of stations.
fn radios<'a>(column: &[i64], stations: &'a [(String, String)]) -> (Vec<i64>, Vec<&'a str>) {
    let mut radios: Vec<&str> = stations.iter().map(|(_, radio)| radio.as_str()).collect();
    radios.sort_unstable();
    radios.dedup();
    let radio = |&station: &i64| {
        let name = usize::try_from(station).ok().and_then(|at| stations.get(at)).map(|s| s.1.as_str());
        name.and_then(|name| radios.binary_search(&name).ok()).map_or(-1, |at| at as i64)
    };
    (column.iter().map(radio).collect(), radios)
}
