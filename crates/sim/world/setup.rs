//! Creation of a world from its specification.

use std::collections::BTreeSet;

use airfair_schemes::places::{Capability, Interface, Wants};
use airfair_schemes::{Registry, Scheme};
use airfair_units::{Bytes, Time};

use super::World;
use super::build::{self, Plan};
use super::scheme_placement::SchemePlacement;
use super::warnings::warnings;
use crate::air::{self, Air, Kind, RateControl, StationSpec};
use crate::engine::Agenda;
use crate::ids::{Ix, NodeIx};
use crate::node::endpoints::laws::Carriers;
use crate::observe::{Observers, RunInfo};
use crate::record::Names;
use crate::spec::{FlowSpec, Transport, WorldSpec};

/// True if a station passes frames for other stations up to its scheme.
const fn overhears(wants: &Wants) -> bool {
    wants.has(Capability::Overheard) || wants.has(Capability::HeardHeaders)
}

impl World {
    /// Creates a world whose flows use the built-in window laws.
    ///
    /// # Errors
    /// States which parts of the specification contradict each other (never for a scenario that the reader accepts), that the lists of
    /// hearers exceed the memory limit, or which capability of an interface a scheme lacks.
    pub fn new(
        spec: &WorldSpec,
        scheme_name: &str,
        scheme: Box<dyn Scheme>,
        seed: u64,
    ) -> Result<Self, String> {
        Self::with_schemes(spec, scheme_name, scheme, seed, Registry::built_in())
    }

    /// Compares the needs of a scheme, and of the nodes' own schemes, with what the interfaces of a network offer: for lists of runs,
    /// before the first of them. Nothing is built.
    ///
    /// # Errors
    /// Names the node, the scheme, and the missing capability.
    pub fn check_scheme(
        spec: &WorldSpec,
        scheme_name: &str,
        scheme: Box<dyn Scheme>,
        schemes: &Registry,
    ) -> Result<(), String> {
        SchemePlacement::new(spec, scheme, schemes)?.check(spec, scheme_name)
    }

