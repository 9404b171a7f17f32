//! The keys of `[dsdv]`: the parameters of DSDV, and the switches for rules that its implementations read differently.

use airfair_routing::dsdv::DsdvConfig;
use airfair_units::Span;

use super::warn_of_unused;
use crate::declare::field::{Field, LONGEST};
use crate::declare::table::table;
use crate::text::error::Cx;
use crate::text::location::Path;

const TIMES: std::ops::RangeInclusive<Span> = Span(1_000_000)..=LONGEST;

table! {
    /// Parameters of `[routing]` with `protocol = "dsdv"` (Perkins and Bhagwat 1994). The defaults are the values and rules of ns-3;
    /// docs/dsdv.md has those of ns-2.
    struct DsdvTable {
        /// Time between full dumps of the table.
        period: Span = default(Span::from_secs(15)), in TIMES;
        /// A random part of this time is added to each period.
        period_jitter: Span = default(Span::from_millis(25)), in Span::ZERO..=LONGEST;
        /// The first full dump is sent at a random part of this time.
        start_jitter: Span = default(Span::from_secs(1)), in Span::ZERO..=LONGEST;
        /// A neighbour without an update for this many periods counts as lost, and all routes by it as broken.
        hold_periods: u32 = default(3), in 1..=1000;
        /// A route whose metric differs from the advertised one is withheld for this time; with weighted_settling, at first.
        settling_time: Span = default(Span::from_secs(5)), in Span::ZERO..=LONGEST;
        /// The settling time of a destination is twice its average time from the first route with a number to the best one.
        weighted_settling: bool = default(true);
        /// Weight of the past in that average.
        settling_weight: f64 = default(0.875), in 0.0..=1.0;
        /// Every new route settles, as in ns-2: to a new destination, or with only a new number, too.
        settle_all: bool = default(false);
        /// A route with a new number triggers an update, as in ns-3. If false, it waits for the next one, as in ns-2: only new
        /// destinations, shorter paths, and routes that broke or are restored trigger updates.
        trigger_on_new_number: bool = default(true);
        /// A node that hears of a broken route to which it knows a newer one sends an update, as in the paper and in ns-2.
        answer_broken: bool = default(false);
        /// Least time from an update to a triggered one; 1 s in ns-2.
        trigger_interval: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// A triggered update with more than this share of the table, and more than 3 routes, is a full dump instead. 1: never.
        full_dump_share: f64 = default(1.0), in 0.0..=1.0;
        /// A triggered update is sent after a random part of this time.
        update_jitter: Span = default(Span::from_millis(1)), in Span::ZERO..=LONGEST;
        /// A packet that the MAC drops after its last attempt breaks the link.
        link_layer_feedback: bool = default(false);
        /// In a table of more than 1,024 destinations, a route that has had no new number for this many periods breaks; after as many more
        /// it is forgotten.
        forget_periods: u32 = default(30), in 3..=1_000_000;
        /// Most destinations of each of a node's tables, and most neighbours; others are ignored.
        table_limit: u32 = default(65_536), in 1..=1_000_000;
        /// Most packets of a node that wait for a route to one destination; more are dropped, the oldest first.
        buffer_per_destination: u32 = default(5), in 1..=1_000_000;
        /// Most packets of a node that wait for routes; more are dropped, the oldest first.
        buffer_packets: u32 = default(500), in 1..=1_000_000;
        /// A packet that has waited this long for a route is dropped.
        buffer_time: Span = default(Span::from_secs(30)), in TIMES;
    }
}

impl DsdvTable {
    /// The parameters, checked together.
    pub fn config(&mut self, cx: &mut Cx<'_>) -> DsdvConfig {
        let config = DsdvConfig {
            period: self.period,
            period_jitter: self.period_jitter,
            start_jitter: self.start_jitter,
            hold_periods: self.hold_periods,
            settling_time: self.settling_time,
            weighted_settling: self.weighted_settling,
            settling_weight: self.settling_weight,
            settle_all: self.settle_all,
            trigger_on_new_number: self.trigger_on_new_number,
            answer_broken: self.answer_broken,
            trigger_interval: self.trigger_interval,
            full_dump_share: self.full_dump_share,
            update_jitter: self.update_jitter,
            link_layer_feedback: self.link_layer_feedback,
            forget_periods: self.forget_periods,
            table_limit: self.table_limit,
            buffer_per_destination: self.buffer_per_destination,
            buffer_packets: self.buffer_packets,
            buffer_time: self.buffer_time,
        };
        self.check(&config, cx);
        let weighted = self.settling_weight != DsdvConfig::default().settling_weight;
        let unused = [("settling_weight", !self.weighted_settling && weighted, "weighted_settling = false")];
        warn_of_unused("dsdv", &unused, cx);
        config
    }

    /// Refuses a hold time with which every neighbour would be lost between two of its full dumps, and settling that each new number
    /// would start again before it ends.
    fn check(&self, config: &DsdvConfig, cx: &mut Cx<'_>) {
        let longest = self.period.0.saturating_add(self.period_jitter.0);
        if config.hold_time().0 <= longest {
            cx.error(self.locations.of("hold_periods"), &Path::ROOT.child("dsdv").child("hold_periods"), || {
                format!(
                    "{}: a neighbour would be lost after {}; expected more than the longest time between two full dumps, {}",
                    self.hold_periods,
                    config.hold_time().write(),
                    Span(longest).write()
                )
            });
        }
        if self.settle_all && self.settling_time.0 >= longest {
            cx.error(self.locations.of("settling_time"), &Path::ROOT.child("dsdv").child("settling_time"), || {
                format!(
                    "{}: with settle_all each new number would withhold a route before it is settled; expected less than the longest time between two full dumps, {}",
                    self.settling_time.write(),
                    Span(longest).write()
                )
            });
        }
    }
}
