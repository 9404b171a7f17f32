//! The receive window that grows with what the application reads, as in Linux: dynamic right-sizing (`tcp_rcv_space_adjust`,
//! `tcp_rcvbuf_grow`) bounds it, and full segments bring it there (`tcp_grow_window`).

use airfair_units::{Span, Time};

use crate::{Segment, Timestamps};

/// The largest window of a SYN, bytes: the first window is as many full segments (`tcp_select_initial_window`).
const FIRST_WINDOW: u64 = 65_535;
/// The first bound, bytes: `tcp_rmem` has 128 KiB, of which a segment's payload takes 166 of 256 (`tcp_measure_rcv_mss`; of a frame of
/// 1,500 B in the usual block of memory).
const FIRST_BOUND: u64 = (128 << 10) * 166 / 256;
/// Segments that the application is taken to have read in the round trip before the first (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u64 = 10;
/// Least payload of a segment that lets the window grow, bytes (`tcp_event_data_recv`).
const LEAST_PAYLOAD: u32 = 128;

/// State of a window that grows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tuning {
    /// The largest bound, bytes.
    most: u64,
    /// The window is at most this, bytes: `rcv_ssthresh`.
    window: u64,
    /// Bound of the window, bytes: `window_clamp`.
    bound: u64,
    /// Most that was read in a round trip, bytes: `rcvq_space.space`.
    space: u64,
    /// The present round trip: its begin, and what had been read then.
    since: Option<Time>,
    read_then: u64,
    /// Eight times the round-trip time, microseconds; zero before it is known.
    rtt: u64,
    /// The last echo that was measured.
    echo: Option<u32>,
    /// A window of data that is being measured: its end, and the time of its begin.
    flight: Option<(u64, Time)>,
}

impl Tuning {
    /// The window of a new connection with full segments of `full` bytes; `most`: the largest there may be.
    pub(crate) fn new(full: u64, most: u64) -> Self {
        let window = (FIRST_WINDOW / full).max(1).saturating_mul(full).min(most);
        Self {
            most,
            window,
            bound: FIRST_BOUND.max(window).min(most),
            space: window.min(FIRST_SEGMENTS * full).max(1),
            since: None,
            read_then: 0,
            rtt: 0,
            echo: None,
            flight: None,
        }
    }

    /// The connection is established: the first round trip begins.
    pub(crate) fn begin(&mut self, now: Time) {
        self.since = Some(now);
    }

    /// The window, bytes, if as much of the buffer is free.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Handles data: their echo measures the round trip (`tcp_rcv_rtt_measure_ts`).
    pub(crate) fn on_data(&mut self, segment: &Segment, full: u32, now: Time) {
        if let Some(stamps) = segment.timestamps.filter(|stamps| self.echo != Some(stamps.echo)) {
            self.echo = Some(stamps.echo);
            if segment.payload >= full {
                let passed = Timestamps::clock(now).wrapping_sub(stamps.echo);
                if passed < u32::MAX / 2 {
                    self.measure(u64::from(passed.max(1)) * 1000, true);
                }
            }
        }
    }

    /// Handles data in order up to `next` (`tcp_rcv_rtt_measure`): a window of data takes a round trip or more.
    pub(crate) fn on_in_order(&mut self, next: u64, window: u64, now: Time) {
        match self.flight {
            Some((end, _)) if next < end => return,
            Some((_, begin)) => self.measure((now.since(begin).as_nanos() / 1000).max(1), false),
            None => {}
        }
        self.flight = Some((next.saturating_add(window), now));
    }

    /// A smaller round-trip time counts at once; a larger one, if it is `exact`, by an eighth (`tcp_rcv_rtt_update`).
    fn measure(&mut self, micros: u64, exact: bool) {
        if self.rtt == 0 || micros < self.rtt >> 3 {
            self.rtt = micros << 3;
        } else if exact {
            self.rtt += micros - (self.rtt >> 3);
        }
    }

    /// The window grows by up to two full segments for data in order, as long as its bound and the free buffer allow (`tcp_grow_window`).
    /// True if it has grown.
    pub(crate) fn grow(&mut self, payload: u32, full: u32, free: u64) -> bool {
        let room = self.bound.min(free).saturating_sub(self.window);
        if payload < LEAST_PAYLOAD || room == 0 {
            return false;
        }
        self.window += room.min(2 * u64::from(full.max(payload)));
        true
    }

    /// The application has read `read` bytes since the start; once in a round trip the bound follows (`tcp_rcv_space_adjust`): twice what
    /// was read in it, and more while that grows. `beyond`: bytes between the next expected and the last that has arrived.
    pub(crate) fn on_read(&mut self, read: u64, beyond: u64, now: Time) {
        let since = *self.since.get_or_insert(now);
        if self.rtt == 0 || now.since(since) < Span::from_micros(self.rtt >> 3) {
            return;
        }
        let copied = read.saturating_sub(self.read_then);
        if copied > self.space {
            let twice = u128::from(copied) * 2;
            let rise = twice * u128::from(copied - self.space) / u128::from(self.space);
            let bound = twice + 2 * rise + u128::from(beyond);
            self.bound = self.bound.max(u64::try_from(bound).unwrap_or(u64::MAX).min(self.most));
            self.space = copied;
        }
        (self.since, self.read_then) = (Some(now), read);
    }
}
