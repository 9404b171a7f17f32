//! Classes of the queueing discipline HTB at the root of a device, each with a rate, an overhead for each packet and a burst.
//!
//! A packet that no filter sorts into a class leaves at once (`direct` packets of HTB): classes alone hold nothing up. Numbers are those of
//! `linux/pkt_sched.h`; times of buckets are in units of 64 ns, as the kernel counts them since 2.6.31.

use std::fmt;

use airfair_schemes::places::LinkRate;
use airfair_units::Rate;
use netlink_packet_core::{NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_sys::protocols::NETLINK_ROUTE;

use super::attributes::{Malformed, Request, attributes};
use super::error::Error;
use super::exchange::Exchange;
use super::messages::Failure;
use super::numbers::{
    EEXIST, ENOENT, RTM_DELQDISC, RTM_DELTCLASS, RTM_GETTCLASS, RTM_NEWQDISC, RTM_NEWTCLASS, TC_H_ROOT,
    TCA_FQ_CODEL_FLOWS, TCA_HTB_CEIL64, TCA_HTB_DIRECT_QLEN, TCA_HTB_INIT, TCA_HTB_PARMS, TCA_HTB_RATE64,
    TCA_KIND, TCA_OPTIONS, TCA_STATS_QUEUE, TCA_STATS2,
};

/// The first half of the numbers of the discipline and its classes, by which those of a daemon are recognised.
pub const MAJOR: u16 = 0x6169;

/// Most classes of a device.
pub const MOST_CLASSES: usize = 64;

/// Packets that wait in a class where the kernel has no `fq_codel`.
pub const LIMIT: u32 = 50;

/// Queues of flows in a class with `fq_codel`.
const FLOWS: u32 = 128;

/// Bytes of the header of Ethernet, which the kernel counts.
const ETHERNET: u32 = 14;

/// The largest overhead that the kernel has a number for.
pub const MOST_OVERHEAD: u32 = u16::MAX as u32 + ETHERNET;

/// The unit of the times of buckets, ns.
const TICK: u128 = 64;

/// A rate at which a class holds nothing up.
const UNLIMITED: LinkRate = LinkRate { rate: Rate(30_000_000_000), overhead: 0, burst: 1 << 20 };

/// A queue's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassState {
    /// Packets that wait.
    pub waiting: u32,
    /// Packets that it has dropped.
    pub dropped: u32,
}

/// Requests for the classes of a device, in the network namespace of the calling thread.
pub struct Classes {
    exchange: Exchange,
    device: String,
    index: i32,
}

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Classes").field("device", &self.device).finish_non_exhaustive()
    }
}

/// `struct tcmsg`: family, padding, index, handle, parent, info.
fn header(index: i32, handle: u32, parent: u32) -> Vec<u8> {
    let words = [0, index.cast_unsigned(), handle, parent, 0];
    words.into_iter().flat_map(u32::to_ne_bytes).collect()
}

