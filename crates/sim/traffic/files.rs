//! Files: their sizes and start times.

use airfair_units::math;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};

use crate::spec::{FlowSpec, Sizes, Traffic};

/// The next file of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextFile {
    /// Start time.
    pub at: Time,
    /// Size, bytes.
    pub size: u64,
}

/// The source of a flow that sends files, each over a connection of its own.
#[derive(Debug)]
pub(crate) struct FileSource {
    traffic: Traffic,
    gaps: Stream,
    sizes: Stream,
    sent: u64,
    origin: Time,
}

impl FileSource {
    /// `None` for traffic that is not made of files.
    pub(crate) fn new(flow: &FlowSpec, seed: u64) -> Option<Self> {
        let files = match flow.traffic {
            Traffic::File { .. } | Traffic::Web { .. } | Traffic::Arrivals { .. } | Traffic::List { .. } => {
                true
            }
            Traffic::ConstantRate { .. } | Traffic::Poisson { .. } => false,
            Traffic::Saturating { .. } | Traffic::Endless => false,
        };
        files.then(|| Self {
            traffic: flow.traffic.clone(),
            gaps: Stream::new(seed, &flow.id, Purpose::Arrival),
            sizes: Stream::new(seed, &flow.id, Purpose::Size),
            sent: 0,
            origin: Time::ZERO,
        })
    }

    /// Starts the flow now. Returns its first file.
    pub(crate) fn start(&mut self, now: Time) -> Option<NextFile> {
        self.origin = now;
        match self.traffic {
            Traffic::File { size } => Some(NextFile { at: now, size: size.get() }),
            Traffic::Web { sizes, .. } => Some(NextFile { at: now, size: self.draw(sizes) }),
            _ => self.after_arrival(now),
        }
    }

    /// After the start of a file: the next one, if it does not wait for the end of this one.
    pub(crate) fn after_arrival(&mut self, now: Time) -> Option<NextFile> {
        match &self.traffic {
            &Traffic::Arrivals { per_second, sizes, count } => {
                if count > 0 && self.sent >= count {
                    return None;
                }
                self.sent += 1;
                let gap = -math::ln(1.0 - self.gaps.uniform()) * 1e9 / per_second;
                Some(NextFile { at: now.saturating_add(Span(gap as u64)), size: self.draw(sizes) })
            }
            Traffic::List { files } => {
                let &(after, size) = files.get(self.sent as usize)?;
                self.sent += 1;
                Some(NextFile { at: self.origin.saturating_add(after), size: size.get() })
            }
            _ => None,
        }
    }

    /// After the end of a file, delivered or failed: the next one, if it waited for that.
    pub(crate) fn after_end(&mut self, now: Time) -> Option<NextFile> {
        match self.traffic {
            Traffic::Web { sizes, pause } => {
                let pause = self.gaps.exponential(pause.as_nanos() as f64);
                Some(NextFile { at: now.saturating_add(Span(pause as u64)), size: self.draw(sizes) })
            }
            _ => None,
        }
    }

    fn draw(&mut self, sizes: Sizes) -> u64 {
        match sizes {
            Sizes::Fixed(size) => size.get(),
            // Rounded to the nearest byte, which keeps the mean.
            Sizes::Exponential { mean } => (self.sizes.exponential(mean.get() as f64).round() as u64).max(1),
            Sizes::Pareto { mean, shape, most } => {
                let least = mean.get() as f64 * (shape - 1.0) / shape;
                let drawn = least / math::pow(1.0 - self.sizes.uniform(), 1.0 / shape);
                (drawn.ceil().min(most.get() as f64) as u64).max(1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::flow;
    use airfair_units::Bytes;

    fn source(traffic: Traffic) -> FileSource {
        FileSource::new(&flow(traffic), 1).unwrap()
    }

    /// A Pareto law of shape 2 and mean 10,000: the least is 5,000, the median least x sqrt 2, and a quarter lies above twice
    /// the least.
    #[test]
    fn pareto_sizes_have_their_quantiles() {
        let sizes = Sizes::Pareto { mean: Bytes(10_000), shape: 2.0, most: Bytes(1_000_000_000) };
        let mut source = source(Traffic::Arrivals { per_second: 100.0, sizes, count: 0 });
        let mut now = source.start(Time::ZERO).unwrap();
        let mut drawn = Vec::new();
        for _ in 0..20_000 {
            drawn.push(now.size);
            now = source.after_arrival(now.at).unwrap();
        }
        drawn.sort_unstable();
        assert!((5_000..5_010).contains(&drawn[0]), "{}", drawn[0]);
        assert!((drawn[10_000] as f64 / 7_071.0 - 1.0).abs() < 0.02, "{}", drawn[10_000]);
        assert!((drawn[15_000] as f64 / 10_000.0 - 1.0).abs() < 0.02, "{}", drawn[15_000]);
        // 20,000 arrivals at 100 a second take 200 s.
        assert!((now.at.as_secs_f64() / 200.0 - 1.0).abs() < 0.02, "{}", now.at);
    }

    /// Mean 20 B: cut off and raised by one, sizes would be 20.5 B in the mean, two and a half hundredths too many. Of 400,000 draws the
    /// mean has a standard error of 0.032 B.
    #[test]
    fn exponential_sizes_have_their_mean() {
        let sizes = Sizes::Exponential { mean: Bytes(20) };
        let mut source = source(Traffic::Web { sizes, pause: Span::from_secs(1) });
        let sum: u64 = (0..400_000).map(|_| source.after_end(Time::ZERO).unwrap().size).sum();
        let mean = sum as f64 / 400_000.0;
        // At least one byte: the half of the first byte's width that rounds to 0 is raised, 1 - exp(-1/40) = 0.025 B.
        assert!((mean - 20.025).abs() < 0.13, "{mean}");
    }

    #[test]
    fn a_list_comes_as_written_after_the_start() {
        let files = [(Span::from_millis(5), Bytes(10)), (Span::from_millis(7), Bytes(20))];
        let mut source = source(Traffic::List { files: files.into() });
        assert_eq!(source.start(Time(1_000)), Some(NextFile { at: Time(5_001_000), size: 10 }));
        assert_eq!(source.after_arrival(Time(5_001_000)), Some(NextFile { at: Time(7_001_000), size: 20 }));
        assert_eq!(source.after_arrival(Time(7_001_000)), None);
    }

    #[test]
    fn a_page_waits_for_the_one_before() {
        let traffic = Traffic::Web { sizes: Sizes::Fixed(Bytes(7)), pause: Span::from_secs(1) };
        let mut source = source(traffic);
        assert_eq!(source.start(Time(3)), Some(NextFile { at: Time(3), size: 7 }));
        assert_eq!(source.after_arrival(Time(3)), None);
        assert!(source.after_end(Time(50)).is_some_and(|f| f.at > Time(50) && f.size == 7));
    }
}
