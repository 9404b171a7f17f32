//! A flow whose packets have no next hop, as the headers of MORE and ExOR name it.

use crate::cursor::{Reader, Writer};
use crate::error::DecodeError;

/// A flow: the number that its source has given it, and its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// The number.
    pub flow: u32,
    /// Where its packets come from.
    pub source: u32,
    /// Where they go.
    pub destination: u32,
}

impl Flow {
    pub(crate) fn decode(reader: &mut Reader) -> Result<Self, DecodeError> {
        Ok(Self { flow: reader.u32_be()?, source: reader.u32_be()?, destination: reader.u32_be()? })
    }

    pub(crate) fn put(self, writer: Writer) -> Writer {
        writer.put(self.flow.to_be_bytes()).put(self.source.to_be_bytes()).put(self.destination.to_be_bytes())
    }
}
