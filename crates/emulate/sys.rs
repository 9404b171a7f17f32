//! The calls of the kernel that need `unsafe`: all of this crate's.

#![allow(unsafe_code, reason = "the system's interface: each call says why it is sound")]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use airfair_units::Span;
use rustix::process::Pid;
use rustix::thread::{LinkNameSpaceType, UnshareFlags};

/// `TUNSETIFF` of linux/if_tun.h: `_IOW('T', 202, int)`.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca_u32 as libc::Ioctl;

/// `TUNSETPERSIST`: `_IOW('T', 203, int)`.
const TUNSETPERSIST: libc::Ioctl = 0x4004_54cb_u32 as libc::Ioctl;

/// Moves the calling thread into a new network namespace.
pub(crate) fn new_network() -> io::Result<()> {
    // SAFETY: the thread shares no file descriptors or memory that this flag would take from others.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?)
}

/// Opens a TAP device with this name in the network namespace of the calling thread. The device vanishes with the namespace, with all
/// others of it at once; to take each away as its descriptor is closed would take the kernel some 50 ms each.
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
    let mut request = request_of(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the kernel reads and writes an `ifreq` at this address, and it is one.
    if unsafe { libc::ioctl(tap.as_raw_fd(), TUNSETIFF, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel takes a number.
    if unsafe { libc::ioctl(tap.as_raw_fd(), TUNSETPERSIST, 1 as libc::c_ulong) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(tap)
}

/// True if a device of the calling thread's namespace is set up; false where it is not there.
///
/// # Errors
/// Where there are no sockets.
pub(crate) fn is_up(name: &str) -> io::Result<bool> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    let mut request = request_of(name);
    // SAFETY: the kernel reads and writes an `ifreq` at this address, and it is one.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) } < 0 {
        return Ok(false);
    }
    // SAFETY: the call has written the flags.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    Ok(libc::c_int::from(flags) & libc::IFF_UP != 0)
}

/// A request on a device.
fn request_of(name: &str) -> libc::ifreq {
    // SAFETY: all bytes zero are a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays zero.
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request
}

/// Lets the calling thread run before all others of usual priority; its children do not.
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

/// Takes the emulator's priority away again.
pub(crate) fn be_usual() {
    // SAFETY: all bytes zero are valid parameters, and they outlive the call.
    unsafe {
        let parameters: libc::sched_param = std::mem::zeroed();
        libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters);
        libc::munlockall();
    }
}

/// Processor time of the calling thread.
pub(crate) fn cpu_time() -> Span {
    let of = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Span(of.tv_sec as u64 * 1_000_000_000 + of.tv_nsec as u64)
}

/// The surroundings of a program, prepared before the fork: afterwards nothing may be allocated.
#[derive(Debug)]
pub(crate) struct Surroundings {
    /// The network namespace.
    pub network: OwnedFd,
    /// The host name.
    pub host: CString,
    /// The text that stands in place of `/etc/hosts`, from its start; none: the system has no such file.
    pub hosts: Option<OwnedFd>,
    /// The namespaces of users and of processes, for a program of a process that is in others.
    pub entered: Option<Entered>,
}

/// Namespaces that a process enters which is not the keeper's.
#[derive(Debug)]
pub(crate) struct Entered {
    /// That of users, if it is another.
    pub users: Option<OwnedFd>,
    /// That of processes.
    pub processes: OwnedFd,
}

