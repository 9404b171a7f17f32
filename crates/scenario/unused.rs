//! Overrides that set a parameter of a scheme that no run has: they change nothing, and nobody would notice.

use airfair_schemes::{Carrier, Registry};
use airfair_sim::spec::{FlowSpec, Transport, WorldSpec};

use crate::keys::is_key;
use crate::reader::{Reader, Scenario};
use crate::text::error::clean;
use crate::text::overrides::split;
use crate::text::source::ScenarioText;

impl Reader<'_> {
    /// A warning for each override that sets parameters of a scheme which no node and no flow has in runs with these schemes.
    /// `written` is the text that `scenario` was read from.
    #[must_use]
    pub fn unused_settings(&self, written: &ScenarioText, scenario: &Scenario, runs: &[&str]) -> Vec<String> {
        let used = |scheme: &str| runs.iter().any(|run| is_used(&scenario.spec, self.schemes, run, scheme));
        let warning = |path: &str| {
            let mut parts = split(path).ok()?;
            if parts.first().is_some_and(|first| first == "schemes") {
                parts.remove(0);
            } else if parts.first().is_some_and(|first| is_key(first)) {
                return None;
            }
            let scheme = parts.first()?;
            self.schemes.find(scheme)?;
            if used(scheme) {
                return None;
            }
            let has = |other: &&str, name: &String| {
                self.schemes.find(other).is_some_and(|entry| entry.params.iter().any(|doc| doc.name == name))
            };
            let other = parts.get(1).and_then(|name| {
                let names = self.schemes.entries().iter().map(|entry| entry.name);
                names.filter(|other| used(other)).find(|other| has(other, name)).map(|other| (other, name))
            });
            let hint =
                other.map_or_else(String::new, |(other, name)| format!("; did you mean {other}.{name}?"));
            Some(clean(&format!("--set {path}: no node runs {scheme} here{hint}")))
        };
        written.overrides.iter().filter_map(|set| warning(&set.path)).collect()
    }
}

/// True if a node or a flow has this scheme in a run with the scheme `run`.
fn is_used(spec: &WorldSpec, schemes: &Registry, run: &str, scheme: &str) -> bool {
    let replaces = |carrier| schemes.find(run).is_some_and(|entry| entry.has_source(carrier));
    let follows = |flow: &FlowSpec| match &flow.transport {
        Transport::Tcp { law, pinned, .. } => {
            let by_rate = replaces(Carrier::Rate) && !flow.traffic.has_files();
            law == scheme && (*pinned || !(replaces(Carrier::Tcp) || by_rate))
        }
        Transport::Rate { law, pinned, .. } => law == scheme && (*pinned || !replaces(Carrier::Rate)),
        Transport::ControlledUdp { law, pinned, .. } => law == scheme && (*pinned || !replaces(Carrier::Udp)),
        Transport::Udp | Transport::PlainUdp => false,
    };
    run == scheme || spec.schemes.iter().any(|node| node.scheme == scheme) || spec.flows.iter().any(follows)
}
