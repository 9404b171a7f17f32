//! The keys of all blocks except radios, flows and movement: the run, nodes, links, gains, routing, ARP, headers.

use airfair_units::{Bytes, Db, Meters, Rate, Span};

use crate::declare::choice::Metric;
use crate::declare::field::{Field, LONGEST, Off, Or, Real, wrong_type};
use crate::declare::name::Name;
use crate::declare::schema::Schema;
use crate::declare::table::{inline_table, table, variants};
use crate::keys::movement::Way;
use crate::keys::routing::RoutingProtocol;
use crate::keys::scheme_name::{RunScheme, SchemeName};
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// Rates of a wired link.
const WIRED_RATES: std::ops::RangeInclusive<Rate> = Rate(1)..=Rate(1_000_000_000_000);
/// Path gains.
pub(crate) const GAINS: std::ops::RangeInclusive<Db> = Db(-300.0)..=Db(60.0);
const LENGTHS: std::ops::RangeInclusive<Meters> = Meters(0.0)..=Meters(1e7);
/// Lengths of headers.
pub(crate) const HEADERS: std::ops::RangeInclusive<Bytes> = Bytes(0)..=Bytes(65_535);

table! {
    /// The run as a whole; these keys stand at the top of the file, before the first table.
    struct TopTable {
        /// Name of the scenario.
        name: Name = required;
        /// Description of the scenario, in a sentence or two.
        description: String = default(String::new());
        /// Length of the run.
        duration: Span = required, in Span(1)..=LONGEST;
        /// Measurements start at this time.
        warmup: Span = default(Span::ZERO);
        /// The scheme, unless the command line names another; several that fill different places with `+` between them, such as
        /// "cubic+fq-codel".
        scheme: RunScheme = default(RunScheme("droptail".to_string()));
        /// Most memory for the pairs of radios of which one hears the other, and for packets on wires. A world whose pairs need more is
        /// refused before it is built; a run ends with an error when the packets on its wires need what the pairs have left.
        memory_limit: Bytes = default(Bytes(4_000_000_000));
    }
}

table! {
    /// A node. The order of nodes has no influence, but their names have one: random streams depend on them.
    struct NodeTable {
        /// The name of the node, unique among nodes.
        id: Name = required;
        /// The position: x and y, or x, y and z. A node with wired links only, or with measured gains, needs none.
        position: Position = computed("required with radios whose propagation depends on distance");
        /// True if the position is a guess, for a picture. With `propagation = { model = "matrix" }` a signal from or to such a node takes
        /// no time; so with a node that has no position.
        position_is_a_guess: bool = computed("false");
        /// The node's radios, at most one of a kind; an empty list for a wired node.
        radios: Vec<Name> = computed("[\"default\"] if the file has [radio], else none");
        /// The scheme at the node's interfaces instead of the run's: queues, their AQM, agents. The node's flows keep their window laws.
        /// So a mesh can be converted in part: `scheme = "droptail"` leaves a node out, `scheme = "nred"` converts one.
        scheme: SchemeName = computed("the run's scheme");
        /// How the node moves from its position.
        movement: Way = computed("none, unless the file of [movement] moves the node");
    }
}

variants! {
    /// Nodes that are placed by a rule instead of written.
    enum NodesTable by kind {
        "chain" => Chain(ChainTable),
        "grid" => Grid(GridTable),
        "random" => Random(RandomTable),
        "building" => Building(BuildingTable),
    }
}

table! {
    /// Nodes in a row along the x axis, from the origin.
    struct ChainTable {
        /// Number of nodes.
        count: u32 = required, in 1..=u32::MAX;
        /// Distance between neighbours.
        spacing: Meters = required, in LENGTHS;
        /// Prefix of the nodes' names, before a number from 0.
        prefix: String = default(String::new());
        /// Radios of each node.
        radios: Vec<Name> = computed("[\"default\"] if the file has [radio], else none");
    }
}

