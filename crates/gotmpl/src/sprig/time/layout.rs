//! Layouts: a time is described by how the reference time, Mon Jan 2 15:04:05 MST 2006, would look.

/// A part of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    LongYear,
    Year,
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekday,
    Weekday,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    /// `PM`, or `pm`.
    HalfDay {
        small: bool,
    },
    /// `-0700` and its kin.
    Offset(OffsetStyle),
    /// `MST`
    ZoneName,
    /// `.000` or `,999`: digits after the second; zeros are always shown, nines only as far as needed.
    Fraction {
        digits: usize,
        comma: bool,
        trimmed: bool,
    },
}

/// How an offset from UTC is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetStyle {
    /// `Z` stands for no offset.
    pub(super) zulu: bool,
    pub(super) colons: bool,
    pub(super) minutes: bool,
    pub(super) seconds: bool,
}

/// Fields by how they are written. Longer ones come before their beginnings.
const WRITTEN: [(&str, Field); 28] = [
    ("January", Field::LongMonth),
    ("Monday", Field::LongWeekday),
    ("MST", Field::ZoneName),
    ("002", Field::ZeroYearDay),
    ("01", Field::ZeroMonth),
    ("02", Field::ZeroDay),
    ("03", Field::ZeroHour12),
    ("04", Field::ZeroMinute),
    ("05", Field::ZeroSecond),
    ("06", Field::Year),
    ("15", Field::Hour),
    ("1", Field::NumMonth),
    ("2006", Field::LongYear),
    ("2", Field::Day),
    ("__2", Field::UnderYearDay),
    ("3", Field::Hour12),
    ("4", Field::Minute),
    ("5", Field::Second),
    ("PM", Field::HalfDay { small: false }),
    ("pm", Field::HalfDay { small: true }),
    ("070000", offset(false, true, true)),
    ("07:00:00", offset(true, true, true)),
    ("0700", offset(false, true, false)),
    ("07:00", offset(true, true, false)),
    ("07", offset(false, false, false)),
    ("Jan", Field::Month),
    ("Mon", Field::Weekday),
    ("_2", Field::UnderDay),
];

const fn offset(colons: bool, minutes: bool, seconds: bool) -> Field {
    Field::Offset(OffsetStyle { zulu: false, colons, minutes, seconds })
}

/// The text before the first field, the field, how it is written, and what follows.
pub(super) fn next(layout: &str) -> (&str, Option<(Field, &str, &str)>) {
    for (at, _) in layout.char_indices() {
        if let Some((field, length)) = field_at(&layout[at..]) {
            let rest = &layout[at..];
            return (&layout[..at], Some((field, &rest[..length], &rest[length..])));
        }
    }
    (layout, None)
}

fn field_at(text: &str) -> Option<(Field, usize)> {
    match text.as_bytes().first()? {
        b'-' | b'Z' => {
            let (written, style) = offset_at(&text[1..])?;
            let zulu = text.starts_with('Z');
            Some((Field::Offset(OffsetStyle { zulu, ..style }), written + 1))
        }
        b'.' | b',' => fraction_at(text),
        // An underscore before the year, no day.
        b'_' if text.starts_with("_2006") => None,
        _ => WRITTEN.iter().find_map(|&(written, field)| {
            let after = text.strip_prefix(written)?;
            let name_goes_on = after.starts_with(|c: char| c.is_ascii_lowercase());
            match field {
                // An offset needs its sign, which is looked for above.
                Field::Offset(_) => None,
                Field::Month | Field::Weekday if name_goes_on => None,
                _ => Some((field, written.len())),
            }
        }),
    }
}

fn offset_at(text: &str) -> Option<(usize, OffsetStyle)> {
    WRITTEN.iter().find_map(|&(written, field)| match field {
        Field::Offset(style) if text.starts_with(written) => Some((written.len(), style)),
        _ => None,
    })
}

fn fraction_at(text: &str) -> Option<(Field, usize)> {
    let figure = text[1..].chars().next().filter(|c| matches!(c, '0' | '9'))?;
    let after = text[1..].trim_start_matches(figure);
    // Digits that go on are no fraction.
    if after.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits = text.len() - 1 - after.len();
    let field = Field::Fraction { digits, comma: text.starts_with(','), trimmed: figure == '9' };
    Some((field, digits + 1))
}
