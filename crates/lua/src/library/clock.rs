//! `os.time`, `os.date` and their like, on the time that a script is told. Local time is UTC.

use std::fmt::Write as _;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mlua::{Lua, Table, Value};

use super::{Names, number};
use crate::limits;
use crate::meter::Meter;

pub(super) fn functions(lua: &Lua, meter: &Arc<Meter>) -> mlua::Result<Names> {
    let account = meter.clone();
    let time = lua.create_function(move |_, fields: Option<Table>| match fields {
        Some(fields) => seconds(&fields),
        None => Ok(account.now() as f64),
    })?;
    let account = meter.clone();
    let date = lua.create_function(move |lua, (format, at): (Option<String>, Option<f64>)| {
        let at = civil(at.map_or(account.now(), |at| at as i64))?;
        let format = format.as_deref().unwrap_or("%c").trim_start_matches('!');
        if format.starts_with("*t") {
            return fields(lua, at).map(Value::Table);
        }
        lua.create_string(written(at, format)).map(Value::String)
    })?;
    let difference = lua.create_function(|_, (late, early): (f64, f64)| Ok(late.trunc() - early.trunc()))?;
    // A second goes by with as many instructions as a script may take: whoever waits does not wait for ever.
    let account = meter.clone();
    let clock = lua.create_function(move |_, ()| Ok(account.spent() as f64 / limits::INSTRUCTIONS as f64))?;
    Ok(vec![
        ("time", Value::Function(time)),
        ("date", Value::Function(date)),
        ("difftime", Value::Function(difference)),
        ("clock", Value::Function(clock)),
    ])
}

fn civil(seconds: i64) -> mlua::Result<DateTime> {
    let at = Timestamp::from_second(seconds)
        .map_err(|_| mlua::Error::runtime(format!("{seconds} seconds is beyond the calendar")))?;
    Ok(TimeZone::UTC.to_datetime(at))
}

/// The seconds of a table of fields. Months and days beyond their range run over, as in Go.
fn seconds(fields: &Table) -> mlua::Result<f64> {
    let field = |name: &str, default: i64| match fields.raw_get::<Value>(name)? {
        Value::Number(number) => Ok(number as i64),
        Value::Integer(number) => Ok(number),
        Value::String(text) => Ok(whole(&text.to_string_lossy()).unwrap_or(default)),
        _ => mlua::Result::Ok(default),
    };
    let months = field("month", -1)?.saturating_sub(1);
    let year = field("year", -1)?.saturating_add(months.div_euclid(12));
    let days = days(year, months.rem_euclid(12)).saturating_add(field("day", -1)?.saturating_sub(1));
    let hours = days.saturating_mul(24).saturating_add(field("hour", 12)?);
    let minutes = hours.saturating_mul(60).saturating_add(field("min", 0)?);
    Ok(minutes.saturating_mul(60).saturating_add(field("sec", 0)?) as f64)
}

/// A field that is a text, as `string.match` gives it. Zeros in front do not make it octal.
fn whole(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(' ');
    let digits = text.trim_start_matches('0');
    match digits.starts_with(['x', 'X']) {
        true => number::coerced(text),
        false if digits.is_empty() && !text.is_empty() => Some(0.0),
        false => number::coerced(digits),
    }
    .map(number::truncated)
}

/// The days from 1970 to the first of a month, counted from 0, in years that begin in March: the day that a leap year has
/// more is their last.
fn days(year: i64, month: i64) -> i64 {
    /// No calendar goes further, and the sum of the days has to fit.
    const FURTHEST: i64 = 1_000_000_000;
    let year = year.clamp(-FURTHEST, FURTHEST);
    let year = if month < 2 { year.saturating_sub(1) } else { year };
    let month = (month + 10) % 12;
    let days = year.saturating_mul(365) + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days + (153 * month + 2) / 5 - 719_468
}

fn fields(lua: &Lua, at: DateTime) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("year", at.year())?;
    table.raw_set("month", at.month())?;
    table.raw_set("day", at.day())?;
    table.raw_set("hour", at.hour())?;
    table.raw_set("min", at.minute())?;
    table.raw_set("sec", at.second())?;
    table.raw_set("wday", at.weekday().to_sunday_one_offset())?;
    // Argo CD does not know the day of the year.
    table.raw_set("yday", 0)?;
    table.raw_set("isdst", false)?;
    Ok(table)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The time in a format of Lua's. `%c` and `%x` are as Argo CD writes them.
fn written(at: DateTime, format: &str) -> String {
    let mut text = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        match letters.next() {
            Some(letter) => write_field(&mut text, at, letter),
            None => text.push('%'),
        }
    }
    text
}

fn write_field(text: &mut String, at: DateTime, letter: char) {
    let month = MONTHS[usize::try_from(at.month() - 1).unwrap_or_default() % 12];
    let day = DAYS[usize::try_from(at.weekday().to_sunday_zero_offset()).unwrap_or_default() % 7];
    let half = if at.hour() < 12 { "AM" } else { "PM" };
    let hour = (at.hour() + 11) % 12 + 1;
    let year = at.year();
    // Writing to a text cannot fail.
    let _ = match letter {
        'a' => write!(text, "{}", &day[..3]),
        'A' => write!(text, "{day}"),
        'b' => write!(text, "{}", &month[..3]),
        'B' => write!(text, "{month}"),
        'c' => return text.push_str(&written(at, "%d %b %y %H:%M %Z")),
        'd' => write!(text, "{:02}", at.day()),
        'F' => write!(text, "{year:04}-{:02}-{:02}", at.month(), at.day()),
        'H' => write!(text, "{:02}", at.hour()),
        'I' => write!(text, "{hour:02}"),
        'm' => write!(text, "{:02}", at.month()),
        'M' => write!(text, "{:02}", at.minute()),
        'p' => write!(text, "{half}"),
        'P' => write!(text, "{}", half.to_lowercase()),
        'S' => write!(text, "{:02}", at.second()),
        'w' => write!(text, "{}", at.weekday().to_sunday_zero_offset()),
        'x' => return text.push_str(&written(at, "%H/%M/%S")),
        'X' => return text.push_str(&written(at, "%H:%M:%S")),
        'y' => write!(text, "{:02}", year.rem_euclid(100)),
        'Y' => write!(text, "{year:04}"),
        'z' => write!(text, "+0000"),
        'Z' => write!(text, "UTC"),
        '%' => write!(text, "%"),
        other => write!(text, "%{other}"),
    };
}
