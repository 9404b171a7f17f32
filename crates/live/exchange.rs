//! The time that a lone radio needs for a packet, by the rate of its data frames: arithmetic of IEEE 802.11 for its parameters by default.

use airfair_schemes::places::LoneExchange;
use airfair_units::{Bytes, Rate, Span};

/// Rates of DSSS and CCK (clauses 15 and 16), in units of 100 kbit/s; all others are taken for those of OFDM (clause 17).
const DSSS: [u64; 4] = [10, 20, 55, 110];

/// Bytes of a data frame beside an IP packet: header with its class (26), LLC and SNAP (8), checksum (4).
const FRAME: u64 = 38;

/// Bytes of an acknowledgement.
const ACK: u64 = 14;

/// The exchange of a data frame and its acknowledgement at this rate, one packet a frame, without RTS: waiting and mean back-off included.
/// `overhead`: its time beside the packet's own bits, where that is known better.
#[must_use]
pub fn lone_exchange(rate: Rate, overhead: Option<Span>) -> LoneExchange {
    let fixed = overhead
        .unwrap_or_else(|| if DSSS.contains(&(rate.as_bps() / 100_000)) { dsss(rate) } else { ofdm(rate) });
    LoneExchange { fixed, rts: Span::ZERO, rts_above: u32::MAX, rate }
}

/// Long preambles, slots of 20 µs, windows of 31 slots; acknowledgements at 2 Mbit/s, or 1.
fn dsss(rate: Rate) -> Span {
    const DIFS_AND_BACKOFF: Span = Span::from_micros(50 + 310);
    const SIFS: Span = Span::from_micros(10);
    const PREAMBLE: Span = Span::from_micros(192);
    let basic = rate.min(Rate::from_mbps(2));
    DIFS_AND_BACKOFF + PREAMBLE + rate.time_for(Bytes(FRAME)) + SIFS + PREAMBLE + basic.time_for(Bytes(ACK))
}

/// Slots of 9 µs, windows of 15 slots; acknowledgements at the highest of 6, 12 and 24 Mbit/s that is no higher than the rate.
fn ofdm(rate: Rate) -> Span {
    const DIFS_AND_BACKOFF: Span = Span(34_000 + 67_500);
    const SIFS: Span = Span::from_micros(16);
    const PREAMBLE: Span = Span::from_micros(20);
    /// Bits of service and tail; half a symbol, by which frames are rounded up in the mean.
    const SERVICE_AND_TAIL: u64 = 22;
    const HALF_A_SYMBOL: Span = Span::from_micros(2);
    let basic = [24, 12].map(Rate::from_mbps).into_iter().find(|&basic| basic <= rate);
    let symbol_bits = basic.unwrap_or(Rate::from_mbps(6)).as_bps() * 4 / 1_000_000;
    let ack = Span::from_micros(4 * (SERVICE_AND_TAIL + 8 * ACK).div_ceil(symbol_bits));
    let data = rate.time_for(Bytes(FRAME)) + Span(SERVICE_AND_TAIL * 1_000_000_000 / rate.as_bps().max(1));
    DIFS_AND_BACKOFF + PREAMBLE + data + HALF_A_SYMBOL + SIFS + PREAMBLE + ack
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The goodput of a saturated lone link of the simulator (20 s, datagrams of 1460 bytes, seed 1), within 2 %.
    #[test]
    fn goodputs_are_those_of_the_simulator() {
        let simulated = [
            (1.0, 0.894),
            (2.0, 1.690),
            (5.5, 3.856),
            (11.0, 6.084),
            (6.0, 5.266),
            (24.0, 17.234),
            (54.0, 29.678),
        ];
        for (rate, goodput) in simulated {
            let exchange = lone_exchange(Rate((rate * 1e6) as u64), None);
            let found = exchange.goodput(1488).as_bps() as f64 / 1e6 * 1460.0 / 1488.0;
            assert!((found / goodput - 1.0).abs() < 0.02, "{rate} Mbit/s: {found}");
        }
    }

    #[test]
    fn a_known_overhead_counts() {
        let exchange = lone_exchange(Rate::from_mbps(144), Some(Span::from_micros(50)));
        assert_eq!(exchange.time(1500), Span::from_micros(50) + Rate::from_mbps(144).time_for(Bytes(1500)));
    }
}
