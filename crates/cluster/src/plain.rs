//! Names as parts of a path.

use std::borrow::Cow;

/// A name as a path can carry it: whatever somebody asks for must not become another path.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let is_dots = text == "." || text == "..";
    let stays = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b':' => true,
        b'.' => !is_dots,
        _ => false,
    };
    if text.bytes().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        match stays(byte) {
            true => out.push(byte as char),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_name_stays_one_part_of_a_path() {
        for (name, part) in [
            ("web.v1", "web.v1"),
            ("system:node", "system:node"),
            ("..", "%2E%2E"),
            (".", "%2E"),
            ("../secrets/x?a=b", "..%2Fsecrets%2Fx%3Fa%3Db"),
            ("Not A Name", "Not%20A%20Name"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(plain(name), part, "{name}");
        }
    }
}
