//! Time zones. The database is part of the program: what a template prints does not depend on the machine.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// How many changes of a zone's rules are looked at: more than any has had, and those to come repeat.
const CHANGES: usize = 1_000;

/// Where a time is told.
#[derive(Clone, Debug)]
pub(in crate::sprig) enum Zone {
    /// UTC.
    Utc,
    /// The zone of the machine. A render has no machine of its own, so it is UTC by another name.
    Local,
    /// A zone of the database.
    Named(TimeZone),
    /// An offset in seconds, with the name that it was read with, which may be empty.
    Fixed(i64, String),
}

impl Zone {
    /// The zone of a name such as `Europe/Paris`; case matters, as it does in file names.
    pub(in crate::sprig) fn load(name: &str) -> Option<Self> {
        match name {
            "" | "UTC" => return Some(Self::Utc),
            "Local" => return Some(Self::Local),
            _ => {}
        }
        let zone = DATABASE.get(name).ok()?;
        (zone.iana_name() == Some(name)).then_some(Self::Named(zone))
    }

    /// The offset in seconds and the abbreviation at a moment.
    pub(super) fn at(&self, seconds: i64) -> (i64, String) {
        match self {
            Self::Utc | Self::Local => (0, "UTC".to_owned()),
            Self::Fixed(offset, name) => (*offset, name.clone()),
            Self::Named(zone) => {
                let moment = Timestamp::from_second(in_reach(seconds)).unwrap_or_default();
                let info = zone.to_offset_info(moment);
                (i64::from(info.offset().seconds()), info.abbreviation().to_owned())
            }
        }
    }

    /// The moment at which the calendar and the clock there show so many seconds after the beginning of 1970. What they skip or
    /// show twice is taken for what Go takes it.
    pub(super) fn moment_of(&self, local: i64) -> i64 {
        let near = local.saturating_sub(self.at(local).0);
        local.saturating_sub(self.at(near).0)
    }

    /// The offset that an abbreviation stands for there, if it ever does; around a time it may be another one than elsewhere.
    pub(super) fn offset_of(&self, abbreviation: &str, local: i64) -> Option<i64> {
        let Self::Named(zone) = self else {
            let (offset, own) = self.at(local);
            return (own == abbreviation).then_some(offset);
        };
        let first = self.at(i64::MIN);
        let changes = zone.following(Timestamp::MIN).take(CHANGES);
        let changes = changes
            .map(|change| (i64::from(change.offset().seconds()), change.abbreviation().to_owned()))
            .collect::<Vec<_>>();
        let known = [first].into_iter().chain(changes).chain([self.at(local)]);
        let known = known.filter(|(_, name)| name == abbreviation).map(|(offset, _)| offset);
        let offsets: Vec<i64> = known.collect();
        // An abbreviation may have stood for several offsets; the one counts that it stands for at that time.
        let then = offsets.iter().map(|offset| self.at(local.saturating_sub(*offset)));
        let mut then = then.filter(|(_, name)| name == abbreviation).map(|(offset, _)| offset);
        then.next().or_else(|| offsets.first().copied())
    }

    /// The name as Go's `Location` prints it.
    pub(in crate::sprig) fn name(&self) -> &str {
        match self {
            Self::Utc => "UTC",
            Self::Local => "Local",
            Self::Named(zone) => zone.iana_name().unwrap_or_default(),
            Self::Fixed(_, name) => name,
        }
    }
}

/// A moment at which the zone's rules are the same, and which the database reaches.
///
/// The calendar repeats after 400 years, and so do rules for all times to come; before the first rule there is none.
fn in_reach(seconds: i64) -> i64 {
    const REPEATS: i64 = 146_097 * 86_400;
    let last = Timestamp::MAX.as_second() - REPEATS;
    if seconds > last { last + (seconds - last) % REPEATS } else { seconds.max(Timestamp::MIN.as_second()) }
}
