//! Text to times.

use super::calendar::{DAY, Date, MONTHS, WEEKDAYS, days_in, is_leap};
use super::layout::{Field, OffsetStyle, next};
use super::moment::Moment;
use super::zone::Zone;

/// What has been read so far.
#[derive(Default)]
struct Parts {
    year: i64,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    nanos: u32,
    afternoon: Option<bool>,
    utc: bool,
    offset: Option<i64>,
    zone_name: String,
}

/// Why a field cannot be read.
enum Problem {
    /// It is something else.
    Mismatch,
    /// It has a value that cannot be.
    Range(&'static str),
}

type Taken<'a, T> = Result<(T, &'a [u8]), Problem>;

/// Reads a time in a layout; what is told without a zone is in the local one. Errors have Go's words.
pub(in crate::sprig) fn parse(layout: &str, text: &[u8]) -> Result<Moment, String> {
    parse_in(layout, text, &Zone::Local)
}

/// The same for what is told in a zone.
pub(in crate::sprig) fn parse_in(layout: &str, text: &[u8], zone: &Zone) -> Result<Moment, String> {
    let mut parts = Parts::default();
    let (mut rest_of_layout, mut rest) = (layout, text);
    loop {
        let (before, field) = next(rest_of_layout);
        rest = skip(rest, before.as_bytes()).map_err(|left| mismatch(layout, text, before, left))?;
        let Some((field, written, after)) = field else { break };
        rest_of_layout = after;
        rest = parts.read(field, rest, after).map_err(|problem| match problem {
            Problem::Mismatch => mismatch(layout, text, written, rest),
            Problem::Range(what) => format!("parsing time {}: {what} out of range", quote(text)),
        })?;
    }
    if !rest.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", quote(text), quote(rest)));
    }
    parts.moment(zone).map_err(|what| format!("parsing time {}: {what}", quote(text)))
}

fn mismatch(layout: &str, text: &[u8], field: &str, left: &[u8]) -> String {
    format!(
        "parsing time {} as {}: cannot parse {} as {}",
        quote(text),
        quote(layout.as_bytes()),
        quote(left),
        quote(field.as_bytes())
    )
}

