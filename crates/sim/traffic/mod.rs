//! Traffic of applications: packets at a constant rate, Poisson or saturating; files.

mod files;

pub(crate) use files::{FileSource, NextFile};

use airfair_schemes::places::HeaderKind;
use airfair_units::math;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Span, Time};
use airfair_wire::rate::Data;

use crate::spec::{FlowSpec, Traffic, Transport};

/// Largest UDP payload over IPv4.
pub const LARGEST_PAYLOAD: u32 = 65_507;
/// Largest payload of a TCP segment over IPv4, its options included.
const LARGEST_SEGMENT: u32 = 65_495;
/// No scheme is created to learn its header if packets leave this much room, bytes.
const ROOM: u32 = 1000;

/// Packets that leave no room for the header of their flow's scheme.
#[derive(Debug, Clone, Copy)]
pub struct NoRoom {
    /// Their payload; the mean if sizes are drawn.
    pub size: u32,
    /// The largest payload beside the header.
    pub most: u32,
    /// The header.
    pub header: &'static HeaderKind,
}

impl NoRoom {
    /// The reason, and what was expected.
    #[must_use]
    pub fn problem(&self) -> String {
        let HeaderKind { name, wire_len, .. } = self.header;
        format!("leaves no room for the header of {name}, {wire_len} B; expected at most \"{} B\"", self.most)
    }
}

/// The packets of a flow, if they leave no room for the header of its scheme, which `header` finds.
pub fn without_room(
    transport: &Transport,
    traffic: &Traffic,
    header: impl FnOnce() -> Option<&'static HeaderKind>,
) -> Option<NoRoom> {
    let (size, largest) = match transport {
        Transport::Tcp { config, .. } => (config.mss, LARGEST_SEGMENT),
        Transport::Rate { payload, .. } if matches!(traffic, Traffic::Endless) => {
            (u32::try_from(payload.get()).unwrap_or(u32::MAX), LARGEST_PAYLOAD)
        }
        Transport::Udp | Transport::PlainUdp | Transport::ControlledUdp { .. } | Transport::Rate { .. } => {
            (u32::try_from(traffic.packet().get()).unwrap_or(u32::MAX), LARGEST_PAYLOAD)
        }
    };
    if size <= largest - ROOM {
        return None;
    }
    let header = header()?;
    let of_transport = if matches!(transport, Transport::Rate { .. }) { Data::wire_len() as u32 } else { 0 };
    let most = largest.saturating_sub(header.wire_len + of_transport);
    (size > most).then_some(NoRoom { size, most, header })
}

/// Source of a flow's packets.
#[derive(Debug)]
pub(crate) struct TrafficSource {
    traffic: Traffic,
    /// Largest payload of a packet, bytes.
    largest: u32,
    gaps: Stream,
    sizes: Stream,
    /// Strictly periodic times, without jitter, in ns times the rate: they do not drift.
    ticks: u64,
    origin: Time,
}

impl TrafficSource {
    /// A source of a flow's packets, as `traffic` has them.
    pub(crate) fn new(flow: &FlowSpec, traffic: &Traffic, seed: u64) -> Self {
        Self {
            traffic: traffic.clone(),
            largest: LARGEST_PAYLOAD,
            gaps: Stream::new(seed, &flow.id, Purpose::Gap),
            sizes: Stream::new(seed, &flow.id, Purpose::Size),
            ticks: 0,
            origin: Time::ZERO,
        }
    }

    /// Leaves room in each packet for a header of the flow's scheme, bytes.
    pub(crate) fn leave_room(&mut self, header: u32) {
        self.largest = LARGEST_PAYLOAD.saturating_sub(header);
    }

    /// Starts the source now. Returns the due time of its first packet.
    pub(crate) fn start(&mut self, now: Time) -> Time {
        self.origin = now;
        self.ticks = 0;
        match self.traffic {
            Traffic::Poisson { .. } => self.next(now),
            _ => now,
        }
    }

