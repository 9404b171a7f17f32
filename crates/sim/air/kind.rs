//! Computes the constants of a kind of radio from its specification.

use airfair_units::{Rate, Span};
use airfair_wire::ieee80211::{Ack, CfEnd, Cts, QosControl, Rts};

use super::mac::{CategoryKind, MacKind, ModeKind, ResponseWait};
use super::medium::backoffs::{Backoffs, MOST_CATEGORIES};
use super::medium::phy::{PhyKind, PpduFormat, Timing, fixed, sensitivity};
use super::propagation::COVERAGE_STEP;
use crate::ids::Table;
use crate::modes::{BasicRates, Mode, StandardRules};
use crate::spec::{
    CategorySpec, Countdown, EdcaSpec, Eifs, HeaderSpec, Interference, LockOn, MacSpec, PhySpec, Protection,
    RadioSpec, ResponseTimeout, Standard, TimeoutDistance, TxopEnd,
};

/// The shortest sensing delay, ns: a station cannot sense a signal that arrives at the moment its own back-off ends, and transmits. Two
/// stations of which one has received the other's last frame count slots exactly one propagation delay apart. With `sensing_delay = "0 s"`
/// their transmissions would coincide whenever both have drawn the same slot. Times are rounded to whole nanoseconds, so delays that add up
/// exactly do so within 2 ns; a signal less than 3 ns earlier counts as simultaneous.
const SAME_MOMENT: u64 = 3;

/// The constants of a kind of radio, those of the medium and those of the MAC.
#[derive(Debug, Clone)]
pub struct Kind {
    pub(super) phy: PhyKind,
    pub(super) mac: MacKind,
}

/// The constants of frames in `mode`.
fn mode_kind(mode: Mode, basic: &BasicRates, (phy, mac): (&PhySpec, &MacSpec), slot: u64) -> ModeKind {
    let format = PpduFormat { standard: phy.standard, preamble: phy.preamble };
    let duration = |mode, bytes: usize| format.duration(mode, bytes as u32).as_nanos();
    let wait = |mode: Mode, bytes: usize| {
        let response = match mac.response_timeout {
            ResponseTimeout::PhyStart => format.header(mode),
            ResponseTimeout::WholeResponse => duration(mode, bytes),
        };
        phy.standard.rules().sifs + slot + response
    };
    let ack_mode = basic.response_to(mode);
    // OFDM data are protected from 802.11b stations.
    let protection = match phy.standard {
        Standard::Dot11g if mode.is_ofdm() => phy.protection,
        _ => Protection::None,
    };
    ModeKind {
        rts_ns: duration(mode, Rts::wire_len()),
        cts_ns: duration(mode, Cts::wire_len()),
        ack_ns: duration(mode, Ack::wire_len()),
        cf_end_ns: duration(mode, CfEnd::wire_len()),
        cts_wait: wait(mode, Cts::wire_len()),
        ack_mode,
        answer_ns: duration(ack_mode, Ack::wire_len()),
        answer_wait: wait(ack_mode, Ack::wire_len()),
        control_mode: if protection == Protection::None { ack_mode } else { basic.protecting() },
        protection,
    }
}

/// Constants of the access to the medium.
struct Access {
    categories: [CategoryKind; MOST_CATEGORIES],
    count: usize,
    least_aifsn: u64,
    backoffs: Option<Backoffs>,
    txop_end: TxopEnd,
    tids: Option<[u8; MOST_CATEGORIES]>,
}

