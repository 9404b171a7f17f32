//! The keys of `[[flow]]`, of its `traffic`, and of `[flows]`.

use airfair_units::{Bytes, Rate, Span};

use crate::declare::choice::Sizes;
use crate::declare::field::{End, LONGEST, Or};
use crate::declare::name::Name;
use crate::declare::table::{table, variants};
use crate::keys::categories::Dscp;
use crate::keys::file_traffic::{ArrivalsTable, FileTable, FtpTable, ListTable, WebTable};
use crate::keys::scheme_name::LawName;
use crate::keys::tcp::FlowTcp;
use crate::keys::transport::TransportChoice;
use crate::text::location::Locations;

/// Payload sizes that UDP can carry in a packet.
const PACKETS: std::ops::RangeInclusive<Bytes> = Bytes(1)..=Bytes(65_507);
const RATES: std::ops::RangeInclusive<Rate> = Rate(1)..=Rate(1_000_000_000_000);
const USUAL_PACKET: Bytes = Bytes(1460);
const USUAL_JITTER: &str =
    "one gap between packets for constant traffic, \"0.1 s\" for TCP with ftp or saturating, else \"0 s\"";

table! {
    /// A flow from one node to another.
    struct FlowTable {
        /// The name of the flow, unique among flows.
        id: Name = required;
        /// Source node.
        from: Name = required;
        /// Destination node.
        to: Name = required;
        /// Transport protocol: UDP, alone or with a scheme's source, or TCP with a window law. Plain "tcp" is "tcp-newreno". A run
        /// whose scheme has a source for the protocol replaces the law.
        transport: TransportChoice = computed("\"udp\"");
        /// The scheme whose source this flow uses, whatever law `transport` names and the run's scheme are. "none", over UDP: no law, so
        /// that a run's scheme with a source for UDP (DiffQ, TFRC) leaves the flow as it is.
        scheme: LawName = computed("the run's scheme, or the law that transport names");
        /// The rules of TCP for this flow, where they are not those of `[tcp]`: a table of the same keys. TCP only.
        tcp: FlowTcp = computed("those of [tcp]");
        /// Start of the flow. `traffic` may have this key too, as well as `start_jitter` and `stop`.
        start: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// A uniform random delay of up to this is added to the start.
        start_jitter: Span = computed(USUAL_JITTER), in Span::ZERO..=LONGEST;
        /// End of the flow.
        stop: Or<End, Span> = default(Or::NONE);
        /// Differentiated services code point of its packets, acknowledgements included: a name such as "EF", or 0 to 63. Access
        /// categories of a radio depend on it.
        dscp: Dscp = default(Dscp(0));
        /// Traffic of the source.
        traffic: TrafficTable = required;
    }
}

variants! {
    /// Flows that are drawn instead of written.
    enum FlowsTable by kind {
        "random" => Random(RandomFlowsTable),
    }
}

table! {
    /// Flows between pairs of nodes drawn without repetition.
    struct RandomFlowsTable {
        /// Number of flows.
        count: u32 = required, in 1..=u32::MAX;
        /// Seed of the draw: the flows are the same in every run, whatever the run's own seed is.
        seed: u64 = default(1);
        /// Prefix of the flows' names, before a number from 0.
        prefix: String = default("flow-".to_string());
        /// Transport protocol: UDP, alone or with a scheme's source, or TCP with a window law. Plain "tcp" is "tcp-newreno". A run
        /// whose scheme has a source for the protocol replaces the law.
        transport: TransportChoice = computed("\"udp\"");
        /// The scheme whose source these flows use, whatever law `transport` names and the run's scheme are; "none" as for a flow.
        scheme: LawName = computed("the run's scheme, or the law that transport names");
        /// The rules of TCP for these flows, where they are not those of `[tcp]`: a table of the same keys. TCP only.
        tcp: FlowTcp = computed("those of [tcp]");
        /// Start of the flows.
        start: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// A uniform random delay of up to this is added to each start.
        start_jitter: Span = computed(USUAL_JITTER), in Span::ZERO..=LONGEST;
        /// End of the flows.
        stop: Or<End, Span> = default(Or::NONE);
        /// Differentiated services code point of their packets, acknowledgements included: a name such as "EF", or 0 to 63. Access
        /// categories of a radio depend on it.
        dscp: Dscp = default(Dscp(0));
        /// Traffic of each source.
        traffic: TrafficTable = required;
    }
}

variants! {
    /// Traffic of a source.
    enum TrafficTable by kind {
        "constant" => Constant(ConstantTable),
        "poisson" => Poisson(PoissonTable),
        "saturating" => Saturating(SaturatingTable),
        "ftp" => Ftp(FtpTable),
        "file" => File(FileTable),
        "web" => Web(WebTable),
        "arrivals" => Arrivals(ArrivalsTable),
        "list" => List(ListTable),
    }
}

table! {
    /// Packets at a constant rate.
    struct ConstantTable {
        /// Payload rate.
        rate: Rate = required, in RATES;
        /// Payload of a packet.
        packet: Bytes = default(USUAL_PACKET), in PACKETS;
        /// Share of the gap between packets that is random: 0 is strictly periodic.
        gap_jitter: f64 = default(0.0), in 0.0..=1.0;
    }
}

table! {
    /// Packets with exponential gaps.
    struct PoissonTable {
        /// Mean payload rate.
        rate: Rate = required, in RATES;
        /// Mean payload of a packet.
        packet: Bytes = default(USUAL_PACKET), in PACKETS;
        /// Sizes of packets: all the same, or exponential with that mean.
        sizes: Sizes = default(Sizes::Fixed);
    }
}

table! {
    /// A source that always has a packet to send.
    struct SaturatingTable {
        /// Payload of a packet.
        packet: Bytes = default(USUAL_PACKET), in PACKETS;
    }
}

impl RandomFlowsTable {
    /// A flow with the keys that all flows of the rule share; its name and ends are empty.
    pub fn flow(self) -> FlowTable {
        let none = || Name(String::new());
        FlowTable {
            locations: self.locations,
            id: none(),
            from: none(),
            to: none(),
            transport: self.transport,
            scheme: self.scheme,
            tcp: self.tcp,
            start: self.start,
            start_jitter: self.start_jitter,
            stop: self.stop,
            dscp: self.dscp,
            traffic: self.traffic,
        }
    }
}

impl TrafficTable {
    /// Where its keys were written.
    pub fn locations(&self) -> &Locations {
        match self {
            Self::Constant(t) => &t.locations,
            Self::Poisson(t) => &t.locations,
            Self::Saturating(t) => &t.locations,
            Self::Ftp(t) => &t.locations,
            Self::File(t) => &t.locations,
            Self::Web(t) => &t.locations,
            Self::Arrivals(t) => &t.locations,
            Self::List(t) => &t.locations,
        }
    }

    /// The kind of the traffic, if only TCP carries this kind.
    pub fn only_tcp(&self, transport: TransportChoice) -> Option<&'static str> {
        match self {
            Self::Constant(_) | Self::Poisson(_) | Self::Saturating(_) => None,
            Self::Ftp(_) if matches!(transport, TransportChoice::Rate(_)) => None,
            Self::Ftp(_) => Some("ftp"),
            Self::File(_) => Some("file"),
            Self::Web(_) => Some("web"),
            Self::Arrivals(_) => Some("arrivals"),
            Self::List(_) => Some("list"),
        }
    }
}
