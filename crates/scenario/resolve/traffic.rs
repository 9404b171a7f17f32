//! From a flow's `traffic` to the simulator's model of its source.

use airfair_sim::spec::Traffic;
use airfair_units::Span;

use crate::declare::choice::Sizes;
use crate::declare::field::LONGEST;
use crate::keys::traffic::TrafficTable;
use crate::keys::transport::TransportChoice;
use crate::text::error::Cx;
use crate::text::location::Path;

/// Long TCP flows start at random within this time. With the same moment for all, their SYNs and first windows would arrive at
/// every queue in the same order (Floyd and Jacobson, "On traffic phase effects
/// in packet-switched gateways", 1992).
const TCP_JITTER: Span = Span::from_millis(100);

/// Least mean of exponential gaps, ns. Gaps are whole nanoseconds: rounded, those of a mean of 10 ns are 0.04 % too short in the mean,
/// those of a thousandth of a nanosecond are all 0.
const LEAST_GAP_NS: f64 = 10.0;

impl TrafficTable {
    /// The model; errors are noted, and the rest is checked.
    pub fn resolve(&mut self, path: &Path<'_>, cx: &mut Cx<'_>) -> Traffic {
        match self {
            Self::Constant(t) => {
                Traffic::ConstantRate { rate: t.rate, packet: t.packet, gap_jitter: t.gap_jitter }
            }
            Self::Poisson(t) => {
                let gap_ns = t.packet.0 as f64 * 8e9 / t.rate.0.max(1) as f64;
                if gap_ns < LEAST_GAP_NS {
                    cx.error(t.locations.of("rate"), &path.child("rate"), || {
                        format!(
                            "\"{}\": a packet of {} every {gap_ns:.3} ns; expected gaps of {LEAST_GAP_NS} ns or more in the mean",
                            t.rate, t.packet
                        )
                    });
                }
                Traffic::Poisson {
                    rate: t.rate,
                    packet: t.packet,
                    exponential_sizes: t.sizes == Sizes::Exponential,
                }
            }
            Self::Saturating(t) => Traffic::Saturating { packet: t.packet },
            Self::Ftp(_) => Traffic::Endless,
            Self::File(t) => Traffic::File { size: t.size },
            Self::Web(t) => t.resolve(path, cx),
            Self::Arrivals(t) => t.resolve(path, cx),
            Self::List(t) => t.resolve(path, cx),
        }
    }

    /// The default start jitter: without it, periodic sources that start together would stay synchronized for ever, and long TCP
    /// flows for a long time.
    pub fn usual_jitter(&self, choice: TransportChoice) -> Span {
        match (self, choice) {
            (Self::Constant(t), _) => t.rate.time_for(t.packet).min(LONGEST),
            (Self::Ftp(_) | Self::Saturating(_), TransportChoice::Tcp(_) | TransportChoice::Rate(_)) => {
                TCP_JITTER
            }
            _ => Span::ZERO,
        }
    }
}
