//! Counters of a sender.

/// Counters of a sender since its creation; those changed by each packet first. Bytes are payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with payload or a FIN, retransmissions included.
    pub segments: u64,
    /// Payload sent, retransmissions included.
    pub bytes: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Round trips measured: from the departure of the newest segment that an acknowledgement covers, if it was sent once.
    pub round_trips: u64,
    /// Sum of the measured round trips, ns.
    pub round_trip_ns: u64,
    /// Payload acknowledged cumulatively.
    pub bytes_acked: u64,
    /// Segments that were retransmissions.
    pub retransmissions: u64,
    /// Payload retransmitted.
    pub bytes_retransmitted: u64,
    /// Payload assumed lost.
    pub bytes_lost: u64,
    /// SYNs sent.
    pub syns: u64,
    /// Expiries of the retransmission timer, those of the SYN not included.
    pub timeouts: u64,
    /// Those of `timeouts` that proved spurious; several in a row count as one.
    pub spurious_timeouts: u64,
    /// Those of `fast_recoveries` that proved spurious.
    pub spurious_recoveries: u64,
    /// Fast recoveries started.
    pub fast_recoveries: u64,
    /// Reductions for echoed congestion marks.
    pub ecn_reductions: u64,
    /// Acknowledgements that were duplicates (RFC 5681 section 2, RFC 6675 section 2).
    pub duplicate_acks: u64,
    /// Probes of a closed window.
    pub probes: u64,
    /// Restarts after an idle time.
    pub idle_restarts: u64,
}
