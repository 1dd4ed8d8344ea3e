//! A point in time and the zone in which it is told.

use std::time::Duration;

use super::calendar::{DAY, Date};
use super::zone::Zone;

pub(super) const NANOS: i128 = 1_000_000_000;

/// Go's `time.Time`.
#[derive(Clone, Debug)]
pub(in crate::sprig) struct Moment {
    /// Since 1970 in UTC.
    pub(super) seconds: i64,
    pub(super) nanos: u32,
    pub(super) zone: Zone,
    /// Whether it came from the clock, which shows when it is printed.
    pub(super) from_clock: bool,
}

/// What the clock and the calendar on a wall in the zone show.
#[derive(Clone, Debug)]
pub(super) struct Wall {
    pub(super) date: Date,
    /// Seconds since midnight.
    pub(super) second_of_day: i64,
    pub(super) offset: i64,
    pub(super) abbreviation: String,
}

impl Wall {
    pub(super) fn hour(&self) -> i64 {
        self.second_of_day / 3_600
    }

    pub(super) fn minute(&self) -> i64 {
        self.second_of_day / 60 % 60
    }

    pub(super) fn second(&self) -> i64 {
        self.second_of_day % 60
    }
}

impl Moment {
    /// A time of the clock, given since 1970.
    pub(in crate::sprig) fn now(since_1970: Duration) -> Self {
        let seconds = i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX);
        Self { seconds, nanos: since_1970.subsec_nanos(), zone: Zone::Local, from_clock: true }
    }

    /// The first second of the year 1: Go's zero.
    pub(in crate::sprig) fn zero() -> Self {
        Self::unix(Date { year: 1, month: 1, day: 1 }.days() * DAY).within(Zone::Utc)
    }

    /// A number of seconds after 1970.
    pub(in crate::sprig) fn unix(seconds: i64) -> Self {
        Self { seconds, nanos: 0, zone: Zone::Local, from_clock: false }
    }

    /// The same time told elsewhere.
    pub(in crate::sprig) fn within(&self, zone: Zone) -> Self {
        Self { zone, from_clock: false, ..self.clone() }
    }

    /// Seconds since 1970.
    pub(in crate::sprig) fn unix_seconds(&self) -> i64 {
        self.seconds
    }

    /// Nanoseconds since 1970.
    pub(in crate::sprig) fn unix_nanos(&self) -> i128 {
        i128::from(self.seconds) * NANOS + i128::from(self.nanos)
    }

    pub(super) fn wall(&self) -> Wall {
        let (offset, abbreviation) = self.zone.at(self.seconds);
        let local = self.seconds.saturating_add(offset);
        let date = Date::from_days(local.div_euclid(DAY));
        Wall { date, second_of_day: local.rem_euclid(DAY), offset, abbreviation }
    }

    /// The time so many nanoseconds later.
    pub(in crate::sprig) fn plus(&self, nanos: i64) -> Self {
        let total = self.unix_nanos() + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(NANOS)).unwrap_or(i64::MAX);
        let nanos = u32::try_from(total.rem_euclid(NANOS)).unwrap_or_default();
        Self { seconds, nanos, ..self.clone() }
    }

    /// How much later this time is than another, in nanoseconds, as far as a duration reaches.
    pub(in crate::sprig) fn since(&self, earlier: &Self) -> i64 {
        let difference = self.unix_nanos() - earlier.unix_nanos();
        i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
    }
}
