//! The medium's constants of a kind of radio, computed once: times in nanoseconds, powers in attowatts, ratios in fixed point.

use airfair_units::{Db, Dbm, Rate, Span, math};
use airfair_wire::ieee80211::Cts;

use super::backoffs::Backoffs;
use super::error::{log_success, required_snr};
use crate::ids::Table;
use crate::modes::Mode;
use crate::spec::{ErrorModel, PhySpec, Preamble, Sensitivity, Standard};

/// The PPDU format of a standard and a preamble.
#[derive(Debug, Clone, Copy)]
pub struct PpduFormat {
    pub(crate) standard: Standard,
    pub(crate) preamble: Preamble,
}

impl PpduFormat {
    /// Duration of a PPDU that carries `bytes` of PSDU.
    #[inline]
    #[must_use]
    pub fn duration(self, mode: Mode, bytes: u32) -> Span {
        mode.duration(bytes, self.standard, self.preamble)
    }

    /// Time from the start of a PPDU to PHY-RXSTART, ns: preamble and PLCP header.
    pub(crate) fn header(self, mode: Mode) -> u64 {
        mode.header(self.preamble).as_nanos()
    }
}

/// Waiting times of a hearer of the medium (802.11-2016 10.3.7), ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timing {
    /// aSlotTime with the coverage class's air propagation time.
    pub slot: u64,
    pub sifs: u64,
    pub difs: u64,
    pub eifs: u64,
    /// Time from a signal's arrival to the slot boundary from which on it is sensed.
    pub sensing_delay: u64,
    /// True if an EIFS follows a failed reception.
    pub has_eifs: bool,
    /// True if an EIFS also follows energy without a preamble.
    pub eifs_on_energy: bool,
    /// True if an EIFS is kept as a NAV: a good frame does not end it.
    pub eifs_as_nav: bool,
}

/// The medium's constants of a kind of radio.
#[derive(Debug, Clone)]
pub struct PhyKind {
    pub(crate) format: PpduFormat,
    pub(crate) channel: u16,
    pub(crate) timing: Timing,
    /// True if a NAV that was set by an RTS ends early when no reception follows.
    pub(crate) nav_reset: bool,
    /// Time after an RTS in the control mode of its sender's nominal mode within which a reception must start for its NAV to stay, ns.
    pub(crate) nav_reset_after: u64,
    /// Mode of RTS and CTS before data in the nominal mode.
    pub(crate) control_mode: Mode,
    /// Mode of data frames by the scenario, by which links are judged.
    pub(crate) nominal_mode: Mode,
    pub(crate) lock_on_energy: bool,
    pub(crate) strongest: bool,
    pub(crate) error_model: ErrorModel,
    pub(crate) frame_loss: f64,
    pub(crate) noise: u64,
    pub(crate) preamble_detect: u64,
    pub(crate) energy_detect: u64,
    /// Least power of a received frame by the mode of the data of its exchange, aW.
    pub(crate) sensitivity: Table<Mode, u64>,
    /// Ratios as multiples of 2^-16.
    pub(crate) lock_sinr: u64,
    pub(crate) preamble_detection: u64,
    pub(crate) capture: u64,
    pub(crate) relock: Option<u64>,
    /// Initial back-offs of a station with access categories; none with the DCF.
    pub(crate) backoffs: Option<Backoffs>,
}

/// A ratio as a multiple of 2^-16.
pub(crate) fn fixed(ratio: Db) -> u64 {
    (ratio.to_linear() * 65536.0).clamp(0.0, 9e18) as u64
}

/// True if `power` is at least `ratio` (in 2^-16) times `noise`.
#[inline]
pub(crate) fn exceeds(power: u64, ratio: u64, noise: u64) -> bool {
    u128::from(power) << 16 >= u128::from(ratio) * u128::from(noise)
}

/// The least interference at which `power` no longer exceeds the ratio, `noise` included.
fn tolerable(power: u64, ratio: u64, noise: u64) -> u64 {
    let most = (u128::from(power) << 16) / u128::from(ratio.max(1));
    u64::try_from(most + 1).unwrap_or(u64::MAX).saturating_sub(noise)
}