/// Quotes as this part of Go does: bytes beyond ASCII one by one.
pub(super) fn quote(text: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in text {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=0x7f => quoted.push(char::from(byte)),
            _ => quoted.push_str(&format!("\\x{byte:02x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// Takes literal text away; any number of spaces stands for any other. Gives what is left where it differs.
fn skip<'a>(mut text: &'a [u8], mut literal: &[u8]) -> Result<&'a [u8], &'a [u8]> {
    while let Some((&expected, after)) = literal.split_first() {
        if expected == b' ' {
            if text.first().is_some_and(|&byte| byte != b' ') {
                return Err(text);
            }
            literal = without_spaces(literal);
            text = without_spaces(text);
            continue;
        }
        match text.split_first() {
            Some((&byte, rest)) if byte == expected => text = rest,
            _ => return Err(text),
        }
        literal = after;
    }
    Ok(text)
}

fn without_spaces(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&byte| byte != b' ').unwrap_or(text.len());
    &text[start..]
}

impl Parts {
    /// Reads one field and gives what follows.
    fn read<'a>(&mut self, field: Field, text: &'a [u8], layout_after: &str) -> Result<&'a [u8], Problem> {
        let rest;
        match field {
            Field::Year => {
                (self.year, rest) = exactly(text, 2)?;
                self.year += if self.year >= 69 { 1900 } else { 2000 };
            }
            Field::LongYear => (self.year, rest) = exactly(text, 4)?,
            Field::Month | Field::LongMonth => {
                let (index, after) = name(text, &MONTHS, field == Field::Month)?;
                (self.month, rest) = (Some(index + 1), after);
            }
            Field::NumMonth | Field::ZeroMonth => {
                let (month, after) = one_or_two(text, field == Field::ZeroMonth)?;
                within(month, 1..=12, "month")?;
                (self.month, rest) = (Some(month), after);
            }
            // The weekday must be one and is not looked at any further.
            Field::Weekday | Field::LongWeekday => {
                (_, rest) = name(text, &WEEKDAYS, field == Field::Weekday)?
            }
            Field::Day | Field::UnderDay | Field::ZeroDay => {
                let text =
                    if field == Field::UnderDay { text.strip_prefix(b" ").unwrap_or(text) } else { text };
                let (day, after) = one_or_two(text, field == Field::ZeroDay)?;
                (self.day, rest) = (Some(day), after);
            }
            Field::UnderYearDay | Field::ZeroYearDay => {
                let (day, after) = day_of_year(text, field == Field::ZeroYearDay)?;
                (self.day_of_year, rest) = (Some(day), after);
            }
            Field::Hour => {
                (self.hour, rest) = one_or_two(text, false)?;
                within(self.hour, 0..=23, "hour")?;
            }
            Field::Hour12 | Field::ZeroHour12 => {
                (self.hour, rest) = one_or_two(text, field == Field::ZeroHour12)?;
                within(self.hour, 0..=12, "hour")?;
            }
            Field::Minute | Field::ZeroMinute => {
                (self.minute, rest) = one_or_two(text, field == Field::ZeroMinute)?;
                within(self.minute, 0..=59, "minute")?;
            }
            Field::Second | Field::ZeroSecond => {
                let after;
                (self.second, after) = one_or_two(text, field == Field::ZeroSecond)?;
                within(self.second, 0..=59, "second")?;
                rest = self.unannounced_fraction(after, layout_after)?;
            }
            Field::HalfDay { small } => {
                let (half, after) = text.split_at_checked(2).ok_or(Problem::Mismatch)?;
                let words: [&[u8]; 2] = if small { [b"am", b"pm"] } else { [b"AM", b"PM"] };
                let which = words.iter().position(|word| *word == half).ok_or(Problem::Mismatch)?;
                self.afternoon = Some(which == 1);
                rest = after;
            }
            Field::Offset(style) => match text.strip_prefix(b"Z").filter(|_| style.zulu) {
                Some(after) => (self.utc, rest) = (true, after),
                None => {
                    let (offset, after) = offset(text, style)?;
                    (self.offset, rest) = (Some(offset), after);
                }
            },
            Field::ZoneName => match text.strip_prefix(b"UTC") {
                Some(after) => (self.utc, rest) = (true, after),
                None => {
                    let length = zone_name_length(text).ok_or(Problem::Mismatch)?;
                    self.zone_name = String::from_utf8_lossy(&text[..length]).into_owned();
                    rest = &text[length..];
                }
            },
            Field::Fraction { trimmed: true, .. } => rest = self.fraction_if_any(text)?,
            Field::Fraction { digits, .. } => {
                let (fraction, after) = text.split_at_checked(digits + 1).ok_or(Problem::Mismatch)?;
                self.nanos = nanoseconds(fraction)?;
                rest = after;
            }
        }
        Ok(rest)
    }

    /// A fraction may follow the seconds even if the layout has none.
    fn unannounced_fraction<'a>(&mut self, text: &'a [u8], layout_after: &str) -> Result<&'a [u8], Problem> {
        match next(layout_after).1 {
            Some((Field::Fraction { .. }, ..)) => Ok(text),
            _ => self.fraction_if_any(text),
        }
    }

    fn fraction_if_any<'a>(&mut self, text: &'a [u8]) -> Result<&'a [u8], Problem> {
        match text {
            [b'.' | b',', digits @ ..] if digits.first().is_some_and(u8::is_ascii_digit) => {
                let length = 1 + digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.nanos = nanoseconds(&text[..length])?;
                Ok(&text[length..])
            }
            _ => Ok(text),
        }
    }

    fn moment(mut self, home: &Zone) -> Result<Moment, &'static str> {
        match self.afternoon {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        let date = self.date()?;
        let local = date.days() * DAY + self.hour * 3_600 + self.minute * 60 + self.second;
        let (seconds, zone) = if self.utc {
            (local, Zone::Utc)
        } else if let Some(offset) = self.offset.filter(|&offset| offset != -1) {
            let (own, name) = home.at(local - offset);
            let is_own = own == offset && (self.zone_name.is_empty() || self.zone_name == name);
            (local - offset, if is_own { home.clone() } else { Zone::Fixed(offset, self.zone_name) })
        } else if self.zone_name.is_empty() {
            (home.moment_of(local), home.clone())
        } else if let Some(offset) = home.offset_of(&self.zone_name, local) {
            (local - offset, home.clone())
        } else {
            // The name of an unknown zone is kept; only those of the form GMT+3 say what they mean.
            let hours =
                self.zone_name.strip_prefix("GMT").and_then(|hours| hours.parse().ok()).unwrap_or(0i64);
            (local, Zone::Fixed(hours * 3_600, self.zone_name))
        };
        Ok(Moment { nanos: self.nanos, zone, ..Moment::unix(seconds) })
    }

    fn date(&self) -> Result<Date, &'static str> {
        let Some(day_of_year) = self.day_of_year else {
            let month = u8::try_from(self.month.unwrap_or(1)).unwrap_or(1);
            let day = self.day.unwrap_or(1);
            return match u8::try_from(day) {
                Ok(day) if day >= 1 && day <= days_in(month, self.year) => {
                    Ok(Date { year: self.year, month, day })
                }
                _ => Err("day out of range"),
            };
        };
        if day_of_year < 1 || day_of_year > 365 + i64::from(is_leap(self.year)) {
            return Err("day-of-year out of range");
        }
        let first = Date { year: self.year, month: 1, day: 1 };
        let date = Date::from_days(first.days() + day_of_year - 1);
        if self.month.is_some_and(|month| month != i64::from(date.month)) {
            return Err("day-of-year does not match month");
        }
        if self.day.is_some_and(|day| day != i64::from(date.day)) {
            return Err("day-of-year does not match day");
        }
        Ok(date)
    }
}

