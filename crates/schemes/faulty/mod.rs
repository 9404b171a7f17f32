//! Faults of a node (ours): a scheme whose messages get lost, come late or are false, and whose queue writes false headers. How much one
//! such node takes from the others is measured with it.
//!
//! [`Faulty`] has the places of any scheme and stands between them and their host: the law itself is the one of honest nodes. What a lie
//! is depends on the formats of the scheme, which are in a file for each.
//!
//! | file | contents |
//! |---|---|
//! | `agent` | messages that are lost, late or false |
//! | `queue` | headers that are false |
//! | `c3l` | `c3l-faulty`: reports to a controller |
//! | `diffq` | `diffq-liar`: sizes of queues in trailers and messages |
//!
//! The broadcasts of a forwarder, and what a controller writes, pass unchanged.

mod agent;
mod c3l;
mod diffq;
mod queue;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use airfair_units::{Db, Span};

use crate::places::{
    Agent, Aqm, Controller, Header, Hop, Interface, Message, MessageKinds, OutputQueue, Source, UdpEnds,
    Wants,
};
use crate::scheme::Scheme;

pub use agent::{FaultyAgent, LATE};
pub(crate) use c3l::{FaultyParameters, c3l};
pub(crate) use diffq::{LiarParameters, diffq};
pub use queue::FaultyQueue;

/// Changes the messages of one hook, in the order in which they would leave.
pub type FalseMessages = Arc<dyn Fn(&mut Vec<Message>) + Send + Sync>;

/// Changes the header that a queue has written.
pub type FalseHeader = Arc<dyn Fn(&mut Header) + Send + Sync>;

/// The faults of a node. None is on by default.
#[derive(Clone)]
pub struct Faults {
    /// The messages that the faults concern; all others leave as they are.
    pub concerns: fn(&Message) -> bool,
    /// Part of them that is lost before it leaves: all messages that one hook sends, or none.
    pub lost: f64,
    /// The longest time that they wait before they leave; the messages of each hook wait a drawn part of it.
    pub late: Span,
    /// The lie in them.
    pub messages: Option<FalseMessages>,
    /// The lie in the headers of labelled packets.
    pub header: Option<FalseHeader>,
}

impl Default for Faults {
    fn default() -> Self {
        Self { concerns: |_| true, lost: 0.0, late: Span::ZERO, messages: None, header: None }
    }
}

impl Faults {
    /// True if messages may be lost, late or false.
    fn touch_messages(&self) -> bool {
        self.lost > 0.0 || self.late > Span::ZERO || self.messages.is_some()
    }
}

/// A scheme at a node with faults.
pub struct Faulty {
    inner: Box<dyn Scheme>,
    faults: Faults,
}

impl Faulty {
    /// A scheme with these faults.
    #[must_use]
    pub fn new(inner: Box<dyn Scheme>, faults: Faults) -> Self {
        Self { inner, faults }
    }
}

impl Scheme for Faulty {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        match (self.inner.queue(interface), &self.faults.header) {
            (OutputQueue::Labelled(inner), Some(lie)) => {
                OutputQueue::labelled(FaultyQueue::new(inner, Arc::clone(lie)))
            }
            (inner, _) => inner,
        }
    }

    fn aqm(&self, interface: &Interface) -> Option<Box<dyn Aqm>> {
        self.inner.aqm(interface)
    }

    fn source(&self) -> Option<Box<dyn Source>> {
        self.inner.source()
    }

    fn udp(&self) -> Option<UdpEnds> {
        self.inner.udp()
    }

    fn rate(&self) -> Option<UdpEnds> {
        self.inner.rate()
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        self.inner.hop(interface)
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        let inner = self.inner.agent(interface)?;
        if !self.faults.touch_messages() {
            return Some(inner);
        }
        Some(Box::new(FaultyAgent::new(inner, self.faults.clone())))
    }

    fn wants(&self, interface: &Interface) -> Wants {
        self.inner.wants(interface)
    }

    fn controller(&self) -> Option<Box<dyn Controller>> {
        self.inner.controller()
    }

    fn probe_power(&self) -> Option<Db> {
        self.inner.probe_power()
    }

    fn lacks_fault(&self) -> bool {
        !self.faults.touch_messages() && self.faults.header.is_none()
    }

    fn message_kinds(&self) -> Option<MessageKinds> {
        self.inner.message_kinds()
    }
}
