//! From the tree of values to the specification of a world, and the model from which the complete form is written.

use std::collections::{BTreeMap, BTreeSet};

use airfair_schemes::{Params, SchemeEntry};
use airfair_sim::spec::{
    ArpSpec, ControllerSpec, FlowSpec, GainChangeSpec, GainSpec, HeaderSpec, LinkSpec, NodeScheme, QueueSpec,
    RateChange, Traffic, Transport, WorldSpec,
};
use airfair_units::{Bytes, Db, Span, Time};

use crate::declare::field::{Field, Or, outside};
use crate::declare::name::Name;
use crate::declare::table::OtherKeys;
use crate::keys::inherit::{Precedence, precedence};
use crate::keys::network::{
    ArpTable, ControllerTable, GainChangeTable, GainTable, HEADERS, HeadersTable, LinkTable, RoutingTable,
    TopTable,
};
use crate::keys::tcp::TcpTable;
use crate::keys::{self, scheme_params};
use crate::resolve::blocks::{blocks, single};
use crate::resolve::categories::warn_of_dscps;
use crate::resolve::csv;
use crate::resolve::flows::{FlowContext, Flows, flows};
use crate::resolve::gain_changes_csv::ListedChange;
use crate::resolve::movement::movements;
use crate::resolve::nodes::{Nodes, nodes, uses_gains};
use crate::resolve::radio::{Radios, radios};
use crate::resolve::routing::{self, Shown};
use crate::resolve::tcp::{Tcp, tcp};
use crate::text::error::{Cx, quoted};
use crate::text::limits::Limits;
use crate::text::location::{Locations, Path};
use crate::text::tree::Table;

/// The default `local_limit` of a link: `sk_pacing_shift` of 10 in Linux.
const WIRE_LIMIT: Span = Span::from_millis(1);

