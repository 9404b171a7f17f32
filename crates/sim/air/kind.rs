//! The constants of a kind of radio, worked out once: times in nanoseconds, powers in attowatts, ratios in fixed point.

use airfair_units::{Db, Dbm, Rate};
use airfair_wire::ieee80211::{Ack, Cts, Rts};

use super::Mode;
use super::medium::error::required_snr;
use crate::spec::{
    AfterTimeout, Eifs, ErrorModel, HeaderSpec, Interference, LockOn, PhySpec, Preamble, Protection,
    RadioSpec, ResponseTimeout, Sensitivity, Standard,
};

/// The shortest sensing delay, ns: what arrives in the moment in which a back-off ends cannot be sensed any more, and the station
/// sends. Two stations of which one has heard the other's last frame count slots that lie just one propagation delay apart, so
/// with `sensing_delay = "0 s"` they meet in that moment whenever they have drawn the same slot. Times are whole nanoseconds, and
/// delays that add up exactly do so within 2 ns then: what is less than 3 ns earlier is the same moment.
const SAME_MOMENT: u64 = 3;

/// A kind of radio, ready for the inner loops.
#[derive(Debug, Clone)]
pub struct Kind {
    pub(crate) standard: Standard,
    pub(crate) preamble: Preamble,
    pub(crate) channel: u16,
    /// aSlotTime with the coverage class's air propagation time.
    pub(crate) slot: u64,
    pub(crate) sifs: u64,
    pub(crate) difs: u64,
    pub(crate) eifs: u64,
    pub(crate) sensing_delay: u64,
    pub(crate) data_mode: Mode,
    pub(crate) response_mode: Mode,
    /// Mode of the ACK to a frame of each mode.
    pub(crate) ack_to: [Mode; 12],
    pub(crate) broadcast_mode: Mode,
    /// Mode of RTS and CTS before data: that of responses, or a DSSS mode that 802.11b stations understand too.
    pub(crate) control_mode: Mode,
    pub(crate) protection: Protection,
    pub(crate) rts_threshold: u64,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    pub(crate) short_retry_limit: u32,
    pub(crate) long_retry_limit: u32,
    pub(crate) has_eifs: bool,
    pub(crate) eifs_on_energy: bool,
    pub(crate) nav_reset: bool,
    pub(crate) cts_needs_idle_nav: bool,
    pub(crate) cts_needs_idle_carrier: bool,
    pub(crate) eifs_as_nav: bool,
    pub(crate) immediate_access: bool,
    pub(crate) after_timeout: AfterTimeout,
    pub(crate) awaits_end: bool,
    pub(crate) mac_queue: u32,
    pub(crate) lock_on_energy: bool,
    pub(crate) strongest: bool,
    pub(crate) error_model: ErrorModel,
    pub(crate) frame_loss: f64,
    pub(crate) noise: u64,
    pub(crate) preamble_detect: u64,
    pub(crate) energy_detect: u64,
    /// By the data mode of the sender.
    pub(crate) sensitivity: [u64; 12],
    /// Ratios as multiples of 2^-16.
    pub(crate) lock_sinr: u64,
    pub(crate) preamble_detection: u64,
    pub(crate) capture: u64,
    pub(crate) relock: Option<u64>,
    /// Durations of control frames: RTS and CTS in the control mode, ACK in the response mode.
    pub(crate) rts_ns: u64,
    pub(crate) cts_ns: u64,
    pub(crate) ack_ns: u64,
    /// Time-outs after RTS and after data.
    pub(crate) cts_timeout: u64,
    pub(crate) ack_timeout: u64,
    /// How long after an RTS a reception must have started for its NAV to last.
    pub(crate) nav_reset_after: u64,
    /// Bytes that LLC and the MAC add to an IP packet.
    pub(crate) overhead: u32,
}

/// Whether OFDM data are protected from 802.11b stations.
fn protects(standard: Standard, data_mode: Mode, protection: Protection) -> bool {
    standard == Standard::Dot11g && data_mode.is_ofdm() && protection != Protection::None
}

fn fixed(ratio: Db) -> u64 {
    (ratio.to_linear() * 65536.0).clamp(0.0, 9e18) as u64
}

/// Whether `power` is at least `ratio` (2^-16) times `noise`.
#[inline]
pub(crate) fn exceeds(power: u64, ratio: u64, noise: u64) -> bool {
    u128::from(power) << 16 >= u128::from(ratio) * u128::from(noise)
}

