//! A run, from the first namespace to the report.

use std::io;
use std::os::fd::OwnedFd;

use airfair_sim::engine::drive::{Clock, Coupling, Steppable, coupled};
use airfair_sim::{World, count_links};
use airfair_units::{Span, Time};
use rustix::mm::MlockAllFlags;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::bridge::{Bridge, Setting};
use crate::clock::{Ready, SharedPunctuality, WallClock};
use crate::control::{ControlSocket, SocketPath};
use crate::counters::{Counters, DriverFault};
use crate::keeper::{Event, Keeper, Setup};
use crate::live::{Live, LiveSpec, State};
use crate::node::{Stack, Tried};
use crate::plan::Plan;
use crate::program::{ProgramSpec, found};
use crate::report::{self, Program, Report};
use crate::source::Sources;
use crate::sys;

/// Priority of the emulator before all processes of usual priority.
const PRIORITY: i32 = 20;

/// Numbers of descriptors that are no devices.
const KEEPER: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;
const EDGES: u64 = u64::MAX - 2;

/// From this number on the sockets of counters, node by node.
const COUNTERS: u64 = 1 << 32;

/// Time between two looks at signals, programs to start, and results to hand over.
const LOOK: Span = Span::from_millis(20);

/// The choices of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Programs to start.
    pub programs: Vec<ProgramSpec>,
    /// True if the nodes find routes by programs of their own.
    pub own_routing: bool,
    /// Settings of the stacks.
    pub stack: Stack,
    /// The key of the numbers of flows.
    pub seed: u64,
    /// True if the world needs the bytes of frames, for captures.
    pub captures: bool,
    /// Length of an interval of the flows' counts over time.
    pub interval: Span,
    /// Where the state of the run is told while it runs.
    pub live: LiveSpec,
    /// The fault of the counters that nodes are served.
    pub driver_fault: Option<DriverFault>,
}

/// A program, from the emulator's side.
#[derive(Debug, Clone)]
struct Followed {
    spec: ProgramSpec,
    started: bool,
    stopped: bool,
    status: Option<i32>,
    error: Option<String>,
}

/// Devices and programs beside a world.
struct Outside<'a, W> {
    bridge: Bridge,
    ready: Ready,
    keeper: Keeper,
    timer: OwnedFd,
    counters: Counters,
    /// The timer of the edges of sources, and the time for which it is set.
    edges: (OwnedFd, Option<Time>),
    live: Live,
    plan: Plan,
    programs: Vec<Followed>,
    punctuality: SharedPunctuality,
    now: Box<dyn Fn() -> Time>,
    /// False once the user has asked for the end.
    goes_on: &'a mut dyn FnMut(&mut W) -> bool,
    interrupted: bool,
    /// The keeper has ended by itself, for this reason.
    keeper_ended: Option<String>,
    device_drops: Option<u64>,
}

impl<W: Steppable + AsMut<World>> Coupling<W> for Outside<'_, W> {
    fn enter(&mut self, world: &mut W) -> bool {
        let mut ready = self.ready.take();
        for number in ready.drain(..) {
            match number {
                KEEPER => self.receive_events(),
                TIMER => self.look(world),
                EDGES => {
                    _ = rustix::io::read(&self.edges.0, &mut [0; 8][..]);
                    self.edges.1 = None;
                    self.bridge.release(world.as_mut());
                }
                node @ COUNTERS.. => {
                    let number = (node - COUNTERS) as usize;
                    self.counters.answer(number, &self.plan, world.as_mut());
                }
                device => self.bridge.read(device as usize, world.as_mut()),
            }
        }
        // Its memory is used again.
        self.ready.replace(ready);
        self.set_edges();
        let mut awaited = self.programs.iter().filter(|program| program.spec.ends_run).peekable();
        let has_ended = |program: &Followed| program.status.is_some() || program.error.is_some();
        let all_ended = awaited.peek().is_some() && awaited.all(has_ended);
        !self.interrupted && !all_ended && self.keeper_ended.is_none()
    }

    fn leave(&mut self, world: &mut W, arrived: &mut dyn FnMut(Time)) {
        let (punctuality, now) = (&self.punctuality, &self.now);
        self.bridge.write(world.as_mut(), &mut |at| {
            punctuality.borrow_mut().delivered(at, now());
            arrived(at);
        });
        self.set_edges();
    }
}

