//! Table of frames: a row for each transmission, reception, loss with its cause, drop and delivery.

use airfair_units::{Attowatts, Time};

use crate::air::Air;
use crate::ids::{PacketRef, StationIx};
use crate::observe::describe::{Body, PacketDescription};
use crate::record::{Content, FrameKind, FrameView, Loss, Names, Record, Signal, TcpCause};

/// Missing value in a column of integers, all of which are non-negative.
const NONE: i64 = -1;

/// Names of events in the table.
const EVENTS: [&str; 12] = [
    "sent",
    "received",
    "lost",
    "no-cts",
    "no-ack",
    "cts-withheld",
    "given-up",
    "dropped",
    "delivered",
    "tcp",
    "internal-collision",
    "holds",
];

/// Names of packet contents in every table. Names of receivers' reports and of messages follow where they occur.
const CONTENTS: [&str; 8] = ["packet", "data", "ack", "arp-request", "arp-reply", "syn", "syn-ack", "fin"];

/// Causes other than losses and drop reasons.
const TCP_CAUSES: [&str; 5] = ["timeout", "fast-loss", "mark", "fallback", "gave-up"];

/// A row. Missing values are [`NONE`], NaN, or an empty option.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    time_ns: u64,
    event: usize,
    node: u32,
    station: Option<u32>,
    frame: i64,
    kind: Option<FrameKind>,
    from: Option<u32>,
    to: Option<u32>,
    flow: Option<u32>,
    content: Option<&'static str>,
    sequence: i64,
    mac_sequence: i64,
    retry: i64,
    bytes: i64,
    rate_bps: i64,
    duration_ns: i64,
    nav_ns: i64,
    power_dbm: f64,
    sinr_db: f64,
    cause: Option<&'static str>,
    by_frame: i64,
    attempts: i64,
    cw_slots: i64,
    delay_ns: i64,
    /// Station and number of an access category.
    category: Option<(StationIx, u8)>,
    /// Announced size of the sender's queue, and the destination that it is of.
    announced: Option<(u32, u32)>,
    /// Packets of a batch that the node holds, and all of the batch.
    holding: Option<[u16; 2]>,
}

impl Row {
    fn new(time_ns: u64, event: &str, node: u32) -> Self {
        Self {
            time_ns,
            event: EVENTS.iter().position(|&name| name == event).unwrap_or(0),
            node,
            station: None,
            frame: NONE,
            kind: None,
            from: None,
            to: None,
            flow: None,
            content: None,
            sequence: NONE,
            mac_sequence: NONE,
            retry: NONE,
            bytes: NONE,
            rate_bps: NONE,
            duration_ns: NONE,
            nav_ns: NONE,
            power_dbm: f64::NAN,
            sinr_db: f64::NAN,
            cause: None,
            by_frame: NONE,
            attempts: NONE,
            cw_slots: NONE,
            delay_ns: NONE,
            category: None,
            announced: None,
            holding: None,
        }
    }

    /// A row of an event at a station.
    fn at(time: u64, event: &str, station: StationIx, names: &Names) -> Self {
        let node = names.node_of_station[station.ix()].0;
        Self { station: Some(station.0), ..Self::new(time, event, node) }
    }

    fn of_frame(mut self, frame: &FrameView, carried: Option<PacketDescription>, names: &Names) -> Self {
        let node = |station: StationIx| names.node_of_station[station.ix()].0;
        let data = matches!(frame.kind, FrameKind::Data | FrameKind::Broadcast);
        self.frame = i64::from(frame.number);
        self.kind = Some(frame.kind);
        self.from = Some(node(frame.sender));
        self.to = frame.receiver.map(node);
        self.bytes = i64::from(frame.bytes);
        self.rate_bps = whole(frame.mode.rate().as_bps());
        self.duration_ns = whole(frame.end.since(frame.start).as_nanos());
        self.nav_ns = i64::from(frame.nav_us) * 1000;
        if data {
            self.mac_sequence = i64::from(frame.sequence);
            self.retry = i64::from(frame.retry);
            self.category = frame.category.map(|category| (frame.sender, category));
        }
        if let Some(PacketDescription { announced: Some(queue), destination, .. }) = carried {
            self.announced = Some((queue, destination.0));
        }
        self.of_packet(carried)
    }

