//! The flows that a node knows, with what it knows of each.
//!
//! Memory: at most a number of flows that are not the node's own; of these the one heard longest ago gives way. Of as many of its own those
//! that are idle give way; those with a batch stay: how many there are is up to its applications, and a flow without a place could never
//! send.

use alloc::vec::Vec;

use airfair_units::Time;
use airfair_wire::Flow;

/// A flow.
#[derive(Debug, Clone)]
struct Known<T> {
    flow: Flow,
    /// When something was last heard of it; a source's own flows stay.
    heard: Time,
    about: T,
}

/// Flows in the order of their numbers.
#[derive(Debug, Clone)]
pub(crate) struct Flows<T> {
    me: u32,
    most: usize,
    known: Vec<Known<T>>,
}

impl<T: Default> Flows<T> {
    /// No flows, at a node that may know so many.
    pub const fn new(me: u32, most: usize) -> Self {
        Self { me, most, known: Vec::new() }
    }

    fn place(&self, flow: &Flow) -> Result<usize, usize> {
        self.known.binary_search_by_key(flow, |known| known.flow)
    }

    /// A flow that is known.
    pub fn get(&self, flow: &Flow) -> Option<&T> {
        Some(&self.known[self.place(flow).ok()?].about)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, flow: &Flow) -> Option<&mut T> {
        let at = self.place(flow).ok()?;
        Some(&mut self.known[at].about)
    }

    /// The flow, after a place for it has been made if it was unknown; `None` where it is not the node's own and no such flow has a place.
    pub fn entry(&mut self, flow: Flow, now: Time) -> Option<&mut T> {
        let mut at = match self.place(&flow) {
            Ok(at) => {
                self.known[at].heard = now;
                return Some(&mut self.known[at].about);
            }
            Err(at) => at,
        };
        if flow.source != self.me {
            let foreign = || (0..self.known.len()).filter(|&i| self.known[i].flow.source != self.me);
            if foreign().count() >= self.most {
                let oldest = foreign().min_by_key(|&i| self.known[i].heard)?;
                self.known.remove(oldest);
                at -= usize::from(oldest < at);
            }
        }
        self.known.insert(at, Known { flow, heard: now, about: T::default() });
        Some(&mut self.known[at].about)
    }

    /// A flow of this node begins. Where as many of its own are known as others may be, the one begun longest ago of those that are idle is
    /// forgotten, since nothing of it is needed any more: a node may be the source of any number of flows, one after the other.
    pub fn make_room(&mut self, flow: &Flow, is_idle: impl Fn(&Flow, &T) -> bool) {
        let own = || (0..self.known.len()).filter(|&i| self.known[i].flow.source == self.me);
        if own().count() < self.most || self.place(flow).is_ok() {
            return;
        }
        let idle = own().filter(|&i| is_idle(&self.known[i].flow, &self.known[i].about));
        if let Some(oldest) = idle.min_by_key(|&i| self.known[i].heard) {
            self.known.remove(oldest);
        }
    }

    /// The flows, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Flow, &T)> + '_ {
        self.known.iter().map(|known| (known.flow, &known.about))
    }

    /// The states of the flows, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> + '_ {
        self.known.iter_mut().map(|known| &mut known.about)
    }

    /// Number of flows.
    pub const fn len(&self) -> usize {
        self.known.len()
    }
}
