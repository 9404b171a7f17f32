//! A scenario as the runs of a selection have it.

use std::collections::BTreeSet;

use airfair_schemes::{PRESET_KEY, Params, Registry, SchemeEntry};
use airfair_sim::World;

use super::Selection;
use crate::keys::top_keys;
use crate::reader::{Reader, Scenario};
use crate::text::error::{Cx, Errors, Location};
use crate::text::overrides::{self, Override, split};
use crate::text::source::ScenarioText;
use crate::text::tree::{self, Table, Value};

/// A scenario as the runs of a selection have it.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The text with the selection's overrides.
    pub text: ScenarioText,
    /// The scenario.
    pub scenario: Scenario,
    /// Values, as `path=value`, in which it differs from the scenario that was selected from: those of changes, and those that a scheme
    /// brings.
    pub settings: Vec<String>,
}

impl Reader<'_> {
    /// The scenario of `written` as the runs of a selection have it: presets replace the values of the file, then come the overrides of
    /// `written`, then the selection's changes. A key that a scheme needs otherwise than by default is set if nothing else sets it
    /// ([`SchemeEntry::brings`]).
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn selected(&self, written: &ScenarioText, selection: &Selection) -> Result<Selected, Errors> {
        let states = States::of(written, self.schemes);
        let presets = selection.parts.iter().filter_map(|part| {
            let preset = part.preset.as_ref()?;
            let value = format!("{{ {PRESET_KEY} = \"{preset}\" }}");
            Some(Override { path: format!("schemes.{}", part.scheme), value })
        });
        let mut changes: Vec<Override> = Vec::new();
        for set in selection.changes.iter().flat_map(|change| &change.sets) {
            changes.push(set.clone());
            changes.extend(states.other_kinds(&set.path).map(|path| Override { path, ..set.clone() }));
        }
        let scheme = Override { path: "scheme".to_string(), value: selection.names() };
        let mut text = written.clone();
        text.overrides = presets
            .chain(written.overrides.iter().cloned())
            .chain([scheme])
            .chain(changes.iter().cloned())
            .collect();
        let named = |errors: Errors| name_changes(errors, selection, &changes);
        let mut scenario = self.read(&text).map_err(named)?;
        let mut brought = self.brought(&scenario, selection);
        brought
            .retain(|set| !states.sets(&set.path) && !changes.iter().any(|change| change.path == set.path));
        if !brought.is_empty() {
            text.overrides.extend(brought.iter().cloned());
            scenario = self.read(&text).map_err(named)?;
        }
        let settings =
            changes.iter().chain(&brought).map(|set| format!("{}={}", set.path, set.value)).collect();
        Ok(Selected { text, scenario, settings })
    }

    /// The keys that the selection's schemes bring, if the network lacks something that they need.
    fn brought(&self, scenario: &Scenario, selection: &Selection) -> Vec<Override> {
        let keys: BTreeSet<_> = selection.entries(self.schemes).flat_map(|entry| entry.brings).collect();
        if keys.is_empty() {
            return Vec::new();
        }
        let name = selection.names();
        let built = selection
            .built(scenario, self.schemes)
            .and_then(|entry| (entry.build)(&Params::default()).map_err(|error| error.to_string()));
        let runs = |scheme| World::check_scheme(&scenario.spec, &name, scheme, self.schemes);
        if built.and_then(runs).is_ok() {
            return Vec::new();
        }
        let set =
            |&&(path, value): &&(&str, &str)| Override { path: path.to_string(), value: value.to_string() };
        keys.iter().map(set).collect()
    }
}

impl Selection {
    /// The selection's schemes as one entry, with their parameters in a scenario.
    ///
    /// # Errors
    /// Two of them fill the same place.
    pub fn built(&self, scenario: &Scenario, schemes: &Registry) -> Result<SchemeEntry, String> {
        self.entry("", scenario, schemes)
    }

    /// The selection's schemes as one entry of this name, with their parameters in a scenario.
    ///
    /// # Errors
    /// Two of them fill the same place.
    pub fn entry(
        &self,
        name: &'static str,
        scenario: &Scenario,
        schemes: &Registry,
    ) -> Result<SchemeEntry, String> {
        let params =
            |entry: &SchemeEntry| scenario.scheme_params.get(entry.name).cloned().unwrap_or_default();
        let parts = self.entries(schemes).map(|entry| (entry.clone(), params(entry))).collect();
        SchemeEntry::combined(name, parts)
    }
}

/// Errors of overrides that the selection made, named as its changes.
fn name_changes(mut errors: Errors, selection: &Selection, changes: &[Override]) -> Errors {
    for error in &mut errors.list {
        if let Location::Override { path } = &error.location
            && changes.iter().any(|change| change.path == *path)
        {
            error.location = Location::Change { selection: selection.to_string(), path: path.clone() };
        }
    }
    errors
}

/// The keys that a text sets.
struct States(Option<Table>);

impl States {
    fn of(written: &ScenarioText, schemes: &Registry) -> Self {
        let mut cx = Cx::new(&written.origin, &written.overrides);
        cx.schemes = schemes;
        let mut root = tree::parse(&written.text, &mut cx);
        if let Some(root) = &mut root {
            overrides::apply(root, &written.overrides, &top_keys().collect::<Vec<_>>(), &mut cx);
        }
        Self(root)
    }

    fn table(&self, names: &[&str]) -> Option<&Table> {
        let mut table = self.0.as_ref()?;
        for name in names {
            table = table.get(name)?.table()?;
        }
        Some(table)
    }

    /// True if the text sets this key.
    fn sets(&self, path: &str) -> bool {
        let Ok(parts) = split(path) else { return false };
        let Some((key, tables)) = parts.split_last() else { return false };
        let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
        self.table(&tables).is_some_and(|table| table.get(key).is_some())
    }

    /// The paths of the same key of other kinds of radio that set it themselves, and would not inherit the change.
    fn other_kinds<'a>(&'a self, path: &'a str) -> impl Iterator<Item = String> + 'a {
        let key = path.strip_prefix("radio.").filter(|key| !key.contains('.'));
        let kinds = self.table(&["radios"]).map(|kinds| &kinds.entries);
        kinds.into_iter().flatten().filter_map(move |(name, kind)| {
            let Value::Table(kind) = &kind.item.value else { return None };
            kind.get(key?)?;
            Some(format!("radios.\"{name}\".{}", key?))
        })
    }
}
