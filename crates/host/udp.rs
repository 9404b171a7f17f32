//! Both ends of a flow over UDP that a scheme controls: a paced source, and a receiver that sends reports.

use alloc::boxed::Box;
use alloc::vec::Vec;

use airfair_schemes::places::{
    Arrived, FlowSetup, Header, HeaderKind, LossEvents, Receiver, ReceiverContext, ReceiverEffects, Sent,
    Source, SourceContext, SourceEffects, Timer, Waiting,
};
use airfair_units::random::Stream;
use airfair_units::{Bytes, Time};

use crate::slot::{Firing, Slot};

/// A source over UDP with its host's state. After each call the caller schedules the `firings` and calls [`UdpSource::due`] again.
pub struct UdpSource {
    slot: Slot<Box<dyn Source>>,
    /// Time and payload of the last datagram.
    last: Option<(Time, Bytes)>,
}

impl UdpSource {
    /// A source that has not started.
    #[must_use]
    pub fn new(source: Box<dyn Source>, random: Stream, rank: u32) -> Self {
        Self { slot: Slot::new(source, random, rank), last: None }
    }

    /// The rank of its timers.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.slot.rank
    }

    /// The header that its datagrams carry.
    #[must_use]
    pub fn header(&self) -> Option<&'static HeaderKind> {
        self.slot.machine.header()
    }

    /// True if its datagrams can be marked.
    #[must_use]
    pub fn ecn_capable(&self) -> bool {
        self.slot.machine.ecn_capable()
    }

    /// The earliest time of the next datagram: the last one's time and its duration at the present rate, which may have changed since;
    /// [`Time::NEVER`] without a rate. Unused time is not credited.
    #[must_use]
    pub fn due(&self, now: Time) -> Time {
        match (self.slot.machine.allowance(now).rate, self.last) {
            (None, _) => Time::NEVER,
            (Some(rate), _) if rate.0 == 0 => Time::NEVER,
            (Some(_), None) => now,
            (Some(rate), Some((at, bytes))) => at.saturating_add(rate.time_for(bytes)),
        }
    }

    /// Calls the hook for the start of the flow.
    pub fn on_start(
        &mut self,
        setup: &FlowSetup,
        now: Time,
        effects: &mut SourceEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |source, context| source.on_start(setup, context));
    }

    /// Fills the header of a datagram about to leave.
    pub fn stamp(&mut self, header: &mut Header, now: Time) {
        *header = Header::default();
        self.slot.machine.stamp(header, now);
    }

    /// Calls the hook for a datagram that was made; `again`: its data were sent before.
    pub fn on_sent(
        &mut self,
        (bytes, again): (Bytes, bool),
        now: Time,
        effects: &mut SourceEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.last = Some((now, bytes));
        let sent = Sent { bytes, in_flight: Bytes(0), retransmission: again };
        self.call(now, effects, firings, |source, context| source.on_sent(&sent, context));
    }

    /// Calls the hook for a report of the receiver.
    pub fn on_report(
        &mut self,
        report: &[u8],
        now: Time,
        effects: &mut SourceEffects,
        firings: &mut Vec<Firing>,
    ) {
        self.call(now, effects, firings, |source, context| source.on_report(report, context));
    }

    /// Tells the source how many packets wait at the node for the flow's destination. Returns true if its law goes by them.
    pub fn on_own_queue(&mut self, waiting: &Waiting) -> bool {
        self.slot.machine.on_own_queue(waiting);
        self.slot.machine.goes_by_own_queue()
    }

    /// Calls the hook for a due timer. Returns false if the timer was moved.
    pub fn on_timer(
        &mut self,
        (timer, generation): (Timer, u32),
        now: Time,
        effects: &mut SourceEffects,
        firings: &mut Vec<Firing>,
    ) -> bool {
        let fires = self.slot.timers.fires(timer, generation);
        if fires {
            self.call(now, effects, firings, |source, context| source.on_timer(timer, context));
        }
        fires
    }

    fn call(
        &mut self,
        now: Time,
        effects: &mut SourceEffects,
        firings: &mut Vec<Firing>,
        hook: impl FnOnce(&mut dyn Source, &mut SourceContext<'_>),
    ) {
        self.slot.call(now, effects, firings, |source, context| hook(&mut **source, context));
    }
}

