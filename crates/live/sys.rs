//! The calls of the kernel that need `unsafe`: all of this crate's.

#![allow(unsafe_code, reason = "the system's interface: each call says why it is sound")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// A descriptor from which the signals that end a daemon, and the one that lets it read its configuration again, can be read. They no
/// longer interrupt this process.
pub(crate) fn signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before it is read; the descriptor is checked and owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// The next signal that has come.
pub(crate) fn next_signal(signals: &OwnedFd) -> Option<i32> {
    // SAFETY: all bytes zero are a valid value; the kernel writes as many bytes as there are, and they are read only if all were written.
    unsafe {
        let mut of: libc::signalfd_siginfo = std::mem::zeroed();
        let size = size_of::<libc::signalfd_siginfo>();
        let read = libc::read(signals.as_raw_fd(), (&raw mut of).cast(), size);
        (read == size as isize).then_some(of.ssi_signo as i32)
    }
}

/// Binds a socket to a device: it sends there, and receives what comes from there.
pub(crate) fn bind_to_device(socket: &impl AsRawFd, device: &str) -> io::Result<()> {
    let length = device.len() as libc::socklen_t;
    // SAFETY: the kernel reads as many bytes of the name as it has.
    let bound = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE,
            device.as_ptr().cast(),
            length,
        )
    };
    if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Lets no signal end this process, but for those that nobody can block. For the keeper, which ends when its pipe does.
pub(crate) fn block_all_signals() {
    // SAFETY: the set is initialised before it is read.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_BLOCK, &raw const all, std::ptr::null_mut());
    }
}

/// Words of memory that the kernel writes, too.
#[derive(Debug)]
pub(crate) struct SharedWords {
    begin: NonNull<AtomicU32>,
    words: usize,
}

impl SharedWords {
    /// The first words of a map of the kernel that can be mapped.
    pub fn map(fd: BorrowedFd<'_>, words: usize) -> io::Result<Self> {
        let (read_write, length) = (libc::PROT_READ | libc::PROT_WRITE, words * size_of::<AtomicU32>());
        // SAFETY: no memory of this process is touched; the result is checked.
        let begin = unsafe {
            libc::mmap(std::ptr::null_mut(), length, read_write, libc::MAP_SHARED, fd.as_raw_fd(), 0)
        };
        match NonNull::new(begin.cast()).filter(|_| begin != libc::MAP_FAILED) {
            Some(begin) => Ok(Self { begin, words }),
            None => Err(io::Error::last_os_error()),
        }
    }

    /// The words.
    pub fn words(&self) -> &[AtomicU32] {
        // SAFETY: the memory is mapped as long as this value is there, is aligned to a page, and all bits are a valid value. The kernel
        // writes whole words.
        unsafe { std::slice::from_raw_parts(self.begin.as_ptr(), self.words) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody holds a reference any more.
        unsafe { libc::munmap(self.begin.as_ptr().cast(), self.words * size_of::<AtomicU32>()) };
    }
}
