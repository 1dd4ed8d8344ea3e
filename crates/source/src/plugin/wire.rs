//! The messages of Argo CD's protocol for plugins, as protobuf. There are few of them and they are small.

use super::PluginCall;
use super::pack::Packed;

/// What a plugin says about files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) is_supported: bool,
    pub(super) is_discovery_enabled: bool,
}

/// The first message of a stream: what comes, and for whom.
pub(super) fn metadata(call: &PluginCall, packed: &Packed) -> Vec<u8> {
    let mut metadata = Vec::new();
    text(&mut metadata, 1, call.path.name());
    text(&mut metadata, 2, if call.path.is_root() { "." } else { call.path.as_str() });
    text(&mut metadata, 3, &packed.checksum);
    varint(&mut metadata, 4 << 3);
    varint(&mut metadata, packed.bytes.len() as u64);
    for (name, value) in &call.environment {
        let mut entry = Vec::new();
        text(&mut entry, 1, name);
        text(&mut entry, 2, value);
        field(&mut metadata, 5, &entry);
    }
    let mut request = Vec::new();
    field(&mut request, 1, &metadata);
    request
}

/// Any other message of a stream: a piece of the archive.
pub(super) fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(bytes.len() + 8);
    field(&mut file, 1, bytes);
    let mut request = Vec::with_capacity(file.len() + 8);
    field(&mut request, 2, &file);
    request
}

/// Whether a plugin has rules for what it is for.
pub(super) fn read_configuration(message: &[u8]) -> Option<bool> {
    let mut is_discovery_configured = false;
    for read in Fields(message) {
        if let (1, Field::Number(value)) = read? {
            is_discovery_configured = value != 0;
        }
    }
    Some(is_discovery_configured)
}

pub(super) fn read_match(message: &[u8]) -> Option<Match> {
    let mut answer = Match::default();
    for read in Fields(message) {
        match read? {
            (1, Field::Number(value)) => answer.is_supported = value != 0,
            (2, Field::Number(value)) => answer.is_discovery_enabled = value != 0,
            _ => {}
        }
    }
    Some(answer)
}

pub(super) fn read_manifests(message: &[u8]) -> Option<Vec<String>> {
    let mut manifests = Vec::new();
    for read in Fields(message) {
        if let (1, Field::Bytes(bytes)) = read? {
            manifests.push(std::str::from_utf8(bytes).ok()?.to_owned());
        }
    }
    Some(manifests)
}

fn text(out: &mut Vec<u8>, number: u64, text: &str) {
    if !text.is_empty() {
        field(out, number, text.as_bytes());
    }
}

fn field(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(out, number << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Four or eight bytes, which none of these messages has.
    Other,
}

/// The fields of a message; none for one that cannot be read, which is the last.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Field<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let read = self.field();
        if read.is_none() {
            self.0 = &[];
        }
        Some(read)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => self.take(8).map(|_| Field::Other)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Field::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Field::Other)?,
            _ => return None,
        };
        Some((key >> 3, value))
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lynceus_files::FilePath;

    #[test]
    fn the_first_message_is_as_protobuf_has_it() {
        let call = PluginCall {
            name: String::new(),
            path: FilePath::new("apps/x").unwrap(),
            environment: vec![("A".into(), "1".into())],
        };
        let packed = Packed { bytes: vec![0; 300], checksum: "ab".into() };
        let expected = b"\x0a\x1a\x0a\x01x\x12\x06apps/x\x1a\x02ab\x20\xac\x02\x2a\x06\x0a\x01A\x12\x011";
        assert_eq!(metadata(&call, &packed), expected);
        assert_eq!(chunk(b"xy"), b"\x12\x04\x0a\x02xy");
    }

    #[test]
    fn answers_are_read_whatever_else_is_in_them() {
        assert_eq!(read_configuration(b"\x08\x01\x10\x01"), Some(true));
        assert_eq!(read_configuration(b""), Some(false));
        assert_eq!(
            read_match(b"\x10\x01\x1d0000\x08\x01"),
            Some(Match { is_supported: true, is_discovery_enabled: true })
        );
        assert_eq!(read_manifests(b"\x0a\x01a\x12\x01s\x0a\x01b"), Some(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn what_is_cut_or_wrong_is_nothing() {
        for broken in [&b"\x0a\x05a"[..], b"\x0a", b"\x80", b"\x0b\x00", b"\x0a\x01\xff", &[0xff; 20]] {
            assert_eq!(read_manifests(broken), None, "{broken:?}");
        }
    }
}
