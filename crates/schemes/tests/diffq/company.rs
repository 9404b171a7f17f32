//! A source that is alone on the air: what its queue notes of others, and what it may send, with rates computed by hand.

use airfair_schemes::ParamValue::{self, Span as Length};
use airfair_schemes::places::{
    Allowance, Context, FlowId, FlowSetup, Header, Heard, Interface, Medium, NodeId, Packet, PacketClass,
    Sent, Source, SourceContext, SourceEffects, Timer, Waiting,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

use super::{Node, build, labelled};

const SET: [(&str, ParamValue); 1] = [("company", Length(Span::from_secs(1)))];

/// A node hears a frame of this flow: data, or an acknowledgement.
fn hears(node: &mut Node, flow: u32, is_ack: bool) -> Option<Time> {
    let header = Header { supported: 1, unsupported: 0, fields: [u32::from(is_ack) << 16, flow, 0, 0] };
    let heard = Heard { from: NodeId(2), destination: NodeId(5), header: &header };
    node.queue.on_heard(&heard, node.now);
    node.queue.others()
}

fn stores(node: &mut Node, packet: Packet) -> Option<Time> {
    node.enqueue(packet);
    node.queue.others()
}

/// Packets that are heard or passed on count unless their flow begins at the node; acknowledgements that the node sends do not.
#[test]
fn a_queue_notes_packets_of_other_nodes() {
    let mut node = Node::new("diffq", &SET);
    let own = Packet { own: true, ..labelled(1, 5, 2) };
    assert_eq!(stores(&mut node, own), None);
    assert_eq!(hears(&mut node, 7, false), None, "the next hop passes the node's own data on");
    assert_eq!(hears(&mut node, 7, true), None, "its acknowledgements come back");
    let answer = Packet { class: PacketClass::Ack, flow: FlowId(8), ..own };
    assert_eq!(stores(&mut node, answer), None);
    for is_ack in [false, true] {
        assert_eq!(hears(&mut node, 8, is_ack), Some(node.now));
        node.after(Span::from_millis(3));
    }
    assert_eq!(stores(&mut node, Packet { flow: FlowId(9), ..labelled(3, 5, 2) }), Some(node.now));
    let mut unaware = Node::new("diffq", &[]);
    assert_eq!((hears(&mut unaware, 8, false), stores(&mut unaware, labelled(1, 5, 2))), (None, None));
}

/// A node remembers sixteen flows of its own: the seventeenth takes the place of the first.
#[test]
fn a_node_remembers_some_of_its_own_flows() {
    let mut node = Node::new("diffq", &SET);
    for flow in 100..117 {
        stores(&mut node, Packet { own: true, flow: FlowId(flow), ..labelled(flow, 5, 2) });
    }
    assert_eq!(hears(&mut node, 101, false), None);
    assert_eq!(hears(&mut node, 100, false), Some(node.now));
}

/// A flow over UDP with packets of 1000 B at a radio of 2 Mbit/s.
struct Flow {
    source: Box<dyn Source>,
    now: Time,
    random: Stream,
    out: SourceEffects,
}

impl Flow {
    fn new(set: &[(&str, ParamValue)]) -> Self {
        let source = build("diffq", set).udp().unwrap().source;
        let random = Stream::new(1, "flow", Purpose::Source);
        let mut flow = Self { source, now: Time(3_000_000_000), random, out: SourceEffects::default() };
        let setup = FlowSetup {
            mss: Bytes(1000),
            headers: Bytes(40),
            initial_window: Bytes(4000),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
        };
        flow.hook(|source, context| source.on_start(&setup, context));
        flow
    }

    fn hook(&mut self, hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>)) {
        let Self { source, now, random, out, .. } = self;
        hook(&mut **source, &mut Context { now: *now, random, out });
    }

    /// A packet leaves, and 10 ms later the step with 30 packets in the queue. Returns the new rate.
    fn step(&mut self, medium: Medium, others: Option<Time>) -> u64 {
        let sent = Sent { bytes: Bytes(1000), in_flight: Bytes(0), retransmission: false };
        self.hook(|source, context| source.on_sent(&sent, context));
        self.now += Span::from_millis(10);
        let at = Some(Interface { medium, ..Interface::radio(50) });
        self.source.on_own_queue(&Waiting { all: 30, own: 30, at, others });
        self.hook(|source, context| source.on_timer(Timer(1), context));
        let Allowance { window, rate, .. } = self.source.allowance(self.now);
        assert_eq!(window, None);
        rate.unwrap().0
    }
}

/// Alone the source has the rate of its first hop, whatever its queue. 8000 bits in each 10 ms are 800 kbit/s, of which the mean has
/// 1 - 0.9^n after n steps: 216.8 after three. Once others are heard the fourth step, at 275.12, halves nothing but the rate that the
/// source has had, 216.8, since its queue is long; a second after that, it is alone again.
#[test]
fn a_source_that_is_alone_is_not_limited() {
    let mut flow = Flow::new(&SET);
    assert_eq!([0; 3].map(|_| flow.step(Medium::Radio, None)), [2_000_000; 3]);
    assert!(!flow.source.goes_by_own_queue());
    let noticed = flow.now;
    assert_eq!(flow.step(Medium::Radio, Some(noticed)), 108_400);
    assert!(flow.source.goes_by_own_queue());
    flow.now = noticed + Span::from_millis(980);
    assert!(flow.step(Medium::Radio, Some(noticed)) < 100_000, "990 ms after");
    assert_eq!(flow.step(Medium::Radio, Some(noticed)), 2_000_000, "1 s after");
}

/// At a wire, and with `company = "0 s"`, the law limits: 100 kbit/s is halved.
#[test]
fn a_source_at_a_wire_is_limited() {
    assert_eq!(Flow::new(&SET).step(Medium::Wire, None), 50_000);
    assert_eq!(Flow::new(&[]).step(Medium::Radio, None), 50_000);
}
