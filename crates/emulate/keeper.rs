//! The keeper: a process that makes the nodes, starts programs in them, and lets users of other terminals in. All of its descendants end
//! with it, and it ends with the emulator, however that ends.
//!
//! The keeper is the first process of a namespace of processes. It makes each node's namespace and hands its devices over, so that the
//! emulator itself needs no rights; without root it does so in a namespace of users of its own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions, wait};
use serde::{Deserialize, Serialize};

use crate::channel::Channel;
use crate::control::{ControlSocket, NodeEntry};
use crate::management::{self, Hub};
use crate::node::{self, Node, Stack, Tap, Tried};
use crate::plan::Plan;
use crate::program::{self, ProgramSpec};
use crate::sys;

/// Milliseconds that programs have for their own end, and between two looks whether they have come to it.
const GRACE_MS: u64 = 300;
const PATIENCE_MS: u64 = 5;

/// A message of the emulator.
#[derive(Debug, Serialize, Deserialize)]
enum Request {
    /// To start the program with this number.
    Start { program: usize },
    /// To ask it to end.
    Stop { program: usize },
    /// To end all programs and tell what was lost at the devices.
    Finish,
}

/// A message of the keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// The first: what was tried out in a namespace of its own, and the reason why there is no management network, if there is none.
    Began(Tried, Option<String>),
    /// The next node is made; its devices come with it, and last the socket of its counters.
    Made,
    /// All nodes are made, and the ways between them.
    Ready,
    /// A part could not be made.
    Failed { error: String },
    /// A program has ended.
    Ended { program: usize, status: i32 },
    /// A program could not be started.
    NotStarted { program: usize, error: String },
    /// The end: frames that the kernel has dropped at devices.
    Finished { device_drops: u64 },
}

/// The things that the keeper knows or has made besides nodes and devices.
#[derive(Debug)]
pub(crate) struct Made {
    /// Behaviour of this kernel.
    pub tried: Tried,
    /// The reason why there is no management network, if there is none.
    pub no_management: Option<String>,
    /// The sockets at which programs request counters, node by node.
    pub counters: Vec<OwnedFd>,
}

/// The keeper, from the emulator's side. It ends with this value.
#[derive(Debug)]
pub(crate) struct Keeper {
    channel: Option<Channel>,
    process: Pid,
}

/// The things that a keeper makes and starts.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// The nodes.
    pub plan: &'a Plan,
    /// Settings of their stacks.
    pub stack: &'a Stack,
    /// Programs, started on request.
    pub programs: &'a [ProgramSpec],
    /// The socket at which users of other terminals ask for nodes, if there is one.
    pub socket: Option<ControlSocket>,
}

impl Keeper {
    /// Starts the keeper and receives the devices of all nodes.
    ///
    /// # Errors
    /// The first refusal of the kernel, with the node and what was tried.
    pub fn start(setup: Setup<'_>) -> Result<(Self, Vec<Tap>, Made), String> {
        let as_text = |error: io::Error| error.to_string();
        let (channel, other) = Channel::pair().map_err(as_text)?;
        let plan = setup.plan;
        let process = sys::fork(|| {
            // The keeper must see the end of the emulator's end, not hold it.
            sys::close_of_parent(&channel);
            begin(other, setup);
        })
        .map_err(as_text)?;
        let keeper = Self { channel: Some(channel), process };
        let next = || match keeper.event(true).map_err(as_text)? {
            Some((Event::Failed { error }, _)) => Err(error),
            Some(event) => Ok(event),
            None => Err("the process that keeps the nodes has ended".to_string()),
        };
        let unexpected = || "the process that keeps the nodes has said something else".to_string();
        let (Event::Began(tried, no_management), _) = next()? else { return Err(unexpected()) };
        let (mut taps, mut counters) = (Vec::new(), Vec::new());
        for node in &plan.nodes {
            match next()? {
                (Event::Made, mut devices) if devices.len() == node.interfaces.len() + 1 => {
                    counters.extend(devices.pop());
                    let of = node.interfaces.iter().zip(devices);
                    taps.extend(of.map(|(of, frames)| Tap {
                        frames: Some(frames),
                        node: node.node,
                        port: of.port,
                    }));
                }
                _ => return Err(unexpected()),
            }
        }
        let (Event::Ready, _) = next()? else { return Err(unexpected()) };
        Ok((keeper, taps, Made { tried, no_management, counters }))
    }

