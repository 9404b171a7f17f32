//! The keys of `[olsr]`: the constants of RFC 3626 section 18 and our own, with the defaults and checks that depend on several.

use airfair_routing::SendRate;
use airfair_routing::olsr::{Advertised, Base, Hysteresis, Metric as PathMetric, OlsrConfig};
use airfair_units::{Bytes, Span};

use super::warn_of_unused;
use crate::declare::choice::Metric;
use crate::declare::field::{Field, LONGEST};
use crate::declare::table::table;
use crate::text::error::Cx;
use crate::text::location::Path;

/// Times that a byte of a message can state: 62.5 ms to 3968 s.
const STATED: std::ops::RangeInclusive<Span> = Span(62_500_000)..=Span::from_secs(3968);

table! {
    /// Parameters of `[routing]` with `protocol = "olsr"` (RFC 3626); the RFC has their names in capitals.
    struct OlsrTable {
        /// Time between HELLO messages.
        hello_interval: Span = default(Span::from_secs(2)), in STATED;
        /// Time between TC messages of a node.
        tc_interval: Span = default(Span::from_secs(5)), in STATED;
        /// How long what a HELLO states is valid (NEIGHB_HOLD_TIME).
        neighbour_hold: Span = computed("3 times hello_interval"), in STATED;
        /// How long what a TC states is valid (TOP_HOLD_TIME).
        topology_hold: Span = computed("3 times tc_interval"), in STATED;
        /// How long a flooded message is remembered, so that it is not forwarded twice (DUP_HOLD_TIME).
        duplicate_hold: Span = default(Span::from_secs(30)), in Span(1_000_000)..=LONGEST;
        /// Every message, own or forwarded, waits for a random part of this time; messages that wait together share a datagram.
        max_jitter: Span = computed("a quarter of hello_interval"), in Span::ZERO..=LONGEST;
        /// The timers of all nodes start at time 0, as in ns-3; otherwise each node's at a random time within the interval.
        synchronous_start: bool = default(false);
        /// Willingness of nodes to forward: from 0, never, to 7, always.
        willingness: u8 = default(3), in 0..=7;
        /// Links in TCs: 0 to the neighbours that have selected the node as relay, 1 also to its own relays, 2 to all neighbours.
        tc_redundancy: u8 = computed("0, with metric etx 2"), in 0..=2;
        /// Relays that a node selects for each node two hops away, as far as possible.
        mpr_coverage: u32 = computed("1, with metric etx 7"), in 1..=1000;
        /// A link is used only if most HELLOs arrive, and lost if few do (section 14).
        hysteresis: bool = default(false);
        /// Quality above which hysteresis accepts a link.
        hyst_threshold_high: f64 = default(0.8), in 0.0..=1.0;
        /// Quality below which hysteresis gives a link up.
        hyst_threshold_low: f64 = default(0.3), in 0.0..=1.0;
        /// Weight of the last HELLO in that quality.
        hyst_scaling: f64 = default(0.5), in 0.0..=1.0;
        /// A packet that the MAC drops after its last attempt breaks the link for neighbour_hold (section 13).
        link_layer_feedback: bool = default(false);
        /// Metric of paths: the number of hops, or the expected transmission count from the shares of HELLOs that arrive, which
        /// HELLO and TC then contain. A cable counts a tenth.
        metric: Metric = default(Metric::Hops);
        /// HELLOs from which metric etx computes the share that arrives.
        etx_window: u32 = default(10), in 1..=128;
        /// Rate of HELLOs on the air: the radio's broadcast_rate or its data_rate.
        probe_rate: SendRate = default(SendRate::Broadcast);
        /// Least size of a HELLO as an IP packet.
        probe_size: Bytes = default(Bytes(0)), in Bytes(0)..=Bytes(1500);
        /// Most entries of each of a node's tables, of which one other node fills an eighth at most, or 64; what finds no room is ignored,
        /// and counted (`refused`).
        table_limit: u32 = default(65_536), in 1..=1_000_000;
    }
}

/// Levels of `tc_redundancy`.
const REDUNDANCY: [Advertised; 3] = [Advertised::Selectors, Advertised::SelectorsAndRelays, Advertised::All];

