//! The context of a hook: time, random numbers, effects.

use std::borrow::Cow;

use airfair_schemes::places;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Db, Time};
use pyo3::prelude::*;

use crate::arguments::{
    Ahead, At, Batch, Bound32, Data, FlowNumber, Held, MoreDb, NodeNumber, Now, Number, OfBatch,
    PacketNumber, Probability, Reason, Seed, StreamName, TimerNumber, Word,
};
use crate::error::{SchemeError, input_error};
use crate::interned::reason;

/// The place of a context, which determines the effects that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A program's own, for tests of hooks: all effects.
    Any,
    Source,
    Queue,
    Aqm,
    Agent,
    Forwarder,
    Controller,
}

/// The random stream of a scheme at one place: the simulator's, so that the same seed gives the same run.
#[pyclass(module = "airfair.scheme")]
pub(crate) struct Random(pub Stream);

#[pymethods]
impl Random {
    /// A stream of its own, for tests.
    #[new]
    #[pyo3(
        signature = (seed=Seed(1), name=StreamName("test".to_string())),
        text_signature = "(seed=1, name='test')"
    )]
    fn new(seed: Seed, name: StreamName) -> Self {
        Self(Stream::new(seed.0, &name.0, Purpose::Queue))
    }

    /// The next 32 bits.
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// The next 64 bits.
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number below `bound`, every one equally likely; 0 for a bound of 0.
    fn below(&mut self, bound: Bound32) -> u32 {
        self.0.below(bound.0)
    }

    /// A number from 0 up to, but not, 1.
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }
}

/// Packets and reasons.
type Named = Vec<(u32, &'static str)>;

/// Numbers of flows with those of packets or batches.
type Numbered = Vec<(u32, u32)>;

/// A message that Python sends.
#[derive(Clone)]
pub(crate) struct Said {
    /// A node any number of hops away, a neighbour, or neither: all neighbours.
    node: Option<u32>,
    neighbour: Option<u32>,
    data: Vec<u8>,
    ahead: bool,
    transmit: Option<places::Transmit>,
}

/// A message as tests read it: node, neighbour, bytes, and whether it goes ahead.
type Shown<'a> = (Option<u32>, Option<u32>, Cow<'a, [u8]>, bool);

/// The context of a hook: the present, a random stream, and the effects that it requests.
#[pyclass(module = "airfair.scheme")]
pub(crate) struct Context {
    /// The present, ns since the start of the run.
    #[pyo3(get, set)]
    now: u64,
    random: Py<Random>,
    place: Place,
    timers: Vec<(u16, u64)>,
    dropped: Named,
    marked: Named,
    said: Vec<Said>,
    probabilities: Vec<(&'static str, f64)>,
    delivered: Numbered,
    routed: Numbered,
    holds: Vec<(u32, u32, u16, u16)>,
    whole: Numbered,
}

/// Effects of a place, as requested by Python. The context has refused effects that the place does not have.
pub(crate) trait Effects {
    /// Moves the requested effects to the place.
    fn accept(&mut self, asked: &mut Context);

