//! A daemon, from the first sample to the last.

use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::{Path, PathBuf};

use airfair_host::{Addressee, HostEvent, MessageSender, Outgoing, Received};
use airfair_schemes::places::{Direction, FlowId, NodeId, PacketClass, Setting, Timer};
use airfair_units::random::{Purpose, Stream};
use airfair_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::{BootClock, Clock};
use crate::config::{Config, ConfigError, MessagesConfig};
use crate::device::Device;
use crate::exchange::lone_exchange;
use crate::file::read_text;
use crate::keeper::Keeper;
use crate::load::{Fault, LinkReading};
use crate::log::{Level, line};
use crate::marker::RENEWED;
use crate::messages::{Keys, Limits, Session};
use crate::messenger::{Messenger, PORT, RadioSocket};
use crate::neighbours::{MessageCounts, Neighbour, Neighbours};
use crate::node::{NewRadio, Node, Radio};
use crate::plan::{Plan, PlannedRadio};
use crate::problem::Problem;
use crate::server::{Server, Texts};
use crate::status::{FORMAT, MessagesState, NeighbourState, RadioState, State};
use crate::sys;

/// Beyond the interval of its samples a law may be late by this: its setting is renewed no longer then.
const LATE: Span = Span::from_millis(250);

/// Bytes of a configuration: far more than one needs.
const LARGEST: u64 = 256 * 1024;

/// Longest sleep: whatever happens, a daemon looks at its devices this often.
const NAP: Span = RENEWED;

/// A running daemon.
pub struct Daemon {
    path: PathBuf,
    config: Config,
    node: Node,
    devices: Vec<Device>,
    /// The neighbours, if the node speaks with some.
    neighbours: Option<Neighbours>,
    /// Another node has this one's name, or a name of the same number: logged once.
    names_clash: bool,
    /// No message can be sent: logged once.
    is_mute: bool,
    /// After the devices: what they leave behind when they are dropped, it removes.
    keeper: Keeper,
    clock: Box<dyn Clock>,
    started: Time,
    renewed: Time,
    reloads: u64,
}

/// Reads a configuration.
///
/// # Errors
/// The file cannot be read, or has errors: all of them, a line each.
pub fn read(path: &Path) -> Result<Config, String> {
    let name = path.display().to_string();
    let text = read_text(path, LARGEST)?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Config::parse(&name, &text, &host)
        .map_err(|errors| errors.iter().map(ConfigError::to_string).collect::<Vec<_>>().join("\n"))
}

/// Reads a configuration, and plans it.
///
/// # Errors
/// All errors of the file, or each thing that the scheme wants and this host lacks, a line each.
pub fn read_plan(path: &Path) -> Result<(Config, Plan), String> {
    let config = read(path)?;
    let of_file = |problem: String| format!("{}: {problem}", path.display());
    let lines = |problems: Vec<String>| problems.into_iter().map(of_file).collect::<Vec<_>>().join("\n");
    let plan = Plan::new(&config).map_err(lines)?;
    Ok((config, plan))
}

/// Reads the keys of a configuration, if it has some.
///
/// # Errors
/// The file of keys is wrong, or not protected.
pub fn check_keys(config: &Config) -> Result<(), String> {
    let Some(messages) = &config.messages else { return Ok(()) };
    Keys::read(&messages.keys).map(|_| ()).map_err(|error| error.to_string())
}

/// A line of a file of keys: a name, and 32 random bytes.
///
/// # Errors
/// The name does not fit.
pub fn new_key(name: &str) -> Result<String, String> {
    use std::fmt::Write;
    let mut secret = [0; 32];
    fill_randomly(&mut secret);
    let mut text = format!("{name} ");
    secret.iter().for_each(|byte| _ = write!(text, "{byte:02x}"));
    let wrong = |_| "expected a name of 1 to 16 letters, digits, \"-\", \"_\" or \".\"".to_string();
    Keys::parse(&text, "key").map(|_| text).map_err(wrong)
}

