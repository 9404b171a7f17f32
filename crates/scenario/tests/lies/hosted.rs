//! A scheme as a daemon hosts it, with bounds on what any message can do, and one node whose agent lies.
//!
//! The lying node has the scheme's real agent with the same samples and messages. What that agent says is kept back; lies are sent in
//! its place. All nodes of a mesh have the same keys, so a liar may sign in any name: such a message has the name in front.

use std::collections::BTreeMap;

use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Agent, AgentContext, AgentSetup, Aqm, Capability, Destination, Interface, LinkRate, LoneExchange,
    Message, NodeId, NodeSample, OutputQueue, Probability, Setting, Timer, Wants,
};
use airfair_units::random::Stream;
use airfair_units::{Rate, Span};

/// First byte of a message in another name. No message of a scheme begins with it.
const FORGED: u8 = 0xfe;

/// Timer of a liar; the schemes here have none of this number.
const LIE: Timer = Timer(u16::MAX - 7);

/// Most honest messages of its own that a liar keeps.
const KEPT: usize = 64;

/// Bounds on the settings of honest nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The largest drop probability that is carried out.
    pub most_probability: f64,
    /// The least part of the time of the air to which a link is limited.
    pub least_share: f64,
}

impl Bounds {
    pub const NONE: Self = Self { most_probability: 1.0, least_share: 0.0 };
}

/// A message of a liar.
pub struct Said {
    /// The name in which it is signed, if not the liar's own.
    pub name: Option<NodeId>,
    pub to: Destination,
    pub bytes: Vec<u8>,
}

/// The knowledge of a liar: all that a node learns.
pub struct Liar {
    pub me: NodeId,
    pub neighbours: Vec<NodeId>,
    /// Messages that an honest agent would have sent here, the latest last.
    pub honest: Vec<Vec<u8>>,
    /// The latest message of each neighbour.
    pub heard: BTreeMap<NodeId, Vec<u8>>,
    /// Number of lies so far.
    pub tick: u64,
}

/// A lie.
pub struct Lie {
    pub name: &'static str,
    pub every: Span,
    /// The liar ignores its own limits.
    pub selfish: bool,
    pub says: fn(&Liar, &mut Stream) -> Vec<Said>,
}

/// The scheme in a mesh.
pub struct Hosted {
    pub inner: Box<dyn Scheme>,
    pub bounds: Bounds,
    pub liar: Option<(NodeId, &'static Lie)>,
}

impl Scheme for Hosted {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        self.inner.queue(interface)
    }

    fn aqm(&self, interface: &Interface) -> Option<Box<dyn Aqm>> {
        self.inner.aqm(interface)
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        let inner = self.inner.agent(interface)?;
        let (bounds, liar) = (self.bounds, self.liar);
        let knowledge = Liar {
            me: NodeId(u32::MAX),
            neighbours: Vec::new(),
            honest: Vec::new(),
            heard: BTreeMap::new(),
            tick: 0,
        };
        Some(Box::new(HostedAgent { inner, bounds, liar, knowledge, usual: Rate(0), rates: BTreeMap::new() }))
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let wants = self.inner.wants(interface);
        wants.and_if(interface.is_radio(), Capability::Neighbours)
    }
}

struct HostedAgent {
    inner: Box<dyn Agent>,
    bounds: Bounds,
    /// The lie, at the node that lies; elsewhere none from the start on.
    liar: Option<(NodeId, &'static Lie)>,
    knowledge: Liar,
    usual: Rate,
    rates: BTreeMap<NodeId, Rate>,
}

impl HostedAgent {
    fn call(
        &mut self,
        context: &mut AgentContext<'_>,
        hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>),
    ) {
        let (messages, settings) = (context.out.messages.len(), context.out.settings.len());
        hook(&mut *self.inner, context);
        for setting in &mut context.out.settings[settings..] {
            *setting = self.bounded(*setting);
        }
        if self.liar.is_some() {
            let kept = context.out.messages.drain(messages..).map(|message| message.bytes);
            self.knowledge.honest.extend(kept);
            let surplus = self.knowledge.honest.len().saturating_sub(KEPT);
            self.knowledge.honest.drain(..surplus);
        }
    }