table! {
    /// Nodes in rows and columns, numbered row by row from the origin.
    struct GridTable {
        /// Rows, along the y axis.
        rows: u32 = required, in 1..=u32::MAX;
        /// Nodes in a row, along the x axis.
        columns: u32 = required, in 1..=u32::MAX;
        /// Distance between neighbours.
        spacing: Meters = required, in LENGTHS;
        /// Prefix of the nodes' names, before a number from 0.
        prefix: String = default(String::new());
        /// Radios of each node.
        radios: Vec<Name> = computed("[\"default\"] if the file has [radio], else none");
    }
}

table! {
    /// Nodes placed uniformly in a rectangle, again and again until every node can reach every other over hops that are
    /// within the range of their first radio.
    struct RandomTable {
        /// Number of nodes.
        count: u32 = required, in 1..=u32::MAX;
        /// Width and height of the rectangle.
        area: [Meters; 2] = required;
        /// Seed of the placement, which is the same in every run, whatever the run's own seed is.
        seed: u64 = default(1);
        /// Prefix of the nodes' names, before a number from 0.
        prefix: String = default(String::new());
        /// Radios of each node.
        radios: Vec<Name> = computed("[\"default\"] if the file has [radio], else none");
    }
}

table! {
    /// Nodes in the rooms of a building, numbered floor by floor and there row by row. Between radios with
    /// `propagation = { model = "matrix" }` walls and floors attenuate signals, by the multi-wall model of COST 231 (final report,
    /// 1999, section 4.7.2): free space to 1 m and `exponent` beyond, `wall` for each wall on the straight line, for k floors
    /// k^((k + 2)/(k + 1) - 0.46) times `floor`, and shadowing. A `[[gain]]` that is written has precedence. A `[[node]]` with a
    /// position is in the room of this position: x from 0 m along the columns, y along the rows, z upwards from the lowest floor. Other
    /// propagation models have no walls: with them `wall` and `floor` must be 0 dB, and an exponent and shadowing are keys of the model.
    struct BuildingTable {
        /// Floors.
        floors: u32 = required, in 1..=1000;
        /// Rooms of a floor along the y axis.
        rows: u32 = required, in 1..=u32::MAX;
        /// Rooms of a floor along the x axis.
        columns: u32 = required, in 1..=u32::MAX;
        /// Width (x) and depth (y) of a room.
        room: [Meters; 2] = required;
        /// Height of a storey.
        height: Meters = default(Meters(3.0)), in Meters(0.1)..=Meters(100.0);
        /// Nodes in a room, placed uniformly, at the height of its floor.
        per_room: u32 = default(1), in 1..=u32::MAX;
        /// Nodes of each floor, instead of `per_room`: `[20, 13, 13]`. They are spread evenly over the floor's rooms: of n nodes and r
        /// rooms, node i (from 0) of the floor is in room i r / n, rounded down.
        per_floor: Vec<u32> = computed("per_room in each room");
        /// Seed of the placement, which is the same in every run, whatever the run's own seed is.
        seed: u64 = default(1);
        /// Path-loss exponent beyond 1 m, without walls and floors: 2 in free space.
        exponent: f64 = default(2.0), in 0.5..=20.0;
        /// Standard deviation of the shadowing, drawn once for each pair of nodes.
        shadowing: Db = default(Db(0.0)), in Db(0.0)..=Db(50.0);
        /// Seed of the shadowing, which is the same in every run, whatever the run's own seed is.
        shadowing_seed: u64 = default(1);
        /// Loss of a wall: 3.4 dB for a light wall, 6.9 dB for one of brick or concrete.
        wall: Db = default(Db(6.9)), in Db(0.0)..=Db(100.0);
        /// Loss of one floor.
        floor: Db = default(Db(18.3)), in Db(0.0)..=Db(100.0);
        /// Prefix of the nodes' names, before a number from 0.
        prefix: String = default(String::new());
        /// Radios of each node.
        radios: Vec<Name> = computed("[\"default\"] if the file has [radio], else none");
    }
}

