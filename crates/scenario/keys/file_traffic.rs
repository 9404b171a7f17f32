//! The keys of traffic that consists of files, which only TCP carries: one file, one after the other, arrivals at random, or a list.

use airfair_units::{Bytes, Rate, Span};

use crate::declare::choice::Distribution;
use crate::declare::field::{Field, LONGEST, Or, Unlimited, describe, item_count, wrong_type};
use crate::declare::schema::{Schema, pair};
use crate::declare::table::table;
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// Sizes of files: up to a petabyte.
pub(crate) const SIZES: std::ops::RangeInclusive<Bytes> = Bytes(1)..=Bytes(1_000_000_000_000_000);
/// Files per second.
pub(crate) const ARRIVALS: std::ops::RangeInclusive<f64> = 1e-9..=1e6;

table! {
    /// A file without end, like FTP in the papers. It has no keys: the flow's `start` and `stop` bound it.
    struct FtpTable {}
}

table! {
    /// One file. The flow ends when the file is transferred.
    struct FileTable {
        /// Size of the file.
        size: Bytes = required, in SIZES;
    }
}

table! {
    /// Files one after the other, each over a connection of its own, with a pause between the end of one and the start of the
    /// next: a user who reads one page after the other.
    struct WebTable {
        /// Mean size of a file.
        size: Bytes = required, in SIZES;
        /// Distribution of the sizes about that mean.
        distribution: Distribution = default(Distribution::Fixed);
        /// Tail index of the Pareto distribution: the smaller, the heavier.
        shape: f64 = computed("1.2 with pareto"), in 1.01..=1000.0;
        /// Largest file of the Pareto distribution: larger files are cut to it, so that the mean is a little below `size`.
        most: Bytes = computed("10,000 times size with pareto"), in SIZES;
        /// Mean of the exponential pauses.
        pause: Span = required, in Span::ZERO..=LONGEST;
    }
}

table! {
    /// Files that arrive in a Poisson process, each over a connection of its own. `per_second`, or `load` and `capacity`, give the
    /// rate.
    struct ArrivalsTable {
        /// Mean number of arrivals per second.
        per_second: f64 = computed("from load and capacity: load * capacity / (8 * size)"), in ARRIVALS;
        /// Share of `capacity` that the files use on average, headers not counted; an alternative to `per_second`.
        load: f64 = computed("none"), in 1e-9..=1e3;
        /// The rate that `load` is a share of, such as that of the bottleneck.
        capacity: Rate = computed("required with load"), in Rate(1)..=Rate(1_000_000_000_000);
        /// Mean size of a file.
        size: Bytes = required, in SIZES;
        /// Distribution of the sizes about that mean.
        distribution: Distribution = default(Distribution::Fixed);
        /// Tail index of the Pareto distribution: the smaller, the heavier.
        shape: f64 = computed("1.2 with pareto"), in 1.01..=1000.0;
        /// Largest file of the Pareto distribution: larger files are cut to it, so that the mean is a little below `size`.
        most: Bytes = computed("10,000 times size with pareto"), in SIZES;
        /// Most files that arrive.
        count: Or<Unlimited, u64> = default(Or::NONE);
    }
}

table! {
    /// Files that start at given times after the flow's start, each over a connection of its own.
    struct ListTable {
        /// A CSV file, relative to the folder of the scenario. Its first line is `start_s,bytes`, each other line a time in
        /// seconds and a size in bytes, in ascending order of times.
        file: String = computed("either this or files");
        /// The list itself, for a short one: `[["0 s", "30 kB"], ["0.2 s", "5 kB"]]`.
        files: Vec<ListedFile> = computed("either this or file");
    }
}

/// A file of a list: its start, after the start of the flow, and its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ListedFile(pub Span, pub Bytes);

impl Field for ListedFile {
    const TYPE: &'static str = "list";

    fn expected() -> String {
        "a moment and a size such as [\"0.2 s\", \"5 kB\"]".to_string()
    }

    fn schema() -> Schema {
        pair(Span::schema(), Bytes::schema())
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        let Value::List(items) = &item.value else { return wrong_type(item, path, cx) };
        let [start, size] = items.as_slice() else {
            cx.error(item.at, path, || format!("{}; expected {}", item_count(items.len()), Self::expected()));
            return None;
        };
        let read = Self(Span::read(start, path, cx)?, Bytes::read(size, path, cx)?);
        if read.0 > LONGEST || !SIZES.contains(&read.1) {
            cx.error(item.at, path, || {
                format!(
                    "out of range; expected a moment up to {} and a size of {}",
                    LONGEST.write(),
                    describe(&SIZES)
                )
            });
            return None;
        }
        Some(read)
    }

    fn write(&self) -> String {
        // Lists can have a million items: one string for each, not one for each part.
        format!("[\"{}\", \"{}\"]", self.0, self.1)
    }
}