/// Lets a command run in a node: its network, its host name, its `/etc/hosts`, empty `/run` and `/tmp` of its own, and a `/proc` that
/// shows the processes of the run only.
pub(crate) fn run_in(command: &mut Command, surroundings: Surroundings) {
    let enter = move || -> io::Result<()> {
        use rustix::fs::{Mode, OFlags};
        use rustix::thread::move_into_link_name_space;
        receive_all_signals();
        if let Some(entered) = &surroundings.entered {
            if let Some(users) = &entered.users {
                move_into_link_name_space(users.as_fd(), Some(LinkNameSpaceType::User))?;
            }
            move_into_link_name_space(entered.processes.as_fd(), Some(LinkNameSpaceType::ProcessID))?;
            // Only a process that begins now is in it.
            wait_for_child()?;
        }
        move_into_link_name_space(surroundings.network.as_fd(), Some(LinkNameSpaceType::Network))?;
        own_folders()?;
        let name = surroundings.host.as_bytes();
        // SAFETY: the name is as long as is said.
        if unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        if let Some(hosts) = &surroundings.hosts {
            // A file in the memory of this node, which nothing can leave behind.
            let path = c"/run/.hosts";
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            let file = rustix::fs::open(path, flags, Mode::from_raw_mode(0o644))?;
            let mut offset = 0;
            while rustix::fs::sendfile(&file, hosts, Some(&mut offset), 1 << 20)? > 0 {}
            rustix::mount::mount_bind(path, c"/etc/hosts")?;
            rustix::fs::unlink(path)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec nothing allocates and nothing is locked: system calls only.
    unsafe { command.pre_exec(enter) };
}

/// Gives the calling process, which has one thread, folders of its own: empty ones for `/run` and `/tmp`, a `/proc` of its namespace of
/// processes, a `/sys` of its network; and a host name of its own.
pub(crate) fn own_folders() -> io::Result<()> {
    use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
    // SAFETY: the process has one thread, and shares nothing that these flags take from others.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS | UnshareFlags::NEWUTS) }?;
    mount_change(c"/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
    for folder in [c"/run", c"/tmp"] {
        mount(c"tmpfs", folder, c"tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777")?;
    }
    mount(c"proc", c"/proc", c"proc", MountFlags::NOSUID, None)?;
    mount(c"sysfs", c"/sys", c"sysfs", MountFlags::NOSUID, None)?;
    Ok(())
}

/// Forks: the child returns, this process waits for it and ends as it does. For a process between fork and exec.
fn wait_for_child() -> io::Result<()> {
    // SAFETY: the process has one thread.
    match unsafe { libc::fork() } {
        ..0 => Err(io::Error::last_os_error()),
        0 => {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
            Ok(())
        }
        child => {
            // The child has its own copy of what it answers to the caller; this process's would keep the caller waiting.
            close_all_but_standard();
            block_all_signals();
            let mut status = 0;
            // SAFETY: the status outlives the call.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {}
            exit_now(if libc::WIFEXITED(status) {
                libc::WEXITSTATUS(status)
            } else {
                128 + libc::WTERMSIG(status)
            })
        }
    }
}

/// Closes all descriptors but standard input, output and error.
fn close_all_but_standard() {
    // SAFETY: for a process that uses no descriptor afterwards.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
}

/// Lets no signal end or stop this process, but for those that nobody can block.
pub(crate) fn block_all_signals() {
    // SAFETY: the set is initialised before it is read.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Lets this process receive all signals as a new one does. The caller, an interpreter, ignores some of them.
fn receive_all_signals() {
    // SAFETY: the set is initialised before it is read; no handler is set.
    unsafe {
        for ignored in [libc::SIGPIPE, libc::SIGXFSZ] {
            libc::signal(ignored, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Runs a function in a new process, which ends with it and with this process.
pub(crate) fn fork(child: impl FnOnce()) -> io::Result<Pid> {
    // SAFETY: the caller's other threads, if any, hold no lock that the child takes: it runs this crate's code only.
    match unsafe { libc::fork() } {
        ..0 => Err(io::Error::last_os_error()),
        0 => {
            block_all_signals();
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child));
            exit_now(i32::from(ended.is_err()));
        }
        number => Pid::from_raw(number).ok_or_else(|| io::Error::from(io::ErrorKind::Other)),
    }
}

/// Closes in a child what its parent goes on to own there.
pub(crate) fn close_of_parent(descriptor: &impl AsFd) {
    // SAFETY: the owner's copy in this process is never used or dropped: a child ends without that.
    unsafe { libc::close(descriptor.as_fd().as_raw_fd()) };
}

/// Waits for the end of a child.
pub(crate) fn wait_for(child: Pid) {
    use rustix::process::{WaitOptions, waitpid};
    while matches!(waitpid(Some(child), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
}

/// Lets this process be killed when its parent ends.
pub(crate) fn end_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Moves this process, which has one thread, into a namespace of users of its own, in which it has all rights.
pub(crate) fn new_users() -> io::Result<()> {
    // SAFETY: the process has one thread.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) }?)
}

/// Lets the children of the calling thread be in a new namespace of processes, which ends with the first of them.
pub(crate) fn new_processes() -> io::Result<()> {
    // SAFETY: this concerns children only.
    Ok(unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) }?)
}

/// Ends this process at once, without what the language would do at its end: that is the parent's.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: nothing of this process is needed any more.
    unsafe { libc::_exit(status) }
}

/// A descriptor that is readable when a child has ended. The signal must be blocked.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is read; the descriptor is checked and owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// Sends a signal to all processes of the namespace of which this process is the first.
pub(crate) fn signal_all(signal: libc::c_int) {
    // SAFETY: the call has no memory.
    unsafe { libc::kill(-1, signal) };
}

/// The network namespace of the calling thread.
pub(crate) fn own_network() -> io::Result<OwnedFd> {
    File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
}

/// Sleeps for milliseconds.
pub(crate) fn sleep(milliseconds: u64) {
    let of = rustix::time::Timespec { tv_sec: 0, tv_nsec: milliseconds as i64 * 1_000_000 };
    _ = rustix::thread::nanosleep(&of);
}