table! {
    /// A wired full-duplex link between two nodes.
    struct LinkTable {
        /// The two nodes.
        ends: [Name; 2] = required;
        /// Rate of each direction.
        rate: Rate = required, in WIRED_RATES;
        /// Changes of the rate, in ascending order of time: `[{ at = "10 s", rate = "75 Mbit/s" }]`. A packet that is being sent keeps
        /// the old rate, the next packet has the new one. Schemes are set up for the first rate.
        rate_changes: Vec<RateChange> = default(Vec::new());
        /// Propagation delay.
        delay: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// Probability that a packet is lost on the link.
        loss: f64 = default(0.0), in 0.0..=1.0;
        /// Every n-th packet with payload is lost too, counted from 1 in each direction by itself; 0: none.
        loss_every: u32 = default(0);
        /// Most packets that wait at each end.
        queue_packets: u32 = default(50), in 1..=1_000_000;
        /// How much of a node's own flows may wait at its end of the link, as `local_limit` of `[radio]` describes. Linux has about 1 ms
        /// on wires (`sk_pacing_shift` in `net/core/sock.c`).
        local_limit: Or<Off, Span> = computed("\"1 ms\" (`profile` of [tcp] \"ns-2\" or \"ns-3\": \"off\")");
    }
}

table! {
    /// Where and when a controller runs, under a scheme that has one. Each block is a new controller, which knows nothing of an earlier
    /// one: two blocks with the same node are a restart, two with different nodes a move. Blocks with times that do not overlap, or with
    /// different nodes, may stand in any order. Without a block one controller runs from the start to the end: at the first access point (a
    /// node with a radio and a wired link) by name, else at the node with the least sum of hops to all others.
    struct ControllerTable {
        /// The node, with radios, wired links or both.
        node: Name = required;
        /// Start.
        start: Span = default(Span::ZERO), in Span::ZERO..=LONGEST;
        /// Stop; from then on its messages and timers are nobody's.
        stop: Span = computed("the end of the run"), in Span::ZERO..=LONGEST;
    }
}

table! {
    /// A change of a link's rate, in both directions.
    struct RateChangeTable {
        /// Time of the change, since the start of the run.
        at: Span = required, in Span::ZERO..=LONGEST;
        /// New rate of each direction.
        rate: Rate = required, in WIRED_RATES;
    }
}

/// `{ at = "10 s", rate = "75 Mbit/s" }`.
#[derive(Debug, Clone)]
pub(crate) struct RateChange(pub RateChangeTable);
inline_table!(RateChange, RateChangeTable, "{ at = \"10 s\", rate = \"75 Mbit/s\" }");

table! {
    /// A measured path gain, for radios with `propagation = { model = "matrix" }`.
    struct GainTable {
        /// Transmitting node.
        from: Name = required;
        /// Receiving node.
        to: Name = required;
        /// Path gain, negative for a loss.
        gain: Db = required, in GAINS;
        /// The other direction has the same gain.
        both: bool = default(false);
        /// Changes of the gain, in ascending order of time: `[{ at = "10 s", gain = "-95 dB" }]`. A frame keeps the gain of its start.
        changes: Vec<GainChange> = computed("none");
        /// A CSV file with the changes in place of `changes`, relative to the folder of the scenario. Its first line is `at_s,gain_db`,
        /// each other line a time in seconds since the start of the run and the new gain in dB, in ascending order of times.
        file: String = computed("none");
        /// Interval after which the gain is that of time 0 again, and all changes are repeated; each has to be earlier than this.
        period: Span = computed("none: each change occurs once"), in PERIODS;
    }
}

/// Periods of changes of gains.
const PERIODS: std::ops::RangeInclusive<Span> = Span::from_millis(1)..=LONGEST;

table! {
    /// A change of a measured path gain.
    struct GainChangeTable {
        /// Time of the change, since the start of the run.
        at: Span = required, in Span(1)..=LONGEST;
        /// New path gain.
        gain: Db = required, in GAINS;
    }
}

