//! A typical host on real interfaces: a program beside Linux' mac80211 and a driver, with a queue of its own before the radio.
//!
//! This is the one declaration of where such a host has each capability from, and how well. The daemon's skeleton among this crate's tests
//! runs schemes on it; the reference of capabilities is made of it.

use alloc::vec::Vec;

use airfair_schemes::places::{Capability, Interface, Priority};
use airfair_schemes::{Change, SchemeEntry, Wanted, WantsByKind};

use crate::capability::{Capabilities, Offer};

/// The part of a host on real interfaces that has a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Counters and reports of the driver.
    Driver,
    /// A second interface of the radio in monitor mode, which shows the frames that the radio decodes.
    Monitor,
    /// The host's own program, which has the packets and the routes.
    Software,
    /// No part: only a simulator has it.
    Simulator,
}

impl Origin {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::Driver, Self::Monitor, Self::Software, Self::Simulator];

    /// The part in words, as a heading has it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Driver => "Counters of a driver",
            Self::Monitor => "A monitor interface",
            Self::Software => "Software of the host",
            Self::Simulator => "A simulator only",
        }
    }
}

/// A capability on a typical driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnDriver {
    /// The part of the host that has it, or would have it.
    pub origin: Origin,
    /// The degree to which the host has it.
    pub offer: Offer,
    /// The source there, or the reason for its absence.
    pub doc: &'static str,
}

impl OnDriver {
    /// The capability on a typical driver.
    #[must_use]
    pub const fn of(capability: Capability) -> Self {
        use Offer::{Absent, Estimated, Exact};
        use Origin::{Driver, Monitor, Simulator, Software};
        let (origin, offer, doc) = match capability {
            Capability::Samples => (
                Driver,
                Estimated,
                "packets, retries and failures of nl80211's stations; they may step back or stand still",
            ),
            Capability::Airtime => (
                Driver,
                Estimated,
                "the channel's busy, receive and transmit times of nl80211's survey, in ms; they may step back or stand still",
            ),
            Capability::TransmitChoice => (
                Software,
                Estimated,
                "rate and power in the header of a frame that a monitor interface injects (radiotap); the power is the nearest to the wanted one",
            ),
            Capability::NavTime => (
                Monitor,
                Absent,
                "no driver counts it. A host may declare an estimate: by the duration fields of frames that a monitor interface shows, or 0, as \
                 the skeleton does for NRED",
            ),
            Capability::SetUp => (Simulator, Absent, "no node knows of packets that have not reached it"),
            Capability::LinkUse => (Driver, Exact, "packets and bytes of nl80211's stations"),
            Capability::LinkTimes => (Driver, Absent, "no driver counts for how long its packets wait"),
            Capability::Links => (
                Driver,
                Exact,
                "packets, bytes, retries and failures of each station by nl80211; arrivals by flow are counted by the host's queue",
            ),
            Capability::Neighbours => (
                Monitor,
                Estimated,
                "the senders of data frames that a monitor interface shows, as far as links are alike both ways",
            ),
            Capability::Exchange => {
                (Software, Estimated, "arithmetic on the standard's times and the nominal rate")
            }
            Capability::Overheard => {
                (Monitor, Estimated, "frames for others, as far as a monitor interface shows them")
            }
            Capability::Received => (Software, Exact, "the host passes the packets on"),
            Capability::HeardHeaders => {
                (Monitor, Estimated, "bytes of frames, as far as a monitor interface shows them")
            }
            Capability::Finished => (
                Driver,
                Exact,
                "the driver's status of each packet that was sent, which a socket gets by `SO_WIFI_STATUS`",
            ),
            Capability::AccessTimes => {
                (Driver, Absent, "no driver says when a packet came to the head of its queue")
            }
            Capability::Routes => (Software, Exact, "the kernel's notifications of routes (rtnetlink)"),
            Capability::Backlogs => (Software, Exact, "the host's queue"),
            Capability::Departures => (
                Software,
                Absent,
                "a driver takes packets in advance, and the host sees no departure at its time",
            ),
            Capability::OwnQueue => (Software, Exact, "the host's queue"),
            Capability::LoneRadio => {
                (Software, Exact, "the operator's configuration: the host serves one radio")
            }
            Capability::DeliveryRatios => {
                (Simulator, Absent, "a node can measure its own links by probes, and not all links")
            }
            Capability::Ecn => (Software, Exact, "the ECN field of IP headers"),
            Capability::FlowUse => (Software, Exact, "the host's AQM, which has each packet"),
            Capability::Echo => (Software, Exact, "the host changes the packet"),
            Capability::Priorities => {
                (Driver, Exact, "the four queues of the hardware, one for each access category")
            }
        };
        Self { origin, offer, doc }
    }
}

impl Capabilities {
    /// A typical host on real interfaces ([`OnDriver::of`]), with four priorities.
    pub const DRIVER: Self = {
        let mut driver = Self::exactly(Capability::ALL).priorities_to(Priority(3));
        let mut at = 0;
        while at < Capability::ALL.len() {
            let capability = Capability::ALL[at];
            driver = match OnDriver::of(capability).offer {
                Offer::Exact => driver,
                Offer::Estimated => driver.estimating(&[capability]),
                Offer::Absent => driver.without_if(true, capability),
            };
            at += 1;
        }
        driver
    };
}

