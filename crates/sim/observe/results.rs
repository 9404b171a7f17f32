//! The numbers of a run, put together from what its parts have counted.

use airfair_units::Time;

use super::Observed;
use crate::ids::StationIx;
use crate::measure::samples::{Gauges, Snapshot, StationSample};
use crate::measure::summary::{Ends, FlowResult, RunResult, StationResult};
use crate::net::fault::Fault;

impl<'a> Observed<'a> {
    /// The error that a scheme has made, if it has made one: scheme, place and error. The numbers of such a run are of no use; a result
    /// names it first among its warnings.
    pub(crate) fn fault(&self) -> Option<String> {
        let of = |list: &[(usize, String)], at: u32| {
            let own = list.iter().find(|own| own.0 == at as usize);
            own.map_or(&self.run.scheme, |own| &own.1).clone()
        };
        Some(match self.net.fault? {
            Fault::FailedSource { flow } => {
                let (scheme, flow) = (of(&self.run.own_laws, flow), &self.run.names.flows[flow as usize]);
                format!("scheme {scheme}: its source of flow {flow} has failed")
            }
            Fault::StrangeNode { node } => format!(
                "scheme {}: its agent at node {} sent a message to a node that does not exist; expected a node of the scenario",
                of(&self.run.own_schemes, node),
                self.run.names.nodes[node as usize]
            ),
        })
    }

    /// The flow whose source has failed, if one has.
    pub(crate) fn faulty_flow(&self) -> Option<&'a str> {
        let Fault::FailedSource { flow } = self.net.fault? else { return None };
        self.run.names.flows.get(flow as usize).map(String::as_str)
    }

    /// Node and target of every queue: the radio that it feeds, or the node at the far end of its wired link.
    pub(crate) fn queues(&self) -> Vec<(String, String)> {
        self.net.queue_names(&self.run.names, &self.run.radios)
    }

    /// Node and radio of every station.
    pub(crate) fn stations(&self) -> Vec<(String, String)> {
        let node =
            |station: usize| self.run.names.nodes[self.run.names.node_of_station[station].ix()].clone();
        self.run.radios.iter().enumerate().map(|(station, radio)| (node(station), radio.clone())).collect()
    }

    /// Counters from the start of the run to the present, warm-up included.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let now = self.now.as_nanos();
        let station = |s: StationIx| {
            let counters = self.air.counters(s);
            StationSample {
                airtime: self.air.airtime(s, Time(now)),
                frames: counters.sent.iter().sum(),
                no_answer: counters.no_cts + counters.no_ack,
                given_up: counters.given_up,
                held: self.air.held(s).count() as u64,
            }
        };
        let told = |gauges: &Gauges| !gauges.1.is_empty();
        let agent = |s: u32| Some((s as usize, self.net.gauges(s))).filter(told);
        let hop = |port: u32| Some((port as usize, self.net.hop_gauges(port))).filter(told);
        Snapshot {
            flows: self.net.flow_samples(Time(now)),
            queues: self.net.queue_samples(now),
            stations: self.air.stations().map(station).collect(),
            agents: self.air.stations().map(|s| s.0).filter_map(agent).collect(),
            hops: (0..self.net.port_count()).filter_map(hop).collect(),
        }
    }

    /// The numbers up to the present.
    pub(crate) fn result(&self) -> RunResult {
        let now = self.now.as_nanos();
        let seconds = |ns: u64| Time(ns).as_secs_f64();
        let flows: Vec<FlowResult> = self.net.flow_results(&self.run.names, self.run.warmup.as_nanos(), now);
        let stations = self
            .air
            .stations()
            .map(|s| StationResult {
                node: self.run.names.nodes[self.run.names.node_of_station[s.ix()].ix()].clone(),
                radio: self.run.radios[s.ix()].clone(),
                airtime: self.air.airtime(s, Time(now)),
                counters: self.air.counters(s),
                messages: self.net.message_counts(s.0),
                routing: self.net.routing_counts_of(s.0),
            })
            .collect();
        let ends: Ends = self.net.ends(self.air, now);
        let fallbacks = flows.iter().filter(|flow| flow.fallbacks > 0).map(|flow| {
            let what = if flow.files.is_some() {
                format!("{} of its connections", flow.fallbacks)
            } else {
                "it".to_string()
            };
            format!(
                "flow {}: {what} met interfaces that do not speak its scheme and followed TCP's law",
                flow.id
            )
        });
        let warnings =
            self.fault().into_iter().chain(self.run.warnings.iter().cloned()).chain(fallbacks).collect();
        RunResult {
            scheme: self.run.scheme.clone(),
            seed: self.run.seed,
            duration_s: seconds(now),
            warmup_s: seconds(self.run.warmup.as_nanos()),
            flows,
            drops: ends.dropped.clone(),
            marks: self.net.marks(),
            ends,
            queues: self.net.queue_results(&self.run.names, &self.run.radios, now),
            stations,
            warnings,
            events: self.events,
            transmissions: self.air.transmissions(),
        }
    }
}
