//! The capabilities of a network at an interface, and those that a scheme wants there.

use airfair_units::Span;

use super::Priority;

/// Declares the capabilities: the words by which a refusal names each, and its documentation.
macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $name:ident = $words:literal;)*) => {
        /// A capability that a network may have at an interface, beside the calls that every host makes. A host calls, counts and passes up
        /// no more than is wanted: the rest costs nothing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Capability {
            $($(#[doc = $doc])+ $name,)*
        }

        impl Capability {
            /// All capabilities.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The capability in the words of an error.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }

            /// The name, as documentation has it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// The documentation.
            #[must_use]
            pub const fn doc(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($doc),+),)*
                }
            }
        }
    };
}

capabilities! {
    /// Samples of the interface for the agent (`Agent::on_sample`), at equal intervals: failed attempts, packets that it has passed on, the
    /// queue. The other parts of a sample are capabilities of their own.
    Samples = "samples of counters";
    /// The times in samples in which the radio sends, receives, senses a busy carrier and is idle (`NodeSample::airtime`), and the time of
    /// frames for the node itself (`NodeSample::receive_own`).
    Airtime = "times of the radio's states";
    /// The time in samples in which the medium is physically idle and reserved by the NAV.
    NavTime = "times reserved by the NAV";
    /// The number of flows in samples whose route passes the node, that have sent packets, and of which no packet has arrived there yet.
    SetUp = "flows that are being set up";
    /// The packets and bytes of flows in samples that the radio has sent and received, from and to all neighbours together
    /// (`NodeSample::link`).
    LinkUse = "packets and bytes of the whole radio";
    /// The times in samples for which the packets that the radio has sent waited in the queue, and were at the head of the MAC, summed
    /// over all neighbours (`LinkUse::delay`, `LinkUse::access`).
    LinkTimes = "times of packets in the queue and at the radio";
    /// The packets of each neighbour (waiting, acknowledged, given up, attempts) and of each flow in samples (`NodeSample::links`,
    /// `NodeSample::flows`).
    Links = "packets by neighbour and by flow";
    /// The nodes that the interface's frames reach (`AgentSetup::neighbours`); after a movement those that can lock on to them
    /// (`Agent::on_neighbours`).
    Neighbours = "nodes that its frames reach";
    /// The time that the radio needs for a packet while no other station sends, all of it: waiting and mean back-off, RTS and CTS where
    /// they precede, data frame, ACK (`AgentSetup::exchange`). It bounds the rate of a link.
    Exchange = "the time for a packet while no other station sends";
    /// Messages for other nodes (`Agent::on_message` with `to_me` false).
    Overheard = "overheard messages";
    /// The rate and the power of a message (`Message::transmit`).
    TransmitChoice = "rates and powers of messages";
    /// Packets that came in through the interface, to keep or to pass on (`Aqm::on_receive`, `Hop::on_receive`).
    Received = "received packets";
    /// Headers in frames that the interface receives or overhears: those of its queue's kind for the queue (`LabelledQueue::on_heard`),
    /// those of the kind that its agent names (`Agent::hears`) for the agent (`Agent::on_header`). Every station that can decode a data
    /// frame then handles it.
    HeardHeaders = "headers of overheard packets";
    /// Ends of transmissions of packets that have left the queue (`LabelledQueue::on_finished`), by which the queue limits how many of them
    /// the radio holds. A radio with access categories (EDCA) then has one such queue for all categories, and not one for each.
    Finished = "ends of transmissions";
    /// Packets that the link has finished, with the times for which they were the MAC's first (`Hop::on_finished`).
    AccessTimes = "times of access to the medium";
    /// Changes of routes (`LabelledQueue::on_routes`). The host then drops no packet because its next hop has changed since it was stored.
    Routes = "changes of routes";
    /// Sizes of the queue by destination for the agent, at each sample (`Agent::on_backlogs`). A radio with access categories (EDCA) then
    /// has one queue for all categories, and not one for each.
    Backlogs = "sizes of queues by destination";
    /// Departures from the queue, each at its time (`Hop::on_departure`). A host may compute departures ahead where they are not wanted.
    Departures = "departures at their times";
    /// A queue that the law of a source reads and fills (DiffQ): flows of the node are not limited to a part of it.
    OwnQueue = "a queue that a source's law can read and fill";
    /// The node has one radio: the agent of that radio speaks in the name of the node.
    LoneRadio = "the only radio of its node";
    /// Delivery ratios between all nodes (`Forwarder::on_delivery_ratios`), which no node could know so exactly.
    DeliveryRatios = "delivery ratios between all nodes";
    /// Flows that use ECN. The scheme marks packets and drops none: a packet of a flow without ECN passes as it is, and where no flow uses
    /// ECN the scheme has no effect.
    Ecn = "flows that use ECN";
    /// The use of the interface by each flow, to which the AQM adds every packet, for probabilities that differ by flow.
    FlowUse = "probabilities by flow";
    /// ECN-Echo, which the AQM sets in acknowledgements (`Verdict::Echo`).
    Echo = "ECN-Echo set in acknowledgements";
    /// As many priorities of packets as the queue gives (`Head::priority`).
    Priorities = "priorities of packets";
}

