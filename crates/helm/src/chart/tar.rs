//! The members of a tar archive: the old format, and the extensions of POSIX and of GNU for long names.

use std::io::Read;

use crate::limits;

const BLOCK: usize = 512;

/// A member of an archive.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) size: u64,
    kind: u8,
}

impl Member {
    pub(super) fn is_directory(&self) -> bool {
        self.kind == b'5' || (matches!(self.kind, b'0' | 0) && self.name.ends_with('/'))
    }

    /// Whether it stands for another file. Helm makes an empty file of it; here it is refused.
    pub(super) fn is_link(&self) -> bool {
        matches!(self.kind, b'1' | b'2')
    }

    /// Whether it holds no file but says something about others.
    pub(super) fn is_header(&self) -> bool {
        matches!(self.kind, b'g' | b'x')
    }

    /// Whether anything follows its header. Links and devices have a size that means nothing.
    fn has_content(&self) -> bool {
        !matches!(self.kind, b'1'..=b'6')
    }
}

/// Reads members one after the other.
pub(super) struct Reader<R> {
    input: R,
    /// What is left to skip of the last member.
    skip: u64,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(input: R) -> Self {
        Reader { input, skip: 0 }
    }

    /// The next member; its content is skipped unless it is asked for.
    pub(super) fn next(&mut self) -> Result<Option<Member>, String> {
        let (mut long_name, mut long_size) = (None, None);
        loop {
            self.skip_rest()?;
            let Some(header) = self.header()? else { return Ok(None) };
            let mut member = Member {
                name: header.name(),
                size: header.number(124..136).ok_or("archive/tar: invalid tar header")?,
                kind: header.0[156],
            };
            match member.kind {
                b'x' => {
                    for (key, value) in self.extended(&member)? {
                        match key.as_str() {
                            "path" => long_name = Some(value),
                            "size" => {
                                long_size =
                                    Some(value.parse().map_err(|_| "archive/tar: invalid tar header")?);
                            }
                            _ => {}
                        }
                    }
                    continue;
                }
                b'L' => {
                    let text = self.header_content(&member)?;
                    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
                    long_name = Some(String::from_utf8_lossy(&text[..end]).into_owned());
                    continue;
                }
                b'K' => {
                    self.header_content(&member)?;
                    continue;
                }
                _ => {}
            }
            member.name = long_name.unwrap_or(member.name);
            member.size = long_size.unwrap_or(member.size);
            if !member.has_content() {
                member.size = 0;
            }
            self.skip = padded(member.size);
            return Ok(Some(member));
        }
    }

    /// The content of the member that was read last.
    pub(super) fn content(&mut self, member: &Member) -> Result<Vec<u8>, String> {
        let mut data = Vec::new();
        self.input.by_ref().take(member.size).read_to_end(&mut data).map_err(|error| error.to_string())?;
        if (data.len() as u64) < member.size {
            return Err("unexpected EOF".to_owned());
        }
        self.skip -= member.size;
        Ok(data)
    }

    fn header_content(&mut self, member: &Member) -> Result<Vec<u8>, String> {
        if member.size > limits::MAX_HEADER_BYTES {
            return Err("archive/tar: header field too long".to_owned());
        }
        self.skip = padded(member.size);
        self.content(member)
    }

    /// The records of an extended header: each has its own length in front of it.
    fn extended(&mut self, member: &Member) -> Result<Vec<(String, String)>, String> {
        let data = self.header_content(member)?;
        let mut rest = &data[..];
        let mut records = Vec::new();
        while !rest.is_empty() {
            let (len, record) = record(rest).ok_or("archive/tar: invalid tar header")?;
            records.push(record);
            rest = &rest[len..];
        }
        Ok(records)
    }

    fn skip_rest(&mut self) -> Result<(), String> {
        let skipped = std::io::copy(&mut self.input.by_ref().take(self.skip), &mut std::io::sink())
            .map_err(|error| error.to_string())?;
        // Only padding may be missing at the very end.
        if skipped + (BLOCK as u64) <= self.skip {
            return Err("unexpected EOF".to_owned());
        }
        self.skip = 0;
        Ok(())
    }

    /// The next header; none at the two empty blocks that end an archive, or at the end of the input.
    fn header(&mut self) -> Result<Option<Header>, String> {
        let mut block = Vec::with_capacity(BLOCK);
        self.input.by_ref().take(BLOCK as u64).read_to_end(&mut block).map_err(|error| error.to_string())?;
        if block.is_empty() {
            return Ok(None);
        }
        let block: [u8; BLOCK] = block.try_into().map_err(|_| "unexpected EOF")?;
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let header = Header(block);
        if header.is_sound() { Ok(Some(header)) } else { Err("archive/tar: invalid tar header".to_owned()) }
    }
}

/// One record, and how long it is: `30 path=some/name\n`.
fn record(data: &[u8]) -> Option<(usize, (String, String))> {
    let space = data.iter().position(|byte| *byte == b' ')?;
    let len: usize = std::str::from_utf8(&data[..space]).ok()?.parse().ok()?;
    let body = data.get(space + 1..len)?.strip_suffix(b"\n")?;
    let equals = body.iter().position(|byte| *byte == b'=')?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Some((len, (text(&body[..equals]), text(&body[equals + 1..]))))
}

fn padded(size: u64) -> u64 {
    size.div_ceil(BLOCK as u64).saturating_mul(BLOCK as u64)
}

struct Header([u8; BLOCK]);

impl Header {
    /// Whether the sum over the header, with blanks in the place of the sum, is what it says.
    fn is_sound(&self) -> bool {
        let blanked =
            self.0.iter().enumerate().map(|(at, byte)| if (148..156).contains(&at) { b' ' } else { *byte });
        let sum: u64 = blanked.map(u64::from).sum();
        self.number(148..156) == Some(sum)
    }

    fn text(&self, range: std::ops::Range<usize>) -> String {
        let bytes = &self.0[range];
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }

    /// An octal number, or with the highest bit set a binary one.
    fn number(&self, range: std::ops::Range<usize>) -> Option<u64> {
        let bytes = &self.0[range];
        if bytes[0] & 0x80 != 0 {
            let (first, rest) = bytes.split_first()?;
            return rest.iter().try_fold(u64::from(first & 0x7F), |number, byte| {
                number.checked_mul(256)?.checked_add(u64::from(*byte))
            });
        }
        let digits = bytes.iter().skip_while(|byte| matches!(**byte, b' ' | 0));
        let digits = digits.take_while(|byte| !matches!(**byte, b' ' | 0));
        digits.copied().try_fold(0u64, |number, digit| match digit {
            b'0'..=b'7' => number.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
            _ => None,
        })
    }

    fn name(&self) -> String {
        let name = self.text(0..100);
        let prefix = if &self.0[257..263] == b"ustar\0" { self.text(345..500) } else { String::new() };
        if prefix.is_empty() { name } else { format!("{prefix}/{name}") }
    }
}