    /// The next event, and descriptors that come with it; none: the keeper has ended.
    pub fn event(&self, wait: bool) -> io::Result<Option<(Event, Vec<OwnedFd>)>> {
        self.channel.as_ref().map_or(Ok(None), |channel| channel.receive(wait))
    }

    /// Sends a request; false where the keeper takes none now. A keeper that has ended is seen by the end of its events.
    fn request(&self, request: &Request) -> bool {
        let sent = self.channel.as_ref().map_or(Ok(()), |channel| channel.try_send(request));
        !sent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Asks for the start of a program; false where the keeper takes no request now.
    pub fn start_program(&self, program: usize) -> bool {
        self.request(&Request::Start { program })
    }

    /// Asks for the end of a program; false where the keeper takes no request now.
    pub fn stop_program(&self, program: usize) -> bool {
        self.request(&Request::Stop { program })
    }

    /// Ends all programs; the events end with `Finished`. False where the keeper takes no request now.
    pub fn finish(&self) -> bool {
        self.request(&Request::Finish)
    }

    /// The descriptor that is readable when there is an event.
    pub fn descriptor(&self) -> Option<impl AsFd> {
        self.channel.as_ref()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // It ends when nobody holds the other end.
        self.channel = None;
        sys::wait_for(self.process);
    }
}

/// The process between the emulator and the keeper: only its children are in the new namespace of processes.
fn begin(channel: Channel, setup: Setup<'_>) {
    let began = enter_namespaces()
        .and_then(|()| sys::fork(|| KeeperProcess::run(&channel, setup)).map_err(|error| error.to_string()));
    match began {
        Ok(first) => {
            drop(channel);
            sys::wait_for(first);
        }
        Err(error) => _ = channel.send(&Event::Failed { error }, &[]),
    }
}

/// Enters a namespace of users, if the caller has no rights of his own, and lets children be in a new one of processes.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn enter_namespaces() -> Result<(), String> {
    let outside = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    if outside.0 != 0 {
        let failed = |error: io::Error| format!("a namespace of users: {error}");
        sys::new_users().map_err(failed)?;
        std::fs::write("/proc/self/setgroups", "deny").map_err(failed)?;
        std::fs::write("/proc/self/uid_map", format!("0 {} 1", outside.0)).map_err(failed)?;
        std::fs::write("/proc/self/gid_map", format!("0 {} 1", outside.1)).map_err(failed)?;
    }
    // After the change of rights, which clears it.
    sys::end_with_parent().map_err(|error| error.to_string())?;
    sys::new_processes().map_err(|error| format!("a namespace of processes: {error}"))
}

/// A program that runs.
struct Running {
    number: usize,
    process: Pid,
}

/// The keeper's own side.
struct KeeperProcess<'a> {
    channel: &'a Channel,
    setup: Setup<'a>,
    hub: Option<Hub>,
    nodes: Vec<Node>,
    hosts: OwnedFd,
    running: Vec<Running>,
    finishing: bool,
}

impl<'a> KeeperProcess<'a> {
    fn run(channel: &'a Channel, setup: Setup<'a>) {
        _ = sys::end_with_parent();
        _ = rustix::thread::set_name(c"airfair-keeper");
        let failed = match Self::make(channel, setup) {
            Ok(mut keeper) => keeper.serve().err().map(|error| error.to_string()),
            Err(error) => Some(error),
        };
        if let Some(error) = failed {
            _ = channel.send(&Event::Failed { error }, &[]);
        }
    }

    fn make(channel: &'a Channel, setup: Setup<'a>) -> Result<Self, String> {
        let hub = Hub::new();
        let hosts = setup.plan.hosts(hub.is_ok());
        let hosts = program::file_of(&hosts).map_err(|error| error.to_string())?;
        let tried = node::try_out(setup.stack)?;
        let no_management = hub.as_ref().err().map(ToString::to_string);
        channel.send(&Event::Began(tried, no_management), &[]).map_err(|error| error.to_string())?;
        let mut nodes = Vec::new();
        for plan in &setup.plan.nodes {
            let (made, served) = node::make(plan, setup.stack, hub.as_ref().ok())?;
            let descriptors: Vec<_> = served.taps.iter().chain([&served.counters]).map(AsFd::as_fd).collect();
            channel.send(&Event::Made, &descriptors).map_err(|error| error.to_string())?;
            nodes.push(made);
        }
        let numbers: Vec<u16> = setup.plan.nodes.iter().map(|node| node.number).collect();
        let hub = hub.ok();
        hub.as_ref()
            .map_or(Ok(()), |hub| hub.add_routes(&numbers))
            .map_err(|error| format!("the management network: {error}"))?;
        channel.send(&Event::Ready, &[]).map_err(|error| error.to_string())?;
        Ok(Self { channel, setup, hub, nodes, hosts, running: Vec::new(), finishing: false })
    }

