//! What a sender counts.

/// Counters of a sender since it was made, those that each packet changes first. Bytes are payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with payload or a FIN that left, retransmissions included.
    pub segments: u64,
    /// Payload that left, retransmissions included.
    pub bytes: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Round trips measured: from the newest segment that an acknowledgement covers, if it was sent once, to the acknowledgement.
    pub round_trips: u64,
    /// Their sum, ns.
    pub round_trip_ns: u64,
    /// Payload acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Of the segments, retransmissions.
    pub retransmissions: u64,
    /// Payload that left again.
    pub bytes_retransmitted: u64,
    /// Payload believed to be lost.
    pub bytes_lost: u64,
    /// SYNs that left.
    pub syns: u64,
    /// Expiries of the retransmission timer, those of the SYN not included.
    pub timeouts: u64,
    /// Fast recoveries begun.
    pub fast_recoveries: u64,
    /// Reductions for echoed congestion marks.
    pub ecn_reductions: u64,
    /// Of the acknowledgements, duplicates (RFC 5681 section 2, RFC 6675 section 2).
    pub duplicate_acks: u64,
    /// Probes of a closed window.
    pub probes: u64,
    /// Restarts after a silence.
    pub idle_restarts: u64,
}
