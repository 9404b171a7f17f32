//! The wants of a scheme by its parameters: with the defaults, and with each other value of one parameter that changes them.

use alloc::string::ToString;
use alloc::vec::Vec;

use airfair_units::{Bytes, Rate, Span};

use crate::params::{ParamDoc, ParamKind, ParamValue, Params};
use crate::places::{Capability, Interface, Wants};
use crate::registry::{Built, SchemeEntry};

/// One parameter with another value than its default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The name of the parameter.
    pub param: &'static str,
    /// The value.
    pub value: ParamValue,
}

/// The wants of a scheme at each kind of interface, in the order of [`Interface::all_kinds`].
pub type WantsByKind = [Wants; 4];

/// The wants of a scheme with its defaults, and with each change after which they differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// With the defaults.
    pub default: WantsByKind,
    /// Each change with all wants after it.
    pub changed: Vec<(Change, WantsByKind)>,
}

impl SchemeEntry {
    /// The wants of the scheme, found by trying [other values](ParamDoc::others) of each parameter, one parameter at a time. `None` if
    /// the scheme cannot be built with its defaults; other values that it refuses change nothing.
    #[must_use]
    pub fn wanted(&self) -> Option<Wanted> {
        self.wanted_by(&mut |params| (self.build)(params))
    }

    /// The wants after these changes. `None` if the scheme cannot be built so.
    #[must_use]
    pub fn wants_with(&self, changes: &[Change]) -> Option<WantsByKind> {
        let mut params = self.defaults();
        params.0.extend(changes.iter().map(|change| (change.param.to_string(), change.value)));
        let scheme = (self.build)(&params).ok()?;
        Some(Interface::all_kinds().map(|at| scheme.wants(&at)))
    }

    /// As [`wanted`](Self::wanted) with another constructor, such as one whose failures leave no trace.
    pub fn wanted_by(&self, build: &mut dyn FnMut(&Params) -> Built) -> Option<Wanted> {
        let mut wants = |params: &Params| {
            let scheme = build(params).ok()?;
            Some(Interface::all_kinds().map(|at| scheme.wants(&at)))
        };
        let defaults = self.defaults();
        let default = wants(&defaults)?;
        let mut changed = Vec::new();
        for doc in &*self.params {
            let own = ParamDoc { default: defaults.0[doc.name], ..*doc };
            for value in own.others() {
                let mut params = defaults.clone();
                params.0.insert(doc.name.to_string(), value);
                let found = wants(&params);
                let found = found.filter(|found| found.map(of_host) != default.map(of_host));
                changed.extend(found.map(|wants| (Change { param: doc.name, value }, wants)));
            }
        }
        Some(Wanted { default, changed })
    }
}

/// The part of wants that a host may lack: all but the interval of samples.
const fn of_host(wants: Wants) -> Wants {
    let samples = if wants.has(Capability::Samples) { Span(1) } else { Span::ZERO };
    wants.samples_every(samples)
}

impl ParamDoc {
    /// Values to try beside the default: the other words of a choice, the other truth; of a number half and twice the default, as far as
    /// they are within the range, and the ends of the range.
    #[must_use]
    pub fn others(&self) -> Vec<ParamValue> {
        let mut values: Vec<_> = match self.kind {
            ParamKind::Choice(words) => words.iter().map(|&word| ParamValue::Choice(word)).collect(),
            ParamKind::Flag => [false, true].map(ParamValue::Flag).into(),
            _ => [halved(self.default), doubled(self.default)]
                .into_iter()
                .chain(self.range.into_iter().flatten())
                .filter(|&value| self.check(value).is_ok())
                .collect(),
        };
        let mut seen = Vec::from([self.default]);
        values.retain(|value| {
            !seen.contains(value) && {
                seen.push(*value);
                true
            }
        });
        values
    }
}

/// Half of a number.
fn halved(value: ParamValue) -> ParamValue {
    match value {
        ParamValue::Span(v) => ParamValue::Span(Span(v.0 / 2)),
        ParamValue::Rate(v) => ParamValue::Rate(Rate(v.0 / 2)),
        ParamValue::Bytes(v) => ParamValue::Bytes(Bytes(v.0 / 2)),
        ParamValue::Integer(v) => ParamValue::Integer(v / 2),
        ParamValue::Number(v) => ParamValue::Number(v / 2.0),
        other => other,
    }
}

