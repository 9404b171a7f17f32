//! The explanation of a flow's goodput, as JSON. Keys are written in the order of the fields.

use std::collections::BTreeMap;

use airfair_scenario::Scenario;
use airfair_sim::World;
use airfair_sim::engine::drive::Steppable;
use airfair_sim::ids::{FlowIx, Ix};
use airfair_sim::observe::explain::{
    Activity, AllocationExplanation, Attempts, CategoriesExplanation, Compared, DifferentialExplanation,
    Explanation, HoldTime, HopExplanation, LevelCounts, QueueExplanation, RouteExplanation, Sending, Shares,
    TcpExplanation, share_of_due,
};
use airfair_sim::spec::RoutingSpec;
use airfair_units::{Span, Time};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::contract::{Inhibited, json};
use crate::drive::{self, Stop};
use crate::error::{input_error, unknown};
use crate::hosted::Hosted;

/// Intervals of the time line.
const INTERVALS: u64 = 120;

#[derive(Serialize)]
struct Explained<'a> {
    scenario: &'a str,
    scheme: &'a str,
    seed: u64,
    version: &'a str,
    flow: &'a str,
    src: &'a str,
    dst: &'a str,
    from_s: f64,
    until_s: f64,
    standing: &'static str,
    goodput_bps: f64,
    mean_delay_s: Option<f64>,
    p99_delay_s: Option<f64>,
    loss_ratio: Option<f64>,
    sent_packets: u64,
    mean_goodput_bps: f64,
    offered_bps: Option<f64>,
    flows: Vec<Goodput<'a>>,
    hops: Vec<Hop<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    awaited_route_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<Route<'a>>,
    drops: Vec<Drop<'a>>,
    tcp: Option<Tcp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allocation: Option<Allocation<'a>>,
    timeline: &'a Timeline,
    warnings: Vec<&'a str>,
}

#[derive(Serialize)]
struct Goodput<'a> {
    id: &'a str,
    goodput_bps: f64,
}

/// The route of the flow, where a protocol maintains routes; `lost`: by the links of its paths, most losses first.
#[derive(Serialize)]
struct Route<'a> {
    without_ns: u64,
    lost: Vec<LostLink<'a>>,
}

#[derive(Serialize)]
struct LostLink<'a> {
    src: &'a str,
    dst: &'a str,
    times: u64,
}

#[derive(Serialize)]
struct Drop<'a> {
    node: &'a str,
    reason: &'a str,
    data: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    opening: bool,
    packets: u64,
}

/// The shares that a controller and agents have given the flow.
#[derive(Serialize)]
struct Allocation<'a> {
    packet_bytes: u32,
    stamped: bool,
    smallest_bps: Option<f64>,
    limits: Vec<Limit<'a>>,
    shares: Vec<FlowShare<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inhibited_links: Option<Vec<Inhibited<'a>>>,
}

/// `part`: of the samples.
#[derive(Serialize)]
struct Limit<'a> {
    controller: &'a str,
    stopped_s: Option<f64>,
    part: f64,
    rate_bps: f64,
    capacity: f64,
    links: Vec<Ends<'a>>,
    overloaded: Vec<Overloaded<'a>>,
}

#[derive(Serialize)]
struct Ends<'a> {
    src: &'a str,
    dst: &'a str,
}

/// `part`: of the samples in which the set limited the flow.
#[derive(Serialize)]
struct Overloaded<'a> {
    src: &'a str,
    dst: &'a str,
    part: f64,
}

/// `part` and `smallest`: of the samples; `allocated`: of those with a share here.
#[derive(Serialize)]
struct FlowShare<'a> {
    src: &'a str,
    dst: &'a str,
    part: f64,
    smallest: f64,
    allocated: Option<f64>,
    share_bps: f64,
    scale: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    air: Option<Air>,
}

/// Parts of the time.
#[derive(Serialize)]
struct Air {
    share: f64,
    used: f64,
    borrowed: f64,
    lent: f64,
}

