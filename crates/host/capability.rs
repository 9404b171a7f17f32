//! The capabilities that a network offers to a scheme, exactly or by an estimate, compared with those that the scheme wants.

use alloc::vec::Vec;

use airfair_schemes::places::{Capability, CapabilitySet, Priority, Wants};

/// The degree to which a network has a capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// As it is declared.
    Exact,
    /// Approximately: a driver counts the time in which the carrier is busy, for example, and knows nothing of the NAV.
    Estimated,
    /// Not at all.
    Absent,
}

/// Capabilities of a network at an interface.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities {
    exact: CapabilitySet,
    estimated: CapabilitySet,
    /// The highest priority that the link distinguishes.
    priority: Priority,
}

impl Capabilities {
    /// A network that has these capabilities exactly, and no others.
    #[must_use]
    pub const fn exactly(capabilities: &[Capability]) -> Self {
        let (exact, estimated) = (CapabilitySet::of(capabilities), CapabilitySet::of(&[]));
        Self { exact, estimated, priority: Priority(0) }
    }

    /// The same, with an estimate of these capabilities.
    #[must_use]
    pub const fn estimating(self, capabilities: &[Capability]) -> Self {
        let estimated = CapabilitySet::of(capabilities);
        Self { exact: self.exact.without(estimated), estimated: self.estimated.union(estimated), ..self }
    }

    /// The same without a capability, where `absent` is true.
    #[must_use]
    pub const fn without_if(self, absent: bool, capability: Capability) -> Self {
        let gone = if absent { CapabilitySet::of(&[capability]) } else { CapabilitySet::of(&[]) };
        Self { exact: self.exact.without(gone), estimated: self.estimated.without(gone), ..self }
    }

    /// The same with priorities up to this one.
    #[must_use]
    pub const fn priorities_to(self, highest: Priority) -> Self {
        let exact = self.exact.union(CapabilitySet::of(&[Capability::Priorities]));
        Self { exact, priority: highest, ..self }
    }

    /// The degree to which it has a capability.
    #[must_use]
    pub const fn offer(&self, capability: Capability) -> Offer {
        if self.exact.has(capability) {
            Offer::Exact
        } else if self.estimated.has(capability) {
            Offer::Estimated
        } else {
            Offer::Absent
        }
    }

    /// The capabilities that the scheme wants and this network lacks; empty if the scheme may start.
    #[must_use]
    pub fn missing(&self, wants: &Wants) -> Vec<Capability> {
        let lacks = |&capability: &Capability| match self.offer(capability) {
            Offer::Exact => capability == Capability::Priorities && self.priority < wants.priority(),
            Offer::Estimated => wants.exact().has(capability),
            Offer::Absent => true,
        };
        wants.set().iter().filter(lacks).collect()
    }

    /// Refuses a scheme that wants more than there is.
    ///
    /// # Errors
    /// The capabilities that it lacks.
    pub fn check(&self, wants: &Wants) -> Result<(), Vec<Capability>> {
        let missing = self.missing(wants);
        if missing.is_empty() { Ok(()) } else { Err(missing) }
    }

    /// The capabilities that the scheme wants and that this network estimates: a host says so.
    #[must_use]
    pub fn estimated(&self, wants: &Wants) -> Vec<Capability> {
        wants.set().iter().filter(|&capability| self.offer(capability) == Offer::Estimated).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Capability::{NavTime, Priorities, Received, SetUp};
    use airfair_units::Span;

    #[test]
    fn missing_capabilities_are_named() {
        let wants =
            Wants::of(&[Received]).samples_every(Span(1)).priorities_to(Priority(3)).and_if(false, SetUp);
        let all = Capabilities::exactly(Capability::ALL).priorities_to(Priority(7));
        assert_eq!(all.missing(&wants), []);
        assert_eq!(Capabilities::default().check(&Wants::NONE), Ok(()));
        assert_eq!(all.without_if(true, Received).check(&wants), Err([Received].into()));
        let nothing = Capabilities::default().missing(&wants);
        let words: Vec<_> = nothing.iter().map(|capability| capability.words()).collect();
        assert_eq!(words, ["samples of counters", "received packets", "priorities of packets"]);
        assert_eq!(all.priorities_to(Priority(2)).missing(&wants), [Priorities]);
        assert_eq!(all.without_if(true, Received).without_if(false, SetUp).missing(&wants), [Received]);
    }

    /// An estimate does where the scheme does not want the exact value, and is named.
    #[test]
    fn an_estimate_is_said() {
        let driver = Capabilities::exactly(&[Capability::Samples, NavTime]).estimating(&[NavTime, SetUp]);
        let wants = Wants::of(&[NavTime]).samples_every(Span(1));
        assert_eq!((driver.missing(&wants), driver.estimated(&wants)), (Vec::new(), [NavTime].into()));
        let strict = wants.and_exactly_if(true, SetUp).and_exactly_if(false, Received);
        assert_eq!(driver.missing(&strict), [SetUp]);
        assert_eq!(
            [Capability::Samples, SetUp, Received].map(|capability| driver.offer(capability)),
            [Offer::Exact, Offer::Estimated, Offer::Absent]
        );
    }

    #[test]
    fn each_capability_has_its_own_words() {
        let all = Wants::of(Capability::ALL);
        let mut words: Vec<_> =
            Capabilities::default().missing(&all).into_iter().map(Capability::words).collect();
        assert_eq!(words.len(), Capability::ALL.len());
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Capability::ALL.len(), "one name for one thing");
        assert!(Capability::ALL.iter().all(|capability| capability.doc().ends_with('.')));
    }
}
