//! Lies about links, to the airtime allocator.

use airfair_schemes::places::{Destination, NodeId};
use airfair_units::Span;
use airfair_units::random::Stream;
use airfair_wire::airtime::{Announcement, Link, State};

use super::hosted::{Liar, Lie, Said};

/// Interval of honest announcements.
const USUAL: Span = Span::from_secs(1);
/// The largest rate of messages of a neighbour that a daemon reads.
const FLOOD: Span = Span::from_millis(10);

const ALL: u16 = u16::MAX;

fn encoded(said: &Announcement) -> Vec<u8> {
    let mut bytes = vec![0; said.wire_len()];
    said.encode(&mut bytes).expect("it fits");
    bytes
}

fn to_all(bytes: Vec<u8>) -> Vec<Said> {
    vec![Said { name: None, to: Destination::Broadcast, bytes }]
}

/// An announcement in the liar's own name.
fn say(
    liar: &Liar,
    own: impl IntoIterator<Item = Link>,
    heard: impl IntoIterator<Item = Link>,
    far: impl IntoIterator<Item = Link>,
) -> Vec<Said> {
    let said = Announcement::new(liar.me.0, own.into_iter(), heard.into_iter(), far.into_iter());
    to_all(encoded(&said))
}

/// An announcement in another name.
fn forge(name: NodeId, own: impl Iterator<Item = Link>, heard: impl Iterator<Item = Link>) -> Said {
    let said = Announcement::new(name.0, own, heard, std::iter::empty());
    Said { name: Some(name), to: Destination::Broadcast, bytes: encoded(&said) }
}

/// An invented node.
const fn invented(number: u32) -> u32 {
    0x7000_0000 + number
}

/// Links of the liar to invented nodes.
fn inventions(count: u32, link: Link) -> impl Iterator<Item = Link> {
    (0..count).map(move |number| Link { to: invented(number), ..link })
}

/// Links between invented nodes.
fn strangers(count: u32, link: Link) -> impl Iterator<Item = Link> {
    (0..count).map(move |number| Link { from: invented(100 + number), to: invented(200 + number), ..link })
}

/// Links of the liar to its neighbours.
fn to_neighbours(liar: &Liar, link: Link) -> impl Iterator<Item = Link> {
    liar.neighbours.iter().map(move |to| Link { to: to.0, ..link })
}

/// Links of all that it hears to the liar.
fn from_inventions(liar: &Liar, count: u32, link: Link) -> impl Iterator<Item = Link> {
    let me = liar.me.0;
    (0..count).map(move |number| Link { from: invented(number), to: me, ..link })
}

const KEEPS: Link = Link { from: 0, to: 0, used: 0, flows: 1, state: State::Keeps, spoiled: false };
const SHORT: Link = Link { state: State::Short, ..KEEPS };
const MANY: Link = Link { flows: u8::MAX, ..KEEPS };
const WORST: Link = Link { flows: u8::MAX, state: State::Short, spoiled: true, ..KEEPS };

/// The honest announcement with its own links changed.
fn changed(liar: &Liar, change: impl Fn(Link) -> Link) -> Vec<Said> {
    let last = liar.honest.last().and_then(|bytes| Announcement::decode(bytes).ok());
    let Some((said, _)) = last else { return vec![] };
    let [own, heard, far] = said.into_links();
    say(liar, own.into_iter().map(change), heard, far)
}

/// True in the first `on` of each `period` lies.
fn is_on(liar: &Liar, on: u64, period: u64) -> bool {
    liar.tick % period < on
}

fn worst(liar: &Liar) -> Vec<Said> {
    say(liar, inventions(32, WORST), from_inventions(liar, 64, WORST), strangers(32, WORST))
}

/// Bytes that decode, with random contents.
fn random_announcement(liar: &Liar, random: &mut Stream) -> Vec<Said> {
    let mut link = || Link {
        from: invented(random.below(64)),
        to: liar
            .neighbours
            .get(random.below(8) as usize)
            .map_or_else(|| invented(random.below(64)), |node| node.0),
        used: random.below(1 << 16) as u16,
        flows: random.below(256) as u8,
        state: [State::Lends, State::Keeps, State::Short][random.below(3) as usize],
        spoiled: random.below(2) == 1,
    };
    let [own, heard, far] = [16, 32, 16].map(|count| (0..count).map(|_| link()).collect::<Vec<_>>());
    say(liar, own, heard, far)
}

/// Links of which the liar has heard, as all others should see them.
fn others(liar: &Liar, change: impl Fn(Link) -> Link) -> Vec<Link> {
    let said = liar.heard.values().filter_map(|bytes| Announcement::decode(bytes).ok());
    said.flat_map(|(said, _)| said.own().to_vec()).map(change).collect()
}

const fn lie(name: &'static str, says: super::Says) -> Lie {
    Lie { name, every: USUAL, selfish: false, says }
}

const fn selfish(name: &'static str, says: super::Says) -> Lie {
    Lie { selfish: true, ..lie(name, says) }
}

