//! A report of a receiver, as the bytes that travel.

/// Most bytes of a report. A length fits an octet, and a report any link. ATP's report, the longest that is known, has 20 blocks of two
/// 32-bit numbers each: 160 bytes, which leaves 95 for what else it says.
pub const MOST_REPORT_BYTES: usize = 255;

/// A report of the receiver of a flow over UDP: bytes of the scheme's own format, which the host carries unread.
#[derive(Debug, Clone, Copy)]
pub struct ReportBytes {
    bytes: [u8; MOST_REPORT_BYTES],
    len: u8,
}

impl ReportBytes {
    /// A report without bytes.
    pub const EMPTY: Self = Self { bytes: [0; MOST_REPORT_BYTES], len: 0 };

    /// A report of these bytes; `None` if there are more than [`MOST_REPORT_BYTES`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        Self::written(|buffer| {
            buffer.get_mut(..bytes.len())?.copy_from_slice(bytes);
            Some(bytes.len())
        })
    }

    /// A report that `write` writes to the front of a buffer of zeros; `write` returns the length. `None`: there was no room for it.
    #[must_use]
    pub fn written(write: impl FnOnce(&mut [u8]) -> Option<usize>) -> Option<Self> {
        let mut report = Self::EMPTY;
        let len = write(&mut report.bytes)?;
        report.len = u8::try_from(len).ok()?;
        Some(report)
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Number of bytes.
    #[must_use]
    pub fn wire_len(&self) -> u32 {
        u32::from(self.len)
    }
}

impl PartialEq for ReportBytes {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for ReportBytes {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_at_most_as_many_bytes_as_an_octet_counts() {
        let bytes = [7; 256];
        let longest = ReportBytes::new(&bytes[..255])
            .map(|report| (report.wire_len(), report.as_slice() == &bytes[..255]));
        assert_eq!(longest, Some((255, true)));
        assert_eq!(ReportBytes::new(&bytes), None);
        assert_eq!(ReportBytes::written(|_| Some(256)), None);
        assert_eq!(ReportBytes::new(&[]), Some(ReportBytes::EMPTY));
        // What a writer leaves behind its report is none of it.
        let short = ReportBytes::written(|buffer| {
            buffer[..9].fill(1);
            Some(3)
        });
        assert_eq!(short, ReportBytes::new(&[1; 3]));
    }
}
