//! What the explicit-rate schemes share (QFCP, RCP, XCP): the header of those that hand out rates, the sender's round-trip time, and
//! what a sender does where routers do not speak its scheme.

mod fallback;
mod rates;
mod rtt;
mod sender;

pub use fallback::Fallback;
pub use rates::{FASTEST, QFCP, RCP, bytes_per_second, grant};
pub(crate) use rates::{read, write};
pub use rtt::{Rtt, RttChoice};
pub use sender::{ExplicitSender, WithFallback};
