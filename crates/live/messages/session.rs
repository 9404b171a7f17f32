//! The session of a node: packets to send are sealed, packets received are opened.

use std::fmt;

use airfair_schemes::places::NodeId;
use airfair_units::{Span, Time};

use super::bucket::Bucket;
use super::counts::{Counts, Reason};
use super::keys::{Key, Keys};
use super::packet::{Header, Kind, LARGEST_PAYLOAD, NONCE_LEN, Nonce, Packet};
use super::table::Table;

/// In front of the pseudo header: no code of another protocol with the same key is one of this.
const DOMAIN: &[u8] = b"airfair message 1";
const MOST_NEIGHBOURS: usize = 4096;

/// Fills a slice with random bytes.
type Random = dyn FnMut(&mut [u8]) + Send;

/// Bounds on work and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most neighbours that are heard, and most nodes that are challenged at a time. 1 to 4096.
    pub neighbours: usize,
    /// Most MACs of received packets, a second. At least 16 for each of `neighbours`; less is raised to that.
    pub per_second: u32,
    /// Most messages of a neighbour, a second; where many are heard, half of `per_second` divided among them may be less. At least 1.
    pub messages: u32,
    /// A neighbour that was heard within this time never gives room to another one. At most `forgotten`.
    pub kept: Span,
    /// A neighbour that was silent for this time is forgotten (RFC 8967, section 4.4). At least a second.
    pub forgotten: Span,
}

impl Default for Limits {
    /// 64 neighbours, 4096 MACs a second, 100 messages a second and neighbour, kept for a minute and forgotten after five.
    fn default() -> Self {
        Self {
            neighbours: 64,
            per_second: 4096,
            messages: 100,
            kept: Span::from_secs(60),
            forgotten: Span::from_secs(300),
        }
    }
}

impl Limits {
    fn bounded(self) -> Self {
        let neighbours = self.neighbours.clamp(1, MOST_NEIGHBOURS);
        let least = u32::try_from(16 * neighbours).unwrap_or(u32::MAX);
        let forgotten = self.forgotten.max(Span::from_secs(1));
        let (per_second, messages, kept) =
            (self.per_second.max(least), self.messages.max(1), self.kept.min(forgotten));
        Self { neighbours, per_second, messages, kept, forgotten }
    }
}

/// A payload longer than [`LARGEST_PAYLOAD`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong {
    /// Length of the payload, bytes.
    pub length: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a payload of {} bytes; at most {LARGEST_PAYLOAD} fit a packet", self.length)
    }
}

impl std::error::Error for TooLong {}

/// The outcome of a received packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened<'a> {
    /// An authentic message, for the first time.
    Message {
        /// The neighbour that has sealed it.
        from: NodeId,
        /// True if this node is the only addressee.
        to_me: bool,
        /// The addressee; none if the message is to everyone.
        to: Option<NodeId>,
        /// The bytes that were sealed.
        payload: &'a [u8],
    },
    /// A challenge or a reply, to be sent to the node from which the packet was received.
    Reply(Vec<u8>),
    /// Nothing to do.
    Nothing(Reason),
}

/// A neighbour that is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard<'a> {
    /// The neighbour.
    pub id: NodeId,
    /// Time of the last packet of it that was accepted.
    pub last: Time,
    /// Name of the key of that packet; none if that key was removed since.
    pub key: Option<&'a str>,
}

/// The state of a node from its start to its end.
pub struct Session {
    me: NodeId,
    pseudo_header: Vec<u8>,
    /// Their codes start with the pseudo header.
    keys: Vec<Key>,
    limits: Limits,
    random: Box<Random>,
    index: u64,
    /// The counter of the next packet.
    counter: u64,
    table: Table,
    /// Limit of packets that are verified of other nodes than those of the table.
    unknown: Bucket,
    counts: Counts,
}

impl fmt::Debug for Session {
    /// No keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let neighbours = self.table.neighbours().len();
        f.debug_struct("Session")
            .field("me", &self.me)
            .field("neighbours", &neighbours)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// The session of the node `me` in the network of this name, of which at most 255 bytes count; nodes of other networks are strangers
    /// even if they have the same keys. `random` fills a slice with bytes that nobody can predict and no earlier start has drawn
    /// (getrandom(2)); it is called now, and when a node is challenged.
    pub fn new(
        me: NodeId,
        network: &[u8],
        keys: Keys,
        limits: Limits,
        random: impl FnMut(&mut [u8]) + Send + 'static,
    ) -> Self {
        let network = network.get(..255).unwrap_or(network);
        let length = [u8::try_from(network.len()).unwrap_or(u8::MAX)];
        let pseudo_header = [DOMAIN, &length, network].concat();
        let mut session = Self {
            me,
            pseudo_header,
            keys: Vec::new(),
            limits: limits.bounded(),
            random: Box::new(random),
            index: 0,
            counter: 0,
            table: Table::default(),
            unknown: Bucket::full(Time(0)),
            counts: Counts::default(),
        };
        session.set_keys(keys);
        session.draw_index();
        session
    }

