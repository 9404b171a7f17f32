//! Completion times of files by size, in memory that does not grow with their number.

use airfair_units::{Span, Time};

use super::delays::Delays;
use super::summary::{FilesResult, SizeClass};

/// Counters of files, each sent over a connection of its own.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Files started.
    pub started: u64,
    /// Files delivered and acknowledged.
    pub finished: u64,
    /// Files whose connection has failed.
    pub failed: u64,
    /// Completion times of all finished files.
    pub all: Delays,
    /// Completion times by size: class k holds sizes of 2^k up to 2^(k+1) - 1 bytes.
    pub by_size: Vec<Delays>,
}

/// A file that was delivered and acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// Number of the file within its flow, in the order of arrivals, from 0.
    pub file: u64,
    /// Time at which the application requested it.
    pub start: Time,
    /// Size of the file.
    pub bytes: u64,
    /// Time until its last byte was acknowledged.
    pub duration: Span,
    /// Time-outs of its connection, those of the SYN included.
    pub timeouts: u64,
    /// Segments with payload that were retransmitted.
    pub retransmissions: u64,
}

impl Files {
    pub(crate) fn result(&self) -> FilesResult {
        let classes = self.by_size.iter().enumerate().filter_map(|(class, times)| {
            Some(SizeClass {
                from_bytes: 1 << class,
                finished: times.count(),
                mean_completion_s: times.mean_s()?,
                p95_completion_s: times.quantile_s(0.95)?,
            })
        });
        FilesResult {
            started: self.started,
            finished: self.finished,
            failed: self.failed,
            completions: self.all.clone(),
            by_size: classes.collect(),
        }
    }

    pub(crate) fn add(&mut self, bytes: u64, duration: Span) {
        self.finished += 1;
        self.all.add(duration.0);
        let class = bytes.max(1).ilog2() as usize;
        if class >= self.by_size.len() {
            self.by_size.resize_with(class + 1, Delays::default);
        }
        self.by_size[class].add(duration.0);
    }
}