/// Runs a daemon until a signal ends it.
///
/// # Errors
/// The configuration is wrong, the kernel refuses something: nothing is left behind.
pub fn run(path: &Path) -> Result<(), Problem> {
    let (config, plan) = read_plan(path).map_err(Problem::Wrong)?;
    check_keys(&config).map_err(Problem::Wrong)?;
    let signals = sys::signals().map_err(|error| format!("signals: {error}"))?;
    let server = Server::open(&config.status)?;
    let names: Vec<&str> = config.radios.keys().map(String::as_str).collect();
    let keeper = Keeper::start(&names, &note_of(&config))?;
    plan.lines(&config).iter().for_each(|text| line(Level::Notice, text));
    let mut daemon = Daemon::new(path.to_path_buf(), config, plan, keeper)?;
    notify("READY=1");
    daemon.run(&signals, server);
    notify("STOPPING=1");
    Ok(())
}

/// The file that names devices whose `clsact` is a daemon's: beside its socket.
#[must_use]
pub fn note_of(config: &Config) -> PathBuf {
    config.status.socket.with_extension("clsact")
}

impl Daemon {
    fn new(path: PathBuf, config: Config, plan: Plan, keeper: Keeper) -> Result<Self, String> {
        let clock = Box::new(BootClock);
        let now = clock.boot();
        let node = node_of(&plan, now);
        let neighbours =
            config.messages.as_ref().map(|messages| neighbours_of(&config, messages, plan.id, now));
        let mut daemon = Self {
            path,
            neighbours: neighbours.transpose()?,
            config,
            node,
            devices: Vec::new(),
            keeper,
            names_clash: false,
            is_mute: false,
            clock,
            started: now,
            renewed: now,
            reloads: 0,
        };
        let port = port_of(&daemon.config);
        for radio in plan.radios {
            daemon.devices.push(Device::new(radio, port, &mut daemon.keeper)?);
        }
        daemon.start_agents();
        Ok(daemon)
    }

    /// Starts the agents with the counters of now.
    fn start_agents(&mut self) {
        for (number, device) in (0..).zip(&mut self.devices) {
            let now = self.clock.boot();
            match device.source.read(now) {
                Ok(Some(counters)) => {
                    device.started = true;
                    // What has come before belongs to no sample.
                    _ = device.traffic();
                    self.node.start(Radio(number), counters.interface, now);
                }
                // It starts with the first counters that can be read.
                other => {
                    device.started = false;
                    other.err().into_iter().for_each(|fault| device.fail(&fault));
                    self.node.skip_sample(Radio(number), now);
                }
            }
        }
    }