/// `{ at = "10 s", gain = "-95 dB" }`.
#[derive(Debug, Clone)]
pub(crate) struct GainChange(pub GainChangeTable);
inline_table!(GainChange, GainChangeTable, "{ at = \"10 s\", gain = \"-95 dB\" }");

table! {
    /// How next hops are found, and how many there may be.
    struct RoutingTable {
        /// Static routes, which exist from the start and never change, or a protocol by which nodes find routes with messages, over air
        /// and wires: when they need them (`[aodv]`), or at all times (`[dsdv]`, `[olsr]`).
        protocol: RoutingProtocol = default(RoutingProtocol::Static);
        /// Metric of static routes: the number of hops, or the expected transmission count, by which a cable takes no
        /// air.
        metric: Metric = default(Metric::Hops);
        /// Most hops of a packet: IPv4's time to live as the source sets it (Linux: 64). A node that would have to forward the packet
        /// after that many hops drops it (`hop-limit`). AODV's own messages have limits of their own.
        hop_limit: u8 = default(64), in 1..=255;
    }
}

table! {
    /// How hardware addresses are found.
    struct ArpTable {
        /// The address of every neighbour is known from the start.
        prefilled: bool = default(true);
        /// Packets that wait for one address; more are dropped, the oldest first.
        waiting_packets: u32 = default(1), in 1..=1_000_000;
        /// Time after which a request without answer is repeated, plus up to 10 ms that differ by node.
        retry: Span = default(Span::from_secs(1)), in Span(1)..=LONGEST;
        /// Requests before the waiting packets are dropped.
        attempts: u32 = default(3), in 1..=1_000_000;
    }
}

table! {
    /// Bytes that each layer adds to a packet. Other simulators count differently: ns-2 has 20 B of IP and none of UDP, and its
    /// TCP packets count 40 B above the IP header.
    struct HeadersTable {
        /// UDP.
        udp: Bytes = default(Bytes(8)), in HEADERS;
        /// TCP, options included: "real" counts the actual header, with the options that each segment carries.
        tcp: Or<Real, Bytes> = default(Or::NONE);
        /// IP, under UDP and TCP alike.
        ip: Bytes = default(Bytes(20)), in HEADERS;
        /// LLC/SNAP, on the air only.
        llc: Bytes = default(Bytes(8)), in HEADERS;
        /// MAC header and FCS of a data frame, on the air only.
        mac: Bytes = default(Bytes(28)), in HEADERS;
        /// Framing of a wired link.
        wired: Bytes = default(Bytes(0)), in HEADERS;
    }
}

/// A position: x, y, z in m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Position(pub [f64; 3]);

/// Farthest coordinate, m.
pub(crate) const FARTHEST: f64 = 1e7;

impl Field for Position {
    const TYPE: &'static str = "position";

    fn expected() -> String {
        "two or three coordinates such as [\"0 m\", \"200 m\"]".to_string()
    }

    fn schema() -> Schema {
        crate::declare::schema::list(Meters::schema(), Some((2, 3)))
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        if !matches!(item.value, Value::List(_)) {
            return wrong_type(item, path, cx);
        }
        let list = Vec::<Meters>::read(item, path, cx)?;
        if list.iter().any(|m| m.0.abs() > FARTHEST) {
            cx.error(item.at, path, || "out of range; expected coordinates within 10,000 km".to_string());
            return None;
        }
        match list[..] {
            [x, y] => Some(Self([x.0, y.0, 0.0])),
            [x, y, z] => Some(Self([x.0, y.0, z.0])),
            _ => {
                cx.error(item.at, path, || {
                    let count = list.len();
                    let noun = if count == 1 { "coordinate" } else { "coordinates" };
                    format!("{count} {noun}; expected {}", Self::expected())
                });
                None
            }
        }
    }

    fn write(&self) -> String {
        self.0.map(Meters).write()
    }
}
