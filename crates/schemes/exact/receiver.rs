//! The receiver: each packet is reported, with its rate. The source knows which report is the newest: a receiver that judged would believe
//! a forged number for ever.

use super::header::report;
use crate::places::{Arrived, Receiver, ReceiverContext};

/// The receiver of a flow.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactReceiver;

impl Receiver for ExactReceiver {
    fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>) {
        context.out.reports.extend(report(&data.header));
    }
}