impl Access {
    fn new(mac: &MacSpec) -> Self {
        let Some(edca) = &mac.edca else {
            let dcf = CategoryKind { cw_min: mac.cw_min.min(32767), cw_max: mac.cw_max.min(32767), txop: 0 };
            return Self {
                categories: [dcf; MOST_CATEGORIES],
                count: 1,
                least_aifsn: 2,
                backoffs: None,
                txop_end: TxopEnd::Silent,
                tids: None,
            };
        };
        let EdcaSpec { categories, countdown, .. } = edca;
        let count = categories.len().clamp(1, MOST_CATEGORIES);
        let least_aifsn = categories.iter().map(|category| category.aifsn).min().unwrap_or(2);
        let at = |index: usize| categories.get(index.min(count - 1));
        let constants = |index| {
            at(index).map_or_else(CategoryKind::default, |CategorySpec { cw_min, cw_max, txop, .. }| {
                CategoryKind {
                    cw_min: (*cw_min).min(32767),
                    cw_max: (*cw_max).min(32767),
                    txop: txop.as_nanos(),
                }
            })
        };
        let offsets =
            std::array::from_fn(|index| at(index).map_or(0, |category| category.aifsn - least_aifsn));
        // One category that counts as the DCF does, without TXOP, is a DCF with other numbers.
        let plain = count == 1
            && *countdown == Countdown::Dcf
            && categories.iter().all(|category| category.txop == Span::ZERO);
        Self {
            categories: std::array::from_fn(constants),
            count,
            least_aifsn: least_aifsn.into(),
            backoffs: (!plain).then(|| Backoffs::new(offsets, *countdown == Countdown::Standard)),
            txop_end: edca.txop_end,
            tids: edca.qos_header.then_some(edca.tids),
        }
    }
}

/// Constants that the medium's and the MAC's follow from.
struct Shared<'a> {
    spec: &'a RadioSpec,
    format: PpduFormat,
    nominal_mode: Mode,
    modes: Table<Mode, ModeKind>,
    access: Access,
    timing: Timing,
}

impl<'a> Shared<'a> {
    fn new(spec: &'a RadioSpec) -> Result<Self, String> {
        let (phy, mac) = (&spec.phy, &spec.mac);
        let nominal_mode = mode_of(spec, phy.data_rate)?;
        let modes = phy.basic_rates.iter().map(|&rate| mode_of(spec, rate)).collect::<Result<Vec<_>, _>>()?;
        let basic = BasicRates { standard: phy.standard, modes };
        let slot = slot_of(spec);
        let modes = Mode::table(|mode| mode_kind(mode, &basic, (phy, mac), slot));
        let access = Access::new(mac);
        let timing = timing(spec, slot, access.least_aifsn, (&modes, nominal_mode));
        let format = PpduFormat { standard: phy.standard, preamble: phy.preamble };
        Ok(Self { spec, format, nominal_mode, modes, access, timing })
    }

    /// The constants of the MAC.
    fn mac(self, broadcast_mode: Mode, headers: &HeaderSpec) -> MacKind {
        let mac = &self.spec.mac;
        let access = self.access;
        let qos_control = if access.tids.is_some() { QosControl::wire_len() as u32 } else { 0 };
        let categories = mac.edca.iter().flat_map(|edca| &edca.categories);
        let rts_after = mac.rts_from_attempt.map_or(u16::MAX, |attempt| u16::from(attempt.get()) - 1);
        MacKind {
            format: self.format,
            timing: self.timing,
            nominal_mode: self.nominal_mode,
            modes: self.modes,
            broadcast_mode,
            wait: ResponseWait {
                to_its_end: mac.response_timeout == ResponseTimeout::PhyStart,
                each_link: mac.timeout_distance == TimeoutDistance::EachLink,
            },
            // From the first attempt on is always: one comparison, which all who ask of first attempts make too.
            rts_threshold: if rts_after == 0 { 0 } else { mac.rts_threshold.get() },
            rts_after,
            categories: access.categories,
            category_count: access.count,
            names: categories.map(|category| category.name.clone()).collect(),
            default_category: mac.edca.as_ref().map_or(0, |edca| edca.category_of_dscp[0].into()),
            txop_end: access.txop_end,
            tids: access.tids,
            short_retry_limit: mac.short_retry_limit,
            long_retry_limit: mac.long_retry_limit,
            cts_needs_idle_nav: mac.cts_needs_idle_nav,
            cts_needs_idle_carrier: mac.cts_needs_idle_carrier,
            immediate_access: mac.immediate_access,
            after_timeout: mac.after_timeout,
            mac_queue: mac.mac_queue.max(1),
            overhead: headers.llc + headers.mac + qos_control,
        }
    }

