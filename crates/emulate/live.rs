//! The state of a run while it runs: lines of JSON in a file, and metrics for Prometheus on the loopback interface.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use airfair_units::{Span, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use crate::bridge::Counts;
use crate::clock::monotonic;
use crate::report::{Away, Late, Row};

/// Time between two states.
const EVERY: Span = Span::from_secs(1);

/// Bytes of a request that are read at most, and the time for it.
const LARGEST_REQUEST: usize = 4096;
const PATIENCE: Duration = Duration::from_millis(500);

/// Where the state is told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveSpec {
    /// The file that gets a line every second.
    pub lines: Option<PathBuf>,
    /// The port of 127.0.0.1 at which metrics are read.
    pub port: Option<u16>,
}

/// The state of a run: a line of the file.
#[derive(Debug, Clone, Serialize)]
pub struct State {
    /// Seconds since the start of the run.
    pub time_s: f64,
    /// Lateness of deliveries so far.
    pub lateness: Late,
    /// Pauses of the machine so far.
    pub pauses: Away,
    /// Frames so far.
    pub frames: Counts,
    /// Flows of the stacks so far; goodput since the end of the warm-up.
    pub flows: Vec<Row>,
}

/// Tells states.
#[derive(Debug)]
pub(crate) struct Live {
    next: Time,
    lines: Option<File>,
    server: Option<Server>,
}

impl Live {
    /// Opens the file and the port.
    ///
    /// # Errors
    /// Names what cannot be opened.
    pub fn new(spec: &LiveSpec) -> Result<Self, String> {
        let open = |path: &PathBuf| {
            // A pipe that nobody reads would hold the run up.
            if path.exists() && !path.is_file() {
                return Err(format!("{}: expected a regular file", path.display()));
            }
            File::create(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let lines = spec.lines.as_ref().map(open).transpose()?;
        let serve =
            |port: u16| Server::new(port).map_err(|error| format!("port {port} of 127.0.0.1: {error}"));
        Ok(Self { next: Time::ZERO, lines, server: spec.port.map(serve).transpose()? })
    }

    /// True if a state is to be told now.
    pub fn is_due(&self, now: Time) -> bool {
        (self.lines.is_some() || self.server.is_some()) && now >= self.next
    }

    /// Tells a state.
    pub fn publish(&mut self, state: &State, now: Time) {
        self.next = now.saturating_add(EVERY);
        // A line that cannot be written, as the disk is full, must not end the run: the results come at its end.
        if let Some(file) = &mut self.lines
            && let Ok(mut line) = serde_json::to_vec(state)
        {
            line.push(b'\n');
            _ = file.write_all(&line);
        }
        if let Some(server) = &self.server {
            *server.text.lock().unwrap_or_else(PoisonError::into_inner) = metrics(state);
        }
    }
}

/// A server of the last state, on a thread of usual priority.
#[derive(Debug)]
struct Server {
    text: Arc<Mutex<String>>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn new(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        listener.set_nonblocking(true)?;
        let (text, ends) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicBool::new(false)));
        let (of_thread, over) = (Arc::clone(&text), Arc::clone(&ends));
        let serve = move || {
            while !over.load(Ordering::Relaxed) {
                let wait = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
                let ready = poll(&mut [PollFd::new(&listener, PollFlags::IN)], Some(&wait));
                if ready.is_ok_and(|count| count > 0)
                    && let Ok((client, _)) = listener.accept()
                {
                    let text = of_thread.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    _ = answer(client, &text);
                }
            }
        };
        let thread = std::thread::Builder::new().name("airfair-metrics".to_string()).spawn(serve)?;
        Ok(Self { text, ends, thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Answers a request: `GET /metrics`, and nothing else.
fn answer(mut client: TcpStream, metrics: &str) -> io::Result<()> {
    client.set_nonblocking(false)?;
    let end = monotonic() + PATIENCE.as_nanos() as u64;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut bytes = [0; 512];
    while request.len() < LARGEST_REQUEST && !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let left = end.saturating_sub(monotonic());
        if left == 0 {
            return Ok(());
        }
        client.set_read_timeout(Some(Duration::from_nanos(left)))?;
        match client.read(&mut bytes)? {
            0 => break,
            length => request.extend_from_slice(&bytes[..length]),
        }
    }
    let (status, text) = if request.starts_with(b"GET /metrics ") {
        ("200 OK", metrics)
    } else {
        ("404 Not Found", "expected GET /metrics\n")
    };
    let length = text.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

/// A state in Prometheus' text format.
fn metrics(state: &State) -> String {
    let mut text = String::new();
    let mut put = |name: &str, kind: &str, values: &[(String, f64)]| {
        _ = writeln!(text, "# TYPE airfair_{name} {kind}");
        for (labels, value) in values {
            _ = writeln!(text, "airfair_{name}{labels} {value}");
        }
    };
    let one = |value: f64| [(String::new(), value)];
    put("time_seconds", "gauge", &one(state.time_s));
    let late = &state.lateness;
    let quantiles = [("0.5", late.p50_s), ("0.99", late.p99_s), ("0.999", late.p999_s), ("1", late.worst_s)];
    let quantiles: Vec<_> =
        quantiles.into_iter().map(|(of, value)| (format!("{{quantile=\"{of}\"}}"), value)).collect();
    put("lateness_seconds", "gauge", &quantiles);
    put("pauses_total", "counter", &one(state.pauses.count as f64));
    put("pause_seconds_total", "counter", &one(state.pauses.total_s));
    let frames = &state.frames;
    put("frames_read_total", "counter", &one(frames.read as f64));
    put("frames_delivered_total", "counter", &one(frames.written as f64));
    put("frames_marked_total", "counter", &one(frames.marked as f64));
    put("frames_faulty_total", "counter", &one((frames.too_many + frames.not_written) as f64));
    let dropped: Vec<_> = frames
        .dropped
        .iter()
        .map(|(reason, &count)| (format!("{{reason=\"{}\"}}", escaped(reason)), count as f64))
        .collect();
    put("frames_dropped_total", "counter", &dropped);
    let of_flows = |value: fn(&Row) -> f64| -> Vec<(String, f64)> {
        let labels = |of: &Row| {
            let (src, dst) = (escaped(&of.src), escaped(&of.dst));
            format!(
                "{{src=\"{src}\",dst=\"{dst}\",protocol=\"{}\",src_address=\"{}\",dst_address=\"{}\",src_port=\"{}\",dst_port=\"{}\"}}",
                of.protocol, of.src_address, of.dst_address, of.src_port, of.dst_port
            )
        };
        state.flows.iter().map(|of| (labels(of), value(of))).collect()
    };
    put("flow_arrived_bytes_total", "counter", &of_flows(|of| of.arrived_bytes as f64));
    put("flow_arrived_packets_total", "counter", &of_flows(|of| of.arrived_packets as f64));
    put("flow_sent_packets_total", "counter", &of_flows(|of| of.sent_packets as f64));
    put("flow_marked_packets_total", "counter", &of_flows(|of| of.marked_packets as f64));
    text
}

/// A label's value, as the format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
