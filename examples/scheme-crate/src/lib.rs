//! `capped`: a window that never changes, and queues that never grow long.
//!
//! Over some hops of radio a window of a few segments is enough to fill the path; segments beyond it wait in queues and
//! collide (Fu, Zerfos, Luo, Lu, Zhang, Gerla, "The Impact of Multihop Wireless Channel on TCP Throughput and Loss", INFOCOM
//! 2003). Places: the source, and an AQM that keeps other flows' packets from filling the queue.

use airfair_schemes::places::{
    Acked, Allowance, Aqm, AqmContext, Congestion, DropReason, FlowSetup, Interface, Packet, QueueView,
    Source, SourceContext, Verdict,
};
use airfair_schemes::{Scheme, SchemeEntry, params};
use airfair_units::{Bytes, Time};

/// A packet dropped because the queue had reached its cap.
pub const CAP: DropReason = DropReason("capped");

params! {
    /// The parameters of `capped`: type, default and range, with the text of the reference.
    struct Parameters {
        /// the window of every flow, segments
        paper segments: u64 = 2, in 1..=10_000;
        /// packets that wait at an interface; packets that arrive beyond are dropped
        operator queue: u64 = 20, in 1..=100_000;
    }
}

/// The line of the table. Everything that knows schemes knows this one once it is in the registry.
pub fn entry() -> SchemeEntry {
    SchemeEntry::new(
        "capped",
        "a window that never changes, and queues that never grow long",
        "Fu et al., INFOCOM 2003",
        &["source", "aqm"],
        Parameters::LIST,
        |params| {
            let Parameters { segments, queue } = Parameters::read(params)?;
            Ok(Box::new(Capped { segments, queue: queue as u32 }))
        },
    )
}

/// The scheme, set up: a factory for each place that it fills.
struct Capped {
    segments: u64,
    queue: u32,
}

impl Scheme for Capped {
    fn source(&self) -> Option<Box<dyn Source>> {
        Some(Box::new(Fixed { segments: self.segments, window: Bytes(0) }))
    }

    fn aqm(&self, _interface: &Interface) -> Option<Box<dyn Aqm>> {
        Some(Box::new(Cap { packets: self.queue }))
    }
}

/// A window that never changes. The transport repairs losses; a law only says how much may be in flight.
struct Fixed {
    segments: u64,
    window: Bytes,
}

impl Source for Fixed {
    fn on_start(&mut self, setup: &FlowSetup, _context: &mut SourceContext<'_>) {
        self.window = Bytes(self.segments.saturating_mul(setup.mss.get())).min(setup.window_limit);
    }

    fn on_acked(&mut self, _acked: &Acked, _context: &mut SourceContext<'_>) {}

    fn on_congestion(&mut self, _congestion: &Congestion, _context: &mut SourceContext<'_>) {}

    fn allowance(&self, _now: Time) -> Allowance {
        Allowance { window: Some(self.window), rate: None, quantum: None }
    }
}

/// Drops arriving packets while the queue is at its cap.
struct Cap {
    packets: u32,
}

impl Aqm for Cap {
    fn on_enqueue(&mut self, _packet: &Packet, queue: &QueueView, _context: &mut AqmContext<'_>) -> Verdict {
        if queue.packets < self.packets { Verdict::Pass } else { Verdict::Drop(CAP) }
    }
}