/// The least interference beside which `power` does not exceed the ratio, `noise` included.
fn tolerable(power: u64, ratio: u64, noise: u64) -> u64 {
    let most = (u128::from(power) << 16) / u128::from(ratio.max(1));
    u64::try_from(most + 1).unwrap_or(u64::MAX).saturating_sub(noise)
}

/// Least power of a frame that a radio receives under [`ErrorModel::Threshold`], from a sender whose data frames have this
/// mode.
pub(crate) fn sensitivity(phy: &PhySpec, mode: Mode) -> Dbm {
    match phy.sensitivity {
        Sensitivity::PreambleDetect => phy.preamble_detect,
        Sensitivity::PerRate => Dbm((phy.noise.0 + required_snr(mode).0).max(phy.preamble_detect.0)),
        Sensitivity::Level(level) => level,
    }
}

impl Kind {
    /// Rate of its data frames.
    #[must_use]
    pub fn data_rate(&self) -> Rate {
        self.data_mode.rate()
    }

    /// Works out the constants. The rates must be modes of the standard (the scenario reader sees to it).
    ///
    /// # Errors
    /// Says which rate is not a mode of the standard.
    pub fn new(spec: &RadioSpec, headers: &HeaderSpec) -> Result<Self, String> {
        let (phy, mac) = (&spec.phy, &spec.mac);
        let mode = |rate| {
            Mode::of_rate(phy.standard, rate)
                .ok_or_else(|| format!("radio {}: {rate} is not a rate of {:?}", spec.name, phy.standard))
        };
        let data_mode = mode(phy.data_rate)?;
        let basic = phy.basic_rates.iter().map(|&r| mode(r)).collect::<Result<Vec<_>, _>>()?;
        let fastest_below = |limit: Mode, ofdm: bool| {
            basic
                .iter()
                .copied()
                .filter(|m| m.is_ofdm() == ofdm && m.rate() <= limit.rate())
                .max_by_key(|m| m.rate())
        };
        // The highest basic rate not above the data rate, of the same modulation class if there is one (10.7.6.5.2).
        let slowest = if phy.standard == Standard::Dot11a { Mode::Ofdm6 } else { Mode::Dsss1 };
        let response_to = |mode: Mode| {
            fastest_below(mode, mode.is_ofdm())
                .or_else(|| fastest_below(mode, !mode.is_ofdm()))
                .unwrap_or(if mode.is_ofdm() { Mode::Ofdm6 } else { slowest })
        };
        let response_mode = response_to(data_mode);
        let protection_mode = fastest_below(Mode::Cck11, false).unwrap_or(slowest);

        let (base_slot, sifs) = match phy.standard {
            Standard::Dot11b => (20_000, 10_000),
            Standard::Dot11a => (9_000, 16_000),
            Standard::Dot11g => (if phy.short_slot { 9_000 } else { 20_000 }, 10_000),
        };
        let slot = base_slot + 3_000 * u64::from(mac.coverage_class);
        let difs = sifs + 2 * slot;
        let ack = |m: Mode| m.duration(Ack::wire_len() as u32, phy.standard, phy.preamble).as_nanos();
        let eifs = match mac.eifs {
            Eifs::LowestRate => sifs + ack(slowest) + difs,
            Eifs::ResponseRate => sifs + ack(response_mode) + difs,
            Eifs::Off => difs,
        };
        let eifs = if mac.eifs_as_nav && mac.eifs != Eifs::Off { eifs + difs } else { eifs };
        let control_mode =
            if protects(phy.standard, data_mode, phy.protection) { protection_mode } else { response_mode };
        let cts_ns = control_mode.duration(Cts::wire_len() as u32, phy.standard, phy.preamble).as_nanos();
        let wait = |mode: Mode, whole: u64| {
            let response = match mac.response_timeout {
                ResponseTimeout::PhyStart => mode.header(phy.preamble).as_nanos(),
                ResponseTimeout::WholeResponse => whole,
            };
            sifs + slot + response
        };
        let preamble_detect = phy.preamble_detect.to_attowatts().0;
        Ok(Self {
            standard: phy.standard,
            preamble: phy.preamble,
            channel: spec.channel,
            slot,
            sifs,
            difs,
            eifs,
            sensing_delay: mac.sensing_delay.as_nanos().max(SAME_MOMENT),
            data_mode,
            response_mode,
            ack_to: Mode::ALL.map(response_to),
            broadcast_mode: mode(phy.broadcast_rate)?,
            protection: if protects(phy.standard, data_mode, phy.protection) {
                phy.protection
            } else {
                Protection::None
            },
            control_mode,
            rts_ns: control_mode.duration(Rts::wire_len() as u32, phy.standard, phy.preamble).as_nanos(),
            cts_ns,
            ack_ns: ack(response_mode),
            cts_timeout: wait(control_mode, cts_ns),
            ack_timeout: wait(response_mode, ack(response_mode)),
            nav_reset_after: 2 * sifs + cts_ns + control_mode.header(phy.preamble).as_nanos() + 2 * slot,
            rts_threshold: mac.rts_threshold.get(),
            cw_min: mac.cw_min.min(32767),
            cw_max: mac.cw_max.min(32767),
            short_retry_limit: mac.short_retry_limit,
            long_retry_limit: mac.long_retry_limit,
            has_eifs: mac.eifs != Eifs::Off,
            eifs_on_energy: mac.eifs_on_energy && mac.eifs != Eifs::Off,
            nav_reset: mac.nav_reset,
            cts_needs_idle_nav: mac.cts_needs_idle_nav,
            cts_needs_idle_carrier: mac.cts_needs_idle_carrier,
            eifs_as_nav: mac.eifs_as_nav && mac.eifs != Eifs::Off,
            immediate_access: mac.immediate_access,
            after_timeout: mac.after_timeout,
            awaits_end: mac.response_timeout == ResponseTimeout::PhyStart,
            mac_queue: mac.mac_queue.max(1),
            lock_on_energy: phy.lock_on == LockOn::Energy,
            strongest: phy.interference == Interference::Strongest,
            error_model: phy.error_model,
            frame_loss: phy.frame_loss,
            noise: phy.noise.to_attowatts().0,
            preamble_detect,
            energy_detect: phy.energy_detect.to_attowatts().0,
            sensitivity: Mode::ALL.map(|mode| sensitivity(phy, mode).to_attowatts().0),
            lock_sinr: fixed(phy.lock_sinr),
            preamble_detection: phy.preamble_detection.as_nanos(),
            capture: fixed(phy.capture),
            relock: phy.relock.map(fixed),
            overhead: headers.llc + headers.mac,
        })
    }