/// The complete tables of a scenario.
pub(crate) struct Model {
    pub top: TopTable,
    pub radios: Radios,
    pub nodes: Nodes,
    /// The keys of `[movement]`, if a node moves.
    pub movement: Option<Vec<(&'static str, String)>>,
    pub links: Vec<LinkTable>,
    pub gains: Vec<GainTable>,
    pub controllers: Vec<ControllerTable>,
    pub flows: Flows,
    pub routing: RoutingTable,
    /// Parameters of routing protocols.
    pub protocols: Shown,
    pub arp: ArpTable,
    pub headers: HeadersTable,
    /// `None` if there is neither a `[tcp]` table nor a TCP flow.
    pub tcp: Option<TcpTable>,
    pub schemes: BTreeMap<String, Params>,
}

/// Reads and checks a whole scenario. `None` only after noting errors.
pub(crate) fn assemble(root: &Table, limits: &Limits, cx: &mut Cx<'_>) -> Option<(Model, WorldSpec)> {
    let known: Vec<&str> = keys::tables().collect();
    let top = TopTable::read_table(root, &Path::ROOT, cx, &OtherKeys { known: &known, variant: None });
    let (duration, warmup) = top.as_ref().map_or((Span(u64::MAX), Span::ZERO), |t| (t.duration, t.warmup));
    if let Some(top) = top.as_ref().filter(|t| t.warmup >= t.duration) {
        cx.error(top.locations.of("warmup"), &Path::ROOT.child("warmup"), || {
            format!("{}: not shorter than the run; expected less than {}", warmup.write(), duration.write())
        });
    }
    let tcp = tcp(root, cx);
    let radios = radios(root, &tcp, cx);
    let mut movements = movements(root, limits.waypoints, cx);
    let nodes = nodes(root, &radios, &mut movements, limits, cx);
    let movement = crate::resolve::movement::resolve(&movements, &nodes, &radios, limits.waypoints, cx);
    let (links, link_specs) = links(root, &nodes, &tcp, duration, cx);
    let (gains, gain_specs, gain_changes) = gains(root, &nodes, duration, limits.gain_changes, cx);
    if !gains.is_empty() && !uses_gains(&radios) {
        cx.warnings
            .push("[[gain]] has no effect: no radio has propagation = { model = \"matrix\" }".to_string());
    }
    let (controllers, controller_specs) = controllers(root, &nodes, cx);
    let tcp_written = tcp.is_written();
    let run = run_schemes(top.as_ref(), cx);
    let context = FlowContext { nodes: &nodes, tcp: &tcp, run: &run, duration, warmup, limits };
    let mut flows = flows(root, &context, cx);
    let empty = Table::new(root.at);
    macro_rules! table {
        ($Table:ident, $key:literal) => {
            $Table::read_table(
                single(root, $key, cx).unwrap_or(&empty),
                &Path::ROOT.child($key),
                cx,
                &OtherKeys::default(),
            )
        };
    }
    let routing = table!(RoutingTable, "routing");
    let (routing_spec, protocols) = routing::resolve(root, routing.as_ref(), cx);
    let arp = table!(ArpTable, "arp");
    let headers = table!(HeadersTable, "headers");
    let used: BTreeSet<&str> = flows
        .laws
        .iter()
        .map(String::as_str)
        .chain(nodes.schemes.iter().map(|(_, name)| name.as_str()))
        .collect();
    let schemes = schemes(root, top.as_ref(), used, cx);
    let header_specs = headers.as_ref().map(|table| resolve_headers(table, cx));
    if cx.failed() {
        return None;
    }
    set_law_params(&mut flows.specs, &schemes);
    // Of TCP's keys the transport with a rate has the size of a segment.
    let uses = |flow: &FlowSpec| matches!(flow.transport, Transport::Tcp { .. } | Transport::Rate { .. });
    let has_tcp = flows.specs.iter().any(uses);
    if tcp_written && !has_tcp {
        cx.warnings.push("[tcp] has no effect: no flow has transport = \"tcp\"".to_string());
    }
    let tcp = tcp.rules.filter(|_| has_tcp || tcp_written).map(|(table, _)| table);
    let (top, routing, arp, headers) = (top?, routing?, arp?, headers?);
    let spec = WorldSpec {
        duration,
        warmup,
        radios: radios.kinds.iter().flatten().map(|(_, spec)| spec.clone()).collect(),
        nodes: nodes.specs.clone(),
        links: link_specs,
        gains: gain_specs,
        gain_changes,
        movement,
        schemes: nodes
            .schemes
            .iter()
            .map(|(node, name)| NodeScheme {
                node: *node,
                scheme: name.clone(),
                params: schemes.get(name).cloned().unwrap_or_default(),
            })
            .collect(),
        flows: flows.specs.clone(),
        controllers: controller_specs,
        routing: routing_spec,
        hop_limit: routing.hop_limit,
        arp: ArpSpec {
            prefilled: arp.prefilled,
            waiting_packets: arp.waiting_packets,
            retry: arp.retry,
            attempts: arp.attempts,
        },
        headers: header_specs?,
        memory_limit: top.memory_limit,
    };
    cx.warnings.extend(warn_of_many_packets(&spec));
    cx.warnings.extend(warn_of_dscps(&radios, &spec));
    let movement = movements.pairs(&spec.movement);
    Some((
        Model {
            top,
            radios,
            nodes,
            movement,
            links,
            gains,
            controllers,
            flows,
            routing,
            protocols,
            arp,
            headers,
            tcp,
            schemes,
        },
        spec,
    ))
}

/// A run of a flow with more packets takes hours.
const MANY_PACKETS: f64 = 1e9;

/// Warnings about UDP flows that make very many packets, since no full queue stops their sources.
fn warn_of_many_packets(spec: &WorldSpec) -> Vec<String> {
    let radio = |&i: &usize| spec.radios.get(i).is_some_and(|radio| !radio.mac.backpressure);
    let unchecked =
        |flow: &&FlowSpec| spec.nodes.get(flow.from).is_some_and(|node| node.radios.iter().any(radio));
    let made = |flow: &FlowSpec| {
        let (Traffic::ConstantRate { rate, packet, .. } | Traffic::Poisson { rate, packet, .. }) =
            flow.traffic
        else {
            return None;
        };
        let seconds = (flow.stop.min(Time::ZERO + spec.duration).0.saturating_sub(flow.start.0)) as f64 / 1e9;
        let packets = rate.0 as f64 / 8.0 / packet.0.max(1) as f64 * seconds;
        (packets > MANY_PACKETS).then(|| {
            format!(
                "flow \"{}\" makes some {:.0} million packets, since `backpressure = false` lets no full queue hold it back: expected \
                 a lower rate, larger packets or a shorter run",
                flow.id,
                packets / 1e6
            )
        })
    };
    spec.flows.iter().filter(unchecked).filter_map(made).collect()
}

fn resolve_headers(t: &HeadersTable, cx: &mut Cx<'_>) -> HeaderSpec {
    // The table's range keeps every length below 2^16.
    let len = |b: Bytes| u32::try_from(b.0).unwrap_or(u32::MAX);
    if let Some(problem) = t.tcp.0.and_then(|tcp| outside(&tcp, &HEADERS)) {
        let path = Path::ROOT.child("headers");
        cx.error(t.locations.of("tcp"), &path.child("tcp"), || format!("{}: {problem}", t.tcp.write()));
    }
    HeaderSpec {
        udp: len(t.udp),
        tcp: t.tcp.0.map(len),
        ip: len(t.ip),
        llc: len(t.llc),
        mac: len(t.mac),
        wired: len(t.wired),
    }
}

/// Sets the parameters of each flow's law.
fn set_law_params(flows: &mut [FlowSpec], schemes: &BTreeMap<String, Params>) {
    for flow in flows {
        if let Transport::Tcp { law, params, .. }
        | Transport::Rate { law, params, .. }
        | Transport::ControlledUdp { law, params, .. } = &mut flow.transport
            && let Some(read) = schemes.get(law)
        {
            *params = read.clone();
        }
    }
}

fn links(
    root: &Table,
    nodes: &Nodes,
    tcp: &Tcp,
    duration: Span,
    cx: &mut Cx<'_>,
) -> (Vec<LinkTable>, Vec<LinkSpec>) {
    let (mut tables, mut specs) = (Vec::new(), Vec::new());
    let mut linked = BTreeSet::new();
    let parent = Path::ROOT.child("link");
    for row in blocks(root, "link", cx) {
        let path = parent.child(&row.label);
        let Some(mut table) = LinkTable::read_table(row.table, &path, cx, &OtherKeys::default()) else {
            continue;
        };
        let (at, ends_path) = (table.locations.of("ends"), path.child("ends"));
        let [a, b] = &table.ends;
        let (i, j) = (nodes.names.find(a, at, &ends_path, cx), nodes.names.find(b, at, &ends_path, cx));
        if a == b {
            cx.error(at, &ends_path, || format!("both ends are \"{}\"; expected two nodes", a.0));
        } else if !linked.insert((a.clone().min(b.clone()), a.clone().max(b.clone()))) {
            cx.error(at, &ends_path, || format!("\"{}\" and \"{}\" are linked already", a.0, b.0));
        }
        specs.push(LinkSpec {
            ends: [i.unwrap_or_default(), j.unwrap_or_default()],
            rate: table.rate,
            rate_changes: rate_changes(&table, duration, &path, cx),
            delay: table.delay,
            loss: table.loss,
            loss_every: table.loss_every,
            queue: QueueSpec { packets: table.queue_packets },
            local_limit: table
                .local_limit
                .get_or_insert(Or::maybe(tcp.limits_local().then_some(WIRE_LIMIT)))
                .0,
        });
        tables.push(table);
    }
    (tables, specs)
}

/// Every `[[controller]]`. Two at one node must not run at the same time.
fn controllers(root: &Table, nodes: &Nodes, cx: &mut Cx<'_>) -> (Vec<ControllerTable>, Vec<ControllerSpec>) {
    let (mut tables, mut specs) = (Vec::new(), Vec::<ControllerSpec>::new());
    let parent = Path::ROOT.child("controller");
    for row in blocks(root, "controller", cx) {
        let path = parent.child(&row.label);
        let Some(table) = ControllerTable::read_table(row.table, &path, cx, &OtherKeys::default()) else {
            continue;
        };
        let node = nodes.names.find(&table.node, table.locations.of("node"), &path.child("node"), cx);
        let (start, stop) = (Time(table.start.0), table.stop.map(|stop| Time(stop.0)));
        if stop.is_some_and(|stop| stop <= start) {
            let start = table.start.write();
            cx.error(table.locations.of("stop"), &path.child("stop"), || {
                format!("not after its start; expected more than {start}")
            });
        } else if let Some(node) = node {
            let spec = ControllerSpec { node, start, stop };
            if specs.iter().any(|other| spec.overlaps(other)) {
                cx.error(row.table.at, &path, || {
                    format!(
                        "\"{}\" has a controller at this time already; expected times that do not overlap",
                        table.node.0
                    )
                });
            }
            specs.push(spec);
        }
        tables.push(table);
    }
    (tables, specs)
}

/// The changes of a link's rate; each must be later than the one before.
fn rate_changes(link: &LinkTable, duration: Span, path: &Path<'_>, cx: &mut Cx<'_>) -> Vec<RateChange> {
    let mut changes: Vec<RateChange> = Vec::with_capacity(link.rate_changes.len());
    let path = path.child("rate_changes");
    for (i, keys::network::RateChange(change)) in link.rate_changes.iter().enumerate() {
        let at = Time(change.at.0);
        if let Some(before) = changes.last().filter(|before| before.at >= at) {
            let before = Span(before.at.0).write();
            cx.error(change.locations.of("at"), &path.child(&i.to_string()).child("at"), || {
                format!("{}: not after the change before; expected more than {before}", change.at.write())
            });
        }
        changes.push(RateChange { at, rate: change.rate });
    }
    let [a, b] = &link.ends;
    let what = || format!("the rate of link \"{}\"-\"{}\"", a.0, b.0);
    cx.warnings.extend(warn_of_late_changes(changes.iter().map(|change| change.at), duration, what));
    changes
}

/// A warning if some of the changes of `what`, whose times these are, are not before the end of the run.
fn warn_of_late_changes(
    times: impl ExactSizeIterator<Item = Time>,
    duration: Span,
    what: impl FnOnce() -> String,
) -> Option<String> {
    let all = times.len();
    let late: Vec<Time> = times.filter(|at| at.0 >= duration.0).collect();
    let first = Span(late.first()?.0).write();
    Some(match late.len() {
        1 => format!("{}: the change at {first} is not before the end of the run and has no effect", what()),
        count => format!(
            "{}: {count} of {all} changes, the first at {first}, are not before the end of the run and have no effect",
            what()
        ),
    })
}

/// Reads every `[[gain]]`, with at most `most` changes in all, and adds the gains of the generator of nodes.
fn gains(
    root: &Table,
    nodes: &Nodes,
    duration: Span,
    most: u64,
    cx: &mut Cx<'_>,
) -> (Vec<GainTable>, Vec<GainSpec>, Vec<GainChangeSpec>) {
    let (mut tables, mut specs, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut known, mut listed) = (BTreeSet::new(), 0);
    let parent = Path::ROOT.child("gain");
    for row in blocks(root, "gain", cx) {
        let path = parent.child(&row.label);
        let Some(mut table) = GainTable::read_table(row.table, &path, cx, &OtherKeys::default()) else {
            continue;
        };
        changes_from_file(&mut table, &path, cx);
        listed += table.changes.as_ref().map_or(0, |changes| changes.len() as u64);
        // Many gains may name one long list: reading stops at the first that exceeds the limit.
        if listed > most {
            cx.error(root.at, &parent, || {
                format!("{listed} changes or more of all gains; expected at most {most}")
            });
            break;
        }
        let from = nodes.names.find(&table.from, table.locations.of("from"), &path.child("from"), cx);
        let to = nodes.names.find(&table.to, table.locations.of("to"), &path.child("to"), cx);
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from == to {
            cx.error(table.locations.of("to"), &path.child("to"), || {
                format!("\"{}\": a node has no path to itself; expected another node", table.to.0)
            });
        }
        for (key, end, name) in [("from", from, &table.from), ("to", to, &table.to)] {
            // The list as it is written: a radio of an unknown kind has an error of its own.
            let radios = nodes.tables.get(end).and_then(|node| node.radios.as_ref());
            if radios.is_some_and(Vec::is_empty) {
                cx.error(table.locations.of(key), &path.child(key), || {
                    format!("{}: this node has no radio; expected a node with one", quoted(&name.0))
                });
            }
        }
        let directions: &[(usize, usize)] =
            if table.both { &[(from, to), (to, from)] } else { &[(from, to)] };
        for &(from, to) in directions {
            if !known.insert((from, to)) && from != to {
                cx.error(row.table.at, &path, || "the gain of this direction is given already".to_string());
            }
            specs.push(GainSpec { from, to, gain: table.gain });
        }
        let times = gain_changes(&table, duration, &path, cx);
        for &(from, to) in directions {
            let every = table.period;
            changes.extend(times.iter().map(|&(at, gain)| GainChangeSpec { from, to, at, gain, every }));
        }
        tables.push(table);
    }
    for (at, a, b, gain) in &nodes.gains {
        let find = |name: &String| {
            nodes.names.find(&Name(name.clone()), *at, &Path::ROOT.child("nodes"), &mut Cx::new("", &[]))
        };
        let (Some(i), Some(j)) = (find(a), find(b)) else { continue };
        let free: Vec<(usize, usize)> =
            [(i, j), (j, i)].into_iter().filter(|pair| !known.contains(pair)).collect();
        let both = free.len() == 2;
        for (n, &(from, to)) in free.iter().enumerate() {
            specs.push(GainSpec { from, to, gain: *gain });
            if n == 0 {
                let (from, to) = if from == i { (a, b) } else { (b, a) };
                let (locations, from, to) = (Locations::new(*at), Name(from.clone()), Name(to.clone()));
                tables.push(GainTable {
                    locations,
                    from,
                    to,
                    gain: *gain,
                    both,
                    changes: None,
                    file: None,
                    period: None,
                });
            }
        }
    }
    (tables, specs, changes)
}

/// Puts the content of a gain's CSV file into its `changes`, so that the complete form needs no other file.
fn changes_from_file(table: &mut GainTable, path: &Path<'_>, cx: &mut Cx<'_>) {
    let Some(file) = table.file.take() else { return };
    let at = table.locations.of("file");
    if table.locations.has("changes") {
        match precedence(at, table.locations.of("changes")) {
            Precedence::First => {}
            Precedence::Second => return,
            Precedence::Conflict => {
                cx.error(table.locations.of("changes"), &path.child("changes"), || {
                    "`file` gives the same list; write one of them".to_string()
                });
                return;
            }
        }
    }
    let listed: Option<Vec<ListedChange>> = csv::read(&file, table.period, (at, &path.child("file")), cx);
    let change = |ListedChange(time, gain)| {
        keys::network::GainChange(GainChangeTable { locations: Locations::new(at), at: time, gain })
    };
    table.changes = listed.map(|listed| listed.into_iter().map(change).collect());
}

/// The times of a gain's changes with the new gains, the return to the first gain after a period included.
fn gain_changes(table: &GainTable, duration: Span, path: &Path<'_>, cx: &mut Cx<'_>) -> Vec<(Time, Db)> {
    let written = table.changes.as_deref().unwrap_or_default();
    let mut changes: Vec<(Time, Db)> = Vec::with_capacity(written.len() + 1);
    let list = path.child("changes");
    for (i, keys::network::GainChange(change)) in written.iter().enumerate() {
        let at = Time(change.at.0);
        let problem = if let Some(before) = changes.last().filter(|before| before.0 >= at) {
            let before = Span(before.0.0).write();
            Some(format!("not after the change before; expected more than {before}"))
        } else {
            let late = table.period.filter(|period| change.at >= *period);
            late.map(|period| format!("not before the period's end; expected less than {}", period.write()))
        };
        if let Some(problem) = problem {
            cx.error(change.locations.of("at"), &list.child(&i.to_string()).child("at"), || {
                format!("{}: {problem}", change.at.write())
            });
        }
        changes.push((at, change.gain));
    }
    let last = changes.last().map(|last| last.0);
    match (table.period, last) {
        (Some(period), Some(_)) => changes.push((Time(period.0), table.gain)),
        // A file that cannot be read has its own error.
        (Some(_), None) if table.changes.is_none() && table.locations.has("file") => {}
        (Some(period), None) => cx.error(table.locations.of("period"), &path.child("period"), || {
            format!("{}: there are no changes to repeat; expected `changes` or `file`", period.write())
        }),
        _ => {}
    }
    let what = || format!("the gain from \"{}\" to \"{}\"", table.from.0, table.to.0);
    let times = changes.iter().map(|change| change.0).take(written.len());
    cx.warnings.extend(warn_of_late_changes(times, duration, what));
    changes
}

/// The schemes of the run.
fn run_schemes<'r>(top: Option<&TopTable>, cx: &mut Cx<'r>) -> Vec<&'r SchemeEntry> {
    let Some(top) = top else { return Vec::new() };
    let place = (top.locations.of("scheme"), &Path::ROOT.child("scheme"));
    let registry = cx.schemes;
    let found: Vec<_> =
        top.scheme.names().filter_map(|name| scheme_params::find(registry, name, place, cx)).collect();
    let parts = found.iter().map(|&entry| (entry.clone(), Params::default())).collect();
    if let Err(problem) = SchemeEntry::combined("", parts) {
        cx.error(place.0, place.1, || format!("{}: {problem}", quoted(&top.scheme.0)));
    }
    found
}

