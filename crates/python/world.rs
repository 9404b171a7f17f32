//! A world that a program advances step by step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use airfair_schemes::places::{Ecn, FlowId, PacketClass};
use airfair_sim::engine::drive::Steppable;
use airfair_sim::ids::NodeIx;
use airfair_sim::{Fate, Ingress, Injection, PacketBytes, PortEnd};
use airfair_units::Time;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::arguments::{
    AtTime, Data, Destination, Dscp, EcnWord, EtherTypeNumber, InjectedFlow, InterfaceNumber, IsAck, NextHop,
    NodeName, PacketSize, SchemeName, Seed, Source, Tag, Until,
};
use crate::contract;
use crate::drive;
use crate::error::{input_error, unknown};
use crate::hosted::Hosted;
use crate::scenario::ScenarioArgument;

/// The ECN fields of packets, by their words.
const ECN: [(Ecn, &str); 3] = [(Ecn::NotEct, "not-ect"), (Ecn::Ect, "ect"), (Ecn::Ce, "ce")];

/// A copy of an injected packet that has left the world.
#[pyclass(frozen, get_all, module = "airfair")]
pub(crate) struct Egress {
    /// Time, ns.
    time_ns: u64,
    /// Number given to `inject`.
    tag: u64,
    /// The node where it has arrived or was dropped; of a broadcast that has ended, its sender.
    node: String,
    /// Number of the node's interface by which it has arrived, if it was injected at an interface.
    interface: Option<usize>,
    /// ECN field: "not-ect", "ect" or "ce".
    ecn: &'static str,
    /// True if an AQM has asked for ECN-Echo in the acknowledgement.
    echo: bool,
    /// Reason of the drop; None: it was not dropped.
    dropped: Option<&'static str>,
    /// True if it has arrived.
    arrived: bool,
    /// True for the last one with its tag.
    last: bool,
}

/// A world at time 0, to be advanced step by step. Times that it takes are texts, those that it gives are nanoseconds.
#[pyclass(frozen, module = "airfair")]
pub(crate) struct World {
    scenario: Arc<airfair_scenario::Scenario>,
    nodes: BTreeMap<String, u32>,
    end: Time,
    state: Mutex<State>,
    /// The thread that advances it: a hook or a signal handler that it calls must not wait for it.
    advancing: Mutex<Option<ThreadId>>,
}

struct State {
    world: Hosted,
    wall: Duration,
}

impl World {
    /// Called without the interpreter: a thread that waits here must not keep the others from finishing.
    fn state(&self) -> PyResult<MutexGuard<'_, State>> {
        if *self.advancing() == Some(thread::current().id()) {
            return Err(PyRuntimeError::new_err("the world is being advanced"));
        }
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn advancing(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.advancing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn node(&self, name: &str) -> PyResult<u32> {
        self.nodes
            .get(name)
            .copied()
            .ok_or_else(|| unknown("node", name, self.nodes.keys().map(String::as_str)))
    }
}

#[pymethods]
impl World {
    /// Sets a world up. Raises `InputError` for an unknown scheme.
    #[new]
    #[pyo3(signature = (scenario, scheme=None, seed=Seed(1)), text_signature = "(scenario, scheme=None, seed=1)")]
    fn new(
        py: Python<'_>,
        scenario: ScenarioArgument,
        scheme: Option<SchemeName>,
        seed: Seed,
    ) -> PyResult<Self> {
        let scenario = scenario.0.get();
        py.detach(|| {
            let began = Instant::now();
            let form = scenario.form(scheme.as_ref())?;
            let world = form.world(seed.0)?;
            Ok(Self {
                scenario: Arc::clone(&form.scenario),
                nodes: world.names().nodes.iter().cloned().zip(0..).collect(),
                end: world.end(),
                state: Mutex::new(State { world, wall: began.elapsed() }),
                advancing: Mutex::new(None),
            })
        })
    }

