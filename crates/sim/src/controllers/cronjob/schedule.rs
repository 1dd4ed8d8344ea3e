//! Cron schedules: when a job is due.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan};

/// When something is due, to the minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// At times of a calendar.
    Calendar(Box<Calendar>),
    /// Every so often.
    Every(SignedDuration),
}

/// The minutes, hours and days that match, as sets of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Calendar {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    any_day: bool,
    any_weekday: bool,
}

/// A schedule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ScheduleError(String);

/// How many days ahead a due time is looked for: a 29 February on a given weekday may be 40 years away.
const DAYS_AHEAD: u32 = 366 * 40;

impl Schedule {
    /// Reads five fields, or a word such as `@daily` or `@every 1h`.
    pub(crate) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim();
        if let Some(every) = text.strip_prefix("@every ") {
            let wait = lynceus_api::parse_duration(every)
                .map_err(|error| ScheduleError(format!("failed to parse duration {text}: {error}")))?;
            return Ok(Schedule::Every(wait.max(SignedDuration::from_secs(1))));
        }
        let fields = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other if other.starts_with('@') => {
                return Err(ScheduleError(format!("unrecognized descriptor: {other}")));
            }
            other => other,
        };
        Calendar::parse(fields).map(|calendar| Schedule::Calendar(Box::new(calendar)))
    }

    /// The first time after `after` at which something is due, in a time zone.
    pub(crate) fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Schedule::Every(wait) => {
                let whole = Timestamp::from_second(after.as_second()).ok()?;
                whole.checked_add(*wait).ok()
            }
            Schedule::Calendar(calendar) => calendar.next(after, zone),
        }
    }
}

impl Calendar {
    fn parse(text: &str) -> Result<Self, ScheduleError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return Err(ScheduleError(format!(
                "expected exactly 5 fields, found {}: {fields:?}",
                fields.len()
            )));
        };
        Ok(Calendar {
            minutes: bits(minutes, 0, 59, &[])?,
            hours: bits(hours, 0, 23, &[])?,
            days: bits(days, 1, 31, &[])?,
            months: bits(months, 1, 12, &MONTHS)?,
            // Sunday is 0 and 7.
            weekdays: fold_sunday(bits(weekdays, 0, 7, &WEEKDAYS)?),
            any_day: days.starts_with(['*', '?']),
            any_weekday: weekdays.starts_with(['*', '?']),
        })
    }

    fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let local = zone.to_datetime(after);
        let mut day = local.date();
        // A day of its own is looked at from the next minute on.
        let mut from = Some(local);
        for _ in 0..DAYS_AHEAD {
            if self.has_day(day)
                && let Some(found) = self.first_of(day, from, after, zone)
            {
                return Some(found);
            }
            from = None;
            day = day.checked_add(1.day()).ok()?;
        }
        None
    }

    fn first_of(
        &self,
        day: Date,
        from: Option<DateTime>,
        after: Timestamp,
        zone: &TimeZone,
    ) -> Option<Timestamp> {
        let start = from.map_or(0, |from| i32::from(from.hour()));
        // Where no clock is ever changed, the minutes that have passed need not be looked at.
        let passed =
            from.filter(|_| zone.to_fixed_offset().is_ok()).map_or(0, |from| i32::from(from.minute()));
        for hour in (start..24).filter(|hour| has(self.hours, *hour)) {
            let first = if hour == start { passed } else { 0 };
            for minute in (first..60).filter(|minute| has(self.minutes, *minute)) {
                let at = day.at(hour as i8, minute as i8, 0, 0);
                // A time that a clock change skips is due when the clock has jumped over it.
                let Ok(found) = zone.to_ambiguous_timestamp(at).compatible() else { continue };
                if found > after {
                    return Some(found);
                }
            }
        }
        None
    }

    /// A day matches by date or by weekday when both are given, else by the one that is.
    fn has_day(&self, day: Date) -> bool {
        let date = has(self.days, i32::from(day.day()));
        let weekday = has(self.weekdays, i32::from(day.weekday().to_sunday_zero_offset()));
        has(self.months, i32::from(day.month()))
            && if self.any_day || self.any_weekday { date && weekday } else { date || weekday }
    }
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

fn has(bits: u64, at: i32) -> bool {
    bits & (1 << at) != 0
}

fn fold_sunday(bits: u64) -> u64 {
    if has(bits, 7) { bits & !(1 << 7) | 1 } else { bits }
}

/// Reads a field: parts with commas, each `*`, a number, a range, with or without a step.
fn bits(field: &str, least: u32, most: u32, names: &[&str]) -> Result<u64, ScheduleError> {
    let mut bits = 0;
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(number(step, &[], 0)?)),
            None => (part, None),
        };
        if step == Some(0) {
            return Err(ScheduleError(format!("step of range should be a positive number: {part}")));
        }
        let (first, last) = match (range, range.split_once('-')) {
            ("*" | "?", _) => (least, most),
            (_, Some((first, last))) => (number(first, names, least)?, number(last, names, least)?),
            (one, None) => {
                let first = number(one, names, least)?;
                (first, if step.is_some() { most } else { first })
            }
        };
        if first < least {
            return Err(ScheduleError(format!(
                "beginning of range ({first}) below minimum ({least}): {part}"
            )));
        }
        if last > most {
            return Err(ScheduleError(format!("end of range ({last}) above maximum ({most}): {part}")));
        }
        if first > last {
            let message = format!("beginning of range ({first}) beyond end of range ({last}): {part}");
            return Err(ScheduleError(message));
        }
        let step = usize::try_from(step.unwrap_or(1)).unwrap_or(1);
        bits |= (first..=last).step_by(step).fold(0, |bits, at| bits | 1 << at);
    }
    Ok(bits)
}

fn number(text: &str, names: &[&str], least: u32) -> Result<u32, ScheduleError> {
    let lower = text.to_ascii_lowercase();
    if let Some(at) = names.iter().position(|name| *name == lower) {
        return Ok(least + at as u32);
    }
    text.parse().map_err(|_| ScheduleError(format!("failed to parse int from {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, zone: &str, after: &str) -> String {
        let zone = TimeZone::get(zone).unwrap();
        let next = Schedule::parse(schedule).unwrap().next(after.parse().unwrap(), &zone).unwrap();
        next.to_string()
    }

    #[test]
    fn schedules_say_when_they_are_due() {
        for (schedule, after, due) in [
            ("*/5 * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z"),
            ("*/5 * * * *", "2026-01-01T00:04:59Z", "2026-01-01T00:05:00Z"),
            ("30 2 * * *", "2026-01-01T03:00:00Z", "2026-01-02T02:30:00Z"),
            ("0 0 1 * *", "2026-01-31T12:00:00Z", "2026-02-01T00:00:00Z"),
            ("0 12 * * mon-fri", "2026-01-02T13:00:00Z", "2026-01-05T12:00:00Z"),
            ("0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("0 0 * * 7", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
            ("@hourly", "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"),
            ("@every 90s", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"),
        ] {
            assert_eq!(next(schedule, "UTC", after), due, "{schedule}");
        }
    }

    #[test]
    fn a_time_zone_moves_what_is_due() {
        assert_eq!(next("0 9 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z"), "2026-07-01T07:00:00Z");
        // The hour from two to three does not exist on this day.
        assert_eq!(next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z"), "2026-03-29T01:30:00Z");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "* * * *", "61 * * * *", "*/0 * * * *", "5-1 * * * *", "@sometimes", "a * * * *"] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }
}
