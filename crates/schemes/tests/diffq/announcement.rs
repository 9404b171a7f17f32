//! Sizes by broadcast (ours): what a node sends, and what it learns.

use airfair_schemes::ParamValue::{Choice, Number, Span as Length};
use airfair_schemes::places::{
    Agent, AgentContext, AgentEffects, Capability, Destination, Enqueued, Interface, Medium, Message, NodeId,
    Setting,
};
use airfair_schemes::{ParamValue, Scheme};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use airfair_wire::diffq::Sizes;

use super::{Node, build, labelled};

const BROADCAST: [(&str, ParamValue); 2] =
    [("sizes_by", Choice("broadcast")), ("announcement_interval", Length(Span::from_millis(30)))];

struct Host {
    agent: Box<dyn Agent>,
    random: Stream,
    out: AgentEffects,
}

impl Host {
    fn new() -> Self {
        Self::of("diffq", &BROADCAST)
    }

    fn of(name: &str, params: &[(&'static str, ParamValue)]) -> Self {
        let agent = build(name, params).agent(&Interface::radio(50)).unwrap();
        Self { agent, random: Stream::new(1, "agent", Purpose::Agent), out: AgentEffects::default() }
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Agent, &mut AgentContext<'_>)) -> AgentEffects {
        let Self { agent, random, out } = self;
        hook(&mut **agent, &mut AgentContext { now: Time::ZERO, random, out });
        std::mem::take(out)
    }

    /// The sizes that a message says, if there is one.
    fn says(&mut self, sizes: &[(u32, u32)]) -> Option<Vec<(u32, u16)>> {
        let sizes: Vec<_> = sizes.iter().map(|&(to, size)| (NodeId(to), size)).collect();
        let effects = self.hook(|agent, context| agent.on_backlogs(&sizes, context));
        assert!(effects.timers.is_empty() && effects.settings.is_empty() && effects.messages.len() <= 1);
        let Message { to, bytes, ahead, .. } = effects.messages.into_iter().next()?;
        assert_eq!((to, ahead), (Destination::Broadcast, true));
        let (sizes, rest) = Sizes::decode(&bytes).unwrap();
        assert!(rest.is_empty());
        Some(sizes.iter().collect())
    }

    fn learns(&mut self, bytes: &[u8]) -> Vec<Setting> {
        let effects = self.hook(|agent, context| agent.on_message(NodeId(3), bytes, true, context));
        assert!(effects.timers.is_empty() && effects.messages.is_empty());
        effects.settings
    }
}

/// A queue that has become empty is told once; a node without queues says nothing.
#[test]
fn what_a_node_says() {
    let mut host = Host::new();
    assert_eq!(host.says(&[]), None);
    assert_eq!(host.says(&[(5, 17), (9, 70_000)]), Some(vec![(5, 17), (9, 65_535)]));
    assert_eq!(host.says(&[(7, 1), (9, 3)]), Some(vec![(7, 1), (9, 3), (5, 0)]));
    assert_eq!(host.says(&[(9, 3)]), Some(vec![(9, 3), (7, 0)]));
    assert_eq!(host.says(&[]), Some(vec![(9, 0)]));
    assert_eq!(host.says(&[]), None);
}

/// A liar multiplies the sizes in its messages as those in its trailers, and learns those of others as every node.
#[test]
fn a_liar_lies_in_messages_too() {
    for (factor, said) in [(0.0, [0, 0]), (0.5, [8, 500]), (1.0, [17, 1000]), (1000.0, [17_000, 65_535])] {
        let mut host = Host::of("diffq-liar", &[&BROADCAST[..], &[("size_factor", Number(factor))]].concat());
        assert_eq!(host.says(&[(5, 17), (9, 1000)]), Some(vec![(5, said[0]), (9, said[1])]), "{factor}");
        assert_eq!(host.says(&[]), Some(vec![(5, 0), (9, 0)]), "{factor}");
        assert_eq!(host.says(&[]), None);
        let message = Sizes::new([(5, 17)].into_iter());
        let mut bytes = vec![0; message.wire_len()];
        message.encode(&mut bytes).unwrap();
        let (neighbour, destination, packets) = (NodeId(3), NodeId(5), 17);
        assert_eq!(host.learns(&bytes), [Setting::Backlog { neighbour, destination, packets }]);
    }
    let liar = build("diffq-liar", &[("size_factor", Number(0.0))]);
    assert!(liar.agent(&Interface::radio(50)).is_none(), "overheard sizes have no messages");
}

/// 200 sizes at most.
#[test]
fn a_message_has_an_end() {
    let many: Vec<_> = (0..300).map(|to| (to, to + 1)).collect();
    let said = Host::new().says(&many).unwrap();
    assert_eq!((said.len(), said[199]), (200, (199, 200)));
}

#[test]
fn what_a_node_learns() {
    let message = Sizes::new([(5, 17), (9, 0)].into_iter());
    let mut bytes = vec![0; message.wire_len() + 1];
    message.encode(&mut bytes).unwrap();
    let mut host = Host::new();
    assert_eq!(host.learns(&bytes), [], "a byte follows");
    assert_eq!(host.learns(&bytes[..13]), [], "too short");
    bytes.pop();
    let of = |destination, packets| Setting::Backlog {
        neighbour: NodeId(3),
        destination: NodeId(destination),
        packets,
    };
    assert_eq!(host.learns(&bytes), [of(5, 17), of(9, 0)]);
    bytes[0] = 0x11;
    assert_eq!(host.learns(&bytes), [], "no message of sizes");
}

/// 40 packets at a next hop with 40: as overheard, at most D, until it expires.
#[test]
fn a_setting_is_a_size_that_was_heard() {
    let mut node = Node::unheld(&BROADCAST);
    node.store(5, 2, 40);
    let level = |node: &mut Node| node.peek().unwrap().priority.0;
    assert_eq!(level(&mut node), 4);
    let setting = |packets| Setting::Backlog { neighbour: NodeId(2), destination: NodeId(5), packets };
    node.queue.apply(setting(20), node.now);
    assert_eq!(level(&mut node), 2);
    node.queue.apply(setting(1_000_000), node.now);
    assert_eq!(node.serves(), Some((5, 0)));
    assert_eq!(node.gauge("differential"), -60.0);
    node.after(Span::from_secs(1));
    assert_eq!(level(&mut node), 4);
}

#[test]
fn a_queue_says_its_sizes_by_destination() {
    let mut node = Node::unheld(&BROADCAST);
    node.store(9, 2, 3);
    node.store(5, 2, 2);
    node.store_plain(4);
    assert_eq!(node.enqueue(labelled(90, 9, 4)), Enqueued::Stored);
    let mut sizes = vec![];
    node.queue.backlogs(&mut |destination, packets| sizes.push((destination.0, packets)));
    assert_eq!(sizes, [(5, 2), (9, 4)]);
}

/// Only the parts that read sizes of neighbours have them sent, and only at radios.
#[test]
fn who_broadcasts() {
    let radio = Interface::radio(50);
    let agents = |name| build(name, &BROADCAST).agent(&radio).is_some();
    assert_eq!(
        ["diffq", "diffq-rc-sched", "diffq-rc", "diffq-occupancy"].map(agents),
        [true, true, false, false]
    );
    let scheme: Box<dyn Scheme> = build("diffq", &BROADCAST);
    assert!(scheme.agent(&Interface { medium: Medium::Wire, ..radio }).is_none());
    assert!(build("diffq", &[]).agent(&radio).is_none());
    let wants = |scheme: &dyn Scheme| {
        let wants = scheme.wants(&radio);
        (wants.has(Capability::HeardHeaders), wants.samples(), wants.has(Capability::Backlogs))
    };
    assert_eq!(wants(&*scheme), (false, Span::from_millis(30), true));
    assert_eq!(wants(&*build("diffq", &[])), (true, Span::ZERO, false));
}