#[derive(Serialize)]
struct Hop<'a> {
    forward: bool,
    src: &'a str,
    dst: &'a str,
    wired: bool,
    observed_ns: u64,
    no_packet_ns: u64,
    own_turn_ns: BTreeMap<&'static str, u64>,
    others_turn_ns: BTreeMap<&'static str, u64>,
    behind: Vec<Behind<'a>>,
    holders: Vec<Holder<'a>>,
    overlapped_ns: u64,
    holding_flows: Vec<Holder<'a>>,
    flows_overlapped_ns: u64,
    attempts: Option<AttemptsJson<'a>>,
    queue: Queue<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Categories<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differential: Option<Differential<'a>>,
}

/// Queue differentials with which packets of the flow left a hop's queue, and their levels, the highest first.
#[derive(Serialize)]
struct Differential<'a> {
    packets: u64,
    mean_packets: f64,
    levels: Vec<Level<'a>>,
}

#[derive(Serialize)]
struct Level<'a> {
    level: Option<&'a str>,
    packets: u64,
    higher_ns: u64,
    others_ns: u64,
}

/// Access categories of a hop's sender, the highest priority first.
#[derive(Serialize)]
struct Categories<'a> {
    names: &'a [String],
    own: Vec<OwnCategory<'a>>,
    others: Vec<OtherCategory<'a>>,
}

#[derive(Serialize)]
struct OwnCategory<'a> {
    category: &'a str,
    ns: u64,
}

#[derive(Serialize)]
struct OtherCategory<'a> {
    category: &'a str,
    access_ns: u64,
    txop_ns: u64,
    collision_ns: u64,
    collisions: u64,
    given_up: u64,
}

/// The queue of a hop's sender; `held`: the mean number of packets of each flow that it held when it dropped one of the flow's.
#[derive(Serialize)]
struct Queue<'a> {
    settings: &'a str,
    backpressure: bool,
    local_limit_ns: Option<u64>,
    dropped: u64,
    held: Vec<Waits<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labelled_by: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    gives_categories: bool,
}

#[derive(Serialize)]
struct Waits<'a> {
    flow: Option<&'a str>,
    forward: bool,
    packets: f64,
    local: bool,
    tcp: bool,
}

#[derive(Serialize)]
struct Behind<'a> {
    flow: Option<&'a str>,
    forward: bool,
    ns: u64,
}

/// `id` is a node or a flow.
#[derive(Serialize)]
struct Holder<'a> {
    id: Option<&'a str>,
    alone_ns: u64,
    joint_ns: u64,
    nav_ns: u64,
    eifs_ns: u64,
}

#[derive(Serialize)]
struct AttemptsJson<'a> {
    exchanges: u64,
    rts: u64,
    data: u64,
    no_cts: u64,
    no_ack: u64,
    given_up: u64,
    causes: Vec<Cause<'a>>,
}

#[derive(Serialize)]
struct Cause<'a> {
    missing: &'static str,
    why: &'static str,
    by: Option<&'a str>,
    of: Option<&'a str>,
    hidden: bool,
    count: u64,
}

#[derive(Serialize)]
struct Tcp {
    observed_ns: u64,
    waited_ns: BTreeMap<&'static str, u64>,
    timeouts: u64,
    timeouts_under_way: u64,
    syn_timeouts: u64,
    connections: u64,
    unopened: u64,
    fast_losses: u64,
    marks: u64,
    timeout_times_s: Vec<f64>,
    rto_waits_s: Vec<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timer: Option<RunningTimer>,
}

#[derive(Serialize)]
struct RunningTimer {
    since_s: f64,
    until_s: f64,
    expiries: u32,
    doublings: u32,
}

/// The run in intervals, the warm-up included: events of the flow, and at the hop ahead where its packets spend
/// most time.
#[derive(Serialize)]
struct Timeline {
    end_s: Vec<f64>,
    goodput_bps: Vec<f64>,
    window_bytes: Vec<Option<u64>>,
    /// The place of the hop ahead among the hops; none if there is no route.
    hop: Option<usize>,
    no_packet_ns: Vec<u64>,
    own_turn_ns: BTreeMap<&'static str, Vec<u64>>,
    others_turn_ns: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differentials: Vec<HopDifferentials>,
}

