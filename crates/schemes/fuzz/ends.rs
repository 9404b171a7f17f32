//! Both ends of a flow under attack.

use alloc::vec;
use alloc::vec::Vec;

use airfair_units::fuzz::Input;
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Bytes, Rate, Time};

use super::timers::Timers;
use super::{MOST_EFFECTS, Target, wait};
use crate::Scheme;
use crate::places::{
    Arrived, Context, Ecn, FlowSetup, Header, ReceiverEffects, ReportBytes, SourceEffects, UdpEnds,
};

/// The rate of the link to the first hop.
const LINK: Rate = Rate::from_mbps(11);

/// Both ends of a flow over UDP: any data at the receiver, any reports at the source.
pub struct Ends {
    ends: UdpEnds,
    random: Stream,
    timers: [Timers; 2],
    now: Time,
    headers: Vec<Header>,
    reports: Vec<ReportBytes>,
    /// The source keeps to the rate of the link, whatever it is told.
    bounded: bool,
}

impl Ends {
    /// The ends of a scheme; `None` if it has none.
    #[must_use]
    pub fn new(scheme: &dyn Scheme) -> Option<Self> {
        let mut all = Self {
            ends: scheme.udp()?,
            random: Stream::new(1, "ends", Purpose::Source),
            timers: Default::default(),
            now: Time(1),
            headers: vec![Header::default()],
            reports: vec![ReportBytes::EMPTY],
            bounded: scheme.rate().is_some() && scheme.source().is_none(),
        };
        let setup = FlowSetup {
            mss: Bytes(1000),
            headers: Bytes(60),
            initial_window: Bytes(4000),
            window_limit: Bytes(u64::MAX),
            rtt: None,
            syn_lost: false,
            link: Some(LINK),
        };
        all.source(|source, context| source.on_start(&setup, context));
        Some(all)
    }

    fn source(
        &mut self,
        hook: impl FnOnce(&mut dyn crate::places::Source, &mut crate::places::SourceContext<'_>),
    ) {
        let mut out = SourceEffects::default();
        hook(&mut *self.ends.source, &mut Context { now: self.now, random: &mut self.random, out: &mut out });
        self.timers[0].set(&out.timers);
    }

    fn receiver(
        &mut self,
        hook: impl FnOnce(&mut dyn crate::places::Receiver, &mut crate::places::ReceiverContext<'_>),
    ) {
        let Some(receiver) = &mut self.ends.receiver else { return };
        let mut out = ReceiverEffects::default();
        hook(&mut **receiver, &mut Context { now: self.now, random: &mut self.random, out: &mut out });
        let loss = receiver.loss_events().unwrap_or_default();
        assert!((0.0..=1.0).contains(&loss.rate), "{loss:?}");
        assert!(out.reports.len() <= MOST_EFFECTS);
        self.timers[1].set(&out.timers);
        out.reports.into_iter().for_each(|report| keep(&mut self.reports, report));
    }
}

fn keep<T>(seen: &mut Vec<T>, new: T) {
    if seen.len() >= 64 {
        seen.remove(0);
    }
    seen.push(new);
}

impl Target for Ends {
    fn step(&mut self, input: &mut Input<'_>) {
        self.now = self.now.saturating_add(wait(input));
        for which in 0..2 {
            for _ in 0..8 {
                let Some((timer, _)) = self.timers[which].take_due(self.now) else { break };
                if which == 0 {
                    self.source(|source, context| source.on_timer(timer, context));
                } else {
                    self.receiver(|receiver, context| receiver.on_timer(timer, context));
                }
            }
        }
        let mut header = *input.of(&self.headers).unwrap_or(&Header::default());
        for field in &mut header.fields {
            *field = input.near(u64::from(*field)) as u32;
        }
        match input.byte() % 4 {
            0 => {
                let mut sent = Header::default();
                self.ends.source.stamp(&mut sent, self.now);
                keep(&mut self.headers, sent);
            }
            1 => {
                // A report as it was sent, or with bytes changed, or cut.
                let mut report = input.of(&self.reports).unwrap_or(&ReportBytes::EMPTY).as_slice().to_vec();
                for _ in 0..input.byte() % 4 {
                    let at = input.below(report.len());
                    if let Some(byte) = report.get_mut(at) {
                        *byte = input.byte();
                    }
                }
                if input.byte() < 32 {
                    report.truncate(input.below(report.len() + 1));
                }
                self.source(|source, context| source.on_report(&report, context));
            }
            _ => {
                let ecn = if input.byte() < 230 { Ecn::Ect } else { Ecn::Ce };
                let data = Arrived { bytes: Bytes(input.number() >> 8), ecn, header };
                self.receiver(|receiver, context| receiver.on_data(&data, context));
            }
        }
        let allowance = self.ends.source.allowance(self.now);
        assert!(allowance.rate.is_none_or(|rate| rate.0 < 1 << 62), "{allowance:?}");
        assert!(!self.bounded || allowance.rate.is_none_or(|rate| rate <= LINK), "{allowance:?}");
    }
}
