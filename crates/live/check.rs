//! Tries of the host before a daemon runs: all that can be tried without an effect on packets.

use airfair_units::Span;
use aya::programs::ProgramType;
use rustix::thread::{CapabilitySet, capabilities};

use crate::clock::{BootClock, Clock};
use crate::config::Config;
use crate::kernel::{self, Attachment, OLDEST, WITH_TCX, is_without_program, version};
use crate::messages::Keys;
use crate::netlink::{Error, Interfaces};
use crate::plan::{Acts, Plan, PlannedRadio};
use crate::qdisc::{kind_at_clsact, kind_at_root};
use crate::shaper;

/// Time between two readings of counters, where one alone says nothing.
const PAUSE: Span = Span::from_millis(200);

/// The outcome of all tries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tried {
    /// Things that were tried, and warnings.
    pub lines: Vec<String>,
    /// Things without which no daemon runs on this host.
    pub refusals: Vec<String>,
}

impl Tried {
    fn fine(&mut self, text: &str) {
        self.lines.push(format!("tried: {text}"));
    }

    fn warn(&mut self, text: &str) {
        self.lines.push(format!("warning: {text}"));
    }

    fn refuse(&mut self, text: impl Into<String>) {
        self.refusals.push(text.into());
    }
}

/// Tries the host for a plan: the kernel, the privileges of this process, each device and its counters.
#[must_use]
pub fn host(plan: &mut Plan) -> Tried {
    let mut tried = Tried::default();
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let chosen = plan.radios.iter().filter(|radio| radio.acts != Acts::ByRates);
    let attachments: Vec<Attachment> = chosen.map(|radio| radio.attachment).collect();
    release_of(&mut tried, &release, &attachments);
    if is_without_program() {
        tried.refuse(
            "this airfaird was built without its program for the kernel: expected a build where clang is",
        );
    } else {
        tried.fine("the program for the kernel is in this build");
    }
    let held = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    if privileges(&mut tried, held) {
        takes_programs(&mut tried, &plan.radios);
    }
    for radio in &mut plan.radios {
        device(&mut tried, radio);
    }
    tried
}

/// A line about the keys of a configuration, if it has some. Root may check for a daemon that will run as another user: keys that only that
/// user accepts are a warning.
///
/// # Errors
/// The file of keys is wrong, or not protected.
pub fn keys(config: &Config) -> Result<Option<String>, String> {
    let Some(messages) = &config.messages else { return Ok(None) };
    let path = &messages.keys;
    let error = match Keys::read(path) {
        Ok(keys) => {
            let names: Vec<&str> = keys.names().collect();
            let first = names.first().copied().unwrap_or_default();
            let count = names.len();
            return Ok(Some(format!(
                "tried: {}: keys can be read: {count}; \"{first}\" signs",
                path.display()
            )));
        }
        Err(error) => error,
    };
    if rustix::process::geteuid().is_root() && Keys::read_as_owner(path).is_ok() {
        return Ok(Some(format!("warning: {error}. A daemon of that user or group accepts them")));
    }
    Err(error.to_string())
}

/// Judges a kernel by its release.
fn release_of(tried: &mut Tried, release: &str, attachments: &[Attachment]) {
    let version = version(release);
    if version < OLDEST {
        tried.refuse(format!("Linux {release}: expected 5.8 or newer"));
    } else if version < WITH_TCX && attachments.contains(&Attachment::Tcx) {
        tried.refuse(format!(
            "Linux {release}: attach = \"tcx\" expects 6.6 or newer; attach = \"clsact\" works here"
        ));
    } else {
        let mut words: Vec<&str> = attachments.iter().map(|attachment| attachment.word()).collect();
        words.sort_unstable();
        words.dedup();
        let purpose = if words.is_empty() { String::new() } else { format!(" for {}", words.join(" and ")) };
        tried.fine(&format!("Linux {release} is new enough{purpose}"));
    }
}

/// Judges capabilities; true if those that are needed are held. A check by a user without them is no mistake.
fn privileges(tried: &mut Tried, held: CapabilitySet) -> bool {
    // The kernel takes the one that had both rights before Linux 5.8 for the second.
    let bpf = held.intersects(CapabilitySet::BPF | CapabilitySet::SYS_ADMIN);
    let lacks = match (held.contains(CapabilitySet::NET_ADMIN), bpf) {
        (true, true) => {
            tried.fine("CAP_NET_ADMIN and CAP_BPF are held");
            return true;
        }
        (true, false) => "CAP_BPF is not held",
        (false, true) => "CAP_NET_ADMIN is not held",
        (false, false) => "CAP_NET_ADMIN and CAP_BPF are not held",
    };
    tried.warn(&format!("not tried: no privilege to load the program: {lacks}, and run needs both"));
    false
}