impl<W> Outside<'_, W> {
    /// Sets the timer of the edges for what is due there next.
    fn set_edges(&mut self) {
        let Some(due) = self.bridge.next_due() else { return };
        if self.edges.1.is_none_or(|set| due < set) {
            self.edges.1 = Some(due);
            // Of a timer 0 is none.
            let wait = due.since((self.now)()).max(Span(1));
            _ = set_timer(&self.edges.0, wait, Span::ZERO);
        }
    }

    /// Starts and ends programs whose time has come, and asks whether to go on.
    fn look(&mut self, world: &mut W) {
        _ = rustix::io::read(&self.timer, &mut [0; 8][..]);
        let now = (self.now)();
        for (number, program) in self.programs.iter_mut().enumerate() {
            if !program.started && program.spec.at <= now {
                program.started = self.keeper.start_program(number);
            }
            if program.started && !program.stopped && program.spec.until.is_some_and(|until| until <= now) {
                program.stopped = self.keeper.stop_program(number);
            }
        }
        if self.live.is_due(now) {
            let punctuality = self.punctuality.borrow();
            let state = State {
                time_s: now.0 as f64 / 1e9,
                lateness: (&*punctuality).into(),
                pauses: (&*punctuality).into(),
                frames: self.bridge.counts().clone(),
                flows: report::rows(&self.bridge, &self.plan, now),
            };
            self.live.publish(&state, now);
        }
        self.interrupted |= !(self.goes_on)(world);
    }

    /// Handles the keeper's events.
    fn receive_events(&mut self) {
        loop {
            match self.keeper.event(false) {
                Ok(Some((event, _))) => self.handle(event),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                other => {
                    let reason =
                        other.err().map_or_else(|| "it was killed".to_string(), |error| error.to_string());
                    self.keeper_ended.get_or_insert(reason);
                    return;
                }
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Ended { program, status } => {
                self.programs.get_mut(program).into_iter().for_each(|of| of.status = Some(status));
            }
            Event::NotStarted { program, error } => {
                self.programs.get_mut(program).into_iter().for_each(|of| of.error = Some(error.clone()));
            }
            Event::Finished { device_drops } => self.device_drops = Some(device_drops),
            Event::Failed { error } => self.keeper_ended = Some(error),
            Event::Made | Event::Ready | Event::Began(..) => {}
        }
    }

    /// Ends all programs, and waits for what the keeper says at the end.
    fn finish(&mut self) {
        let mut asked = self.keeper.finish();
        while self.device_drops.is_none() {
            match self.keeper.event(true) {
                Ok(Some((event, _))) => self.handle(event),
                _ => return,
            }
            asked = asked || self.keeper.finish();
        }
    }
}