    /// The constants of the medium.
    fn phy(&self) -> PhyKind {
        let phy = &self.spec.phy;
        let Timing { slot, sifs, .. } = self.timing;
        let control_mode = self.modes[self.nominal_mode].control_mode;
        let cts = self.modes[control_mode].cts_ns;
        PhyKind {
            format: self.format,
            channel: self.spec.channel,
            timing: self.timing,
            nav_reset: self.spec.mac.nav_reset,
            nav_reset_after: 2 * sifs + cts + self.format.header(control_mode) + 2 * slot,
            control_mode,
            nominal_mode: self.nominal_mode,
            lock_on_energy: phy.lock_on == LockOn::Energy,
            strongest: phy.interference == Interference::Strongest,
            error_model: phy.error_model,
            frame_loss: phy.frame_loss,
            noise: phy.noise.to_attowatts().0,
            preamble_detect: phy.preamble_detect.to_attowatts().0,
            energy_detect: phy.energy_detect.to_attowatts().0,
            sensitivity: Mode::table(|mode| sensitivity(phy, mode).to_attowatts().0),
            lock_sinr: fixed(phy.lock_sinr),
            preamble_detection: phy.preamble_detection.as_nanos(),
            capture: fixed(phy.capture),
            relock: phy.relock.map(fixed),
            backoffs: self.access.backoffs,
        }
    }
}

/// The mode of a rate.
fn mode_of(spec: &RadioSpec, rate: Rate) -> Result<Mode, String> {
    let standard = spec.phy.standard;
    Mode::of_rate(standard, rate)
        .ok_or_else(|| format!("radio {}: {rate} is not a rate of {standard:?}", spec.name))
}

/// The slot with the air's propagation time of the coverage class, ns.
fn slot_of(spec: &RadioSpec) -> u64 {
    let (long, short) = spec.phy.standard.rules().slots;
    let base = short.filter(|_| spec.phy.short_slot).unwrap_or(long);
    base + COVERAGE_STEP.as_nanos() * u64::from(spec.mac.coverage_class)
}

/// The waits of the MAC.
fn timing(
    spec: &RadioSpec,
    slot: u64,
    least_aifsn: u64,
    (modes, nominal): (&Table<Mode, ModeKind>, Mode),
) -> Timing {
    let mac = &spec.mac;
    let StandardRules { slowest, sifs, .. } = *spec.phy.standard.rules();
    let difs = sifs + least_aifsn * slot;
    let has_eifs = mac.eifs != Eifs::Off;
    let eifs_as_nav = mac.eifs_as_nav && has_eifs;
    let eifs = match mac.eifs {
        Eifs::LowestRate => sifs + modes[slowest].ack_ns + difs,
        Eifs::ResponseRate => sifs + modes[nominal].answer_ns + difs,
        Eifs::Off => difs,
    };
    Timing {
        slot,
        sifs,
        difs,
        eifs: if eifs_as_nav { eifs + difs } else { eifs },
        sensing_delay: mac.sensing_delay.as_nanos().max(SAME_MOMENT),
        has_eifs,
        eifs_on_energy: mac.eifs_on_energy && has_eifs,
        eifs_as_nav,
    }
}

impl Kind {
    /// Computes the constants. The rates must be modes of the standard; the scenario reader checks that.
    ///
    /// # Errors
    /// Names the rate that is not a mode of the standard.
    pub fn new(spec: &RadioSpec, headers: &HeaderSpec) -> Result<Self, String> {
        let shared = Shared::new(spec)?;
        let broadcast_mode = mode_of(spec, spec.phy.broadcast_rate)?;
        Ok(Self { phy: shared.phy(), mac: shared.mac(broadcast_mode, headers) })
    }
}
