//! The program in the kernel that judges the packets of a device (`bpf/packets.bpf.c`), and its maps.
//!
//! From Linux 6.6 on it is attached as a link (tcx), which ends with this process. Older kernels keep a filter at the `clsact` queueing
//! discipline: the keeper removes it, and until then the deadline in the map lets all packets pass.

use std::fmt;
use std::os::fd::AsFd;

use airfair_schemes::places::{FlowBytes, FlowId};
use aya::maps::{Array, Map, MapData, PerCpuArray};
use aya::programs::tc::{NlOptions, TcAttachOptions, TcHandle, qdisc_add_clsact};
use aya::programs::{LinkOrder, SchedClassifier, TcAttachType};
use aya::{Ebpf, EbpfLoader};
use serde::Serialize;

use crate::flow_table::{FlowSlot, FlowTable, fixed};
use crate::marker::{Action, Marker, PacketCounts, Probabilities};
use crate::netlink::Interfaces;
use crate::qdisc::{FilterPlace, remove_filter};

/// The compiled program.
#[cfg(not(without_program))]
static PROGRAM: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/packets.bpf.o"));

/// None: clang was not there when the daemon was built.
#[cfg(without_program)]
static PROGRAM: &[u8] = &[];

/// The error of a daemon that was built without its programs.
pub(crate) const WITHOUT_PROGRAM: &str =
    "this airfaird was built without its programs for the kernel: build it where clang is";

/// True if the daemon was built without the program.
#[must_use]
pub const fn is_without_program() -> bool {
    PROGRAM.is_empty()
}

/// The programs by direction, with the places where they are attached.
const DIRECTIONS: [(&str, TcAttachType); 2] =
    [("airfair_out", TcAttachType::Egress), ("airfair_in", TcAttachType::Ingress)];

/// Priority of the filters of older kernels: before those that users add without one.
const PRIORITY: u16 = 40;

/// The number of the filters at that priority, by which those of a daemon are recognised.
const HANDLE: TcHandle = TcHandle::new(0x6169, 0x7266);

/// Bits of `actions` in the program.
const MARK: u64 = 1;
const DROP: u64 = 2;
const SPREAD: u64 = 4;
const FLOWS: u64 = 8;
const ANSWERS: u64 = 16;

/// UDP ports of messages that no scheme drops: DHCP, OLSR and MANET, Babel, BATMAN's gateway.
const MESSAGES: [u16; 7] = [67, 68, 269, 546, 547, 698, 6696];

/// The oldest kernel that takes the programs, and the oldest that has `tcx`.
pub(crate) const OLDEST: (u32, u32) = (5, 8);
pub(crate) const WITH_TCX: (u32, u32) = (6, 6);

/// The attachment of a program to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attachment {
    /// As a link, which ends with the process that holds it: from Linux 6.6 on.
    Tcx,
    /// As a filter at the queueing discipline `clsact`, which stays until it is removed: from Linux 5.8 on, whose boot clock the program
    /// compares with.
    Clsact,
}

impl Attachment {
    /// Every attachment with the word for it in a configuration.
    pub const WORDS: [(&'static str, Self); 2] = [("tcx", Self::Tcx), ("clsact", Self::Clsact)];

    /// The best that this kernel has.
    #[must_use]
    pub fn best() -> Self {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        if version(&release) >= WITH_TCX { Self::Tcx } else { Self::Clsact }
    }

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tcx => "tcx",
            Self::Clsact => "clsact",
        }
    }
}

/// Major and minor number of a release such as "6.6.30-rt"; zeros where there are none.
pub(crate) fn version(release: &str) -> (u32, u32) {
    let mut parts = release.split(|c: char| !c.is_ascii_digit()).map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// The program at one device. Links end with it; a filter is removed when it is dropped.
pub struct KernelMarker {
    device: String,
    attachment: Attachment,
    action: Action,
    settings: Array<MapData, [u64; 3]>,
    counts: PerCpuArray<MapData, [u64; 6]>,
    /// The factor of flows of which nothing is known.
    unknown: Array<MapData, u32>,
    flows: FlowTable,
    by_flow: bool,
    // Holds the programs and their links.
    _loaded: Ebpf,
}

impl fmt::Debug for KernelMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelMarker")
            .field("device", &self.device)
            .field("attachment", &self.attachment)
            .finish()
    }
}

/// Loads a compiled object.
pub(crate) fn load(object: &[u8]) -> Result<Ebpf, String> {
    // No program needs the types of this kernel, whose description would be megabytes.
    EbpfLoader::new().btf(None).load(object).map_err(|error| refused("load", &error))
}

/// Lets the kernel check the program, which is attached nowhere.
///
/// # Errors
/// The kernel refuses the program.
pub fn try_program() -> Result<(), String> {
    let mut loaded = load(PROGRAM)?;
    DIRECTIONS.iter().try_for_each(|(name, _)| checked(&mut loaded, name).map(|_| ()))
}

