//! The receiver: each packet is reported, with the rate of the newest.

use super::header::{report, sequence};
use crate::places::{Arrived, Header, Receiver, ReceiverContext};

/// The receiver of a flow.
#[derive(Debug, Clone, Default)]
pub struct ExactReceiver {
    /// The header of the packet with the largest sequence number so far.
    newest: Option<Header>,
}

impl Receiver for ExactReceiver {
    fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>) {
        let newer = |last: &Header| sequence(&data.header).wrapping_sub(sequence(last)) < 1 << 31;
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some(data.header);
        }
        context.out.reports.extend(self.newest.as_ref().and_then(report));
    }
}
