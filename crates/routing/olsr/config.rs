//! Parameters of RFC 3626 section 18, and further ones of this implementation.

use airfair_units::Span;

use crate::SendRate;

/// Willingness of a node that forwards nothing [RFC 3626 section 18.8].
pub const WILL_NEVER: u8 = 0;
/// Willingness of a node that every neighbour selects as relay [RFC 3626 section 18.8].
pub const WILL_ALWAYS: u8 = 7;

/// Metric of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Each link counts 1.
    Hops,
    /// Expected transmissions: each link counts 1 / (df dr), with the shares of HELLOs that are received both ways (De Couto, Aguayo,
    /// Bicket, Morris, MobiCom 2003).
    Etx,
}

/// Neighbours that a node advertises in its TCs [RFC 3626 section 15.1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advertised {
    /// Those that have selected it as relay (TC_REDUNDANCY 0).
    Selectors,
    /// Those, and the relays that it has selected (1).
    SelectorsAndRelays,
    /// All symmetric neighbours (2).
    All,
}

/// Hysteresis of links [RFC 3626 section 14].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hysteresis {
    /// Quality above which a pending link is used (HYST_THRESHOLD_HIGH).
    pub high: f64,
    /// Quality below which a link in use is lost (HYST_THRESHOLD_LOW).
    pub low: f64,
    /// Weight of the last HELLO, received or missed (HYST_SCALING).
    pub scaling: f64,
}

impl Default for Hysteresis {
    fn default() -> Self {
        Self { high: 0.8, low: 0.3, scaling: 0.5 }
    }
}

/// All parameters of OLSR.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OlsrConfig {
    /// Time between HELLOs of an interface (HELLO_INTERVAL, and REFRESH_INTERVAL).
    pub hello_interval: Span,
    /// Time between TCs (TC_INTERVAL).
    pub tc_interval: Span,
    /// Validity of a HELLO (NEIGHB_HOLD_TIME).
    pub neighbour_hold: Span,
    /// Validity of a TC (TOP_HOLD_TIME).
    pub topology_hold: Span,
    /// Time for which a flooded message is remembered (DUP_HOLD_TIME).
    pub duplicate_hold: Span,
    /// Largest random delay of messages, own and forwarded; those of one interface that fall into it share a datagram (MAXJITTER).
    pub max_jitter: Span,
    /// True if all nodes start their timers at time 0; otherwise each node starts at a random time within the interval.
    pub synchronous_start: bool,
    /// Willingness to forward, from [`WILL_NEVER`] to [`WILL_ALWAYS`].
    pub willingness: u8,
    /// Advertised neighbours (TC_REDUNDANCY); with [`WILL_NEVER`] always [`Advertised::Selectors`].
    pub advertised: Advertised,
    /// Number of relays that cover each node two hops away, as far as possible (MPR_COVERAGE).
    pub mpr_coverage: u32,
    /// Hysteresis of links, if any.
    pub hysteresis: Option<Hysteresis>,
    /// True if a packet given up by the link layer breaks its link [RFC 3626 section 13].
    pub link_layer_feedback: bool,
    /// Metric of paths.
    pub metric: Metric,
    /// Number of HELLOs from which the quality of a link is measured, 1 to 128.
    pub etx_window: u32,
    /// Rate of HELLOs on the air.
    pub probe_rate: SendRate,
    /// Least size of a HELLO as an IP packet, bytes; 0: as large as needed.
    pub probe_size: u32,
    /// Largest number of entries of each table. One node's statements fill an eighth of it at most, or 64 entries.
    pub table_limit: u32,
}

/// Intervals and the metric, from which other parameters are derived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Base {
    /// See [`OlsrConfig::hello_interval`].
    pub hello_interval: Span,
    /// See [`OlsrConfig::tc_interval`].
    pub tc_interval: Span,
    /// See [`OlsrConfig::metric`].
    pub metric: Metric,
}

impl Default for Base {
    fn default() -> Self {
        Self { hello_interval: Span::from_secs(2), tc_interval: Span::from_secs(5), metric: Metric::Hops }
    }
}

impl From<Base> for OlsrConfig {
    fn from(Base { hello_interval, tc_interval, metric }: Base) -> Self {
        // With link qualities, paths of fewest hops are not enough: all links are advertised, and losses of TCs matter more. The numbers
        // are those of olsrd's configuration file.
        let (advertised, mpr_coverage) = match metric {
            Metric::Hops => (Advertised::Selectors, 1),
            Metric::Etx => (Advertised::All, 7),
        };
        Self {
            hello_interval,
            tc_interval,
            neighbour_hold: Span(hello_interval.0.saturating_mul(3)),
            topology_hold: Span(tc_interval.0.saturating_mul(3)),
            duplicate_hold: Span::from_secs(30),
            max_jitter: Span(hello_interval.0 / 4),
            synchronous_start: false,
            willingness: 3,
            advertised,
            mpr_coverage,
            hysteresis: None,
            link_layer_feedback: false,
            metric,
            etx_window: 10,
            probe_rate: SendRate::Broadcast,
            probe_size: 0,
            table_limit: 1 << 16,
        }
    }
}

impl Default for OlsrConfig {
    fn default() -> Self {
        Base::default().into()
    }
}

impl OlsrConfig {
    /// True if HELLOs have datagrams of their own, because their rate or size is that of probes.
    pub(super) fn probes_alone(&self) -> bool {
        self.probe_rate != SendRate::Broadcast || self.probe_size > 0
    }
}