    /// Notifies the place's host that Python's code has raised an exception.
    fn fail(&mut self) {}
}

impl Effects for places::AqmEffects {
    fn accept(&mut self, _asked: &mut Context) {}
}

impl Effects for places::QueueEffects {
    fn accept(&mut self, asked: &mut Context) {
        let dropped =
            asked.dropped.drain(..).map(|(id, why)| (places::PacketId(id), places::DropReason(why)));
        self.dropped.extend(dropped);
        let marked = asked.marked.drain(..).map(|(id, why)| (places::PacketId(id), places::MarkReason(why)));
        self.marked.extend(marked);
    }
}

impl Effects for places::AgentEffects {
    fn accept(&mut self, asked: &mut Context) {
        self.timers.extend(asked.timers.drain(..).map(|(timer, at)| (places::Timer(timer), Time(at))));
        self.messages.extend(asked.said.drain(..).map(|said| {
            let Said { node, neighbour, data: bytes, ahead, transmit } = said;
            let node = node.map(|node| places::Destination::Node(places::NodeId(node)));
            let neighbour = neighbour.map(|node| places::Destination::Neighbour(places::NodeId(node)));
            let to = node.or(neighbour).unwrap_or(places::Destination::Broadcast);
            places::Message { to, bytes, ahead, transmit }
        }));
        self.settings.extend(asked.probabilities.drain(..).map(|(direction, p)| {
            let direction = match direction {
                "incoming" => places::Direction::Incoming,
                _ => places::Direction::Outgoing,
            };
            places::Setting::Probability(direction, places::Probability::new(p))
        }));
    }
}

impl Effects for places::ForwarderEffects {
    fn accept(&mut self, asked: &mut Context) {
        self.agent.accept(asked);
        let numbered = |(flow, number)| (places::FlowId(flow), number);
        self.delivered.extend(asked.delivered.drain(..).map(numbered));
        self.routed.extend(asked.routed.drain(..).map(numbered));
        let holding =
            |(flow, batch, packets, of)| places::Holding { flow: places::FlowId(flow), batch, packets, of };
        self.holds.extend(asked.holds.drain(..).map(holding));
        self.whole.extend(asked.whole.drain(..).map(numbered));
    }
}

impl Effects for places::ControllerEffects {
    fn accept(&mut self, asked: &mut Context) {
        self.timers.extend(asked.timers.drain(..).map(|(timer, at)| (places::Timer(timer), Time(at))));
        self.messages.extend(asked.said.drain(..).filter_map(|Said { node, data: bytes, ahead, .. }| {
            Some(places::ControllerMessage { to: places::NodeId(node?), bytes, ahead })
        }));
    }
}

impl Effects for places::SourceEffects {
    fn accept(&mut self, asked: &mut Context) {
        self.timers.extend(asked.timers.drain(..).map(|(timer, at)| (places::Timer(timer), Time(at))));
    }

    fn fail(&mut self) {
        self.failed = true;
    }
}

impl Context {
    /// When its hook was called last, ns.
    pub const fn now(&self) -> u64 {
        self.now
    }

    pub fn at(py: Python<'_>, place: Place) -> PyResult<Py<Self>> {
        let random = Py::new(py, Random(Stream::of_hash(0, 0, Purpose::Queue)))?;
        Py::new(py, Self::empty(0, random, place))
    }

    /// A context without effects.
    const fn empty(now: u64, random: Py<Random>, place: Place) -> Self {
        Self {
            now,
            random,
            place,
            timers: Vec::new(),
            dropped: Vec::new(),
            marked: Vec::new(),
            said: Vec::new(),
            probabilities: Vec::new(),
            delivered: Vec::new(),
            routed: Vec::new(),
            holds: Vec::new(),
            whole: Vec::new(),
        }
    }

    /// Lends the simulator's stream to Python until [`Context::give_back`].
    pub fn lend<E>(this: &Bound<'_, Self>, context: &mut places::Context<'_, E>) -> PyResult<()> {
        let mut own = this.try_borrow_mut()?;
        own.now = context.now.as_nanos();
        std::mem::swap(&mut own.random.bind(this.py()).try_borrow_mut()?.0, context.random);
        Ok(())
    }

    /// Takes the random stream back and passes the effects on.
    pub fn give_back<E: Effects>(
        this: &Bound<'_, Self>,
        context: &mut places::Context<'_, E>,
    ) -> PyResult<()> {
        let mut own = this.try_borrow_mut()?;
        std::mem::swap(&mut own.random.bind(this.py()).try_borrow_mut()?.0, context.random);
        context.out.accept(&mut own);
        Ok(())
    }

    fn only(&self, places: &[Place], what: &str) -> PyResult<()> {
        if places.contains(&self.place) || self.place == Place::Any {
            return Ok(());
        }
        let one = |place: &Place| {
            let name = format!("{place:?}");
            format!("{} {name}", if name.starts_with('A') { "an" } else { "a" })
        };
        let names: Vec<String> = places.iter().map(one).collect();
        let names = match &names[..] {
            [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
            _ => names.concat(),
        };
        let own = one(&self.place);
        Err(SchemeError::new_err(format!("Context.{what} goes with {names}, not with {own}")))
    }
}

#[pymethods]
impl Context {
    /// A context for tests of hooks.
    #[new]
    #[pyo3(
        signature = (now=Now(0), *, seed=Seed(1), name=StreamName("test".to_string())),
        text_signature = "(now=0, *, seed=1, name='test')"
    )]
    fn new(py: Python<'_>, now: Now, seed: Seed, name: StreamName) -> PyResult<Self> {
        Ok(Self::empty(now.0, Py::new(py, Random::new(seed, name))?, Place::Any))
    }

