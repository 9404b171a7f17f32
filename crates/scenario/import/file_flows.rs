//! The flows of a file in its scenario.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use airfair_units::Span;

use super::draft::{FlowTraffic, ImportedFlow, name};
use super::names::names;
use super::network::Network;
use super::reason::{Reason, Record};
use super::report::count;
use crate::declare::field::quote;

/// The flows of a file whose nodes are in the network, each with its name in the scenario.
pub(crate) struct FileFlows {
    flows: Vec<(String, [usize; 2], ImportedFlow)>,
}

impl FileFlows {
    /// Keeps the flows that the network can have, and leaves out the others.
    pub fn of(flows: Vec<ImportedFlow>, network: &mut Network) -> Self {
        let nodes: BTreeMap<&str, usize> =
            network.nodes.iter().enumerate().map(|(i, node)| (node.id.as_str(), i)).collect();
        let (mut kept, mut rejected) = (Vec::new(), Vec::new());
        for flow in flows {
            let ends = [&flow.from, &flow.to].map(|id| (id, nodes.get(id.as_str()).copied()));
            let problem = match ends {
                [(_, Some(from)), (_, Some(to))] if from != to => {
                    kept.push(([from, to], flow));
                    continue;
                }
                [(_, Some(_)), (_, Some(_))] => "from a node to itself".to_string(),
                [(_, Some(_)), (id, _)] | [(id, _), _] => format!("no node {}", name(id)),
            };
            let record = format!("flow {}", name(&flow.id));
            rejected.push(Record { record, reason: Reason::Flow, detail: problem });
        }
        network.rejected.extend(rejected);
        let ids: Vec<&str> = kept.iter().map(|(_, flow)| flow.id.as_str()).collect();
        let mut ids = unique(&ids).into_iter();
        let named = kept.into_iter().map(|(ends, flow)| (ids.next().unwrap_or_default(), ends, flow));
        Self { flows: named.collect() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.flows.len()
    }

    /// The flows that start after the end of the run, in words, if there are any.
    pub fn late(&self, duration: Span) -> Option<String> {
        let starts = self.flows.iter().map(|(_, _, flow)| flow.start);
        let late = starts.clone().filter(|start| *start >= duration).count();
        let last = starts.max().filter(|_| late > 0)?;
        let flows = count(late, "flow");
        Some(format!(
            "the run ends at {duration}, before {flows} of the file, the last of which starts at {last}: see --duration"
        ))
    }

    /// The flows as TOML; `node` is the name of a node in quotes.
    pub fn toml(&self, node: impl Fn(usize) -> String) -> String {
        let mut out = String::new();
        for (id, [from, to], flow) in &self.flows {
            let (id, from, to) = (quote(id), node(*from), node(*to));
            let _ = writeln!(out, "\n[[flow]]\nid = {id}\nfrom = {from}\nto = {to}");
            match flow.traffic {
                FlowTraffic::Bulk { segment } => {
                    let _ = writeln!(out, "transport = \"tcp-newreno\"\ntcp = {{ mss = \"{segment}\" }}");
                    let _ = writeln!(out, "traffic = {{ kind = \"ftp\" }}");
                }
                FlowTraffic::Constant { rate, packet, random } => {
                    let jitter = if random { ", gap_jitter = 1.0" } else { "" };
                    let _ = writeln!(
                        out,
                        "transport = \"udp\"\ntraffic = {{ kind = \"constant\", rate = \"{rate}\", packet = \"{packet}\"{jitter} }}"
                    );
                }
            }
            let _ = writeln!(out, "start = \"{}\"", flow.start);
            if let Some(stop) = flow.stop {
                let _ = writeln!(out, "stop = \"{stop}\"");
            }
        }
        out
    }
}

/// Valid and different names for ids: an agent with several applications, or connected twice, has several flows.
fn unique(ids: &[&str]) -> Vec<String> {
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let numbered: Vec<String> = ids
        .iter()
        .map(|id| {
            let count = seen.entry(id).or_insert(0);
            *count += 1;
            if *count == 1 { (*id).to_string() } else { format!("{id}#{count}") }
        })
        .collect();
    names(&numbered.iter().map(String::as_str).collect::<Vec<_>>()).0
}
