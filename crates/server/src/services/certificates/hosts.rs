//! Host keys of SSH, in the lines of OpenSSH's file.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use ring::digest;

use super::Certificate;
use crate::refusal::Refusal;

/// The keys that a text holds, one for each name that a line is for. Lines that cannot be read are passed over, as by ssh.
pub(super) fn read(text: &str) -> Vec<Certificate> {
    text.lines().filter_map(line).flatten().collect()
}

fn line(line: &str) -> Option<Vec<Certificate>> {
    let line = line.trim();
    // Marks say that a key is revoked, or that it is of an authority: neither is a host's own.
    if line.is_empty() || line.starts_with('#') || line.starts_with('@') {
        return None;
    }
    let mut words = line.split_ascii_whitespace();
    let (names, sort, data) = (words.next()?, words.next()?, words.next()?);
    let info = fingerprint(data)?;
    let of = |server: &str| Certificate {
        server: server.to_owned(),
        kind: "ssh",
        sort: sort.to_owned(),
        data: data.to_owned(),
        info: info.clone(),
    };
    Some(names.split(',').map(of).collect())
}

/// What people compare: `SHA256:` and the digest of the key.
fn fingerprint(data: &str) -> Option<String> {
    let key = STANDARD.decode(data).ok().filter(|key| !key.is_empty())?;
    Some(format!("SHA256:{}", STANDARD_NO_PAD.encode(digest::digest(&digest::SHA256, &key))))
}

/// A key that is to be added.
pub(super) fn checked(server: &str, sort: &str, data: &str) -> Result<Certificate, Refusal> {
    let wrong = |what: &str| Err(Refusal::invalid(format!("the host key of {server:?} {what}")));
    let data = data.trim();
    // A line feed would make another line of it, for a host of somebody's choice.
    if server.is_empty() || !server.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '#' | '@')) {
        return wrong("has no name of a server");
    }
    let Some(info) = fingerprint(data) else { return wrong("is no key in base64") };
    let key = STANDARD.decode(data).unwrap_or_default();
    // A key begins with the length and the name of its own sort.
    let length = key.get(..4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(u32::from_be_bytes);
    let named = length.and_then(|length| key.get(4..)?.get(..usize::try_from(length).ok()?));
    if sort.is_empty() || named != Some(sort.as_bytes()) {
        return wrong("is not of the sort that it is said to be");
    }
    Ok(Certificate {
        server: server.to_owned(),
        kind: "ssh",
        sort: sort.to_owned(),
        data: data.to_owned(),
        info,
    })
}

/// A text with keys added to it, and which of them are new.
pub(super) fn add(
    text: &str,
    wanted: Vec<Certificate>,
    upsert: bool,
) -> Result<(String, Vec<Certificate>), Refusal> {
    let mut text = text.to_owned();
    let mut added = Vec::new();
    for key in wanted {
        let is_place = |known: &Certificate| known.server == key.server && known.sort == key.sort;
        let known = read(&text);
        let same = known.iter().find(|known| is_place(known));
        match same {
            Some(known) if known.data == key.data => continue,
            Some(_) if !upsert => {
                return Err(Refusal::invalid(format!(
                    "Key for '{}' (subtype: '{}') already exist and upsert was not specified.",
                    key.server, key.sort
                )));
            }
            Some(_) => text = without(&text, is_place),
            None => {}
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("{} {} {}\n", key.server, key.sort, key.data));
        added.push(key);
    }
    Ok((text, added))
}

/// A text without some keys. Of a line for several names those stay that are not meant; comments stay.
pub(super) fn without(text: &str, is_meant: impl Fn(&Certificate) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for one in text.lines() {
        let Some(keys) = line(one) else {
            out.push_str(one);
            out.push('\n');
            continue;
        };
        let left: Vec<&str> =
            keys.iter().filter(|key| !is_meant(key)).map(|key| key.server.as_str()).collect();
        if let (Some(key), false) = (keys.first(), left.is_empty()) {
            out.push_str(&format!("{} {} {}\n", left.join(","), key.sort, key.data));
        }
    }
    out
}