    /// Replaces the keys. Neighbours and counters stay, since an index is that of a start and not of a key.
    pub fn set_keys(&mut self, keys: Keys) {
        let mut keys = keys.into_list();
        for key in &mut keys {
            key.authenticator = key.authenticator.after(&self.pseudo_header);
        }
        self.keys = keys;
    }

    /// The packet of a message, to one neighbour or to everyone (`None`). A receiver that does not hear this node yet challenges it, and
    /// loses that message.
    pub fn seal(&mut self, to: Option<NodeId>, payload: &[u8]) -> Result<Vec<u8>, TooLong> {
        if payload.len() > LARGEST_PAYLOAD {
            return Err(TooLong { length: payload.len() });
        }
        self.counts.sealed += 1;
        Ok(self.packet(Kind::Message, to, payload))
    }

    /// Opens a received packet. `now` never goes back.
    pub fn open<'a>(&mut self, bytes: &'a [u8], now: Time) -> Opened<'a> {
        let opened = self.examine(bytes, now).unwrap_or_else(Opened::Nothing);
        match &opened {
            Opened::Message { .. } => self.counts.messages += 1,
            Opened::Reply(_) => {}
            Opened::Nothing(reason) => self.counts.record(*reason),
        }
        opened
    }

    /// Counters since the start.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// The neighbours that are heard, in the order of their numbers.
    pub fn neighbours(&self, now: Time) -> impl Iterator<Item = Heard<'_>> {
        let heard =
            self.table.neighbours().iter().filter(move |n| now.since(n.heard) < self.limits.forgotten);
        heard.map(|neighbour| {
            let key = self.keys.iter().find(|key| key.tag == neighbour.key).map(|key| key.name.as_str());
            Heard { id: neighbour.id, last: neighbour.heard, key }
        })
    }

    /// Nodes that are challenged, or were until others took their place.
    pub fn challenged(&self) -> usize {
        self.table.pending()
    }

    fn draw_index(&mut self) {
        let mut bytes = [0; 8];
        (self.random)(&mut bytes);
        self.index = u64::from_be_bytes(bytes);
        self.counter = 0;
    }

    fn renew_index(&mut self) {
        self.counts.new_indices += 1;
        self.draw_index();
    }

    /// A packet of this node. The counter is never used twice (RFC 8967, section 4.2).
    fn packet(&mut self, kind: Kind, to: Option<NodeId>, payload: &[u8]) -> Vec<u8> {
        if self.counter == u64::MAX {
            self.renew_index();
        }
        // There always is a key; without one nothing is sent.
        let Some(key) = self.keys.first() else { return Vec::new() };
        let (index, counter) = (self.index, self.counter);
        let header = Header { kind, key: key.tag, sender: self.me, to, index, counter };
        self.counter += 1;
        header.seal(payload, &key.authenticator)
    }

    fn examine<'a>(&mut self, bytes: &'a [u8], now: Time) -> Result<Opened<'a>, Reason> {
        let packet = Packet::decode(bytes)?;
        let Header { kind, key, sender, to, .. } = packet.header;
        let key = self.keys.iter().position(|known| known.tag == key).ok_or(Reason::UnknownKey)?;
        if sender == self.me {
            return Err(self.own(&packet, key, now));
        }
        if kind != Kind::Message && to != Some(self.me) {
            return Err(Reason::NotForMe);
        }
        self.counts.forgotten += self.table.expire(sender, &self.limits, now);
        self.admit(&packet, now)?;
        self.verify(&packet, key)?;
        let standing = self.standing(&packet, now)?;
        let (challenge, is_unproven) = (packet.challenge(), standing == Standing::Unproven);
        if challenge.is_some() || is_unproven {
            return self.respond(sender, challenge, is_unproven, now);
        }
        if kind != Kind::Message {
            return Err(if standing == Standing::Proven { Reason::Proven } else { Reason::Unexpected });
        }
        let limit = self.limits.messages;
        let neighbour = self.table.neighbour(sender).ok_or(Reason::NotHeardYet)?;
        if !neighbour.messages.take(limit, now) {
            return Err(Reason::MessageLimit);
        }
        Ok(Opened::Message { from: sender, to_me: to == Some(self.me), to, payload: packet.payload })
    }

    /// A packet that names this node as its sender.
    fn own(&mut self, packet: &Packet<'_>, key: usize, now: Time) -> Reason {
        let is_index = packet.header.index == self.index;
        if is_index && packet.header.counter < self.counter {
            return Reason::OwnPacket;
        }
        if !self.unknown.take(self.limits.per_second / 4, now) {
            return Reason::UnknownLimit;
        }
        if let Err(reason) = self.verify(packet, key) {
            return reason;
        }
        if is_index {
            self.renew_index();
        }
        Reason::OwnName
    }

    /// Refuses what need not be verified: counters received before, and what is beyond the limits.
    fn admit(&mut self, packet: &Packet<'_>, now: Time) -> Result<(), Reason> {
        let Header { sender, index, counter, .. } = packet.header;
        let quarter = self.limits.per_second / 4;
        let part = |whole: u32, nodes: usize| whole / u32::try_from(nodes).unwrap_or(u32::MAX).max(1);
        let (of_neighbour, of_pending) =
            (part(2 * quarter, self.table.neighbours().len()), part(quarter, 2 * self.limits.neighbours));
        if let Some(neighbour) = self.table.neighbour(sender)
            && neighbour.index == index
        {
            if !neighbour.window.is_new(counter) {
                return Err(Reason::Replay);
            }
            let may = neighbour.checks.take(of_neighbour, now);
            return if may { Ok(()) } else { Err(Reason::NeighbourLimit) };
        }
        if let Some(nonce) = packet.repeated()
            && let Some(exchange) = self.table.exchange(sender)
            && exchange.expects(&nonce, now)
        {
            let may = exchange.checks.take(of_pending, now);
            return if may { Ok(()) } else { Err(Reason::NeighbourLimit) };
        }
        if self.unknown.take(quarter, now) { Ok(()) } else { Err(Reason::UnknownLimit) }
    }

    fn verify(&mut self, packet: &Packet<'_>, key: usize) -> Result<(), Reason> {
        self.counts.verified += 1;
        let key = self.keys.get(key).ok_or(Reason::UnknownKey)?;
        if key.authenticator.is_valid(packet.signed, packet.mac) { Ok(()) } else { Err(Reason::BadMac) }
    }

    /// The standing of the sender of an authentic packet, which is recorded as received (RFC 8967, section 4.3).
    fn standing(&mut self, packet: &Packet<'_>, now: Time) -> Result<Standing, Reason> {
        let Header { sender, index, counter, key, .. } = packet.header;
        let repeats = |nonce: Nonce, table: &mut Table| {
            table.exchange(sender).is_some_and(|exchange| exchange.expects(&nonce, now))
        };
        let is_reply = packet.repeated().is_some_and(|nonce| repeats(nonce, &mut self.table));
        if let Some(neighbour) = self.table.neighbour(sender)
            && neighbour.index == index
        {
            neighbour.window.record(counter);
            (neighbour.heard, neighbour.key) = (now, key);
            if is_reply {
                // Somebody has sent a recorded packet of another index; this one stays.
                neighbour.exchange.finish();
            }
            return Ok(Standing::Known);
        }
        if !is_reply {
            return Ok(Standing::Unproven);
        }
        self.table.prove((sender, index, counter, key), &self.limits, &mut self.counts, now)?;
        Ok(Standing::Proven)
    }

    /// Answers the sender of an authentic packet: repeats its nonce, challenges it, or both in one packet.
    fn respond<'a>(
        &mut self,
        to: NodeId,
        nonce: Option<Nonce>,
        is_unproven: bool,
        now: Time,
    ) -> Result<Opened<'a>, Reason> {
        let exchange = self.table.exchange_or_new(to, &self.limits, now)?;
        let answer = nonce.filter(|_| exchange.answer(now));
        let challenge = (is_unproven && exchange.may_challenge(now)).then(|| {
            let mut fresh = [0; NONCE_LEN];
            (self.random)(&mut fresh);
            exchange.challenge(fresh, now)
        });
        self.counts.replies += u64::from(answer.is_some());
        self.counts.challenges += u64::from(challenge.is_some());
        let packet = match (answer, challenge) {
            (Some(nonce), None) => self.packet(Kind::Reply, Some(to), &nonce),
            (Some(nonce), Some(challenge)) => {
                self.packet(Kind::Reply, Some(to), &[nonce, challenge].concat())
            }
            (None, Some(challenge)) => self.packet(Kind::Challenge, Some(to), &challenge),
            (None, None) if is_unproven => return Err(Reason::NotHeardYet),
            (None, None) => return Err(Reason::RecentlyAnswered),
        };
        Ok(Opened::Reply(packet))
    }
}

/// Of the sender of an authentic packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The index is not that of a neighbour.
    Unproven,
    /// The packet has proven the index.
    Proven,
    /// The index was proven before.
    Known,
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
