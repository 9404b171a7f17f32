//! Two network namespaces with a pair of devices between them, and the daemon in one of them.
//!
//! Namespaces are those of threads: the test's own has `wl0`, a second thread's has `st0`. Both vanish with their threads.

#![allow(
    unsafe_code,
    reason = "a namespace of network for the calling thread, which shares nothing that this would take from others"
)]
#![allow(dead_code, reason = "each test uses a part")]

use std::fs;
use std::io::Read;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use airfair_live::clock::{BootClock, Clock};
use airfair_live::messages::{Keys, Limits, Opened, Session};
use airfair_live::messenger::{self, Messenger, RadioSocket};
use airfair_live::shaping::MacAddress;
use airfair_live::status::State;
use airfair_schemes::places::NodeId;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

/// True if this process may make network namespaces and load programs into the kernel; says so aloud otherwise.
pub fn may_run(test: &str) -> bool {
    let lacks = if !rustix::process::geteuid().is_root() {
        "root"
    } else if Command::new("ip").arg("-V").output().is_err() {
        "ip (apt-get install iproute2)"
    } else if airfair_live::kernel::is_without_program() {
        "clang, when it was built"
    } else {
        return true;
    };
    eprintln!("SKIPPED {test}: it needs {lacks}");
    false
}

/// Sleeps.
pub fn sleep(time: Duration) {
    let of =
        rustix::time::Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
    _ = rustix::thread::nanosleep(&of);
}

/// Seconds since the machine has started.
pub fn now() -> f64 {
    BootClock.boot().as_secs_f64()
}

/// Waits until something is so, for at most this many seconds.
pub fn wait_until(seconds: f64, mut is_so: impl FnMut() -> bool) -> bool {
    let end = now() + seconds;
    while now() < end {
        if is_so() {
            return true;
        }
        sleep(Duration::from_millis(10));
    }
    is_so()
}

/// Runs `ip` or `tc` in the namespace of the calling thread. Returns what it prints.
pub fn run(command: &str) -> String {
    let mut words = command.split_whitespace();
    let out = Command::new(words.next().unwrap()).args(words).output().unwrap();
    assert!(out.status.success(), "{command}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn new_network() {
    // SAFETY: threads of this process may have networks of their own.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.unwrap();
}

/// The other end of the air: sends to the access point, and receives from it.
pub struct Station {
    packets: Sender<u64>,
    sent: Receiver<()>,
    network: fs::File,
    own: UdpSocket,
}

/// The addresses of both ends.
pub const ACCESS_POINT: &str = "10.9.0.1";
pub const STATION: &str = "10.9.0.2";
const PORT: u16 = 7000;

/// Moves the calling thread into a new network with the device `wl0`, at whose other end a station is.
pub fn network() -> Station {
    new_network();
    run("ip link add wl0 type veth peer name st0");
    let (ready, made) = channel();
    let (packets, wanted) = channel::<u64>();
    let (done, sent) = channel();
    std::thread::Builder::new()
        .spawn(move || {
            new_network();
            ready.send(fs::File::open("/proc/thread-self/ns/net").unwrap()).unwrap();
            // Until the device has come.
            assert!(wait_until(5.0, || Command::new("ip")
                .args(["link", "show", "st0"])
                .output()
                .unwrap()
                .status
                .success()));
            run(&format!("ip addr add {STATION}/24 dev st0"));
            run("ip link set st0 up");
            ready.send(fs::File::open("/proc/thread-self/ns/net").unwrap()).unwrap();
            let socket = sender(STATION);
            for count in wanted {
                send_packets(&socket, ACCESS_POINT, count);
                done.send(()).unwrap();
            }
        })
        .unwrap();
    let network = made.recv().unwrap();
    run("ip link show st0");
    let thread = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&network));
    run(&format!("ip link set st0 netns {thread}"));
    run(&format!("ip addr add {ACCESS_POINT}/24 dev wl0"));
    run("ip link set wl0 up");
    let network = made.recv().unwrap_or(network);
    Station { packets, sent, network, own: sender(ACCESS_POINT) }
}

/// A socket whose packets can carry marks.
fn sender(address: &str) -> UdpSocket {
    let socket = UdpSocket::bind((address, PORT)).unwrap();
    rustix::net::sockopt::set_ip_tos(&socket, 2).unwrap();
    socket
}

fn send_packets(socket: &UdpSocket, to: &str, count: u64) {
    let bytes = [0; 400];
    for _ in 0..count {
        while socket.send_to(&bytes, (to, PORT)).is_err() {
            sleep(Duration::from_millis(1));
        }
    }
}

impl Station {
    /// Sends packets to the access point.
    pub fn send(&self, count: u64) {
        self.packets.send(count).unwrap();
        self.sent.recv().unwrap();
    }

    /// Sends packets from the access point to it.
    pub fn receive(&self, count: u64) {
        send_packets(&self.own, STATION, count);
    }

    /// Sends from the access point to it, whatever the kernel says.
    pub fn receive_quietly(&self, count: u64) {
        for _ in 0..count {
            _ = self.own.send_to(&[0; 400], (STATION, PORT));
        }
    }