/// A set of capabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CapabilitySet(u32);

impl CapabilitySet {
    /// The set of these capabilities.
    #[must_use]
    pub const fn of(capabilities: &[Capability]) -> Self {
        let mut set = 0;
        let mut at = 0;
        while at < capabilities.len() {
            set |= 1 << capabilities[at] as u32;
            at += 1;
        }
        Self(set)
    }

    /// True if a capability is in it.
    #[must_use]
    #[inline]
    pub const fn has(self, capability: Capability) -> bool {
        self.0 >> capability as u32 & 1 != 0
    }

    /// The capabilities of both.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that the other has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The capabilities, in the order of their declaration.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL.iter().copied().filter(move |&capability| self.has(capability))
    }
}

/// The capabilities that a scheme wants at an interface. A host that lacks one refuses the scheme before the run starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wants {
    set: CapabilitySet,
    /// Those of them for which an estimate does not do.
    exact: CapabilitySet,
    samples: Span,
    priority: Priority,
}

impl Wants {
    /// These capabilities.
    #[must_use]
    pub const fn of(capabilities: &[Capability]) -> Self {
        Self::NONE.and(capabilities)
    }

    /// No capability.
    pub const NONE: Self =
        Self { set: CapabilitySet(0), exact: CapabilitySet(0), samples: Span::ZERO, priority: Priority(0) };

    /// These capabilities, too.
    #[must_use]
    pub const fn and(self, capabilities: &[Capability]) -> Self {
        Self { set: self.set.union(CapabilitySet::of(capabilities)), ..self }
    }

    /// This capability, too, where `wanted` is true.
    #[must_use]
    pub const fn and_if(self, wanted: bool, capability: Capability) -> Self {
        if wanted { self.and(&[capability]) } else { self }
    }

    /// This capability, too, of which an estimate does not do, where `wanted` is true.
    #[must_use]
    pub const fn and_exactly_if(self, wanted: bool, capability: Capability) -> Self {
        let exact = if wanted { CapabilitySet::of(&[capability]) } else { CapabilitySet(0) };
        Self { set: self.set.union(exact), exact: self.exact.union(exact), ..self }
    }

    /// Samples with this interval; none if it is zero.
    #[must_use]
    pub const fn samples_every(self, interval: Span) -> Self {
        Self { samples: interval, ..self.and_if(interval.0 > 0, Capability::Samples) }
    }

    /// Priorities up to this one, the highest that the queue gives.
    #[must_use]
    pub const fn priorities_to(self, highest: Priority) -> Self {
        Self { priority: highest, ..self.and_if(highest.0 > 0, Capability::Priorities) }
    }

    /// These and those of another scheme at the same interface. Of two intervals of samples the shorter one holds, of two priorities the
    /// higher one.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let samples = match (self.samples.0, other.samples.0) {
            (0, one) | (one, 0) => Span(one),
            (one, another) => Span(one.min(another)),
        };
        let (set, exact) = (self.set.union(other.set), self.exact.union(other.exact));
        Self { set, exact, samples, priority: self.priority.max(other.priority) }
    }

    /// True if a capability is wanted.
    #[must_use]
    #[inline]
    pub const fn has(&self, capability: Capability) -> bool {
        self.set.has(capability)
    }

    /// The capabilities that are wanted.
    #[must_use]
    pub const fn set(&self) -> CapabilitySet {
        self.set
    }

    /// Those of them for which an estimate does not do.
    #[must_use]
    pub const fn exact(&self) -> CapabilitySet {
        self.exact
    }

    /// Interval of the samples; zero: none.
    #[must_use]
    pub const fn samples(&self) -> Span {
        self.samples
    }

    /// The highest priority.
    #[must_use]
    pub const fn priority(&self) -> Priority {
        self.priority
    }
}
