//! Which characters Go takes as letters, as digits and as printable.

mod tables;

/// `unicode.IsLetter`
pub(crate) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { within(&tables::LETTERS, c) }
}

/// `unicode.IsDigit`
pub(crate) fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { within(&tables::DIGITS, c) }
}

/// `strconv.IsPrint`, which is also `unicode.IsPrint`
pub(crate) fn is_print(c: char) -> bool {
    if c.is_ascii() { matches!(c, ' '..='~') } else { within(&tables::PRINTABLE, c) }
}

fn within(ranges: &[(u32, u32)], c: char) -> bool {
    let code = u32::from(c);
    let at = ranges.partition_point(|&(_, last)| last < code);
    ranges.get(at).is_some_and(|&(first, _)| first <= code)
}