/// Counts of a receiver: reports sent, and the loss event rate, summed over them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ReportCounts {
    /// Reports sent.
    pub sent: u64,
    /// Reports sent with a loss event rate, and the sum of these rates.
    pub rated: u64,
    /// Sum of the rates.
    pub rates: f64,
    /// Loss events.
    pub loss_events: u64,
}

airfair_units::fieldwise!(Sub::sub for ReportCounts { sent, rated, rates, loss_events });

/// A receiver over UDP with its host's state. After each call the caller sends the reports in `effects` and schedules the `firings`.
pub struct UdpReceiver {
    slot: Slot<Box<dyn Receiver>>,
    counts: ReportCounts,
}

impl UdpReceiver {
    /// A receiver that has received nothing.
    #[must_use]
    pub fn new(receiver: Box<dyn Receiver>, random: Stream, rank: u32) -> Self {
        Self { slot: Slot::new(receiver, random, rank), counts: ReportCounts::default() }
    }

    /// The rank of its timers.
    #[must_use]
    pub const fn rank(&self) -> u32 {
        self.slot.rank
    }

    /// True if its reports precede the packets that wait, at every hop.
    #[must_use]
    pub fn reports_go_ahead(&self) -> bool {
        self.slot.machine.reports_go_ahead()
    }

    /// The receiver's loss events, if it counts them.
    #[must_use]
    pub fn loss_events(&self) -> Option<LossEvents> {
        self.slot.machine.loss_events()
    }

    /// Counts of its reports.
    #[must_use]
    pub fn counts(&self) -> ReportCounts {
        let loss_events = self.loss_events().map_or(0, |events| events.count);
        ReportCounts { loss_events, ..self.counts }
    }

    /// Calls the hook for a datagram that has arrived after `hops` hops. The number of interfaces without the scheme is set in its header.
    pub fn on_data(
        &mut self,
        mut data: Arrived,
        hops: u16,
        now: Time,
        effects: &mut ReceiverEffects,
        firings: &mut Vec<Firing>,
    ) {
        data.header.count_unsupported(hops);
        self.call(now, effects, firings, |receiver, context| receiver.on_data(&data, context));
    }

    /// Calls the hook for a due timer.
    pub fn on_timer(
        &mut self,
        (timer, generation): (Timer, u32),
        now: Time,
        effects: &mut ReceiverEffects,
        firings: &mut Vec<Firing>,
    ) {
        if self.slot.timers.fires(timer, generation) {
            self.call(now, effects, firings, |receiver, context| receiver.on_timer(timer, context));
        }
    }

