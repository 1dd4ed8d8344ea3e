//! Go's view of characters: general categories, and case mappings of one character to one character.

use std::sync::LazyLock;

use regex::Regex;

use crate::held_byte;
pub(super) use crate::unicode::{is_digit, is_letter};

/// A set of characters by general category; ASCII is decided without it.
struct Category(LazyLock<Option<Regex>>);

impl Category {
    fn has(&self, c: char) -> bool {
        self.0.as_ref().is_some_and(|set| set.is_match(c.encode_utf8(&mut [0; 4])))
    }
}

static UPPER: Category = Category(LazyLock::new(|| Regex::new(r"\p{Lu}").ok()));
static LOWER: Category = Category(LazyLock::new(|| Regex::new(r"\p{Ll}").ok()));
static TITLE: Category = Category(LazyLock::new(|| Regex::new(r"\p{Lt}").ok()));
static NUMBER: Category = Category(LazyLock::new(|| Regex::new(r"\p{N}").ok()));
static PUNCTUATION: Category = Category(LazyLock::new(|| Regex::new(r"\p{P}").ok()));

/// The characters of a string as Go's functions on characters see them: what is not UTF-8 is lost to them.
pub(super) fn runes(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if held_byte(c).is_some() { char::REPLACEMENT_CHARACTER } else { c })
}

pub(super) fn is_upper(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { UPPER.has(c) }
}

pub(super) fn is_lower(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { LOWER.has(c) }
}

pub(super) fn is_title(c: char) -> bool {
    !c.is_ascii() && TITLE.has(c)
}

pub(super) fn is_number(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { NUMBER.has(c) }
}

/// ASCII characters such as `$` and `+` are symbols, not punctuation.
pub(super) fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c) } else { PUNCTUATION.has(c) }
}

/// The one upper-case character of a character. Where Unicode only has several (`ß`), it stays as it is.
pub(super) fn to_upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => match c {
            // Greek letters with iota below: their capitals are single characters too.
            '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => shifted(c, 8),
            '\u{1FB3}' | '\u{1FC3}' | '\u{1FF3}' => shifted(c, 9),
            _ => c,
        },
    }
}

/// The one lower-case character of a character.
pub(super) fn to_lower(c: char) -> char {
    // For `İ` Unicode has `i` and a combining dot; alone it is `i`.
    c.to_lowercase().next().unwrap_or(c)
}

/// The title-case character of a character: the upper-case one, but for digraphs and Georgian.
pub(super) fn to_title(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        '\u{10D0}'..='\u{10FA}' | '\u{10FD}'..='\u{10FF}' => c,
        _ => to_upper(c),
    }
}

fn shifted(c: char, by: u32) -> char {
    char::from_u32(u32::from(c) + by).unwrap_or(c)
}
