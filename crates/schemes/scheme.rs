//! The interface of a scheme to its host: a factory for each place.

use alloc::boxed::Box;

use airfair_units::Db;

use crate::droptail::DropTail;
use crate::places::{
    Agent, Aqm, Controller, Hop, Interface, MessageKinds, OutputQueue, Source, UdpEnds, Wants,
};

/// A scheme with its parameters: one factory for each place that it fills. Factories for interfaces are called for one interface after
/// the other, so that a scheme can fill a place at some interfaces only.
pub trait Scheme: Send + Sync {
    /// The queue of an output interface.
    fn queue(&self, interface: &Interface) -> OutputQueue {
        OutputQueue::plain(DropTail::new(interface.limit_packets))
    }
    /// The AQM of an output interface.
    fn aqm(&self, _interface: &Interface) -> Option<Box<dyn Aqm>> {
        None
    }
    /// The source of a flow over TCP; `None` leaves the flow its own law.
    fn source(&self) -> Option<Box<dyn Source>> {
        None
    }
    /// The source and the receiver of a flow over UDP; `None`: packets leave when the application provides them.
    fn udp(&self) -> Option<UdpEnds> {
        None
    }
    /// The source and the receiver of a flow over the transport with a rate, which sends again what is lost; `None`: the scheme has none.
    /// A scheme that has one, and no [`Scheme::source`], carries by it the flows over TCP that leave their law to the run.
    fn rate(&self) -> Option<UdpEnds> {
        None
    }
    /// The hop of an output interface.
    fn hop(&self, _interface: &Interface) -> Option<Box<dyn Hop>> {
        None
    }
    /// The agent of a radio interface.
    fn agent(&self, _interface: &Interface) -> Option<Box<dyn Agent>> {
        None
    }
    /// The capabilities that the scheme wants of the host at an interface, beside the calls that every host makes. The answer depends
    /// on the interface and on the scheme's parameters only; a host may call this any number of times.
    fn wants(&self, _interface: &Interface) -> Wants {
        Wants::NONE
    }
    /// The controller of the network.
    fn controller(&self) -> Option<Box<dyn Controller>> {
        None
    }
    /// Power, above the radio's own, of the probes by which its agents find the nodes that they disturb: broadcasts at the lowest rate,
    /// as the scheme's parameter `probe_power` has it. A host warns where they do not reach as far as signals are sensed.
    fn probe_power(&self) -> Option<Db> {
        None
    }
    /// True of a scheme whose nodes have faults, and which has none with these parameters: a host warns of an experiment without its
    /// cause.
    fn lacks_fault(&self) -> bool {
        false
    }
    /// Kinds of the messages of its agents and controllers, if results are to count these kind by kind.
    fn message_kinds(&self) -> Option<MessageKinds> {
        None
    }
}

/// A scheme that fills one place, the source: each flow gets a copy of the law.
pub struct SourceScheme<S>(
    /// The law, as each flow gets it.
    pub S,
);

impl<S: Source + Clone + Sync + 'static> Scheme for SourceScheme<S> {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(self.0.clone()))
    }
}

/// A scheme that fills one place, the AQM: each interface gets a copy of the law, beside drop-tail.
pub struct AqmScheme<A>(
    /// The law, as each interface gets it.
    pub A,
);

impl<A: Aqm + Clone + Sync + 'static> Scheme for AqmScheme<A> {
    fn aqm(&self, _interface: &Interface) -> Option<Box<dyn Aqm>> {
        Some(Box::new(self.0.clone()))
    }
}