    fn call(
        &mut self,
        now: Time,
        effects: &mut ReceiverEffects,
        firings: &mut Vec<Firing>,
        hook: impl FnOnce(&mut dyn Receiver, &mut ReceiverContext<'_>),
    ) {
        let before = effects.reports.len();
        self.slot.call(now, effects, firings, |receiver, context| hook(&mut **receiver, context));
        let reports = (effects.reports.len() - before) as u64;
        if reports > 0 {
            self.counts.sent += reports;
            if let Some(LossEvents { rate, .. }) = self.loss_events() {
                self.counts.rated += reports;
                self.counts.rates += rate * reports as f64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airfair_schemes::places::{Allowance, Ecn, ReportBytes};
    use airfair_units::random::Purpose;
    use airfair_units::{Rate, Span};
    use alloc::vec;

    /// A source that sends at the rate of the last report, bytes/s.
    struct Follower(Option<Rate>);

    impl Source for Follower {
        fn on_start(&mut self, setup: &FlowSetup, context: &mut SourceContext<'_>) {
            self.0 = Some(Rate(setup.mss.get() * 8));
            context.out.timers.push((Timer(1), context.now + Span::from_secs(3)));
        }

        fn on_report(&mut self, report: &[u8], _: &mut SourceContext<'_>) {
            self.0 = report.try_into().ok().map(|bytes| Rate(u64::from(u32::from_be_bytes(bytes)) * 8));
        }

        fn on_timer(&mut self, _: Timer, _: &mut SourceContext<'_>) {
            self.0 = None;
        }

        fn allowance(&self, _: Time) -> Allowance {
            Allowance { window: None, rate: self.0, quantum: None }
        }
    }

    /// A receiver that returns the size of each datagram at once, twice.
    struct Twice;

    impl Receiver for Twice {
        fn on_data(&mut self, data: &Arrived, context: &mut ReceiverContext<'_>) {
            let report = ReportBytes::new(&[data.bytes.get() as u8, data.header.unsupported]);
            context.out.reports.extend([report; 2].into_iter().flatten());
        }

        fn loss_events(&self) -> Option<LossEvents> {
            Some(LossEvents { count: 3, rate: 0.25 })
        }
    }

    fn stream() -> Stream {
        Stream::new(1, "flow", Purpose::Source)
    }

    /// The next datagram moves with the rate, in both directions, and nothing is credited for a silence.
    #[test]
    fn pacing_follows_the_present_rate() {
        let mut source = UdpSource::new(Box::new(Follower(None)), stream(), 5);
        let (mut effects, mut firings) = (SourceEffects::default(), vec![]);
        assert_eq!(source.due(Time(7)), Time::NEVER, "no rate");
        let setup = FlowSetup {
            mss: Bytes(1000),
            headers: Bytes(40),
            initial_window: Bytes(1000),
            window_limit: Bytes(1000),
            rtt: None,
            syn_lost: false,
            link: None,
        };
        source.on_start(&setup, Time(0), &mut effects, &mut firings);
        assert_eq!(source.due(Time(7)), Time(7), "nothing was sent yet");
        source.on_sent((Bytes(500), false), Time(7), &mut effects, &mut firings);
        assert_eq!(source.due(Time(8)), Time(500_000_007));
        let report = |rate: u32| rate.to_be_bytes();
        source.on_report(&report(2000), Time(8), &mut effects, &mut firings);
        assert_eq!(source.due(Time(8)), Time(250_000_007));
        source.on_report(&report(100), Time(9), &mut effects, &mut firings);
        assert_eq!(source.due(Time(9)), Time(5_000_000_007));
        source.on_report(&report(0), Time(9), &mut effects, &mut firings);
        assert_eq!(source.due(Time(9)), Time::NEVER);
        let Firing { at, timer, generation } = firings[0];
        assert_eq!((at, firings.len()), (Time(3_000_000_000), 1));
        assert!(!source.on_timer((timer, generation + 1), at, &mut effects, &mut firings), "moved");
        assert!(source.on_timer((timer, generation), at, &mut effects, &mut firings));
        assert_eq!(source.due(at), Time::NEVER);
    }

    #[test]
    fn reports_are_counted_with_their_rates() {
        let mut receiver = UdpReceiver::new(Box::new(Twice), stream(), 5);
        let (mut effects, mut firings) = (ReceiverEffects::default(), vec![]);
        for (bytes, supported) in [(40, 1), (60, 4)] {
            let header = Header { supported, ..Header::default() };
            let data = Arrived { bytes: Bytes(bytes), ecn: Ecn::Ect, header };
            receiver.on_data(data, 4, Time(1), &mut effects, &mut firings);
        }
        let reports: Vec<_> = effects.reports.iter().map(ReportBytes::as_slice).collect();
        assert_eq!(reports, [[40, 3], [40, 3], [60, 0], [60, 0]]);
        let counts = receiver.counts();
        assert_eq!(counts, ReportCounts { sent: 4, rated: 4, rates: 1.0, loss_events: 3 });
        let since = counts - ReportCounts { sent: 1, rated: 1, rates: 0.25, loss_events: 1 };
        assert_eq!(since, ReportCounts { sent: 3, rated: 3, rates: 0.75, loss_events: 2 });
    }
}
