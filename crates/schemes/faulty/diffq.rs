//! `diffq-liar`: trailers that announce wrong sizes of the node's queues.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::{FalseHeader, Faults, Faulty};
use crate::diffq::scheduler::Parts;
use crate::diffq::{DiffQ, DiffQParameters, trailer};
use crate::params;
use crate::params::{ParamError, Params};

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
    let faults = Faults { header: Some(lie), ..Faults::default() };
    Ok(Faulty::new(Box::new(DiffQ::new(&truth, Parts::All)?), faults))
}