/// Twice a number.
fn doubled(value: ParamValue) -> ParamValue {
    match value {
        ParamValue::Span(v) => ParamValue::Span(Span(v.0.saturating_mul(2))),
        ParamValue::Rate(v) => ParamValue::Rate(Rate(v.0.saturating_mul(2))),
        ParamValue::Bytes(v) => ParamValue::Bytes(Bytes(v.0.saturating_mul(2))),
        ParamValue::Integer(v) => ParamValue::Integer(v.saturating_mul(2)),
        ParamValue::Number(v) => ParamValue::Number(v * 2.0),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, registry};
    use alloc::string::String;

    fn wanted(name: &str) -> Wanted {
        find(name).unwrap().wanted().unwrap()
    }

    /// The changes with which a scheme wants, or no longer wants, a capability somewhere.
    fn changes(name: &str, capability: Capability, exactly: bool) -> Vec<String> {
        let has = |wants: &WantsByKind| {
            wants.iter().any(|w| if exactly { w.exact().has(capability) } else { w.has(capability) })
        };
        let wanted = wanted(name);
        let other = |(_, wants): &&(Change, WantsByKind)| has(wants) != has(&wanted.default);
        let word = |(change, _): &(Change, WantsByKind)| alloc::format!("{}={}", change.param, change.value);
        wanted.changed.iter().filter(other).map(word).collect()
    }

    /// As `Scheme::wants` of these schemes has it, read by hand.
    #[test]
    fn parameters_that_change_wants_are_found() {
        let expected: [(&str, Capability, bool, &[&str]); 8] = [
            ("xcp", Capability::Departures, false, &["feedback_at=departure"]),
            ("xcp-b", Capability::Departures, false, &["feedback_at=departure"]),
            ("diffq", Capability::Backlogs, false, &["sizes_by=broadcast"]),
            ("diffq", Capability::HeardHeaders, false, &["sizes_by=broadcast"]),
            ("lbm", Capability::LinkTimes, false, &["adapt=false"]),
            ("nred", Capability::SetUp, false, &["set_up=true"]),
            ("more", Capability::DeliveryRatios, true, &["ratios=probes"]),
            ("c3l", Capability::LoneRadio, false, &[]),
        ];
        for (name, capability, exactly, found) in expected {
            assert_eq!(changes(name, capability, exactly), found, "{name} {}", capability.name());
        }
    }

    /// Two parameters at a time, of those that are words or truths, want nothing that one at a time does not.
    #[test]
    fn no_pair_of_parameters_wants_more() {
        for entry in registry() {
            let wanted = entry.wanted().unwrap();
            let all = wanted.changed.iter().map(|(_, wants)| wants).chain([&wanted.default]);
            let known = all.flatten().fold(Wants::NONE.set(), |set, wants| set.union(wants.set()));
            let words = |doc: &&ParamDoc| matches!(doc.kind, ParamKind::Choice(_) | ParamKind::Flag);
            let docs: Vec<_> = entry.params.iter().filter(words).collect();
            for (at, first) in docs.iter().enumerate() {
                for second in &docs[..at] {
                    for (a, b) in
                        first.others().iter().flat_map(|&a| second.others().into_iter().map(move |b| (a, b)))
                    {
                        let both = [(first.name.to_string(), a), (second.name.to_string(), b)];
                        let Ok(scheme) = (entry.build)(&Params(both.into())) else { continue };
                        for at in Interface::all_kinds() {
                            let more = scheme.wants(&at).set().without(known);
                            assert_eq!(more.iter().next(), None, "{} {a} {b}", entry.name);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn other_values_are_within_the_range() {
        let integer = |default, low, high| ParamDoc {
            name: "n",
            doc: "",
            role: crate::ParamRole::Paper,
            kind: ParamKind::Integer,
            default: ParamValue::Integer(default),
            range: Some([ParamValue::Integer(low), ParamValue::Integer(high)]),
            needs: None,
        };
        let others = |default, low, high| integer(default, low, high).others();
        assert_eq!(others(8, 1, 100), [4, 16, 1, 100].map(ParamValue::Integer));
        assert_eq!(others(8, 5, 9), [5, 9].map(ParamValue::Integer));
        assert_eq!(others(1, 1, 2), [2].map(ParamValue::Integer));
        for entry in registry() {
            for doc in &*entry.params {
                let others = doc.others();
                assert!(!others.is_empty() && !others.contains(&doc.default), "{}.{}", entry.name, doc.name);
                assert!(others.iter().all(|&value| doc.check(value).is_ok()));
            }
        }
    }
}
