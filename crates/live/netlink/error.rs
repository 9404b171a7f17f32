//! Errors of requests to the kernel, in words that say what is missing.

use std::fmt;
use std::io;

use super::attributes::Malformed;
use super::exchange::TIME_OUT_MS;
use super::messages::Failure;
use super::numbers::{
    EACCES, EAFNOSUPPORT, EBUSY, EINVAL, ENOBUFS, ENODEV, ENOENT, EOPNOTSUPP, EPERM, EPROTONOSUPPORT,
};

/// A request to the kernel that has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No interface has the name.
    NoInterface {
        /// Name of the interface.
        interface: String,
    },
    /// The interface exists and has no wireless driver.
    NotWireless {
        /// Name of the interface.
        interface: String,
    },
    /// The kernel has no protocol: `nl80211`, `generic netlink`, `rtnetlink`.
    NoProtocol {
        /// Name of the protocol.
        protocol: &'static str,
    },
    /// The driver has no such values.
    Unsupported {
        /// Name of the interface.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
    },
    /// The process may not read the values.
    Permission {
        /// Name of the interface, or of a protocol.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
    },
    /// A wireless interface that is down, or is changing.
    NotReady {
        /// Name of the interface.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
    },
    /// Any other error of the kernel.
    Kernel {
        /// Name of the interface, or of a protocol.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
        /// Error number (`errno`).
        errno: i32,
        /// The kernel's text; empty if it has none.
        text: String,
    },
    /// A reply that the protocol does not allow.
    Malformed {
        /// Name of the interface, or of a protocol.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
        /// The part that is wrong.
        problem: Malformed,
    },
    /// No reply within 200 ms.
    TimeOut {
        /// Name of the interface, or of a protocol.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
    },
    /// More messages or bytes than a reply can have.
    TooLong {
        /// Name of the interface, or of a protocol.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
    },
    /// Entries were added or removed each time that the list was read.
    Interrupted {
        /// Name of the interface, or of a protocol.
        interface: String,
        /// The values, as a noun.
        values: &'static str,
    },
    /// A call of the operating system failed.
    Socket {
        /// Name of the call.
        call: &'static str,
        /// Error number (`errno`).
        errno: i32,
    },
}

impl Error {
    /// The error of a request for values of an interface, or about a protocol.
    pub(crate) fn new(failure: Failure, interface: &str, values: &'static str) -> Self {
        let interface = interface.to_string();
        match failure {
            Failure::Kernel { errno: EPERM | EACCES, .. } => Self::Permission { interface, values },
            Failure::Kernel { errno: EOPNOTSUPP, .. } => Self::Unsupported { interface, values },
            Failure::Kernel { errno: EBUSY, .. } => Self::NotReady { interface, values },
            Failure::Kernel { errno, text } => Self::Kernel { interface, values, errno, text },
            Failure::Malformed(problem) => Self::Malformed { interface, values, problem },
            Failure::TooLong => Self::TooLong { interface, values },
            Failure::Interrupted => Self::Interrupted { interface, values },
            Failure::TimeOut => Self::TimeOut { interface, values },
            Failure::Socket { errno: EPERM | EACCES, .. } => Self::Permission { interface, values },
            Failure::Socket { call, errno } => Self::Socket { call, errno },
        }
    }

    /// The error of opening a socket of a protocol.
    pub(crate) fn of_opening(failure: Failure, protocol: &'static str) -> Self {
        match failure {
            Failure::Socket { errno: EPROTONOSUPPORT | EAFNOSUPPORT, .. } => Self::NoProtocol { protocol },
            failure => Self::new(failure, protocol, "socket"),
        }
    }

    /// The error of the request for the number of a family of generic netlink.
    pub(crate) fn of_family(failure: Failure, family: &'static str) -> Self {
        match failure {
            Failure::Kernel { errno: ENOENT | EOPNOTSUPP, .. } => Self::NoProtocol { protocol: family },
            failure => Self::new(failure, family, "number of the family"),
        }
    }

    /// The error of a request to nl80211 about an interface that exists. `ENODEV` is the answer for one without a wireless driver, `EINVAL`
    /// that of requests that go by the radio, and `ENOENT` that of generic netlink after nl80211 was unloaded (loaded again, it has another
    /// number).
    pub(crate) fn of_wireless(failure: Failure, interface: &str, values: &'static str) -> Self {
        match failure {
            Failure::Kernel { errno: ENODEV | EINVAL, .. } => {
                Self::NotWireless { interface: interface.to_string() }
            }
            Failure::Kernel { errno: ENOENT, .. } => Self::NoProtocol { protocol: "nl80211" },
            failure => Self::new(failure, interface, values),
        }
    }

    /// The error of a request to rtnetlink about an interface by its name.
    pub(crate) fn of_link(failure: Failure, interface: &str) -> Self {
        match failure {
            Failure::Kernel { errno: ENODEV, .. } => Self::NoInterface { interface: interface.to_string() },
            failure => Self::new(failure, interface, "counters"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |errno: i32| io::Error::from_raw_os_error(errno);
        match self {
            Self::NoInterface { interface } => write!(f, "{interface}: no such interface"),
            Self::NotWireless { interface } => write!(f, "{interface}: not a wireless interface"),
            Self::NoProtocol { protocol: "nl80211" } => {
                write!(f, "this kernel has no nl80211: no driver of a wireless interface is loaded")
            }
            Self::NoProtocol { protocol } => write!(f, "this kernel has no {protocol}"),
            Self::Unsupported { interface, values } => {
                write!(f, "{interface}: the driver has no {values}")
            }
            Self::Permission { interface, values } => {
                write!(f, "{interface}: no permission to read the {values} (root, or CAP_NET_ADMIN)")
            }
            Self::NotReady { interface, values } => {
                write!(f, "{interface}: the {values} cannot be read now: the interface is busy")
            }
            Self::Kernel { interface, values, errno, text: reason } if reason.is_empty() => {
                write!(f, "{interface}: the kernel refuses the {values}: {}", text(*errno))
            }
            Self::Kernel { interface, values, errno, text: reason } => {
                write!(f, "{interface}: the kernel refuses the {values}: {}: {reason}", text(*errno))
            }
            Self::Malformed { interface, values, problem } => {
                write!(f, "{interface}: malformed {values} from the kernel: {problem}")
            }
            Self::TimeOut { interface, values } => {
                write!(f, "{interface}: no {values} from the kernel within {TIME_OUT_MS} ms")
            }
            Self::TooLong { interface, values } => {
                write!(f, "{interface}: more {values} than there can be")
            }
            Self::Interrupted { interface, values } => {
                write!(f, "{interface}: the {values} changed each time that they were read")
            }
            Self::Socket { call, errno: ENOBUFS } => {
                write!(f, "netlink: {call}: the kernel has lost a reply for want of memory")
            }
            Self::Socket { call, errno } => write!(f, "netlink: {call}: {}", text(*errno)),
        }
    }
}

impl std::error::Error for Error {}
