//! The calls of the system that need `unsafe`: all of this crate's.

#![allow(unsafe_code, reason = "the system's interface: each call says why it is sound")]

use std::io;
use std::mem;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of messages of the kernel beside a datagram: three integers with their heads need 72.
const CONTROL: usize = 256;

/// Room for messages of the kernel, as aligned as their heads.
#[repr(align(8))]
struct Control([u8; CONTROL]);

/// A datagram that was received.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received {
    /// Bytes of the payload.
    pub length: usize,
    /// The sender's address.
    pub from: SocketAddr,
    /// The TOS byte or the traffic class: DSCP and ECN.
    pub tos: u8,
    /// Datagrams that the kernel has dropped at this socket so far, where it says so.
    pub overflowed: Option<u64>,
}

/// Receives a datagram, without waiting.
pub(crate) fn receive(socket: &UdpSocket, payload: &mut [u8]) -> io::Result<Received> {
    let mut control = Control([0; CONTROL]);
    // SAFETY: all bytes zero are a valid address.
    let mut address: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: payload.len() };
    // SAFETY: all bytes zero are a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_name = (&raw mut address).cast();
    message.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = CONTROL as _;
    // SAFETY: all that the message points to outlives the call, with the lengths that it names.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    let from = address_of(&address).ok_or(io::ErrorKind::InvalidData)?;
    let (mut tos, mut overflowed) = (0, None);
    // SAFETY: the kernel has written whole messages into the buffer, and its length into `msg_controllen`; the macros stay inside.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(&raw const message);
        while !at.is_null() {
            let (level, kind, data) = ((*at).cmsg_level, (*at).cmsg_type, libc::CMSG_DATA(at));
            if level == libc::IPPROTO_IP && TOS.contains(&kind) {
                tos = *data;
            } else if level == libc::IPPROTO_IPV6 && kind == libc::IPV6_TCLASS {
                tos = data.cast::<libc::c_int>().read_unaligned() as u8;
            } else if is_overflow(level, kind) {
                overflowed = Some(u64::from(data.cast::<u32>().read_unaligned()));
            }
            at = libc::CMSG_NXTHDR(&raw const message, at);
        }
    }
    Ok(Received { length, from, tos, overflowed })
}

/// Kinds of messages with the TOS byte: Linux has one name, the BSDs another.
#[cfg(target_os = "linux")]
const TOS: [libc::c_int; 1] = [libc::IP_TOS];
#[cfg(not(target_os = "linux"))]
const TOS: [libc::c_int; 2] = [libc::IP_TOS, libc::IP_RECVTOS];

const fn is_overflow(level: libc::c_int, kind: libc::c_int) -> bool {
    #[cfg(target_os = "linux")]
    return level == libc::SOL_SOCKET && kind == libc::SO_RXQ_OVFL;
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = (level, kind);
        false
    };
}

fn address_of(address: &libc::sockaddr_storage) -> Option<SocketAddr> {
    match libc::c_int::from(address.ss_family) {
        libc::AF_INET => {
            // SAFETY: the storage is large and aligned enough, and the family says which address it is.
            let address = unsafe { (&raw const *address).cast::<libc::sockaddr_in>().read() };
            let ip = u32::from_be(address.sin_addr.s_addr).into();
            Some(SocketAddrV4::new(ip, u16::from_be(address.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let address = unsafe { (&raw const *address).cast::<libc::sockaddr_in6>().read() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            let (port, scope) = (u16::from_be(address.sin6_port), address.sin6_scope_id);
            Some(match ip.to_ipv4_mapped() {
                Some(ip) => SocketAddrV4::new(ip, port).into(),
                None => SocketAddrV6::new(ip, port, 0, scope).into(),
            })
        }
        _ => None,
    }
}

/// Requests the TOS byte of each datagram, and the number of those that were dropped at the socket.
pub(crate) fn note_tos(socket: &UdpSocket, over_6: bool) {
    set(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_RECVTOS, 1);
    if over_6 {
        set(socket.as_raw_fd(), libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1);
    }
    #[cfg(target_os = "linux")]
    set(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RXQ_OVFL, 1);
}

/// Lets a connection take bytes of the program only while it has less than this to send: what is counted as sent is nearly so.
pub(crate) fn limit_unsent(connection: BorrowedFd<'_>, bytes: i32) {
    #[cfg(target_os = "linux")]
    set(connection.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, bytes);
    #[cfg(not(target_os = "linux"))]
    let _ = (connection, bytes);
}

/// Sets an option without which the program does less, but not wrongly.
fn set(fd: i32, level: libc::c_int, option: libc::c_int, value: libc::c_int) {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value outlives the call, and has the length that is said.
    _ = unsafe { libc::setsockopt(fd, level, option, (&raw const value).cast(), length) };
}

/// Bytes of `struct tcp_info` that are read.
#[cfg(target_os = "linux")]
pub(crate) const INFO: usize = 256;

/// The kernel's `struct tcp_info` of a connection: bytes that an older kernel does not have are zero.
#[cfg(target_os = "linux")]
pub(crate) fn tcp_info(connection: BorrowedFd<'_>) -> Option<[u8; INFO]> {
    let mut info = [0; INFO];
    let mut length = INFO as libc::socklen_t;
    let (level, option) = (libc::IPPROTO_TCP, libc::TCP_INFO);
    // SAFETY: the kernel writes at most `length` bytes into the buffer, and it has as many.
    let done = unsafe {
        libc::getsockopt(connection.as_raw_fd(), level, option, info.as_mut_ptr().cast(), &raw mut length)
    };
    (done == 0).then_some(info)
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// From now on SIGINT and SIGTERM end no more than what [`interrupted`] stops.
pub fn note_interrupts() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: all bytes zero are a valid `sigaction` with an empty set; the handler does nothing but to store a flag.
        unsafe {
            let mut action: libc::sigaction = mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}

/// True once one of these signals has come.
#[must_use]
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
