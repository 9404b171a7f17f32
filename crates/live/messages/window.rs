//! Counters that were received.

/// The newest counter received from an index, and which of the 127 before it (RFC 9467, section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    newest: u64,
    /// Bit `i`: counter `newest - i` was received.
    received: u128,
}

impl Window {
    /// A window in which this counter and all before it are taken for received.
    pub(super) const fn after(newest: u64) -> Self {
        Self { newest, received: u128::MAX }
    }

    /// True for a counter that was not received and is not older than the window.
    pub(super) fn is_new(&self, counter: u64) -> bool {
        let Some(back) = self.newest.checked_sub(counter) else { return true };
        let bit = u32::try_from(back).ok().and_then(|back| 1_u128.checked_shl(back));
        bit.is_some_and(|bit| self.received & bit == 0)
    }

    /// Marks a new counter as received.
    pub(super) fn record(&mut self, counter: u64) {
        if let Some(ahead) = counter.checked_sub(self.newest) {
            let moved = u32::try_from(ahead).ok().and_then(|ahead| self.received.checked_shl(ahead));
            self.received = moved.unwrap_or(0) | 1;
            self.newest = counter;
        } else if let Ok(back) = u32::try_from(self.newest - counter) {
            self.received |= 1_u128.checked_shl(back).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_once_within_the_window() {
        let mut window = Window::after(1000);
        let mut receive = |counter| {
            let new = window.is_new(counter);
            if new {
                window.record(counter);
                assert!(!window.is_new(counter));
            }
            new
        };
        assert!([0, 873, 999, 1000].map(&mut receive).iter().all(|&new| !new), "before the start");
        assert_eq!([1003, 1001, 1003, 1002, 1001].map(&mut receive), [true, true, false, true, false]);
        assert_eq!([1131, 1004, 1003].map(&mut receive), [true, true, false], "127 back, 128 back");
        assert_eq!([1300, 1172, 1173].map(&mut receive), [true, false, true]);
        assert_eq!([u64::MAX, u64::MAX - 127, u64::MAX - 128].map(&mut receive), [true, true, false]);
        assert_eq!([u64::MAX, 0].map(&mut receive), [false, false]);
    }
}