/// Queue differentials of a hop ahead over time.
#[derive(Serialize)]
struct HopDifferentials {
    /// The place of the hop among the hops.
    hop: usize,
    /// Mean of the packets that left the queue in each interval; none if there were none.
    mean_packets: Vec<Option<f64>>,
}

/// Activities of a hop's sender: [`Activity::Category`] only where the sender has several, [`Activity::Held`] only where its queue may
/// hold packets back.
fn activities(hop: Option<&HopExplanation>) -> impl Iterator<Item = Activity> + use<> {
    let has_categories = hop.is_some_and(|hop| hop.categories.is_some());
    let holds = hop.is_some_and(|hop| hop.queue.holds_back);
    Activity::ALL.into_iter().filter(move |doing| match doing {
        Activity::Category => has_categories,
        Activity::Held => holds,
        _ => true,
    })
}

fn named(hop: &HopExplanation, shares: &Shares) -> BTreeMap<&'static str, u64> {
    activities(Some(hop)).map(|doing| (doing.name(), shares[doing as usize])).collect()
}

/// In the order of the time for which they held it, the longest first.
fn holders(by: &BTreeMap<Option<String>, HoldTime>) -> Vec<Holder<'_>> {
    let mut list: Vec<_> = by.iter().collect();
    list.sort_by_key(|(_, held)| std::cmp::Reverse(held.sum()));
    list.into_iter()
        .map(|(id, held)| Holder {
            id: id.as_deref(),
            alone_ns: held.alone,
            joint_ns: held.joint,
            nav_ns: held.nav,
            eifs_ns: held.eifs,
        })
        .collect()
}

impl<'a> From<&'a RouteExplanation> for Route<'a> {
    fn from(r: &'a RouteExplanation) -> Self {
        let link = |((src, dst), times): &'a ((String, String), u64)| LostLink { src, dst, times: *times };
        let mut lost: Vec<LostLink<'_>> = r.lost.iter().map(link).collect();
        lost.sort_by_key(|link| std::cmp::Reverse(link.times));
        Self { without_ns: r.without, lost }
    }
}

impl<'a> From<&'a HopExplanation> for Hop<'a> {
    fn from(h: &'a HopExplanation) -> Self {
        let mut behind: Vec<Behind<'_>> = h
            .behind
            .iter()
            .map(|((flow, forward), &ns)| Behind { flow: flow.as_deref(), forward: *forward, ns })
            .collect();
        behind.sort_by_key(|b| std::cmp::Reverse(b.ns));
        Self {
            forward: h.forward,
            src: &h.from,
            dst: &h.to,
            wired: h.wired,
            observed_ns: h.observed,
            no_packet_ns: h.no_packet,
            own_turn_ns: named(h, &h.own_turn),
            others_turn_ns: named(h, &h.others_turn),
            behind,
            holders: holders(&h.holders),
            overlapped_ns: h.overlapped,
            holding_flows: holders(&h.holding_flows),
            flows_overlapped_ns: h.flows_overlapped,
            attempts: h.attempts.as_ref().map(AttemptsJson::from),
            queue: Queue::from(&h.queue),
            categories: h.categories.as_ref().map(Categories::from),
            differential: h.differential.as_ref().map(Differential::from),
        }
    }
}

impl<'a> From<&'a AllocationExplanation> for Allocation<'a> {
    fn from(a: &'a AllocationExplanation) -> Self {
        let part = |samples: u64, of: u64| samples as f64 / of.max(1) as f64;
        let ends = |(src, dst): &'a (String, String)| Ends { src, dst };
        let limits = a.limits.iter().map(|limit| Limit {
            controller: &limit.controller,
            stopped_s: limit.stopped.map(|ns| ns as f64 / 1e9),
            part: part(limit.samples, a.samples),
            rate_bps: limit.rate_bps,
            capacity: limit.capacity,
            links: limit.links.iter().map(ends).collect(),
            overloaded: limit
                .overloaded
                .iter()
                .map(|((src, dst), samples)| Overloaded { src, dst, part: part(*samples, limit.samples) })
                .collect(),
        });
        let shares = a.shares.iter().map(|share| FlowShare {
            src: &share.from,
            dst: &share.to,
            part: part(share.samples, a.share_samples),
            smallest: part(share.smallest, a.share_samples),
            allocated: share.allocated.map(|samples| part(samples, share.samples)),
            share_bps: share.share_bps,
            scale: share.scale,
            air: share.air.map(|air| Air {
                share: air.share,
                used: air.used,
                borrowed: air.borrowed,
                lent: air.lent,
            }),
        });
        Self {
            packet_bytes: a.packet_bytes,
            stamped: a.stamped,
            smallest_bps: a.smallest_bps,
            limits: limits.collect(),
            shares: shares.collect(),
            inhibited_links: a.inhibited.as_ref().map(|links| links.iter().map(Inhibited::from).collect()),
        }
    }
}

