//! Full dumps and incremental updates: when they are sent, and what they contain.

use alloc::vec;

use airfair_units::{Span, Time};
use airfair_wire::dsdv::{Entry, Update};

use super::Dsdv;
use crate::{Context, Effect, SendRate, To};

/// A triggered update with at most this number of routes stays incremental, whatever their share of the table.
const FEW_ROUTES: usize = 3;

/// Updates of a node to come.
#[derive(Debug)]
pub(super) struct Updates {
    /// Time of the next full dump; `None` before the first call of the timer.
    full_at: Option<Time>,
    /// Time of the next triggered update; [`Time::NEVER`] without news.
    triggered_at: Time,
    /// Time of the last update, if any.
    last: Option<Time>,
    /// True if the node's own number is news to be sent at once.
    pub own_is_news: bool,
}

impl Default for Updates {
    fn default() -> Self {
        Self { full_at: None, triggered_at: Time::NEVER, last: None, own_is_news: false }
    }
}

impl Updates {
    pub(super) fn deadline(&self) -> Time {
        self.full_at.map_or(Time::ZERO, |full| full.min(self.triggered_at))
    }
}

impl Dsdv {
    /// Schedules a triggered update for news that are settled at `at`, unless one is due before.
    pub(super) fn schedule_update(&mut self, at: Time, cx: &mut Context<'_>) {
        if at == Time::NEVER {
            return;
        }
        let interval_ends = self.updates.last.map(|last| last.saturating_add(self.config.trigger_interval));
        let earliest = at.max(cx.now).max(interval_ends.unwrap_or(Time::ZERO));
        let jitter = self.config.update_jitter;
        if earliest.saturating_add(jitter) < self.updates.triggered_at {
            self.updates.triggered_at = earliest.saturating_add(random_part(jitter, cx));
        }
    }

    /// Sends the updates that are due.
    pub(super) fn send_updates(&mut self, cx: &mut Context<'_>) {
        let full_at = match self.updates.full_at {
            Some(at) => at,
            None => {
                let first = cx.now.saturating_add(random_part(self.config.start_jitter, cx));
                *self.updates.full_at.insert(first)
            }
        };
        if full_at <= cx.now {
            self.send_full(cx);
        } else if self.updates.triggered_at <= cx.now {
            if self.updates.own_is_news || self.table.next_trigger() <= cx.now {
                let due = self.table.due(cx.now);
                let share = self.config.full_dump_share * self.table.len() as f64;
                if due > FEW_ROUTES && due as f64 > share {
                    self.send_full(cx);
                } else {
                    self.send(false, cx);
                }
            } else {
                self.reschedule(cx);
            }
        }
    }

    /// Sends a full dump with a new number, and schedules the next one. Before, routes that nobody renews break.
    fn send_full(&mut self, cx: &mut Context<'_>) {
        self.table.forget(self.config.forget_time(), cx.now);
        self.number = self.number.wrapping_add(2);
        self.send(true, cx);
        let wait = Span(self.config.period.0.saturating_add(random_part(self.config.period_jitter, cx).0));
        self.updates.full_at = Some(cx.now.saturating_add(wait));
    }

    /// Schedules the next triggered update anew.
    fn reschedule(&mut self, cx: &mut Context<'_>) {
        self.updates.triggered_at = Time::NEVER;
        self.schedule_update(self.table.next_trigger(), cx);
    }

    /// Sends an update: the node's own entry first in each datagram, then routes.
    fn send(&mut self, full: bool, cx: &mut Context<'_>) {
        self.updates.own_is_news = false;
        self.updates.last = Some(cx.now);
        let own = Entry { destination: self.address, hops: 1, number: self.number };
        let routes = self.table.advertise(full, cx.now);
        let mut parts = routes.chunks(Update::MOST - 1);
        let first = parts.next().unwrap_or_default();
        for part in core::iter::once(first).chain(parts) {
            let mut entries = vec![own];
            entries.extend(part);
            cx.out.extend(Update::new(&entries).map(|update| datagram(&update, full)));
        }
        self.reschedule(cx);
    }
}

fn datagram(update: &Update, full: bool) -> Effect {
    let mut bytes = vec![0; update.wire_len()];
    let written = update.encode(&mut bytes);
    debug_assert_eq!(written, Ok(bytes.len()));
    let kinds = vec![usize::from(!full)];
    Effect::Send { bytes, kinds, to: To::All, ttl: 1, rate: SendRate::Broadcast }
}

/// A random part of a time.
fn random_part(most: Span, cx: &mut Context<'_>) -> Span {
    if most == Span::ZERO { Span::ZERO } else { Span((cx.random.uniform() * most.0 as f64) as u64) }
}
