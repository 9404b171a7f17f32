//! The wall clock of a run. It wakes at a time, or when a descriptor that it watches is readable.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use airfair_sim::engine::drive::{Clock, Wake};
use airfair_units::{Span, Time};

use crate::punctuality::Punctuality;
use crate::sys;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// A world that is later than this takes no more frames until it has caught up: what waits in devices is bounded, what would wait in the
/// world is not.
pub const MOST_BEHIND: Span = Span::from_millis(50);

/// A time shorter than this is not slept: to fall asleep and to wake takes as long.
const SHORTEST_SLEEP: Span = Span::from_micros(10);

/// Where the next moment is nearer than this, devices are read then, and not as their frames come: to wake twice costs more than the frames
/// lose.
const TOGETHER: Span = Span::from_micros(30);

/// Descriptors that one look reports at most.
const MOST_READY: usize = 64;

/// The numbers of the descriptors that were readable at the last look; whoever reads them takes them from here.
pub type Ready = Rc<RefCell<Vec<u64>>>;

/// The lateness of a run: the clock knows pauses of the machine, whoever delivers knows the deliveries.
pub type SharedPunctuality = Rc<RefCell<Punctuality>>;

/// Time since the clock was made.
#[derive(Debug)]
pub struct WallClock {
    start: u64,
    /// The keeper and timers: read however late the world is.
    control: OwnedFd,
    /// The same and devices.
    all: OwnedFd,
    ready: Ready,
    punctuality: SharedPunctuality,
    /// Looks at which the world was too late to take frames.
    refused: u64,
    wakes: u64,
}

/// The kernel's clock, ns.
pub(crate) fn monotonic() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

impl WallClock {
    /// A clock that begins now.
    ///
    /// # Errors
    /// Without free descriptors.
    pub fn new() -> io::Result<Self> {
        let new = || epoll::create(CreateFlags::CLOEXEC);
        Ok(Self {
            start: monotonic(),
            control: new()?,
            all: new()?,
            ready: Ready::default(),
            punctuality: SharedPunctuality::default(),
            refused: 0,
            wakes: 0,
        })
    }

    /// Begins again at 0.
    pub fn restart(&mut self) {
        self.start = monotonic();
        let now = (self.now(), sys::cpu_time());
        self.punctuality.replace(Punctuality::beginning(now));
    }

    /// A function that reads the time since the clock began.
    pub fn reader(&self) -> impl Fn() -> Time + 'static {
        let start = self.start;
        move || Time(monotonic() - start)
    }

    /// The lateness of the run so far.
    #[must_use]
    pub fn punctuality(&self) -> SharedPunctuality {
        Rc::clone(&self.punctuality)
    }

    /// The list in which numbers of readable descriptors are left.
    #[must_use]
    pub fn ready(&self) -> Ready {
        Rc::clone(&self.ready)
    }

    /// Watches a device.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn watch_device(&self, device: impl AsFd, number: u64) -> io::Result<()> {
        Ok(epoll::add(&self.all, device, EventData::new_u64(number), EventFlags::IN)?)
    }

    /// Watches a descriptor of control.
    ///
    /// # Errors
    /// As the kernel says.
    pub fn watch_control(&self, descriptor: impl AsFd, number: u64) -> io::Result<()> {
        for set in [&self.control, &self.all] {
            epoll::add(set, descriptor.as_fd(), EventData::new_u64(number), EventFlags::IN)?;
        }
        Ok(())
    }

    /// Times at which it has looked, and those of them at which the world was too late for more frames.
    #[must_use]
    pub const fn looks(&self) -> (u64, u64) {
        (self.wakes, self.refused)
    }

    /// Notes what is readable in one of the sets; true if something is.
    fn look(ready: &Ready, set: &OwnedFd, wait: Span) -> bool {
        let mut found =
            [epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; MOST_READY];
        let timeout =
            Timespec { tv_sec: (wait.0 / 1_000_000_000) as i64, tv_nsec: (wait.0 % 1_000_000_000) as i64 };
        let count = epoll::wait(set, &mut found[..], Some(&timeout)).unwrap_or(0);
        ready.borrow_mut().extend(found[..count].iter().map(|event| event.data.u64()));
        count > 0
    }
}

impl Clock for WallClock {
    fn now(&mut self) -> Time {
        Time(monotonic() - self.start)
    }

    fn wait(&mut self, until: Time) -> Wake {
        let mut now = self.now();
        if now.since(until) > MOST_BEHIND {
            self.refused += 1;
            self.punctuality.borrow_mut().refused(now);
            return if Self::look(&self.ready, &self.control, Span::ZERO) { Wake::Input } else { Wake::Due };
        }
        self.wakes += 1;
        loop {
            let began = now;
            let wait = until.since(now);
            let has_input = if (SHORTEST_SLEEP..=TOGETHER).contains(&wait) {
                Self::look(&self.ready, &self.control, wait) || Self::look(&self.ready, &self.all, Span::ZERO)
            } else {
                let wait = if wait < SHORTEST_SLEEP { Span::ZERO } else { wait };
                Self::look(&self.ready, &self.all, wait)
            };
            now = self.now();
            self.punctuality.borrow_mut().looked(began, now, until, sys::cpu_time);
            if has_input {
                return Wake::Input;
            }
            if now >= until {
                return Wake::Due;
            }
        }
    }
}
