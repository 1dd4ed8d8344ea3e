//! When something recurs: the five fields of cron.
//!
//! Argo CD reads schedules with a parser of its own kind: Sunday is 0 and never 7, names are three letters, `5/15` means
//! from 5 on, and a day has to fit both the day of the month and the day of the week only where one of them is a star. No
//! crate that we know of has just these rules, and one that takes more would let a schedule through that Argo CD refuses.

use jiff::civil::{Date, DateTime, Time};

use crate::limits;

/// The minutes at which something recurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

/// A text that is no schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CronError(String);

/// The values of one field, one bit for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    values: u64,
    /// Whether it was left open, which decides how the two sorts of days go together.
    star: bool,
}

impl Field {
    fn has(self, value: i8) -> bool {
        u32::try_from(value).is_ok_and(|value| self.values & (1 << value) != 0)
    }
}

/// What a field may hold.
struct Bounds {
    least: u8,
    most: u8,
    /// Names of the values, from the least on.
    names: &'static [&'static str],
}

const MINUTES: Bounds = Bounds { least: 0, most: 59, names: &[] };
const HOURS: Bounds = Bounds { least: 0, most: 23, names: &[] };
const DAYS: Bounds = Bounds { least: 1, most: 31, names: &[] };
const MONTHS: Bounds = Bounds {
    least: 1,
    most: 12,
    names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
};
const WEEKDAYS: Bounds =
    Bounds { least: 0, most: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };

impl Schedule {
    /// Reads `minute hour day month weekday`, or a word such as `@daily`.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let text = if text.starts_with('@') { described(text)? } else { text };
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            let found = fields.len();
            return Err(CronError(format!(
                "expected exactly 5 fields, found {found}: [{}]",
                fields.join(" ")
            )));
        };
        Ok(Schedule {
            minutes: field(minutes, &MINUTES)?,
            hours: field(hours, &HOURS)?,
            days: field(days, &DAYS)?,
            months: field(months, &MONTHS)?,
            weekdays: field(weekdays, &WEEKDAYS)?,
        })
    }

    /// The first time after another one; none if there is none in the years to come, as for 30 February.
    pub fn next_after(&self, after: DateTime) -> Option<DateTime> {
        let after = after.with().second(0).subsec_nanosecond(0).build().ok()?;
        let start = after.checked_add(jiff::SignedDuration::from_mins(1)).ok()?;
        let mut date = start.date();
        for _ in 0..limits::SCHEDULE_DAYS {
            let least = if date == start.date() { start.time() } else { Time::midnight() };
            if self.has_day(date)
                && let Some(time) = self.time_from(least)
            {
                return Some(date.to_datetime(time));
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn has_day(&self, date: Date) -> bool {
        let day = self.days.has(date.day());
        let weekday = self.weekdays.has(date.weekday().to_sunday_zero_offset());
        let fits = if self.days.star || self.weekdays.star { day && weekday } else { day || weekday };
        fits && self.months.has(date.month())
    }

    fn time_from(&self, least: Time) -> Option<Time> {
        let hours = (least.hour()..=23).filter(|hour| self.hours.has(*hour));
        let mut times = hours.flat_map(|hour| {
            let from = if hour == least.hour() { least.minute() } else { 0 };
            (from..=59).filter(|minute| self.minutes.has(*minute)).map(move |minute| (hour, minute))
        });
        times.next().map(|(hour, minute)| Time::constant(hour, minute, 0, 0))
    }
}

/// The fields that a word stands for.
fn described(word: &str) -> Result<&'static str, CronError> {
    Ok(match word {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => return Err(CronError(format!("unrecognized descriptor: {word}"))),
    })
}

/// Several ranges, separated by commas.
fn field(text: &str, bounds: &Bounds) -> Result<Field, CronError> {
    let mut field = Field { values: 0, star: false };
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let range = range(part, bounds)?;
        field.values |= range.values;
        field.star |= range.star;
    }
    Ok(field)
}

