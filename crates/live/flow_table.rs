//! The table of flows of a program in the kernel: it counts their packets there, and reads the factor of each flow's probability.

use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::Relaxed;

use airfair_schemes::places::FlowId;

use crate::sys::SharedWords;

/// Slots of the table, and words of a slot: hash, factor, four counts, link, and one that is spare (`struct slot`).
const SLOTS: usize = 4096;
const WORDS: usize = 8;

/// Calls of [`FlowTable::take`] after which a silent flow is forgotten: its slot is needed.
const PATIENCE: u16 = 100;

/// That number while more than this many slots are taken: a flood of flows must not keep others out for long.
const IMPATIENCE: u16 = 3;
const MANY: usize = SLOTS / 2;

/// A factor of one.
const ONE: f64 = 65_536.0;

/// A flow of which packets have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlowSlot {
    /// The flow, by its hash.
    pub flow: FlowId,
    /// The number of its link, of a program that knows it.
    pub link: u32,
    /// The differences of its counts.
    pub counts: [u32; 4],
}

/// The table of one device.
#[derive(Debug)]
pub(crate) struct FlowTable {
    shared: SharedWords,
    /// The counts that were read last, and the calls in a row in which they stood still.
    read: Vec<([u32; 4], u16)>,
    /// The slots that were taken at the last call of [`FlowTable::take`].
    taken: usize,
}

impl FlowTable {
    /// The table behind a map of the kernel.
    ///
    /// # Errors
    /// The kernel maps no memory.
    pub fn new(fd: BorrowedFd<'_>) -> Result<Self, String> {
        let shared = SharedWords::map(fd, SLOTS * WORDS);
        let shared = shared.map_err(|error| format!("the table of flows cannot be mapped: {error}"))?;
        Ok(Self { shared, read: vec![([0; 4], 0); SLOTS], taken: 0 })
    }

    /// The flows of which packets have come since the last call.
    pub fn take(&mut self) -> Vec<FlowSlot> {
        let mut found = Vec::new();
        let patience = if self.taken > MANY { IMPATIENCE } else { PATIENCE };
        self.taken = 0;
        for (slot, (read, silent)) in self.shared.words().chunks_exact(WORDS).zip(&mut self.read) {
            let hash = slot[0].load(Relaxed);
            if hash == 0 {
                continue;
            }
            self.taken += 1;
            let counts: [u32; 4] = std::array::from_fn(|at| slot[2 + at].load(Relaxed));
            let difference = std::array::from_fn(|at| counts[at].wrapping_sub(read[at]));
            *read = counts;
            if difference != [0; 4] {
                *silent = 0;
                let link = slot[6].load(Relaxed);
                found.push(FlowSlot { flow: flow(hash), link, counts: difference });
                continue;
            }
            *silent += 1;
            if *silent >= patience {
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

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    /// A table, and its memory as the kernel writes it.
    fn table() -> (FlowTable, SharedWords) {
        let file = rustix::fs::memfd_create("slots", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&file, (SLOTS * WORDS * 4) as u64).unwrap();
        (FlowTable::new(file.as_fd()).unwrap(), SharedWords::map(file.as_fd(), SLOTS * WORDS).unwrap())
    }

    fn count(kernel: &SharedWords, slot: usize, hash: u32, bytes: u32) {
        kernel.words()[slot * WORDS].store(hash, Relaxed);
        let count = &kernel.words()[slot * WORDS + 3];
        count.store(count.load(Relaxed).wrapping_add(bytes), Relaxed);
    }

    #[test]
    fn differences_are_counted_beyond_the_end_of_32_bits_and_in_a_slot_that_is_used_again() {
        let (mut table, kernel) = table();
        count(&kernel, 7, 55, u32::MAX - 9);
        assert_eq!(table.take()[0].counts, [0, u32::MAX - 9, 0, 0]);
        count(&kernel, 7, 55, 30);
        assert_eq!(table.take(), [FlowSlot { flow: FlowId(55), link: 0, counts: [0, 30, 0, 0] }]);
        for _ in 0..PATIENCE {
            assert_eq!(kernel.words()[7 * WORDS].load(Relaxed), 55);
            assert_eq!(table.take(), []);
        }
        assert_eq!(kernel.words()[7 * WORDS].load(Relaxed), 0);
        count(&kernel, 7, 66, 5);
        assert_eq!(table.take(), [FlowSlot { flow: FlowId(66), link: 0, counts: [0, 5, 0, 0] }]);
    }

    #[test]
    fn a_flood_of_flows_leaves_soon() {
        let (mut table, kernel) = table();
        (0..SLOTS).for_each(|slot| count(&kernel, slot, slot as u32 + 1, 1));
        assert_eq!(table.take().len(), SLOTS);
        for _ in 0..IMPATIENCE {
            assert_eq!(table.take(), []);
        }
        assert!(kernel.words().chunks_exact(WORDS).all(|slot| slot[0].load(Relaxed) == 0));
    }
}