impl OlsrTable {
    /// Fills in the defaults that depend on other keys.
    pub fn config(&mut self, cx: &mut Cx<'_>) -> OlsrConfig {
        let metric = match self.metric {
            Metric::Hops => PathMetric::Hops,
            Metric::Etx => PathMetric::Etx,
        };
        let rfc = OlsrConfig::from(Base {
            hello_interval: self.hello_interval,
            tc_interval: self.tc_interval,
            metric,
        });
        let redundancy = REDUNDANCY.iter().position(|&level| level == rfc.advertised).unwrap_or(0) as u8;
        let redundancy = *self.tc_redundancy.get_or_insert(redundancy);
        let (longest, hysteresis) = (*STATED.end(), self.hysteresis);
        let protocol = OlsrConfig {
            neighbour_hold: *self.neighbour_hold.get_or_insert(rfc.neighbour_hold.min(longest)),
            topology_hold: *self.topology_hold.get_or_insert(rfc.topology_hold.min(longest)),
            duplicate_hold: self.duplicate_hold,
            max_jitter: *self.max_jitter.get_or_insert(rfc.max_jitter),
            synchronous_start: self.synchronous_start,
            willingness: self.willingness,
            advertised: REDUNDANCY.get(usize::from(redundancy)).copied().unwrap_or(rfc.advertised),
            mpr_coverage: *self.mpr_coverage.get_or_insert(rfc.mpr_coverage),
            hysteresis: hysteresis.then_some(Hysteresis {
                high: self.hyst_threshold_high,
                low: self.hyst_threshold_low,
                scaling: self.hyst_scaling,
            }),
            link_layer_feedback: self.link_layer_feedback,
            etx_window: self.etx_window,
            probe_rate: self.probe_rate,
            probe_size: self.probe_size.0 as u32,
            table_limit: self.table_limit,
            ..rfc
        };
        self.check(&protocol, cx);
        self.warn_of_unused(cx);
        protocol
    }

    /// Warns of keys of a measurement that is switched off.
    fn warn_of_unused(&self, cx: &mut Cx<'_>) {
        let (rfc, usual) = (OlsrConfig::default(), Hysteresis::default());
        let (by_hops, steady) = (self.metric == Metric::Hops, !self.hysteresis);
        let unused = [
            ("etx_window", by_hops && self.etx_window != rfc.etx_window, "metric = \"hops\""),
            ("hyst_threshold_high", steady && self.hyst_threshold_high != usual.high, "hysteresis = false"),
            ("hyst_threshold_low", steady && self.hyst_threshold_low != usual.low, "hysteresis = false"),
            ("hyst_scaling", steady && self.hyst_scaling != usual.scaling, "hysteresis = false"),
        ];
        warn_of_unused("olsr", &unused, cx);
    }

    /// Refuses values with which links or routes would be lost without any loss of a message.
    fn check(&self, config: &OlsrConfig, cx: &mut Cx<'_>) {
        let path = Path::ROOT.child("olsr");
        let too_short = |key: &str, hold: Span, name: &str, interval: Span, cx: &mut Cx<'_>| {
            let least = Span(interval.0.saturating_add(config.max_jitter.0));
            if hold < least {
                cx.error(self.locations.of(key), &path.child(key), || {
                    let value = if self.locations.has(key) {
                        hold.write()
                    } else {
                        format!("the default {key}, {}", hold.write())
                    };
                    format!(
                        "{value}: what a message states would end before the next message; expected at least {name} and max_jitter, {}",
                        least.write()
                    )
                });
            }
        };
        too_short("neighbour_hold", config.neighbour_hold, "hello_interval", config.hello_interval, cx);
        too_short("topology_hold", config.topology_hold, "tc_interval", config.tc_interval, cx);
        if self.hyst_threshold_low > self.hyst_threshold_high {
            cx.error(self.locations.of("hyst_threshold_low"), &path.child("hyst_threshold_low"), || {
                format!(
                    "{}: links would be lost that are good enough to be accepted; expected at most hyst_threshold_high, {}",
                    self.hyst_threshold_low, self.hyst_threshold_high
                )
            });
        }
    }
}
