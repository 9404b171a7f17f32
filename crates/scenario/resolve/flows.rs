//! From the tables of flows to their specifications: flows that are written and flows that are drawn.

use std::collections::BTreeSet;

use airfair_schemes::places::HeaderKind;
use airfair_schemes::{Carrier, Params, Registry, SchemeEntry};
use airfair_sim::spec::{FlowSpec, Traffic, Transport};
use airfair_sim::without_room;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Span, Time};

use crate::declare::field::{Field, LONGEST};
use crate::declare::name::{Name, name_problem};
use crate::declare::table::OtherKeys;
use crate::keys::inherit::hoist;
use crate::keys::scheme_name::LawName;
use crate::keys::scheme_params;
use crate::keys::traffic::{FlowTable, FlowsTable, RandomFlowsTable};
use crate::keys::transport::{TransportChoice, laws};
use crate::resolve::blocks::{Names, blocks, generator};
use crate::resolve::file_traffic::only_tcp;
use crate::resolve::nodes::Nodes;
use crate::resolve::tcp::{Tcp, warn_of_delayed_acks};
use crate::text::error::{Cx, one_of, quoted};
use crate::text::limits::Limits;
use crate::text::location::Path;
use crate::text::tree::{Located, Table, Value};

/// The flows: their complete tables and their specifications.
pub(crate) struct Flows {
    pub tables: Vec<FlowTable>,
    pub specs: Vec<FlowSpec>,
    /// Schemes whose sources the flows use.
    pub laws: BTreeSet<String>,
    names: Names,
    /// Files in the lists of all flows.
    listed: u64,
}

/// The parts of a scenario on which its flows depend.
pub(crate) struct FlowContext<'a> {
    pub nodes: &'a Nodes,
    pub tcp: &'a Tcp,
    /// The scheme of the run, if the registry has it.
    pub run: &'a [&'a SchemeEntry],
    pub duration: Span,
    pub warmup: Span,
    pub limits: &'a Limits,
}

/// The model of a flow, or of every flow that is drawn: its transport and its traffic.
#[derive(Clone)]
struct FlowModel {
    transport: Transport,
    traffic: Traffic,
}

impl FlowModel {
    /// The number of files in the list of its traffic.
    fn files(&self) -> u64 {
        match &self.traffic {
            Traffic::List { files } => files.len() as u64,
            _ => 0,
        }
    }
}

/// Reads every `[[flow]]` and runs `[flows]`.
pub(crate) fn flows(root: &Table, context: &FlowContext<'_>, cx: &mut Cx<'_>) -> Flows {
    let mut flows = Flows {
        tables: Vec::new(),
        specs: Vec::new(),
        laws: BTreeSet::new(),
        names: Names::of("flow"),
        listed: 0,
    };
    let rows = blocks(root, "flow", cx);
    let generator = generator(root, "flows", "flow", cx).and_then(|node| read_generator(node, cx));
    let drawn = generator.as_ref().map_or(0, |g| u64::from(g.count));
    if rows.len() as u64 + drawn > context.limits.flows {
        let (key, at) = generator.as_ref().map_or(("flow", root.at), |g| ("flows", g.locations.of("count")));
        cx.error(at, &Path::ROOT.child(key), || {
            format!("{} flows; expected at most {}", rows.len() as u64 + drawn, context.limits.flows)
        });
        return flows;
    }
    let parent = Path::ROOT.child("flow");
    for row in &rows {
        let path = parent.child(&row.label);
        let mut table = row.table.clone();
        hoist(&mut table, &path, cx);
        if let Some(mut flow) = FlowTable::read_table(&table, &path, cx, &OtherKeys::default()) {
            flows.names.add(&flow.id.0, flow.locations.of("id"), &path.child("id"), cx);
            let model = flow_model(&mut flow, context, &path, cx);
            push(&mut flows, flow, model, context, &path, cx);
        } else {
            // The ends are checked whatever else is wrong with the flow.
            for key in ["from", "to"] {
                let (Some(node), path) = (table.get(key), path.child(key)) else { continue };
                if let Some(name) = Name::read(node, &path, cx) {
                    context.nodes.names.find(&name, node.at, &path, cx);
                }
            }
        }
        // Many flows may name one long list: reading stops at the first that exceeds the limit.
        if flows.listed > context.limits.listed {
            break;
        }
    }
    if let Some(generator) = generator {
        draw(&mut flows, generator, context, cx);
    }
    if flows.listed > context.limits.listed {
        cx.error(root.at, &Path::ROOT.child("flow"), || {
            format!(
                "{} files or more in the lists of all flows; expected at most {}",
                flows.listed, context.limits.listed
            )
        });
    }
    if flows.specs.is_empty() {
        cx.warnings.push("there are no flows: nothing is sent".to_string());
    }
    flows
}

