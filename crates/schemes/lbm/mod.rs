//! LBM: an access point marks the packets of both directions at random, more often the larger the load of both together.
//!
//! V. A. Siris, D. Triantafyllidou, "Seamless Congestion Control over Wired and Wireless IEEE 802.11 Networks", ICS-FORTH.
//! It fills two places at the radio of an access point (a node with a radio and a wired link), an [`Agent`] and an [`Aqm`], and
//! one at wires, where RED with ECN stands. Stations keep drop-tail. Flows without ECN are left alone.
//!
//! | file | section | what |
//! |---|---|---|
//! | `load` | 2.2 | the load of the air: the utilisation, or another measure |
//! | `marking` | 2.2 | the marking probability of a load; the marks, outgoing and incoming |
//! | `adaptation` | 2.3 | the threshold follows the delay over the wireless link |
//! | `agent` | 2 | the three put together beside an access point's radio |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | t_avg | `interval` | time | 500 ms |
//! | alpha | `alpha` | | 1 |
//! | rho_0 | `rho0` | share of the radio's rate | 0.2 |
//! | [d_min, d_max] | `min_delay`, `max_delay` | time | 10 ms, 15 ms, with `adapt` |
//! | Delta rho_0 | `step` | share of the radio's rate | 0.01 |
//!
//! A packet is marked with probability `min{alpha (rho - rho_0), 1}`. With `adapt`, rho_0 falls by a step when the mean delay is
//! above d_max, and rises by a step when it is below d_min; without, it stays.
//!
//! Readings where the paper is open, each a parameter where another one is worth a try:
//! - **rho** is the bits of IP packets, headers included, of both directions, divided by the rate of data frames and by t_avg. The
//!   paper's own numbers need this: 2.3 Mbit/s of 11 are 0.21, and its rho_0 lies between 0.05 and 0.2. With the air's busy
//!   time as utilisation a saturated cell would have 0.9 and more, and every packet would be marked.
//! - **The rate of data frames**, where a law chooses the rate of each link, is the harmonic mean over the links that the access point has
//!   sent on: each carries an even part of the bits. A station that can no longer
//!   decode its frames is left out. The counters of an interface do not tell its links apart.
//! - **The interval t_avg** is a tumbling window: the probability of one window is that of the next packets until it ends.
//! - **The delay** is from a packet's arrival in the access point's queue to the MAC's acknowledgement, the mean of those
//!   acknowledged in the window. A window without an acknowledged packet changes nothing. Packets that the MAC drops are not counted.
//! - **How often rho_0 moves**: once every t_avg; once every `adapt_windows` of them, by the mean delay of all, in general.
//! - **Bounds of rho_0**: 0 and `max_rho0`, 0.25. An idle cell lets rho_0 rise to its bound, from which it must fall again when
//!   load comes; a bound above the capacity of the air (0.2 to 0.3 of 11 Mbit/s) only makes that fall longer. A larger `rho0` needs
//!   a larger bound.
//! - **Marks on acknowledgements**: "a packet, flowing either in the uplink or the downlink" is marked. RFC 3168 leaves pure
//!   acknowledgements unmarked; with `mark_acks` a draw decides for them too, and a marked one carries ECN-Echo from there on, so
//!   that the sender of the data halves its window: a segment and its acknowledgement are then two draws.
//! - **Wired routers** mark "at the output link" (2.1), by an algorithm that the paper leaves open: RED with ECN and its defaults at each
//!   wire (`wired_red`), its packet time that of 1000 B.
//! - **Packets that cannot be marked** (no ECN, SYN, without `mark_acks` pure acknowledgements) pass: LBM drops nothing, whatever
//!   the load is.
//!
//! The paper's future work, as parameters:
//! - `curve`, the exponent k of the marking curve `min{(alpha (rho - rho_0))^k, 1}`: above 1 it is convex, below 1 concave.
//! - `measure`: "utilisation"; "packets", packets per second as a share of the rate in packets of `mean_packet`; "access", the
//!   mean time that a packet spent as the MAC's first one, divided by `access_scale`.
//!
//! Ours, because measured (`docs/schemes/lbm.md`); both are off by default:
//! - `evenness`: a flow's probability is p times `(rate / mean rate)^evenness`. One p for all gives TCP flows rates in inverse proportion
//!   to their round-trip times; with the exponent k they go as the round-trip time to the power of -1 / (1 + k/2).
//! - `most_foreign`: the access point marks nothing while others send to others for more than this share of time. The load that it
//!   measures is then not the load of the air, as at the gateway of a mesh.
//!
//! Ours: `downlink_only`, for comparison: an access point that measures and marks only what it sends itself.

mod adaptation;
mod agent;
mod load;
mod marking;
mod presets;

pub use adaptation::Adaptation;
pub use agent::LbmAgent;
pub use load::{Load, Measure};
pub use marking::{Curve, INCOMING, LbmMark, OUTGOING};
pub use presets::PRESETS;

use alloc::boxed::Box;
use alloc::string::ToString;

use airfair_units::{Bytes, Rate, Span};

use crate::params;
use crate::params::{ParamError, ParamValue, Params};
use crate::places::{Agent, Aqm, Capability, Interface, Medium, Wants};
use crate::red::Red;
use crate::scheme::Scheme;