fn within(value: i64, range: std::ops::RangeInclusive<i64>, what: &'static str) -> Result<(), Problem> {
    if range.contains(&value) { Ok(()) } else { Err(Problem::Range(what)) }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits
        .iter()
        .try_fold(0i64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0')))
}

fn exactly(text: &[u8], digits: usize) -> Taken<'_, i64> {
    let (digits, rest) = text.split_at_checked(digits).ok_or(Problem::Mismatch)?;
    Ok((number(digits).ok_or(Problem::Mismatch)?, rest))
}

fn one_or_two(text: &[u8], always_two: bool) -> Taken<'_, i64> {
    match exactly(text, 2) {
        Err(_) if !always_two => exactly(text, 1),
        taken => taken,
    }
}

fn day_of_year(text: &[u8], always_three: bool) -> Taken<'_, i64> {
    let mut text = text;
    for _ in 0..2 {
        text = if always_three { text } else { text.strip_prefix(b" ").unwrap_or(text) };
    }
    let digits = text.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || always_three && digits < 3 {
        return Err(Problem::Mismatch);
    }
    exactly(text, digits)
}

/// A name of a list, in any case, or its first three letters.
fn name<'a>(text: &'a [u8], names: &[&str], short: bool) -> Taken<'a, i64> {
    for (index, name) in names.iter().enumerate() {
        let name = if short { &name[..3] } else { name };
        if let Some((head, rest)) = text.split_at_checked(name.len())
            && head.eq_ignore_ascii_case(name.as_bytes())
        {
            return Ok((i64::try_from(index).unwrap_or_default(), rest));
        }
    }
    Err(Problem::Mismatch)
}

/// An offset in seconds.
fn offset(text: &[u8], style: OffsetStyle) -> Taken<'_, i64> {
    let (&sign, mut rest) = text.split_first().ok_or(Problem::Mismatch)?;
    let mut parts = [0; 3];
    let wanted = [true, style.minutes, style.seconds];
    for (i, part) in parts.iter_mut().enumerate().filter(|(i, _)| wanted[*i]) {
        if i > 0 && style.colons {
            rest = rest.strip_prefix(b":").ok_or(Problem::Mismatch)?;
        }
        (*part, rest) = exactly(rest, 2)?;
    }
    within(parts[0], 0..=24, "time zone offset hour")?;
    within(parts[1], 0..=60, "time zone offset minute")?;
    within(parts[2], 0..=60, "time zone offset second")?;
    let seconds = (parts[0] * 60 + parts[1]) * 60 + parts[2];
    match sign {
        b'+' => Ok((seconds, rest)),
        b'-' => Ok((-seconds, rest)),
        _ => Err(Problem::Mismatch),
    }
}

/// How long the abbreviation of a zone is, if there is one: three to five capitals, or one of a few exceptions.
fn zone_name_length(text: &[u8]) -> Option<usize> {
    if text.len() < 3 {
        return None;
    }
    if text.starts_with(b"ChST") || text.starts_with(b"MeST") {
        return Some(4);
    }
    if let Some(after) = text.strip_prefix(b"GMT") {
        return Some(3 + signed_hours(after).unwrap_or(0));
    }
    if matches!(text[0], b'+' | b'-') {
        return signed_hours(text);
    }
    match text.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count() {
        3 => Some(3),
        4 if text[3] == b'T' || text.starts_with(b"WITA") => Some(4),
        5 if text[4] == b'T' => Some(5),
        _ => None,
    }
}

/// The length of a sign and up to 23 hours.
fn signed_hours(text: &[u8]) -> Option<usize> {
    let digits = match text.split_first()? {
        (b'+' | b'-', digits) => digits,
        _ => return None,
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let hours: u64 = std::str::from_utf8(&digits[..length]).ok()?.parse().ok()?;
    (hours <= 23).then_some(1 + length)
}

/// Nanoseconds of a separator and digits, of which nine count.
fn nanoseconds(text: &[u8]) -> Result<u32, Problem> {
    match text {
        [b'.' | b',', digits @ ..] => {
            let digits = &digits[..digits.len().min(9)];
            let value = number(digits).ok_or(Problem::Mismatch)?;
            let missing = u32::try_from(9 - digits.len()).unwrap_or_default();
            Ok(u32::try_from(value).unwrap_or_default() * 10u32.pow(missing))
        }
        _ => Err(Problem::Mismatch),
    }
}