    /// The scheme's own random stream at this place.
    #[getter]
    fn random(&self, py: Python<'_>) -> Py<Random> {
        self.random.clone_ref(py)
    }

    /// Sets timer number `timer` (0 to 65535) of a source, an agent, a forwarder or a controller to `at`, ns since the start of the run; an
    /// earlier setting of the same timer counts no more.
    fn set_timer(&mut self, timer: TimerNumber, at: At) -> PyResult<()> {
        let (timer, at) = (timer.0, at.0);
        self.only(&[Place::Source, Place::Agent, Place::Forwarder, Place::Controller], "set_timer")?;
        if at <= self.now {
            return Err(input_error(format!("a timer at {at} ns: expected later than now, {} ns", self.now)));
        }
        self.timers.push((timer, at));
        Ok(())
    }

    /// Reports that the queue has dropped a packet (its `id`) that it stored.
    fn drop(&mut self, packet: PacketNumber, why: Reason) -> PyResult<()> {
        self.only(&[Place::Queue], "drop")?;
        self.dropped.push((packet.0, reason(&why.0)?));
        Ok(())
    }

    /// Marks a packet (its `id`) that the queue stores.
    fn mark(&mut self, packet: PacketNumber, why: Reason) -> PyResult<()> {
        self.only(&[Place::Queue], "mark")?;
        self.marked.push((packet.0, reason(&why.0)?));
        Ok(())
    }