    fn run(&mut self, signals: &OwnedFd, mut server: Server) {
        loop {
            self.step();
            let now = self.clock.boot();
            let hello = self.neighbours.as_ref().map_or(Time::NEVER, Neighbours::next_hello);
            let next = self
                .node
                .next_event()
                .unwrap_or(Time::NEVER)
                .min(self.renewed.saturating_add(NAP))
                .min(hello);
            let ready = {
                let mut watched = vec![PollFd::new(signals, PollFlags::IN)];
                let messages = self.neighbours.iter().flat_map(Neighbours::watched);
                watched.extend(
                    server.watched(now).chain(messages).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)),
                );
                let sleep = next.since(now).0.min(NAP.0);
                let time = Timespec {
                    tv_sec: (sleep / 1_000_000_000) as i64,
                    tv_nsec: (sleep % 1_000_000_000) as i64,
                };
                matches!(poll(&mut watched, Some(&time)), Ok(1..))
            };
            if !ready {
                continue;
            }
            while let Some(signal) = sys::next_signal(signals) {
                if signal != libc::SIGHUP {
                    return;
                }
                self.reload();
            }
            self.receive();
            server.serve(&*self, self.clock.boot());
        }
    }

    /// Handles messages of neighbours that have come.
    fn receive(&mut self) {
        let Some(neighbours) = &mut self.neighbours else { return };
        let now = self.clock.boot();
        for message in neighbours.receive(self.node.number(), now) {
            let radio = Radio(message.radio as u32);
            if !self.devices[message.radio].started {
                continue;
            }
            let (id, to) = (message.id, message.to);
            let received =
                Received { id, bytes: &message.bytes, to, own_frame: to == Addressee::Me, sender: None };
            self.node.message(radio, &received, now);
        }
    }

    /// Handles all events that are due, and renews settings.
    fn step(&mut self) {
        let now = self.clock.boot();
        while let Some(event) = self.node.due(now) {
            match event {
                HostEvent::Sample(radio) => self.sample(radio, now),
                HostEvent::AgentTimer(radio, timer, set) => self.node.timer(radio, (Timer(timer), set), now),
                // No controllers run here.
                _ => {}
            }
        }
        self.meet_neighbours(now);
        self.carry_out(now);
        if now.since(self.renewed) >= RENEWED {
            self.renewed = now;
            self.renew(now);
        }
    }

    fn sample(&mut self, radio: Radio, now: Time) {
        let device = &mut self.devices[radio.ix()];
        let counters = match device.source.read(now) {
            Ok(Some(counters)) => counters,
            other => {
                other.err().into_iter().for_each(|fault| device.fail(&fault));
                self.node.skip_sample(radio, now);
                return;
            }
        };
        if !std::mem::replace(&mut device.started, true) {
            device.recovered();
            _ = device.traffic();
            self.node.start(radio, counters.interface, now);
            return;
        }
        self.count_links(radio, &counters.links, now);
        self.node.sample(radio, counters.interface, now);
        let bad = self.node.bad_samples(radio);
        let device = &mut self.devices[radio.ix()];
        device.sampled(bad, now);
    }

    /// Hands to a radio's agent what the source of its counters and the kernel know of its links.
    fn count_links(&mut self, radio: Radio, readings: &[LinkReading], now: Time) {
        let device = &mut self.devices[radio.ix()];
        for reading in readings {
            let Some(neighbour) = device.neighbour(reading.to) else { continue };
            self.node.link_counters(radio, neighbour, reading.counters);
            if let Some(exchange) = reading.rate.and_then(|rate| device.new_exchange(neighbour, rate)) {
                self.node.link_rate(radio, (neighbour, exchange), now);
            }
        }
        let (arrivals, links) = match device.traffic() {
            Ok(traffic) => traffic,
            Err(problem) => return device.fail(&Fault::Unread(format!("packets to neighbours: {problem}"))),
        };
        for of in arrivals {
            let Some(neighbour) = device.neighbour(of.to) else { continue };
            let flow = of.flow.unwrap_or(FlowId::NONE);
            let class = if of.answers { PacketClass::Ack } else { PacketClass::Data };
            let counts = (u32::try_from(of.packets).unwrap_or(u32::MAX), of.bytes);
            self.node.arrived(radio, neighbour, (flow, class), counts);
        }
        let waiting = links.iter().filter_map(|link| Some((device.neighbour(link.to)?, link.waiting)));
        self.node.set_waiting(radio, waiting.collect());
    }

    /// Carries out what agents have set.
    fn carry_out(&mut self, now: Time) {
        for (radio, setting) in self.node.take_settings() {
            let device = &mut self.devices[radio.ix()];
            match setting {
                Setting::Probability(direction, probability) => {
                    if direction == Direction::Outgoing {
                        device.count_flows();
                    }
                    device.set(direction, probability, now);
                }
                Setting::LinkRate { neighbour, rate } => device.set_rate(neighbour, rate, now),
                // Of places that no daemon fills.
                _ => {}
            }
        }
        self.devices.iter_mut().for_each(|device| device.carry_out(now));
        for Outgoing { id, sender, message, .. } in self.node.take_messages() {
            let MessageSender::Agent(radio) = sender else { continue };
            if let Some(neighbours) = &mut self.neighbours {
                neighbours.send(radio.ix(), message.to, id.number, &message.bytes);
            }
        }
    }

    /// Sends hellos, and notifies agents of neighbours that have come or gone.
    fn meet_neighbours(&mut self, now: Time) {
        let Some(neighbours) = &mut self.neighbours else { return };
        neighbours.step(now);
        for (number, _) in (0..).zip(&self.devices).filter(|(_, device)| device.started) {
            if let Some(nodes) = neighbours.changed(number) {
                self.node.neighbours(Radio(number as u32), &nodes, now);
            }
        }
        for (number, device) in self.devices.iter_mut().enumerate() {
            let stated = |neighbour: &Neighbour| Some((neighbour.id, neighbour.radio?));
            device.set_addresses(neighbours.at(number).filter_map(stated).collect());
        }
    }

    /// Renews the settings of laws that go on, and looks whether devices and keeper are still there.
    fn renew(&mut self, now: Time) {
        for (number, device) in (0..).zip(&mut self.devices) {
            if device.follow(&mut self.keeper)
                && let (Some(messages), Some(neighbours)) = (&self.config.messages, &mut self.neighbours)
                && let Ok(socket) = RadioSocket::open(device.name(), messages.port)
            {
                neighbours.replace(number, Box::new(socket));
            }
            device.renew(Span(self.node.interval(Radio(number as u32)).0.saturating_add(LATE.0)), now);
        }
        match self.keeper.check() {
            Ok(false) => {}
            Ok(true) => line(Level::Warning, &"the keeper had ended, and was started again"),
            Err(problem) => line(Level::Error, &problem),
        }
        let counts = self.neighbours.as_ref().map(Neighbours::counts).unwrap_or_default();
        if counts.sent == 0 && counts.unsent > 3 && !std::mem::replace(&mut self.is_mute, true) {
            line(Level::Error, &"no message can be sent: do the devices have IPv6 addresses of the link?");
        }
        let own_names = self.neighbours.as_ref().map_or(0, Neighbours::own_names);
        if own_names > 0 && !std::mem::replace(&mut self.names_clash, true) {
            line(
                Level::Error,
                &format!(
                    "another node is called {0}, too, or its name has the number of {0}: neither is heard",
                    self.config.node
                ),
            );
        }
    }

    /// Reads the configuration again. Where it is wrong, the daemon goes on with the one that it has. Devices that stay keep their settings
    /// until the new law has set its own.
    fn reload(&mut self) {
        notify("RELOADING=1");
        match read_plan(&self.path) {
            Ok((config, plan)) => self.change_to(config, plan),
            Err(problem) => line(Level::Error, &format!("the configuration stays as it was: {problem}")),
        }
        notify("READY=1");
    }

    fn change_to(&mut self, config: Config, plan: Plan) {
        let stays = |of: &Config| (of.node.clone(), of.messages.clone(), of.status.clone());
        if config.radios.keys().ne(self.config.radios.keys()) || stays(&config) != stays(&self.config) {
            let problem = "other radios, another node, [messages] or [status] need a restart";
            line(Level::Error, &format!("the configuration stays as it was: {problem}"));
            return;
        }
        // New keys in the same file.
        if let (Some(messages), Some(neighbours)) = (&config.messages, &mut self.neighbours) {
            match Keys::read(&messages.keys) {
                Ok(keys) => neighbours.session().set_keys(keys),
                Err(error) => line(Level::Error, &format!("the keys stay as they were: {error}")),
            }
        }
        let now = self.clock.boot();
        let node = node_of(&plan, now);
        let same_law = config.scheme.name == self.config.scheme.name;
        for (device, radio) in self.devices.iter_mut().zip(plan.radios) {
            if let Err(problem) = device.change_to(radio, same_law, &mut self.keeper) {
                line(Level::Error, &problem);
            }
        }
        self.node = node;
        self.config = config;
        self.reloads += 1;
        self.neighbours.iter_mut().for_each(Neighbours::present_again);
        self.start_agents();
        line(Level::Notice, &"the configuration was read again");
    }

    fn state(&self) -> State {
        let now = self.clock.boot();
        let heard = |number: usize| {
            let all = self.neighbours.iter().flat_map(move |neighbours| neighbours.at(number));
            all.map(|of| NeighbourState { node: of.name.clone(), heard_s: now.since(of.heard).as_secs_f64() })
                .collect()
        };
        let radios = (0..).zip(&self.devices).map(|(number, device)| {
            let gauges = self.node.gauges(Radio(number as u32));
            let mut state = RadioState { neighbours: heard(number), ..device.state(gauges) };
            for link in &mut state.links {
                let named = self.neighbours.iter().flat_map(|neighbours| neighbours.at(number));
                let named = named.into_iter().find(|neighbour| neighbour.id.0 == link.number);
                link.node = named.map(|neighbour| neighbour.name.clone()).unwrap_or_default();
            }
            state
        });
        let messages = self.neighbours.as_ref().map(|neighbours| {
            let MessageCounts { sent, unsent, received } = neighbours.counts();
            let events = neighbours.authentication().map(|(name, count)| (name.to_string(), count));
            MessagesState { sent, unsent, received, authentication: events.collect() }
        });
        State {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_string(),
            node: self.config.node.clone(),
            scheme: self.config.scheme.name.to_string(),
            preset: self.config.preset.clone(),
            uptime_s: now.since(self.started).as_secs_f64(),
            reloads: self.reloads,
            messages,
            radios: radios.collect(),
        }
    }
}