    /// Simulates everything before `until`, a time since the start of the run, and makes that the present; by default, and at most, the
    /// end of the run.
    #[pyo3(signature = (until=None))]
    fn advance(&self, py: Python<'_>, until: Option<Until>) -> PyResult<()> {
        py.detach(|| {
            let until = until.map_or(self.end, |until| Time(until.0)).min(self.end);
            let mut slices = drive::Slices::of(drive::SLICE);
            loop {
                // A signal handler may use this world: no lock is held while signals are checked.
                drive::check(None)?;
                let mut state = self.state()?;
                if state.world.now() >= until {
                    return Ok(());
                }
                let began = Instant::now();
                *self.advancing() = Some(thread::current().id());
                let advanced = slices.advance(&mut state.world, until);
                *self.advancing() = None;
                state.wall += began.elapsed();
                advanced?;
            }
        })
    }

    /// The time of the next event, ns, or None if there is none. `advance` simulates it with an `until` that is 1 ns later.
    fn next_deadline_ns(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        py.detach(|| Ok(self.state()?.world.next_deadline().map(Time::as_nanos)))
    }

    /// Lets an IP packet of `size` bytes enter at node `source`, now or `at` a later time; `tag` is the caller's number for the packet,
    /// which its copies bring back (`drain_outputs`). Without `next_hop` the world's own routes carry it to `destination`. With one it is
    /// sent by the node's interface with this number (`interfaces`) to that node, or to all that receive it ("*"), and leaves there:
    /// `destination` is then what schemes see. It enters at `node` instead of `source`, for one that another node has sent. `flow` is the
    /// number of its flow for queues and schemes, `data` the packet's bytes for captures. Raises `InputError` for what does not exist and
    /// for a time that has passed.
    #[pyo3(
        signature = (
            source, destination, size, tag, at=None, *, next_hop=None, interface=InterfaceNumber(0), node=None, flow=None,
            ack=IsAck(false), ecn=None, dscp=Dscp(0), data=None, ethertype=EtherTypeNumber(0x0800),
        ),
        text_signature = "($self, source, destination, size, tag, at=None, *, next_hop=None, interface=0, node=None, flow=None, \
            ack=False, ecn=\"not-ect\", dscp=0, data=None, ethertype=2048)"
    )]
    #[expect(clippy::too_many_arguments, reason = "named arguments in Python")]
    fn inject(
        &self,
        py: Python<'_>,
        source: Source,
        destination: Destination,
        size: PacketSize,
        tag: Tag,
        at: Option<AtTime>,
        next_hop: Option<NextHop>,
        interface: InterfaceNumber,
        node: Option<NodeName>,
        flow: Option<InjectedFlow>,
        ack: IsAck,
        ecn: Option<EcnWord>,
        dscp: Dscp,
        data: Option<Data>,
        ethertype: EtherTypeNumber,
    ) -> PyResult<()> {
        let (from, to) = (NodeIx(self.node(&source.0)?), NodeIx(self.node(&destination.0)?));
        let next = match &next_hop {
            None => None,
            Some(NextHop(name)) if name == "*" => Some(None),
            Some(NextHop(name)) => Some(Some(NodeIx(self.node(name)?))),
        };
        let ecn = match ecn {
            None => Ecn::NotEct,
            Some(EcnWord(word)) => ECN
                .iter()
                .find(|(_, known)| *known == word)
                .map(|&(ecn, _)| ecn)
                .ok_or_else(|| unknown("ECN field", &word, ECN.iter().map(|&(_, known)| known)))?,
        };
        let mut packet = Injection {
            flow: flow.map_or(FlowId::NONE, |flow| FlowId(flow.0)),
            class: if ack.0 { PacketClass::Ack } else { PacketClass::Data },
            ecn,
            dscp: dscp.0,
            bytes: data.map(|data| PacketBytes { ethertype: ethertype.0, bytes: data.0.into() }),
            ..Injection::new(from, to, size.0, tag.0)
        };
        py.detach(|| {
            let world = &mut self.state()?.world;
            let enters = node.as_ref().map_or(&source.0, |node| &node.0);
            let at_node = NodeIx(self.node(enters)?);
            if next.is_none() {
                packet.at = Ingress::Node(at_node);
            }
            if let Some(next) = next {
                let ports = world.ports_of(at_node);
                let &(port, _) = ports.get(interface.0).ok_or_else(|| {
                    let (node, number) = (enters, interface.0);
                    input_error(format!("interface {number}: node {node} has {} interfaces", ports.len()))
                })?;
                packet = packet.at_port(port, next);
            }
            let at = at.map_or(world.now(), |at| Time(at.0));
            world.inject(packet, at).map_err(input_error)
        })
    }

    /// The interfaces of a node, in the order of their numbers: ("radio", name of the radio) or ("wire", node at the far end).
    fn interfaces(&self, py: Python<'_>, node: NodeName) -> PyResult<Vec<(&'static str, String)>> {
        let at = NodeIx(self.node(&node.0)?);
        py.detach(|| {
            let world = &self.state()?.world;
            let name = |end: PortEnd| match end {
                PortEnd::Radio(station) => ("radio", world.stations()[station.ix()].1.clone()),
                PortEnd::Wire(far) => ("wire", world.names().nodes[far.ix()].clone()),
            };
            Ok(world.ports_of(at).into_iter().map(|(_, end)| name(end)).collect())
        })
    }

    /// A time in ns before which no injected packet arrives anywhere, if nothing more is injected; None if nothing will happen.
    fn next_output_ns(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        py.detach(|| Ok(self.state()?.world.next_output().map(Time::as_nanos)))
    }

    /// Copies of injected packets that have left since the last call.
    fn drain_outputs(&self, py: Python<'_>) -> PyResult<Vec<Egress>> {
        py.detach(|| {
            let world = &mut self.state()?.world;
            let outputs = world.drain_outputs();
            let interface = |node, port| world.ports_of(node).iter().position(|&(other, _)| other == port);
            let egress = |output: airfair_sim::Egress| Egress {
                time_ns: output.at.0,
                tag: output.tag,
                node: world.names().nodes[output.node.ix()].clone(),
                interface: output.port.and_then(|port| interface(output.node, port)),
                ecn: ECN.iter().find(|&&(ecn, _)| ecn == output.ecn).map_or("", |&(_, word)| word),
                echo: output.echo,
                dropped: if let Fate::Dropped(reason) = output.fate { Some(reason) } else { None },
                arrived: output.fate == Fate::Arrived,
                last: output.last,
            };
            Ok(outputs.into_iter().map(egress).collect())
        })
    }

    /// Records each completed file from now on, for `take_completions`.
    fn keep_completions(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            self.state()?.world.keep_completions();
            Ok(())
        })
    }

    /// Files that were completed since the last call, in the order of their ends: (number of the flow in `Scenario.flows`, start in ns,
    /// bytes, duration in ns).
    fn take_completions(&self, py: Python<'_>) -> PyResult<Vec<(usize, u64, u64, u64)>> {
        py.detach(|| {
            let completions = self.state()?.world.take_completions();
            Ok(completions
                .into_iter()
                .map(|(flow, c)| (flow.ix(), c.start.0, c.bytes, c.duration.0))
                .collect())
        })
    }

    /// The numbers up to the present: the result contract as JSON.
    fn result(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let state = self.state()?;
            state.world.check()?;
            contract::write(&self.scenario, &state.world, state.wall, None, &[])
        })
    }

    /// The present, ns.
    #[getter]
    fn now_ns(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| Ok(self.state()?.world.now().as_nanos()))
    }

    /// The end of the run, ns.
    #[getter]
    fn end_ns(&self) -> u64 {
        self.end.as_nanos()
    }
}
