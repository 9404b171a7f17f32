//! `diffq-liar`: trailers, or with `sizes_by = "broadcast"` messages, that announce wrong sizes of the node's queues.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use airfair_wire::diffq::Sizes;

use super::{FalseHeader, FalseMessages, Faults, Faulty};
use crate::diffq::scheduler::Parts;
use crate::diffq::{DiffQ, DiffQParameters, SizesBy, trailer};
use crate::params;
use crate::params::{ParamError, Params};
use crate::places::Message;

params! {
    /// The parameters of `diffq-liar`.
    pub(crate) struct LiarParameters {
        ..truth: DiffQParameters;
        /// what the node multiplies the sizes by that it announces: 0 attracts packets, large factors repel them
        operator size_factor: f64 = 0.0, in 0.0..=1000.0;
    }
}

/// DiffQ at a node that announces wrong sizes.
///
/// # Errors
/// A value that is out of its range.
pub(crate) fn diffq(params: &Params) -> Result<Faulty, ParamError> {
    let LiarParameters { truth, size_factor } = LiarParameters::read(params)?;
    let lie: FalseHeader = Arc::new(move |header| {
        let size = (f64::from(trailer::queue(header)) * size_factor) as u32;
        trailer::announce(header, size);
    });
    let messages: FalseMessages = Arc::new(move |messages: &mut Vec<Message>| {
        messages.iter_mut().for_each(|m| falsify(m, size_factor))
    });
    let broadcast = truth.sizes_by == SizesBy::Broadcast;
    let faults = Faults {
        concerns: |message| sizes(message).is_some(),
        messages: broadcast.then_some(messages),
        header: Some(lie),
        ..Faults::default()
    };
    Ok(Faulty::new(Box::new(DiffQ::new(&truth, Parts::All)?), faults))
}

fn sizes(message: &Message) -> Option<Sizes> {
    Sizes::decode(&message.bytes).ok().filter(|(_, rest)| rest.is_empty()).map(|(sizes, _)| sizes)
}

/// Multiplies the sizes in a message.
fn falsify(message: &mut Message, factor: f64) {
    let Some(truth) = sizes(message) else { return };
    let lie = Sizes::new(truth.iter().map(|(to, size)| (to, (f64::from(size) * factor) as u16)));
    let mut bytes = vec![0; lie.wire_len()];
    if lie.encode(&mut bytes).is_ok() {
        message.bytes = bytes;
    }
}
