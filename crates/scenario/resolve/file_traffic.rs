//! From the keys of file traffic to the simulator's model of it.

use std::sync::Arc;

use airfair_sim::spec::{Sizes, Traffic};
use airfair_units::{Bytes, Rate, Span};

use crate::declare::choice::Distribution;
use crate::declare::field::{Field, describe};
use crate::keys::file_traffic::{ARRIVALS, ArrivalsTable, ListTable, ListedFile, SIZES, WebTable};
use crate::keys::inherit::{Precedence, precedence};
use crate::keys::transport::TransportChoice;
use crate::resolve::csv;
use crate::text::error::{Cx, quoted};
use crate::text::location::{Locations, Path};

/// The default tail index of file sizes, as on the web (Crovella and Bestavros, IEEE/ACM ToN 5(6), 1997: 1.0 to 1.3).
const USUAL_SHAPE: f64 = 1.2;
/// The default of `most`, as a multiple of the mean.
const USUAL_MOST: u64 = 10_000;

/// The keys about sizes that `web` and `arrivals` share.
struct Spread<'t> {
    size: Bytes,
    distribution: Distribution,
    shape: &'t mut Option<f64>,
    most: &'t mut Option<Bytes>,
    locations: &'t Locations,
}

impl Spread<'_> {
    fn resolve(self, path: &Path<'_>, cx: &mut Cx<'_>) -> Sizes {
        let mean = self.size;
        if self.distribution != Distribution::Pareto {
            let keys = [("shape", self.shape.is_some()), ("most", self.most.is_some())];
            for (key, _) in keys.into_iter().filter(|(_, written)| *written) {
                cx.error(self.locations.of(key), &path.child(key), || {
                    format!(
                        "not a key of distribution = {}; it belongs to \"pareto\"",
                        self.distribution.write()
                    )
                });
            }
        }
        match self.distribution {
            Distribution::Fixed => Sizes::Fixed(mean),
            Distribution::Exponential => Sizes::Exponential { mean },
            Distribution::Pareto => {
                let shape = *self.shape.get_or_insert(USUAL_SHAPE);
                let usual = Bytes(mean.0.saturating_mul(USUAL_MOST).min(SIZES.end().0));
                let most = *self.most.get_or_insert(usual);
                if most < mean {
                    cx.error(self.locations.of("most"), &path.child("most"), || {
                        format!("{}: less than the mean; expected at least {}", most.write(), mean.write())
                    });
                }
                Sizes::Pareto { mean, shape, most }
            }
        }
    }
}

impl WebTable {
    /// The model.
    pub fn resolve(&mut self, path: &Path<'_>, cx: &mut Cx<'_>) -> Traffic {
        let Self { size, distribution, shape, most, locations, .. } = self;
        let spread = Spread { size: *size, distribution: *distribution, shape, most, locations };
        Traffic::Web { sizes: spread.resolve(path, cx), pause: self.pause }
    }
}

impl ArrivalsTable {
    /// The model.
    pub fn resolve(&mut self, path: &Path<'_>, cx: &mut Cx<'_>) -> Traffic {
        let per_second = self.rate(path, cx);
        if self.count.0 == Some(0) {
            cx.error(self.locations.of("count"), &path.child("count"), || {
                "0: nothing would be sent; expected \"unlimited\" or at least 1".to_string()
            });
        }
        let Self { size, distribution, shape, most, locations, .. } = self;
        let spread = Spread { size: *size, distribution: *distribution, shape, most, locations };
        let sizes = spread.resolve(path, cx);
        Traffic::Arrivals { per_second, sizes, count: self.count.0.unwrap_or(0) }
    }