    /// The network of the station.
    pub fn network(&self) -> fs::File {
        self.network.try_clone().unwrap()
    }

    /// Packets that its stack has received, those with a mark first.
    pub fn received(&self) -> (u64, u64) {
        let network = self.network.as_fd();
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || {
                move_into_link_name_space(network, Some(LinkNameSpaceType::Network)).unwrap();
                marks()
            });
            reader.join().unwrap()
        })
    }
}

/// Packets with a mark, and those that could carry one and have none, that the stack of the calling thread has received: the kernel's own
/// counts.
pub fn marks() -> (u64, u64) {
    let text = fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
    let mut rows = text.lines().filter_map(|line| line.strip_prefix("IpExt: "));
    let (names, values) = (rows.next().unwrap(), rows.next().unwrap());
    let of = |wanted: &str| {
        let both = names.split_whitespace().zip(values.split_whitespace());
        both.filter(|(name, _)| *name == wanted).map(|(_, value)| value.parse::<u64>().unwrap()).sum::<u64>()
    };
    (of("InCEPkts"), of("InECT0Pkts"))
}

/// Moves the calling thread into a network.
pub fn enter(network: &fs::File) {
    move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
}

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("airfaird-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The path of a file with [`KEYS`].
    pub fn keys(&self) -> PathBuf {
        let path = self.file("keys");
        fs::write(&path, KEYS).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// A running daemon.
pub struct Daemon {
    pub child: Child,
    pub socket: PathBuf,
}

/// The program.
pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_airfaird"))
}

impl Daemon {
    /// Starts one, and waits until it answers.
    pub fn start(folder: &Folder, config: &str) -> Self {
        Self::start_by(program(), folder, config)
    }

    /// Starts one by another command than that of the program alone.
    pub fn start_by(mut command: Command, folder: &Folder, config: &str) -> Self {
        let socket = folder.file("airfaird.sock");
        let path = folder.file("airfaird.toml");
        fs::write(&path, format!("{config}\n[status]\nsocket = \"{}\"\n", socket.display())).unwrap();
        let mut child = command.arg("run").arg(&path).stderr(Stdio::piped()).spawn().unwrap();
        if !wait_until(10.0, || state(&socket).is_some()) {
            _ = child.kill();
            let mut text = String::new();
            child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("the daemon does not answer: {text}");
        }
        Self { child, socket }
    }

    pub fn state(&self) -> State {
        state(&self.socket).expect("an answer")
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal(rustix::process::Signal::TERM);
            _ = self.child.wait();
        }
    }
}

fn state(socket: &Path) -> Option<State> {
    serde_json::from_str(&airfair_live::server::state_at(socket).ok()?).ok()
}

/// All that there is of the daemon at `wl0`: filters by name, and queueing disciplines.
pub fn left_behind() -> String {
    let filters = ["egress", "ingress"].map(|side| run(&format!("tc filter show dev wl0 {side}")));
    let queues = run("tc qdisc show dev wl0");
    let clsact = if queues.contains("clsact") { "clsact" } else { "" };
    let ours = filters.iter().filter(|text| text.contains("airfair")).count();
    format!("{ours} {clsact}").trim_end().to_string()
}

/// A file of keys.
pub const KEYS: &str = "one 00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f\n";

/// Writes a file anew, whole at each moment.
pub fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, path).unwrap();
}

/// A neighbour that is a program of a test: it speaks as a daemon does.
pub struct Neighbour {
    session: Session,
    socket: RadioSocket,
    number: u64,
}

impl Neighbour {
    /// At the station's end.
    pub fn new(keys: &str) -> Self {
        let keys = Keys::parse(keys, "test").unwrap();
        let mut drawn = 0_u8;
        let random = move |bytes: &mut [u8]| {
            drawn = drawn.wrapping_add(101);
            bytes.fill(drawn);
        };
        let session = Session::new(NodeId(77), b"", keys, Limits::default(), random);
        Self { session, socket: RadioSocket::open("st0", messenger::PORT).unwrap(), number: 0 }
    }

    fn send(&mut self, payload: &[u8]) {
        let packet = self.session.seal(None, payload).unwrap();
        self.socket.send(None, &packet);
    }

    /// A hello of a node with this hardware address.
    pub fn greet(&mut self, address: MacAddress, name: &str) {
        self.send(&[&[0][..], &address, name.as_bytes()].concat());
    }

    /// A message of a scheme.
    pub fn say(&mut self, bytes: &[u8]) {
        self.number += 1;
        self.send(&[&[1][..], &self.number.to_be_bytes(), bytes].concat());
    }

    /// Answers challenges, for so many milliseconds.
    pub fn answer(&mut self, milliseconds: u64) {
        let end = now() + milliseconds as f64 / 1e3;
        let mut buffer = [0; 1600];
        while now() < end {
            while let Some((length, from)) = self.socket.receive(&mut buffer) {
                if let Opened::Reply(packet) = self.session.open(&buffer[..length], BootClock.boot()) {
                    self.socket.send(Some(&from), &packet);
                }
            }
            sleep(Duration::from_millis(5));
        }
    }
}