    /// Serves until the emulator has gone, or has heard the end.
    fn serve(&mut self) -> io::Result<()> {
        let ended = sys::child_signals()?;
        loop {
            let mut watched =
                vec![PollFd::new(self.channel, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
            let socket = self.setup.socket.as_ref();
            watched.extend(
                socket
                    .into_iter()
                    .flat_map(ControlSocket::watched)
                    .map(|of| PollFd::from_borrowed_fd(of, PollFlags::IN)),
            );
            match poll(&mut watched, None) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            let ready: Vec<bool> = watched.iter().map(|of| !of.revents().is_empty()).collect();
            drop(watched);
            if ready[1] {
                let mut bytes = [0; 128];
                while rustix::io::read(&ended, &mut bytes[..]).is_ok_and(|length| length > 0) {}
                self.reap();
            }
            if ready[0] {
                match self.channel.receive(false) {
                    Ok(Some((request, _))) => self.handle(&request),
                    Ok(None) => return Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            if let Some(socket) = &mut self.setup.socket {
                let (plan, nodes, hosts) = (self.setup.plan, &self.nodes, self.hosts.as_fd());
                let hub = self.hub.as_ref();
                let node = |name: &str| match plan.find(name) {
                    Some(of) => Some(NodeEntry {
                        host: &of.host,
                        network: nodes[of.node.0 as usize].network.as_fd(),
                        hosts,
                    }),
                    None => hub.filter(|_| name == management::HUB_NAME).map(|hub| NodeEntry {
                        host: management::HUB_NAME,
                        network: hub.network.as_fd(),
                        hosts,
                    }),
                };
                socket.serve(&ready[2..], node);
            }
            if self.finishing {
                self.end()?;
                return Ok(());
            }
        }
    }

    fn handle(&mut self, request: &Request) {
        match *request {
            Request::Start { program } => {
                let Some(spec) = self.setup.programs.get(program) else { return };
                let plan = self.setup.plan.find(&spec.node).ok_or_else(|| "no such node".to_string());
                let started = plan.and_then(|plan| {
                    program::start(spec, plan, &self.nodes[plan.node.0 as usize].network, &self.hosts)
                });
                match started {
                    Ok(process) => self.running.push(Running { number: program, process }),
                    Err(error) => _ = self.channel.send(&Event::NotStarted { program, error }, &[]),
                }
            }
            Request::Stop { program } => {
                for of in self.running.iter().filter(|of| of.number == program) {
                    _ = rustix::process::kill_process(of.process, rustix::process::Signal::TERM);
                }
            }
            Request::Finish => self.finishing = true,
        }
    }

    /// Takes leave of children that have ended: programs, and what programs have left behind.
    fn reap(&mut self) {
        while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
            let Some(at) = self.running.iter().position(|of| of.process == process) else { continue };
            let program = self.running.swap_remove(at).number;
            let status =
                status.exit_status().unwrap_or_else(|| 128 + status.terminating_signal().unwrap_or_default());
            _ = self.channel.send(&Event::Ended { program, status }, &[]);
        }
    }

    /// Ends all programs, first by asking.
    fn end(&mut self) -> io::Result<()> {
        // Before that: frames of programs that end, when nobody reads devices any more, are none of the run.
        let device_drops = self.nodes.iter().map(|node| node::dropped_at_devices(node).unwrap_or(0)).sum();
        // A program that was stopped hears nothing before it goes on.
        sys::signal_all(libc::SIGTERM);
        sys::signal_all(libc::SIGCONT);
        for _ in 0..GRACE_MS / PATIENCE_MS {
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            if wait(WaitOptions::NOHANG).is_err() {
                break;
            }
            sys::sleep(PATIENCE_MS);
        }
        sys::signal_all(libc::SIGKILL);
        self.channel.send(&Event::Finished { device_drops }, &[])
    }
}
