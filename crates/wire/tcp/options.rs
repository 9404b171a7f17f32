//! The options of a TCP header: at most 40 bytes of kind, length and value [RFC 9293 §3.2].

use super::scheme::{EXPERIMENT, SchemeOption};
use crate::cursor::{Reader, Writer};
use crate::error::{DecodeError, Expected};

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

bounded! {
    /// The shift of the window field, bits [RFC 7323 §2.2]. A larger one on the wire counts as 14 [§2.3].
    WindowScale(u8) <= 14
}

/// The timestamps option [RFC 7323 §3.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The receiver's clock as last received; valid if ACK is set.
    pub echo: u32,
}

/// Bytes that have arrived: beyond the acknowledgement number, or as first block duplicate data (RFC 2883):
/// `left <= sequence < right` [RFC 2018 §3].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlock {
    /// First sequence number of the block.
    pub left: u32,
    /// Sequence number after the last one of the block.
    pub right: u32,
}

/// Up to four SACK blocks, the one that holds the newest segment first [RFC 2018 §4].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    blocks: [SackBlock; 4],
    count: u8,
}

impl SackBlocks {
    /// Largest number of blocks in 40 bytes of options.
    pub const MAX: usize = 4;

    /// The first blocks, as many as fit.
    pub fn new(blocks: &[SackBlock]) -> Self {
        let mut all = Self::default();
        for (space, &block) in all.blocks.iter_mut().zip(blocks) {
            *space = block;
            all.count += 1;
        }
        all
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[SackBlock] {
        self.blocks.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// The first `count` at most.
    fn truncated(self, count: usize) -> Self {
        Self::new(self.as_slice().get(..count).unwrap_or(self.as_slice()))
    }
}

/// The options of one segment.
///
/// They are encoded in the layout of Linux, each on a word boundary: MSS; timestamps, after SACK-permitted or two NOPs; SACK-permitted
/// alone after two NOPs; window scale after a NOP; SACK blocks after two NOPs; the header of a scheme. If not all SACK blocks fit, the last
/// ones are omitted [RFC 2018 §3].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    mss: Option<u16>,
    window_scale: Option<WindowScale>,
    sack_permitted: bool,
    timestamps: Option<Timestamps>,
    sack: SackBlocks,
    scheme: Option<SchemeOption>,
}

impl Options {
    /// No options.
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks { blocks: [SackBlock { left: 0, right: 0 }; 4], count: 0 },
        scheme: None,
    };

    /// Largest number of bytes of options.
    pub const MAX_LEN: usize = 40;

    /// Adds the largest segment that the sender of this one receives, bytes of payload [RFC 9293 §3.7.1]. For a SYN.
    #[must_use]
    pub fn with_mss(self, mss: u16) -> Self {
        Self { mss: Some(mss), ..self }.fitted()
    }

    /// Adds the shift of windows that the sender will announce [RFC 7323 §2.2]. For a SYN.
    #[must_use]
    pub fn with_window_scale(self, shift: WindowScale) -> Self {
        Self { window_scale: Some(shift), ..self }.fitted()
    }

    /// Adds SACK-permitted: the sender supports SACK [RFC 2018 §2]. For a SYN.
    #[must_use]
    pub fn with_sack_permitted(self) -> Self {
        Self { sack_permitted: true, ..self }.fitted()
    }

    /// Adds timestamps [RFC 7323 §3.2].
    #[must_use]
    pub fn with_timestamps(self, timestamps: Timestamps) -> Self {
        Self { timestamps: Some(timestamps), ..self }.fitted()
    }

    /// Adds the header of a scheme.
    #[must_use]
    pub fn with_scheme(self, option: SchemeOption) -> Self {
        Self { scheme: Some(option), ..self }.fitted()
    }

    /// Sets the SACK blocks to the first of `blocks` that fit beside the other options: four alone, three with timestamps, two with
    /// timestamps and MSS or window scale, none with timestamps and the header of a scheme. Options added later may remove blocks.
    #[must_use]
    pub fn with_sack(self, blocks: &[SackBlock]) -> Self {
        Self { sack: SackBlocks::new(blocks), ..self }.fitted()
    }

    /// Largest segment, bytes of payload.
    pub const fn mss(&self) -> Option<u16> {
        self.mss
    }

    /// The shift of later windows.
    pub const fn window_scale(&self) -> Option<WindowScale> {
        self.window_scale
    }

    /// True if SACK is supported.
    pub const fn sack_permitted(&self) -> bool {
        self.sack_permitted
    }

    /// The timestamps.
    pub const fn timestamps(&self) -> Option<Timestamps> {
        self.timestamps
    }

    /// The SACK blocks.
    pub fn sack(&self) -> &[SackBlock] {
        self.sack.as_slice()
    }

    /// The header of a scheme.
    pub const fn scheme(&self) -> Option<SchemeOption> {
        self.scheme
    }

    /// Omits the last SACK blocks if they do not fit: the other options have 40 bytes at most.
    fn fitted(self) -> Self {
        let others = Self { sack: SackBlocks::default(), ..self }.wire_len();
        let room = (Self::MAX_LEN - others).saturating_sub(4) / 8;
        Self { sack: self.sack.truncated(room), ..self }
    }

    /// Length on the wire, words of 4 bytes.
    pub(super) const fn words(&self) -> u8 {
        let mss = self.mss.is_some() as u8;
        let timestamps = match (self.timestamps, self.sack_permitted) {
            (Some(_), _) => 3,
            (None, permitted) => permitted as u8,
        };
        let window_scale = self.window_scale.is_some() as u8;
        let sack = if self.sack.count == 0 { 0 } else { 1 + 2 * self.sack.count };
        let scheme = match self.scheme {
            Some(option) => option.wire_len() / 4,
            None => 0,
        };
        mss + timestamps + window_scale + sack + scheme as u8
    }