    fn of_packet(mut self, described: Option<PacketDescription>) -> Self {
        let Some(described) = described else { return self };
        self.flow = described.flow.map(|flow| flow.0);
        self.content = Some(match described.body {
            Body::Arp { request: true } => "arp-request",
            Body::Arp { request: false } => "arp-reply",
            Body::Forwarded(_) => "forwarded",
            _ => content(described.content),
        });
        if !matches!(described.body, Body::Arp { .. }) {
            self.sequence = i64::from(described.sequence);
        }
        self
    }

    fn of_signal(mut self, signal: Signal, station: StationIx, air: &Air) -> Self {
        if signal.power.0 > 0 {
            self.power_dbm = signal.power.to_dbm().0;
            if let Some(Attowatts(interference)) = signal.interference {
                let noise = interference.saturating_add(air.phy(station).noise).max(1);
                self.sinr_db = self.power_dbm - Attowatts(noise).to_dbm().0;
            }
        }
        self
    }
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

const fn content(content: Content) -> &'static str {
    match content {
        Content::Packet => "packet",
        Content::Data => "data",
        Content::Ack => "ack",
        Content::Syn => "syn",
        Content::SynAck => "syn-ack",
        Content::Fin => "fin",
        Content::Report => "feedback",
        Content::Messages(name) => name,
    }
}

/// The row of a record, if it has one. `carried`: the packet of a frame with a number; `held`: the packet that a station has sent last, or
/// a certain one that it sends.
pub(super) fn row(
    record: &Record,
    time: Time,
    names: &Names,
    air: &Air,
    carried: impl Fn(u32) -> Option<PacketDescription>,
    held: impl Fn(StationIx, Option<PacketRef>) -> Option<PacketDescription>,
) -> Option<Row> {
    let Time(time) = time;
    let node = |station: StationIx| names.node_of_station[station.ix()].0;
    Some(match *record {
        Record::Start { frame } => {
            Row::at(time, "sent", frame.sender, names).of_frame(&frame, carried(frame.number), names)
        }
        Record::Received { frame, at, signal } => Row::at(time, "received", at, names)
            .of_frame(&frame, carried(frame.number), names)
            .of_signal(signal, at, air),
        Record::Lost { frame, at, loss, signal } => {
            let by = match loss {
                Loss::LockedOn(n) | Loss::LockTaken(n) | Loss::Interference(Some(n)) => i64::from(n),
                _ => NONE,
            };
            let row = Row::at(time, "lost", at, names).of_frame(&frame, carried(frame.number), names);
            Row { cause: Some(loss.name()), by_frame: by, ..row.of_signal(signal, at, air) }
        }
        Record::Overheard { .. }
        | Record::LateResponse { .. }
        | Record::Made { .. }
        | Record::Routed { .. }
        | Record::Compared { .. }
        | Record::OnWire { .. }
        | Record::SenderRan { .. } => {
            return None;
        }
        Record::CtsWithheld { at, to, nav_until } => Row {
            to: Some(node(to)),
            nav_ns: whole(nav_until.as_nanos().saturating_sub(time)),
            ..Row::at(time, "cts-withheld", at, names)
        },
        Record::NoResponse { at, to, cts, attempts, cw, .. } => {
            // Without a CTS the packet itself has not been sent, or not in this attempt.
            let row = Row::at(time, if cts { "no-cts" } else { "no-ack" }, at, names);
            let row = if cts { row } else { row.of_packet(held(at, None)) };
            Row { to: Some(node(to)), attempts: i64::from(attempts), cw_slots: i64::from(cw), ..row }
        }
        Record::InternalCollision { at, category, attempts, cw, .. } => Row {
            attempts: i64::from(attempts),
            cw_slots: i64::from(cw),
            category: Some((at, category)),
            ..Row::at(time, "internal-collision", at, names)
        },
        Record::GivenUp { at, packet } => {
            Row::at(time, "given-up", at, names).of_packet(held(at, Some(packet)))
        }
        Record::Dropped { node, flow, content: what, sequence, reason, packet: _ } => Row {
            flow: flow.map(|flow| flow.0),
            content: Some(content(what)),
            sequence: i64::from(sequence),
            cause: Some(reason),
            ..Row::new(time, "dropped", node.0)
        },
        Record::Delivered { node, flow, content: what, sequence, delay, packet: _ } => Row {
            flow: flow.map(|flow| flow.0),
            content: Some(content(what)),
            sequence: i64::from(sequence),
            delay_ns: whole(delay.as_nanos()),
            ..Row::new(time, "delivered", node.0)
        },
        Record::Held { node, flow, holding } => Row {
            flow: Some(flow.0),
            sequence: i64::from(holding.batch),
            holding: Some([holding.packets, holding.of]),
            ..Row::new(time, "holds", node.0)
        },
        Record::Tcp { node, flow, cause, sequence, .. } => Row {
            flow: Some(flow.0),
            sequence: i64::from(sequence),
            cause: Some(match cause {
                TcpCause::Timeout => TCP_CAUSES[0],
                TcpCause::FastLoss => TCP_CAUSES[1],
                TcpCause::Mark => TCP_CAUSES[2],
                TcpCause::Fallback => TCP_CAUSES[3],
                TcpCause::GaveUp => TCP_CAUSES[4],
            }),
            ..Row::new(time, "tcp", node.0)
        },
    })
}

