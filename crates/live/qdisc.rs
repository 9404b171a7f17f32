//! The queueing discipline `clsact` of a device, at which older kernels keep filters.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::netlink::MAJOR;

/// The parent of `clsact`, and the handles of its two sides.
const CLSACT: TcHandle = TcHandle { major: 0xffff, minor: 0xfff1 };
const SIDES: [TcHandle; 2] =
    [TcHandle { major: 0xffff, minor: 0xfff2 }, TcHandle { major: 0xffff, minor: 0xfff3 }];

/// Most bytes of an answer, and most answers to a question.
const LARGEST: usize = 32 * 1024;
const MOST_ANSWERS: usize = 256;

/// The kind of the discipline at the place of `clsact` of a device: "clsact", "ingress", or none.
///
/// # Errors
/// The kernel does not answer, or refuses.
pub fn kind_at_clsact(device: &str) -> io::Result<Option<String>> {
    let found = disciplines(device)?.into_iter().find(|found| found.handle.major == CLSACT.major);
    Ok(found.map(|found| found.kind))
}

/// The kind of the discipline that somebody has put at the root of a device; none where the kernel's own stands there, or a daemon's.
///
/// # Errors
/// The kernel does not answer, or refuses.
pub fn kind_at_root(device: &str) -> io::Result<Option<String>> {
    let is_made = |handle: TcHandle| handle.major != 0 && handle.major != MAJOR;
    let found = disciplines(device)?.into_iter().find(|found| found.is_root && is_made(found.handle));
    Ok(found.map(|found| found.kind))
}

/// True unless the root of a device certainly has another discipline than a daemon's.
pub(crate) fn is_ours_at_root(device: &str) -> bool {
    disciplines(device).map_or(true, |found| found.iter().any(|of| of.is_root && of.handle.major == MAJOR))
}

/// A discipline of a device.
struct Discipline {
    handle: TcHandle,
    is_root: bool,
    kind: String,
}

fn disciplines(device: &str) -> io::Result<Vec<Discipline>> {
    let Some(index) = index_of(device) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut requests = Requests::new()?;
    requests
        .send(RouteNetlinkMessage::GetQueueDiscipline(message(index, TcHandle::default())), NLM_F_DUMP)?;
    requests.answers(&mut |answer| {
        let RouteNetlinkMessage::NewQueueDiscipline(of) = answer else { return };
        let kind = of.attributes.iter().find_map(|attribute| match attribute {
            TcAttribute::Kind(kind) => Some(kind.clone()),
            _ => None,
        });
        if let (true, Some(kind)) = (of.header.index == index, kind) {
            let is_root = of.header.parent == TcHandle::ROOT;
            found.push(Discipline { handle: of.header.handle, is_root, kind });
        }
    })?;
    Ok(found)
}

/// Removes the discipline of a device of this process's network namespace, if no filter is there. True if it was removed: filters of
/// others, and their discipline, stay.
///
/// # Errors
/// The kernel does not answer, or refuses.
pub fn remove_empty_clsact(device: &str) -> io::Result<bool> {
    let Some(index) = index_of(device) else { return Ok(false) };
    let mut requests = Requests::new()?;
    for parent in SIDES {
        let message = message(index, parent);
        if requests.count(RouteNetlinkMessage::GetTrafficFilter(message))? > 0 {
            return Ok(false);
        }
    }
    let mut removed = message(index, CLSACT);
    removed.header.handle = TcHandle { major: 0xffff, minor: 0 };
    removed.attributes.push(TcAttribute::Kind("clsact".to_string()));
    match requests.carry_out(RouteNetlinkMessage::DelQueueDiscipline(removed)) {
        Ok(()) => Ok(true),
        // There is none.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINVAL)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A filter at one of the two sides of `clsact`.
#[derive(Debug, Clone, Copy)]
pub struct FilterPlace {
    /// True for packets that come in.
    pub incoming: bool,
    /// The priority of the filter.
    pub priority: u16,
    /// The number of the filter at this priority.
    pub handle: u32,
}

/// Removes a filter for all protocols from a device. True if there was one.
///
/// # Errors
/// The kernel does not answer, or refuses.
pub fn remove_filter(device: &str, place: FilterPlace) -> io::Result<bool> {
    const ALL_PROTOCOLS: u16 = 3;
    let Some(index) = index_of(device) else { return Ok(false) };
    let mut removed = message(index, SIDES[usize::from(!place.incoming)]);
    removed.header.handle = TcHandle::from(place.handle);
    removed.header.info = u32::from(place.priority) << 16 | u32::from(ALL_PROTOCOLS.to_be());
    removed.attributes.push(TcAttribute::Kind("bpf".to_string()));
    match Requests::new()?.carry_out(RouteNetlinkMessage::DelTrafficFilter(removed)) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINVAL)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn message(index: i32, parent: TcHandle) -> TcMessage {
    let mut message = TcMessage::default();
    message.header.index = index;
    message.header.parent = parent;
    message
}

/// Those of some devices that are there.
#[must_use]
pub fn present(mut devices: Vec<String>) -> Vec<String> {
    devices.retain(|device| index_of(device).is_some());
    devices
}

thread_local! {
    /// A socket of an earlier question: a process that may open no more files is no reason to take a device for one that has gone.
    static SPARE: RefCell<Option<OwnedFd>> = const { RefCell::new(None) };
}

/// The number of a device of this process's network namespace.
pub(crate) fn index_of(device: &str) -> Option<i32> {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice::name_to_index, socket_with};
    let opened = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    SPARE.with_borrow_mut(|spare| {
        // A new one where there can be: the thread may be in another network than before.
        if let Ok(socket) = opened {
            *spare = Some(socket);
        }
        i32::try_from(name_to_index(spare.as_ref()?, device).ok()?).ok()
    })
}

/// Requests to the kernel's traffic control.
struct Requests(Socket);

impl Requests {
    fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    fn send(&self, payload: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut message = NetlinkMessage::from(payload);
        message.header.flags = NLM_F_REQUEST | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.0.send(&bytes, 0).map(|_| ())
    }

    fn carry_out(&mut self, payload: RouteNetlinkMessage) -> io::Result<()> {
        self.send(payload, NLM_F_ACK)?;
        self.answers(&mut |_| {})
    }

    /// The number of objects in a listing.
    fn count(&mut self, payload: RouteNetlinkMessage) -> io::Result<usize> {
        self.send(payload, NLM_F_DUMP)?;
        let mut found = 0;
        self.answers(&mut |message| {
            found += usize::from(matches!(message, RouteNetlinkMessage::NewTrafficFilter(_)))
        })?;
        Ok(found)
    }

    fn answers(&mut self, see: &mut dyn FnMut(&RouteNetlinkMessage)) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(LARGEST);
        for _ in 0..MOST_ANSWERS {
            bytes.clear();
            self.0.recv(&mut bytes, 0)?;
            let mut rest = &bytes[..];
            while let Ok(buffer) = NetlinkBuffer::new_checked(rest) {
                let length = (buffer.length() as usize).next_multiple_of(4);
                let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
                match message.payload {
                    NetlinkPayload::Error(error) => {
                        return error.code.map_or(Ok(()), |_| Err(error.to_io()));
                    }
                    NetlinkPayload::Done(_) => return Ok(()),
                    NetlinkPayload::InnerMessage(inner) => see(&inner),
                    _ => {}
                }
                if length == 0 || length >= rest.len() {
                    break;
                }
                rest = &rest[length..];
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "too many answers"))
    }
}