pub const LIES: &[Lie] = &[
    lie("silence", |_, _| vec![]),
    selfish("silence, own limits ignored", |_, _| vec![]),
    lie("an invented link", |liar, _| say(liar, inventions(1, KEEPS), [], [])),
    lie("10 invented links", |liar, _| say(liar, inventions(10, KEEPS), [], [])),
    lie("32 invented links", |liar, _| say(liar, inventions(32, KEEPS), [], [])),
    lie("32 invented links, 255 flows each", |liar, _| say(liar, inventions(32, MANY), [], [])),
    selfish("the 32 with 255 flows, limits ignored", |liar, _| say(liar, inventions(32, MANY), [], [])),
    lie("an invented link that is short", |liar, _| say(liar, inventions(1, SHORT), [], [])),
    lie("links to all neighbours, short", |liar, _| say(liar, to_neighbours(liar, SHORT), [], [])),
    lie("all that fits: spoiled, short, 255 flows", |liar, _| worst(liar)),
    selfish("all that fits, own limits ignored", |liar, _| worst(liar)),
    lie("64 invented links to it", |liar, _| say(liar, [], from_inventions(liar, 64, MANY), [])),
    lie("64 heard links of strangers", |liar, _| say(liar, [], strangers(64, MANY), [])),
    lie("64 heard ones, spoiled", |liar, _| say(liar, [], strangers(64, WORST), [])),
    lie("32 far ones, spoiled", |liar, _| say(liar, [], [], strangers(32, WORST))),
    lie("links to neighbours use all", |liar, _| {
        say(liar, to_neighbours(liar, Link { used: ALL, flows: 0, ..KEEPS }), [], [])
    }),
    lie("links to neighbours use all, 255 flows", |liar, _| {
        say(liar, to_neighbours(liar, Link { used: ALL, ..MANY }), [], [])
    }),
    selfish("lends, uses all", |liar, _| changed(liar, |link| Link { state: State::Lends, used: 0, ..link })),
    selfish("uses nothing, by its words", |liar, _| changed(liar, |link| Link { used: 0, ..link })),
    lie("uses all, by its words", |liar, _| changed(liar, |link| Link { used: ALL, ..link })),
    lie("lends all of it, and uses all", |liar, _| {
        changed(liar, |link| Link { state: State::Lends, used: ALL, ..link })
    }),
    lie("always short", |liar, _| changed(liar, |link| Link { state: State::Short, used: 0, ..link })),
    lie("always spoiled", |liar, _| changed(liar, |link| Link { spoiled: true, ..link })),
    lie("255 flows on its links", |liar, _| changed(liar, |link| Link { flows: u8::MAX, ..link })),
    selfish("255 flows, short, limits ignored", |liar, _| {
        changed(liar, |link| Link { flows: u8::MAX, state: State::Short, used: 0, ..link })
    }),
    lie("hides what it hears", |liar, _| {
        let last = liar.honest.last().and_then(|bytes| Announcement::decode(bytes).ok());
        last.map_or_else(Vec::new, |(said, _)| say(liar, said.own().to_vec(), [], []))
    }),
    lie("others' links with 255 flows", |liar, _| {
        say(liar, [], others(liar, |link| Link { flows: u8::MAX, ..link }), [])
    }),
    lie("others' links as unused and lent", |liar, _| {
        say(liar, [], others(liar, |link| Link { used: 0, state: State::Lends, ..link }), [])
    }),
    lie("32 invented links that use all, lent", |liar, _| {
        say(liar, inventions(32, Link { used: ALL, state: State::Lends, ..KEEPS }), [], [])
    }),
    lie("worst and silence in turn", |liar, _| if is_on(liar, 1, 2) { worst(liar) } else { vec![] }),
    lie("worst once in five seconds", |liar, _| if is_on(liar, 1, 5) { worst(liar) } else { vec![] }),
    lie("10 s of worst, 10 s of an empty one", |liar, _| {
        if is_on(liar, 10, 20) { worst(liar) } else { say(liar, [], [], []) }
    }),
    Lie {
        every: FLOOD,
        ..lie("a flood of one link of 255 flows", |liar, _| say(liar, inventions(1, MANY), [], []))
    },
    Lie { every: FLOOD, ..lie("a flood of noise", |_, _| to_all(vec![0; 16])) },
    Lie { every: Span::from_millis(100), ..lie("the largest ten times a second", |liar, _| worst(liar)) },
    lie("its first message again and again", |liar, _| {
        liar.honest.first().map_or_else(Vec::new, |first| to_all(first.clone()))
    }),
    lie("random links", random_announcement),
    lie("cut off", |liar, _| {
        let said = Announcement::new(liar.me.0, inventions(32, MANY), [].into_iter(), [].into_iter());
        to_all(encoded(&said)[..200].to_vec())
    }),
    lie("another node inside", |liar, _| {
        let said = Announcement::new(
            liar.neighbours.first().map_or(0, |node| node.0),
            inventions(32, MANY),
            [].into_iter(),
            [].into_iter(),
        );
        to_all(encoded(&said))
    }),
    lie("nothing, in each neighbour's name", |liar, _| {
        liar.neighbours.iter().map(|&name| forge(name, [].into_iter(), [].into_iter())).collect()
    }),
    lie("each neighbour uses all, in its name", |liar, _| {
        let links = |from: NodeId| {
            let to = liar.neighbours.iter().filter(move |&&to| to != from);
            to.map(|to| Link { to: to.0, used: ALL, ..MANY })
        };
        liar.neighbours.iter().map(|&name| forge(name, links(name), [].into_iter())).collect()
    }),
    Lie {
        every: Span::from_secs(3),
        ..lie("32 links of 255 flows in 64 names", |_, _| {
            let names = (0..64).map(|number| NodeId(invented(1000 + number)));
            names.map(|name| forge(name, inventions(32, WORST), [].into_iter())).collect()
        })
    },
];
