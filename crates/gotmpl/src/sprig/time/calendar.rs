//! The Gregorian calendar, reaching as far back and forth as 64 bits of seconds do.

/// Seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: u8,
    /// From 1.
    pub(super) day: u8,
}

pub(super) const MONTHS: [&str; 12] = [
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

pub(super) const WEEKDAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

impl Date {
    /// The date that lies so many days after 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day comes last; 400 of them have 146097 days.
    pub(super) fn from_days(days: i64) -> Self {
        let shifted = days.saturating_add(719_468);
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self { year, month: month as u8, day: day as u8 }
    }

    /// How many days after 1970-01-01 the date lies.
    pub(super) fn days(self) -> i64 {
        let month = i64::from(self.month);
        let year = self.year.saturating_sub(i64::from(month <= 2));
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let month_from_march = (month + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(self.day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era.saturating_mul(146_097).saturating_add(day_of_era - 719_468)
    }

    /// From 1.
    pub(super) fn day_of_year(self) -> i64 {
        self.days() - Self { month: 1, day: 1, ..self }.days() + 1
    }

    /// 0 is Sunday.
    pub(super) fn weekday(self) -> usize {
        usize::try_from((self.days() + 4).rem_euclid(7)).unwrap_or_default()
    }
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// How many days a month has.
pub(super) fn days_in(month: u8, year: i64) -> u8 {
    match month {
        2 => 28 + u8::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
