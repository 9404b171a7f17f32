//! Scoreboard: segments sent and not yet acknowledged, with the state of each (RFC 6675 sections 1, 2 and 4).
//!
//! RFC 6675 uses octets; here a segment is the smallest unit, since it is also the unit of retransmission: a segment counts as selectively
//! acknowledged only as a whole.

use alloc::collections::VecDeque;

use crate::delivery::Snapshot;

/// Room for so many segments at first: an initial window of RFC 6928, and as many more.
const FIRST_SEGMENTS: usize = 20;

/// An outstanding segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outstanding {
    /// First sequence number.
    pub(crate) seq: u64,
    /// Payload, bytes.
    pub(crate) payload: u32,
    /// True if it carries the FIN, which takes a sequence number too.
    pub(crate) fin: bool,
    /// True if the receiver has reported it.
    pub(crate) sacked: bool,
    /// True if the receiver has ever reported it, also before a time-out: it counts as delivered once.
    pub(crate) reported: bool,
    /// True if it is assumed lost.
    pub(crate) lost: bool,
    /// True if it was retransmitted since it was last assumed lost: up to HighRxt of RFC 6675.
    pub(crate) resent: bool,
    /// True if it was ever retransmitted: its round-trip time is ambiguous (Karn).
    pub(crate) repeated: bool,
    /// True if the retransmission timer has caused a retransmission.
    pub(crate) timed_out: bool,
    /// True if nothing but the expiry of the timer has declared it lost.
    by_timer: bool,
    /// State of the connection at its last departure.
    pub(crate) snapshot: Snapshot,
}

impl Outstanding {
    /// The sequence number after it.
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.payload) + u64::from(self.fin)
    }

    /// Sequence number from which a SACK block covers it as a whole: a segment arrives in one piece, so a block that ends with the payload
    /// covers the FIN too.
    fn covered_at(&self) -> u64 {
        if self.payload > 0 { self.seq + u64::from(self.payload) } else { self.end() }
    }

    /// The segment's bytes in the network: SetPipe of RFC 6675 (section 4), by segments instead of octets.
    fn in_pipe(&self) -> u64 {
        if self.sacked {
            return 0;
        }
        (u64::from(!self.lost) + u64::from(self.resent)) * u64::from(self.payload)
    }
}

/// Result of an acknowledgement.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AckResult {
    /// Newly delivered payload, bytes.
    pub(crate) delivered: u64,
    /// Payload covered by the advance of the cumulative acknowledgement, bytes.
    pub(crate) cumulative: u64,
    /// True if a SACK block has covered new data: a duplicate acknowledgement of RFC 6675 (section 2).
    pub(crate) sacked: bool,
    /// The newest of the delivered segments.
    pub(crate) newest: Option<Newest>,
}

/// The newest of the segments that an acknowledgement delivered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Newest {
    /// State of the connection at its departure.
    pub(crate) snapshot: Snapshot,
    /// True if it was sent only once, so that its round-trip time may be measured.
    pub(crate) once: bool,
    end: u64,
}

impl AckResult {
    fn add(&mut self, segment: &Outstanding) {
        self.delivered += u64::from(segment.payload);
        let key = |snapshot: &Snapshot, end: u64| (snapshot.sent_at, end);
        let newer = self
            .newest
            .is_none_or(|newest| key(&segment.snapshot, segment.end()) > key(&newest.snapshot, newest.end));
        if newer {
            let (snapshot, once) = (segment.snapshot, !segment.repeated);
            self.newest = Some(Newest { snapshot, once, end: segment.end() });
        }
    }
}

/// The outstanding segments in order, with running sums.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Outstanding>,
    /// Payload outstanding, bytes.
    payload: u64,
    /// Payload in the network, bytes: pipe of RFC 6675.
    pipe: u64,
    /// Payload selectively acknowledged, bytes.
    sacked: u64,
    /// Sequence number after the highest selectively acknowledged one.
    sacked_to: u64,
    /// Blocks reported last: data in them are selectively acknowledged. Empty blocks are unused.
    blocks: [(u64, u64); 4],
    next_block: usize,
    /// No segment below is lost and not retransmitted.
    repaired_to: u64,
    /// All lost segments below are marked already.
    judged_to: u64,
}

impl Scoreboard {
    /// Nothing is outstanding.
    pub(crate) fn new() -> Self {
        Self { segments: VecDeque::with_capacity(FIRST_SEGMENTS), ..Self::default() }
    }

    /// Payload outstanding, bytes: FlightSize of RFC 5681.
    pub(crate) fn payload(&self) -> u64 {
        self.payload
    }

    /// Payload in the network, bytes: pipe of RFC 6675.
    pub(crate) fn pipe(&self) -> u64 {
        self.pipe
    }

