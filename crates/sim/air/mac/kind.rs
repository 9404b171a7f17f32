//! The MAC's constants of a kind of radio, computed once. Times in nanoseconds.

use airfair_schemes::places::LoneExchange;
use airfair_units::{Bytes, Span};

use crate::air::medium::backoffs::MOST_CATEGORIES;
use crate::air::medium::phy::{PpduFormat, Timing};
use crate::ids::Table;
use crate::modes::Mode;
use crate::spec::{AfterTimeout, Protection, TxopEnd};

/// Sizes of IP packets over which the time of a lone exchange that does not depend on the size is averaged, bytes.
const MEAN_OVER: std::ops::Range<u32> = 1000..1128;

/// The constants of an access category.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CategoryKind {
    pub cw_min: u32,
    pub cw_max: u32,
    /// Limit of a TXOP, ns; 0: one frame exchange.
    pub txop: u64,
}

/// The constants of frames in one mode. Times in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ModeKind {
    /// Durations of control frames in this mode.
    pub rts_ns: u64,
    pub cts_ns: u64,
    pub ack_ns: u64,
    pub cf_end_ns: u64,
    /// Time-out of the CTS after an RTS in this mode.
    pub cts_wait: u64,
    /// Mode of the ACK that answers data in this mode, its duration, and its time-out.
    pub ack_mode: Mode,
    pub answer_ns: u64,
    pub answer_wait: u64,
    /// Mode of RTS and CTS before data in this mode: that of its ACK, or a DSSS mode that 802.11b stations can decode too.
    pub control_mode: Mode,
    /// Protection of data in this mode.
    pub protection: Protection,
}

/// How long a response is awaited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseWait {
    /// True if a reception that has begun by then is awaited to its end.
    pub to_its_end: bool,
    /// True if time-outs also contain a signal's way to the neighbour and back.
    pub each_link: bool,
}

/// The MAC's constants of a kind of radio.
#[derive(Debug, Clone)]
pub struct MacKind {
    pub(crate) format: PpduFormat,
    pub(crate) timing: Timing,
    /// Mode of data frames by the scenario. The mode of a pair of stations is that of the law ([`super::RateControl`]).
    pub(crate) nominal_mode: Mode,
    /// The constants of each mode.
    pub(crate) modes: Table<Mode, ModeKind>,
    pub(crate) broadcast_mode: Mode,
    /// RTS and CTS precede data frames of more bytes, at each attempt.
    pub(crate) rts_threshold: u64,
    /// They precede every data frame of a packet at which so many attempts have failed.
    pub(crate) rts_after: u16,
    /// Categories by priority, the lowest first; the DCF has one. The rest of the array repeats the last one.
    pub(crate) categories: [CategoryKind; MOST_CATEGORIES],
    /// Number of categories.
    pub(crate) category_count: usize,
    /// Names of the categories.
    pub(crate) names: Vec<String>,
    /// The category of packets with DSCP 0.
    pub(crate) default_category: usize,
    /// End of a TXOP, and what duration fields reserve.
    pub(crate) txop_end: TxopEnd,
    /// Traffic identifier in the QoS Control field, by category; none without that field. With it, an ACK carries the rest of the duration
    /// that the acknowledged frame has reserved.
    pub(crate) tids: Option<[u8; MOST_CATEGORIES]>,
    pub(crate) short_retry_limit: u32,
    pub(crate) long_retry_limit: u32,
    pub(crate) cts_needs_idle_nav: bool,
    pub(crate) cts_needs_idle_carrier: bool,
    pub(crate) immediate_access: bool,
    pub(crate) after_timeout: AfterTimeout,
    /// Packets that the MAC of a station holds at most.
    pub(crate) mac_queue: u32,
    /// How long a response is awaited.
    pub(crate) wait: ResponseWait,
    /// Bytes of LLC and MAC headers and FCS in a data frame.
    pub(crate) overhead: u32,
}

impl MacKind {
    /// Time on the air of a data frame that carries an IP packet of `bytes` in `mode`.
    #[must_use]
    pub fn airtime(&self, mode: Mode, bytes: u32) -> Span {
        self.format.duration(mode, bytes + self.overhead)
    }

