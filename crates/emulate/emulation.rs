//! A run, from the first namespace to the report.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use airfair_sim::World;
use airfair_sim::engine::drive::{Clock, Coupling, coupled};
use airfair_units::Time;

use crate::bridge::Bridge;
use crate::clock::{Ready, WallClock};
use crate::node::{self, Node, Stack, Tap};
use crate::plan::Plan;
use crate::program::{Program, ProgramSpec};
use crate::report::Report;
use crate::sys;

/// Priority of the emulator before all processes of usual priority.
const PRIORITY: i32 = 20;

/// The number of the descriptor of signals.
const SIGNALS: u64 = u64::MAX;

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
}

/// The first thing that this machine or the caller lacks, in one line with the remedy; none if all is there.
#[must_use]
pub fn missing() -> Option<String> {
    if !std::path::Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun: load the kernel's module (modprobe tun)".to_string());
    }
    if !rustix::process::geteuid().is_root() {
        return Some("network namespaces and devices need root: run it with sudo".to_string());
    }
    None
}

/// Runs a function in a process of its own, whose programs end with it and with this process, and returns what it has written.
///
/// # Errors
/// Where the process cannot be made, or has ended without an answer.
pub fn in_own_process(run: impl FnOnce() -> Vec<u8>) -> io::Result<Vec<u8>> {
    use std::io::Write;
    let (from, to) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    match sys::fork_init()? {
        sys::Fork::Child => {
            drop(from);
            let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_default();
            let written = fs::File::from(to).write_all(&answer);
            sys::exit_now(i32::from(written.is_err()));
        }
        sys::Fork::Parent(child) => {
            drop(to);
            let answer = await_answer(from, child);
            _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::empty());
            sys::unblock_own(&ENDING);
            answer
        }
    }
}

/// Signals by which a user ends a run.
const ENDING: [libc::c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// Reads the answer of a process to its end. Signals that end the run are passed on to it, which then says how it went.
fn await_answer(from: OwnedFd, child: rustix::process::Pid) -> io::Result<Vec<u8>> {
    use rustix::event::{PollFd, PollFlags, poll};
    use std::io::Read;
    let signals = sys::signals(&ENDING)?;
    let mut from = fs::File::from(from);
    let (mut answer, mut bytes) = (Vec::new(), [0; 4096]);
    loop {
        let mut ready = [PollFd::new(&from, PollFlags::IN), PollFd::new(&signals, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [has_answer, has_signal] = ready.map(|of| !of.revents().is_empty());
        if has_signal {
            while rustix::io::read(&signals, &mut bytes[..128]).is_ok_and(|length| length > 0) {}
            _ = rustix::process::kill_process(child, rustix::process::Signal::TERM);
        }
        if has_answer {
            match from.read(&mut bytes)? {
                0 => return Ok(answer),
                length => answer.extend_from_slice(&bytes[..length]),
            }
        }
    }
}

/// Devices, programs and signals beside a world.
struct Outside {
    bridge: Bridge,
    ready: Ready,
    programs: Vec<Program>,
    signals: OwnedFd,
    /// True once the user has asked for the end.
    interrupted: bool,
}

impl Coupling<World> for Outside {
    fn enter(&mut self, world: &mut World) -> bool {
        let ready = std::mem::take(&mut *self.ready.borrow_mut());
        for number in ready {
            if number == SIGNALS {
                self.on_signal();
            } else {
                self.bridge.read(number as usize, world);
            }
        }
        let mut awaited = self.programs.iter().filter(|program| program.spec.ends_run).peekable();
        let all_ended = awaited.peek().is_some() && awaited.all(|program| program.status.is_some());
        !self.interrupted && !all_ended
    }

    fn leave(&mut self, world: &mut World, arrived: &mut dyn FnMut(Time)) {
        self.bridge.write(world, arrived);
    }
}

impl Outside {
    fn on_signal(&mut self) {
        let mut bytes = [0; 128];
        while let Ok(length) = rustix::io::read(&self.signals, &mut bytes[..]) {
            if length < 4 {
                break;
            }
            let number = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as i32;
            self.interrupted |= ENDING.contains(&number);
        }
        self.programs.iter_mut().for_each(Program::look);
    }
}

/// Emulates a world until its end, until all programs have ended, or until it is interrupted. Calls `say` with a line of what happens.
///
/// # Errors
/// The part that could not be made, before the run begins.
pub fn emulate(world: &mut World, options: &Options, say: &mut dyn FnMut(&str)) -> Result<Report, String> {
    let plan = Plan::of(world, !options.own_routing)?;
    for program in &options.programs {
        if plan.find(&program.node).is_none() {
            return Err(format!("--node {}: the scenario has no such node", program.node));
        }
    }
    let as_text = |error: io::Error| error.to_string();
    let mut clock = WallClock::new().map_err(as_text)?;
    let began = clock.now();
    let mut nodes: Vec<Node> = Vec::new();
    let mut taps: Vec<Tap> = Vec::new();
    for of in &plan.nodes {
        let mut made = node::make(of, &options.stack)?;
        taps.append(&mut made.taps);
        nodes.push(made);
    }
    for (number, tap) in taps.iter().enumerate() {
        clock.watch_device(&tap.frames, number as u64).map_err(as_text)?;
    }
    let set_up = clock.now().since(began);
    say(&format!("{} nodes, {} devices, in {:.2} s", nodes.len(), taps.len(), set_up.as_secs_f64()));
    let signals = sys::signals(&[libc::SIGINT, libc::SIGTERM, libc::SIGCHLD]).map_err(as_text)?;
    clock.watch_control(&signals, SIGNALS).map_err(as_text)?;
    let no_priority = prefer().err().map(|error| error.to_string());
    let hosts = Hosts::write(&plan.hosts()).map_err(as_text)?;
    let mut programs = Vec::new();
    for spec in &options.programs {
        let at = plan.nodes.iter().position(|node| node.name == spec.node).unwrap_or_default();
        programs.push(Program::start(spec, &plan.nodes[at], &nodes[at].network, &hosts.0)?);
    }
    let bridge = Bridge::new(plan, taps, options.seed, false);
    let mut outside = Outside { bridge, ready: clock.ready(), programs, signals, interrupted: false };
    clock.restart();
    let lateness = coupled(world, &mut clock, &mut outside);
    let wall = clock.now();
    let Outside { bridge, mut programs, interrupted, .. } = outside;
    programs.iter_mut().for_each(Program::stop);
    let device_drops = nodes.iter().map(|node| node::dropped_at_devices(node).unwrap_or(0)).sum();
    Ok(Report {
        wall_s: wall.0 as f64 / 1e9,
        set_up_s: set_up.as_secs_f64(),
        lateness,
        counts: bridge.counts().clone(),
        device_drops,
        looks: clock.looks(),
        no_priority,
        interrupted,
        programs: programs
            .iter()
            .map(|of| (of.spec.node.clone(), of.spec.command.join(" "), of.status))
            .collect(),
    })
}

/// Runs before other processes, with its memory in RAM, and wakes when it is due.
fn prefer() -> io::Result<()> {
    rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
    sys::be_real_time(PRIORITY)?;
    rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT | rustix::mm::MlockAllFlags::FUTURE)?;
    Ok(())
}

/// The file that nodes have in place of `/etc/hosts`; it is removed at the end.
struct Hosts(std::path::PathBuf);

impl Hosts {
    fn write(text: &str) -> io::Result<Self> {
        let path = std::env::temp_dir().join(format!("airfair-hosts-{}", std::process::id()));
        fs::write(&path, text)?;
        Ok(Self(path))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}