impl<'a> From<&'a DifferentialExplanation> for Differential<'a> {
    fn from(d: &'a DifferentialExplanation) -> Self {
        let level = |(level, counts): &'a (Option<String>, LevelCounts)| Level {
            level: level.as_deref(),
            packets: counts.packets,
            higher_ns: counts.higher,
            others_ns: counts.others,
        };
        Self { packets: d.packets, mean_packets: d.mean(), levels: d.levels.iter().map(level).collect() }
    }
}

impl<'a> From<&'a CategoriesExplanation> for Categories<'a> {
    fn from(c: &'a CategoriesExplanation) -> Self {
        Self {
            names: &c.names,
            own: c.own.iter().map(|(category, ns)| OwnCategory { category, ns: *ns }).collect(),
            others: c
                .others
                .iter()
                .map(|(category, time)| OtherCategory {
                    category,
                    access_ns: time.access,
                    txop_ns: time.txop,
                    collision_ns: time.collision,
                    collisions: time.collisions,
                    given_up: time.given_up,
                })
                .collect(),
        }
    }
}

impl<'a> From<&'a QueueExplanation> for Queue<'a> {
    fn from(q: &'a QueueExplanation) -> Self {
        let mut held: Vec<Waits<'_>> = q
            .full_of
            .iter()
            .map(|((flow, forward), waiting)| Waits {
                flow: flow.as_deref(),
                forward: *forward,
                packets: waiting.packets as f64 / q.dropped.max(1) as f64,
                local: waiting.local,
                tcp: waiting.tcp,
            })
            .collect();
        held.sort_by(|a, b| b.packets.total_cmp(&a.packets));
        Self {
            settings: &q.settings,
            backpressure: q.backpressure,
            local_limit_ns: q.local_limit,
            dropped: q.dropped,
            held,
            labelled_by: q.labelled_by.as_deref(),
            gives_categories: q.gives_categories,
        }
    }
}

impl<'a> From<&'a Attempts> for AttemptsJson<'a> {
    fn from(a: &'a Attempts) -> Self {
        let mut causes: Vec<Cause<'_>> = a
            .causes
            .iter()
            .map(|(cause, count)| Cause {
                missing: cause.missing.name(),
                why: cause.why.name(),
                by: cause.by.as_deref(),
                of: cause.of.as_deref(),
                hidden: cause.hidden,
                count: *count,
            })
            .collect();
        causes.sort_by_key(|c| std::cmp::Reverse(c.count));
        Self {
            exchanges: a.exchanges,
            rts: a.rts,
            data: a.data,
            no_cts: a.no_cts,
            no_ack: a.no_ack,
            given_up: a.given_up,
            causes,
        }
    }
}

impl From<&TcpExplanation> for Tcp {
    fn from(t: &TcpExplanation) -> Self {
        let seconds = |ns: u64| Time(ns).as_secs_f64();
        Self {
            observed_ns: t.observed,
            waited_ns: Sending::ALL.iter().map(|s| s.name()).zip(t.waited).collect(),
            timeouts: t.timeouts,
            timeouts_under_way: t.timeouts_under_way,
            syn_timeouts: t.syn_timeouts,
            connections: t.connections,
            unopened: t.unopened,
            fast_losses: t.fast_losses,
            marks: t.marks,
            timeout_times_s: t.timeout_times.iter().map(|&at| seconds(at)).collect(),
            rto_waits_s: t.timeout_waits.iter().map(|&(from, to)| (seconds(from), seconds(to))).collect(),
            timer: t.timer.map(|timer| RunningTimer {
                since_s: seconds(timer.from),
                until_s: seconds(timer.until),
                expiries: timer.expiries,
                doublings: timer.doublings,
            }),
        }
    }
}

