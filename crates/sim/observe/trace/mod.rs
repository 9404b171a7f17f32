//! Frame trace: events on the air and in the queues, so that a reader can follow why a frame was lost. [`text`] has them as lines.

mod text;

use airfair_units::Time;

use super::{Observer, WorldView, describe};
use crate::record::{FrameKind, Record, Trace};

/// Records of a trace that were not returned yet.
#[derive(Debug, Default)]
pub(crate) struct Tracer(Trace);

impl Observer for Tracer {
    fn record(&mut self, at: Time, record: &Record, world: &WorldView<'_>) {
        let mut record = *record;
        if let Record::Start { frame }
        | Record::Received { frame, .. }
        | Record::Overheard { frame, .. }
        | Record::Lost { frame, .. } = &mut record
            && matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast)
        {
            frame.messages = describe::messages(world.network, frame.packet);
            frame.forwarded = describe::batch(world.network, frame.packet);
        }
        if let Record::Start { frame } = &mut record
            && frame.kind == FrameKind::Data
        {
            // The sender's copy keeps the header as it was written until the packet is acknowledged: retries announce the same.
            let mut held = world.air.held(frame.sender);
            let sent = held.find(|msdu| msdu.packet == frame.packet);
            frame.announced = sent.and_then(|msdu| describe::announced(world.network, msdu.copy));
        }
        if record.is_traced() {
            self.0.push((at, record));
        }
    }
}

impl Tracer {
    /// Records since the last call, in order of time. Those from `settled` on are kept for the next call, since earlier ones may follow.
    pub(crate) fn take(&mut self, settled: Time) -> Trace {
        self.0.sort_by_key(|(at, record)| (*at, !record.is_of_the_air()));
        let young = self.0.split_off(self.0.partition_point(|r| r.0 < settled));
        std::mem::replace(&mut self.0, young)
    }
}
