//! ATP: a transport whose sources are paced by the time that the slowest node of their path takes for a packet.
//!
//! K. Sundaresan, V. Anantharaman, H.-Y. Hsieh, R. Sivakumar, "ATP: a reliable transport protocol for ad hoc networks", MobiHoc 2003; IEEE
//! Transactions on Mobile Computing 4(6), 2005. Places: a [`Hop`] at each output interface, and [`Source`](crate::places::Source) and
//! [`Receiver`](crate::places::Receiver) of each flow, over the transport with a rate (reliable, as in the paper) or over UDP (not).
//!
//! | file | what |
//! |---|---|
//! | `header` | the largest delay so far, 8 bytes in each packet; the report of an epoch |
//! | `node` | the delay of an interface |
//! | `receiver` | the mean of these delays, and the rate that follows |
//! | `source` | the phases of a source: probing, and at a rate |
//! | `presets` | the law as it is known, and what an operator should take |
//!
//! | symbol | here | unit | default |
//! |---|---|---|---|
//! | Q, T | gauges `wait_s`, `service_s` | time from the queue's end to its head, and from there to the acknowledgement | |
//! | alpha | `alpha` | weight of the old average of Q and T | 0.75 |
//! | D | the header's delay | µs | |
//! | beta | `beta` | weight of the old average of D | 0.75 |
//! | E | `epoch` | time between reports | 1 s |
//! | R | the report's rate | packets/s, `1/D` | |
//! | S | the source's rate | packets/s | |
//! | k, phi | `damping`, `tolerance` | | 5, 0.1 |
//! | eta | `probe_factor` | | 3 |
//!
//! No full text of the papers could be read: their abstracts and secondary texts only. The form of the law is sure; its numbers are from
//! memory, and each is a parameter:
//! - **Node.** Averages of Q and T over all packets that the node sends, whoever their flow is. A packet that leaves the queue carries the
//!   largest `Q + T` of its path.
//! - **Receiver.** The average of D; each epoch a report with its inverse as a rate, and with what has arrived.
//! - **Source.** A smaller rate is taken at once; one that is larger by more than a tenth by a fifth of the difference; in between the
//!   source keeps its own. An epoch without a report halves it, the third in a row makes the source probe again.
//! - **Probing**: one packet an epoch, until a report comes; the first packet is reported at once. A node that has sent nothing for a
//!   second stamps probes with three times its delay: a flow over several hops will contend with itself.
//!
//! Where the text is open:
//! - Probes carry data (the paper's SYN carries none): over the transport with a rate nothing is lost by it.
//! - A packet that the MAC gives up counts with its time.
//! - At a wire Q and T are known when a packet arrives: what waits, and the packet, at the wire's rate.
//! - The epoch of a receiver begins with a part of it that is drawn: flows would move in step otherwise.
//! - A source waits half an epoch longer for a report before an epoch counts as empty, since the report is under way.
//! - The failure of a link is noticed by empty epochs alone; the paper also has it reported to the source as ELFN does.

pub mod header;
mod node;
mod presets;
mod receiver;
mod source;

pub use node::AtpNode;
pub use presets::PRESETS;
pub use receiver::{AtpReceiver, ReceiverConfig};
pub use source::{AtpSource, SourceConfig};

use alloc::boxed::Box;

use airfair_units::Span;

use crate::params::{ParamError, Params};
use crate::places::{Capability, Hop, Interface, Medium, UdpEnds, Wants};
use crate::scheme::Scheme;
use crate::{params, words};

words! {
    /// The rate that a receiver reports.
    pub enum Collate {
        /// That of the average delay.
        Average = "average",
        /// That of the largest delay of the epoch.
        Largest = "largest",
    }
}

params! {
    /// The parameters of ATP.
    pub struct AtpParameters {
        /// alpha, weight of the old averages of the waiting and the service time at a node; from memory
        paper alpha: f64 = 0.75, in 0.0..=0.99;
        /// beta, weight of the old average of the delay at a receiver; from memory
        paper beta: f64 = 0.75, in 0.0..=0.99;
        /// E, time between reports; it should exceed the round-trip time; from memory
        paper epoch: Span = Span::from_secs(1), in Span::from_millis(50)..=Span::from_secs(60);
        /// k, a source takes this part of a rise, 1/k, in an epoch; from memory
        paper damping: f64 = 5.0, in 1.0..=100.0;
        /// phi, part of its rate by which a reported rate must be larger for a source to follow; 0.05 to 0.25, from memory
        paper tolerance: f64 = 0.1, in 0.0..=1.0;
        /// eta, factor of the delay of a node that has been idle: a flow over several hops contends with itself; from memory
        paper probe_factor: f64 = 3.0, in 1.0..=10.0;
        /// time without a packet after which a node is idle; open in the texts
        reading idle: Span = Span::from_secs(1), in Span::from_millis(50)..=Span::from_secs(60);
        /// the rate that a receiver reports: of the average delay or of the largest one in the epoch; open in the texts
        reading collate: Collate = Collate::Average;
    }
}

/// ATP with the parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct Atp(AtpParameters);

impl Atp {
    /// The scheme that these parameters describe.
    ///
    /// # Errors
    /// A value that is out of its range.
    pub fn from_params(params: &Params) -> Result<Self, ParamError> {
        Ok(Self(AtpParameters::read(params)?))
    }
}

impl Scheme for Atp {
    fn udp(&self) -> Option<UdpEnds> {
        let &AtpParameters { epoch, damping, tolerance, beta, collate, .. } = &self.0;
        Some(UdpEnds {
            source: Box::new(AtpSource::new(SourceConfig { epoch, damping, tolerance })),
            receiver: Some(Box::new(AtpReceiver::new(ReceiverConfig { epoch, beta, collate }))),
        })
    }

    fn rate(&self) -> Option<UdpEnds> {
        self.udp()
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        Some(Box::new(AtpNode::new(&self.0, interface)))
    }

    fn wants(&self, interface: &Interface) -> Wants {
        match interface.medium {
            Medium::Radio => Wants::of(&[Capability::Departures, Capability::AccessTimes]),
            Medium::Wire => Wants::NONE,
        }
    }
}