/// Loads the programs of these radios, which are attached nowhere; first one of two instructions.
fn takes_programs(tried: &mut Tried, radios: &[PlannedRadio]) {
    let by_rates = radios.iter().any(|radio| radio.acts == Acts::ByRates);
    let on_chosen = radios.iter().any(|radio| radio.acts != Acts::ByRates);
    let checked = || {
        if is_without_program() {
            return Ok(());
        }
        if on_chosen {
            kernel::try_program()?;
        }
        if by_rates { shaper::try_program() } else { Ok(()) }
    };
    match aya::sys::is_program_supported(ProgramType::SchedClassifier) {
        Ok(true) => match checked() {
            Ok(()) => tried.fine("the kernel takes programs for traffic control"),
            Err(error) => tried.refuse(error),
        },
        Ok(false) => tried.refuse("the kernel takes no programs for traffic control: expected CONFIG_NET_CLS_ACT"),
        Err(error) => tried.refuse(format!(
            "the kernel takes no programs: {error}; expected CONFIG_BPF_SYSCALL, and the capabilities outside of a user namespace"
        )),
    }
}

fn device(tried: &mut Tried, radio: &mut PlannedRadio) {
    let name = &radio.device;
    let found = match Interfaces::open().and_then(|mut all| all.interface(name)) {
        Ok(found) => found,
        Err(Error::NoInterface { .. }) => {
            tried.warn(&format!("{name}: no such device now; run needs it. Its counters were not tried"));
            return;
        }
        Err(error) => return tried.refuse(error.to_string()),
    };
    if found.mac.is_none() {
        tried.refuse(format!("{name}: expected a device with Ethernet addresses"));
    } else {
        let state = if found.is_up { "up" } else { "down" };
        tried.fine(&format!("{name}: is there and {state}, with Ethernet addresses"));
    }
    if radio.acts == Acts::ByRates {
        match kind_at_root(name) {
            Ok(None) => {}
            Ok(Some(kind)) => tried.refuse(format!(
                "{name}: a queueing discipline \"{kind}\" that somebody has made stands at the root: expected none"
            )),
            Err(error) => tried.refuse(format!("{name}: {error}")),
        }
    } else if radio.attachment == Attachment::Clsact {
        match kind_at_clsact(name) {
            Ok(None) => {}
            Ok(Some(kind)) if kind == "clsact" => {}
            Ok(Some(other)) => tried.refuse(format!(
                "{name}: a queueing discipline \"{other}\" stands where clsact would: expected none, or attach = \"tcx\""
            )),
            Err(error) => tried.refuse(format!("{name}: {error}")),
        }
    }
    let words = radio.source.words();
    let mut reading = radio.source.read(BootClock.boot());
    if matches!(reading, Ok(None)) {
        // The difference of two readings is the first that can be judged.
        let pause = rustix::time::Timespec { tv_sec: 0, tv_nsec: PAUSE.0 as i64 };
        _ = rustix::thread::nanosleep(&pause);
        reading = radio.source.read(BootClock.boot());
    }
    match reading {
        Ok(_) => tried.fine(&format!("{name}: counters can be read: {words}")),
        Err(fault) => {
            tried.warn(&format!("{name}: {}: all packets pass until counters can be read", fault.reason()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_judged_by_their_release() {
        let of = |release: &str, attachment| {
            let mut tried = Tried::default();
            release_of(&mut tried, release, &[attachment, attachment]);
            (tried.lines, tried.refusals)
        };
        let fine = |text: &str| (vec![text.to_string()], Vec::new());
        assert_eq!(
            of("5.8.0-rc1", Attachment::Clsact),
            fine("tried: Linux 5.8.0-rc1 is new enough for clsact")
        );
        assert_eq!(of("6.6", Attachment::Tcx), fine("tried: Linux 6.6 is new enough for tcx"));
        let refused = |text: &str| (Vec::new(), vec![text.to_string()]);
        assert_eq!(of("5.7.19", Attachment::Clsact), refused("Linux 5.7.19: expected 5.8 or newer"));
        let refusal = "Linux 5.15.1: attach = \"tcx\" expects 6.6 or newer; attach = \"clsact\" works here";
        assert_eq!(of("5.15.1", Attachment::Tcx), refused(refusal));
    }

    #[test]
    fn privileges_that_lack_are_named() {
        let of = |held| {
            let mut tried = Tried::default();
            let enough = privileges(&mut tried, held);
            assert!(tried.refusals.is_empty(), "another user may check");
            (enough, tried.lines.concat())
        };
        let (net, bpf) = (CapabilitySet::NET_ADMIN, CapabilitySet::BPF);
        assert_eq!(of(net | bpf), (true, "tried: CAP_NET_ADMIN and CAP_BPF are held".to_string()));
        assert!(of(net | CapabilitySet::SYS_ADMIN).0);
        for (held, lacks) in [
            (net, "CAP_BPF is not held"),
            (bpf, "CAP_NET_ADMIN is not held"),
            (CapabilitySet::empty(), "CAP_NET_ADMIN and CAP_BPF are not held"),
        ] {
            let (enough, text) = of(held);
            assert!(
                !enough && text.starts_with("warning: not tried: no privilege") && text.contains(lacks),
                "{text}"
            );
        }
    }
}
