//! The interface at which a queue, an AQM, a hop or an agent acts.

use airfair_units::Rate;

/// The medium that an interface sends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// The air.
    Radio,
    /// A wired point-to-point link.
    Wire,
}

/// An output interface of a node, the argument of the factories of a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface {
    /// The medium that it sends on.
    pub medium: Medium,
    /// True if its node is an access point: it has a radio and a wired link.
    pub access_point: bool,
    /// Rate of the wire, or nominal rate of the radio's data frames.
    pub rate: Rate,
    /// The limit of its queue, packets.
    pub limit_packets: u32,
    /// Access categories of the radio; 1: it has none, or it is a wire.
    pub categories: u8,
}

impl Interface {
    /// The radio of a node without wires: 2 Mbit/s, one category, with this limit of its queue in packets.
    #[must_use]
    pub const fn radio(limit_packets: u32) -> Self {
        let rate = Rate::from_mbps(2);
        Self { medium: Medium::Radio, access_point: false, rate, limit_packets, categories: 1 }
    }

    /// All four kinds: a radio and a wire, of an access point and of another node.
    #[must_use]
    pub const fn all_kinds() -> [Self; 4] {
        let (radio, wire) = (Self::radio(50), Self { medium: Medium::Wire, ..Self::radio(50) });
        [radio, wire, Self { access_point: true, ..radio }, Self { access_point: true, ..wire }]
    }

    /// The kind of the interface in words: each of [`Interface::all_kinds`] has its own.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match (self.medium, self.access_point) {
            (Medium::Radio, false) => "radio",
            (Medium::Wire, false) => "wire",
            (Medium::Radio, true) => "radio of an access point",
            (Medium::Wire, true) => "wire of an access point",
        }
    }

    /// True if it sends by radio.
    #[must_use]
    pub const fn is_radio(&self) -> bool {
        matches!(self.medium, Medium::Radio)
    }

    /// True if it is the radio of an access point.
    #[must_use]
    pub fn is_access_point_radio(&self) -> bool {
        self.access_point && self.medium == Medium::Radio
    }
}