/// The counters of a hop at a moment.
#[derive(Clone, Copy)]
struct Done {
    no_packet: u64,
    own_turn: Shares,
    others_turn: u64,
    /// Packets that left a queue which compares itself with that of the next hop, and the sum of their differences.
    compared: (u64, i64),
}

impl Timeline {
    /// Runs a world to its end and reads it now and then.
    fn record(world: &mut Hosted, flow: usize, stop: Option<&Stop>) -> PyResult<Self> {
        let (mut end_s, mut goodput_bps, mut window_bytes) = (Vec::new(), Vec::new(), Vec::new());
        let mut hops: Vec<Vec<Done>> = Vec::new();
        let mut observed: Vec<u64> = Vec::new();
        let interval = Span((world.end().as_nanos() / INTERVALS).max(1));
        let mut delivered = 0;
        while world.now() < world.end() {
            let from = world.now();
            drive::advance(world, from.saturating_add(interval), stop)?;
            let seconds = world.now().since(from).as_secs_f64();
            let sample = world.snapshot().flows[flow];
            end_s.push(world.now().as_secs_f64());
            goodput_bps.push((sample.delivered_bytes - delivered) as f64 * 8.0 / seconds);
            window_bytes.push(sample.window_bytes);
            delivered = sample.delivered_bytes;
            let told = explanation(world)?;
            let ahead = told.hops.iter().filter(|hop| hop.forward);
            hops.push(ahead.map(Done::of).collect());
            observed.push(told.until - told.from);
        }
        let last = hops.last().map_or(&[][..], Vec::as_slice);
        let hop = (0..last.len()).min_by_key(|&hop| last[hop].no_packet);
        let of_hop = explanation(world)?.hops.into_iter().filter(|hop| hop.forward).nth(hop.unwrap_or(0));
        // A hop that routing finds later has had no packet until then.
        let done_by = |hop: usize| -> Vec<Done> {
            let of = |(done, &ns): (&Vec<Done>, &u64)| done.get(hop).copied().unwrap_or(Done::nothing(ns));
            hops.iter().zip(&observed).map(of).collect()
        };
        let differentials = (0..last.len()).filter(|&hop| last[hop].compared.0 > 0);
        let differentials =
            differentials.map(|hop| HopDifferentials { hop, mean_packets: means(&done_by(hop)) }).collect();
        let done: Vec<Done> = hop.map_or_else(Vec::new, done_by);
        let grown = |of: &dyn Fn(&Done) -> u64| -> Vec<u64> {
            let before = std::iter::once(0).chain(done.iter().map(of));
            done.iter().map(of).zip(before).map(|(now, before)| now - before).collect()
        };
        Ok(Self {
            end_s,
            goodput_bps,
            window_bytes,
            hop,
            no_packet_ns: grown(&|done| done.no_packet),
            own_turn_ns: activities(of_hop.as_ref())
                .map(|doing| (doing.name(), grown(&|done| done.own_turn[doing as usize])))
                .collect(),
            others_turn_ns: grown(&|done| done.others_turn),
            differentials,
        })
    }
}

/// Mean queue differential in each interval, of a hop's counters at their ends.
fn means(done: &[Done]) -> Vec<Option<f64>> {
    let before = std::iter::once((0, 0)).chain(done.iter().map(|done| done.compared));
    let mean = |(now, before): ((u64, i64), (u64, i64))| {
        let packets = now.0 - before.0;
        (packets > 0).then(|| (now.1 - before.1) as f64 / packets as f64)
    };
    done.iter().map(|done| done.compared).zip(before).map(mean).collect()
}

impl Done {
    fn nothing(observed: u64) -> Self {
        Self { no_packet: observed, own_turn: Shares::default(), others_turn: 0, compared: (0, 0) }
    }

