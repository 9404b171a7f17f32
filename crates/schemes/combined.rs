//! Several schemes as one: each fills the places that the others leave, such as a window law and a queue.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use airfair_units::Db;

use crate::droptail::DropTail;
use crate::params::Params;
use crate::places::{
    Agent, Aqm, Controller, Hop, Interface, MessageKinds, OutputQueue, Source, UdpEnds, Wants,
};
use crate::registry::{Build, Carrier, SchemeEntry};
use crate::scheme::Scheme;

/// Schemes that act together.
struct Combined(Vec<Part>);

struct Part {
    entry: SchemeEntry,
    scheme: Box<dyn Scheme>,
}

impl Combined {
    /// The scheme that fills one of these places.
    fn of(&self, places: &[&str]) -> Option<&dyn Scheme> {
        let fills = |part: &&Part| part.entry.places.iter().any(|place| places.contains(place));
        self.0.iter().find(fills).map(|part| &*part.scheme)
    }

    /// The scheme whose sources are for flows over this transport protocol.
    fn over(&self, carrier: Carrier) -> Option<&dyn Scheme> {
        self.0.iter().find(|part| part.entry.has_source(carrier)).map(|part| &*part.scheme)
    }

    fn schemes(&self) -> impl Iterator<Item = &dyn Scheme> {
        self.0.iter().map(|part| &*part.scheme)
    }
}

impl Scheme for Combined {
    fn queue(&self, interface: &Interface) -> OutputQueue {
        match self.of(STORES) {
            Some(scheme) => scheme.queue(interface),
            None => OutputQueue::plain(DropTail::new(interface.limit_packets)),
        }
    }

    fn aqm(&self, interface: &Interface) -> Option<Box<dyn Aqm>> {
        self.of(&["aqm"])?.aqm(interface)
    }

    fn source(&self) -> Option<Box<dyn Source>> {
        self.over(Carrier::Tcp)?.source()
    }

    fn udp(&self) -> Option<UdpEnds> {
        self.over(Carrier::Udp)?.udp()
    }

    fn rate(&self) -> Option<UdpEnds> {
        self.over(Carrier::Rate)?.rate()
    }

    fn hop(&self, interface: &Interface) -> Option<Box<dyn Hop>> {
        self.of(&["hop"])?.hop(interface)
    }

    fn agent(&self, interface: &Interface) -> Option<Box<dyn Agent>> {
        self.of(&["agent"])?.agent(interface)
    }

    fn wants(&self, interface: &Interface) -> Wants {
        self.schemes().fold(Wants::NONE, |wants, scheme| wants.with(scheme.wants(interface)))
    }

    fn controller(&self) -> Option<Box<dyn Controller>> {
        self.of(&["controller"])?.controller()
    }

    fn probe_power(&self) -> Option<Db> {
        self.of(&["agent"])?.probe_power()
    }

    fn lacks_fault(&self) -> bool {
        self.schemes().any(Scheme::lacks_fault)
    }

    fn message_kinds(&self) -> Option<MessageKinds> {
        self.schemes().find_map(Scheme::message_kinds)
    }
}

/// Places that are one thing at an interface: what stores packets, and what makes them when the MAC is free.
const STORES: &[&str] = &["queue", "forwarder"];

/// A place that two schemes fill both.
fn clash(one: &SchemeEntry, other: &SchemeEntry) -> Option<&'static str> {
    let same_carrier = one.carriers.iter().any(|carrier| other.carriers.contains(carrier));
    let meet = |place: &str, others: &str| {
        let stores = STORES.contains(&place) && STORES.contains(&others);
        let at_flows = ["source", "receiver"].contains(&place);
        stores || (place == others && (same_carrier || !at_flows))
    };
    one.places.iter().copied().find(|place| other.places.iter().any(|others| meet(place, others)))
}