    /// Payload selectively acknowledged, bytes.
    pub(crate) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// True if nothing is outstanding.
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// The first outstanding segment.
    pub(crate) fn head(&self) -> Option<&Outstanding> {
        self.segments.front()
    }

    /// The running sums recomputed, for tests.
    pub(crate) fn recount(&self) -> (u64, u64, u64) {
        let sum = |of: fn(&Outstanding) -> u64| self.segments.iter().map(of).sum();
        let payload = |segment: &Outstanding| u64::from(segment.payload);
        (
            sum(payload),
            sum(Outstanding::in_pipe),
            sum(|segment| u64::from(segment.sacked) * u64::from(segment.payload)),
        )
    }

    /// Adds a new segment after all others.
    #[inline(always)]
    pub(crate) fn push(&mut self, seq: u64, payload: u32, fin: bool, snapshot: Snapshot) {
        self.payload += u64::from(payload);
        self.pipe += u64::from(payload);
        self.segments.push_back(Outstanding {
            seq,
            payload,
            fin,
            sacked: false,
            reported: false,
            lost: false,
            resent: false,
            repeated: false,
            timed_out: false,
            by_timer: false,
            snapshot,
        });
    }

    /// Removes everything below `ack`. A partly acknowledged segment is cut.
    pub(crate) fn acknowledge(&mut self, ack: u64, result: &mut AckResult) {
        while let Some(segment) = self.segments.front()
            && segment.seq < ack
        {
            if segment.end() > ack {
                return self.cut(ack, result);
            }
            if let Some(gone) = self.segments.pop_front() {
                self.remove(&gone, result);
            }
        }
    }

    /// Counts a segment that is acknowledged cumulatively.
    #[inline(always)]
    fn remove(&mut self, gone: &Outstanding, result: &mut AckResult) {
        self.payload -= u64::from(gone.payload);
        self.pipe -= gone.in_pipe();
        result.cumulative += u64::from(gone.payload);
        if gone.sacked {
            self.sacked -= u64::from(gone.payload);
        }
        if !gone.reported {
            result.add(gone);
        }
    }

    /// Removes the part below `ack` of the first segment.
    #[cold]
    #[inline(never)]
    fn cut(&mut self, ack: u64, result: &mut AckResult) {
        let Some(segment) = self.segments.front_mut() else { return };
        // Only payload can remain: a FIN alone is one number long. The cut never exceeds the payload.
        let cut = (ack - segment.seq).min(u64::from(segment.payload)) as u32;
        let gone = Outstanding { payload: cut, fin: false, ..*segment };
        segment.seq += u64::from(cut);
        segment.payload -= cut;
        self.remove(&gone, result);
    }

    /// Marks `left..right` as selectively acknowledged (RFC 6675 section 4, Update). Invalid blocks are ignored.
    pub(crate) fn sack(&mut self, left: u64, right: u64, result: &mut AckResult) {
        let Some(last) = self.segments.back() else { return };
        if left >= right || right > last.end() {
            return;
        }
        // A growing block is reported repeatedly: only its new part is processed.
        let known = self.blocks.iter().position(|&(from, to)| (from..to).contains(&left));
        let (first, mut to) = known.map_or((left, left), |known| self.blocks[known]);
        let from = self.segments.partition_point(|segment| segment.seq < to);
        for segment in self.segments.range_mut(from..) {
            if segment.covered_at() > right {
                break;
            }
            to = segment.end();
            if segment.sacked {
                continue;
            }
            self.pipe -= segment.in_pipe();
            segment.sacked = true;
            self.sacked += u64::from(segment.payload);
            self.sacked_to = self.sacked_to.max(segment.end());
            result.sacked = true;
            if !core::mem::replace(&mut segment.reported, true) {
                result.add(segment);
            }
        }
        let place = known.unwrap_or(self.next_block);
        if known.is_none() && to > left {
            self.next_block = (place + 1) % self.blocks.len();
        }
        if to > first {
            self.blocks[place] = (first, to);
        }
    }

