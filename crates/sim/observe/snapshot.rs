//! Counters at a moment, warm-up included, and progress of flows.

use airfair_host::LinkTotals;

use super::WorldView;
use crate::ids::{ControllerIx, FlowIx, LinkRef, PortIx, StationIx};
use crate::measure::samples::{FlowProgress, FlowSample, Gauges, QueueSample, Snapshot, StationSample};
use crate::node::plane::interfaces::QueueTotals;

impl WorldView<'_> {
    /// Counters from the start of the run to the present, warm-up included.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let network = self.network;
        let has_values = |gauges: &Gauges| !gauges.1.is_empty();
        let agent = |station: StationIx| {
            Some((station.ix(), network.hosts.agents.gauges(station))).filter(has_values)
        };
        let controller =
            |at: ControllerIx| Some((at.ix(), network.hosts.controllers.gauges(at))).filter(has_values);
        let hop = |port: PortIx| {
            Some((port.ix(), network.plane.interfaces.pipeline(port).hop_gauges())).filter(has_values)
        };
        let queue = |port: PortIx| {
            Some((port.ix(), network.plane.interfaces.pipeline(port).queue_gauges())).filter(has_values)
        };
        Snapshot {
            flows: self.flow_samples(),
            queues: network.plane.interfaces.ports().map(|port| self.queue_sample(port)).collect(),
            stations: self.air.stations().map(|station| self.station_sample(station)).collect(),
            agents: self.air.stations().filter_map(agent).collect(),
            controllers: network.hosts.controllers.places().filter_map(controller).collect(),
            hops: network.plane.interfaces.ports().filter_map(hop).collect(),
            queue_gauges: network.plane.interfaces.ports().filter_map(queue).collect(),
        }
    }

    fn flow_samples(&self) -> Vec<FlowSample> {
        let transport = self.network.endpoints.transport_totals();
        let sample = |flow: FlowIx| {
            let connection = self.network.endpoints.tcp.get(self.network.endpoints.tcp.connection_of(flow));
            let sender = connection.map(|connection| &connection.sender.machine);
            let totals = self.network.endpoints.flows[flow].totals(self.now);
            FlowSample {
                delivered_bytes: totals.delivered_bytes,
                delivered_packets: totals.delivered_packets,
                sent_packets: totals.sent,
                retransmissions: transport[flow].retransmissions,
                window_bytes: sender.map(|sender| sender.window(self.now)),
                rtt: match sender {
                    Some(sender) => sender.round_trips().smoothed,
                    None => self.network.endpoints.udp.round_trip(flow),
                },
            }
        };
        self.network.endpoints.flows.places().map(sample).collect()
    }

    fn queue_sample(&self, port: PortIx) -> QueueSample {
        let (interfaces, links) = (&self.network.plane.interfaces, &self.network.plane.links);
        let QueueTotals { left, waited } = interfaces.totals(port, links, self.now);
        let link = match interfaces.link(port) {
            LinkRef::Station(station) => self.network.plane.meters.uses.totals(station).unwrap_or_default(),
            LinkRef::Wire(_) => LinkTotals::default(),
        };
        QueueSample {
            packets: interfaces.waiting(port, links, self.now),
            left,
            waited,
            acknowledged: link.used.sent_packets,
            link_delay: link.used.delay,
            link_delay_squares: link.delay_squares,
        }
    }

    fn station_sample(&self, station: StationIx) -> StationSample {
        let counters = self.air.counters(station);
        StationSample {
            airtime: self.air.airtime(station, self.now),
            frames: counters.sent.iter().sum(),
            no_answer: counters.no_cts + counters.no_ack,
            given_up: counters.given_up,
            held: self.air.held(station).count() as u64,
        }
    }

    /// Progress of every flow.
    pub(crate) fn progress(&self) -> Vec<FlowProgress> {
        let progress = |flow: FlowIx| {
            let f = &self.network.endpoints.flows[flow];
            FlowProgress {
                start: f.start,
                stop: f.stop,
                complete: self.network.endpoints.tcp.completion_s(flow).is_some(),
                delivered_bytes: f.totals(self.now).delivered_bytes,
            }
        };
        self.network.endpoints.flows.places().map(progress).collect()
    }
}