impl SchemeEntry {
    /// Several schemes as one entry, each with its parameters.
    ///
    /// # Errors
    /// Two of them fill the same place.
    pub fn combined(name: &'static str, parts: Vec<(Self, Params)>) -> Result<Self, String> {
        for (i, (one, _)) in parts.iter().enumerate() {
            for (other, _) in &parts[i + 1..] {
                if one.name == other.name {
                    return Err(format!("{} stands twice", one.name));
                }
                if let Some(place) = clash(one, other) {
                    return Err(format!(
                        "{} and {} do not go together: both fill the place \"{place}\"",
                        one.name, other.name
                    ));
                }
            }
        }
        let mut places: Vec<&'static str> = Vec::new();
        let mut carriers: Vec<Carrier> = Vec::new();
        for (entry, _) in &parts {
            places.extend(entry.places.iter().filter(|place| !places.contains(place)).collect::<Vec<_>>());
            if entry.places.contains(&"source") {
                carriers.extend(entry.carriers);
            }
        }
        let carriers: &'static [Carrier] =
            match [Carrier::Tcp, Carrier::Udp, Carrier::Rate].map(|carrier| carriers.contains(&carrier)) {
                [true, true, true] => &[Carrier::Tcp, Carrier::Udp, Carrier::Rate],
                [true, true, false] => &[Carrier::Tcp, Carrier::Udp],
                [true, false, true] => &[Carrier::Tcp, Carrier::Rate],
                [false, true, true] => &[Carrier::Udp, Carrier::Rate],
                [false, true, false] => &[Carrier::Udp],
                [false, false, true] => &[Carrier::Rate],
                [_, false, false] => &[Carrier::Tcp],
            };
        let build = move |_: &Params| {
            let built = parts.iter().map(|(entry, params)| {
                (entry.build)(params).map(|scheme| Part { entry: entry.clone(), scheme })
            });
            Ok(Box::new(Combined(built.collect::<Result<_, _>>()?)) as Box<dyn Scheme>)
        };
        Ok(Self {
            name,
            about: "several schemes together",
            source: "",
            places: Cow::Owned(places),
            carriers,
            params: Cow::Borrowed(&[]),
            presets: &[],
            brings: &[],
            build: Build::Closure(Arc::new(build)),
        })
    }
}

#[cfg(test)]
mod tests {
    use airfair_units::Rate;

    use super::*;
    use crate::places::Capability;
    use crate::registry::find;

    fn combined(names: &[&str]) -> Result<SchemeEntry, String> {
        let part = |name: &&str| (find(name).unwrap().clone(), Params::default());
        SchemeEntry::combined("together", names.iter().map(part).collect())
    }

    #[test]
    fn each_part_fills_its_places() {
        let entry = combined(&["cubic", "fq-codel"]).unwrap();
        assert_eq!(*entry.places, ["source", "queue"]);
        assert!(entry.has_source(Carrier::Tcp) && !entry.has_source(Carrier::Udp));
        let scheme = (entry.build)(&Params::default()).unwrap();
        assert!(scheme.source().is_some() && scheme.udp().is_none() && scheme.controller().is_none());
    }

    #[test]
    fn laws_over_tcp_and_udp_go_together() {
        let entry = combined(&["cubic", "tfrc"]).unwrap();
        let scheme = (entry.build)(&Params::default()).unwrap();
        assert!(scheme.source().is_some() && scheme.udp().is_some());
        assert!(entry.has_source(Carrier::Tcp) && entry.has_source(Carrier::Udp));
    }

    #[test]
    fn a_place_has_one_scheme() {
        let error = |names: &[&str]| combined(names).err().unwrap_or_default();
        assert_eq!(
            error(&["cubic", "diffq"]),
            "cubic and diffq do not go together: both fill the place \"source\""
        );
        assert_eq!(error(&["red", "nred"]), "red and nred do not go together: both fill the place \"aqm\"");
        assert_eq!(
            error(&["more", "fq-codel"]),
            "more and fq-codel do not go together: both fill the place \"forwarder\""
        );
        assert_eq!(error(&["red", "red"]), "red stands twice");
    }

    #[test]
    fn wants_are_those_of_all_parts() {
        let radio = Interface { rate: Rate(11_000_000), ..Interface::radio(50) };
        let wants = |entry: &SchemeEntry| (entry.build)(&Params::default()).unwrap().wants(&radio);
        let [together, nred, cubic] = [
            wants(&combined(&["cubic", "nred"]).unwrap()),
            wants(find("nred").unwrap()),
            wants(find("cubic").unwrap()),
        ];
        assert_eq!(together.set(), nred.set().union(cubic.set()));
        assert_eq!(together.samples(), nred.samples());
        assert!(together.has(Capability::Samples));
    }
}