    fn rate(&mut self, path: &Path<'_>, cx: &mut Cx<'_>) -> f64 {
        let (load, capacity) = (self.load.take(), self.capacity.take());
        let written = |key: &str| self.locations.has(key);
        if written("load") && written("per_second") {
            match precedence(self.locations.of("per_second"), self.locations.of("load")) {
                Precedence::First => return self.per_second.unwrap_or_default(),
                Precedence::Second => {}
                Precedence::Conflict => {
                    cx.error(self.locations.of("load"), &path.child("load"), || {
                        "`per_second` gives the same quantity; write one of them".to_string()
                    });
                    return self.per_second.unwrap_or_default();
                }
            }
        } else if !written("load") {
            if written("capacity") {
                cx.error(self.locations.of("capacity"), &path.child("capacity"), || {
                    "only `load` needs it; expected `load` beside it".to_string()
                });
            } else if !written("per_second") {
                cx.error(self.locations.of(""), &path.child("per_second"), || {
                    "missing; expected a number of arrivals per second, or `load` and `capacity`".to_string()
                });
            }
            return self.per_second.unwrap_or_default();
        }
        let Some(load) = load else { return 0.0 };
        let Some(capacity) = capacity else {
            if !written("capacity") {
                cx.error(self.locations.of("load"), &path.child("capacity"), || {
                    format!("missing beside `load`; expected {}", Rate::expected())
                });
            }
            return 0.0;
        };
        let per_second = load * capacity.0 as f64 / (8.0 * self.size.0 as f64);
        if !ARRIVALS.contains(&per_second) {
            cx.error(self.locations.of("load"), &path.child("load"), || {
                format!(
                    "{}: that is {per_second} arrivals per second; expected {}",
                    load.write(),
                    describe(&ARRIVALS)
                )
            });
        }
        self.per_second = Some(per_second);
        per_second
    }
}

impl ListTable {
    /// The model. The content of a CSV file goes into the table, so that the complete form needs no other file.
    pub fn resolve(&mut self, path: &Path<'_>, cx: &mut Cx<'_>) -> Traffic {
        let file = self.file.take();
        let from_file = match (self.locations.has("file"), self.locations.has("files")) {
            (true, true) => match precedence(self.locations.of("file"), self.locations.of("files")) {
                Precedence::First => true,
                Precedence::Second => false,
                Precedence::Conflict => {
                    cx.error(self.locations.of("files"), &path.child("files"), || {
                        "`file` gives the same list; write one of them".to_string()
                    });
                    return Traffic::Endless;
                }
            },
            (named, _) => named,
        };
        if !from_file && !self.locations.has("files") {
            cx.error(self.locations.of(""), &path.child("file"), || {
                "missing; expected the name of a CSV file, or the list itself as `files`".to_string()
            });
        }
        if from_file {
            let at = (self.locations.of("file"), &path.child("file"));
            self.files = file.and_then(|file| csv::read(&file, (), at, cx));
        } else {
            self.check(path, cx);
        }
        let files: Arc<[(Span, Bytes)]> =
            self.files.iter().flatten().map(|&ListedFile(start, size)| (start, size)).collect();
        Traffic::List { files }
    }

    fn check(&self, path: &Path<'_>, cx: &mut Cx<'_>) {
        let Some(files) = &self.files else { return };
        let (at, path) = (self.locations.of("files"), path.child("files"));
        if files.is_empty() {
            cx.error(at, &path, || "empty; expected at least one moment and size".to_string());
        }
        for (i, pair) in files.windows(2).enumerate() {
            if let [ListedFile(first, _), ListedFile(second, _)] = pair
                && second < first
            {
                cx.error(at, &path.child(&(i + 1).to_string()), || {
                    format!("{}: before the one above; expected at least {}", second.write(), first.write())
                });
                return;
            }
        }
    }
}

/// The message about traffic that needs TCP, at a flow with another transport.
pub(crate) fn only_tcp(kind: &str, transport: TransportChoice) -> String {
    let ftp = if matches!(transport, TransportChoice::Rate(_)) { ", \"ftp\"" } else { "" };
    format!(
        "{}: needs a flow with transport = \"tcp\", this one has {}; expected \"constant\"{ftp}, \"poisson\" or \"saturating\"",
        quoted(kind),
        transport.write()
    )
}
