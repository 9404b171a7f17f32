//! Parameters of DSDV.

use airfair_units::Span;

/// All parameters of DSDV. The defaults are the values and rules of ns-3; docs/dsdv.md has those of ns-2 and of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DsdvConfig {
    /// Time between full dumps.
    pub period: Span,
    /// Largest random addition to `period`, drawn anew for each full dump.
    pub period_jitter: Span,
    /// Largest random time of the first full dump.
    pub start_jitter: Span,
    /// Number of periods without an update of a neighbour after which its link counts as broken.
    pub hold_periods: u32,
    /// Time for which a route with another metric than advertised is withheld; with `weighted_settling`, at first.
    pub settling_time: Span,
    /// True if the settling time is twice the average time from the first route with a number to the best one.
    pub weighted_settling: bool,
    /// Weight of the past in that average, 0 to 1.
    pub settling_weight: f64,
    /// True if every new route settles: to a new destination, or with only a new number, too.
    pub settle_all: bool,
    /// True if a route with a new number triggers an incremental update.
    pub trigger_on_new_number: bool,
    /// True if a node that hears of a broken route to which it knows a newer one sends an update.
    pub answer_broken: bool,
    /// Least time from an update to a triggered one.
    pub trigger_interval: Span,
    /// A triggered update with more than this share of the table, and more than three routes, is a full dump instead.
    pub full_dump_share: f64,
    /// Largest random delay of a triggered update.
    pub update_jitter: Span,
    /// True if a packet given up by the link layer breaks its link.
    pub link_layer_feedback: bool,
    /// In a table of more than 1,024 destinations: number of periods without a new number after which a route is broken, and after as many
    /// more forgotten.
    pub forget_periods: u32,
    /// Largest number of destinations, and of neighbours.
    pub table_limit: u32,
    /// Largest number of packets of the node that wait for a route to one destination.
    pub buffer_per_destination: u32,
    /// Largest number of packets of the node that wait for routes.
    pub buffer_packets: u32,
    /// Largest time for which a packet waits for a route.
    pub buffer_time: Span,
}

impl Default for DsdvConfig {
    fn default() -> Self {
        Self {
            period: Span::from_secs(15),
            period_jitter: Span::from_millis(25),
            start_jitter: Span::from_secs(1),
            hold_periods: 3,
            settling_time: Span::from_secs(5),
            weighted_settling: true,
            settling_weight: 0.875,
            settle_all: false,
            trigger_on_new_number: true,
            answer_broken: false,
            trigger_interval: Span::ZERO,
            full_dump_share: 1.0,
            update_jitter: Span::from_millis(1),
            link_layer_feedback: false,
            forget_periods: 30,
            table_limit: 1 << 16,
            buffer_per_destination: 5,
            buffer_packets: 500,
            buffer_time: Span::from_secs(30),
        }
    }
}

impl DsdvConfig {
    /// Time after which a silent neighbour counts as lost.
    #[must_use]
    pub fn hold_time(&self) -> Span {
        Span(self.period.0.saturating_mul(self.hold_periods.into()))
    }

    /// Time without a new number after which a route is broken or, if broken, forgotten.
    #[must_use]
    pub fn forget_time(&self) -> Span {
        Span(self.period.0.saturating_mul(self.forget_periods.into()))
    }
}