    /// Duration of a frame of `bytes` in a mode, ns.
    #[inline]
    pub(crate) fn duration(&self, mode: Mode, bytes: u32) -> u64 {
        mode.duration(bytes, self.standard, self.preamble).as_nanos()
    }

    /// Time from the start of a frame to PHY-RXSTART: preamble and PLCP header.
    pub(crate) fn phy_start(&self, mode: Mode) -> u64 {
        mode.header(self.preamble).as_nanos()
    }

    /// Duration of a CTS in the mode of the RTS that it answers.
    pub(crate) fn cts_in(&self, mode: Mode) -> u64 {
        if mode == self.control_mode { self.cts_ns } else { self.duration(mode, Cts::wire_len() as u32) }
    }

    /// Duration of an ACK in a mode.
    pub(crate) fn ack_in(&self, mode: Mode) -> u64 {
        if mode == self.response_mode { self.ack_ns } else { self.duration(mode, Ack::wire_len() as u32) }
    }

    /// Interference below this lets a signal of `power`, from a sender with this data mode, be received under
    /// [`ErrorModel::Threshold`], aW: the signal exceeds the capture ratio times noise and interference, and the sensitivity. 0 if none
    /// does, or if a draw decides.
    pub(crate) fn interference_bound(&self, power: u64, mode: Mode) -> u64 {
        if self.error_model != ErrorModel::Threshold || self.frame_loss > 0.0 {
            return 0;
        }
        self.threshold_bound(power, mode)
    }

    /// The same without regard to what a draw decides.
    pub(crate) fn threshold_bound(&self, power: u64, mode: Mode) -> u64 {
        if power < self.sensitivity[mode as usize] { 0 } else { tolerable(power, self.capture, self.noise) }
    }

    /// Whether RTS and CTS go before a data frame of so many bytes.
    pub(crate) fn uses_rts(&self, bytes: u32) -> bool {
        u64::from(bytes) > self.rts_threshold || self.protection == Protection::RtsCts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The bound and the comparison that it stands for agree, at the bound itself too.
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