fn read_generator(node: &Located, cx: &mut Cx<'_>) -> Option<RandomFlowsTable> {
    let path = Path::ROOT.child("flows");
    let mut node = node.clone();
    if let Value::Table(table) = &mut node.value {
        hoist(table, &path, cx);
    }
    let FlowsTable::Random(table) = FlowsTable::read(&node, &path, cx)?;
    Some(table)
}

/// The model of a flow: its transport with its own rules, and its traffic. Errors are noted, and the rest is checked.
fn flow_model(
    table: &mut FlowTable,
    context: &FlowContext<'_>,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> FlowModel {
    let unreadable = table.transport.is_none() && table.locations.has("transport");
    let choice = *table.transport.get_or_insert(TransportChoice::Udp);
    table.start_jitter.get_or_insert(table.traffic.usual_jitter(choice));
    let transport = if unreadable { None } else { transport(table, choice, context.tcp, path, cx) };
    let udp = !matches!(choice, TransportChoice::Tcp(_));
    if let (true, Some(kind), false) = (udp, table.traffic.only_tcp(choice), unreadable) {
        cx.error(table.locations.of("traffic"), &path.child("traffic").child("kind"), || {
            only_tcp(kind, choice)
        });
    }
    let traffic = table.traffic.resolve(&path.child("traffic"), cx);
    let model = FlowModel { transport: transport.unwrap_or(Transport::Udp), traffic };
    if !unreadable {
        check_room(table, &model, context, path, cx);
    }
    model
}

/// Refuses packets that leave no room for the header of the flow's scheme.
fn check_room(
    table: &FlowTable,
    FlowModel { transport, traffic }: &FlowModel,
    context: &FlowContext<'_>,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) {
    let Some(packets) = without_room(transport, traffic, || header(transport, context.run, cx.schemes))
    else {
        return;
    };
    let mut error = |at, path: &Path<'_>| {
        cx.error(at, path, || format!("\"{} B\": {}", packets.size, packets.problem()));
    };
    let own = table.tcp.as_ref().and_then(|own| own.written.get("mss"));
    match (transport, own, &context.tcp.rules) {
        (Transport::Tcp { .. }, Some(own), _) => error(own.at, &path.child("tcp").child("mss")),
        (Transport::Tcp { .. }, None, Some((rules, _))) => {
            error(rules.locations.of("mss"), &Path::ROOT.child("tcp").child("mss"));
        }
        _ => error(table.traffic.locations().of("packet"), &path.child("traffic").child("packet")),
    }
}

/// The header of a flow's packets: that of its own scheme, else of the run's, else of the one that its transport names.
fn header(transport: &Transport, run: &[&SchemeEntry], schemes: &Registry) -> Option<&'static HeaderKind> {
    let (carrier, named, pinned) = match transport {
        Transport::Udp => (Carrier::Udp, None, false),
        Transport::PlainUdp => return None,
        Transport::ControlledUdp { law, pinned, .. } => (Carrier::Udp, schemes.find(law), *pinned),
        Transport::Rate { law, pinned, .. } => (Carrier::Rate, schemes.find(law), *pinned),
        Transport::Tcp { law, pinned, .. } => (Carrier::Tcp, schemes.find(law), *pinned),
    };
    let of_run = run.iter().copied().find(|run| !pinned && run.has_source(carrier));
    let law = of_run.or(named)?;
    // No header depends on parameters.
    let scheme = (law.build)(&Params::default()).ok()?;
    match carrier {
        Carrier::Tcp => scheme.source()?.header(),
        Carrier::Udp => scheme.udp()?.source.header(),
        Carrier::Rate => scheme.rate()?.source.header(),
    }
}