    /// Creates a world; the window laws of its flows are looked up in `schemes`.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn with_schemes(
        spec: &WorldSpec,
        scheme_name: &str,
        scheme: Box<dyn Scheme>,
        seed: u64,
        schemes: &Registry,
    ) -> Result<Self, String> {
        Self::build((spec, seed), (scheme_name, scheme), schemes, None)
    }

    /// Creates a world whose data frames have the modes that a law chooses, instead of the rates of the specification, which stay the
    /// nominal ones.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn with_rate_control(
        spec: &WorldSpec,
        scheme_name: &str,
        scheme: Box<dyn Scheme>,
        seed: u64,
        schemes: &Registry,
        law: Box<dyn RateControl>,
    ) -> Result<Self, String> {
        Self::build((spec, seed), (scheme_name, scheme), schemes, Some(law))
    }

    fn build(
        (spec, seed): (&WorldSpec, u64),
        (scheme_name, scheme): (&str, Box<dyn Scheme>),
        schemes: &Registry,
        law: Option<Box<dyn RateControl>>,
    ) -> Result<Self, String> {
        if spec.radios.len() > usize::from(u8::MAX) {
            return Err("at most 255 kinds of radio".to_string());
        }
        let placed = SchemePlacement::new(spec, scheme, schemes)?;
        let kinds = spec.radios.iter().map(|r| Kind::new(r, &spec.headers)).collect::<Result<Vec<_>, _>>()?;
        let mut stations = Vec::new();
        let mut radio_of_station = Vec::new();
        for (node, n) in spec.nodes.iter().enumerate() {
            for (i, &radio) in n.radios.iter().enumerate() {
                let r = spec.radios.get(radio).ok_or_else(|| format!("node {}: no such radio", n.id))?;
                let interface = placed.radio(spec, node, radio);
                stations.push(StationSpec {
                    node,
                    node_id: n.id.clone(),
                    // The first radio has the node's name, so a second radio does not rename it.
                    name: if i == 0 { n.id.clone() } else { format!("{}/{}", n.id, r.name) },
                    position: n.position,
                    located: n.located,
                    kind: radio as u8,
                    tx_power: r.phy.tx_power,
                    cutoff: r.phy.cutoff,
                    propagation: r.propagation.clone(),
                    fading: r.fading,
                    overhears: overhears(&placed.at(node).wants(&interface)),
                });
                radio_of_station.push(radio);
            }
        }
        for flow in &spec.flows {
            if flow.from >= spec.nodes.len() || flow.to >= spec.nodes.len() {
                return Err(format!("flow {}: no such node", flow.id));
            }
        }
        for (at, one) in spec.controllers.iter().enumerate() {
            let node = spec.nodes.get(one.node).ok_or_else(|| "controller: no such node".to_string())?;
            if one.stop.is_some_and(|stop| stop <= one.start) {
                return Err(format!("controller at node {}: it stops before it runs", node.id));
            }
            if spec.controllers[..at].iter().any(|other| one.overlaps(other)) {
                return Err(format!("controller at node {}: two run at the same time", node.id));
            }
        }
        placed.check(spec, scheme_name)?;
        let pairs = air::check_memory(&stations, &kinds, &spec.gains, spec.memory_limit)?;
        let mut air = Air::new(kinds, &stations, &spec.gains, seed);
        if let Some(law) = law {
            air.set_rate_control(law);
        }
        let mut agenda = Agenda::default();
        air.start_variation(&spec.gain_changes, &stations, seed, &mut agenda);
        air.start_movement(&spec.movement, &stations, seed, &mut agenda)?;
        let names = Names {
            stations: stations.iter().map(|s| s.name.clone()).collect(),
            node_of_station: stations.iter().map(|s| NodeIx::of(s.node)).collect(),
            nodes: spec.nodes.iter().map(|n| n.id.clone()).collect(),
            flows: spec.flows.iter().map(|f| f.id.clone()).collect(),
            categories: air.stations().map(|station| air.mac(station).names.clone()).collect(),
        };
        let only_marks = Interface::all_kinds().iter().any(|at| placed.run.wants(at).has(Capability::Ecn));
        let probe_powers: Vec<_> = (0..spec.nodes.len()).map(|node| placed.at(node).probe_power()).collect();
        let without_fault = faultless(spec, scheme_name, &placed);
        let carriers = Carriers::of(&*placed.run);
        let own_law = |(i, flow): (usize, &FlowSpec)| match &flow.transport {
            Transport::ControlledUdp { law, pinned, .. }
            | Transport::Rate { law, pinned, .. }
            | Transport::Tcp { law, pinned, .. }
                if *pinned || carriers.carry(flow).is_none() =>
            {
                Some((i, law.clone()))
            }
            _ => None,
        };
        let own_laws = spec.flows.iter().enumerate().filter_map(own_law).collect();
        let plan = Plan {
            spec,
            air: &air,
            placed: &placed,
            node_of_station: &names.node_of_station,
            radio_of_station: &radio_of_station,
            memory: Bytes(spec.memory_limit.0.saturating_sub(pairs.0)),
            seed,
        };
        let mut network = build::network(plan, &mut agenda);
        build::add_flows(&mut network, spec, (placed.run, schemes), seed, &mut agenda)?;
        let names_of = (scheme_name, schemes);
        let mut warnings = warnings(spec, names_of, (only_marks, &probe_powers), (&air, &network), &names);
        warnings.extend(without_fault);
        let run = RunInfo {
            radios: radio_of_station.iter().map(|&r| spec.radios[r].name.clone()).collect(),
            tx_power: stations.iter().map(|s| s.tx_power).collect(),
            scheme: scheme_name.to_string(),
            own_schemes: spec.schemes.iter().map(|own| (own.node, own.scheme.clone())).collect(),
            own_laws,
            seed,
            warmup: Time::ZERO + spec.warmup,
            end: Time::ZERO + spec.duration,
            names,
            warnings,
        };
        Ok(Self { agenda, air, network, run, observers: Observers::default() })
    }
}

/// A warning for each scheme with faults that has none set.
fn faultless(spec: &WorldSpec, run: &str, placed: &SchemePlacement) -> Vec<String> {
    let own = spec.schemes.iter().map(|own| (own.scheme.as_str(), placed.at(own.node).lacks_fault()));
    let all = own.chain([(run, placed.run.lacks_fault())]);
    let names: BTreeSet<&str> = all.filter(|(_, lacks)| *lacks).map(|(name, _)| name).collect();
    let warning = |name| format!("scheme {name}: no fault is set; `airfair schemes {name}` lists the faults");
    names.into_iter().map(warning).collect()
}
