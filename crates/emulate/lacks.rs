//! The things that an emulation needs from the machine and from its user, tried out before anything is made.

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;

use crate::keeper::enter_namespaces;
use crate::sys;

/// The first thing that this machine or its user lacks, in one line with the remedy; none if all is there.
#[must_use]
pub fn lacks() -> Option<String> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return Some("emulation was tried on x86_64 and aarch64 only".to_string());
    }
    if !std::path::Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun: load the kernel's module (modprobe tun)".to_string());
    }
    let problem = tried_out()?;
    let root = rustix::process::geteuid().is_root();
    Some(if root {
        format!("{problem}: this user is root, but without the right to it")
    } else {
        remedy(&problem)
    })
}

/// The remedy for a user who is not root.
fn remedy(problem: &str) -> String {
    let is = |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let refusal = if is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor lets no user make namespaces (kernel.apparmor_restrict_unprivileged_userns=1)"
    } else if is("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "the kernel lets no user make namespaces (kernel.unprivileged_userns_clone=0)"
    } else if is("/proc/sys/user/max_user_namespaces", "0") {
        "the kernel lets no user make namespaces (user.max_user_namespaces=0)"
    } else {
        return format!("{problem}: run it with sudo");
    };
    format!("{refusal}: change that, or run it with sudo")
}

/// Makes a namespace with a device, and its own `/proc`, in a process that ends at once. Returns the first refusal.
fn tried_out() -> Option<String> {
    let (from, to) = match rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC) {
        Ok(ends) => ends,
        Err(error) => return Some(format!("a pipe: {error}")),
    };
    let tried = sys::fork(|| {
        let write = |text: &str| _ = rustix::io::write(to.as_fd(), text.as_bytes());
        let inner = || {
            if let Err(problem) = in_namespaces() {
                write(&problem);
            }
        };
        match enter_namespaces().and_then(|()| sys::fork(inner).map_err(|error| error.to_string())) {
            Ok(first) => sys::wait_for(first),
            Err(problem) => write(&problem),
        }
    });
    drop(to);
    let mut problem = String::new();
    match tried {
        Ok(process) => {
            _ = fs::File::from(from).read_to_string(&mut problem);
            sys::wait_for(process);
        }
        Err(error) => problem = error.to_string(),
    }
    Some(problem).filter(|problem| !problem.is_empty())
}

/// Does what nodes and their programs need, in the first process of a new namespace of processes.
fn in_namespaces() -> Result<(), String> {
    sys::new_network().map_err(|error| format!("a network namespace: {error}"))?;
    sys::open_tap("wl0").map_err(|error| format!("a TAP device (/dev/net/tun): {error}"))?;
    sys::own_folders().map_err(|error| format!("folders of a node (/run, /proc): {error}"))
}
