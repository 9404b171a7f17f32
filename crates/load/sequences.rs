//! Sequence numbers that have arrived, in a window of fixed size.

/// Numbers below the highest that are remembered.
pub const WINDOW: u64 = 4096;

/// A number that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrived {
    /// For the first time.
    New,
    /// Again.
    Duplicate,
    /// So far below the highest that it could be either; counted as lost.
    TooLate,
}

/// Sequence numbers of a flow.
#[derive(Debug, Clone)]
pub struct Sequences {
    /// One more than the highest; 0: none has arrived.
    end: u64,
    seen: [u64; WINDOW as usize / 64],
    /// Different numbers.
    pub received: u64,
    /// Numbers that came again.
    pub duplicated: u64,
    /// Different numbers that came after a higher one.
    pub reordered: u64,
    /// Numbers more than the window below the highest.
    pub too_late: u64,
}

impl Default for Sequences {
    fn default() -> Self {
        let seen = [0; WINDOW as usize / 64];
        Self { end: 0, seen, received: 0, duplicated: 0, reordered: 0, too_late: 0 }
    }
}

impl Sequences {
    /// Counts a number.
    pub fn note(&mut self, number: u64) -> Arrived {
        if number >= self.end {
            // At most one turn around the window: beyond it all would be cleared again.
            for skipped in self.end.max(number.saturating_sub(WINDOW - 1))..number {
                self.place(skipped, false);
            }
            self.end = number + 1;
        } else if number + WINDOW < self.end {
            self.too_late += 1;
            return Arrived::TooLate;
        } else if self.seen[Self::word(number)] & Self::bit(number) != 0 {
            self.duplicated += 1;
            return Arrived::Duplicate;
        } else {
            self.reordered += 1;
        }
        self.place(number, true);
        self.received += 1;
        Arrived::New
    }

    /// Packets that have not arrived, of `total` if the sender has announced its number, otherwise of those up to the highest.
    #[must_use]
    pub fn lost(&self, total: Option<u64>) -> u64 {
        total.unwrap_or(0).max(self.end) - self.received
    }

    const fn word(number: u64) -> usize {
        (number % WINDOW / 64) as usize
    }

    const fn bit(number: u64) -> u64 {
        1 << (number % 64)
    }

    const fn place(&mut self, number: u64, seen: bool) {
        let word = &mut self.seen[Self::word(number)];
        *word = if seen { *word | Self::bit(number) } else { *word & !Self::bit(number) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_short_flow() {
        let mut of = Sequences::default();
        let arrived: Vec<Arrived> = [0, 1, 3, 2, 3, 1, 7].into_iter().map(|number| of.note(number)).collect();
        assert_eq!(arrived.iter().filter(|&&one| one == Arrived::New).count(), 5);
        assert_eq!((of.received, of.duplicated, of.reordered, of.too_late), (5, 2, 1, 0));
        assert_eq!((of.lost(None), of.lost(Some(10)), of.lost(Some(3))), (3, 5, 3));
    }

    #[test]
    fn the_window_has_an_edge() {
        let mut of = Sequences::default();
        of.note(WINDOW);
        assert_eq!(of.note(1), Arrived::New);
        assert_eq!(of.note(1), Arrived::Duplicate);
        assert_eq!(of.note(0), Arrived::TooLate);
        of.note(WINDOW + 1);
        assert_eq!(of.note(1), Arrived::TooLate);
        assert_eq!(of.note(2), Arrived::New);
        assert_eq!((of.received, of.duplicated, of.too_late), (4, 1, 2));
    }

    #[test]
    fn a_jump_forgets_the_window() {
        let mut of = Sequences::default();
        for number in 0..WINDOW {
            assert_eq!(of.note(number), Arrived::New);
        }
        let far = (1 << 61) + 17;
        assert_eq!(of.note(far), Arrived::New);
        for number in far - (WINDOW - 1)..far {
            assert_eq!(of.note(number), Arrived::New, "{}", far - number);
        }
        assert_eq!((of.received, of.duplicated, of.reordered), (2 * WINDOW, 0, WINDOW - 1));
    }
}