/// The verdict on a scheme at the radios of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The capabilities that it wants with its defaults and that the network lacks; empty if it runs. Each with the changes of a
    /// parameter after which it is not missing, and nothing else in its place.
    pub lacks: Vec<(Capability, Vec<Change>)>,
    /// Where it lacks some: changes which together make it run; empty if there are none.
    pub runs_with: Vec<Change>,
    /// Where it lacks none: the changes of a parameter after which it does.
    pub refused_with: Vec<Change>,
}

impl Fit {
    /// The verdict on a scheme at the radios of a network with these capabilities. `None` if the scheme cannot be built with its defaults.
    #[must_use]
    pub fn new(offered: &Capabilities, scheme: &SchemeEntry) -> Option<Self> {
        let missing = |wants: &WantsByKind| {
            let radios = Interface::all_kinds().into_iter().zip(wants).filter(|(at, _)| at.is_radio());
            let mut all: Vec<_> = radios.flat_map(|(_, wants)| offered.missing(wants)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let Wanted { default, changed } = scheme.wanted()?;
        let now = missing(&default);
        let after: Vec<_> = changed.iter().map(|(change, wants)| (*change, missing(wants))).collect();
        let unless = |&capability: &Capability| {
            let better = |(_, rest): &&(Change, Vec<_>)| {
                !rest.contains(&capability) && rest.iter().all(|other| now.contains(other))
            };
            (capability, after.iter().filter(better).map(|&(change, _)| change).collect::<Vec<_>>())
        };
        let lacks: Vec<_> = now.iter().map(unless).collect();
        let mut runs_with: Vec<Change> = Vec::new();
        for change in lacks.iter().filter_map(|(_, unless)| unless.first()) {
            if !runs_with.contains(change) {
                runs_with.push(*change);
            }
        }
        if !scheme.wants_with(&runs_with).is_some_and(|wants| missing(&wants).is_empty()) {
            runs_with.clear();
        }
        let refused = after.iter().filter(|(_, rest)| now.is_empty() && !rest.is_empty());
        let refused_with = refused.map(|&(change, _)| change).collect();
        Some(Self { lacks, runs_with, refused_with })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_schemes::{ParamValue, find};

    #[test]
    fn the_driver_is_as_declared() {
        for &capability in Capability::ALL {
            let declared = OnDriver::of(capability);
            assert_eq!(Capabilities::DRIVER.offer(capability), declared.offer, "{}", capability.name());
            assert!(!declared.doc.is_empty() && !declared.doc.ends_with('.'));
            let of_simulator = declared.origin == Origin::Simulator;
            assert!(!of_simulator || declared.offer == Offer::Absent, "{}", capability.name());
        }
    }

    fn fit(name: &str) -> Fit {
        Fit::new(&Capabilities::DRIVER, find(name).unwrap()).unwrap()
    }

    /// By the lists of wants and offers, read by hand.
    #[test]
    fn schemes_fit_a_driver_or_lack_something() {
        let none = || Fit { lacks: Vec::new(), runs_with: Vec::new(), refused_with: Vec::new() };
        for name in ["droptail", "c3l", "diffq-rc"] {
            assert_eq!(fit(name), none(), "{name}");
        }
        let change = |param, value| Change { param, value };
        let word = |param, word| change(param, ParamValue::Choice(word));
        // By default an access point yields where its MAC gives packets up, and LBM adapts to how long packets wait in the MAC.
        let lacks = |capability, unless| Fit {
            lacks: [(capability, [unless].into())].into(),
            runs_with: [unless].into(),
            ..none()
        };
        let heedless = change("most_given_up", ParamValue::Number(1.0));
        assert_eq!(fit("qfcp"), lacks(Capability::AccessTimes, heedless));
        let fixed = change("adapt", ParamValue::Flag(false));
        assert_eq!(fit("lbm"), lacks(Capability::LinkTimes, fixed));
        let nav = [(Capability::NavTime, Vec::new())];
        assert_eq!(fit("nred"), Fit { lacks: nav.into(), ..none() });
        // One level by default; those of the paper are more than the hardware has queues, and half of them as many.
        let [most, half] = [8, 4].map(|levels| change("levels", ParamValue::Integer(levels)));
        assert_eq!(fit("diffq"), Fit { refused_with: [most].into(), ..none() });
        let probes = word("ratios", "probes");
        assert_eq!(fit("more").runs_with, [probes]);
        assert_eq!(fit("diffq-exor").runs_with, [probes, half]);
        // The skeleton of a daemon runs NRED so.
        let estimating = Capabilities::DRIVER.estimating(&[Capability::NavTime]);
        let set_up = change("set_up", ParamValue::Flag(true));
        let nred = Fit::new(&estimating, find("nred").unwrap()).unwrap();
        assert_eq!(nred, Fit { refused_with: [set_up].into(), ..none() });
    }
}