/// Emulates a world until its end, until all programs of which one ends the run have ended, or until `goes_on` is false: it is called
/// some fifty times a second. Calls `say` with lines about what has begun.
///
/// # Errors
/// The part that could not be made, before the run begins; or the end of the process that keeps the nodes.
pub fn emulate<W: Steppable + AsMut<World>>(
    world: &mut W,
    options: &Options,
    goes_on: &mut dyn FnMut(&mut W) -> bool,
    say: &mut dyn FnMut(&str),
) -> Result<Report, String> {
    let plan = plan(world.as_mut(), options)?;
    let live = Live::new(&options.live)?;
    let as_text = |error: io::Error| error.to_string();
    let path = SocketPath::new().map_err(as_text)?;
    let socket = Some(ControlSocket::open(&path).map_err(as_text)?);
    let mut clock = WallClock::new().map_err(as_text)?;
    let began = clock.now();
    let setup = Setup { plan: &plan, stack: &options.stack, programs: &options.programs, socket };
    let (keeper, taps, made) = Keeper::start(setup)?;
    let Tried { congestion_control, devices_hold_back } = made.tried.clone();
    for (number, tap) in taps.iter().enumerate() {
        tap.frames
            .as_ref()
            .map_or(Ok(()), |frames| clock.watch_device(frames, number as u64))
            .map_err(as_text)?;
    }
    keeper.descriptor().map_or(Ok(()), |of| clock.watch_control(of, KEEPER)).map_err(as_text)?;
    for (number, socket) in (COUNTERS..).zip(&made.counters) {
        clock.watch_device(socket, number).map_err(as_text)?;
    }
    world.as_mut().measure_links();
    count_links(world.as_mut());
    let (timer, edges) = (timer().map_err(as_text)?, timer().map_err(as_text)?);
    set_timer(&timer, Span(1), LOOK).map_err(as_text)?;
    clock.watch_control(&timer, TIMER).map_err(as_text)?;
    clock.watch_device(&edges, EDGES).map_err(as_text)?;
    let set_up = clock.now().since(began);
    say(&format!(
        "{} nodes, {} devices, in {:.2} s; TCP has {congestion_control}; airfair shell NODE opens one",
        plan.nodes.len(),
        taps.len(),
        set_up.as_secs_f64()
    ));
    if let Some(problem) = made.no_management {
        say(&format!("no management network: {problem}"));
    }
    let no_priority = prefer().err().map(|error| error.to_string());
    if let Some(problem) = &no_priority {
        say(&format!("no priority before other processes: {problem}"));
    }
    let warmup = world.as_mut().warmup_end();
    let port = plan.nodes.iter().flat_map(|node| &node.interfaces).next().map(|interface| interface.port);
    let kind = port.and_then(|port| world.as_mut().source_at(port)).and_then(|(source, _)| source.header());
    let sources = kind.and_then(|kind| Sources::new(kind, options.seed));
    let setting = Setting {
        seed: options.seed,
        captures: options.captures,
        warmup,
        interval: options.interval,
        sources,
        label: world.as_mut().queue_header(),
    };
    let bridge = Bridge::new(plan.clone(), taps, setting);
    let followed = |spec: &ProgramSpec| Followed {
        spec: spec.clone(),
        started: false,
        stopped: false,
        status: None,
        error: None,
    };
    clock.restart();
    let mut outside = Outside {
        bridge,
        ready: clock.ready(),
        keeper,
        timer,
        counters: Counters::new(made.counters, &plan, options.driver_fault),
        edges: (edges, None),
        live,
        plan: plan.clone(),
        programs: options.programs.iter().map(followed).collect(),
        punctuality: clock.punctuality(),
        now: Box::new(clock.reader()),
        goes_on,
        interrupted: false,
        keeper_ended: None,
        device_drops: None,
    };
    let cpu = sys::cpu_time();
    coupled(world, &mut clock, &mut outside);
    let (wall, cpu) = (clock.now(), Span(sys::cpu_time().0 - cpu.0));
    sys::be_usual();
    if let Some(reason) = outside.keeper_ended {
        return Err(format!("the process that keeps the nodes has ended: {reason}"));
    }
    outside.finish();
    let Outside { mut bridge, programs, interrupted, punctuality, device_drops, .. } = outside;
    let counts = bridge.counts().clone();
    let device_drops = device_drops.unwrap_or(0);
    let faults = device_drops + counts.not_written + counts.too_many;
    let punctuality = punctuality.borrow();
    let length = wall.since(Time::ZERO);
    let (verdict, behind_from_s) = report::verdict(&punctuality, faults, length);
    Ok(Report {
        verdict,
        behind_from_s,
        wall_s: length.as_secs_f64(),
        set_up_s: set_up.as_secs_f64(),
        cpu_s: cpu.as_secs_f64(),
        lateness: (&*punctuality).into(),
        pauses: (&*punctuality).into(),
        wake_ups: clock.looks().0,
        refused_looks: clock.looks().1,
        frames: counts,
        faults,
        device_drops,
        devices_hold_back,
        no_priority,
        congestion_control,
        interrupted,
        programs: programs.into_iter().map(Program::from).collect(),
        flows: report::rows(&bridge, &plan, wall),
        counts: report::counts(&mut bridge, wall),
        own_routing: options.own_routing,
        edges: bridge.edges(),
        series_cut: bridge.flows().is_full(),
        packets_of_other_flows: bridge.flows().others(),
    })
}

/// The plan of a world in which the programs' nodes and files are there.
fn plan(world: &mut World, options: &Options) -> Result<Plan, String> {
    let plan = Plan::of(world, !options.own_routing)?;
    for program in &options.programs {
        if plan.find(&program.node).is_none() {
            return Err(format!("node {}: the scenario has no such node", program.node));
        }
        let name = program.command.first().map_or("", String::as_str);
        if found(name).is_none() {
            return Err(format!("node {}: {name}: no such program", program.node));
        }
    }
    Ok(plan)
}

impl From<Followed> for Program {
    fn from(of: Followed) -> Self {
        Self { node: of.spec.node, command: of.spec.command.join(" "), status: of.status, error: of.error }
    }
}

/// A timer that is not set.
fn timer() -> io::Result<OwnedFd> {
    Ok(timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?)
}

/// Sets a timer that comes after `first`, and then every `interval`; 0: only once.
fn set_timer(timer: &OwnedFd, first: Span, interval: Span) -> io::Result<()> {
    let time =
        |Span(of)| Timespec { tv_sec: (of / 1_000_000_000) as i64, tv_nsec: (of % 1_000_000_000) as i64 };
    let times = Itimerspec { it_interval: time(interval), it_value: time(first) };
    timerfd_settime(timer, TimerfdTimerFlags::empty(), &times)?;
    Ok(())
}

/// Lets the emulator run before other processes, with its memory in RAM as far as the user may lock it, and wake when it is due.
fn prefer() -> io::Result<()> {
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    // Pages are locked as they are used: an allocator may have reserved a gigabyte.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    _ = rustix::mm::mlockall(flags);
    sys::be_real_time(PRIORITY)
}
