//! One change as bytes: length, checksum, payload.
//!
//! ```text
//! record  = length:u32le crc32:u32le payload
//! payload = revision:u64le operation:u8 strings json
//! strings = group 0 resource 0 namespace 0 name 0
//! ```

use lynceus_object::{Object, Value};

use super::Place;
use super::shelf::{Key, Stored};

/// What precedes a payload.
pub(super) const HEAD: usize = 8;

/// No record is longer: a length beyond this is damage, not a reason to allocate.
const LONGEST: usize = 64 * 1024 * 1024;

const PUT: u8 = 1;
const DELETE: u8 = 2;
/// Ends a snapshot; its revision is the snapshot's.
const END: u8 = 3;

/// A change to write.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub(super) revision: u64,
    pub(super) place: &'a Place,
    pub(super) key: &'a Key,
    pub(super) change: Change<'a>,
}

#[derive(Debug)]
pub(super) enum Change<'a> {
    Put(&'a Object),
    Delete,
}

/// A change that was read.
#[derive(Debug)]
pub(super) enum Entry {
    Change { revision: u64, place: Place, key: Key, stored: Option<Stored> },
    End { revision: u64 },
}

impl Record<'_> {
    /// Appends the record to `out`.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        frame(out, |out| {
            out.extend_from_slice(&self.revision.to_le_bytes());
            out.push(match self.change {
                Change::Put(_) => PUT,
                Change::Delete => DELETE,
            });
            for text in [&self.place.group, &self.place.resource, &self.key.0, &self.key.1] {
                out.extend_from_slice(text.as_bytes());
                out.push(0);
            }
            if let Change::Put(object) = self.change {
                // Writing a value to memory cannot fail: its keys are strings and its numbers finite.
                let _ = serde_json::to_writer(&mut *out, object.value());
            }
        });
    }
}

/// Appends the record that ends a snapshot.
pub(super) fn encode_end(revision: u64, out: &mut Vec<u8>) {
    frame(out, |out| {
        out.extend_from_slice(&revision.to_le_bytes());
        out.push(END);
    });
}

fn frame(out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD]);
    payload(out);
    let body = start + HEAD;
    let length = u32::try_from(out.len() - body).unwrap_or(u32::MAX);
    let checksum = crc32fast::hash(&out[body..]);
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    out[start + 4..body].copy_from_slice(&checksum.to_le_bytes());
}

/// Reads the record at the start of `bytes` and its length with the head; `None` where there is no
/// whole, undamaged record.
pub(super) fn decode(bytes: &[u8]) -> Option<(Entry, usize)> {
    let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let checksum = u32::from_le_bytes(bytes.get(4..HEAD)?.try_into().ok()?);
    if length == 0 || length > LONGEST {
        return None;
    }
    let payload = bytes.get(HEAD..HEAD + length)?;
    if crc32fast::hash(payload) != checksum {
        return None;
    }
    Some((decode_payload(payload)?, HEAD + length))
}

fn decode_payload(payload: &[u8]) -> Option<Entry> {
    let (revision, rest) = payload.split_first_chunk::<8>()?;
    let revision = u64::from_le_bytes(*revision);
    let (operation, mut rest) = rest.split_first()?;
    if *operation == END {
        return Some(Entry::End { revision });
    }
    let mut text = || {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (found, after) = rest.split_at(end);
        rest = &after[1..];
        std::str::from_utf8(found).ok()
    };
    let place = Place::new(text()?, text()?);
    let key: Key = (text()?.into(), text()?.into());
    let stored = match *operation {
        PUT => {
            let value: Value = serde_json::from_slice(rest).ok()?;
            Some(Stored { object: Object::new(value).ok()?, revision })
        }
        DELETE => None,
        _ => return None,
    };
    Some(Entry::Change { revision, place, key, stored })
}
