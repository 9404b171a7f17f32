//! The keys of `[radio]` and `[radios.NAME]`, which describe a kind of radio.

use std::num::NonZeroU8;

use airfair_sim::spec::{
    AfterTimeout, Countdown, Eifs, ErrorModel, Interference, LockOn, Preamble, Protection, ResponseTimeout,
    Sensitivity, Standard, TimeoutDistance, TxopEnd,
};
use airfair_units::{Bytes, Db, Dbm, Rate, Span};

use crate::declare::choice::Profile;
use crate::declare::field::{LONGEST, Off, Or};
use crate::declare::table::table;
use crate::defaults::radio_profile::describe;
use crate::keys::categories::{Categories, DscpCategories};
use crate::keys::propagation::{FadingTable, PropagationTable};

const MOST_ATTEMPTS: u32 = u32::MAX;
/// Largest contention window of the standards.
pub(crate) const CW_MAX: u32 = 1023;
/// Thresholds at which a preamble is detected, or the medium is busy.
pub(crate) const THRESHOLDS: std::ops::RangeInclusive<Dbm> = Dbm(-200.0)..=Dbm(60.0);

table! {
    /// A kind of radio: its PHY, its MAC, its queue, and the propagation between radios of this kind. `[radio]` is the kind
    /// named "default", of every node that names no other; `[radios.NAME]` adds a kind, which inherits the keys of `[radio]`
    /// that it does not write.
    struct RadioTable {
        /// Timing and modes: 802.11b is DSSS and CCK in 2.4 GHz, 802.11a OFDM in 5 GHz, 802.11g OFDM in 2.4 GHz.
        standard: Standard = default(Standard::Dot11b);
        /// Defaults of the keys below whose default depends on the profile; a key that is written has precedence.
        profile: Profile = default(Profile::Standard);
        /// Channel number. Radios on different channels do not hear each other.
        channel: u16 = computed("1; 802.11a: 36"), in 1..=233;
        /// Rate of unicast data frames.
        data_rate: Rate = computed("11 Mbit/s; 802.11a and 802.11g: 54 Mbit/s");
        /// Rates for responses: the highest one not above the data rate carries RTS, CTS and ACK.
        basic_rates: Vec<Rate> = computed("1 and 2 Mbit/s; 802.11a: 6, 12 and 24; 802.11g: 1, 2, 5.5, 11, 6, 12 and 24");
        /// Rate of broadcast frames.
        broadcast_rate: Rate = computed("1 Mbit/s; 802.11a: 6 Mbit/s");
        /// DSSS preamble. A frame at 1 Mbit/s always has the long one.
        preamble: Preamble = default(Preamble::Long);
        /// Slots of 9 us instead of 20 us (802.11g only).
        short_slot: bool = default(false);
        /// Frames before an OFDM data frame that keep 802.11b stations silent (802.11g only).
        protection: Protection = default(Protection::None);
        /// Transmit power, antenna gain included.
        tx_power: Dbm = default(Dbm(15.0)), in Dbm(-50.0)..=Dbm(60.0);
        /// A preamble weaker than this is not detected: its frame is energy at most. `range` in `propagation` sets this key
        /// from a distance.
        preamble_detect: Dbm = computed("-90 dBm; energy_detect where only that is written, and higher"), in THRESHOLDS;
        /// A signal weaker than this leaves the medium idle. Every signal counts, decodable or not, which is why the
        /// default is not the standard's much higher energy-detection threshold. `carrier_sense` in `propagation` sets
        /// this key from a distance.
        energy_detect: Dbm = computed("preamble_detect"), in THRESHOLDS;
        /// Signals weaker than this are left out altogether, from interference too.
        cutoff: Dbm = switch(describe), in Dbm(-250.0)..=Dbm(60.0);
        /// Noise in the receiver.
        noise: Dbm = computed("from noise_figure"), in Dbm(-200.0)..=Dbm(60.0);
        /// Noise figure of the receiver, over the thermal noise of its channel (22 MHz with 802.11b, else 20 MHz);
        /// an alternative to `noise`.
        noise_figure: Db = computed("7 dB"), in Db(0.0)..=Db(60.0);
        /// On what an idle receiver locks: a preamble above preamble_detect, or any energy above energy_detect.
        lock_on: LockOn = switch(describe);
        /// Least SINR at which a preamble locks.
        lock_sinr: Db = default(Db(4.0)), in Db(-100.0)..=Db(100.0);
        /// Time from the start of a preamble until the receiver has locked: of several preambles that begin within this time
        /// it locks on the strongest, and on none if that is not above the others by lock_sinr. "0 s": on the first.
        preamble_detection: Span = switch(describe), in Span::ZERO..=Span::from_millis(1);
        /// A preamble stronger than the locked frame by at least this replaces it.
        relock: Or<Off, Db> = default(Or::NONE);
        /// Interference to a frame: the sum of the signals that overlap it, or the strongest.
        interference: Interference = switch(describe);
        /// When a locked frame is received: fixed thresholds, or error rates by modulation from the worst SINR or from
        /// each stretch of constant SINR.
        error_model: ErrorModel = default(ErrorModel::Threshold);
        /// Probability that a data frame which a radio of this kind would receive is lost nevertheless, drawn for each attempt:
        /// the MAC sends it again. For a broadcast (requests of ARP and AODV, messages of schemes) it is drawn for each
        /// receiver, and nothing is sent again; a message of a scheme to another node is not overheard. RTS, CTS and ACK
        /// are not affected.
        frame_loss: f64 = default(0.0), in 0.0..=1.0;
        /// Probability that a packet is lost between the MAC, which has acknowledged it, and the node: only TCP repairs such a loss,
        /// no retry. Data and acknowledgements of flows are affected, at the end of each hop that a radio of this kind receives;
        /// messages of ARP, routing and agents are not.
        packet_loss: f64 = default(0.0), in 0.0..=1.0;
        /// Least SINR of a received frame with `error_model = "threshold"`.
        capture: Db = switch(describe), in Db(-100.0)..=Db(100.0);
        /// Least power of a received frame with `error_model = "threshold"`. `"per-rate"`: what the sender's data rate needs, the
        /// power at which a tenth of frames of 1500 B is lost to this receiver's noise; `"preamble-detect"`: one range for all rates.
        sensitivity: Sensitivity = computed("\"per-rate\"; where preamble_detect or range is written, \"preamble-detect\"");
        /// Data frames longer than this (MAC header and FCS included) are preceded by RTS and CTS: "0 B" is always, 2347 B
        /// is never.
        rts_threshold: Bytes = default(Bytes(2347));
        /// Number of the attempt from which on RTS and CTS precede the data frames of a packet whatever their length: 2 protects each
        /// repeated attempt, 1 is always; "off": the length alone decides. Rate control of today's drivers protects repeated attempts.
        rts_from_attempt: Or<Off, NonZeroU8> = default(Or::NONE);
        /// Smallest contention window, in slots: back-off is drawn from 0 to this. One less than a power of two.
        cw_min: u32 = computed("31; 802.11a and 802.11g: 15"), in 0..=32_767;
        /// Largest contention window, in slots. One less than a power of two.
        cw_max: u32 = default(CW_MAX), in 0..=32_767;
        /// Access to the medium: "dcf"; "edca", the standard's categories BK, BE, VI and VO with their TXOPs; "diffq", the eight levels
        /// of DiffQ; or up to eight categories from the lowest priority to the highest. Each category has its own back-off and, unless
        /// the scheme's queue serves all of them, its own queue of `queue_packets`. `cw_min` and `cw_max` belong to "dcf".
        categories: Categories = default(Categories::Dcf);
        /// Slot boundaries that the back-off of a category counts: from the end of its AIFS on, as the standard has it for EDCA, or
        /// from the end of the first slot after it, as the DCF does.
        edca_countdown: Countdown = computed("\"standard\", with categories");
        /// Data frames have a QoS Control field of 2 bytes.
        qos_header: bool = computed("true with categories");
        /// How a TXOP ends before its limit. "cf-end": frames reserve the medium to the limit, and a CF-End that still fits releases it;
        /// without one, the station itself waits until the limit. "cf-end-ns3": it does not wait. "silent": each frame reserves the
        /// medium for its response only.
        txop_end: TxopEnd = computed("\"cf-end\"; profile = \"ns-3\": \"cf-end-ns3\"; with categories");
        /// Category of a packet by its DSCP: "user-priority", by the first three bits (802.11), "rfc8325", or a list; both words need
        /// categories named BK, BE, VI and VO. DSCPs that a list does not name, and all with "lowest", belong to BE, or to the lowest
        /// category where no category has this name.
        dscp_categories: DscpCategories = computed("\"user-priority\" where there are BK, BE, VI and VO; \"lowest\" otherwise");
        /// Attempts of an RTS, or of a data frame without RTS, before the packet is dropped.
        short_retry_limit: u32 = switch(describe), in 1..=MOST_ATTEMPTS;
        /// Attempts of a data frame after RTS and CTS before the packet is dropped.
        long_retry_limit: u32 = default(4), in 1..=MOST_ATTEMPTS;
        /// Interval after a failed reception.
        eifs: Eifs = switch(describe);
        /// Energy without a preamble counts as a failed reception.
        eifs_on_energy: bool = switch(describe);
        /// A NAV set by an RTS is reset when no reception follows.
        nav_reset: bool = switch(describe);
        /// A CTS is sent only if the NAV is idle.
        cts_needs_idle_nav: bool = switch(describe);
        /// A CTS is also withheld while the carrier is busy.
        cts_needs_idle_carrier: bool = switch(describe);
        /// EIFS acts as a NAV: a good frame does not end it, no CTS is sent during it, a DIFS follows it.
        eifs_as_nav: bool = switch(describe);
        /// A packet that finds the medium idle for a DIFS is sent without back-off.
        immediate_access: bool = switch(describe);
        /// When the back-off after a missing CTS or ACK starts to count down.
        after_timeout: AfterTimeout = switch(describe);
        /// Time-out for a CTS or ACK: after it should have started, or after it should have ended.
        response_timeout: ResponseTimeout = switch(describe);
        /// Propagation time that slot and time-outs allow for, in steps of 3 us; each step is about 450 m of range.
        /// The standard ends at 31 (14 km); drivers accept more.
        coverage_class: u8 = default(0), in 0..=255;
        /// The distance for which the time-outs of CTS and ACK allow: "coverage-class", the same for all neighbours, or "each-link",
        /// which adds a signal's way to the neighbour that has to answer, and back, and leaves the slots as short as they are.
        timeout_distance: TimeoutDistance = default(TimeoutDistance::CoverageClass);
        /// A transmission is sensed at a slot boundary if it arrived at least this long before. A transmission that arrives at the
        /// boundary (less than 3 ns before, as times are rounded) is not sensed, not even with "0 s".
        sensing_delay: Span = switch(describe), in Span::ZERO..=LONGEST;
        /// Packets that the MAC dequeues ahead of time, the one being sent included.
        mac_queue: u32 = default(1), in 1..=1_000_000;
        /// A full queue stops its local source (as Linux does) instead of dropping its packets.
        backpressure: bool = switch(describe);
        /// How much of the node's own flows may wait here, so that they leave room for what the node forwards. A TCP connection has at
        /// most two packets in queue and MAC, or what it sends in this time at its pacing rate if that is more, as in Linux (TCP Small
        /// Queues: `tcp_small_queue_check` in `net/ipv4/tcp_output.c`; mac80211 sets about 8 ms, `tx_sk_pacing_shift` in
        /// `net/mac80211/main.c`). Two rules of this simulator hold however long the time is: the node's own flows together, over TCP and
        /// UDP, fill about half of the queue, and no TCP connection, nor a source over UDP beside one, has more than two packets and more
        /// than the mean of the node's flows. "off": up to the queue's limit. A flow is exempt while its law goes by the
        /// node's own queue.
        local_limit: Or<Off, Span> = computed(format!("{}; \"off\" without backpressure, and where `profile` of [tcp] is \"ns-2\" or \"ns-3\"", describe("local_limit")));
        /// Most packets that wait in the queue, those in the MAC not counted.
        queue_packets: u32 = default(50), in 1..=1_000_000;
        /// How power falls with distance.
        propagation: PropagationTable = computed("{ model = \"two-ray\" }");
        /// How the power of its signal varies in time at each receiver; "off": not at all, as long as nodes and gains rest. Draws depend on
        /// the seed of the run.
        fading: Or<Off, FadingTable> = computed("\"off\"");
    }
}
