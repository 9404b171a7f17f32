//! A scenario as the runs of a selection have it.

use airfair_schemes::places::{Capability, Interface};
use airfair_schemes::{Bring, PRESET_KEY, Params, Registry, SchemeEntry};
use airfair_sim::World;
use airfair_sim::spec::{FlowSpec, Transport};

use super::Selection;
use super::changes::SHORT_CHANGES;
use crate::keys::top_keys;
use crate::reader::{Reader, Scenario};
use crate::text::error::{Cx, Errors, Location, quoted};
use crate::text::location::At;
use crate::text::nearest::hint;
use crate::text::overrides::{self, Override, split};
use crate::text::source::ScenarioText;
use crate::text::tree::{self, Located, Table, Value};

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
    /// `written`, then the selection's changes. Last come keys that a scheme needs otherwise than by default, where they have their
    /// default values ([`SchemeEntry::brings`]).
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
        let named = |errors: Errors| name_changes(errors, (selection, &changes), self.schemes);
        let mut scenario = self.read(&text).map_err(named)?;
        let brought = self.brought(&text, &scenario, selection);
        if !brought.is_empty() {
            text.overrides.extend(brought.iter().cloned());
            scenario = self.read(&text).map_err(named)?;
        }
        let settings =
            changes.iter().chain(&brought).map(|set| format!("{}={}", set.path, set.value)).collect();
        Ok(Selected { text, scenario, settings })
    }

    /// The values of keys that the selection's schemes bring. `text` is that of the scenario.
    fn brought(&self, text: &ScenarioText, scenario: &Scenario, selection: &Selection) -> Vec<Override> {
        let keys = self.brings(scenario, selection);
        if keys.is_empty() {
            return Vec::new();
        }
        let states = States::of(text, self.schemes);
        let complete = States::of(&ScenarioText::here(&scenario.resolved, "", &[]), self.schemes);
        let mut brought: Vec<Override> =
            keys.iter().flat_map(|bring| states.brought(bring, &complete)).collect();
        brought.dedup();
        brought
    }

    /// The keys that the selection's schemes bring, if the network lacks something that they want.
    pub fn brings(&self, scenario: &Scenario, selection: &Selection) -> Vec<&'static Bring> {
        let keys: Vec<&Bring> = selection.entries(self.schemes).flat_map(|entry| entry.brings).collect();
        if keys.is_empty() || !self.lacks(scenario, selection) { Vec::new() } else { keys }
    }

    /// True if a scheme of the selection wants what the network does not offer, or marks packets where no flow has ECN.
    pub fn lacks(&self, scenario: &Scenario, selection: &Selection) -> bool {
        let built = selection
            .built(scenario, self.schemes)
            .and_then(|entry| (entry.build)(&Params::default()).map_err(|error| error.to_string()));
        let Ok(scheme) = built else { return false };
        let marks = Interface::all_kinds().iter().any(|at| scheme.wants(at).has(Capability::Ecn));
        let ecn = |flow: &FlowSpec| matches!(&flow.transport, Transport::Tcp { config, .. } if config.ecn);
        let unmarked = marks && !scenario.spec.flows.iter().any(ecn);
        unmarked || World::check_scheme(&scenario.spec, &selection.names(), scheme, self.schemes).is_err()
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
        let params = |entry: &SchemeEntry| {
            scenario.scheme_params.get(entry.name).cloned().unwrap_or_else(|| entry.defaults())
        };
        let parts = self.entries(schemes).map(|entry| (entry.clone(), params(entry))).collect();
        SchemeEntry::combined(name, parts)
    }
}

/// Errors of overrides that the selection made, named as its changes.
fn name_changes(
    mut errors: Errors,
    (selection, changes): (&Selection, &[Override]),
    schemes: &Registry,
) -> Errors {
    for error in &mut errors.list {
        if let Location::Override { path } = &error.location
            && changes.iter().any(|change| change.path == *path)
        {
            let has_it = |entry: &&SchemeEntry| entry.params.iter().any(|param| param.name == path);
            if !top_keys().any(|key| key == path)
                && let Some(entry) = selection.entries(schemes).find(has_it)
            {
                let name = entry.name;
                error.problem =
                    format!("{} is a parameter of {name}; did you mean {name}.{path}?", quoted(path));
            } else if !path.contains('.') && !error.problem.contains("did you mean") {
                error.problem.push_str(&hint(path, SHORT_CHANGES.iter().map(|short| short.name)));
            }
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

    /// The value of a key.
    fn value(&self, path: &str) -> Option<&Located> {
        let parts = split(path).ok()?;
        let (key, tables) = parts.split_last()?;
        let tables: Vec<&str> = tables.iter().map(String::as_str).collect();
        self.table(&tables)?.get(key)
    }

    /// A key with its default value, and that of other kinds of radio, as a scheme brings it. `complete`: every key, since a profile may
    /// have another default.
    fn brought(&self, bring: &Bring, complete: &Self) -> Vec<Override> {
        let default = tree::parse_value(bring.instead_of, At::Override(0)).map(|value| value.shown());
        let has_default = |value: &Located| Some(value.shown()) == default;
        let base = self.value(bring.key).or_else(|| complete.value(bring.key)).is_none_or(has_default);
        let others = self.other_kinds(bring.key).filter(|path| self.value(path).is_some_and(has_default));
        let paths = base.then(|| bring.key.to_string()).into_iter().chain(others);
        paths.map(|path| Override { path, value: bring.value.to_string() }).collect()
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