    fn of(hop: &HopExplanation) -> Self {
        Self {
            no_packet: hop.no_packet,
            own_turn: hop.own_turn,
            others_turn: hop.others_turn.iter().sum(),
            compared: hop.differential.as_ref().map_or((0, 0), |of| (of.packets, of.sum)),
        }
    }
}

fn explanation(world: &mut World) -> PyResult<Explanation> {
    world.explanation().ok_or_else(|| PyRuntimeError::new_err("the run was not observed"))
}

/// The index of the flow to explain: by its id, or the flow with the smallest ratio of goodput to fair share.
fn place(
    scenario: &Scenario,
    name: Option<&str>,
    plain: impl FnOnce() -> PyResult<Hosted>,
    stop: Option<&Stop>,
) -> PyResult<usize> {
    let flows = &scenario.spec.flows;
    if let Some(name) = name {
        return flows
            .iter()
            .position(|f| f.id == name)
            .ok_or_else(|| unknown("flow", name, flows.iter().map(|f| f.id.as_str())));
    }
    let mut world = plain()?;
    drive::advance(&mut world, Time::NEVER, stop)?;
    let result = world.result();
    let compared = Compared::of(&result, matches!(scenario.spec.routing, RoutingSpec::Static(_)));
    // A flow without traffic has nothing to explain. Of equals the first by name, independent of the order of the file.
    let place = |&i: &usize| {
        let flow = &result.flows[i];
        (!flow.has_traffic(), share_of_due(compared, flow, &flows[i].traffic), &flows[i].id)
    };
    let order = |a: &usize, b: &usize| {
        let ((a_idle, a, a_id), (b_idle, b, b_id)) = (place(a), place(b));
        a_idle.cmp(&b_idle).then(a.total_cmp(&b)).then(a_id.cmp(b_id))
    };
    (0..flows.len())
        .min_by(order)
        .ok_or_else(|| input_error(format!("{}: there is no flow to explain", scenario.name)))
}

/// Runs a scenario and explains one of its flows; by default the flow with the smallest ratio of goodput to fair share.
pub(crate) fn explain(
    scenario: &Scenario,
    flow: Option<&str>,
    make: impl Fn() -> PyResult<Hosted>,
    stop: Option<&Stop>,
) -> PyResult<String> {
    let flow = place(scenario, flow, &make, stop)?;
    let mut world = make()?;
    world.explain(&scenario.spec, FlowIx::of(flow)).map_err(input_error)?;
    let timeline = Timeline::record(&mut world, flow, stop)?;
    let (e, result) = (explanation(&mut world)?, world.result());
    json(&Explained {
        scenario: &scenario.name,
        scheme: &result.scheme,
        seed: result.seed,
        version: env!("CARGO_PKG_VERSION"),
        flow: &e.flow,
        src: &result.flows[flow].src,
        dst: &result.flows[flow].dst,
        from_s: Time(e.from).as_secs_f64(),
        until_s: Time(e.until).as_secs_f64(),
        standing: e.standing.name(),
        goodput_bps: e.goodput_bps,
        mean_delay_s: result.flows[flow].mean_delay_s(),
        p99_delay_s: result.flows[flow].p99_delay_s(),
        loss_ratio: result.flows[flow].loss_ratio(),
        sent_packets: result.flows[flow].sent_packets,
        mean_goodput_bps: e.compared.mean_goodput_bps,
        offered_bps: e.offered_bps,
        flows: result.flows.iter().map(|f| Goodput { id: &f.id, goodput_bps: f.goodput_bps }).collect(),
        hops: e.hops.iter().map(Hop::from).collect(),
        awaited_route_ns: e.awaited_route,
        route: e.route.as_ref().map(Route::from),
        drops: e
            .drops
            .iter()
            .map(|d| Drop {
                node: &d.node,
                reason: d.reason,
                data: d.data,
                opening: d.opening,
                packets: d.packets,
            })
            .collect(),
        tcp: e.tcp.as_ref().map(Tcp::from),
        allocation: e.allocation.as_ref().map(Allocation::from),
        timeline: &timeline,
        warnings: crate::contract::warnings(scenario, &result).collect(),
    })
}
