//! Breaking and shortening text by the number of its bytes.

use crate::{Context, Failure, Str, Value};

/// Breaks a text at spaces so that lines stay within a width, and inside of longer words if told so.
pub(super) fn wrap(
    context: &mut Context<'_>,
    text: &Str,
    width: i64,
    separator: &str,
    break_words: bool,
) -> Result<Value, Failure> {
    let width = usize::try_from(width.max(1)).unwrap_or(usize::MAX);
    let bytes = text.bytes();
    context.charge(bytes.len().saturating_add((bytes.len() / width).saturating_mul(separator.len())))?;
    let mut lines: Vec<&[u8]> = Vec::new();
    let mut rest = &*bytes;
    while rest.len() > width {
        if let Some(after) = rest.strip_prefix(b" ") {
            rest = after;
            continue;
        }
        let space = rest[..=width].iter().rposition(|&byte| byte == b' ');
        let (line, after) = match space {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None if break_words => (&rest[..width], Some(&rest[width..])),
            None => match rest[width..].iter().position(|&byte| byte == b' ') {
                Some(more) => (&rest[..width + more], Some(&rest[width + more + 1..])),
                None => (rest, None),
            },
        };
        // A long word at the end is the last line; no separator follows it.
        let Some(after) = after else { break };
        lines.push(line);
        rest = after;
    }
    lines.push(rest);
    context.charge(lines.len().saturating_mul(separator.len()))?;
    Ok(Str::from_bytes(&lines.join(separator.as_bytes())).into())
}

/// Shortens a text to a width with dots at the end, and at the start too if `left` lies far enough inside.
pub(super) fn abbreviate(text: &Str, left: i64, width: i64) -> Result<Str, Failure> {
    const DOTS: &[u8] = b"...";
    let bytes = text.bytes();
    let Ok(width) = usize::try_from(width) else { return Ok(Str::new()) };
    if bytes.len() <= width {
        return Ok(text.clone());
    }
    // The caller saw to a width of 4 at least, and of 7 where text may be cut on both sides.
    let room = width.saturating_sub(DOTS.len());
    let left = usize::try_from(left).unwrap_or_default().min(bytes.len() - room);
    let shortened = if left <= 4 {
        [&bytes[..room], DOTS].concat()
    } else if left + room < bytes.len() {
        [DOTS, &bytes[left..left + room.saturating_sub(DOTS.len())], DOTS].concat()
    } else {
        [DOTS, &bytes[bytes.len() - room..]].concat()
    };
    Ok(Str::from_bytes(&shortened))
}
