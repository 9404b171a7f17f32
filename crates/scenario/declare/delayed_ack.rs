//! `delayed_ack`: how a receiver delays acknowledgements.

use airfair_transport::DelayedAck;
use airfair_units::Span;

use crate::declare::field::{Field, quote, wrong_type};
use crate::declare::schema::{Schema, words_or};
use crate::declare::table::{OtherKeys, table};
use crate::text::error::Cx;
use crate::text::location::Path;
use crate::text::tree::{Located, Value};

/// The word that turns delaying off: each segment is acknowledged.
const OFF: &str = "off";

table! {
    /// How a receiver delays acknowledgements.
    struct DelayedAckTable {
        /// An acknowledgement is sent at the latest after this many segments; the RFCs allow two.
        segments: u32 = default(2), in 1..=1000;
        /// An acknowledgement is sent at the latest after this time; the RFCs allow 500 ms.
        timeout: Span = default(Span::from_millis(200)), in Span(1)..=Span::from_secs(10);
        /// The first segments of a connection that are acknowledged at once, as Linux does.
        quick: u32 = default(0);
        /// `quick` segments are acknowledged at once again when data in order come after a time-out's time without any, and
        /// when data come a second time, as Linux does (`tcp_event_data_recv`, `tcp_enter_quickack_mode`).
        requick: bool = default(false);
        /// A full segment with PSH, and one that is not full, are acknowledged at once where the application has read
        /// everything, as Linux does (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`; a full segment since 6.6).
        pushed: bool = default(false);
    }
}

/// `"off"`, or `{ segments = 2, timeout = "200 ms", quick = 0 }`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acks(pub Option<DelayedAck>);

impl Field for Acks {
    const TYPE: &'static str = "table";

    fn expected() -> String {
        format!("\"{OFF}\" or a table such as {{ segments = 2, timeout = \"200 ms\" }}")
    }

    fn schema() -> Schema {
        words_or(&Self::choices(), DelayedAckTable::doc(String::new()).schema())
    }

    fn choices() -> Vec<&'static str> {
        vec![OFF]
    }

    fn read(item: &Located, path: &Path<'_>, cx: &mut Cx<'_>) -> Option<Self> {
        match &item.value {
            Value::Text(text) if text == OFF => Some(Self(None)),
            Value::Table(table) => {
                let t = DelayedAckTable::read_table(table, path, cx, &OtherKeys::default())?;
                let DelayedAckTable { segments, timeout, quick, requick, pushed, .. } = t;
                Some(Self(Some(DelayedAck { segments, timeout, quick, requick, pushed })))
            }
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        match self.0 {
            None => quote(OFF),
            Some(DelayedAck { segments, timeout, quick, requick, pushed }) => {
                let mut text =
                    format!("{{ segments = {segments}, timeout = {}, quick = {quick}", timeout.write());
                for (key, on) in [("requick", requick), ("pushed", pushed)] {
                    text += &if on { format!(", {key} = true") } else { String::new() };
                }
                text + " }"
            }
        }
    }
}