/// `*`, `7`, `1-5`, each with a step behind it if there is a slash.
fn range(text: &str, bounds: &Bounds) -> Result<Field, CronError> {
    let failed = |why: String| Err(CronError(format!("{why}: {text}")));
    let (ends, step) = match text.split('/').collect::<Vec<_>>()[..] {
        [ends] => (ends, None),
        [ends, step] => (ends, Some(number(step)?)),
        _ => return failed("too many slashes".to_owned()),
    };
    let parts: Vec<&str> = ends.split('-').collect();
    let open = matches!(parts[0], "*" | "?");
    let (start, end) = match parts[..] {
        _ if open => (u64::from(bounds.least), u64::from(bounds.most)),
        [one] if step.is_some() => (value(one, bounds)?, u64::from(bounds.most)),
        [one] => (value(one, bounds)?, value(one, bounds)?),
        [start, end] => (value(start, bounds)?, value(end, bounds)?),
        _ => return failed("too many hyphens".to_owned()),
    };
    let (least, most) = (u64::from(bounds.least), u64::from(bounds.most));
    if start < least {
        return failed(format!("beginning of range ({start}) below minimum ({least})"));
    }
    if end > most {
        return failed(format!("end of range ({end}) above maximum ({most})"));
    }
    if start > end {
        return failed(format!("beginning of range ({start}) beyond end of range ({end})"));
    }
    let step = step.unwrap_or(1);
    let Some(stride) = usize::try_from(step).ok().filter(|step| *step > 0) else {
        return failed("step of range should be a positive number".to_owned());
    };
    let values = (start..=end).step_by(stride).fold(0, |values, value| values | 1 << value);
    Ok(Field { values, star: open && step == 1 })
}

fn value(text: &str, bounds: &Bounds) -> Result<u64, CronError> {
    let named = (u64::from(bounds.least)..).zip(bounds.names);
    match named.into_iter().find(|(_, name)| name.eq_ignore_ascii_case(text)) {
        Some((value, _)) => Ok(value),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, CronError> {
    text.parse().map_err(|_| CronError(format!("failed to parse int from {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schedule: &str, after: &str, next: &str) {
        let found = Schedule::parse(schedule).unwrap().next_after(after.parse().unwrap());
        assert_eq!(found.map(|time| time.to_string()).unwrap_or_default(), next, "{schedule} after {after}");
    }

    #[test]
    fn the_next_time_is_after_and_never_at() {
        check("* * * * *", "2026-01-01T10:00:00", "2026-01-01T10:01:00");
        check("* * * * *", "2026-01-01T09:59:59.5", "2026-01-01T10:00:00");
        check("30 22 * * *", "2026-01-01T22:30:00", "2026-01-02T22:30:00");
        check("0 0 29 2 *", "2026-01-01T00:00:00", "2028-02-29T00:00:00");
        check("0 0 30 2 *", "2026-01-01T00:00:00", "");
    }

    #[test]
    fn fields_take_names_lists_ranges_and_steps() {
        check("0 9 * * MON-fri", "2026-01-02T10:00:00", "2026-01-05T09:00:00");
        check("0 0 1 jan,JUL *", "2026-01-02T00:00:00", "2026-07-01T00:00:00");
        check("5/20 * * * *", "2026-01-01T00:05:00", "2026-01-01T00:25:00");
        check("5/20 * * * *", "2026-01-01T00:45:00", "2026-01-01T01:05:00");
        check("10-30/10 3 * * ?", "2026-01-01T03:20:00", "2026-01-01T03:30:00");
        check("*/15 * * * *", "2026-01-01T00:59:00", "2026-01-01T01:00:00");
    }

    #[test]
    fn a_day_fits_either_field_unless_one_of_them_is_open() {
        // 2026-01-13 is a Tuesday, the next Friday the 16th, the next Friday the 13th in February.
        check("0 0 13 * fri", "2026-01-13T00:00:00", "2026-01-16T00:00:00");
        check("0 0 13 * *", "2026-01-13T00:00:00", "2026-02-13T00:00:00");
        check("0 0 */2 * fri", "2026-01-13T00:00:00", "2026-01-15T00:00:00");
        check("0 0 */1 * fri", "2026-01-13T00:00:00", "2026-01-16T00:00:00");
    }

    #[test]
    fn words_stand_for_fields() {
        check("@daily", "2026-01-01T10:00:00", "2026-01-02T00:00:00");
        check("@weekly", "2026-01-01T10:00:00", "2026-01-04T00:00:00");
        check("@hourly", "2026-01-01T10:00:00", "2026-01-01T11:00:00");
        check("@annually", "2026-01-01T10:00:00", "2027-01-01T00:00:00");
    }

    #[test]
    fn what_is_no_schedule_is_told() {
        for (text, why) in [
            ("", "expected exactly 5 fields, found 0: []"),
            ("0 0 * *", "expected exactly 5 fields, found 4: [0 0 * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("* * * * 7", "end of range (7) above maximum (6): 7"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("x * * * *", "failed to parse int from x"),
            ("* * * * monday", "failed to parse int from monday"),
            ("99999999999999999999 * * * *", "failed to parse int from 99999999999999999999"),
            ("@every 1h", "unrecognized descriptor: @every 1h"),
        ] {
            assert_eq!(Schedule::parse(text).unwrap_err().to_string(), why, "{text}");
        }
    }
}