/// The transport of a flow with `scheme = "none"`.
fn plain_udp(
    table: &FlowTable,
    choice: TransportChoice,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<Transport> {
    let needs = match choice {
        TransportChoice::Tcp(_) => Some((Carrier::Tcp, "a flow over TCP has a window law")),
        TransportChoice::Rate(_) => Some((Carrier::Rate, "a flow over the transport with a rate has a law")),
        TransportChoice::Udp | TransportChoice::ControlledUdp(_) => None,
    };
    if let Some((carrier, needs)) = needs {
        let names: Vec<&str> = laws(cx.schemes, carrier).map(|law| law.name).collect();
        cx.error(table.locations.of("scheme"), &path.child("scheme"), || {
            format!("\"none\": {needs}; expected {}", one_of(&names))
        });
        return None;
    }
    if table.tcp.is_some() {
        cx.error(table.locations.of("tcp"), &path.child("tcp"), || NO_WINDOW.to_string());
    }
    Some(Transport::PlainUdp)
}

/// The problem of TCP's rules for a flow over UDP.
const NO_WINDOW: &str =
    "the flow is carried by UDP, which has no window; expected transport = \"tcp\" beside it";

/// The same for one over the transport with a rate.
const PACED: &str =
    "the flow is carried by a rate, which has no window; expected transport = \"tcp\" beside it";

fn transport(
    table: &mut FlowTable,
    choice: TransportChoice,
    tcp: &Tcp,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) -> Option<Transport> {
    let place = (table.locations.of("scheme"), &path.child("scheme"));
    if table.scheme.as_ref().is_some_and(LawName::is_none) {
        return plain_udp(table, choice, path, cx);
    }
    let own = match &table.scheme {
        Some(name) => Some(scheme_params::find(cx.schemes, &name.0, place, cx)?),
        None => None,
    };
    let without = |entry: &SchemeEntry, carrier, what, cx: &mut Cx<'_>| {
        let (at, path) = place;
        let schemes = cx.schemes;
        cx.error(at, path, || {
            let names: Vec<&str> = laws(schemes, carrier).map(|law| law.name).collect();
            format!("{}: this scheme has no {what}; expected {}", quoted(entry.name), one_of(&names))
        });
    };
    if let TransportChoice::Rate(law) = choice {
        if let Some(entry) = own.filter(|entry| !entry.has_source(Carrier::Rate)) {
            without(entry, Carrier::Rate, "source for the transport with a rate", cx);
        }
        if table.tcp.is_some() {
            cx.error(table.locations.of("tcp"), &path.child("tcp"), || PACED.to_string());
        }
        let payload = Bytes(u64::from(tcp.rules.as_ref()?.1.mss));
        let law = own.map_or(law, |entry| entry.name).to_string();
        return Some(Transport::Rate { law, params: Params::default(), pinned: own.is_some(), payload });
    }
    let TransportChoice::Tcp(law) = choice else {
        match own.filter(|entry| !entry.has_source(Carrier::Udp)) {
            Some(entry) if entry.has_source(Carrier::Tcp) => {
                cx.error(place.0, place.1, || NO_WINDOW.to_string())
            }
            Some(entry) => without(entry, Carrier::Udp, "source for UDP", cx),
            None => {}
        }
        if table.tcp.is_some() {
            cx.error(table.locations.of("tcp"), &path.child("tcp"), || NO_WINDOW.to_string());
        }
        let named = match choice {
            TransportChoice::ControlledUdp(law) => Some(law),
            _ => None,
        };
        let law = own.map_or(named, |entry| Some(entry.name));
        return Some(law.map_or(Transport::Udp, |law| Transport::ControlledUdp {
            law: law.to_string(),
            params: Params::default(),
            pinned: own.is_some(),
        }));
    };
    if let Some(entry) = own.filter(|entry| !entry.has_source(Carrier::Tcp)) {
        without(entry, Carrier::Tcp, "window law", cx);
    }
    let config = match &mut table.tcp {
        Some(own) => tcp.for_flow(own, &path.child("tcp"), cx)?,
        None => tcp.rules.as_ref()?.1,
    };
    warn_of_delayed_acks(&config, cx);
    let law = own.map_or(law, |entry| entry.name).to_string();
    // The parameters of the law are set when the schemes are read.
    Some(Transport::Tcp { config, law, params: Params::default(), pinned: own.is_some() })
}

