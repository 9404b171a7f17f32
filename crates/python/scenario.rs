//! A scenario that was read, and its runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use airfair_scenario::{Errors, Override, Reader, ScenarioText};
use airfair_sim::optimum::{InhibitorFactors, OptimumSpec};
use airfair_units::{Span, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString, PyType};

use crate::arguments::{
    AllRoutes, CliqueLimit, EmulationRequest, Factor, FilePath, FlowName, Interval, LinkLimit, OnlyComplete,
    Origin, SchemeName, SchemeNames, Seed, Toml, Windows, WireCheck, WithProportional, arguments,
};
use crate::capture::{Watch, WatchArgument};
use crate::completions::Completions;
use crate::contract;
use crate::drive::{self, StopArgument};
#[cfg(target_os = "linux")]
use crate::emulation;
use crate::error::{input_error, scenario_error, unsuitable};

use crate::explain;
use crate::form::{Form, Forms};
use crate::hosted::{Hosted, Raised};
use crate::network;
use crate::optimum;
use crate::series::{self, Recorded};
use crate::tables;
use crate::written;

arguments! {
    ScenarioArgument(Py<Scenario>) = "scenario", "a Scenario";
}

/// A scenario that was read and checked. It never changes.
#[pyclass(frozen, module = "airfair")]
pub(crate) struct Scenario(pub Arc<airfair_scenario::Scenario>, ScenarioText, Forms);

impl Scenario {
    /// The scenario as the runs of a scheme have it, by default of its own.
    pub fn form(&self, scheme: Option<&SchemeName>) -> PyResult<Arc<Form>> {
        self.2.find(scheme.map_or(&self.0.scheme, |name| &name.0), &self.0, &self.1)
    }

    /// A scenario that was read.
    fn of(scenario: Arc<airfair_scenario::Scenario>, text: ScenarioText) -> Self {
        Self(scenario, text, Forms::default())
    }
}

impl Scenario {
    /// Warnings of overrides, and of changes of selections, for schemes that runs with these selections do not have.
    fn unused(&self, runs: &[String]) -> PyResult<Vec<String>> {
        let forms =
            runs.iter().map(|run| self.2.find(run, &self.0, &self.1)).collect::<PyResult<Vec<_>>>()?;
        let all: Vec<&str> = forms.iter().flat_map(|form| form.schemes()).collect();
        let schemes = written::schemes(&Raised::default());
        let common = Reader::with_schemes(&schemes).unused_settings(&self.1, &self.0, &all);
        let own = forms.iter().flat_map(|form| form.unused_changes(&schemes));
        Ok(common.into_iter().chain(own).collect())
    }

    /// The text of the scenario's file, for a file in a folder.
    fn text_in(&self, folder: Option<&Path>) -> String {
        let schemes = written::schemes(&Raised::default());
        Reader::with_schemes(&schemes).edited(&self.1, folder, &self.0)
    }
}

fn read(
    py: Python<'_>,
    overrides: Option<&Bound<'_, PyAny>>,
    how: impl Send + FnOnce(&[Override]) -> Result<ScenarioText, Errors>,
) -> PyResult<Scenario> {
    let overrides = overrides.map(overrides_from).transpose()?.unwrap_or_default();
    read_written(py, || how(&overrides))
}

/// A text `path=value`, several of them, or a dict of paths and values.
fn overrides_from(given: &Bound<'_, PyAny>) -> PyResult<Vec<Override>> {
    if let Ok(changes) = given.cast::<PyMapping>() {
        return changed(changes);
    }
    let texts = if given.is_instance_of::<PyString>() {
        given.extract().map(|text| vec![text])
    } else {
        given.extract()
    };
    let expected = "texts such as \"duration=5 s\", or a dict of paths and values";
    let texts: Vec<String> = texts.map_err(|_| unsuitable(given, "overrides", expected))?;
    texts.iter().map(|text| Override::parse(text).map_err(input_error)).collect()
}

