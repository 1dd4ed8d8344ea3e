//! Times to text.

use std::fmt::Write;

use super::calendar::{MONTHS, WEEKDAYS};
use super::layout::{Field, OffsetStyle, next};
use super::moment::{Moment, Wall};

/// A time in a layout.
pub(in crate::sprig) fn format(moment: &Moment, layout: &str) -> String {
    let wall = moment.wall();
    let mut text = String::with_capacity(layout.len() + 8);
    let mut rest = layout;
    loop {
        let (before, field) = next(rest);
        text.push_str(before);
        let Some((field, _, after)) = field else { return text };
        // Writing to a string cannot fail.
        let _ = write_field(&mut text, field, &wall, moment.nanos);
        rest = after;
    }
}

/// What `%v` prints.
pub(super) fn show(moment: &Moment) -> String {
    let mut text = format(moment, "2006-01-02 15:04:05.999999999 -0700 MST");
    if moment.from_clock {
        // How long the program has run, which a render does not know.
        text.push_str(" m=+0.000000001");
    }
    text
}

fn write_field(text: &mut String, field: Field, wall: &Wall, nanos: u32) -> std::fmt::Result {
    let date = wall.date;
    let hour12 = if wall.hour() % 12 == 0 { 12 } else { wall.hour() % 12 };
    match field {
        Field::LongYear if date.year < 0 => write!(text, "-{:04}", date.year.unsigned_abs()),
        Field::LongYear => write!(text, "{:04}", date.year),
        Field::Year => write!(text, "{:02}", date.year.unsigned_abs() % 100),
        Field::LongMonth => text.write_str(month_name(date.month)),
        Field::Month => text.write_str(&month_name(date.month)[..3]),
        Field::NumMonth => write!(text, "{}", date.month),
        Field::ZeroMonth => write!(text, "{:02}", date.month),
        Field::LongWeekday => text.write_str(WEEKDAYS[date.weekday()]),
        Field::Weekday => text.write_str(&WEEKDAYS[date.weekday()][..3]),
        Field::Day => write!(text, "{}", date.day),
        Field::UnderDay => write!(text, "{:2}", date.day),
        Field::ZeroDay => write!(text, "{:02}", date.day),
        Field::UnderYearDay => write!(text, "{:3}", date.day_of_year()),
        Field::ZeroYearDay => write!(text, "{:03}", date.day_of_year()),
        Field::Hour => write!(text, "{:02}", wall.hour()),
        Field::Hour12 => write!(text, "{hour12}"),
        Field::ZeroHour12 => write!(text, "{hour12:02}"),
        Field::Minute => write!(text, "{}", wall.minute()),
        Field::ZeroMinute => write!(text, "{:02}", wall.minute()),
        Field::Second => write!(text, "{}", wall.second()),
        Field::ZeroSecond => write!(text, "{:02}", wall.second()),
        Field::HalfDay { small } => text.write_str(match (wall.hour() >= 12, small) {
            (true, false) => "PM",
            (false, false) => "AM",
            (true, true) => "pm",
            (false, true) => "am",
        }),
        Field::Offset(style) => write_offset(text, wall.offset, style),
        Field::ZoneName if wall.abbreviation.is_empty() => write_offset(
            text,
            wall.offset,
            OffsetStyle { zulu: false, colons: false, minutes: true, seconds: false },
        ),
        Field::ZoneName => text.write_str(&wall.abbreviation),
        Field::Fraction { digits, comma, trimmed } => write_fraction(text, nanos, digits, comma, trimmed),
    }
}

pub(super) fn month_name(month: u8) -> &'static str {
    MONTHS[usize::from(month).clamp(1, 12) - 1]
}

fn write_offset(text: &mut String, offset: i64, style: OffsetStyle) -> std::fmt::Result {
    if offset == 0 && style.zulu {
        return text.write_char('Z');
    }
    // The sign is that of the minutes: half a minute west of Greenwich has none.
    let minutes = offset / 60;
    let (sign, seconds) = if minutes < 0 { ('-', -offset) } else { ('+', offset) };
    let colon = if style.colons { ":" } else { "" };
    write!(text, "{sign}{:02}", minutes.abs() / 60)?;
    if style.minutes {
        write!(text, "{colon}{:02}", minutes.abs() % 60)?;
    }
    if style.seconds {
        write!(text, "{colon}{:02}", seconds % 60)?;
    }
    Ok(())
}

fn write_fraction(
    text: &mut String,
    nanos: u32,
    digits: usize,
    comma: bool,
    trimmed: bool,
) -> std::fmt::Result {
    let all = format!("{nanos:09}");
    let mut shown: String = all.chars().chain(std::iter::repeat('0')).take(digits.min(9)).collect();
    if trimmed {
        shown.truncate(shown.trim_end_matches('0').len());
        if shown.is_empty() {
            return Ok(());
        }
    }
    write!(text, "{}{shown}", if comma { ',' } else { '.' })
}