/// Least power of a frame that a radio receives under [`ErrorModel::Threshold`], in an exchange whose data have this mode.
pub(crate) fn sensitivity(phy: &PhySpec, mode: Mode) -> Dbm {
    match phy.sensitivity {
        Sensitivity::PreambleDetect => phy.preamble_detect,
        Sensitivity::PerRate => Dbm((phy.noise.0 + required_snr(mode).0).max(phy.preamble_detect.0)),
        Sensitivity::Level(level) => level,
    }
}

impl PhyKind {
    /// Rate of data frames by the scenario.
    #[must_use]
    pub fn nominal_rate(&self) -> Rate {
        self.nominal_mode.rate()
    }

    /// Time by which a NAV that an RTS of this kind has set waits longer for a reception than [`PhyKind::nav_reset_after`], ns: the CTS has
    /// the mode of the RTS, whose control mode a law of rates may have chosen.
    #[cold]
    #[inline(never)]
    pub(crate) fn nav_reset_more(&self, rts: Mode) -> i64 {
        let awaited = |mode: Mode| {
            let cts = self.format.duration(mode, Cts::wire_len() as u32).as_nanos();
            (cts + self.format.header(mode)) as i64
        };
        if rts == self.control_mode { 0 } else { awaited(rts) - awaited(self.control_mode) }
    }

    /// Bound of interference below which a signal of `power` is received under [`ErrorModel::Threshold`] in an exchange whose data have
    /// this mode, aW: the signal exceeds the capture ratio times noise and interference, and the sensitivity. 0 if no
    /// signal is received, or if a draw decides.
    pub(crate) fn interference_bound(&self, power: u64, mode: Mode) -> u64 {
        if self.error_model != ErrorModel::Threshold || self.frame_loss > 0.0 {
            return 0;
        }
        self.threshold_bound(power, mode)
    }

    /// True if an idle receiver locks on a frame of this power, aW, on an otherwise silent air.
    pub(crate) fn locks_on(&self, power: u64) -> bool {
        power >= self.preamble_detect && (self.lock_on_energy || exceeds(power, self.lock_sinr, self.noise))
    }

    /// True if a frame of power `other` that has come first keeps a receiver from locking on one of power `own`, aW.
    pub(crate) fn is_occupied_by(&self, other: u64, own: u64) -> bool {
        if self.locks_on(other) {
            !self.relock.is_some_and(|ratio| exceeds(own, ratio, other))
        } else {
            self.lock_on_energy && other >= self.energy_detect
        }
    }

    /// Probability that a frame of this power arrives over noise and a constant interference, aW. `judged`: the mode of the data of its
    /// exchange; the frame has `psdu` bytes in `mode`.
    pub(crate) fn arrival(
        &self,
        (power, interference): (u64, u64),
        judged: Mode,
        (mode, psdu): (Mode, u32),
    ) -> f64 {
        let (kept, disturbance) = (1.0 - self.frame_loss, self.noise.saturating_add(interference));
        if power < self.preamble_detect || !exceeds(power, self.lock_sinr, disturbance) {
            return 0.0;
        }
        if self.error_model == ErrorModel::Threshold {
            let clean = power >= self.sensitivity[judged] && exceeds(power, self.capture, disturbance);
            return if clean { kept } else { 0.0 };
        }
        kept * math::exp(log_success(mode, power as f64 / disturbance as f64, f64::from(psdu) * 8.0))
    }

    /// [`PhyKind::interference_bound`] without regard to draws.
    pub(crate) fn threshold_bound(&self, power: u64, mode: Mode) -> u64 {
        if power < self.sensitivity[mode] { 0 } else { tolerable(power, self.capture, self.noise) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The bound agrees with the comparison that it replaces, also at the bound.
        #[test]
        fn below_its_bound_a_signal_is_received(
            power in 1u64..=1_000_000_000_000_000,
            capture in 0u64..=100 << 16,
            noise in 0u64..=1_000_000_000,
            near in -2i64..=2,
            far in any::<u32>(),
        ) {
            let bound = tolerable(power, capture, noise);
            for interference in [bound.saturating_add_signed(near), u64::from(far)] {
                prop_assert_eq!(interference < bound, exceeds(power, capture, interference.saturating_add(noise)));
            }
        }
    }

    #[test]
    fn comparing_ratios_does_not_overflow() {
        assert!(exceeds(u64::MAX, 10 << 16, u64::MAX / 10));
        assert!(!exceeds(999, 10 << 16, 100));
        assert!(exceeds(1000, 10 << 16, 100));
    }
}