/// A program by its name, checked by the kernel.
pub(crate) fn checked<'l>(loaded: &'l mut Ebpf, name: &str) -> Result<&'l mut SchedClassifier, String> {
    let program = loaded.program_mut(name).ok_or_else(|| format!("no program \"{name}\""))?;
    let program: &mut SchedClassifier = program.try_into().map_err(text)?;
    program.load().map_err(|error| refused("load", &error))?;
    Ok(program)
}

impl KernelMarker {
    /// Loads the program and attaches it to both directions of a device of this process's network namespace. All packets pass until
    /// [`Marker::set`]. `port`: the UDP port of the daemon's messages, which are not dropped.
    ///
    /// # Errors
    /// The daemon was built without the program, the kernel refuses it, the device is none with Ethernet headers, something else stands
    /// where `clsact` would.
    pub fn attach(device: &str, attachment: Attachment, action: Action, port: u16) -> Result<Self, String> {
        if is_without_program() {
            return Err(WITHOUT_PROGRAM.to_string());
        }
        let found = Interfaces::open()
            .and_then(|mut all| all.interface(device))
            .map_err(|error| error.to_string())?;
        if found.mac.is_none() {
            return Err(format!("{device}: expected a device with Ethernet addresses"));
        }
        let mut loaded = load(PROGRAM)?;
        // Those that a daemon has left that was killed with its keeper.
        remove_filters(device);
        if attachment == Attachment::Clsact {
            // That it is there already is no error.
            _ = qdisc_add_clsact(device);
        }
        for (name, place) in DIRECTIONS {
            attach(&mut loaded, name, device, place, attachment)
                .map_err(|problem| format!("{device}: {problem}"))?;
        }
        let settings = map(&mut loaded, "settings").and_then(|map| Array::try_from(map).map_err(text))?;
        let counts = map(&mut loaded, "counts").and_then(|map| PerCpuArray::try_from(map).map_err(text))?;
        fill_messages(&mut loaded, port)?;
        let unknown = map(&mut loaded, "unknown").and_then(|map| Array::try_from(map).map_err(text))?;
        let flows = flow_table(&mut loaded)?;
        let (device, by_flow) = (device.to_string(), false);
        Ok(Self { device, attachment, action, settings, counts, unknown, flows, by_flow, _loaded: loaded })
    }

    /// The attachment of the program.
    #[must_use]
    pub const fn attachment(&self) -> Attachment {
        self.attachment
    }

    /// The action on packets that are chosen.
    #[must_use]
    pub const fn action(&self) -> Action {
        self.action
    }

    /// With another action from the next setting on.
    pub const fn change_action(&mut self, action: Action) {
        self.action = action;
    }
}

fn attach(
    loaded: &mut Ebpf,
    name: &str,
    device: &str,
    place: TcAttachType,
    attachment: Attachment,
) -> Result<(), String> {
    let program = checked(loaded, name)?;
    let options = match attachment {
        Attachment::Tcx => TcAttachOptions::TcxOrder(LinkOrder::default()),
        Attachment::Clsact => {
            TcAttachOptions::Netlink(NlOptions { priority: PRIORITY, handle: HANDLE, ..NlOptions::default() })
        }
    };
    program.attach_with_options(device, place, options).map_err(|error| refused("attach", &error))?;
    Ok(())
}

/// The table of flows of a program.
pub(crate) fn flow_table(loaded: &mut Ebpf) -> Result<FlowTable, String> {
    match map(loaded, "slots")? {
        Map::Array(slots) => FlowTable::new(slots.fd().as_fd()),
        _ => Err("the map \"slots\" is no array".to_string()),
    }
}

/// Enters the UDP ports of messages that no scheme touches: those of routing, and this one.
pub(crate) fn fill_messages(loaded: &mut Ebpf, port: u16) -> Result<(), String> {
    let mut messages: Array<_, [u16; 8]> =
        map(loaded, "messages").and_then(|map| Array::try_from(map).map_err(text))?;
    let [a, b, c, d, e, f, g] = MESSAGES;
    messages.set(0, [a, b, c, d, e, f, g, port].map(u16::to_be), 0).map_err(text)
}

/// A map of a program, by its name.
pub(crate) fn map(loaded: &mut Ebpf, name: &str) -> Result<Map, String> {
    loaded.take_map(name).ok_or_else(|| format!("the program has no map \"{name}\""))
}

