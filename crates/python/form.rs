//! A scenario as the runs of one scheme have it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use airfair_scenario::{Reader, Scenario, ScenarioText, Selection};
use airfair_schemes::{Registry, Scheme, SchemeEntry};
use airfair_sim::World;
use airfair_sim::spec::{Transport, WorldSpec};
#[cfg(target_os = "linux")]
use airfair_units::Span;
use pyo3::prelude::*;

use crate::arguments::SchemeName;
use crate::error::{input_error, scenario_error};
use crate::hosted::{Hosted, Raised, Run};
use crate::interned::interned;
use crate::written;

/// A scenario as the runs of a selection of schemes have it.
pub(crate) struct Form {
    /// The scenario with the selection's presets and changes.
    pub scenario: Arc<Scenario>,
    /// The text of this scenario.
    pub text: ScenarioText,
    /// Values, as `path=value`, in which it differs from the scenario that was selected from.
    pub settings: Vec<String>,
    selection: Selection,
    /// The name of the runs: the text of the selection.
    name: &'static str,
}

/// The forms of a scenario that were made, by the text of the selection.
#[derive(Default)]
pub(crate) struct Forms(Mutex<BTreeMap<String, Arc<Form>>>);

/// Most forms of a scenario that are kept.
const MOST: usize = 1_000;

impl Forms {
    /// The form of a scheme, made if it is not known.
    pub fn find(&self, scheme: &str, scenario: &Arc<Scenario>, text: &ScenarioText) -> PyResult<Arc<Form>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(scheme).cloned();
        if let Some(form) = known {
            return Ok(form);
        }
        let raised = Raised::default();
        let made = Form::new(scheme, scenario, text, &written::schemes(&raised));
        raised.check()?;
        let form = Arc::new(made?);
        let mut forms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if forms.len() >= MOST {
            forms.clear();
        }
        forms.insert(scheme.to_string(), Arc::clone(&form));
        Ok(form)
    }
}

impl Form {
    fn new(
        scheme: &str,
        scenario: &Arc<Scenario>,
        text: &ScenarioText,
        schemes: &Registry,
    ) -> PyResult<Self> {
        let selection = Selection::parse(scheme, schemes).map_err(input_error)?;
        let name = interned(&selection.to_string())?;
        if selection.is_plain() {
            let scenario = Arc::clone(scenario);
            let form = Self { scenario, text: text.clone(), settings: Vec::new(), selection, name };
            let entry = form.entry(schemes)?;
            let reader = Reader::with_schemes(schemes);
            if entry.brings.is_empty() || reader.brings(&form.scenario, &form.selection).is_empty() {
                return Ok(form);
            }
            return Self::changed(text, form.selection, name, schemes);
        }
        Self::changed(text, selection, name, schemes)
    }

    fn changed(
        text: &ScenarioText,
        selection: Selection,
        name: &'static str,
        schemes: &Registry,
    ) -> PyResult<Self> {
        let found = Reader::with_schemes(schemes)
            .selected(text, &selection)
            .map_err(|errors| Python::attach(|py| scenario_error(py, &errors)))?;
        let (scenario, text) = (Arc::new(found.scenario), found.text);
        Ok(Self { scenario, text, settings: found.settings, selection, name })
    }

    /// The names of its schemes.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.selection.parts.iter().map(|part| part.scheme.as_str())
    }

    /// The entry of its schemes: that of the registry for one alone.
    fn entry(&self, schemes: &Registry) -> PyResult<SchemeEntry> {
        match schemes.find(self.name) {
            Some(entry) => Ok(entry.clone()),
            None => self.selection.entry(self.name, &self.scenario, schemes).map_err(input_error),
        }
    }

    /// The schemes as one, and a registry in which they have the name of the runs.
    fn set_up(&self, schemes: &Registry) -> PyResult<(Box<dyn Scheme>, Registry)> {
        let entry = self.entry(schemes)?;
        let params = self.scenario.scheme_params.get(self.name).cloned().unwrap_or_else(|| entry.defaults());
        let scheme = (entry.build)(&params).map_err(|e| input_error(format!("schemes.{}.{e}", self.name)))?;
        let known = schemes.find(self.name).is_some();
        let schemes = if known { schemes.clone() } else { schemes.clone().with_accepted(entry) };
        Ok((scheme, schemes))
    }

    fn check_with(&self, schemes: &Registry) -> PyResult<()> {
        let (scheme, schemes) = self.set_up(schemes)?;
        World::check_scheme(&self.scenario.spec, self.name, scheme, &schemes).map_err(input_error)
    }

    /// Raises `InputError` if a scheme cannot work with its parameters, or needs what an interface of the network does not offer.
    pub fn check(&self) -> PyResult<()> {
        let raised = Raised::default();
        let checked = self.check_with(&written::schemes(&raised));
        raised.check().and(checked)
    }

    /// A world at time 0.
    pub fn world(&self, seed: u64) -> PyResult<Hosted> {
        self.world_of(&self.scenario.spec, seed)
    }

    /// A world for an emulation at time 0: with the scenario's flows or without, and of another length if one is given.
    #[cfg(target_os = "linux")]
    pub fn emulated_world(&self, seed: u64, flows: bool, duration: Option<Span>) -> PyResult<Hosted> {
        let mut spec = self.scenario.spec.clone();
        if !flows {
            spec.flows.clear();
        }
        spec.duration = duration.unwrap_or(spec.duration);
        self.world_of(&spec, seed)
    }

    fn world_of(&self, spec: &WorldSpec, seed: u64) -> PyResult<Hosted> {
        let mut tcp = spec.flows.iter().filter(|f| matches!(f.transport, Transport::Tcp { .. }));
        let flow = tcp.next().filter(|_| tcp.next().is_none()).map(|f| f.id.clone());
        let raised = Raised::in_run(Run { seed, flow });
        let schemes = written::schemes(&raised);
        let world = self.set_up(&schemes).and_then(|(scheme, schemes)| {
            World::with_schemes(spec, self.name, scheme, seed, &schemes).map_err(input_error)
        });
        raised.check()?;
        Ok(Hosted { world: world?, raised })
    }

    /// Warnings of the selection's changes for schemes that its runs do not have.
    pub fn unused_changes(&self, schemes: &Registry) -> Vec<String> {
        let runs: Vec<&str> = self.schemes().collect();
        let warnings = Reader::with_schemes(schemes).unused_settings(&self.text, &self.scenario, &runs);
        let of_change = |warning: &String| {
            let path = warning.strip_prefix("--set ")?.split_once(": ")?.0;
            let changed = self.settings.iter().any(|set| set.split_once('=').is_some_and(|(p, _)| p == path));
            changed.then(|| format!("scheme \"{}\": {}", self.name, &warning["--set ".len()..]))
        };
        warnings.iter().filter_map(of_change).collect()
    }
}

/// The selections of schemes in a text with commas between them, each with the names of its schemes, in the form that results have.
/// Raises `InputError` for one that cannot be read.
#[pyfunction]
pub(crate) fn selections(text: SchemeName) -> PyResult<Vec<(String, Vec<String>)>> {
    let raised = Raised::default();
    let found = Selection::list(&text.0, &written::schemes(&raised)).map_err(input_error);
    raised.check()?;
    let schemes = |selection: &Selection| selection.parts.iter().map(|part| part.scheme.clone()).collect();
    Ok(found?.iter().map(|selection| (selection.to_string(), schemes(selection))).collect())
}