    /// Sends a message of an agent, a forwarder or a controller: to a node any number of hops away, to a neighbour, or, without either, to
    /// all neighbours at once. A controller sends to nodes only. `ahead`: it precedes the packets that wait. A broadcast may have a rate
    /// ("broadcast", "data", "lowest") and a power above the radio's own, dB.
    #[pyo3(
        signature = (data, *, node=None, neighbour=None, ahead=Ahead(false), rate=Word("broadcast".to_string()), more_db=MoreDb(0.0)),
        text_signature = "($self, data, *, node=None, neighbour=None, ahead=False, rate='broadcast', more_db=0.0)"
    )]
    fn send(
        &mut self,
        data: Data,
        node: Option<NodeNumber>,
        neighbour: Option<NodeNumber>,
        ahead: Ahead,
        rate: Word,
        more_db: MoreDb,
    ) -> PyResult<()> {
        self.only(&[Place::Agent, Place::Forwarder, Place::Controller], "send")?;
        let (node, neighbour) = (node.map(|node| node.0), neighbour.map(|node| node.0));
        let rate = match rate.0.as_str() {
            "broadcast" => places::SendRate::Broadcast,
            "data" => places::SendRate::Data,
            "lowest" => places::SendRate::Lowest,
            other => {
                let expected = "expected \"broadcast\", \"data\" or \"lowest\"";
                return Err(input_error(format!("rate: \"{other}\"; {expected}")));
            }
        };
        let power = Db(more_db.0);
        if !power.0.is_finite() {
            return Err(input_error(format!("more_db: {}; expected a finite number", power.0)));
        }
        let transmit = places::Transmit { rate, power_offset: power };
        let chosen = transmit != places::Transmit::default();
        let problem = if data.0.is_empty() {
            Some("a message without bytes: expected at least one")
        } else if node.is_some() && neighbour.is_some() {
            Some("a message to a node and to a neighbour: expected one of them")
        } else if self.place == Place::Controller && node.is_none() {
            Some("a message of a controller: expected its node")
        } else if chosen && (node.is_some() || neighbour.is_some()) {
            Some("a message with a rate or a power of its own: expected a broadcast")
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(input_error(problem.to_string()));
        }
        let transmit = chosen.then_some(transmit);
        self.said.push(Said { node, neighbour, data: data.0, ahead: ahead.0, transmit });
        Ok(())
    }

    /// Sets the probability with which the AQM of an agent's interface drops or marks packets of one direction ("outgoing", "incoming"):
    /// `Aqm.on_probability`.
    fn set_probability(&mut self, direction: Word, probability: Probability) -> PyResult<()> {
        self.only(&[Place::Agent, Place::Forwarder], "set_probability")?;
        let direction = match direction.0.as_str() {
            "outgoing" => "outgoing",
            "incoming" => "incoming",
            other => {
                let expected = "expected \"outgoing\" or \"incoming\"";
                return Err(input_error(format!("direction: \"{other}\"; {expected}")));
            }
        };
        if !(0.0..=1.0).contains(&probability.0) {
            return Err(input_error(format!("probability: {}; expected 0 to 1", probability.0)));
        }
        self.probabilities.push((direction, probability.0));
        Ok(())
    }

    /// Hands a packet for a forwarder's node up, by flow and number: once, however often it is asked for.
    fn deliver(&mut self, flow: FlowNumber, number: Number) -> PyResult<()> {
        self.only(&[Place::Forwarder], "deliver")?;
        self.delivered.push((flow.0, number.0));
        Ok(())
    }

    /// Passes a packet that a forwarder holds on to ordinary routing, by flow and number.
    fn route(&mut self, flow: FlowNumber, number: Number) -> PyResult<()> {
        self.only(&[Place::Forwarder], "route")?;
        self.routed.push((flow.0, number.0));
        Ok(())
    }

    /// Tells that a broadcast has brought something new of a batch, and what a forwarder's node holds of it now: so many packets, or
    /// independent combinations, of so many. At the flow's destination it counts as innovative.
    fn hold(&mut self, flow: FlowNumber, batch: Batch, packets: Held, of: OfBatch) -> PyResult<()> {
        self.only(&[Place::Forwarder], "hold")?;
        if packets.0 > of.0 {
            return Err(input_error(format!(
                "packets: {}; expected at most those of the batch, {}",
                packets.0, of.0
            )));
        }
        self.holds.push((flow.0, batch.0, packets.0, of.0));
        Ok(())
    }

    /// Counts a batch of a flow that is whole at its destination, a forwarder's node.
    fn count_whole(&mut self, flow: FlowNumber, batch: Batch) -> PyResult<()> {
        self.only(&[Place::Forwarder], "count_whole")?;
        self.whole.push((flow.0, batch.0));
        Ok(())
    }

    /// Packets handed up and not yet passed on: flows and numbers.
    #[getter]
    fn delivered(&self) -> Numbered {
        self.delivered.clone()
    }

    /// Packets for ordinary routing that are not yet passed on: flows and numbers.
    #[getter]
    fn routed(&self) -> Numbered {
        self.routed.clone()
    }

    /// Batches that the node reported as held: flows, batches, packets, and of how many.
    #[getter]
    fn holds(&self) -> Vec<(u32, u32, u16, u16)> {
        self.holds.clone()
    }

    /// Batches that are whole: flows and numbers.
    #[getter]
    fn whole(&self) -> Numbered {
        self.whole.clone()
    }

    /// Messages sent and not yet passed on: node, neighbour, bytes, and whether they go ahead.
    #[getter]
    fn messages(&self) -> Vec<Shown<'_>> {
        let each = |said: &Said| (said.node, said.neighbour, Cow::Owned(said.data.clone()), said.ahead);
        self.said.iter().map(each).collect()
    }

    /// Probabilities set and not yet passed on, with their directions.
    #[getter]
    fn probabilities(&self) -> Vec<(&'static str, f64)> {
        self.probabilities.clone()
    }

    /// Timers that were set and not yet passed on: numbers and times, ns.
    #[getter]
    fn timers(&self) -> Vec<(u16, u64)> {
        self.timers.clone()
    }

    /// Packets dropped and why.
    #[getter]
    fn dropped(&self) -> Named {
        self.dropped.clone()
    }

    /// Packets marked and why.
    #[getter]
    fn marked(&self) -> Named {
        self.marked.clone()
    }
}
