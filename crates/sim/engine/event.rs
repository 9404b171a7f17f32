//! An event: 32 bytes, `Copy`, no pointer.

/// Something that will happen. Events are ordered by `time`, then by `order`; no two are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// When, in nanoseconds since the start.
    pub time: u64,
    /// Class (4 bits), rank of the owner (28 bits), count of pushes (32 bits); see [`Order`].
    pub order: u64,
    /// What: the number of a variant that the world gives meaning to.
    pub kind: u32,
    /// Whom it concerns.
    pub target: u32,
    /// Free for the kind.
    pub a: u32,
    /// Free for the kind.
    pub b: u32,
}

/// The second part of an event's key. At equal times a smaller class goes first (ends of frames before starts, starts
/// before time-outs, ...); within a class the rank decides, which is drawn from the seed and the owner's name, so that no
/// node is favoured by its place in a file; within a rank, the order of the pushes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order(pub u64);

impl Order {
    /// The key of an event of `class` (below 16) and `rank` (its lower 28 bits count).
    #[inline]
    #[must_use]
    pub const fn new(class: u8, rank: u32) -> Self {
        Self(((class as u64) << 60) | (((rank & 0x0fff_ffff) as u64) << 32))
    }
}

impl Event {
    /// Both parts of the key as one number.
    #[inline]
    #[must_use]
    pub const fn key(&self) -> u128 {
        ((self.time as u128) << 64) | self.order as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_32_bytes() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn time_goes_before_class_before_rank() {
        let e = |time, class, rank| Event {
            time,
            order: Order::new(class, rank).0,
            kind: 0,
            target: 0,
            a: 0,
            b: 0,
        };
        assert!(e(1, 15, 9).key() < e(2, 0, 0).key());
        assert!(e(1, 1, 9).key() < e(1, 2, 0).key());
        assert!(e(1, 1, 3).key() < e(1, 1, 9).key());
    }
}
