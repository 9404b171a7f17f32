//! An agent: code beside a radio interface of a node that observes its counters and exchanges messages with neighbours.

use alloc::vec::Vec;

use airfair_units::{Bytes, Db, Rate, Span};

use super::{AgentContext, FlowId, Forwarder, HeaderKind, Heard, NodeId, QueueView, Timer};

/// Time in each of the five radio states. At one instant the first of these that holds counts: transmit, receive
/// (a decodable frame for any station, until its end), carrier busy, NAV, idle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Time of transmission.
    pub transmit: Span,
    /// Time of reception of decodable frames.
    pub receive: Span,
    /// Time with energy above the threshold and no decodable frame.
    pub busy: Span,
    /// Time in which the medium is physically idle and reserved by NAV.
    pub nav: Span,
    /// Idle time.
    pub idle: Span,
}

impl Airtime {
    /// Time in all states.
    #[must_use]
    pub const fn sum(&self) -> Span {
        let Self { transmit, receive, busy, nav, idle } = *self;
        let physical = transmit.0.saturating_add(receive.0).saturating_add(busy.0);
        Span(physical.saturating_add(nav.0).saturating_add(idle.0))
    }

    /// Takes a time from the longest state.
    pub fn shorten_longest(&mut self, time: Span) {
        if let Some(longest) = self.states().into_iter().max_by_key(|state| state.0) {
            longest.0 = longest.0.saturating_sub(time.0);
        }
    }

    fn states(&mut self) -> [&mut Span; 5] {
        [&mut self.transmit, &mut self.receive, &mut self.busy, &mut self.nav, &mut self.idle]
    }
}

/// The difference to an earlier count. The earlier count may have assigned a time to another state than is known by now (a carrier
/// that turned out to be a frame): the largest state is then shortened by that time, so that the sum is the time between the counts.
impl core::ops::Sub for Airtime {
    type Output = Self;

    fn sub(mut self, mut earlier: Self) -> Self {
        let mut moved = 0_u64;
        for (state, earlier) in self.states().into_iter().zip(earlier.states()) {
            moved = moved.saturating_add(earlier.0.saturating_sub(state.0));
            state.0 = state.0.saturating_sub(earlier.0);
        }
        if moved > 0 {
            self.shorten_longest(Span(moved));
        }
        self
    }
}

/// The time that a radio needs for each packet of a saturated link, alone on the air: mean back-off and the wait before it, RTS and CTS
/// where they precede, data frame, ACK. Frames whose lengths are rounded (OFDM) take up to a symbol more or less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoneExchange {
    /// The part that all packets need.
    pub fixed: Span,
    /// The time that RTS and CTS add.
    pub rts: Span,
    /// Size of an IP packet above which they precede, bytes.
    pub rts_above: u32,
    /// Rate of the packet's bits.
    pub rate: Rate,
}

impl LoneExchange {
    /// The time for an IP packet of this size.
    #[must_use]
    pub fn time(&self, bytes: u32) -> Span {
        let rts = if bytes > self.rts_above { self.rts } else { Span::ZERO };
        self.fixed + rts + self.rate.time_for(Bytes(bytes.into()))
    }

    /// Bits of IP packets of this size by that time; 0 if it is not known.
    #[must_use]
    pub fn goodput(&self, bytes: u32) -> Rate {
        let nanos = u128::from(self.time(bytes).as_nanos());
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        Rate(u64::try_from(bits.checked_div(nanos).unwrap_or(0)).unwrap_or(u64::MAX))
    }
}

/// The setup of an agent when its interface starts.
#[derive(Debug, Clone, Copy)]
pub struct AgentSetup<'a> {
    /// The node of the interface.
    pub node: NodeId,
    /// The nominal rate of the radio's data frames. A link's own rate, where it has one, comes by [`Agent::on_link_rate`].
    pub rate: Rate,
    /// The exchange of a lone link of the radio at the nominal rate.
    pub exchange: LoneExchange,
    /// Nodes at which at least a tenth of its short data frames arrives on a silent air, in the natural order of their names ("n2" before
    /// "n10").
    pub neighbours: &'a [NodeId],
    /// Power above its own with which short broadcasts at its lowest rate are received as far as its signal is sensed, by radios like it on
    /// a silent air: by what is known of the radio. None where that is not known, or no power is enough.
    pub sense_margin: Option<Db>,
}

