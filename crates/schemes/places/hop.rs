//! A hop: an output interface that rewrites the scheme's header of packets that pass.

use alloc::vec::Vec;

use airfair_units::{Rate, Time};

use super::{FlowId, Header, HeaderKind, HopContext, PacketClass, Timer};

/// What waits at an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets that wait; the one that is being sent is not counted.
    pub packets: u32,
    /// Their bytes as the link carries them.
    pub bytes: u64,
}

/// A packet that reaches an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Its size as the link carries it: framing of a wire included, the MAC's of a radio not.
    pub bytes: u32,
    /// Its flow.
    pub flow: FlowId,
    /// What it is for.
    pub class: PacketClass,
    /// What waits there without it.
    pub backlog: Backlog,
}

/// Router code of explicit-rate schemes, one at an output interface. Per packet: integers and bounded state only.
///
/// The backlog falls only between arrivals: its least value over a time is the least of what the arrivals met and what there is
/// at the end.
pub trait Hop: Send {
    /// The header that it reads and writes; packets with another, or with none, are handed to it without one.
    fn header(&self) -> &'static HeaderKind;

    /// The run starts: timers may be set.
    fn on_start(&mut self, context: &mut HopContext<'_>);

    /// A packet arrives, whether it will find room or not; drops are told by `on_drop`. Sets no timers.
    fn on_arrival(&mut self, passage: &Passage, header: Option<&mut Header>, now: Time);

    /// A packet leaves the queue towards the link. Called only if [`Wants::departures`](super::Wants::departures).
    fn on_departure(&mut self, _passage: &Passage, _header: Option<&mut Header>, _now: Time) {}

    /// A packet of so many bytes was dropped here, because there was no room or an AQM wanted it.
    fn on_drop(&mut self, _bytes: u32) {}

    /// A packet for this node, to keep or to pass on, came in through this interface: both directions of a channel that is shared.
    /// Called only if [`Wants::received`](super::Wants::received).
    fn on_receive(&mut self, _passage: &Passage, _header: Option<&mut Header>, _now: Time) {}

    /// The rate of the wire behind the interface is another one from now on.
    fn on_rate(&mut self, _rate: Rate) {}

    /// A timer fired: the end of a control interval.
    fn on_timer(&mut self, timer: Timer, backlog: Backlog, context: &mut HopContext<'_>);

    /// Inner values to look at over time, by name.
    fn gauges(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}