    fn bounded(&self, setting: Setting) -> Setting {
        let selfish = self.liar.is_some_and(|(_, lie)| lie.selfish);
        match setting {
            Setting::Probability(direction, p) => {
                let most = if selfish { 0.0 } else { self.bounds.most_probability };
                Setting::Probability(direction, p.min(Probability::new(most)))
            }
            Setting::LinkRate { neighbour, rate } if rate.rate > Rate(0) => {
                let whole = self.rates.get(&neighbour).unwrap_or(&self.usual).as_bps() as f64;
                let least = Rate((self.bounds.least_share * whole) as u64);
                let rate = LinkRate { rate: rate.rate.max(least), ..rate };
                let none = LinkRate { rate: Rate(0), overhead: 0, burst: 0 };
                Setting::LinkRate { neighbour, rate: if selfish { none } else { rate } }
            }
            other => other,
        }
    }
}

impl Agent for HostedAgent {
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>) {
        self.liar = self.liar.filter(|&(node, _)| node == setup.node);
        self.usual = setup.exchange.rate;
        self.knowledge.me = setup.node;
        self.knowledge.neighbours = setup.neighbours.to_vec();
        if let Some((_, lie)) = self.liar {
            context.out.timers.push((LIE, context.now + lie.every));
        }
        self.call(context, |inner, context| inner.on_start(setup, context));
    }

    fn on_neighbours(&mut self, neighbours: &[NodeId], context: &mut AgentContext<'_>) {
        self.knowledge.neighbours = neighbours.to_vec();
        self.call(context, |inner, context| inner.on_neighbours(neighbours, context));
    }

    fn on_link_rate(&mut self, neighbour: NodeId, exchange: LoneExchange, context: &mut AgentContext<'_>) {
        self.rates.insert(neighbour, exchange.rate);
        self.call(context, |inner, context| inner.on_link_rate(neighbour, exchange, context));
    }

    fn on_sample(&mut self, sample: &NodeSample<'_>, context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_sample(sample, context));
    }

    fn on_backlogs(&mut self, sizes: &[(NodeId, u32)], context: &mut AgentContext<'_>) {
        self.call(context, |inner, context| inner.on_backlogs(sizes, context));
    }

    fn on_message(&mut self, from: NodeId, bytes: &[u8], to_me: bool, context: &mut AgentContext<'_>) {
        let (from, bytes) = match bytes {
            &[FORGED, a, b, c, d, ref rest @ ..] => (NodeId(u32::from_be_bytes([a, b, c, d])), rest),
            _ => (from, bytes),
        };
        if self.liar.is_some() {
            self.knowledge.heard.insert(from, bytes.to_vec());
        }
        self.call(context, |inner, context| inner.on_message(from, bytes, to_me, context));
    }

    fn on_timer(&mut self, timer: Timer, context: &mut AgentContext<'_>) {
        let Some((_, lie)) = self.liar.filter(|_| timer == LIE) else {
            return self.call(context, |inner, context| inner.on_timer(timer, context));
        };
        context.out.timers.push((LIE, context.now + lie.every));
        for Said { name, to, bytes } in (lie.says)(&self.knowledge, context.random) {
            let name = name.map(|name| [&[FORGED][..], &name.0.to_be_bytes()].concat());
            let bytes = [name.unwrap_or_default(), bytes].concat();
            context.out.messages.push(Message { to, bytes, ahead: true, transmit: None });
        }
        self.knowledge.tick += 1;
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.inner.gauges()
    }

    fn work(&self) -> u64 {
        self.inner.work()
    }
}
