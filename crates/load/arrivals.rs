//! Bytes of a flow over time.

/// Intervals that are kept at most; bytes of later ones are in the last.
pub const MOST_INTERVALS: usize = 36_000;

/// The part of a flow to measure, in nanoseconds after the first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The start.
    pub from: u64,
    /// The end, which is not in it.
    pub to: u64,
}

/// Measures to take of each flow, besides those that need no choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measures {
    /// A part of the flow.
    pub window: Option<Window>,
    /// The length of intervals, nanoseconds, at least 1.
    pub every: Option<u64>,
}

/// Bytes that have arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrivals {
    measures: Measures,
    /// All bytes.
    pub bytes: u64,
    /// The time of the first and of the last arrival, nanoseconds.
    pub first_and_last: Option<(u64, u64)>,
    /// Bytes of the first arrival.
    first_bytes: u64,
    window_bytes: u64,
    /// Bytes of each interval.
    pub intervals: Vec<u64>,
}

impl Arrivals {
    /// None yet.
    #[must_use]
    pub const fn new(measures: Measures) -> Self {
        Self {
            measures,
            bytes: 0,
            first_and_last: None,
            first_bytes: 0,
            window_bytes: 0,
            intervals: Vec::new(),
        }
    }

    /// Counts bytes that arrive at a time.
    pub fn note(&mut self, at: u64, bytes: u64) {
        let first = self.first_and_last.map_or(at, |(first, _)| first);
        if self.first_and_last.is_none() {
            self.first_bytes = bytes;
        }
        self.first_and_last = Some((first, at));
        self.bytes += bytes;
        let since = at.saturating_sub(first);
        if self.measures.window.is_some_and(|window| (window.from..window.to).contains(&since)) {
            self.window_bytes += bytes;
        }
        if let Some(every) = self.measures.every {
            let number = usize::try_from(since / every.max(1)).unwrap_or(usize::MAX).min(MOST_INTERVALS - 1);
            if self.intervals.len() <= number {
                self.intervals.resize(number + 1, 0);
            }
            self.intervals[number] += bytes;
        }
    }

    /// The rate from the first to the last arrival, kbit/s: bytes after those of the first arrival. None with a single arrival.
    #[must_use]
    pub fn goodput_kbps(&self) -> Option<f64> {
        let (first, last) = self.first_and_last?;
        (last > first).then(|| kbps(self.bytes - self.first_bytes, last - first))
    }

    /// The rate in the window, kbit/s. None without a window, and for a flow that may still have bytes for it at the time `end`.
    #[must_use]
    pub fn window_goodput_kbps(&self, ended: bool, end: u64) -> Option<f64> {
        let (window, (first, _)) = (self.measures.window?, self.first_and_last?);
        let over = ended || end >= first.saturating_add(window.to);
        over.then(|| kbps(self.window_bytes, window.to - window.from))
    }
}

/// Bytes in nanoseconds as kbit/s.
fn kbps(bytes: u64, nanos: u64) -> f64 {
    bytes as f64 * 8e6 / nanos as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// 1000 B each 100 ms are 80 kbit/s, whatever part of them one looks at.
    #[test]
    fn a_constant_rate() {
        let window = Window { from: SECOND, to: 2 * SECOND };
        let mut of = Arrivals::new(Measures { window: Some(window), every: Some(SECOND) });
        for number in 0..35 {
            of.note(5 * SECOND + number * 100_000_000, 1000);
        }
        assert_eq!(of.bytes, 35_000);
        assert_eq!(of.goodput_kbps(), Some(80.0));
        assert_eq!(of.window_goodput_kbps(false, 7 * SECOND), Some(80.0));
        assert_eq!(of.window_goodput_kbps(false, 7 * SECOND - 1), None);
        assert_eq!(of.intervals, [10_000, 10_000, 10_000, 5000]);
    }

    #[test]
    fn one_arrival_has_no_rate_and_an_ended_flow_has_one_in_its_window() {
        let window = Window { from: 0, to: SECOND };
        let mut of = Arrivals::new(Measures { window: Some(window), every: None });
        assert_eq!((of.goodput_kbps(), of.window_goodput_kbps(true, 0)), (None, None));
        of.note(3, 125);
        assert_eq!((of.goodput_kbps(), of.window_goodput_kbps(true, 4)), (None, Some(1.0)));
    }

    #[test]
    fn intervals_are_bounded() {
        let mut of = Arrivals::new(Measures { window: None, every: Some(1) });
        of.note(0, 1);
        of.note(u64::MAX, 2);
        assert_eq!((of.intervals.len(), of.intervals[MOST_INTERVALS - 1]), (MOST_INTERVALS, 2));
    }
}
