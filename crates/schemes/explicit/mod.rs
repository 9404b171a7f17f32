//! Parts that the explicit-rate schemes share (QFCP, RCP, XCP): the header of the schemes that grant rates, the sender's round-trip
//! time, and the fallback to TCP's law where routers do not support the scheme.

mod fallback;
mod rates;
mod rtt;
mod sender;

pub use fallback::Fallback;
pub use rates::{FASTEST, QFCP, RCP, bytes_per_second, grant};
pub(crate) use rates::{INTERVALS, read, requested, write};
pub use rtt::{Rtt, RttChoice};
pub use sender::{ExplicitSender, WithFallback};
