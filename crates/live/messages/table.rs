//! Neighbours that are heard, and nodes that are challenged.

use airfair_schemes::places::NodeId;
use airfair_units::{Span, Time};

use super::bucket::Bucket;
use super::counts::{Counts, Reason};
use super::packet::Nonce;
use super::session::Limits;
use super::window::Window;

/// Least time between two challenges of a node (RFC 8967, section 4.3.1.1).
const CHALLENGE_INTERVAL: Span = Span::from_millis(300);
/// Least time between two replies to a node.
const REPLY_INTERVAL: Span = Span::from_millis(100);
/// Age at which a nonce is not accepted any more (RFC 8967, section 4.3.1.1). A reply of a node that starves waits in its queue for many
/// seconds.
const NONCE_LIFE: Span = Span::from_secs(30);
/// Age from which a challenge has a new nonce.
const NONCE_USE: Span = Span::from_secs(10);
/// Time for which a challenged node keeps its place if there are too many.
const PENDING_LIFE: Span = Span::from_secs(1);
/// Time after which silent neighbours are searched for again.
const SWEEP_INTERVAL: Span = Span::from_secs(1);

/// Challenges and replies exchanged with a node.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    /// The latest first, each with the time at which it was made.
    nonces: [Option<(Nonce, Time)>; 3],
    challenged: Option<Time>,
    answered: Option<Time>,
    /// Limit of replies that are verified.
    pub(super) checks: Bucket,
}

impl Exchange {
    const fn new(now: Time) -> Self {
        Self { nonces: [None; 3], challenged: None, answered: None, checks: Bucket::full(now) }
    }

    /// True if `nonce` was sent to the node and is not too old.
    pub(super) fn expects(&self, nonce: &Nonce, now: Time) -> bool {
        self.nonces.iter().flatten().any(|(sent, made)| sent == nonce && now.since(*made) < NONCE_LIFE)
    }

    /// Forgets the nonces, as one was repeated.
    pub(super) fn finish(&mut self) {
        self.nonces = [None; 3];
    }

    /// True if the node may be challenged again.
    pub(super) fn may_challenge(&self, now: Time) -> bool {
        self.challenged.is_none_or(|last| now.since(last) >= CHALLENGE_INTERVAL)
    }

    /// Records a challenge, and returns its nonce: the latest, or this new one where that is in use for too long.
    pub(super) fn challenge(&mut self, fresh: Nonce, now: Time) -> Nonce {
        self.challenged = Some(now);
        if let Some((nonce, made)) = self.nonces[0]
            && now.since(made) < NONCE_USE
        {
            return nonce;
        }
        self.nonces = [Some((fresh, now)), self.nonces[0], self.nonces[1]];
        fresh
    }

    /// True if a challenge of the node may be answered; then it counts as answered.
    pub(super) fn answer(&mut self, now: Time) -> bool {
        let may = self.answered.is_none_or(|last| now.since(last) >= REPLY_INTERVAL);
        if may {
            self.answered = Some(now);
        }
        may
    }
}

/// A neighbour whose index is proven.
#[derive(Debug, Clone)]
pub(super) struct Neighbour {
    pub(super) id: NodeId,
    pub(super) index: u64,
    pub(super) window: Window,
    /// The last packet that was accepted.
    pub(super) heard: Time,
    /// Tag of the key of that packet.
    pub(super) key: u32,
    /// Limit of packets that are verified.
    pub(super) checks: Bucket,
    /// Limit of messages.
    pub(super) messages: Bucket,
    pub(super) exchange: Exchange,
}

/// A node that has sent an authentic packet of an unproven index.
#[derive(Debug, Clone)]
struct Pending {
    id: NodeId,
    since: Time,
    exchange: Exchange,
}

/// Both lists are in the order of their nodes, and each has at most [`Limits::neighbours`] entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    neighbours: Vec<Neighbour>,
    pending: Vec<Pending>,
    swept: Time,
}

