//! Messages that were received before: an overheard frame may be sent again, and a message may come by two ways.

use alloc::vec::Vec;

use airfair_schemes::places::NodeId;
use airfair_units::Time;

/// The name of a message: its origin and its number there. The numbers of an origin grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId {
    /// The node whose agent or controller has sent it.
    pub origin: NodeId,
    /// Number among the messages of that node.
    pub number: u64,
}

/// Most origins that are remembered; a further one takes the place of the one that was silent for longest.
const MOST_ORIGINS: usize = 1024;

/// Messages received by an agent or a controller: of each origin the newest number, and which of the 127 before it. An older message is
/// taken for new: no message is lost for being late, or because its origin has started again with lower numbers.
#[derive(Debug, Clone, Default)]
pub struct Seen(Vec<Origin>);

#[derive(Debug, Clone, Copy)]
struct Origin {
    id: NodeId,
    newest: u64,
    /// Bit `i`: number `newest - i` was received.
    window: u128,
    last: Time,
}

impl Seen {
    /// Records a message; true the first time.
    pub fn is_new(&mut self, MessageId { origin, number }: MessageId, now: Time) -> bool {
        let Self(origins) = self;
        let at = match origins.binary_search_by_key(&origin, |known| known.id) {
            Ok(at) => at,
            Err(at) => {
                let new = Origin { id: origin, newest: number, window: 1, last: now };
                if origins.len() < MOST_ORIGINS {
                    origins.insert(at, new);
                } else if let Some(oldest) = origins.iter_mut().min_by_key(|known| (known.last, known.id)) {
                    *oldest = new;
                    origins.sort_unstable_by_key(|known| known.id);
                }
                return true;
            }
        };
        let known = &mut origins[at];
        known.last = now;
        if number > known.newest {
            let ahead = number - known.newest;
            known.window =
                u32::try_from(ahead).ok().and_then(|ahead| known.window.checked_shl(ahead)).unwrap_or(0) | 1;
            known.newest = number;
            return true;
        }
        let Some(bit) = u32::try_from(known.newest - number).ok().and_then(|back| 1_u128.checked_shl(back))
        else {
            return true;
        };
        let is_new = known.window & bit == 0;
        known.window |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(origin: u32, number: u64) -> MessageId {
        MessageId { origin: NodeId(origin), number }
    }

    #[test]
    fn each_message_is_new_once() {
        let mut seen = Seen::default();
        let order = [5, 5, 7, 6, 7, 6, 133, 5, 6, 134, 7, 260, 134, 133, 132];
        let new = order.map(|number| seen.is_new(id(1, number), Time(0)));
        // 5 and 6 are at the end of the window of 133 (6) or behind it (5, taken for new); after 260 only 133 is in the window.
        let expected =
            [true, false, true, true, false, false, true, true, false, true, false, true, false, false, true];
        assert_eq!(new, expected);
        assert!(seen.is_new(id(2, 5), Time(0)), "another origin");
    }

    #[test]
    fn a_jump_of_any_length_keeps_the_order() {
        let mut seen = Seen::default();
        for number in [0, u64::MAX, 1 << 40] {
            assert!(seen.is_new(id(1, number), Time(0)));
        }
        assert!(!seen.is_new(id(1, u64::MAX), Time(0)));
        assert!(seen.is_new(id(1, u64::MAX - 127), Time(0)) && !seen.is_new(id(1, u64::MAX - 127), Time(0)));
    }

    /// Of more origins than there is room for, the one that was silent for longest is forgotten.
    #[test]
    fn memory_is_bounded() {
        let mut seen = Seen::default();
        for origin in 0..=MOST_ORIGINS as u32 {
            assert!(seen.is_new(id(origin.wrapping_mul(0x9e37_79b9), 1), Time(u64::from(origin))));
        }
        assert_eq!(seen.0.len(), MOST_ORIGINS);
        assert!(seen.0.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(seen.is_new(id(0, 1), Time(5000)), "the first origin");
        assert!(!seen.is_new(id(0x9e37_79b9_u32.wrapping_mul(2), 1), Time(5000)), "the third one");
    }
}