/// An interface's counters since its last sample.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeSample<'a> {
    /// Length of the interval: the five states add up to it.
    pub interval: Span,
    /// Times in the radio states; idle throughout where the host has no [`Airtime`](super::Capability::Airtime).
    pub airtime: Airtime,
    /// Part of `receive` spent on frames for this node; broadcasts are not counted.
    pub receive_own: Span,
    /// Failed attempts: missing CTS or ACK.
    pub retries: u32,
    /// Packets of flows, acknowledgements included, that left its queue or that it received for itself or to pass on.
    pub traffic: u32,
    /// Flows that are being set up: their static route passes the node, they have sent something, and none of it has arrived.
    pub set_up: u32,
    /// The queue of the interface.
    pub queue: QueueView,
    /// The use of its link; zero unless [wanted](super::Capability::LinkUse).
    pub link: LinkUse,
    /// The time that `links` and `flows` cover: since the last sample, so longer than the interval after counters that could not be right.
    pub counted: Span,
    /// The links over which it has sent so far, in the order of the neighbours' numbers; empty unless [wanted](super::Capability::Links).
    pub links: &'a [LinkSample],
    /// The flows whose data have arrived at its queue, in the order of their numbers; empty unless [wanted](super::Capability::Links).
    pub flows: &'a [FlowSample],
    /// The flows whose acknowledgements have arrived at its queue, in the order of their numbers; empty unless
    /// [wanted](super::Capability::Links).
    pub answers: &'a [AnswerSample],
}

impl NodeSample<'_> {
    /// The part of the interval in which others send to others: frames for other stations, carriers that cannot be decoded, reservations.
    /// At an access point without neighbours on its channel it is next to nothing: all frames of a cell are from it or for it.
    #[must_use]
    pub fn foreign(&self) -> f64 {
        let Airtime { receive, busy, nav, .. } = self.airtime;
        let others =
            receive.0.saturating_sub(self.receive_own.0).saturating_add(busy.0).saturating_add(nav.0);
        others as f64 / self.interval.0.max(1) as f64
    }
}

/// A radio link to a neighbour since the last sample: packets of flows, acknowledgements and reports included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkSample {
    /// The neighbour.
    pub neighbour: NodeId,
    /// Packets that wait for this next hop now; those that the MAC holds are not among them.
    pub waiting: u32,
    /// Packets that have arrived at the queue for this next hop, dropped ones included.
    pub arrived: u32,
    /// Packets that the neighbour has acknowledged.
    pub sent: u32,
    /// Transmissions of data frames of the packets that were acknowledged or given up; an RTS without a CTS is none.
    pub attempts: u32,
    /// Packets that the MAC has given up.
    pub given_up: u32,
    /// Bytes of the packets acknowledged, as IP packets.
    pub bytes: u64,
}

impl LinkSample {
    /// A link to this neighbour that was not used.
    #[must_use]
    pub const fn new(neighbour: NodeId) -> Self {
        Self { neighbour, waiting: 0, arrived: 0, sent: 0, attempts: 0, given_up: 0, bytes: 0 }
    }
}

/// The data packets of a flow that have arrived at the queue for a link since the last sample, dropped ones included. A flow whose next hop
/// changes has a sample for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSample {
    /// The flow; each connection of a flow that sends files has a number of its own.
    pub flow: FlowId,
    /// The source of the flow.
    pub from: NodeId,
    /// The destination of the flow.
    pub to: NodeId,
    /// The next hop.
    pub neighbour: NodeId,
    /// Packets.
    pub packets: u32,
    /// Their bytes, as IP packets.
    pub bytes: u64,
    /// The rate at which its source sends, if the interface's hop [knows](super::Hop::stated_rate).
    pub stated: Option<Rate>,
}

/// The transport's acknowledgements of a flow that have arrived at the queue for a link since the last sample, dropped ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerSample {
    /// The flow whose data they acknowledge.
    pub flow: FlowId,
    /// The next hop.
    pub neighbour: NodeId,
    /// Packets.
    pub packets: u32,
    /// Their bytes, as IP packets.
    pub bytes: u64,
}

/// Packets of flows, acknowledgements included, that a radio interface has sent and received; sizes are those of IP packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinkUse {
    /// Sent and acknowledged by the next hop's MAC.
    pub sent_packets: u64,
    /// Bytes of the packets sent.
    pub sent_bytes: u64,
    /// Received, to keep or to pass on.
    pub received_packets: u64,
    /// Bytes of the packets received.
    pub received_bytes: u64,
    /// Sum over the packets sent of the time from their arrival in the queue to the MAC's acknowledgement.
    pub delay: Span,
    /// The part of `delay` that they spent as the MAC's first packet: contention, attempts, acknowledgement.
    pub access: Span,
}