const SHORTEST: Span = Span::from_millis(1);
const LONGEST: Span = Span::from_secs(3600);

params! {
    /// The parameters of LBM.
    pub struct Lbm {
        /// t_avg, over which load and delay are measured; section 2.3: some round-trip times
        paper interval: Span = Span::from_millis(500), in SHORTEST..=LONGEST;
        /// slope of the marking probability over the load; section 2.3: more is faster and less stable
        paper alpha: f64 = 1.0, in 0.0..=1000.0;
        /// load from which packets are marked, or where the adaptation begins; section 3: 0.15 and 0.2
        paper rho0: f64 = 0.2, in 0.0..=1.0;
        /// rho0 follows the delay over the wireless link; section 2.3
        paper adapt: bool = false;
        /// d_min: below this mean delay rho0 rises; section 3.2
        paper min_delay: Span = Span::from_millis(10), in Span::ZERO..=LONGEST;
        /// d_max: above this mean delay rho0 falls; section 3.2
        paper max_delay: Span = Span::from_millis(15), in Span::ZERO..=LONGEST;
        /// change of rho0 in a step; section 3.2
        paper step: f64 = 0.01, in 0.0..=1.0;
        /// rho0 moves once in this many intervals, by the mean delay of all of them
        reading adapt_windows: u64 = 1, in 1..=1_000_000;
        /// rho0 rises no further; the default is the load of a full cell, above which rho0 only takes longer to fall
        reading max_rho0: f64 = 0.25, in 0.0..=1.0;
        /// exponent of the marking curve: 1 linear, above 1 convex, below 1 concave; section 4
        paper curve: f64 = 1.0, in 0.1..=10.0;
        /// the quantity rho: bits of both directions over the rate, packets of both directions, or the delay of access to the air;
        /// section 4
        paper measure: Measure = Measure::Utilisation;
        /// with measure "packets": a load of 1 is the radio's rate in packets of this size
        reading mean_packet: Bytes = Bytes(1000), in Bytes(1)..=Bytes(65_535);
        /// with measure "access": a load of 1 is this mean time at the head of the MAC
        reading access_scale: Span = Span::from_millis(20), in Span::from_micros(1)..=LONGEST;
        /// received packets are neither measured nor marked; section 2.2 argues against this
        operator downlink_only: bool = false;
        /// acknowledgements are marked too, by setting ECN-Echo in them; section 2.2 marks "a packet" of either direction
        reading mark_acks: bool = false;
        /// exponent of a flow's rate, as a multiple of the mean rate, in its marking probability; 0: all flows have the same
        reading evenness: f64 = 0.0, in 0.0..=8.0;
        /// share of the time in which others send to others above which the access point marks nothing; 1: it always marks
        operator most_foreign: f64 = 1.0, in 0.0..=1.0;
        /// queues of wires run RED with ECN: section 2.1 has routers mark "at the output link" and leaves the algorithm open; false:
        /// drop-tail
        reading wired_red: bool = true;
    }
}

impl Lbm {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter out of its range, or bounds in the wrong order.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        let lbm = Self::read(params)?;
        if lbm.max_delay < lbm.min_delay {
            return Err(ParamError::above("min_delay", "max_delay"));
        }
        if lbm.adapt && lbm.max_rho0 < lbm.rho0 {
            return Err(ParamError::above("rho0", "max_rho0"));
        }
        Ok(lbm)
    }

    /// The marking curve.
    const fn curve(&self) -> Curve {
        Curve { alpha: self.alpha, exponent: self.curve }
    }
}

/// RED with ECN at a wire of this rate; its defaults, with a packet time of 1000 B.
fn red_at(rate: Rate) -> Option<Red> {
    let packet_time = rate.time_for(Bytes(1000)).clamp(Span::from_micros(1), Span::from_secs(10));
    let set = [
        ("ecn".to_string(), ParamValue::Flag(true)),
        ("mean_packet_time".to_string(), ParamValue::Span(packet_time)),
    ];
    // They are in their ranges.
    Red::from_params(&Params(set.into())).ok()
}

impl Scheme for Lbm {
    fn aqm(&self, interface: &Interface) -> Option<Box<dyn Aqm>> {
        match interface.medium {
            Medium::Radio => interface
                .is_access_point_radio()
                .then(|| Box::new(LbmMark::new(self.mark_acks, self.evenness)) as Box<dyn Aqm>),
            Medium::Wire if self.wired_red => Some(Box::new(red_at(interface.rate)?)),
            Medium::Wire => None,
        }
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        interface.is_access_point_radio().then(|| Box::new(LbmAgent::new(*self)) as Box<dyn Agent>)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        let wants = Wants::of(&[Capability::Ecn]);
        if !interface.is_access_point_radio() {
            return wants;
        }
        let times = self.adapt || self.measure == Measure::Access;
        wants
            .and(&[Capability::LinkUse])
            .and_if(!self.downlink_only, Capability::Received)
            .and_if(times, Capability::LinkTimes)
            .and_if(self.evenness > 0.0, Capability::FlowUse)
            .and_if(self.mark_acks, Capability::Echo)
            .and_if(self.most_foreign < 1.0, Capability::Airtime)
            .samples_every(self.interval)
    }
}