    /// Length on the wire, bytes: a multiple of 4, at most 40.
    pub const fn wire_len(&self) -> usize {
        4 * self.words() as usize
    }

    /// Writes the options after the header's fixed part.
    pub(super) fn write(&self, mut writer: Writer<'_>) {
        if let Some(mss) = self.mss {
            writer = writer.put([MSS, 4]).put(mss.to_be_bytes());
        }
        if self.timestamps.is_some() || self.sack_permitted {
            writer = writer.put(if self.timestamps.is_some() && self.sack_permitted {
                [SACK_PERMITTED, 2]
            } else {
                [NOP, NOP]
            });
            writer = match self.timestamps {
                Some(Timestamps { value, echo }) => {
                    writer.put([TIMESTAMPS, 10]).put(value.to_be_bytes()).put(echo.to_be_bytes())
                }
                None => writer.put([SACK_PERMITTED, 2]),
            };
        }
        if let Some(shift) = self.window_scale {
            writer = writer.put([NOP, WINDOW_SCALE, 3, shift.get()]);
        }
        if self.sack.count > 0 {
            writer = writer.put([NOP, NOP, SACK, 2 + 8 * self.sack.count]);
        }
        for block in self.sack() {
            writer = writer.put(block.left.to_be_bytes()).put(block.right.to_be_bytes());
        }
        if let Some(option) = self.scheme {
            option.write(writer);
        }
    }

    /// Reads the options of a header. Of two options of one kind the last is used, of two headers of schemes the first. Unknown options are
    /// skipped. SACK blocks that do not fit in the layout of [`Options`] are dropped.
    pub(super) fn read(mut walk: Walk<'_>) -> Result<Self, DecodeError> {
        let mut options = Self::NONE;
        while let Some(option) = walk.next()? {
            let mut value = option.value.clone();
            match (option.kind, option.bytes.len()) {
                (MSS, 4) => options.mss = Some(value.u16_be()?),
                (MSS, _) => return option.fail("4"),
                (WINDOW_SCALE, 3) => options.window_scale = Some(WindowScale::saturating(value.u8()?)),
                (WINDOW_SCALE, _) => return option.fail("3"),
                (SACK_PERMITTED, 2) => options.sack_permitted = true,
                (SACK_PERMITTED, _) => return option.fail("2"),
                (SACK, 10 | 18 | 26 | 34) => {
                    let count = value.rest().len() / 8;
                    let mut blocks = SackBlocks { count: count as u8, ..Default::default() };
                    for block in blocks.blocks.iter_mut().take(count) {
                        *block = SackBlock { left: value.u32_be()?, right: value.u32_be()? };
                    }
                    options.sack = blocks;
                }
                (SACK, _) => return option.fail("10, 18, 26 or 34"),
                (TIMESTAMPS, 10) => {
                    options.timestamps = Some(Timestamps { value: value.u32_be()?, echo: value.u32_be()? });
                }
                (TIMESTAMPS, _) => return option.fail("10"),
                _ => options.scheme = options.scheme.or_else(|| option.scheme()),
            }
        }
        Ok(options.fitted())
    }
}

/// Goes through the options of a header, padding excepted, to their end.
pub(super) struct Walk<'a> {
    left: Reader<'a>,
}

/// An option of any kind.
pub(super) struct Found<'a> {
    pub(super) kind: u8,
    /// Offset from the header's first byte, bytes.
    pub(super) offset: usize,
    /// The option, kind and length included.
    bytes: &'a [u8],
    /// The bytes after kind and length.
    value: Reader<'a>,
    /// The option's first byte, for errors.
    at: Reader<'a>,
}

impl<'a> Walk<'a> {
    /// The options in all that this reader has left.
    pub(super) const fn new(options: Reader<'a>) -> Self {
        Self { left: options }
    }

    /// The next option.
    pub(super) fn next(&mut self) -> Result<Option<Found<'a>>, DecodeError> {
        loop {
            let at = self.left.clone();
            match at.rest() {
                [] | [END, ..] => return Ok(None),
                [NOP, ..] => self.left.skip(1)?,
                // RFC 9293 §3.1: every other option, known or not, has a length that includes kind and length.
                &[kind, ref rest @ ..] => {
                    let length = rest.first().copied().unwrap_or(0);
                    if length < 2 || usize::from(length) > at.rest().len() {
                        let wanted = "at least 2, and within the header";
                        return Err(at.fail(Expected::value("option length", wanted, &[kind, length])));
                    }
                    let bytes = self.left.slice(length.into())?;
                    let mut value = at.clone().limited(length.into())?;
                    value.skip(2)?;
                    return Ok(Some(Found { kind, offset: at.offset(), bytes, value, at }));
                }
            }
        }
    }
}

impl Found<'_> {
    /// The option as the largest segment that is announced.
    pub(super) fn mss(&self) -> Option<u16> {
        let &[MSS, 4, high, low] = self.bytes else { return None };
        Some(u16::from_be_bytes([high, low]))
    }

    /// The option as the header of a scheme. Another experiment may have its ExID with another length.
    pub(super) fn scheme(&self) -> Option<SchemeOption> {
        if self.kind != EXPERIMENT {
            return None;
        }
        SchemeOption::decode(self.bytes).ok().map(|(option, _)| option)
    }

    /// The error of a length that this kind does not have.
    fn fail<T>(&self, wanted: &'static str) -> Result<T, DecodeError> {
        let found = [self.kind, self.bytes.len() as u8];
        Err(self.at.fail(Expected::value("option length", wanted, &found)))
    }
}