    /// Time of an exchange that carries an IP packet of `bytes` in `mode`: RTS and CTS where they precede, data frame and ACK.
    pub(crate) fn exchange_time(&self, mode: Mode, bytes: u32) -> Span {
        let rts = if self.uses_rts(mode, bytes + self.overhead) { self.rts_exchange(mode) } else { 0 };
        Span(rts + self.airtime(mode, bytes).0 + self.timing.sifs + self.modes[mode].answer_ns)
    }

    /// How the medium judges frames of an exchange whose data have this mode ([`crate::air::medium::frame::Frame::judged`]).
    #[inline(always)]
    pub(crate) fn judged(&self, mode: Mode) -> Option<Mode> {
        (mode != self.nominal_mode).then_some(mode)
    }

    /// The constants of the mode of RTS and CTS before data in `mode`.
    #[inline(always)]
    pub(crate) fn control(&self, mode: Mode) -> &ModeKind {
        &self.modes[self.modes[mode].control_mode]
    }

    /// Duration of a CF-End after data in `mode`, ns: it has the mode of RTS and CTS.
    pub(crate) fn cf_end_ns(&self, mode: Mode) -> u64 {
        self.control(mode).cf_end_ns
    }

    /// Time of RTS and CTS before data in `mode` and of the SIFS after each, ns.
    fn rts_exchange(&self, mode: Mode) -> u64 {
        let control = self.control(mode);
        control.rts_ns + control.cts_ns + 2 * self.timing.sifs
    }

    /// The exchange of a lone saturated link in `mode`, in the category of packets with DSCP 0: its back-off is half of the smallest window
    /// in the mean.
    pub(crate) fn lone_exchange(&self, mode: Mode) -> LoneExchange {
        let (rate, rts) = (mode.rate(), self.rts_exchange(mode));
        let always = self.modes[mode].protection == Protection::RtsCts;
        let above = if always { 0 } else { self.rts_threshold.saturating_sub(self.overhead.into()) };
        // Over a range of sizes, since symbols are whole.
        let without = |bytes: u32| {
            let rts = if self.uses_rts(mode, bytes + self.overhead) { rts } else { 0 };
            self.exchange_time(mode, bytes).0 - rts - rate.time_for(Bytes(bytes.into())).0
        };
        let fixed = MEAN_OVER.map(without).sum::<u64>() / MEAN_OVER.len() as u64;
        let backoff = u64::from(self.category(self.default_category).cw_min) * self.timing.slot / 2;
        LoneExchange {
            fixed: Span(fixed + self.timing.difs + backoff),
            rts: Span(rts),
            rts_above: u32::try_from(above).unwrap_or(u32::MAX),
            rate,
        }
    }

    /// True if a response over a link of this propagation delay comes after the time-out: it starts a SIFS after the way there and back,
    /// and the time-out allows for a SIFS and a slot.
    pub(crate) fn comes_late(&self, delay: Span) -> bool {
        !self.wait.each_link && 2 * delay.as_nanos() > self.timing.slot
    }

    /// Duration of a frame of `bytes` in `mode`, ns.
    #[inline]
    pub(crate) fn duration(&self, mode: Mode, bytes: u32) -> u64 {
        self.format.duration(mode, bytes).as_nanos()
    }

    /// The lowest mandatory mode of the standard.
    pub(crate) fn lowest_mode(&self) -> Mode {
        self.format.standard.rules().slowest
    }

    /// Traffic identifier of a data frame in a category, if its header has one.
    pub(crate) fn tid(&self, category: Option<u8>) -> Option<u8> {
        self.tids.map(|tids| tids[usize::from(category.unwrap_or(0)) % MOST_CATEGORIES])
    }

    /// The constants of a category.
    #[inline(always)]
    pub(crate) fn category(&self, category: usize) -> &CategoryKind {
        &self.categories[category % MOST_CATEGORIES]
    }

    /// True if RTS and CTS precede a data frame of `bytes` in `mode` after `failed` attempts at its packet.
    #[inline(always)]
    pub(crate) fn uses_rts_after(&self, failed: u16, mode: Mode, bytes: u32) -> bool {
        self.uses_rts(mode, bytes) || failed >= self.rts_after
    }

    /// True if RTS and CTS precede a data frame of `bytes` in `mode` at the first attempt.
    #[inline(always)]
    pub(crate) fn uses_rts(&self, mode: Mode, bytes: u32) -> bool {
        u64::from(bytes) > self.rts_threshold || self.modes[mode].protection == Protection::RtsCts
    }
}
