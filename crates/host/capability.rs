//! Capabilities that a network offers to a scheme, compared with the scheme's needs.

use alloc::vec::Vec;

use airfair_schemes::places::{Priority, Wants};
use airfair_units::Span;

/// Capabilities of a network at an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Samples of the interface's counters.
    pub samples: bool,
    /// Samples with the traffic of the link.
    pub link_use: bool,
    /// Samples by link and flow.
    pub links: bool,
    /// Messages overheard on their way to other nodes.
    pub overheard: bool,
    /// Packets received through the interface.
    pub received: bool,
    /// Headers in frames received and overheard.
    pub heard_headers: bool,
    /// Ends of transmissions.
    pub finished: bool,
    /// Ends of transmissions with the times of access.
    pub access_times: bool,
    /// Changes of routes.
    pub routes: bool,
    /// Sizes of the queue by destination.
    pub backlogs: bool,
    /// Departures from the queue, each at its time.
    pub departures: bool,
    /// A queue that the law of a source may read and fill.
    pub own_queue: bool,
    /// An interface that is the only radio of its node.
    pub lone_radio: bool,
    /// Delivery ratios between all nodes.
    pub delivery_ratios: bool,
    /// The highest priority that the link distinguishes.
    pub priority: Priority,
}

impl Capabilities {
    /// The missing capabilities in words; empty if the scheme may start. [`Wants::ecn`] is not checked: a scheme whose marks have no effect
    /// does no harm.
    #[must_use]
    pub fn missing(&self, wants: &Wants) -> Vec<&'static str> {
        let pairs = [
            (wants.samples > Span::ZERO, self.samples, "samples of counters"),
            (wants.link_use, self.link_use, "counters of the link's traffic"),
            (wants.links, self.links, "counters by link and flow"),
            (wants.overheard, self.overheard, "overheard messages"),
            (wants.received, self.received, "received packets"),
            (wants.heard_headers, self.heard_headers, "headers of overheard packets"),
            (wants.finished, self.finished, "ends of transmissions"),
            (wants.access_times, self.access_times, "times of access to the medium"),
            (wants.routes, self.routes, "changes of routes"),
            (wants.backlogs, self.backlogs, "sizes of queues by destination"),
            (wants.departures, self.departures, "departures at their times"),
            (wants.own_queue, self.own_queue, "a queue that a source's law can read and fill"),
            (wants.lone_radio, self.lone_radio, "being the node's only radio"),
            (wants.delivery_ratios, self.delivery_ratios, "delivery ratios between all nodes"),
            (wants.priority > Priority(0), self.priority >= wants.priority, "priorities of packets"),
        ];
        pairs.iter().filter(|(wanted, offered, _)| *wanted && !offered).map(|pair| pair.2).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Capabilities = Capabilities {
        samples: true,
        link_use: true,
        links: true,
        overheard: true,
        received: true,
        heard_headers: true,
        finished: true,
        access_times: true,
        routes: true,
        backlogs: true,
        departures: true,
        own_queue: true,
        lone_radio: true,
        delivery_ratios: true,
        priority: Priority(7),
    };

    #[test]
    fn missing_capabilities_are_named() {
        let wants =
            Wants { samples: Span(1), received: true, priority: Priority(3), ecn: true, ..Wants::default() };
        assert!(ALL.missing(&wants).is_empty());
        assert!(Capabilities::default().missing(&Wants::default()).is_empty());
        let nothing = Capabilities::default().missing(&wants);
        assert_eq!(nothing, ["samples of counters", "received packets", "priorities of packets"]);
        let few = Capabilities { priority: Priority(2), ..ALL };
        assert_eq!(few.missing(&wants), ["priorities of packets"]);
    }

    #[test]
    fn each_requirement_is_checked() {
        let wants = Wants {
            samples: Span(1),
            link_use: true,
            links: true,
            overheard: true,
            received: true,
            heard_headers: true,
            finished: true,
            access_times: true,
            routes: true,
            backlogs: true,
            departures: true,
            own_queue: true,
            lone_radio: true,
            delivery_ratios: true,
            ecn: true,
            priority: Priority(1),
        };
        let mut lacks = Capabilities::default().missing(&wants);
        assert_eq!(lacks.len(), 15);
        lacks.dedup();
        assert_eq!(lacks.len(), 15, "one name for one thing");
    }
}
