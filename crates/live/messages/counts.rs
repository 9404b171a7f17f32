//! Counters of packets, for the status of a daemon.

/// Why a received packet gives neither a message nor a packet to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Not the layout of a packet, or longer than [`super::LARGEST_PACKET`].
    Malformed,
    /// A packet of another version of the layout.
    Version,
    /// No key has the packet's tag.
    UnknownKey,
    /// The MAC is not that of the packet under its key and in this network.
    BadMac,
    /// The counter was received already, or is older than the window; not verified.
    Replay,
    /// A packet of this start of this node, as a socket or a relay may return it; not verified.
    OwnPacket,
    /// An authentic packet with this node's name that this start has not sent: of an earlier start, or of another node of the same name,
    /// or of a name with the same number.
    OwnName,
    /// A challenge or a reply to another node; not verified.
    NotForMe,
    /// Not verified: the part of the limit for unknown senders is used up.
    UnknownLimit,
    /// Not verified: the part of the limit for this neighbour, or for replies of this node, is used up.
    NeighbourLimit,
    /// An authentic message beyond the limit of messages of a neighbour.
    MessageLimit,
    /// An authentic packet of an index that is not proven yet; a challenge was sent less than 300 ms ago.
    NotHeardYet,
    /// An authentic challenge, less than 100 ms after another that was answered.
    RecentlyAnswered,
    /// Authentic, but the table is full of neighbours that were heard lately.
    NoRoom,
    /// A reply that proves the index of its sender, and wants none: messages are heard from now on.
    Proven,
    /// A reply with a nonce that is not expected, from a neighbour that is heard anyway.
    Unexpected,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 16] = [
        Self::Malformed,
        Self::Version,
        Self::UnknownKey,
        Self::BadMac,
        Self::Replay,
        Self::OwnPacket,
        Self::OwnName,
        Self::NotForMe,
        Self::UnknownLimit,
        Self::NeighbourLimit,
        Self::MessageLimit,
        Self::NotHeardYet,
        Self::RecentlyAnswered,
        Self::NoRoom,
        Self::Proven,
        Self::Unexpected,
    ];

    /// The name in status output; it stays the same from version to version.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Version => "other_version",
            Self::UnknownKey => "unknown_key",
            Self::BadMac => "bad_mac",
            Self::Replay => "replay",
            Self::OwnPacket => "own_packet",
            Self::OwnName => "own_name",
            Self::NotForMe => "not_for_me",
            Self::UnknownLimit => "unknown_limit",
            Self::NeighbourLimit => "neighbour_limit",
            Self::MessageLimit => "message_limit",
            Self::NotHeardYet => "not_heard_yet",
            Self::RecentlyAnswered => "recently_answered",
            Self::NoRoom => "no_room",
            Self::Proven => "last_reply",
            Self::Unexpected => "unexpected_reply",
        }
    }
}

/// Packets since the start of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages sealed.
    pub sealed: u64,
    /// Authentic and fresh messages of neighbours.
    pub messages: u64,
    /// Challenges made.
    pub challenges: u64,
    /// Replies to challenges made.
    pub replies: u64,
    /// Indices of other nodes that were proven by a reply.
    pub proven: u64,
    /// MACs computed of received packets.
    pub verified: u64,
    /// Neighbours that gave room to another one.
    pub evicted: u64,
    /// Neighbours forgotten for their silence.
    pub forgotten: u64,
    /// Indices drawn after the first.
    pub new_indices: u64,
    refused: [u64; Reason::ALL.len()],
}

impl Counts {
    /// Packets that gave nothing, for this reason.
    pub const fn of(&self, reason: Reason) -> u64 {
        self.refused[reason as usize]
    }

    /// All counters with their names, in a fixed order.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let &Self {
            sealed,
            messages,
            challenges,
            replies,
            proven,
            verified,
            evicted,
            forgotten,
            new_indices,
            ..
        } = self;
        let first = [
            ("sealed", sealed),
            ("messages", messages),
            ("challenges", challenges),
            ("replies", replies),
            ("indices_proven", proven),
            ("verified", verified),
            ("evicted", evicted),
            ("forgotten", forgotten),
            ("new_indices", new_indices),
        ];
        first.into_iter().chain(Reason::ALL.into_iter().map(|reason| (reason.name(), self.of(reason))))
    }

    pub(super) fn record(&mut self, reason: Reason) {
        self.refused[reason as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_has_a_place_and_a_name_of_its_own() {
        let mut counts = Counts::default();
        for (at, reason) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, at);
            counts.record(reason);
        }
        let mut names: Vec<_> = counts.all().map(|(name, _)| name).collect();
        assert_eq!(counts.all().map(|(_, count)| count).sum::<u64>(), 16);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 9 + 16);
    }
}
