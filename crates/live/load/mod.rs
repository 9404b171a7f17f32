//! Counters of a device and of its channel.

mod device;
mod survey;
mod text;

use std::fmt;

use airfair_host::{Capabilities, InterfaceCounters, LinkCounters};
use airfair_schemes::places::Capability;
use airfair_units::{Rate, Time};

use crate::shaping::MacAddress;

pub use device::DeviceCounters;
pub use survey::SurveyCounters;
pub use text::{EMULATION, EmulatedCounters, FileCounters, parse_counters};

/// A reading of a source.
#[derive(Debug, Clone)]
pub struct Counters {
    /// Those of the device.
    pub interface: InterfaceCounters,
    /// Those of its links; empty where the source has none.
    pub links: Vec<LinkReading>,
}

impl Counters {
    /// Counters without links.
    #[must_use]
    pub const fn of(interface: InterfaceCounters) -> Self {
        Self { interface, links: Vec::new() }
    }
}

/// The counters of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkReading {
    /// Hardware address of the neighbour.
    pub to: MacAddress,
    /// The counters.
    pub counters: LinkCounters,
    /// The rate at which frames are sent to it, if the driver has chosen one.
    pub rate: Option<Rate>,
}

/// Counters of a device from a moment to now.
pub trait LoadSource: fmt::Debug {
    /// Reads the counters; none: they have not moved since the last reading, which is no fault yet.
    ///
    /// # Errors
    /// There are none now, or none that can be right.
    fn read(&mut self, now: Time) -> Result<Option<Counters>, Fault>;

    /// The capabilities that follow from what it counts, and those of them that it estimates.
    fn offers(&self) -> (&'static [Capability], &'static [Capability]);

    /// The source in words.
    fn words(&self) -> String;
}

/// A reading that makes no sample, with the reason for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The counters cannot be read.
    Unread(String),
    /// The counters cannot be right.
    Wrong(String),
}

impl Fault {
    /// The reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Self::Unread(reason) | Self::Wrong(reason) => reason,
        }
    }
}

/// Capabilities of a radio in a host whose packets stay in the kernel: those of the program there, of its source of counters, and of its
/// messages, if it has some. Of what the daemon itself would have to count, change or hold with each packet nothing is there.
///
/// Estimates: the time that the NAV reserves is taken for 0 by whoever counts the times of the radio's states; neighbours are those whose
/// hellos are heard; the time of an exchange is arithmetic; the sizes of the queue are those by next hop; the flows of the program in the
/// kernel are known by hashes, and their factors change once an interval.
#[must_use]
pub fn offered(source: &dyn LoadSource, messages: bool, lone: bool) -> Capabilities {
    use Capability::{
        Airtime, Backlogs, Ecn, Exchange, FlowUse, Links, LoneRadio, NavTime, Neighbours, Received,
    };
    let mut exact = vec![Ecn, Received];
    let (counted, inexactly) = source.offers();
    exact.extend(counted);
    let mut estimated = vec![Exchange, FlowUse];
    estimated.extend(inexactly);
    if exact.contains(&Airtime) || estimated.contains(&Airtime) {
        estimated.push(NavTime);
    }
    if messages {
        estimated.extend([Neighbours, Backlogs]);
    } else {
        // Links are known by the neighbours' hellos.
        exact.retain(|&capability| capability != Links);
        estimated.retain(|&capability| capability != Links);
    }
    if lone {
        exact.push(LoneRadio);
    }
    Capabilities::exactly(&exact).estimating(&estimated)
}
