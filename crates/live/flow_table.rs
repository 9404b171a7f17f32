//! The table of flows of the program in the kernel: it counts bytes there, and reads the factor of each flow's probability.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::Relaxed;

use airfair_schemes::places::{FlowBytes, FlowId};

use crate::sys::SharedWords;

/// Slots of the table, and words of a slot: hash, factor, four counts of bytes, two that are spare (`struct slot`).
const SLOTS: usize = 4096;
const WORDS: usize = 8;

/// Calls of [`FlowTable::take`] after which a silent flow is forgotten: its slot is needed.
const PATIENCE: u16 = 100;

/// A factor of one.
const ONE: f64 = 65_536.0;

/// The table of one device.
#[derive(Debug)]
pub(crate) struct FlowTable {
    shared: SharedWords,
    /// The counts that were read last, and the calls in a row in which they stood still.
    read: Vec<([u32; 4], u16)>,
}

impl FlowTable {
    /// The table behind a map of the kernel.
    ///
    /// # Errors
    /// The kernel maps no memory.
    pub fn new(fd: BorrowedFd<'_>) -> Result<Self, String> {
        let shared = SharedWords::map(fd, SLOTS * WORDS);
        let shared = shared.map_err(|error| format!("the table of flows cannot be mapped: {error}"))?;
        Ok(Self { shared, read: vec![([0; 4], 0); SLOTS] })
    }

    /// The flows of which packets have come since the last call, with their bytes.
    pub fn take(&mut self) -> Vec<(FlowId, FlowBytes)> {
        let mut found = Vec::new();
        for (slot, (read, silent)) in self.shared.words().chunks_exact(WORDS).zip(&mut self.read) {
            let hash = slot[0].load(Relaxed);
            if hash == 0 {
                continue;
            }
            let counts: [u32; 4] = std::array::from_fn(|at| slot[2 + at].load(Relaxed));
            let [out, back, answers_out, answers_back] =
                std::array::from_fn(|at| counts[at].wrapping_sub(read[at]));
            *read = counts;
            if [out, back, answers_out, answers_back] != [0; 4] {
                *silent = 0;
                let used = FlowBytes { data: [out, back], answers: [answers_out, answers_back] };
                found.push((flow(hash), used));
                continue;
            }
            *silent += 1;
            if *silent >= PATIENCE {
                *silent = 0;
                slot[0].store(0, Relaxed);
            }
        }
        found
    }

    /// Gives each flow its factor.
    pub fn set(&self, factor: &dyn Fn(FlowId) -> f64) {
        for slot in self.shared.words().chunks_exact(WORDS) {
            let hash = slot[0].load(Relaxed);
            if hash != 0 {
                slot[1].store(fixed(factor(flow(hash))), Relaxed);
            }
        }
    }
}

/// The flow of a hash, which is no flow's that does not exist.
fn flow(hash: u32) -> FlowId {
    FlowId(hash.min(FlowId::NONE.0 - 1))
}

/// A factor by 2^16, of 31 bits at most.
pub(crate) fn fixed(factor: f64) -> u32 {
    // As a float it ends at both limits.
    ((factor * ONE) as u32).min(i32::MAX.cast_unsigned())
}