/// Completes a flow and adds it.
fn push(
    flows: &mut Flows,
    table: FlowTable,
    model: FlowModel,
    context: &FlowContext<'_>,
    path: &Path<'_>,
    cx: &mut Cx<'_>,
) {
    let FlowContext { nodes, duration, warmup, .. } = *context;
    let from = nodes.names.find(&table.from, table.locations.of("from"), &path.child("from"), cx);
    let to = nodes.names.find(&table.to, table.locations.of("to"), &path.child("to"), cx);
    if table.from == table.to {
        cx.error(table.locations.of("to"), &path.child("to"), || {
            format!("{}: the flow's own source; expected another node", quoted(&table.to.0))
        });
    }
    if let Some(stop) = table.stop.0 {
        let problem = if stop > LONGEST {
            Some(format!("out of range; expected at most {}", LONGEST.write()))
        } else if stop <= table.start {
            Some(format!("not after the start; expected more than {}", table.start.write()))
        } else {
            None
        };
        if let Some(problem) = problem {
            cx.error(table.locations.of("stop"), &path.child("stop"), || {
                format!("{}: {problem}", stop.write())
            });
        }
    }
    if table.start >= duration {
        cx.warnings.push(format!("flow \"{}\" starts after the end of the run", table.id.0));
    }
    if table.stop.0.is_some_and(|stop| stop <= warmup) {
        cx.warnings.push(format!(
            "flow \"{}\" stops by the end of the warm-up, {warmup}: what it sends is not counted",
            table.id.0
        ));
    }
    if let Transport::Tcp { law, .. } | Transport::ControlledUdp { law, .. } | Transport::Rate { law, .. } =
        &model.transport
    {
        flows.laws.insert(law.clone());
    }
    flows.listed += model.files();
    flows.specs.push(FlowSpec {
        id: table.id.0.clone(),
        from: from.unwrap_or_default(),
        to: to.unwrap_or_default(),
        transport: model.transport,
        traffic: model.traffic,
        start: Time::ZERO + table.start,
        start_jitter: table.start_jitter.unwrap_or_default(),
        stop: table.stop.0.map_or(Time::NEVER, |stop| Time::ZERO + stop),
        dscp: table.dscp.0,
    });
    flows.tables.push(table);
}

/// Draws pairs of nodes from the sorted names, so that the order of the file has no influence.
fn draw(flows: &mut Flows, t: RandomFlowsTable, context: &FlowContext<'_>, cx: &mut Cx<'_>) {
    let path = Path::ROOT.child("flows");
    if !context.nodes.names.complete {
        return;
    }
    let nodes = context.nodes.names.sorted();
    let pairs = (nodes.len() as u64) * (nodes.len() as u64).saturating_sub(1);
    if u64::from(t.count) > pairs {
        cx.error(t.locations.of("count"), &path.child("count"), || {
            format!("{}: more flows than pairs of nodes; expected at most {pairs}", t.count)
        });
        return;
    }
    let (seed, count, prefix, locations) = (t.seed, t.count, t.prefix.clone(), t.locations.clone());
    let mut template = t.flow();
    let model = flow_model(&mut template, context, &path, cx);
    let listed = model.files().saturating_mul(u64::from(count)).saturating_add(flows.listed);
    if listed > context.limits.listed {
        flows.listed = listed;
        return;
    }
    let mut stream = Stream::new(seed, "flows", Purpose::Placement);
    // There are at least two nodes, since there are pairs, and less than 2^32, by the limit of nodes.
    let most = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let mut drawn = BTreeSet::new();
    for i in 0..count {
        let (from, to) = loop {
            let from = stream.below(most);
            let other = stream.below(most - 1);
            let pair = (from as usize, if other >= from { other + 1 } else { other } as usize);
            if drawn.insert(pair) {
                break pair;
            }
        };
        let id = format!("{}{i}", prefix);
        if let Some(problem) = name_problem(&id) {
            cx.error(locations.of("prefix"), &path.child("prefix"), || format!("{}: {problem}", quoted(&id)));
            return;
        }
        flows.names.add(&id, locations.of("prefix"), &path.child("prefix"), cx);
        let name = |i: usize| Name(nodes.get(i).map_or_else(String::new, |n| (*n).to_string()));
        let table = FlowTable { id: Name(id), from: name(from), to: name(to), ..template.clone() };
        push(flows, table, model.clone(), context, &path, cx);
    }
}