/// The parameters of every scheme that runs, at flows and nodes (`used`) or as the run's, and of those that the file configures.
fn schemes<'a>(
    root: &Table,
    top: Option<&'a TopTable>,
    mut used: BTreeSet<&'a str>,
    cx: &mut Cx<'_>,
) -> BTreeMap<String, Params> {
    let registry = cx.schemes;
    let parent = Path::ROOT.child("schemes");
    let written = single(root, "schemes", cx);
    used.extend(top.into_iter().flat_map(|top| top.scheme.names()));
    let mut out = BTreeMap::new();
    for (name, entry) in written.map(|t| &t.entries).into_iter().flatten() {
        let path = parent.child(name);
        let Some(scheme) = scheme_params::find(registry, name, (entry.key_at, &path), cx) else {
            continue;
        };
        match entry.item.table() {
            Some(table) => {
                out.insert(name.clone(), scheme_params::read(scheme, Some(table), &path, cx));
            }
            None => cx.error(entry.item.at, &path, || {
                format!("{} stands here; expected a table of parameters", entry.item.kind())
            }),
        }
    }
    for name in used {
        if let Some(scheme) = registry.find(name).filter(|_| !out.contains_key(name)) {
            out.insert(name.to_string(), scheme_params::read(scheme, None, &parent, cx));
        }
    }
    out
}
