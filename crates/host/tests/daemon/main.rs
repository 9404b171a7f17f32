//! The skeleton of a daemon for a node with one radio, on this crate alone. Its scheme is any of the registry; its counters are those of a
//! driver, from a file whose rows are its clock; what it would pass to sockets and to the kernel are values here.

mod driver;
mod neighbours;
mod probabilities;
mod support;
use airfair_host::{
    AgentSlot, ArrivedPacket, Capabilities, HeaderKinds, HeaderRef, HostEvent, Hosts, Meters, Net, Outgoing,
    Pipeline, agents, indices,
};
use airfair_schemes::Scheme;
use airfair_schemes::places::{
    Capability, FlowId, NodeId, Packet, QueueEffects, QueueView, Setting, Timer, Verdict,
};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Rate, Time};
use std::collections::BTreeMap;

indices! { /** The node, and its radio. */ Me }

/// The node with its scheme.
pub struct Daemon {
    hosts: Hosts<Self>,
    meters: Meters<Me>,
    pipeline: Pipeline,
    kinds: HeaderKinds,
    now: Time,
    events: BTreeMap<(Time, u32, u64), HostEvent<Me>>,
    scheduled: u64,
    rows: driver::Rows,
    sent: Vec<Outgoing<Me, Me>>,
    set: Vec<Setting>,
}

impl Daemon {
    /// Starts a scheme at the first row of the counters; refuses one that wants more than the driver has.
    fn start(scheme: &dyn Scheme, offered: &Capabilities) -> Result<Self, Vec<Capability>> {
        let (at, wants) = (driver::INTERFACE, scheme.wants(&driver::INTERFACE));
        offered.check(&wants)?;
        let random = |purpose| Stream::new(1, "daemon", purpose);
        let mut pipeline = Pipeline::new(scheme, &at, driver::FRAMING, random(Purpose::Queue));
        let (mut hosts, mut meters, mut kinds) =
            (Hosts::default(), Meters::default(), HeaderKinds::default());
        pipeline.register_header(&mut kinds);
        if let Some(hop) = scheme.hop(&at) {
            pipeline.add_hop(hop, &mut kinds, random(Purpose::Hop), 0);
        }
        if let Some(agent) = scheme.agent(&at) {
            let slot = AgentSlot::new(agent, wants.samples(), 1, random(Purpose::Agent), 0);
            let wishes = (wants.has(Capability::Backlogs), kinds.id(slot.hears()));
            hosts.agents.add((Me(0), 1), slot, wishes);
        }
        if wants.has(Capability::Links) {
            meters.links.add(Me(0), 1);
        }
        let ((first, link), rows) = driver::rows();
        meters.links.on_counters(Me(0), driver::PEER, link);
        let (now, events, scheduled, sent, set) = (first.at, BTreeMap::new(), 0, vec![], vec![]);
        let mut daemon = Self { hosts, meters, pipeline, kinds, now, events, scheduled, rows, sent, set };
        agents::start(&mut daemon, Me(0), &driver::SETUP, first, now);
        Ok(daemon)
    }

    /// Reads rows until one has this time, and calls what is due at each.
    fn run(&mut self, until: Time) {
        while self.now < until {
            let (counters, link) = self.rows.next().expect("a row of this time");
            self.now = counters.at;
            self.meters.links.on_counters(Me(0), driver::PEER, link);
            while let Some(due) = self.events.first_entry().filter(|event| event.key().0 <= self.now) {
                match due.remove() {
                    HostEvent::Sample(radio) => agents::sample(self, radio, counters, self.now),
                    HostEvent::AgentTimer(me, id, set) => agents::timer(self, me, (Timer(id), set), self.now),
                    other => unreachable!("{other:?}: no controller runs here"),
                }
            }
        }
    }

    /// A packet on its way out: it is counted and judged, and stored unless it is dropped.
    fn arrive(&mut self, mut packet: Packet, header: HeaderRef<'_>) -> Verdict {
        self.meters.links.on_arrival(Me(0), &ArrivedPacket::new(&packet, driver::ME));
        let verdict = self.pipeline.judge(&mut packet, header, &self.kinds, self.now);
        if !matches!(verdict, Verdict::Drop(_)) {
            self.pipeline.store(packet, self.now, &mut QueueEffects::default());
        }
        verdict
    }

    /// A packet that has come in, to be kept or passed on: it is judged, too.
    fn come_in(&mut self, packet: &Packet) -> Verdict {
        if !self.pipeline.wants_received() {
            return Verdict::Pass;
        }
        self.pipeline.receive(packet, Default::default(), self.now)
    }
}

impl Net for Daemon {
    type Radio = Me;
    type Node = Me;
    type Flow = Me;
    type Packet = ();

    fn hosts(&mut self) -> &mut Hosts<Self> {
        &mut self.hosts
    }
    fn meters(&mut self) -> &mut Meters<Me> {
        &mut self.meters
    }
    fn id(&self, _: Me) -> NodeId {
        driver::ME
    }
    fn node_of(&self, radio: Me) -> Me {
        radio
    }
    fn radios(&self, node: Me) -> Vec<Me> {
        vec![node]
    }
    fn send(&mut self, message: Outgoing<Me, Me>, _: Time) -> bool {
        self.sent.push(message);
        true
    }
    fn apply(&mut self, _: Me, settings: &[Setting], now: Time) {
        self.set.extend(settings);
        settings.iter().for_each(|&setting| self.pipeline.apply(setting, now));
    }
    fn schedule(&mut self, event: HostEvent<Me>, at: Time, rank: u32) {
        self.scheduled += 1;
        self.events.insert((at, rank, self.scheduled), event);
    }
    fn state(&self, _: Me, _: Time) -> (QueueView, u32) {
        (self.pipeline.view(), 0)
    }
    fn backlogs(&self, _: Me) -> Vec<(NodeId, u32)> {
        let mut sizes = vec![];
        self.pipeline.backlogs(&mut |destination, packets| sizes.push((destination, packets)));
        sizes
    }
    fn waiting(&self, _: Me, see: &mut dyn FnMut(NodeId)) {
        self.pipeline.for_each_packet(&mut |packet| see(packet.next_hop));
    }
    fn stated_rate(&self, _: Me, flow: FlowId) -> Option<Rate> {
        self.pipeline.stated_rate(flow)
    }
}
