//! The encoding itself: varints, tags, lengths.

use super::ProtobufError;

pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const BYTES: u8 = 2;
pub(super) const FIXED32: u8 = 5;

/// One field of a message.
pub(super) enum Piece<'b> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'b [u8]),
    /// A field of a sort that no type uses.
    Other(u8),
}

impl Piece<'_> {
    pub(super) fn wire_type(&self) -> u8 {
        match self {
            Piece::Varint(_) => VARINT,
            Piece::Fixed64(_) => FIXED64,
            Piece::Bytes(_) => BYTES,
            Piece::Other(kind) => *kind,
        }
    }
}

/// Reads the fields of a message one by one.
pub(super) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(super) fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next field's number and content.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Piece<'b>)>, ProtobufError> {
        if self.is_done() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).map_err(|_| ProtobufError::Overflow)?;
        let piece = match (tag & 7) as u8 {
            VARINT => Piece::Varint(self.varint()?),
            FIXED64 => Piece::Fixed64(self.fixed64()?),
            BYTES => {
                let length = usize::try_from(self.varint()?).map_err(|_| ProtobufError::Overflow)?;
                Piece::Bytes(self.take(length)?)
            }
            FIXED32 => {
                self.take(4)?;
                Piece::Other(FIXED32)
            }
            kind => return Err(ProtobufError::WireType { wire: kind, field: format!("number {number}") }),
        };
        Ok(Some((number, piece)))
    }

    pub(super) fn varint(&mut self) -> Result<u64, ProtobufError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = *self.take(1)? else { return Err(ProtobufError::Truncated) };
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(ProtobufError::Overflow)
    }

    pub(super) fn fixed64(&mut self) -> Result<u64, ProtobufError> {
        let bytes = self.take(8)?;
        bytes.try_into().map(u64::from_le_bytes).map_err(|_| ProtobufError::Truncated)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], ProtobufError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ProtobufError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }
}

/// Writes fields.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

impl Writer {
    pub(super) fn varint_field(&mut self, number: u32, value: u64) {
        self.tag(number, VARINT);
        self.varint(value);
    }

    pub(super) fn fixed64_field(&mut self, number: u32, value: u64) {
        self.tag(number, FIXED64);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn bytes_field(&mut self, number: u32, content: &[u8]) {
        self.tag(number, BYTES);
        self.varint(content.len() as u64);
        self.bytes.extend_from_slice(content);
    }

    /// A field whose content `write` writes. Its length is not known before, and moved into place after.
    pub(super) fn message_field<E>(
        &mut self,
        number: u32,
        write: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tag(number, BYTES);
        let start = self.bytes.len();
        write(self)?;
        let end = self.bytes.len();
        self.varint((end - start) as u64);
        let prefix = self.bytes.len() - end;
        self.bytes[start..].rotate_right(prefix);
        Ok(())
    }

    fn tag(&mut self, number: u32, kind: u8) {
        self.varint(u64::from(number) << 3 | u64::from(kind));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}