    /// Mean payload rate, if the source has one.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self.traffic {
            Traffic::ConstantRate { rate, .. } | Traffic::Poisson { rate, .. } => Some(rate),
            _ => None,
        }
    }

    /// True if it always has another packet.
    pub(crate) fn is_saturating(&self) -> bool {
        matches!(self.traffic, Traffic::Saturating { .. })
    }

    /// Payload of a packet, bytes; its mean if sizes are drawn, 0 if the source sends no packets of its own.
    pub(crate) fn mean_size(&self) -> u32 {
        match self.traffic {
            Traffic::ConstantRate { packet, .. }
            | Traffic::Saturating { packet }
            | Traffic::Poisson { packet, .. } => packet.get() as u32,
            _ => 0,
        }
    }

    /// Payload of the next packet, bytes.
    pub(crate) fn size(&mut self) -> u32 {
        match self.traffic {
            Traffic::ConstantRate { packet, .. } | Traffic::Saturating { packet } => packet.get() as u32,
            Traffic::Poisson { packet, exponential_sizes: false, .. } => packet.get() as u32,
            Traffic::Poisson { packet, .. } => {
                let drawn = self.sizes.exponential(packet.get() as f64);
                // Rounded to the nearest byte, which keeps the mean.
                (drawn.round().min(f64::from(self.largest)) as u32).max(1)
            }
            // Files are not sent as packets here.
            _ => 0,
        }
    }

    /// Due time of the packet after the one that was due at `now`.
    pub(crate) fn next(&mut self, now: Time) -> Time {
        match self.traffic {
            Traffic::ConstantRate { rate, packet, gap_jitter } => {
                self.ticks += 1;
                let bits_ns = u128::from(packet.get()) * 8 * 1_000_000_000;
                let at =
                    self.origin + Span((u128::from(self.ticks) * bits_ns / u128::from(rate.as_bps())) as u64);
                if gap_jitter > 0.0 {
                    // Each packet is moved within its own gap, which keeps order and mean rate.
                    let gap = bits_ns as f64 / rate.as_bps() as f64;
                    return (at + Span((self.gaps.uniform() * gap_jitter * gap) as u64)).max(now);
                }
                at.max(now)
            }
            Traffic::Poisson { rate, packet, .. } => {
                let mean = packet.get() as f64 * 8e9 / rate.as_bps() as f64;
                let gap = -mean * math::ln(1.0 - self.gaps.uniform());
                now + Span((gap + 0.5) as u64)
            }
            _ => Time::NEVER,
        }
    }

    /// Shifts the due times of later packets, since the source was held up until now.
    pub(crate) fn resume(&mut self, now: Time) {
        self.origin = now;
        self.ticks = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Transport;
    use airfair_units::Bytes;

    pub(super) fn flow(traffic: Traffic) -> FlowSpec {
        FlowSpec {
            id: "f".into(),
            from: 0,
            to: 1,
            transport: Transport::Udp,
            traffic,
            start: Time::ZERO,
            start_jitter: Span::ZERO,
            stop: Time::NEVER,
            dscp: 0,
        }
    }

    fn source(traffic: Traffic) -> TrafficSource {
        TrafficSource::new(&flow(traffic.clone()), &traffic, 1)
    }

    #[test]
    fn constant_rate_does_not_drift() {
        let mut s = source(Traffic::ConstantRate { rate: Rate(3_000), packet: Bytes(1), gap_jitter: 0.0 });
        let mut at = s.start(Time::ZERO);
        for _ in 0..3000 {
            at = s.next(at);
        }
        // 3000 packets of 8 bits at 3 kbit/s take exactly 8 s.
        assert_eq!(at, Time(8_000_000_000));
    }

    #[test]
    fn poisson_has_the_mean_rate_and_sizes() {
        let mut s =
            source(Traffic::Poisson { rate: Rate(8_000_000), packet: Bytes(1000), exponential_sizes: true });
        let mut at = s.start(Time::ZERO);
        let n = 50_000u64;
        let mut bytes = 0u64;
        for _ in 0..n {
            bytes += u64::from(s.size());
            at = s.next(at);
        }
        let gap = at.0 as f64 / n as f64;
        assert!((gap / 1e6 - 1.0).abs() < 0.03, "{gap}");
        let size = bytes as f64 / n as f64;
        assert!((size / 1000.0 - 1.0).abs() < 0.03, "{size}");
    }

    /// Whole bytes, at least one, that are nearest to an exponential value of mean m exceed k with exp(-(k + 1/2)/m) for each k from 1 on,
    /// and 0 for certain: their mean is 1 + exp(-3/(2m)) / (1 - exp(-1/m)), 20.0226 for m = 20. Of 400,000 draws the mean has a standard
    /// error of 0.032 B. Cut off and raised by one they would be 20.504 B in the mean.
    #[test]
    fn exponential_sizes_have_their_mean() {
        let (m, n) = (20.0_f64, 400_000);
        let packet = Bytes(20);
        let mut s = source(Traffic::Poisson { rate: Rate(8_000_000), packet, exponential_sizes: true });
        let mean = (0..n).map(|_| u64::from(s.size())).sum::<u64>() as f64 / f64::from(n);
        let expected = 1.0 + math::exp(-1.5 / m) / (1.0 - math::exp(-1.0 / m));
        assert!((mean - expected).abs() < 0.13, "{mean} {expected}");
    }

    /// Of exponential sizes with a mean of 65,491 B a share of exp(-1) is larger than that.
    #[test]
    fn drawn_sizes_leave_room_for_a_header() {
        let traffic =
            Traffic::Poisson { rate: Rate(8_000_000), packet: Bytes(65_491), exponential_sizes: true };
        let mut s = source(traffic);
        let largest = |s: &mut TrafficSource| (0..100).map(|_| s.size()).max();
        assert_eq!(largest(&mut s), Some(65_507));
        s.leave_room(16);
        assert_eq!(largest(&mut s), Some(65_491));
    }

    #[test]
    fn jitter_keeps_the_mean_and_the_order() {
        let mut s =
            source(Traffic::ConstantRate { rate: Rate(8_000_000), packet: Bytes(1000), gap_jitter: 1.0 });
        let mut at = s.start(Time::ZERO);
        for _ in 0..1000 {
            let next = s.next(at);
            assert!(next >= at);
            at = next;
        }
        assert!((at.as_secs_f64() - 1.0).abs() < 0.002, "{at}");
    }
}