/// The number of a class.
const fn class(minor: u16) -> u32 {
    (MAJOR as u32) << 16 | minor as u32
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((value.len() as u16 + 4).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// `TCA_OPTIONS` of a class: `struct tc_htb_opt`, and the rate in 64 bits. With a known link layer the kernel wants no table of times.
fn options(rate: &LinkRate) -> Vec<u8> {
    const OF_ETHERNET: u8 = 1;
    // Two packets: a bucket that takes less would never let one go.
    const QUANTUM: u32 = 3028;
    let bytes_per_s = (rate.rate.as_bps() / 8).max(1);
    let overhead = u16::try_from(rate.overhead.saturating_sub(ETHERNET)).unwrap_or(u16::MAX);
    let short = u32::try_from(bytes_per_s).unwrap_or(u32::MAX);
    let mut spec = vec![0, OF_ETHERNET];
    spec.extend(overhead.to_ne_bytes());
    spec.extend([0; 4]);
    spec.extend(short.to_ne_bytes());
    let burst = u128::from(rate.burst.max(ETHERNET)) * 1_000_000_000 / u128::from(bytes_per_s) / TICK;
    let burst = u32::try_from(burst).unwrap_or(u32::MAX);
    let parameters = [spec.clone(), spec, words(&[burst, burst, QUANTUM, 0, 0])].concat();
    let long = bytes_per_s.to_ne_bytes();
    [
        attribute(TCA_HTB_PARMS, &parameters),
        attribute(TCA_HTB_RATE64, &long),
        attribute(TCA_HTB_CEIL64, &long),
    ]
    .concat()
}

/// The request for a new discipline at the root of a device, which must have none of its own.
pub(super) fn root_request(index: i32) -> Request {
    const VERSION: u32 = 3;
    const RATE_TO_QUANTUM: u32 = 10;
    // No class for packets that are not sorted.
    let init = attribute(TCA_HTB_INIT, &words(&[VERSION, RATE_TO_QUANTUM, 0, 0, 0]));
    let direct = attribute(TCA_HTB_DIRECT_QLEN, &words(&[1000]));
    Request::new(
        RTM_NEWQDISC,
        NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
        &header(index, u32::from(MAJOR) << 16, TC_H_ROOT),
    )
    .with_text(TCA_KIND, "htb")
    .with(TCA_OPTIONS, &[init, direct].concat())
}

/// The request for a class with a rate, whether it is there or not.
pub(super) fn class_request(index: i32, minor: u16, rate: &LinkRate) -> Request {
    let header = header(index, class(minor), u32::from(MAJOR) << 16);
    Request::new(RTM_NEWTCLASS, NLM_F_ACK | NLM_F_CREATE, &header)
        .with_text(TCA_KIND, "htb")
        .with(TCA_OPTIONS, &options(rate))
}

/// A class in the payload of a reply: its number, and what waits.
pub(super) fn decode(payload: &[u8]) -> Result<Option<(u16, ClassState)>, Malformed> {
    const TCMSG: usize = 20;
    let header = payload.first_chunk::<TCMSG>().ok_or(Malformed("a class has no header"))?;
    let handle = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]);
    if handle >> 16 != u32::from(MAJOR) {
        return Ok(None);
    }
    let mut state = ClassState::default();
    for part in attributes(&payload[TCMSG..]) {
        let part = part?;
        if part.kind != TCA_STATS2 {
            continue;
        }
        for stats in part.nested() {
            let stats = stats?;
            if stats.kind != TCA_STATS_QUEUE {
                continue;
            }
            // `struct gnet_stats_queue`: length, backlog, drops, and others.
            let word = |at: usize| {
                let bytes = stats.value.get(4 * at..).and_then(|rest| rest.first_chunk());
                bytes.map(|bytes| u32::from_ne_bytes(*bytes)).ok_or(Malformed("a queue has no counters"))
            };
            state = ClassState { waiting: word(0)?, dropped: word(2)? };
        }
    }
    Ok(Some((handle as u16, state)))
}

impl Classes {
    /// Those of a device with this number; nothing is changed yet.
    ///
    /// # Errors
    /// There is no permission, or no socket.
    pub fn open(device: &str, index: i32) -> Result<Self, Error> {
        let exchange =
            Exchange::open(NETLINK_ROUTE).map_err(|failure| Error::of_opening(failure, "rtnetlink"))?;
        Ok(Self { exchange, device: device.to_string(), index })
    }

    fn carry_out(&mut self, request: Request) -> Result<(), Failure> {
        self.exchange.request(request, 0, false, &mut |_| Ok(()))
    }

    fn error(&self, failure: Failure) -> Error {
        Error::new(failure, &self.device, "queueing discipline")
    }