    /// Marks segments as lost by IsLost of RFC 6675 (section 4): `threshold` runs of segments above, or more than `threshold - 1` full
    /// segments, are selectively acknowledged. Returns the payload newly marked, bytes.
    pub(crate) fn mark_lost(&mut self, threshold: u32, mss: u32) -> u64 {
        let enough = u64::from(threshold.saturating_sub(1)) * u64::from(mss);
        let (mut runs, mut bytes, mut above_sacked) = (0, 0, false);
        let mut index = self.segments.partition_point(|segment| segment.seq < self.sacked_to);
        while runs < threshold && bytes <= enough {
            let Some(segment) = index.checked_sub(1).and_then(|below| self.segments.get(below)) else {
                return 0;
            };
            if segment.end() <= self.judged_to {
                return 0;
            }
            index -= 1;
            if segment.sacked {
                runs += u32::from(!above_sacked);
                bytes += u64::from(segment.payload);
            }
            above_sacked = segment.sacked;
        }
        // Everything below `index` has enough above it.
        let mut lost = 0;
        let from = self.segments.partition_point(|segment| segment.end() <= self.judged_to);
        for at in from..index {
            lost += self.mark(at);
        }
        if let Some(segment) = index.checked_sub(1).and_then(|below| self.segments.get(below)) {
            self.judged_to = self.judged_to.max(segment.end());
        }
        lost
    }

    /// Marks the segment at an index as lost and to be retransmitted; returns its payload if it was not lost before.
    fn mark(&mut self, index: usize) -> u64 {
        let Some(segment) = self.segments.get_mut(index) else { return 0 };
        if segment.sacked || segment.lost {
            return 0;
        }
        self.pipe -= segment.in_pipe();
        segment.lost = true;
        self.pipe += segment.in_pipe();
        if !segment.resent {
            self.repaired_to = self.repaired_to.min(segment.seq);
        }
        u64::from(segment.payload)
    }

    /// Marks the first segment as lost and to be retransmitted, at the start or during a recovery. Returns its payload if it was not lost
    /// before.
    pub(crate) fn mark_head_lost(&mut self) -> u64 {
        let Some(head) = self.segments.front_mut() else { return 0 };
        self.pipe -= head.in_pipe();
        head.resent = false;
        self.pipe += head.in_pipe();
        self.repaired_to = self.repaired_to.min(head.seq);
        self.mark(0)
    }

    /// Resets the record of retransmissions in earlier recoveries (RFC 6675 section 5, step 4.3: HighRxt starts anew).
    pub(crate) fn clear_resent(&mut self) {
        for segment in self.segments.iter_mut().filter(|segment| segment.resent) {
            self.pipe -= segment.in_pipe();
            segment.resent = false;
            self.pipe += segment.in_pipe();
        }
        self.repaired_to = 0;
    }

    /// The retransmission timer has expired: all segments are lost, and the receiver's reports are discarded (RFC 2018 section 8, RFC 6675
    /// section 5.1), though reported segments still count as delivered. `again`: this expiry and the last one are undone together.
    pub(crate) fn mark_all_lost(&mut self, again: bool) {
        for segment in &mut self.segments {
            segment.by_timer = !segment.lost || (again && segment.by_timer);
            segment.lost = true;
            segment.resent = false;
            segment.sacked = false;
        }
        (self.pipe, self.sacked, self.sacked_to, self.repaired_to, self.judged_to) = (0, 0, 0, 0, 0);
        self.blocks = Default::default();
        if let Some(head) = self.segments.front_mut() {
            head.timed_out = true;
        }
    }

    /// Takes back that segments are lost: all, or those that only the timer has declared lost. What was reported before the timer expired
    /// counts as selectively acknowledged again; of segments lost before, a copy is in the network if they were ever retransmitted.
    pub(crate) fn restore(&mut self, all: bool) {
        (self.pipe, self.sacked) = (0, 0);
        for segment in &mut self.segments {
            if all || segment.by_timer {
                segment.lost = false;
            } else {
                segment.resent |= segment.repeated;
            }
            segment.sacked |= segment.reported && !all;
            (segment.by_timer, segment.timed_out) = (false, false);
            self.pipe += segment.in_pipe();
            if segment.sacked {
                self.sacked += u64::from(segment.payload);
                self.sacked_to = self.sacked_to.max(segment.end());
            }
        }
        (self.repaired_to, self.judged_to) = (0, 0);
    }

    /// The first segment that is lost and was not retransmitted: NextSeg of RFC 6675, rule 1.
    pub(crate) fn next_lost(&mut self) -> Option<usize> {
        let from = self.segments.partition_point(|segment| segment.seq < self.repaired_to);
        let to_repair = |segment: &Outstanding| segment.lost && !segment.resent && !segment.sacked;
        let found = self.segments.range(from..).position(to_repair).map(|offset| from + offset);
        self.repaired_to = match found {
            Some(index) => self.segments[index].seq,
            None => u64::MAX,
        };
        found
    }

    /// True if a segment is lost and was not retransmitted.
    pub(crate) fn has_lost(&self) -> bool {
        self.segments.iter().any(|segment| segment.lost && !segment.resent && !segment.sacked)
    }

