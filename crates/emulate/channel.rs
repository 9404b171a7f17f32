//! Messages, with descriptors, between two processes of a machine.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of the largest message.
const LARGEST: usize = 1 << 16;

/// Most descriptors of a message: the kernel's limit.
const MOST_DESCRIPTORS: usize = 253;

/// An end of a connection that keeps messages apart.
#[derive(Debug)]
pub(crate) struct Channel(OwnedFd);

impl Channel {
    /// Two ends.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    /// The end of a socket of messages.
    pub const fn of(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// Sends a message; waits while the other end takes none.
    pub fn send(&self, message: &impl Serialize, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        self.send_with(message, descriptors, SendFlags::empty())
    }

    /// Sends a message.
    ///
    /// # Errors
    /// `WouldBlock` where the other end takes none now.
    pub fn try_send(&self, message: &impl Serialize) -> io::Result<()> {
        self.send_with(message, &[], SendFlags::DONTWAIT)
    }

    fn send_with(
        &self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
        flags: SendFlags,
    ) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        if text.len() > LARGEST || descriptors.len() > MOST_DESCRIPTORS {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a message that is too large"));
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(descriptors));
        }
        loop {
            match sendmsg(&self.0, &[IoSlice::new(&text)], &mut control, SendFlags::NOSIGNAL | flags) {
                Err(rustix::io::Errno::INTR) => {}
                other => return Ok(other.map(|_| ())?),
            }
        }
    }

    /// Receives a message and its descriptors; none: the other end is closed. With `wait` it waits for one.
    ///
    /// # Errors
    /// `WouldBlock` without a message; `InvalidData` for bytes that are no such message.
    pub fn receive<T: DeserializeOwned>(&self, wait: bool) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let mut text = vec![0; LARGEST];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | if wait { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let length = loop {
            match recvmsg(&self.0, &mut [IoSliceMut::new(&mut text)], &mut control, flags) {
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET) => return Ok(None),
                other => break other?.bytes,
            }
        };
        let mut descriptors = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(of) = message {
                descriptors.extend(of);
            }
        }
        if length == 0 {
            return Ok(None);
        }
        let message = serde_json::from_slice(&text[..length])
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        Ok(Some((message, descriptors)))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
