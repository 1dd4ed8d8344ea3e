//! DER, the binary form of keys and certificates: as much of it as they need.

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OID: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0C;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const UTC_TIME: u8 = 0x17;
pub(super) const GENERALIZED_TIME: u8 = 0x18;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// A tag of the context, of a value that holds others.
pub(super) const fn explicit(number: u8) -> u8 {
    0xA0 | number
}

/// Writes a value.
pub(super) fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len();
    if length < 0x80 {
        bytes.push(length as u8);
    } else {
        let digits: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
        bytes.push(0x80 | digits.len() as u8);
        bytes.extend(digits);
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Writes a value made of others.
pub(super) fn nest(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    value(tag, &parts.concat())
}

/// Writes a number that is not negative, given in big-endian bytes.
pub(super) fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let digits = &bytes[start..];
    let sign: &[u8] = if digits.first().is_none_or(|first| first & 0x80 != 0) { &[0] } else { &[] };
    nest(INTEGER, &[sign, digits])
}

/// Writes whole bytes as bits.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    nest(BIT_STRING, &[&[0], bytes])
}

/// Values one after the other.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

/// A value that was read: its content, and all of it.
#[derive(Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    pub(super) whole: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The next value, whatever it is.
    pub(super) fn next(&mut self) -> Option<Element<'a>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let mut length = usize::from(first);
        if first >= 0x80 {
            let (digits, after) =
                rest.split_at_checked(usize::from(first & 0x7F)).filter(|(d, _)| d.len() <= 4)?;
            length = digits.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
            rest = after;
        }
        let (content, after) = rest.split_at_checked(length)?;
        let whole = &self.0[..self.0.len() - after.len()];
        self.0 = after;
        Some(Element { tag, content, whole })
    }

    /// The content of the next value, which must have a tag.
    pub(super) fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|element| element.tag == tag).map(|element| element.content)
    }

    /// The next value if it has a tag; otherwise it is left in place.
    pub(super) fn optional(&mut self, tag: u8) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let content = ahead.expect(tag)?;
        *self = ahead;
        Some(content)
    }
}