    /// The first segment below the highest reported one that was neither reported nor retransmitted: NextSeg, rule 3.
    pub(crate) fn next_possibly_lost(&self) -> Option<usize> {
        let below = self.segments.partition_point(|segment| segment.seq < self.sacked_to);
        self.segments.range(..below).position(|segment| !segment.sacked && !segment.resent)
    }

    /// The last segment that was not reported: NextSeg, rule 4.
    pub(crate) fn last_missing(&self) -> Option<usize> {
        self.segments.iter().rposition(|segment| !segment.sacked)
    }

    /// The segment at an index.
    pub(crate) fn get(&self, index: usize) -> Option<&Outstanding> {
        self.segments.get(index)
    }

    /// Records a retransmission of the segment at an index.
    pub(crate) fn resend(&mut self, index: usize, snapshot: Snapshot) {
        let Some(segment) = self.segments.get_mut(index) else { return };
        self.pipe -= segment.in_pipe();
        segment.resent = true;
        segment.repeated = true;
        segment.snapshot = snapshot;
        self.pipe += segment.in_pipe();
    }

    /// Payload that was retransmitted and is neither acknowledged nor reported, bytes.
    pub(crate) fn repeated(&self) -> u64 {
        let out = self.segments.iter().filter(|segment| segment.repeated && !segment.sacked);
        out.map(|segment| u64::from(segment.payload)).sum()
    }

    /// True if the first segment is assumed lost.
    pub(crate) fn head_is_lost(&self) -> bool {
        self.head().is_some_and(|head| head.lost)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    #[test]
    fn a_restored_board_is_that_before_the_timer() {
        let mut board = Scoreboard::default();
        for i in 0..6 {
            board.push(10 * i, 10, false, Snapshot::default());
        }
        // The first is lost and sent again, the second lost, the third and fourth reported.
        board.mark_head_lost();
        board.resend(0, Snapshot::default());
        board.sack(20, 40, &mut AckResult::default());
        board.mark(1);
        let before = (board.payload(), board.pipe(), board.sacked());
        assert_eq!(before, (60, 30, 20));
        board.mark_all_lost(false);
        assert_eq!(board.recount(), (60, 0, 0));
        board.restore(false);
        assert_eq!(board.recount(), before);
        assert_eq!((board.payload(), board.pipe(), board.sacked()), before);
        assert_eq!(board.next_lost(), Some(1));
        // A second expiry after a genuine one: what the first has declared lost stays lost.
        board.mark_all_lost(false);
        board.mark_all_lost(false);
        board.restore(false);
        assert!(board.segments.iter().all(|segment| segment.lost));
        // Two that are undone together.
        board.restore(true);
        board.mark_all_lost(false);
        board.mark_all_lost(true);
        board.restore(false);
        assert!(!board.has_lost());
        assert_eq!(board.recount(), (board.payload(), board.pipe(), board.sacked()));
    }

    /// For blocks in any order, growing, overlapping, ending inside segments, with a time-out among them: covered data are recorded, and
    /// count as delivered once.
    fn covers(blocks: &[(u64, u64, bool)]) -> Result<(), TestCaseError> {
        let mut board = Scoreboard::default();
        let segments = 12;
        for i in 0..segments {
            board.push(10 * i, 10, false, Snapshot::default());
        }
        let (mut known, mut reported) = ([false; 12], [false; 12]);
        for &(left, length, time_out) in blocks {
            if time_out {
                board.mark_all_lost(false);
                known = [false; 12];
            }
            let (right, mut result) = (left + length, AckResult::default());
            board.sack(left, right, &mut result);
            let mut delivered = 0;
            for i in 0..segments {
                if left < right && right <= 10 * segments && 10 * i >= left && 10 * (i + 1) <= right {
                    delivered += if reported[i as usize] { 0 } else { 10 };
                    (known[i as usize], reported[i as usize]) = (true, true);
                }
            }
            prop_assert_eq!(board.segments.iter().map(|s| s.sacked).collect::<Vec<_>>(), known.to_vec());
            prop_assert_eq!(result.delivered, delivered);
            prop_assert_eq!(board.recount(), (board.payload(), board.pipe(), board.sacked()));
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::default()
        })]

        #[test]
        fn blocks_cover_what_they_say(blocks in proptest::collection::vec(
            (0u64..125, 0u64..70, proptest::bool::weighted(0.05)), 1..40)) {
            covers(&blocks)?;
        }

        /// Blocks that begin and end with segments, the common case.
        #[test]
        fn whole_blocks_too(blocks in proptest::collection::vec(
            (0u64..12, 0u64..7, proptest::bool::weighted(0.05)), 1..40)) {
            covers(&blocks.into_iter().map(|(left, length, out)| (10 * left, 10 * length, out)).collect::<Vec<_>>())?;
        }
    }
}