/// Sort key of rows: time of the event, time of its record, and whether it happened above the air.
pub(super) type Place = (u64, u64, bool);

/// Rows that were not returned yet.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Rows with their keys, unordered.
    pending: Vec<(Place, Row)>,
    /// Causes that have occurred: the codes of the column.
    causes: Vec<&'static str>,
    /// Names of contents: the codes of the column.
    contents: Vec<&'static str>,
    /// Names of access categories that have occurred: the codes of the column.
    categories: Vec<String>,
}

impl Rows {
    /// No rows; `reports`: receivers over UDP send reports.
    pub(super) fn new(reports: bool) -> Self {
        let contents = CONTENTS.into_iter().chain(reports.then_some("feedback")).collect();
        Self { contents, ..Self::default() }
    }

    pub(super) fn push(&mut self, place: Place, row: Row) {
        self.pending.push((place, row));
    }

    /// Rows before `settled` in order of time, if there are at least `least`.
    pub(super) fn take(&mut self, settled: u64, least: usize, names: &Names) -> Option<Columns> {
        if self.pending.len() < least.max(1) {
            return None;
        }
        self.pending.sort_by_key(|row| row.0);
        let young = self.pending.split_off(self.pending.partition_point(|row| row.0.0 < settled));
        let rows = std::mem::replace(&mut self.pending, young);
        let mut columns = Columns::default();
        for (_, row) in rows {
            let cause = row.cause.map(|cause| code(&mut self.causes, cause));
            let content = row.content.map(|content| code(&mut self.contents, content));
            let category =
                row.category.and_then(|(station, category)| names.category(station, Some(category)));
            columns.push(&row, [cause, content, category.map(|name| self.category(name))]);
        }
        columns.labels.causes.clone_from(&self.causes);
        columns.labels.contents.clone_from(&self.contents);
        columns.labels.categories.clone_from(&self.categories);
        Some(columns)
    }

    fn category(&mut self, name: &str) -> u32 {
        let at = self.categories.iter().position(|known| known == name).unwrap_or_else(|| {
            self.categories.push(name.to_string());
            self.categories.len() - 1
        });
        at as u32
    }
}

/// Code of a name in a list, to which an unknown name is added.
fn code(names: &mut Vec<&'static str>, name: &'static str) -> u32 {
    let at = names.iter().position(|&known| known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    });
    at as u32
}

/// Meanings of the codes in columns; nodes, radios (by station) and flows are those of the world.
#[derive(Debug, Clone)]
pub struct Labels {
    /// Codes of the column `event`.
    pub events: &'static [&'static str],
    /// Codes of the column `kind`.
    pub kinds: Vec<&'static str>,
    /// Codes of the column `content`; routing messages only where they have occurred.
    pub contents: Vec<&'static str>,
    /// Codes of the column `cause` that have occurred.
    pub causes: Vec<&'static str>,
    /// Codes of the column `category` that have occurred.
    pub categories: Vec<String>,
}

impl Default for Labels {
    fn default() -> Self {
        Self {
            events: &EVENTS,
            kinds: FrameKind::ALL.iter().map(|kind| kind.name()).collect(),
            contents: CONTENTS.to_vec(),
            causes: Vec::new(),
            categories: Vec::new(),
        }
    }
}

