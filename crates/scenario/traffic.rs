//! `[[flow]]`, its `traffic`, and `[flows]`.

use airfair_sim::spec::Traffic;
use airfair_units::{Bytes, Rate, Span};

use crate::choice::{Sizes, Transport};
use crate::field::{End, Or};
use crate::name::Name;
use crate::radio::LONGEST;
use crate::table::{table, variants};

/// A packet of the sizes that UDP can carry.
const PACKETS: std::ops::RangeInclusive<Bytes> = Bytes(1)..=Bytes(65_507);
const RATES: std::ops::RangeInclusive<Rate> = Rate(1)..=Rate(1_000_000_000_000);
const USUAL_PACKET: Bytes = Bytes(1460);

table! {
    /// A flow from one node to another.
    struct FlowTable {
        /// Its name, unique among flows.
        id: Name = required;
        /// Source node.
        from: Name = required;
        /// Destination node.
        to: Name = required;
        /// What carries it.
        transport: Transport = default(Transport::Udp);
        /// The scheme that controls this flow, where it is not the run's.
        scheme: String = computed("the run's scheme");
        /// When it starts. May stand in `traffic` too, as may `start_jitter` and `stop`.
        start: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// A uniform random delay of up to this is added to the start.
        start_jitter: Span = computed("one gap between packets for constant traffic, else 0 s"), in Span::ZERO..=LONGEST;
        /// When it stops.
        stop: Or<End, Span> = default(Or::NONE);
        /// What the source sends.
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
        /// How many.
        count: u32 = required, in 1..=u32::MAX;
        /// Seed of the drawing: the flows are the same in every run, whatever the run's own seed is.
        seed: u64 = default(1);
        /// The flows are named by this and a number from 0.
        prefix: String = default("flow-".to_string());
        /// What carries them.
        transport: Transport = default(Transport::Udp);
        /// The scheme that controls them, where it is not the run's.
        scheme: String = computed("the run's scheme");
        /// When they start.
        start: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// A uniform random delay of up to this is added to each start.
        start_jitter: Span = computed("one gap between packets for constant traffic, else 0 s"), in Span::ZERO..=LONGEST;
        /// When they stop.
        stop: Or<End, Span> = default(Or::NONE);
        /// What each source sends.
        traffic: TrafficTable = required;
    }
}

variants! {
    /// What a source sends.
    enum TrafficTable by kind {
        "constant" => Constant(ConstantTable),
        "poisson" => Poisson(PoissonTable),
        "saturating" => Saturating(SaturatingTable),
    }
}

table! {
    /// A packet at a constant rate.
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
        /// Whether packets have all the same size, or exponential sizes with that mean.
        sizes: Sizes = default(Sizes::Fixed);
    }
}

table! {
    /// A source that is never without a packet.
    struct SaturatingTable {
        /// Payload of a packet.
        packet: Bytes = default(USUAL_PACKET), in PACKETS;
    }
}

impl TrafficTable {
    /// The model.
    pub fn resolve(&self) -> Traffic {
        match self {
            Self::Constant(t) => {
                Traffic::ConstantRate { rate: t.rate, packet: t.packet, gap_jitter: t.gap_jitter }
            }
            Self::Poisson(t) => Traffic::Poisson {
                rate: t.rate,
                packet: t.packet,
                exponential_sizes: t.sizes == Sizes::Exponential,
            },
            Self::Saturating(t) => Traffic::Saturating { packet: t.packet },
        }
    }

    /// The start jitter where none is written: periodic sources that start together would stay in step for ever.
    pub fn usual_jitter(&self) -> Span {
        match self {
            Self::Constant(t) => t.rate.time_for(t.packet).min(LONGEST),
            Self::Poisson(_) | Self::Saturating(_) => Span::ZERO,
        }
    }
}
