//! A source written in Python.

use std::cell::Cell;

use airfair_schemes::places::{
    Acked, Allowance, Congestion, CongestionCause, FlowSetup, Idle, PartialAck, RateSample, Sent, Source,
    SourceContext, Spurious, Timer,
};
use airfair_units::{Bytes, Rate, Span, Time};
use pyo3::prelude::*;

use super::context::Place;
use super::hooks::{Hooks, class};
use crate::hosted::Raised;

/// The allowance of a law whose code has failed: nothing.
const NOTHING: Allowance = Allowance { window: Some(Bytes(0)), rate: None, quantum: None };

pub(super) struct PythonSource {
    hooks: Hooks,
    on_sent: bool,
    on_spurious: bool,
    on_recovered: bool,
    on_idle: bool,
    on_timer: bool,
    partial_ack: PartialAck,
    /// The last answer of `allowance` with its time: valid at that time only, and only until the next hook.
    allowed: Cell<Option<(Time, Allowance)>>,
}

impl PythonSource {
    pub fn new(object: &Bound<'_, PyAny>, raised: &Raised, scheme: &'static str) -> PyResult<Self> {
        let base = class!(object.py(), "Source")?;
        let hooks = Hooks::new(object, base, Place::Source, raised, scheme)?;
        let answer = object.getattr("partial_ack")?;
        let partial_ack = match answer.extract::<String>().as_deref() {
            Ok("repairs-next") => PartialAck::RepairsNext,
            Ok("ends-recovery") => PartialAck::EndsRecovery,
            _ => {
                let expected = "\"repairs-next\" or \"ends-recovery\"";
                return Err(hooks.wrong("Source.partial_ack", &answer, expected));
            }
        };
        let has = |hook| Hooks::has(object, base, hook);
        Ok(Self {
            hooks,
            on_sent: has("on_sent")?,
            on_spurious: has("on_spurious")?,
            on_recovered: has("on_recovered")?,
            on_idle: has("on_idle")?,
            on_timer: has("on_timer")?,
            partial_ack,
            allowed: Cell::new(None),
        })
    }

    fn notify(
        &self,
        context: &mut SourceContext<'_>,
        hook: &str,
        subject: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyAny>>,
    ) {
        self.allowed.set(None);
        self.hooks.call(context, (), |object, context| {
            object.call_method1(hook, (subject(object.py())?, context)).map(|_| ())
        });
    }

    fn call_allowance(&self, now: Time) -> Allowance {
        self.hooks.attached(NOTHING, |object| {
            let answer = object.call_method1("allowance", (now.as_nanos(),))?;
            let number = |name: &str| answer.getattr(name).and_then(|v| v.extract::<Option<u64>>());
            match (number("window"), number("rate"), number("quantum")) {
                (Ok(window), Ok(rate), Ok(quantum)) => Ok(Allowance {
                    window: window.map(Bytes),
                    rate: rate.map(Rate),
                    quantum: quantum.map(Bytes),
                }),
                _ => {
                    let expected = "an Allowance of whole numbers (bytes, bit/s, bytes) or None";
                    Err(self.hooks.wrong("Source.allowance", &answer, expected))
                }
            }
        })
    }
}

fn word(cause: CongestionCause) -> &'static str {
    match cause {
        CongestionCause::FastLoss => "fast-loss",
        CongestionCause::Timeout => "timeout",
        CongestionCause::Mark => "mark",
        CongestionCause::LinkDrop => "link-drop",
    }
}

fn nanos(span: Option<Span>) -> Option<u64> {
    span.map(|s| s.0)
}

fn rate_sample<'py>(py: Python<'py>, sample: Option<RateSample>) -> PyResult<Option<Bound<'py, PyAny>>> {
    sample.map(|s| class!(py, "RateSample")?.call1((s.delivered.0, s.interval.0, s.app_limited))).transpose()
}

impl Source for PythonSource {
    fn on_start(&mut self, s: &FlowSetup, context: &mut SourceContext<'_>) {
        self.notify(context, "on_start", |py| {
            let fields =
                (s.mss.0, s.initial_window.0, s.window_limit.0, nanos(s.rtt), s.syn_lost, s.headers.0);
            class!(py, "FlowSetup")?.call1(fields)
        });
    }

    fn on_sent(&mut self, s: &Sent, context: &mut SourceContext<'_>) {
        if self.on_sent {
            self.notify(context, "on_sent", |py| {
                class!(py, "Sent")?.call1((s.bytes.0, s.in_flight.0, s.retransmission))
            });
        }
    }

    fn on_acked(&mut self, a: &Acked, context: &mut SourceContext<'_>) {
        self.notify(context, "on_acked", |py| {
            class!(py, "Acked")?.call1((
                a.bytes.0,
                a.cumulative.0,
                a.lost.0,
                a.prior_in_flight.0,
                a.in_flight.0,
                nanos(a.rtt),
                rate_sample(py, a.rate_sample)?,
                a.round_ended,
                a.window_limited,
                a.in_recovery,
                a.sent_at.as_nanos(),
            ))
        });
    }

    fn on_congestion(&mut self, c: &Congestion, context: &mut SourceContext<'_>) {
        self.notify(context, "on_congestion", |py| {
            class!(py, "Congestion")?.call1((word(c.cause), c.in_flight.0, c.pipe.0, c.repeated))
        });
    }

    fn on_spurious(&mut self, s: &Spurious, context: &mut SourceContext<'_>) {
        if self.on_spurious {
            self.notify(context, "on_spurious", |py| {
                class!(py, "Spurious")?.call1((word(s.cause), s.in_flight.0, s.acked.0))
            });
        }
    }

    fn on_recovered(&mut self, in_flight: Bytes, context: &mut SourceContext<'_>) {
        if self.on_recovered {
            self.notify(context, "on_recovered", |py| Ok(in_flight.0.into_pyobject(py)?.into_any()));
        }
    }

    fn on_idle(&mut self, i: &Idle, context: &mut SourceContext<'_>) {
        if self.on_idle {
            self.notify(context, "on_idle", |py| class!(py, "Idle")?.call1((i.span.0, i.rto.0)));
        }
    }

    fn on_timer(&mut self, timer: Timer, context: &mut SourceContext<'_>) {
        if self.on_timer {
            self.notify(context, "on_timer", |py| Ok(timer.0.into_pyobject(py)?.into_any()));
        }
    }

    fn allowance(&self, now: Time) -> Allowance {
        if let Some((_, allowed)) = self.allowed.get().filter(|(at, _)| *at == now) {
            return allowed;
        }
        let allowed = self.call_allowance(now);
        self.allowed.set(Some((now, allowed)));
        allowed
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.hooks.attached(None, |object| {
            let answer = object.call_method0("ssthresh")?;
            match answer.extract::<Option<u64>>() {
                Ok(bytes) => Ok(bytes.map(Bytes)),
                Err(_) => {
                    Err(self.hooks.wrong("Source.ssthresh", &answer, "a whole number of bytes or None"))
                }
            }
        })
    }

    fn partial_ack(&self) -> PartialAck {
        self.partial_ack
    }
}
