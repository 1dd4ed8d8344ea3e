//! The messages of Argo CD's protocols for plugins, as protobuf. There are few of them and they are small.

use super::pack::Packed;
use super::{Announcement, PluginCall};

/// What a plugin says about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Configuration {
    /// It has rules for what it is for.
    pub(super) is_discovery_configured: bool,
    /// It wants the credentials of the repository.
    pub(super) wants_git_credentials: bool,
}

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
        field(&mut metadata, 5, &pair(name, value));
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

pub(super) fn read_configuration(message: &[u8]) -> Option<Configuration> {
    let mut answer = Configuration::default();
    for read in Fields(message) {
        match read? {
            (1, Field::Number(value)) => answer.is_discovery_configured = value != 0,
            (2, Field::Number(value)) => answer.wants_git_credentials = value != 0,
            _ => {}
        }
    }
    Some(answer)
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
            manifests.push(read_text(bytes)?);
        }
    }
    Some(manifests)
}

/// The parameters that a plugin announces.
pub(super) fn read_announcements(message: &[u8]) -> Option<Vec<Announcement>> {
    let mut announcements = Vec::new();
    for read in Fields(message) {
        if let (1, Field::Bytes(bytes)) = read? {
            announcements.push(read_announcement(bytes)?);
        }
    }
    Some(announcements)
}

fn read_announcement(message: &[u8]) -> Option<Announcement> {
    let mut answer = Announcement::default();
    for read in Fields(message) {
        match read? {
            (1, Field::Bytes(bytes)) => answer.name = read_text(bytes)?,
            (2, Field::Bytes(bytes)) => answer.title = read_text(bytes)?,
            (3, Field::Bytes(bytes)) => answer.tooltip = read_text(bytes)?,
            (4, Field::Number(value)) => answer.required = value != 0,
            (5, Field::Bytes(bytes)) => answer.item_type = read_text(bytes)?,
            (6, Field::Bytes(bytes)) => answer.collection_type = read_text(bytes)?,
            (7, Field::Bytes(bytes)) => answer.string = read_text(bytes)?,
            (8, Field::Bytes(bytes)) => answer.array.push(read_text(bytes)?),
            (9, Field::Bytes(bytes)) => {
                let (key, value) = read_pair(bytes)?;
                answer.map.insert(key, value);
            }
            _ => {}
        }
    }
    Some(answer)
}

/// Two texts: an entry of a map, or a user and a password.
pub(super) fn read_pair(message: &[u8]) -> Option<(String, String)> {
    let mut pair = (String::new(), String::new());
    for read in Fields(message) {
        match read? {
            (1, Field::Bytes(bytes)) => pair.0 = read_text(bytes)?,
            (2, Field::Bytes(bytes)) => pair.1 = read_text(bytes)?,
            _ => {}
        }
    }
    Some(pair)
}

fn read_text(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

pub(super) fn pair(first: &str, second: &str) -> Vec<u8> {
    let mut message = Vec::new();
    text(&mut message, 1, first);
    text(&mut message, 2, second);
    message
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
        let configuration = Configuration { is_discovery_configured: true, wants_git_credentials: true };
        assert_eq!(read_configuration(b"\x08\x01\x10\x01\x18\x01"), Some(configuration));
        assert_eq!(read_configuration(b""), Some(Configuration::default()));
        assert_eq!(
            read_match(b"\x10\x01\x1d0000\x08\x01"),
            Some(Match { is_supported: true, is_discovery_enabled: true })
        );
        assert_eq!(read_manifests(b"\x0a\x01a\x12\x01s\x0a\x01b"), Some(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn announcements_are_read_with_all_their_fields() {
        let message = b"\x0a\x25\x0a\x01n\x12\x01t\x1a\x01h\x20\x01\x2a\x06number\x32\x03map\x42\x01a\x42\x00\x4a\x06\x0a\x01k\x12\x01v\
            \x0a\x03\x3a\x01s";
        let all = Announcement {
            name: "n".into(),
            title: "t".into(),
            tooltip: "h".into(),
            required: true,
            item_type: "number".into(),
            collection_type: "map".into(),
            array: vec!["a".into(), String::new()],
            map: [("k".into(), "v".into())].into(),
            ..Announcement::default()
        };
        let plain = Announcement { string: "s".into(), ..Announcement::default() };
        assert_eq!(read_announcements(message), Some(vec![all, plain]));
        assert_eq!(read_announcements(b"\x0a\x03\x0a\x01\xff"), None);
    }

    #[test]
    fn what_is_cut_or_wrong_is_nothing() {
        for broken in [&b"\x0a\x05a"[..], b"\x0a", b"\x80", b"\x0b\x00", b"\x0a\x01\xff", &[0xff; 20]] {
            assert_eq!(read_manifests(broken), None, "{broken:?}");
        }
    }
}