impl Table {
    pub(super) fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }

    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn neighbour(&mut self, id: NodeId) -> Option<&mut Neighbour> {
        let at = self.neighbours.binary_search_by_key(&id, |neighbour| neighbour.id).ok()?;
        self.neighbours.get_mut(at)
    }

    /// The exchange with a node that is in the table.
    pub(super) fn exchange(&mut self, id: NodeId) -> Option<&mut Exchange> {
        if let Ok(at) = self.neighbours.binary_search_by_key(&id, |neighbour| neighbour.id) {
            return self.neighbours.get_mut(at).map(|neighbour| &mut neighbour.exchange);
        }
        let at = self.pending.binary_search_by_key(&id, |pending| pending.id).ok()?;
        self.pending.get_mut(at).map(|pending| &mut pending.exchange)
    }

    /// Forgets a node if it was a neighbour and silent for too long, and once a second all others; the number of those forgotten.
    pub(super) fn expire(&mut self, id: NodeId, limits: &Limits, now: Time) -> u64 {
        let is_late = |neighbour: &Neighbour| now.since(neighbour.heard) >= limits.forgotten;
        let before = self.neighbours.len();
        if now.since(self.swept) >= SWEEP_INTERVAL {
            self.swept = now;
            self.neighbours.retain(|neighbour| !is_late(neighbour));
        } else if let Ok(at) = self.neighbours.binary_search_by_key(&id, |neighbour| neighbour.id)
            && self.neighbours.get(at).is_some_and(is_late)
        {
            self.neighbours.remove(at);
        }
        (before - self.neighbours.len()) as u64
    }

    /// The exchange with the sender of an authentic packet; it gets a place where there is one.
    pub(super) fn exchange_or_new(
        &mut self,
        id: NodeId,
        limits: &Limits,
        now: Time,
    ) -> Result<&mut Exchange, Reason> {
        if self.exchange(id).is_none() {
            self.add_pending(id, limits, now)?;
        }
        self.exchange(id).ok_or(Reason::NoRoom)
    }

    fn add_pending(&mut self, id: NodeId, limits: &Limits, now: Time) -> Result<(), Reason> {
        if self.neighbours.len() >= limits.neighbours && self.silent(limits, now).is_none() {
            return Err(Reason::NoRoom);
        }
        if self.pending.len() >= limits.neighbours {
            let oldest =
                self.pending.iter().enumerate().min_by_key(|(_, pending)| (pending.since, pending.id));
            let (at, oldest) = oldest.ok_or(Reason::NoRoom)?;
            if now.since(oldest.since) < PENDING_LIFE {
                return Err(Reason::NoRoom);
            }
            self.pending.remove(at);
        }
        let at = self.pending.partition_point(|pending| pending.id < id);
        self.pending.insert(at, Pending { id, since: now, exchange: Exchange::new(now) });
        Ok(())
    }

    /// The neighbour that gives room to another one: the longest silent of those that are not heard any more.
    fn silent(&self, limits: &Limits, now: Time) -> Option<usize> {
        let longest =
            self.neighbours.iter().enumerate().min_by_key(|(_, neighbour)| (neighbour.heard, neighbour.id));
        longest.filter(|(_, neighbour)| now.since(neighbour.heard) >= limits.kept).map(|(at, _)| at)
    }

    /// Records the index that a node has proven, with the counter of its reply.
    pub(super) fn prove(
        &mut self,
        (id, index, counter, key): (NodeId, u64, u64, u32),
        limits: &Limits,
        counts: &mut Counts,
        now: Time,
    ) -> Result<(), Reason> {
        let window = Window::after(counter);
        if let Some(known) = self.neighbour(id) {
            known.exchange.finish();
            (known.index, known.window, known.heard, known.key) = (index, window, now, key);
            counts.proven += 1;
            return Ok(());
        }
        let place = self.pending.binary_search_by_key(&id, |pending| pending.id);
        let mut exchange =
            place.ok().map_or_else(|| Exchange::new(now), |at| self.pending.remove(at).exchange);
        exchange.finish();
        if self.neighbours.len() >= limits.neighbours {
            let at = self.silent(limits, now).ok_or(Reason::NoRoom)?;
            self.neighbours.remove(at);
            counts.evicted += 1;
        }
        let at = self.neighbours.partition_point(|neighbour| neighbour.id < id);
        let (checks, messages) = (Bucket::full(now), Bucket::full(now));
        let new = Neighbour { id, index, window, heard: now, key, checks, messages, exchange };
        self.neighbours.insert(at, new);
        counts.proven += 1;
        Ok(())
    }
}
