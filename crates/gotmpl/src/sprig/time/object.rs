//! Times as templates see them: `now.Year`, `(toDate …).Format "Jan"`.

use std::any::Any;

use super::calendar::{DAY, Date, WEEKDAYS};
use super::duration::{round, show_duration};
use super::format::{format, month_name, show};
use super::moment::Moment;
use super::zone::Zone;
use crate::sprig::args::{int, text};
use crate::types::{self, Type};
use crate::{Failure, Int, Json, Method, Object, Shape, Str, TypeInfo, Value};

/// `time.Time`
pub(in crate::sprig) static TIME: TypeInfo = TypeInfo::declared("time.Time", Shape::Struct, &METHODS);

/// `time.Duration`
static DURATION: TypeInfo = TypeInfo::declared("time.Duration", Shape::Int(Int::I64), &DURATION_METHODS);

static MONTH: TypeInfo = TypeInfo::declared("time.Month", Shape::Int(Int::I), &TEXT_METHOD);
static WEEKDAY: TypeInfo = TypeInfo::declared("time.Weekday", Shape::Int(Int::I), &TEXT_METHOD);
static LOCATION: TypeInfo = TypeInfo::declared("*time.Location", Shape::Pointer, &TEXT_METHOD);

/// A number of a declared type that prints as a word: durations, months, weekdays.
struct Named {
    of: Type,
    number: i64,
    text: Str,
}