/// A dict, or anything else that maps names to values.
fn mapping<'a, 'py>(
    given: &'a Bound<'py, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<&'a Bound<'py, PyMapping>> {
    given.cast().map_err(|_| unsuitable(given, name, expected))
}

/// Paths and the values that are put there.
fn changed(changes: &Bound<'_, PyMapping>) -> PyResult<Vec<Override>> {
    let mut more = Vec::new();
    for pair in changes.items()?.iter() {
        let (path, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let path: String = path.extract().map_err(|_| unsuitable(&path, "a path", "texts as paths"))?;
        let value = tables::value(&value, &path)?;
        more.push(Override { path, value });
    }
    Ok(more)
}

fn read_written(
    py: Python<'_>,
    how: impl Send + FnOnce() -> Result<ScenarioText, Errors>,
) -> PyResult<Scenario> {
    let raised = Raised::default();
    let read = py.detach(|| {
        let schemes = written::schemes(&raised);
        let written = how()?;
        Ok((Reader::with_schemes(&schemes).read(&written)?, written))
    });
    raised.check()?;
    match read {
        Ok((scenario, written)) => Ok(Scenario::of(Arc::new(scenario), written)),
        Err(errors) => Err(scenario_error(py, &errors)),
    }
}

#[pymethods]
impl Scenario {
    /// Raises `TypeError`: a scenario is read.
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyAny>, _options: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Err(PyTypeError::new_err(
            "cannot create airfair.Scenario instances; use Scenario.read(path), Scenario.parse(text) or Scenario.from_dict(tables)",
        ))
    }

    /// Reads a file; `overrides` are put over it: `path=value` texts, one such text, or a dict of paths and values.
    /// Raises `ScenarioError`.
    #[staticmethod]
    #[pyo3(name = "read", signature = (path, overrides=None), text_signature = "(path, overrides=())")]
    fn read_file(py: Python<'_>, path: FilePath, overrides: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let name = path.0.to_string_lossy();
        if name.is_empty() || name.contains('\n') {
            let expected = "the path of a file; Scenario.parse reads a text";
            return Err(unsuitable(PyString::new(py, &name).as_any(), "path", expected));
        }
        read(py, overrides, |o| ScenarioText::open(&path.0, o))
    }

    /// Reads a text; `origin` names it in errors. Raises `ScenarioError`.
    #[staticmethod]
    #[pyo3(
        signature = (text, origin=Origin("scenario".to_string()), overrides=None),
        text_signature = "(text, origin='scenario', overrides=())"
    )]
    fn parse(
        py: Python<'_>,
        text: Toml,
        origin: Origin,
        overrides: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if !text.0.contains(['\n', '=']) && text.0.trim_end().ends_with(".toml") {
            let expected = "the text of a scenario; Scenario.read reads a file";
            return Err(unsuitable(PyString::new(py, &text.0).as_any(), "text", expected));
        }
        read(py, overrides, |o| Ok(ScenarioText::here(&text.0, &origin.0, o)))
    }

    /// Builds one from the tables of a file as dicts and lists. Raises `ScenarioError`; `InputError` for what TOML cannot hold.
    #[staticmethod]
    #[pyo3(
        signature = (tables, origin=Origin("scenario".to_string())),
        text_signature = "(tables, origin='scenario')"
    )]
    fn from_dict(py: Python<'_>, tables: &Bound<'_, PyAny>, origin: Origin) -> PyResult<Self> {
        let text = tables::document(mapping(tables, "tables", "a dict of the tables of a file")?)?;
        read_written(py, || Ok(ScenarioText::here(&text, &origin.0, &[])))
    }

    /// The tables of its file, as dicts and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        tables::dict(py, &self.text(py))
    }

    /// Another scenario, with values put over this one's: a dict of key paths, as of `--set`, and values. A dict as a value replaces a
    /// whole table. Raises `ScenarioError`.
    fn edited(&self, py: Python<'_>, changes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let more = changed(mapping(changes, "changes", "a dict of paths and values")?)?;
        read_written(py, || Ok(self.1.with(more)))
    }

    /// The text of its file, with all overrides.
    #[getter]
    fn text(&self, py: Python<'_>) -> String {
        py.detach(|| self.text_in(None))
    }

    /// Writes it as a file, whole or not at all. Missing folders are created. Raises `InputError` for a file that the scenario names,
    /// `OSError`.
    fn save(&self, py: Python<'_>, path: FilePath) -> PyResult<()> {
        let path = path.0;
        let text = py.detach(|| self.text_in(path.parent()));
        py.import("airfair.inputs")?.call_method1("refuse_inputs", (&path, &self.0.files))?;
        let pathlib = py.import("pathlib")?.call_method1("Path", (path,))?;
        py.import("airfair.output")?.call_method1("write_atomically", (pathlib, text.as_bytes()))?;
        Ok(())
    }

    /// The name of the scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The description of the scenario.
    #[getter]
    fn description(&self) -> &str {
        &self.0.description
    }

    /// The scheme of a run that names none.
    #[getter]
    fn scheme(&self) -> &str {
        &self.0.scheme
    }

    /// The complete scenario as TOML, every default filled in.
    #[getter]
    fn resolved(&self) -> &str {
        &self.0.resolved
    }

    /// The warnings of a run with this scheme, the scenario's own by default, before it starts: about the file, and about the
    /// network that is built from it. Raises `InputError` if it cannot be built.
    #[pyo3(signature = (scheme=None))]
    fn check(&self, py: Python<'_>, scheme: Option<SchemeName>) -> PyResult<Vec<String>> {
        py.detach(|| {
            let form = self.form(scheme.as_ref())?;
            let result = form.world(1)?.result();
            let warnings = contract::warnings(&form.scenario, &result).map(str::to_string);
            Ok(warnings.chain(self.unused(std::slice::from_ref(&result.scheme))?).collect())
        })
    }

    /// Warnings of overrides that set parameters of schemes which no node and no flow has in runs with these schemes.
    fn unused_settings(&self, py: Python<'_>, schemes: SchemeNames) -> PyResult<Vec<String>> {
        py.detach(|| self.unused(&schemes.0))
    }

    /// The scenario as the runs of a scheme have it: with the presets and changes of a selection such as `c3l[rts]`, and with keys that the
    /// scheme brings. Raises `InputError`.
    fn selected(&self, py: Python<'_>, scheme: SchemeName) -> PyResult<Self> {
        let form = py.detach(|| self.form(Some(&scheme)))?;
        Ok(Self::of(Arc::clone(&form.scenario), form.text.clone()))
    }

    /// Values, as `path=value`, in which the runs of a scheme differ from this scenario: those of a selection's changes, and those that the
    /// scheme brings. Raises `InputError`.
    fn settings(&self, py: Python<'_>, scheme: SchemeName) -> PyResult<Vec<String>> {
        Ok(py.detach(|| self.form(Some(&scheme)))?.settings.clone())
    }

    /// Warnings about the file alone, as its reader finds them; `check` has those about the network, too.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    /// Ids of the flows.
    #[getter]
    fn flows(&self) -> Vec<String> {
        self.0.spec.flows.iter().map(|f| f.id.clone()).collect()
    }

    /// Schemes of nodes that have their own, by node.
    #[getter]
    fn own_schemes(&self) -> BTreeMap<String, String> {
        let spec = &self.0.spec;
        spec.schemes.iter().map(|own| (spec.nodes[own.node].id.clone(), own.scheme.clone())).collect()
    }

    /// Ids of the nodes.
    #[getter]
    fn nodes(&self) -> Vec<String> {
        self.0.spec.nodes.iter().map(|n| n.id.clone()).collect()
    }

    /// Reasons why links come and go during a run.
    #[getter]
    fn links_vary(&self) -> Vec<&'static str> {
        let spec = &self.0.spec;
        let fades = spec.radios.iter().any(|radio| radio.fading.is_some());
        let reasons = [
            (!spec.movement.paths.is_empty(), "nodes move"),
            (!spec.gain_changes.is_empty(), "gains change"),
            (fades, "signals fade"),
        ];
        reasons.into_iter().filter_map(|(there, reason)| there.then_some(reason)).collect()
    }

    /// Files that were read for it: its own, and those that it names. None stands for a text that is in no file.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.1.file.iter().chain(&self.0.files).cloned().collect()
    }

    /// Length of a run, ns.
    #[getter]
    fn duration_ns(&self) -> u64 {
        self.0.spec.duration.0
    }

    /// Length of the warm-up, ns.
    #[getter]
    fn warmup_ns(&self) -> u64 {
        self.0.spec.warmup.0
    }

    /// Raises `InputError` if there is no such scheme, if it cannot work with the scenario's parameters for it, or if it needs what an
    /// interface of the network does not offer. No world is built.
    fn check_scheme(&self, py: Python<'_>, scheme: SchemeName) -> PyResult<()> {
        py.detach(|| self.form(Some(&scheme))?.check())
    }

    /// The network of a run with this seed, as JSON: nodes, radios, who can decode or sense whom, links, routes of flows; with `routes`
    /// the static routes between all nodes too.
    #[pyo3(signature = (seed=Seed(1), routes=AllRoutes(false)), text_signature = "($self, seed=1, routes=False)")]
    fn network(&self, py: Python<'_>, seed: Seed, routes: AllRoutes) -> PyResult<String> {
        py.detach(|| network::write(&self.0, &mut *self.form(None)?.world(seed.0)?, routes.0))
    }

    /// The best rates that the air allows the flows, as JSON. `factor` replaces both factors of inhibitors. Raises `InputError` where the
    /// network has something that the model cannot describe, and `LimitError`, with `only_complete`, where there are more cliques than the
    /// limit, and where flows use more radio links than `link_limit`.
    #[pyo3(
        signature = (factor=None, clique_limit=None, proportional=WithProportional(true), only_complete=OnlyComplete(false), link_limit=None),
        text_signature = "($self, factor=None, clique_limit=None, proportional=True, only_complete=False, link_limit=None)"
    )]
    fn optimum(
        &self,
        py: Python<'_>,
        factor: Option<Factor>,
        clique_limit: Option<CliqueLimit>,
        proportional: WithProportional,
        only_complete: OnlyComplete,
        link_limit: Option<LinkLimit>,
    ) -> PyResult<String> {
        let mut what = OptimumSpec::default();
        if let Some(Factor(factor)) = factor {
            if !(1.0..=100.0).contains(&factor) {
                return Err(input_error(format!("factor: {factor}; expected a number from 1 to 100")));
            }
            what.factors = InhibitorFactors { near: factor, far: factor, mutual: Some(factor) };
        }
        (what.proportional, what.only_complete) = (proportional.0, only_complete.0);
        what.link_limit = link_limit.map_or(what.link_limit, |limit| limit.0);
        what.clique_limit = clique_limit.map_or(what.clique_limit, |limit| limit.0);
        // The seed decides nothing before the run.
        py.detach(|| optimum::write(&self.0, &*self.form(None)?.world(1)?, &what))
    }

    /// Runs it to the end; the result contract as JSON. The same scenario, scheme, seed and version give the same bytes
    /// of everything but `perf`. `windows` are lengths of windows, such as "1 s", in which fairness is measured; with `wire_check` the
    /// headers of explicit-rate schemes are encoded as bytes and decoded again at every hop, and the result is the same. Raises
    /// `InputError` for an unknown scheme or a window that does not fit, `KeyboardInterrupt` on a signal or on `stop`.
    #[pyo3(
        signature = (scheme=None, seed=Seed(1), stop=None, windows=Windows::default(), wire_check=WireCheck(false)),
        text_signature = "($self, scheme=None, seed=1, stop=None, windows=(), wire_check=False)"
    )]
    fn run(
        &self,
        py: Python<'_>,
        scheme: Option<SchemeName>,
        seed: Seed,
        stop: Option<StopArgument>,
        windows: Windows,
        wire_check: WireCheck,
    ) -> PyResult<String> {
        py.detach(|| {
            let began = Instant::now();
            let form = self.form(scheme.as_ref())?;
            let mut world = form.world(seed.0)?;
            if wire_check.0 {
                world.check_headers();
            }
            series::measure_fairness(&mut world, &windows.0)?;
            drive::advance(&mut world, Time::NEVER, stop.as_ref().map(|stop| stop.0.get()))?;
            let fairness = world.take_fairness();
            contract::write(&form.scenario, &world, began.elapsed(), None, &fairness)
        })
    }

    /// Emulates it: nodes are network namespaces, and what their stacks send goes over its air on the wall clock. The request is JSON
    /// (docs/reference/json.md): programs in nodes, and choices. Without a program that ends the run it ends with the scenario. The result
    /// is that of `record` with `emulation` added. A signal, or `stop`, ends it like its end.
    #[cfg(target_os = "linux")]
    #[pyo3(
        signature = (request, interval, scheme=None, seed=Seed(1), stop=None, watch=None),
        text_signature = "($self, request, interval, scheme=None, seed=1, stop=None, watch=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn emulate(
        &self,
        py: Python<'_>,
        request: EmulationRequest,
        interval: Interval,
        scheme: Option<SchemeName>,
        seed: Seed,
        stop: Option<StopArgument>,
        watch: Option<WatchArgument>,
    ) -> PyResult<Recorded> {
        let watch = watch.as_ref().map(|watch| watch.0.get());
        py.detach(|| {
            let began = Instant::now();
            let form = self.form(scheme.as_ref())?;
            let request = emulation::Request::read(&request.0)?;
            let mut world = form.emulated_world(seed.0, request.flows, request.duration())?;
            series::check(&world, interval.0)?;
            if let Some(watch) = watch {
                watch.begin(&mut world, &form.scenario)?;
            }
            world.measure_links();
            world.sample(Span(interval.0));
            let hand_over = |world: &mut Hosted| watch.map_or(Ok(()), |watch| watch.hand_over(world));
            let stop = stop.as_ref().map(|stop| stop.0.get());
            let captures = watch.is_some_and(Watch::captures);
            let setting = (seed.0, captures, Span(interval.0));
            let report = emulation::run(&mut world, request, setting, &hand_over, stop)?;
            let result = contract::write_emulated(&form.scenario, &world, began.elapsed(), &report)?;
            let mut series = world.take_series().unwrap_or_default();
            emulation::append_series(&mut series, &report, world.names().flows.len());
            Ok(Recorded { result, queues: world.queues(), stations: world.stations(), series })
        })
    }

    /// Runs it to the end and reads it every `interval`, with captures and the table of frames if there is a `watch`, and files
    /// one by one for `on_completions`. Otherwise like `run`.
    #[pyo3(
        signature = (interval, scheme=None, seed=Seed(1), stop=None, windows=Windows::default(), watch=None, on_completions=None),
        text_signature = "($self, interval, scheme=None, seed=1, stop=None, windows=(), watch=None, on_completions=None)"
    )]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn record(
        &self,
        py: Python<'_>,
        interval: Interval,
        scheme: Option<SchemeName>,
        seed: Seed,
        stop: Option<StopArgument>,
        windows: Windows,
        watch: Option<WatchArgument>,
        on_completions: Option<Py<PyAny>>,
    ) -> PyResult<Recorded> {
        if let Some(given) =
            on_completions.as_ref().map(|given| given.bind(py)).filter(|given| !given.is_callable())
        {
            return Err(unsuitable(given, "on_completions", "a function"));
        }
        let watch = watch.as_ref().map(|watch| watch.0.get());
        py.detach(|| {
            let began = Instant::now();
            let form = self.form(scheme.as_ref())?;
            let mut world = form.world(seed.0)?;
            series::check(&world, interval.0)?;
            if let Some(watch) = watch {
                watch.begin(&mut world, &form.scenario)?;
            }
            series::measure_fairness(&mut world, &windows.0)?;
            world.measure_links();
            world.sample(Span(interval.0));
            let completions = on_completions.as_ref().map(|taker| Completions::begin(&mut world, taker));
            let hand_over = |world: &mut Hosted| {
                watch.map_or(Ok(()), |watch| watch.hand_over(world))?;
                completions.as_ref().map_or(Ok(()), |completions| completions.hand_over(world))
            };
            let stop = stop.as_ref().map(|stop| stop.0.get());
            drive::advance_with(&mut world, Time::NEVER, &hand_over, stop)?;
            let fairness = world.take_fairness();
            let result = contract::write(&form.scenario, &world, began.elapsed(), None, &fairness)?;
            let series = world.take_series().unwrap_or_default();
            Ok(Recorded { result, queues: world.queues(), stations: world.stations(), series })
        })
    }

    /// Runs it to the end and explains the goodput of a flow, as JSON; by default of the flow with the smallest ratio of goodput to
    /// fair share. Otherwise like `run`.
    #[pyo3(
        signature = (flow=None, scheme=None, seed=Seed(1), stop=None),
        text_signature = "($self, flow=None, scheme=None, seed=1, stop=None)"
    )]
    fn explain(
        &self,
        py: Python<'_>,
        flow: Option<FlowName>,
        scheme: Option<SchemeName>,
        seed: Seed,
        stop: Option<StopArgument>,
    ) -> PyResult<String> {
        let (flow, stop) =
            (flow.as_ref().map(|flow| flow.0.as_str()), stop.as_ref().map(|stop| stop.0.get()));
        py.detach(|| {
            let form = self.form(scheme.as_ref())?;
            explain::explain(&form.scenario, flow, || form.world(seed.0), stop)
        })
    }

    /// Two scenarios are equal when their complete forms are.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0.resolved == self.0.resolved)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.0.resolved).hash()
    }

    /// For other processes: the complete form, which needs no other file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (&str, &str))> {
        Ok((PyType::new::<Self>(py).getattr("parse")?, (&self.0.resolved, &self.1.origin)))
    }

    fn __repr__(&self) -> String {
        format!(
            "<airfair.Scenario \"{}\": {} nodes, {} flows, {} s, scheme {}>",
            self.0.name,
            self.0.spec.nodes.len(),
            self.0.spec.flows.len(),
            self.0.spec.duration.as_secs_f64(),
            self.0.scheme
        )
    }

    /// HTML for notebooks.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("airfair.notebook")?.call_method1("of_scenario", (slf,))
    }
}