airfair_units::fieldwise!(Sub::sub for LinkUse {
    sent_packets, sent_bytes, received_packets, received_bytes, delay, access
});

/// The share of a flow at a node, as packets are stamped with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowShare {
    /// The next hop of the link.
    pub to: NodeId,
    /// The share.
    pub rate: Rate,
    /// The factor of the node's own that is in it; 1: none.
    pub scale: f64,
    /// True if it is a part of a controller's allocation; none where the scheme has no controllers.
    pub allocated: Option<bool>,
}

/// The share of all flows of a link of the time of the air, and what of it is lent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkShare {
    /// The rate at which the link may send, in packets of its mean size.
    pub rate: Rate,
    /// The factor in it for the sake of others; 1: none.
    pub scale: f64,
    /// The link's part of the time.
    pub share: f64,
    /// The part that it would have if no link around it lent any.
    pub own: f64,
    /// The part that it uses.
    pub used: f64,
    /// True if it lends what it does not use.
    pub lends: bool,
}

/// An agent: beside a radio interface of a node (NRED, LBM, C3L's node part, topology discovery). Its messages are sent on the channel of
/// the interface.
pub trait Agent: Send {
    /// The interface starts. The first sample ends within one interval from now, at a moment drawn at random, so that no two agents
    /// are synchronised.
    fn on_start(&mut self, setup: &AgentSetup<'_>, context: &mut AgentContext<'_>);

    /// Movement has changed the nodes that can lock on to its frames: the list of these, in the same order, replaces that of
    /// `on_start`.
    fn on_neighbours(&mut self, _neighbours: &[NodeId], _context: &mut AgentContext<'_>) {}

    /// The rate of frames to a neighbour is known, or has changed, because a law chooses it by what happens on the link: this exchange
    /// replaces the one of `on_start` for the neighbour, until the neighbour is no longer among those of `on_neighbours`. Never called
    /// where rates are fixed.
    fn on_link_rate(&mut self, _neighbour: NodeId, _exchange: LoneExchange, _context: &mut AgentContext<'_>) {
    }

    /// An interval of the counters has ended: the interval that was [wanted](super::Wants::samples).
    fn on_sample(&mut self, _sample: &NodeSample<'_>, _context: &mut AgentContext<'_>) {}

    /// Packets that wait in the interface's queue, by destination, ascending: at the end of each interval, before `on_sample`. Called only
    /// if [wanted](super::Capability::Backlogs).
    fn on_backlogs(&mut self, _sizes: &[(NodeId, u32)], _context: &mut AgentContext<'_>) {}

    /// A message arrived, or was overheard (`to_me` is false), which happens only if [wanted](super::Capability::Overheard).
    fn on_message(&mut self, _from: NodeId, _bytes: &[u8], _to_me: bool, _context: &mut AgentContext<'_>) {}

    /// The kind of header that the agent hears; `None`: it hears none. The same at each call.
    fn hears(&self) -> Option<&'static HeaderKind> {
        None
    }

    /// A frame with a header of the kind that the agent hears was received or overheard, which the frame's sender has written: its queue,
    /// or its hop as the packet passed. Called only if [`Capability::HeardHeaders`](super::Capability::HeardHeaders).
    fn on_header(&mut self, _heard: &Heard<'_>, _context: &mut AgentContext<'_>) {}

    /// A controller of the scheme has started at the agent's node (`here`), or has stopped there. An agent elsewhere learns of it by
    /// messages.
    fn on_controller(&mut self, _here: bool, _context: &mut AgentContext<'_>) {}

    /// A timer fired.
    fn on_timer(&mut self, _timer: Timer, _context: &mut AgentContext<'_>) {}

    /// The agent as a forwarder, if it is one: the same answer at each call.
    fn forwarder(&mut self) -> Option<&mut dyn Forwarder> {
        None
    }

    /// Inner values for time series, by name, such as a moving average: the same names in the same order at each call, and for every
    /// agent of the scheme that has any.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Entries of messages and tables looked at so far on behalf of others: a measure of its work that depends on no clock and no machine.
    fn work(&self) -> u64 {
        0
    }

    /// The share that a flow has here, for explanations.
    fn share(&self, _flow: FlowId) -> Option<FlowShare> {
        None
    }

    /// The share of the air that the link to a neighbour has, for explanations.
    fn link_share(&self, _neighbour: NodeId) -> Option<LinkShare> {
        None
    }
}