/// An error with its causes, as text.
pub(crate) fn text(error: impl std::error::Error) -> String {
    chain(&error)
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.ends_with(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// Lines that are kept of the kernel's report on a program: the reason is in the last ones, after all instructions.
const REPORT: usize = 8;

/// The last lines of an error's text, if it is long.
fn shortened(text: &str) -> String {
    const BEGIN: &str = "Verifier output: ";
    let Some((begin, report)) = text.split_once(BEGIN) else { return text.to_string() };
    let lines: Vec<&str> = report.lines().filter(|line| !matches!(line.trim(), "" | ";")).collect();
    format!("{begin}{BEGIN}{}", lines[lines.len().saturating_sub(REPORT)..].join("\n"))
}

/// An error of the kernel with the likely remedy.
pub(crate) fn refused(verb: &str, error: &dyn std::error::Error) -> String {
    let text = shortened(&chain(error));
    let remedy = if text.contains("verification time") {
        "; it checks less strictly with the capability CAP_PERFMON. Please report this"
    } else if text.contains("os error 1)") || text.contains("os error 13)") {
        "; it needs the capabilities CAP_NET_ADMIN and CAP_BPF, and Linux 5.8 or newer"
    } else {
        ""
    };
    format!("the kernel does not {verb} the program: {text}{remedy}")
}

impl Marker for KernelMarker {
    fn set(&mut self, Probabilities { of, most, until }: Probabilities) -> Result<(), String> {
        let actions = match self.action {
            Action::Mark => MARK,
            Action::DropSpread => DROP | SPREAD,
            Action::MarkOrDropSpread => MARK | DROP | SPREAD,
        };
        // LBM's factors are those of data alone.
        let actions = match (self.by_flow, self.action) {
            (false, _) => actions,
            (true, Action::Mark) => actions | FLOWS,
            (true, Action::DropSpread | Action::MarkOrDropSpread) => actions | FLOWS | ANSWERS,
        };
        // The layout of `struct setting`, whose third number has `actions` in its first half and `most` in its second.
        let most = most.numerator().min(u64::from(u32::MAX));
        let actions =
            if cfg!(target_endian = "little") { most << 32 | actions } else { actions << 32 | most };
        for (direction, probability) in (0..).zip(of) {
            let setting = [until.0, probability.numerator(), actions];
            self.settings.set(direction, setting, 0).map_err(text)?;
        }
        Ok(())
    }

    fn set_by_flow(&mut self, by_flow: bool) {
        self.by_flow = by_flow;
    }

    fn take_flows(&mut self) -> Vec<(FlowId, FlowBytes)> {
        let used = |slot: FlowSlot| {
            let [out, back, answers_out, answers_back] = slot.counts;
            (slot.flow, FlowBytes { data: [out, back], answers: [answers_out, answers_back] })
        };
        self.flows.take().into_iter().map(used).collect()
    }

    fn set_factors(&mut self, factor: &dyn Fn(FlowId) -> f64) -> Result<(), String> {
        self.unknown.set(0, fixed(factor(FlowId::NONE)), 0).map_err(text)?;
        self.flows.set(factor);
        Ok(())
    }

    fn counts(&self) -> Result<[PacketCounts; 2], String> {
        let mut both = [PacketCounts::default(); 2];
        for (direction, sum) in (0..).zip(&mut both) {
            for cpu in self.counts.get(&direction, 0).map_err(text)?.iter() {
                let [packets, bytes, able, marked, dropped, judged] = *cpu;
                sum.packets += packets;
                sum.bytes += bytes;
                sum.able += able;
                sum.marked += marked;
                sum.dropped += dropped;
                sum.judged += judged;
            }
        }
        Ok(both)
    }
}

/// Removes the filters of a daemon from a device, also of one that was killed. Returns true if there were some.
pub fn remove_filters(device: &str) -> bool {
    let handle = u32::from(HANDLE);
    let places = [false, true].map(|incoming| FilterPlace { incoming, priority: PRIORITY, handle });
    // Not by their names: a daemon without CAP_PERFMON gives programs none.
    places.into_iter().filter(|&place| remove_filter(device, place).unwrap_or(false)).count() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.1 refuses a program, with a hundred instructions before the reason.
    #[test]
    fn of_a_report_of_the_kernel_the_end_is_kept() {
        let instructions: Vec<String> = (0..100).map(|at| format!("{at}: (b7) r1 = 0\n; \n")).collect();
        let error = std::io::Error::other(format!(
            "the BPF_PROG_LOAD syscall returned Permission denied (os error 13). Verifier output: {}misaligned access\n\
             verification time 12470 usec\nprocessed 772 insns\n",
            instructions.concat()
        ));
        let text = refused("load", &error);
        assert!(text.contains("(os error 13). Verifier output: 95: (b7) r1 = 0\n96: "), "{text}");
        assert!(text.contains("misaligned access") && text.contains("CAP_PERFMON"), "{text}");
        let error = std::io::Error::from_raw_os_error(1);
        assert!(refused("load", &error).ends_with("and Linux 5.8 or newer"));
    }

    #[test]
    fn versions_are_read_from_releases() {
        for (release, expected) in [
            ("6.6.30-rt", (6, 6)),
            ("6.18.44-fc-v657", (6, 18)),
            ("5.15", (5, 15)),
            ("7", (7, 0)),
            ("x", (0, 0)),
        ] {
            assert_eq!(version(release), expected, "{release}");
        }
    }
}