impl Object for Named {
    fn go_type(&self) -> Type {
        self.of
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn text(&self) -> Option<Str> {
        Some(self.text.clone())
    }

    fn underlying(&self) -> Option<Value> {
        match self.of.shape {
            Shape::Int(int) => Some(Value::Int(self.number, int)),
            _ => None,
        }
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        other.as_any().downcast_ref::<Self>().map(|other| self.of == other.of && self.number == other.number)
    }
}

impl Object for Moment {
    fn go_type(&self) -> Type {
        &TIME
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn text(&self) -> Option<Str> {
        Some(show(self).into())
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        let other = other.as_any().downcast_ref::<Self>()?;
        Some(self.unix_nanos() == other.unix_nanos() && self.zone.name() == other.zone.name())
    }

    fn json(&self) -> Json {
        Json::Value(format(self, "2006-01-02T15:04:05.999999999Z07:00").into())
    }
}

pub(in crate::sprig) fn duration(nanos: i64) -> Value {
    Value::object(Named { of: &DURATION, number: nanos, text: show_duration(nanos).into() })
}

/// Go's `*time.Location`.
struct Location(Zone);

impl Object for Location {
    fn go_type(&self) -> Type {
        &LOCATION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn text(&self) -> Option<Str> {
        Some(self.0.name().into())
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        other.as_any().downcast_ref::<Self>().map(|other| self.0.name() == other.0.name())
    }
}

/// A zone as a value.
pub(in crate::sprig) fn location(zone: Zone) -> Value {
    Value::object(Location(zone))
}

/// The zone that a value is; other values have none.
pub(in crate::sprig) fn zone_of(value: &Value) -> Option<&Zone> {
    value.as_object::<Location>().map(|location| &location.0)
}

/// The method's own value.
fn this(value: &Value) -> Moment {
    value.as_object::<Moment>().cloned().unwrap_or_else(Moment::zero)
}

/// An argument that is a duration.
fn nanos(args: &[Value], at: usize) -> i64 {
    args.get(at).and_then(|value| value.underlying().as_i64()).unwrap_or_default()
}

fn other(args: &[Value]) -> Moment {
    args.first().map(this).unwrap_or_else(Moment::zero)
}

static TEXT_METHOD: [Method; 1] = [method!("String", () -> types::STRING, |_, value, _| Ok(shown(value)))];

fn shown(value: &Value) -> Value {
    match value {
        Value::Object(object) => Value::Str(object.text().unwrap_or_default()),
        _ => Value::str(""),
    }
}

static METHODS: [Method; 29] = [
    method!("String", () -> types::STRING, |_, value, _| Ok(shown(value))),
    method!("Year", () -> types::INT, |_, value, _| Ok(Value::int(this(value).wall().date.year))),
    method!("Month", () -> MONTH, |_, value, _| {
        let month = this(value).wall().date.month;
        Ok(Value::object(Named { of: &MONTH, number: i64::from(month), text: month_name(month).into() }))
    }),
    method!("Day", () -> types::INT, |_, value, _| Ok(Value::int(i64::from(this(value).wall().date.day)))),
    method!("Weekday", () -> WEEKDAY, |_, value, _| {
        let day = this(value).wall().date.weekday();
        Ok(Value::object(Named { of: &WEEKDAY, number: day as i64, text: WEEKDAYS[day].into() }))
    }),
    method!("YearDay", () -> types::INT, |_, value, _| Ok(Value::int(this(value).wall().date.day_of_year()))),
    method!("Hour", () -> types::INT, |_, value, _| Ok(Value::int(this(value).wall().hour()))),
    method!("Minute", () -> types::INT, |_, value, _| Ok(Value::int(this(value).wall().minute()))),
    method!("Second", () -> types::INT, |_, value, _| Ok(Value::int(this(value).wall().second()))),
    method!("Nanosecond", () -> types::INT, |_, value, _| Ok(Value::int(i64::from(this(value).nanos)))),
    method!("Unix", () -> types::INT64, |_, value, _| Ok(Value::int64(this(value).seconds))),
    method!("UnixMilli", () -> types::INT64, |_, value, _| Ok(since_1970(value, 1_000_000))),
    method!("UnixMicro", () -> types::INT64, |_, value, _| Ok(since_1970(value, 1_000))),
    method!("UnixNano", () -> types::INT64, |_, value, _| Ok(since_1970(value, 1))),
    method!("IsZero", () -> types::BOOL, |_, value, _| {
        Ok((this(value).unix_nanos() == Moment::zero().unix_nanos()).into())
    }),
    method!("UTC", () -> TIME, |_, value, _| Ok(Value::object(this(value).within(Zone::Utc)))),
    method!("Local", () -> TIME, |_, value, _| Ok(Value::object(this(value).within(Zone::Local)))),
    method!("In", (LOCATION) -> TIME, |_, value, args| match args.first().and_then(zone_of) {
        Some(zone) => Ok(Value::object(this(value).within(zone.clone()))),
        None => Err(Failure::new("time: missing Location in call to Time.In")),
    }),
    method!("Location", () -> LOCATION, |_, value, _| Ok(location(this(value).zone))),
    method!("Format", (types::STRING) -> types::STRING, |_, value, args| {
        Ok(format(&this(value), text(args, 0)).into())
    }),
    method!("Add", (DURATION) -> TIME, |_, value, args| Ok(Value::object(this(value).plus(nanos(args, 0))))),
    method!("AddDate", (types::INT, types::INT, types::INT) -> TIME, |_, value, args| {
        Ok(Value::object(add_date(&this(value), int(args, 0), int(args, 1), int(args, 2))))
    }),
    method!("Sub", (TIME) -> DURATION, |_, value, args| Ok(duration(this(value).since(&other(args))))),
    method!("After", (TIME) -> types::BOOL, |_, value, args| {
        Ok((this(value).unix_nanos() > other(args).unix_nanos()).into())
    }),
    method!("Before", (TIME) -> types::BOOL, |_, value, args| {
        Ok((this(value).unix_nanos() < other(args).unix_nanos()).into())
    }),
    method!("Equal", (TIME) -> types::BOOL, |_, value, args| {
        Ok((this(value).unix_nanos() == other(args).unix_nanos()).into())
    }),
    method!("Compare", (TIME) -> types::INT, |_, value, args| {
        Ok(Value::int(this(value).unix_nanos().cmp(&other(args).unix_nanos()) as i64))
    }),
    method!("Truncate", (DURATION) -> TIME, |_, value, args| {
        let (moment, step) = (this(value), nanos(args, 0));
        Ok(Value::object(if step <= 0 { moment } else { moment.plus(-past_multiple(&moment, step)) }))
    }),
    method!("Round", (DURATION) -> TIME, |_, value, args| {
        let (moment, step) = (this(value), nanos(args, 0));
        if step <= 0 {
            return Ok(Value::object(moment));
        }
        let past = past_multiple(&moment, step);
        let up = past.unsigned_abs() * 2 >= step.unsigned_abs();
        Ok(Value::object(moment.plus(if up { step - past } else { -past })))
    }),
];

static DURATION_METHODS: [Method; 10] = [
    method!("String", () -> types::STRING, |_, value, _| Ok(shown(value))),
    method!("Nanoseconds", () -> types::INT64, |_, value, _| Ok(Value::int64(length(value)))),
    method!("Microseconds", () -> types::INT64, |_, value, _| Ok(Value::int64(length(value) / 1_000))),
    method!("Milliseconds", () -> types::INT64, |_, value, _| Ok(Value::int64(length(value) / 1_000_000))),
    method!("Seconds", () -> types::FLOAT64, |_, value, _| Ok(in_units(value, 1))),
    method!("Minutes", () -> types::FLOAT64, |_, value, _| Ok(in_units(value, 60))),
    method!("Hours", () -> types::FLOAT64, |_, value, _| Ok(in_units(value, 3_600))),
    method!("Abs", () -> DURATION, |_, value, _| Ok(duration(length(value).saturating_abs()))),
    method!("Round", (DURATION) -> DURATION, |_, value, args| Ok(duration(round(length(value), nanos(args, 0))))),
    method!("Truncate", (DURATION) -> DURATION, |_, value, args| {
        let (length, step) = (length(value), nanos(args, 0));
        Ok(duration(if step <= 0 { length } else { length - length % step }))
    }),
];

/// The nanoseconds of a duration that a method is called on.
fn length(value: &Value) -> i64 {
    value.underlying().as_i64().unwrap_or_default()
}

/// Whole units and the rest are added as floats, as in Go.
fn in_units(value: &Value, seconds: i64) -> Value {
    let unit = seconds * 1_000_000_000;
    let nanos = length(value);
    ((nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64).into()
}

fn since_1970(value: &Value, unit: i128) -> Value {
    Value::int64(this(value).unix_nanos().div_euclid(unit) as i64)
}

/// How far a time is past a multiple of a step, counted from the year 1.
fn past_multiple(moment: &Moment, step: i64) -> i64 {
    let since_zero = moment.unix_nanos() - Moment::zero().unix_nanos();
    i64::try_from(since_zero.rem_euclid(i128::from(step))).unwrap_or_default()
}

/// Adds years, months and days of the calendar; days that a month has not run over into the next.
fn add_date(moment: &Moment, years: i64, months: i64, days: i64) -> Moment {
    let wall = moment.wall();
    let month = (i64::from(wall.date.month) - 1).saturating_add(months);
    let year = wall.date.year.saturating_add(years).saturating_add(month.div_euclid(12));
    let first = Date { year, month: (month.rem_euclid(12) + 1) as u8, day: 1 };
    let day = first.days().saturating_add(i64::from(wall.date.day) - 1).saturating_add(days);
    let local = day.saturating_mul(DAY).saturating_add(wall.second_of_day);
    let mut moved =
        Moment { seconds: local.saturating_sub(wall.offset), from_clock: false, ..moment.clone() };
    // The offset may be another one on that day.
    moved.seconds = local.saturating_sub(moved.wall().offset);
    moved
}
