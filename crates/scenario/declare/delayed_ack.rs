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
                Some(Self(Some(DelayedAck { segments: t.segments, timeout: t.timeout, quick: t.quick })))
            }
            _ => wrong_type(item, path, cx),
        }
    }

    fn write(&self) -> String {
        match self.0 {
            None => quote(OFF),
            Some(DelayedAck { segments, timeout, quick }) => {
                format!("{{ segments = {segments}, timeout = {}, quick = {quick} }}", timeout.write())
            }
        }
    }
}