    /// Puts the discipline at the root of the device, without classes.
    ///
    /// # Errors
    /// Another one that somebody has made stands there, the kernel has no HTB.
    pub fn make(&mut self) -> Result<(), String> {
        match self.carry_out(root_request(self.index)) {
            Ok(()) => Ok(()),
            Err(Failure::Kernel { errno: EEXIST, .. }) => Err(format!(
                "{}: a queueing discipline that somebody has made stands at its root: remove it",
                self.device
            )),
            Err(Failure::Kernel { errno: ENOENT, .. }) => {
                Err(format!("{}: this kernel has no queueing discipline HTB (sch_htb)", self.device))
            }
            Err(failure) => Err(self.error(failure).to_string()),
        }
    }

    /// Gives a class a rate. `is_new`: it is made, with `fq_codel` in it, or a queue of [`LIMIT`] packets where the kernel has none.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn set(&mut self, minor: u16, rate: &LinkRate, is_new: bool) -> Result<(), Error> {
        self.carry_out(class_request(self.index, minor, rate)).map_err(|failure| self.error(failure))?;
        if !is_new {
            return Ok(());
        }
        let leaf = || {
            let header = header(self.index, u32::from(minor) << 16, class(minor));
            Request::new(RTM_NEWQDISC, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &header)
        };
        let flows = attribute(TCA_FQ_CODEL_FLOWS, &words(&[FLOWS]));
        let fair = leaf().with_text(TCA_KIND, "fq_codel").with(TCA_OPTIONS, &flows);
        let plain = leaf().with_text(TCA_KIND, "pfifo").with(TCA_OPTIONS, &words(&[LIMIT]));
        match self.carry_out(fair).or_else(|_| self.carry_out(plain)) {
            // That of a class whose removal the kernel has refused.
            Ok(()) | Err(Failure::Kernel { errno: EEXIST, .. }) => Ok(()),
            Err(failure) => Err(self.error(failure)),
        }
    }

    /// Removes a class, if it is there. Packets in it are lost.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn remove(&mut self, minor: u16) -> Result<(), Error> {
        let header = header(self.index, class(minor), 0);
        let removed = self.carry_out(Request::new(RTM_DELTCLASS, NLM_F_ACK, &header));
        match removed {
            Ok(()) | Err(Failure::Kernel { errno: ENOENT, .. }) => Ok(()),
            Err(failure) => Err(self.error(failure)),
        }
    }

    /// The classes by their numbers.
    ///
    /// # Errors
    /// The kernel does not answer.
    pub fn states(&mut self) -> Result<Vec<(u16, ClassState)>, Error> {
        let mut found = Vec::new();
        let request = Request::new(RTM_GETTCLASS, NLM_F_DUMP, &header(self.index, 0, 0));
        let mut each = |payload: &[u8]| {
            found.extend(decode(payload)?);
            Ok(())
        };
        let read = self.exchange.request(request, RTM_NEWTCLASS, true, &mut each);
        read.map_err(|failure| self.error(failure))?;
        Ok(found)
    }

    /// Lets all packets that wait in classes leave, and removes the discipline. True if there was one. `pause`: called while packets leave,
    /// some milliseconds each.
    pub fn clear(&mut self, mut pause: impl FnMut()) -> bool {
        const PAUSES: usize = 20;
        let waits = |states: &[(u16, ClassState)]| states.iter().any(|(_, state)| state.waiting > 0);
        if let Ok(states) = self.states()
            && waits(&states)
        {
            for &(minor, _) in &states {
                _ = self.carry_out(class_request(self.index, minor, &UNLIMITED));
            }
            for _ in 0..PAUSES {
                pause();
                if self.states().is_ok_and(|states| !waits(&states)) {
                    break;
                }
            }
        }
        let header = header(self.index, u32::from(MAJOR) << 16, TC_H_ROOT);
        // An error: there is none, or another one.
        self.carry_out(Request::new(RTM_DELQDISC, NLM_F_ACK, &header).with_text(TCA_KIND, "htb")).is_ok()
    }
}
