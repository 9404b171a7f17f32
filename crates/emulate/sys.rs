//! The calls of the kernel that need `unsafe`: all of this crate's.

#![allow(unsafe_code, reason = "the system's interface: each call says why it is sound")]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::thread::{LinkNameSpaceType, UnshareFlags};

/// `TUNSETIFF` of linux/if_tun.h: `_IOW('T', 202, int)`.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca_u32 as libc::Ioctl;

/// Moves the calling thread into a new network namespace.
pub(crate) fn new_network() -> io::Result<()> {
    // SAFETY: the thread shares no file descriptors or memory that this flag would take from others.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?)
}

/// Opens a TAP device with this name in the network namespace of the calling thread. The device vanishes with the descriptor.
pub(crate) fn open_tap(name: &str) -> io::Result<OwnedFd> {
    let path = c"/dev/net/tun";
    // SAFETY: the path is a C string; the descriptor is checked and owned by nobody else.
    let tap = unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    // SAFETY: all bytes zero are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the kernel reads and writes an `ifreq` at this address, and it is one.
    if unsafe { libc::ioctl(tap.as_raw_fd(), TUNSETIFF, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(tap)
}

/// Lets the calling process run before all others of usual priority; its children do not. Its memory stays in RAM.
///
/// # Errors
/// Where it may not: without CAP_SYS_NICE.
pub(crate) fn be_real_time(priority: i32) -> io::Result<()> {
    // SAFETY: all bytes zero are a valid `sched_param`.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the parameters outlive the call.
    if unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A part of a program's surroundings, prepared before the fork: afterwards nothing may be allocated.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The network namespace.
    pub network: OwnedFd,
    /// The host name.
    pub host: CString,
    /// A file that stands in place of `/etc/hosts`.
    pub hosts: Option<CString>,
}

/// Lets a command run in a node: its network, its host name, its `/etc/hosts`, empty `/run` and `/tmp` of its own, and a `/proc` that
/// shows its processes only.
pub(crate) fn run_in(command: &mut Command, surroundings: Surroundings) {
    let enter = move || -> io::Result<()> {
        use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
        let network = Some(LinkNameSpaceType::Network);
        rustix::thread::move_into_link_name_space(surroundings.network.as_fd(), network)?;
        // SAFETY: the process has one thread, and shares nothing that these flags take from others.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::NEWUTS) }?;
        let name = surroundings.host.as_bytes();
        // SAFETY: the name is as long as is said.
        if unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        mount_change(c"/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        if let Some(hosts) = &surroundings.hosts {
            mount_bind(hosts.as_c_str(), c"/etc/hosts")?;
        }
        for folder in [c"/run", c"/tmp"] {
            mount(c"tmpfs", folder, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777")?;
        }
        // Of the new process namespace; a sysfs of the network namespace shows its devices.
        mount(c"proc", c"/proc", c"proc", MountFlags::NOSUID, None)?;
        mount(c"sysfs", c"/sys", c"sysfs", MountFlags::NOSUID, None)?;
        Ok(())
    };
    use std::os::fd::AsFd;
    // SAFETY: between fork and exec nothing allocates and nothing is locked: system calls only.
    unsafe { command.pre_exec(enter) };
}

/// One of the two processes after a fork.
#[derive(Debug)]
pub(crate) enum Fork {
    /// The new process.
    Child,
    /// The old one, with the number of the new one.
    Parent(rustix::process::Pid),
}

/// Makes a process whose descendants end with it: it is the first of a new process namespace, and ends when this process does.
pub(crate) fn fork_init() -> io::Result<Fork> {
    // SAFETY: children of this thread are in the new namespace, this process is not.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) }?;
    // SAFETY: the caller's other threads, if any, hold no lock that the child takes: it runs code of this crate and the world only.
    match unsafe { libc::fork() } {
        ..0 => Err(io::Error::last_os_error()),
        0 => {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            Ok(Fork::Child)
        }
        child => Ok(Fork::Parent(
            rustix::process::Pid::from_raw(child).ok_or_else(|| io::Error::from(io::ErrorKind::Other))?,
        )),
    }
}

/// Ends this process at once, without what the language would do at its end: that is the parent's.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: nothing of this process is needed any more.
    unsafe { libc::_exit(status) }
}

/// A descriptor that is readable when one of these signals has come, which then do nothing else.
pub(crate) fn signals(of: &[libc::c_int]) -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is read; the descriptor is checked and owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        of.iter().for_each(|&signal| _ = libc::sigaddset(&raw mut set, signal));
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// Lets a command receive all signals again.
pub(crate) fn unblock_signals(command: &mut Command) {
    let unblock = || {
        // SAFETY: the set is initialised before it is read.
        unsafe {
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: a system call only.
    unsafe { command.pre_exec(unblock) };
}

/// The network namespace of the calling thread.
pub(crate) fn own_network() -> io::Result<OwnedFd> {
    File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
}

/// Lets this process receive these signals again.
pub(crate) fn unblock_own(of: &[libc::c_int]) {
    // SAFETY: the set is initialised before it is read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        of.iter().for_each(|&signal| _ = libc::sigaddset(&raw mut set, signal));
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}