impl Texts for Daemon {
    fn json(&self) -> String {
        self.state().json()
    }

    fn metrics(&self) -> String {
        self.state().metrics()
    }
}

/// The UDP port of messages.
fn port_of(config: &Config) -> u16 {
    config.messages.as_ref().map_or(PORT, |messages| messages.port)
}

/// The node of a plan. Its random numbers are others at each start, and its messages have larger numbers.
fn node_of(plan: &Plan, now: Time) -> Node {
    let new =
        |radio: &PlannedRadio| NewRadio { at: radio.at, exchange: lone_exchange(radio.rate, radio.overhead) };
    let radios: Vec<NewRadio> = plan.radios.iter().map(new).collect();
    Node::new(plan.id, &*plan.scheme, &radios, now.0)
}

/// The neighbours of a configuration: keys are read, and sockets opened at all radios.
fn neighbours_of(
    config: &Config,
    messages: &MessagesConfig,
    me: NodeId,
    now: Time,
) -> Result<Neighbours, String> {
    let keys = Keys::read(&messages.keys).map_err(|error| error.to_string())?;
    let network = messages.network.as_bytes();
    let session = Session::new(me, network, keys, Limits::default(), fill_randomly);
    let mut messengers: Vec<Box<dyn Messenger>> = Vec::new();
    for device in config.radios.keys() {
        messengers.push(Box::new(RadioSocket::open(device, messages.port)?));
    }
    let random = Stream::new(now.0, &config.node, Purpose::Agent);
    Ok(Neighbours::new(session, &config.node, messengers, messages.hello, (random, now)))
}

/// Fills a slice with random bytes of the kernel.
fn fill_randomly(mut bytes: &mut [u8]) {
    use rustix::rand::{GetRandomFlags, getrandom};
    while !bytes.is_empty() {
        if let Ok(length) = getrandom(&mut *bytes, GetRandomFlags::empty()) {
            bytes = &mut bytes[length..];
        }
    }
}

/// Notifies the service manager, if one has started this process (`sd_notify`).
fn notify(state: &str) {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    let Ok(socket) = UnixDatagram::unbound() else { return };
    let path = path.to_string_lossy().into_owned();
    let address = match path.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    if let Ok(address) = address {
        // A reload is told with the time at which it began.
        let now = BootClock.boot().0 / 1_000;
        _ = socket.send_to_addr(format!("{state}\nMONOTONIC_USEC={now}").as_bytes(), &address);
    }
}
