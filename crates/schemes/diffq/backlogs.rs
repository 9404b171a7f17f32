//! The sizes of neighbours' destination queues, as far as their frames were heard (§4).
//!
//! The paper keeps a size until the next frame. Reading: a size counts for `expiry` and is 0 before it was heard and after that, because a
//! neighbour whose queue has become empty by a loss, or that has left, says nothing any more, and its last size would hold back its
//! upstream neighbours for ever. The price: a neighbour that is starved of the air is silent too, and counts as empty then.

use alloc::vec::Vec;

use airfair_units::{Span, Time};

use crate::places::NodeId;

/// The size of a neighbour's queue for a destination, and when it was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    destination: NodeId,
    neighbour: NodeId,
    packets: u32,
    heard: Time,
}

/// What a node knows of its neighbours' queues: at most `capacity` sizes, of which the one heard longest ago gives way to a new one.
#[derive(Debug, Clone)]
pub struct Backlogs {
    /// Sorted by destination and neighbour.
    sizes: Vec<Size>,
    capacity: usize,
    expiry: Span,
}

impl Backlogs {
    /// An empty table.
    #[must_use]
    pub const fn new(capacity: usize, expiry: Span) -> Self {
        Self { sizes: Vec::new(), capacity, expiry }
    }

    fn find(&self, neighbour: NodeId, destination: NodeId) -> Result<usize, usize> {
        self.sizes.binary_search_by_key(&(destination, neighbour), |size| (size.destination, size.neighbour))
    }

    /// A frame of a neighbour says how many packets wait there for a destination.
    pub fn hear(&mut self, neighbour: NodeId, destination: NodeId, packets: u32, now: Time) {
        match self.find(neighbour, destination) {
            Ok(at) => {
                let size = &mut self.sizes[at];
                (size.packets, size.heard) = (packets, now);
            }
            Err(at) => {
                let size = Size { destination, neighbour, packets, heard: now };
                if self.sizes.len() < self.capacity {
                    self.sizes.insert(at, size);
                    return;
                }
                let oldest =
                    self.sizes.iter().enumerate().min_by_key(|(_, size)| size.heard).map(|found| found.0);
                if let Some(oldest) = oldest {
                    self.sizes.remove(oldest);
                    self.sizes.insert(at - usize::from(oldest < at), size);
                }
            }
        }
    }

    /// The packets that wait at a neighbour for a destination, as far as known now; 0 at the destination itself (§4).
    #[must_use]
    pub fn size(&self, neighbour: NodeId, destination: NodeId, now: Time) -> u32 {
        if neighbour == destination {
            return 0;
        }
        let known = self.find(neighbour, destination).map(|at| &self.sizes[at]);
        known.map_or(0, |size| if now.since(size.heard) < self.expiry { size.packets } else { 0 })
    }

    /// The time at which the size of a neighbour's queue expires, if it is known.
    #[must_use]
    pub fn expires(&self, neighbour: NodeId, destination: NodeId) -> Option<Time> {
        let at = self.find(neighbour, destination).ok()?;
        Some(self.sizes[at].heard + self.expiry)
    }

    /// Number of sizes that are stored.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.sizes.len()
    }

    /// True if no size is stored.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}
