//! Hops of explicit-rate schemes at ports: their timers, and the headers of packets as bytes.

use airfair_host::HeaderId;
use airfair_schemes::places::{Backlog, Timer};
use airfair_units::Time;

use super::describe::LONGEST_HEADER;
use super::{Behind, Net, class};
use crate::engine::Agenda;
use crate::event::{Order, What};
use crate::ids::{CopyRef, PortIx};

impl Net {
    /// From now on headers become bytes and are read again at every hop.
    pub(crate) fn check_headers(&mut self) {
        self.kinds_of_header.check();
    }

    /// Every hop starts, at time 0.
    pub(crate) fn start_hops(&mut self, agenda: &mut Agenda) {
        for port in 0..self.ports.len() as u32 {
            let Self { ports, out, .. } = self;
            ports[port as usize].pipeline.start(Time::ZERO, &mut out.hop, &mut out.firings);
            self.schedule_hop(port);
        }
        self.flush(agenda);
    }

    /// A packet is dropped at a port; its hop is told.
    #[inline(never)]
    pub(super) fn drop_at(&mut self, port: u32, copy: CopyRef, reason: &'static str, now: u64) {
        let at = &mut self.ports[port as usize];
        let node = at.node;
        if let Some(packet) = self.packets.get(copy) {
            at.pipeline.dropped(packet.bytes);
        }
        self.drop_packet(node, copy, reason, now);
    }

    /// A timer of a hop is due, unless it was moved meanwhile.
    #[inline(never)]
    pub(crate) fn hop_timer(&mut self, port: u32, generation: u32, timer: Timer, now: u64) {
        let backlog = self.backlog_of_link(port, now);
        let Self { ports, out, .. } = self;
        let pipeline = &mut ports[port as usize].pipeline;
        pipeline.timer((timer, generation), backlog, Time(now), &mut out.hop, &mut out.firings);
        self.schedule_hop(port);
    }

    /// What waits on the timetable of the wire behind a port, if there is one.
    fn backlog_of_link(&mut self, port: u32, now: u64) -> Option<Backlog> {
        match self.ports[port as usize].behind {
            Behind::Wire(wire) => self.links.backlog(wire, Time(now)),
            Behind::Station(_) => None,
        }
    }

    /// Puts the timers that a hop has set on the agenda.
    fn schedule_hop(&mut self, port: u32) {
        let order = Order::new(class::TIMER, self.ports[port as usize].pipeline.hop_rank());
        let port = PortIx(port);
        for firing in self.out.firings.drain(..) {
            let (generation, timer) = (firing.generation, firing.timer.0);
            self.schedule.add(firing.at.0, order, What::HopTimer { port, generation, timer });
            self.unsettled = true;
        }
    }

    /// The bytes of a packet's header, and how many there are; what has no bytes shows as zeros.
    pub(super) fn header_bytes(&self, copy: CopyRef, id: HeaderId) -> ([u8; LONGEST_HEADER], usize) {
        let mut bytes = [0; LONGEST_HEADER];
        let header = self.packets.header(copy);
        let len = header.map_or(0, |header| self.kinds_of_header.encode(id, header, &mut bytes));
        (bytes, len)
    }

    /// Inner values of the hop at a port.
    pub(crate) fn hop_gauges(&self, port: u32) -> Vec<(&'static str, f64)> {
        self.ports[port as usize].pipeline.hop_gauges()
    }
}
