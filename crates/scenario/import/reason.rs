//! Reasons why a scenario does not contain a record as the file has it.

/// The reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The record does not conform to the format.
    Malformed,
    /// Two nodes have one id.
    DuplicateNode,
    /// An impossible location.
    BadPosition,
    /// An end of a link, or the node of a sector, has no record.
    Dangling,
    /// From a node to itself.
    SelfLink,
    /// A better record is about the same link.
    DuplicateLink,
    /// An impossible quality.
    BadQuality,
    /// No frame arrives.
    NoDelivery,
    /// Longer than `longest`.
    TooLong,
    /// A node, or an end of a link, has no location, and power comes from it.
    Unlocated,
    /// Planned, or no longer there.
    NotBuilt,
    /// Of unknown medium.
    UnknownMedium,
    /// Wired, where only radio is wanted.
    NotRadio,
    /// Between devices of one node.
    InsideNode,
    /// Older than `since`.
    TooOld,
    /// An impossible movement.
    Movement,
    /// A movement with speed 0 to another place.
    NeverArrives,
    /// A position that a later line replaces.
    PositionAgain,
    /// A client, or a network behind a router.
    NoRouter,
    /// Of another topology of the same network.
    OtherTopology,
    /// A flow that the scenario cannot have.
    Flow,
    /// Outside the largest component.
    OtherComponent,
    /// Kept, in one direction only.
    OneWay,
    /// Kept; the location is a guess.
    Placed,
}

impl Reason {
    /// The words of the reason in a report.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Malformed => "not a record of this format",
            Self::DuplicateNode => "the id is taken",
            Self::BadPosition => "impossible coordinates",
            Self::Dangling => "names a node that has no record",
            Self::SelfLink => "both ends are the same node",
            Self::DuplicateLink => "another record of the same link is better",
            Self::BadQuality => "impossible quality",
            Self::NoDelivery => "nothing arrives",
            Self::TooLong => "too long for a radio link (longest)",
            Self::Unlocated => "without a location, which the link model needs",
            Self::NotBuilt => "not built, or no longer there (planned)",
            Self::UnknownMedium => "does not say whether it is radio (untold)",
            Self::NotRadio => "not radio (radio-only)",
            Self::InsideNode => "between two devices of one node",
            Self::TooOld => "too old (since)",
            Self::Movement => "impossible movement",
            Self::NeverArrives => "a movement with speed 0 to another place: never arrives",
            Self::PositionAgain => "a first position that a later line replaces",
            Self::NoRouter => "no router of the network",
            Self::OtherTopology => "in another topology of the same network only",
            Self::Flow => "not a flow that a scenario can have",
            Self::OtherComponent => "outside the largest component (largest)",
            Self::OneWay => "nothing arrives the other way",
            Self::Placed => "without a location: put amid its neighbours, for pictures only",
        }
    }

    /// The key of the reason in JSON.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::DuplicateNode => "duplicate_node",
            Self::BadPosition => "bad_position",
            Self::Dangling => "dangling",
            Self::SelfLink => "self_link",
            Self::DuplicateLink => "duplicate_link",
            Self::BadQuality => "bad_quality",
            Self::NoDelivery => "no_delivery",
            Self::TooLong => "too_long",
            Self::Unlocated => "unlocated",
            Self::NotBuilt => "not_built",
            Self::UnknownMedium => "untold_medium",
            Self::NotRadio => "not_radio",
            Self::InsideNode => "inside_node",
            Self::TooOld => "too_old",
            Self::Movement => "movement",
            Self::NeverArrives => "never_arrives",
            Self::PositionAgain => "position_again",
            Self::NoRouter => "no_router",
            Self::OtherTopology => "other_topology",
            Self::Flow => "flow",
            Self::OtherComponent => "other_component",
            Self::OneWay => "one_way",
            Self::Placed => "placed",
        }
    }
}

/// A record that the scenario does not contain as the file has it, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Which: `link a - b`.
    pub record: String,
    /// Why.
    pub reason: Reason,
    /// The particulars, such as `ETX 0`; may be empty.
    pub detail: String,
}