/// Rows as columns. Codes stand for names; missing values are -1, in columns of floats NaN.
#[derive(Debug, Default)]
pub struct Columns {
    /// Meanings of the codes.
    pub labels: Labels,
    /// Time of the event, ns since the start of the run.
    pub time_ns: Vec<i64>,
    /// Kind of the event.
    pub event: Vec<i64>,
    /// Node of the event and, on the air, its station.
    pub node: Vec<i64>,
    /// See `node`.
    pub station: Vec<i64>,
    /// Number of the frame.
    pub frame: Vec<i64>,
    /// Kind of the frame.
    pub kind: Vec<i64>,
    /// Source and destination node; missing for a broadcast.
    pub from: Vec<i64>,
    /// See `from`.
    pub to: Vec<i64>,
    /// Flow of the packet.
    pub flow: Vec<i64>,
    /// Content of the packet.
    pub content: Vec<i64>,
    /// Number of the packet within the flow; for TCP its first byte, or the byte that it acknowledges.
    pub sequence: Vec<i64>,
    /// The MAC's sequence number.
    pub mac_sequence: Vec<i64>,
    /// Retry bit of the frame.
    pub retry: Vec<i64>,
    /// PSDU bytes.
    pub bytes: Vec<i64>,
    /// Rate of the PSDU, bit/s.
    pub rate_bps: Vec<i64>,
    /// Time on the air, ns.
    pub duration_ns: Vec<i64>,
    /// Duration field, ns; of a withheld CTS the rest of the NAV.
    pub nav_ns: Vec<i64>,
    /// Power at the receiver, dBm.
    pub power_dbm: Vec<f64>,
    /// Lowest ratio of that power to noise and interference, dB.
    pub sinr_db: Vec<f64>,
    /// Cause of a loss, drop or rate reduction.
    pub cause: Vec<i64>,
    /// Number of the frame that caused the loss.
    pub by_frame: Vec<i64>,
    /// Failed attempts of the packet.
    pub attempts: Vec<i64>,
    /// New contention window, slots.
    pub cw_slots: Vec<i64>,
    /// Delay of a delivered packet, ns.
    pub delay_ns: Vec<i64>,
    /// Access category of the packet, at a station with several.
    pub category: Vec<i64>,
    /// Size of the sender's queue that the packet's header announces, packets.
    pub announced: Vec<i64>,
    /// Node that those packets are for.
    pub announced_of: Vec<i64>,
    /// Packets of a batch that the node holds.
    pub held: Vec<i64>,
    /// Packets of the batch.
    pub held_of: Vec<i64>,
}

impl Columns {
    /// Adds a row; the codes are those of its cause, content and category.
    fn push(&mut self, row: &Row, [cause, content, category]: [Option<u32>; 3]) {
        let code = |code: Option<u32>| code.map_or(NONE, i64::from);
        self.time_ns.push(whole(row.time_ns));
        self.event.push(row.event as i64);
        self.node.push(i64::from(row.node));
        self.station.push(code(row.station));
        self.frame.push(row.frame);
        self.kind.push(row.kind.map_or(NONE, |kind| kind as i64));
        self.from.push(code(row.from));
        self.to.push(code(row.to));
        self.flow.push(code(row.flow));
        self.content.push(code(content));
        self.sequence.push(row.sequence);
        self.mac_sequence.push(row.mac_sequence);
        self.retry.push(row.retry);
        self.bytes.push(row.bytes);
        self.rate_bps.push(row.rate_bps);
        self.duration_ns.push(row.duration_ns);
        self.nav_ns.push(row.nav_ns);
        self.power_dbm.push(row.power_dbm);
        self.sinr_db.push(row.sinr_db);
        self.cause.push(code(cause));
        self.by_frame.push(row.by_frame);
        self.attempts.push(row.attempts);
        self.cw_slots.push(row.cw_slots);
        self.delay_ns.push(row.delay_ns);
        self.category.push(code(category));
        self.announced.push(code(row.announced.map(|(queue, _)| queue)));
        self.announced_of.push(code(row.announced.map(|(_, destination)| destination)));
        let [held, of] = row.holding.map_or([NONE; 2], |holding| holding.map(i64::from));
        self.held.push(held);
        self.held_of.push(of);
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// True if there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
