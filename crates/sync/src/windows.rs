//! Times at which a project allows or denies syncs.
//!
//! A window lasts for its duration from each time of its schedule on. While a deny window is open nothing syncs; where
//! there are allow windows, something syncs only while one of them is open. Times are those of a clock on the wall in the
//! window's time zone, as Argo CD reckons them: where clocks are changed, the hours that the clock shows count.

use std::fmt;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use lynceus_api::{Application, Glob, SyncWindow, Time, parse_duration};

use crate::cron::{CronError, Schedule};
use crate::limits;

/// Somebody who wants to sync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// Whether a person asked for it.
    pub manual: bool,
    /// When it began, if it is under way: a window may let it go on.
    pub started: Option<Timestamp>,
}

/// Whether a sync may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It may.
    Open,
    /// It may not, for this reason.
    Closed(Closed),
}

/// Why a sync may not go on, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// The windows that are in the way: `deny window '0 22 * * *' (2h0m)`, or that none that allows is open.
    pub why: String,
    /// When a sync may begin; none if that is years away.
    pub opens: Option<Timestamp>,
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        match self.opens {
            Some(at) => write!(f, "; open from {} on", Time::from(at)),
            None => Ok(()),
        }
    }
}

/// A window that cannot be followed. Nothing syncs until it can: it may be one that denies.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// Its schedule is none.
    #[error("cannot parse schedule '{schedule}': {source}")]
    Schedule {
        /// The schedule.
        schedule: String,
        /// What is wrong with it.
        source: CronError,
    },
    /// Its schedule names no time, such as 30 February.
    #[error("schedule '{0}' never comes")]
    Never(String),
    /// Its duration is none.
    #[error("cannot parse duration '{text}': time: {why} in duration \"{text}\"")]
    Duration {
        /// The duration.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// The windows that are for one application, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Windows(Vec<Window>);

#[derive(Clone, Debug)]
struct Window {
    kind: Kind,
    schedule: Schedule,
    duration: SignedDuration,
    zone: TimeZone,
    manual: bool,
    overrun: bool,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Allow,
    Deny,
    /// Neither, which Argo CD leaves out of the account.
    Other,
}

/// Those windows that are for an application.
pub fn assigned<'a>(windows: &'a [SyncWindow], application: &Application) -> Vec<&'a SyncWindow> {
    windows.iter().filter(|window| is_for(window, application)).collect()
}

/// Whether a window is open now; one that cannot be read is not.
pub fn is_open(window: &SyncWindow, now: Timestamp) -> bool {
    Window::read(window).is_ok_and(|window| window.is_open(now))
}

impl Windows {
    /// Reads those windows that are for an application.
    pub fn of(windows: &[SyncWindow], application: &Application) -> Result<Self, WindowError> {
        assigned(windows, application).into_iter().map(Window::read).collect::<Result<_, _>>().map(Windows)
    }

    /// Whether there are none, so that everything may sync at any time.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a sync may go on now.
    pub fn gate(&self, attempt: Attempt, now: Timestamp) -> Gate {
        let in_the_way = self.in_the_way(attempt.manual, now);
        if in_the_way.is_empty() {
            return Gate::Open;
        }
        if let Some(started) = attempt.started
            && in_the_way.iter().all(|window| window.overrun)
            && self.in_the_way(attempt.manual, started).is_empty()
        {
            return Gate::Open;
        }
        let names: Vec<&str> = in_the_way.iter().map(|window| window.name.as_str()).collect();
        let why = match in_the_way[0].kind {
            Kind::Deny => format!("denied by {}", names.join(", ")),
            _ => format!("outside of {}", names.join(", ")),
        };
        Gate::Closed(Closed { why, opens: self.opens(attempt.manual, now) })
    }

    /// The windows that keep a sync from beginning: those that deny now, or else those that would allow but do not now.
    fn in_the_way(&self, manual: bool, now: Timestamp) -> Vec<&Window> {
        let (open, shut): (Vec<&Window>, Vec<&Window>) =
            self.0.iter().partition(|window| window.is_open(now));
        let denying: Vec<&Window> = open.iter().copied().filter(|window| window.kind == Kind::Deny).collect();
        let in_the_way = if !denying.is_empty() {
            denying
        } else if open.iter().any(|window| window.kind == Kind::Allow) {
            Vec::new()
        } else {
            shut.into_iter().filter(|window| window.kind == Kind::Allow).collect()
        };
        // One that does not let people through counts for all.
        if manual && in_the_way.iter().all(|window| window.manual) { Vec::new() } else { in_the_way }
    }

    /// When a sync may begin: only where a window opens or closes can that change.
    fn opens(&self, manual: bool, now: Timestamp) -> Option<Timestamp> {
        let mut at = now;
        for _ in 0..limits::WINDOW_TURNS {
            at = self.0.iter().filter_map(|window| window.turns_after(at)).min()?;
            if self.in_the_way(manual, at).is_empty() {
                return Some(at);
            }
        }
        None
    }
}

impl Window {
    fn read(window: &SyncWindow) -> Result<Self, WindowError> {
        let schedule = Schedule::parse(&window.schedule)
            .map_err(|source| WindowError::Schedule { schedule: window.schedule.to_string(), source })?;
        if schedule.next_after(DateTime::constant(2026, 1, 1, 0, 0, 0, 0)).is_none() {
            return Err(WindowError::Never(window.schedule.to_string()));
        }
        // A time zone that nobody knows counts as UTC.
        let zone = TimeZone::get(&window.time_zone).unwrap_or(TimeZone::UTC);
        let kind = match window.kind.as_str() {
            "allow" => Kind::Allow,
            "deny" => Kind::Deny,
            _ => Kind::Other,
        };
        Ok(Window {
            kind,
            schedule,
            duration: duration(&window.duration)?,
            zone,
            manual: window.manual_sync,
            overrun: window.sync_overrun,
            name: name(window),
        })
    }

    fn is_open(&self, now: Timestamp) -> bool {
        let now = self.zone.to_datetime(now);
        let begun = now.checked_sub(self.duration).ok().and_then(|from| self.schedule.next_after(from));
        begun.is_some_and(|begun| begun < now)
    }

    /// The next time at which the window opens or closes.
    fn turns_after(&self, at: Timestamp) -> Option<Timestamp> {
        let local = self.zone.to_datetime(at);
        let instant = |time: DateTime| {
            let instant = self.zone.to_ambiguous_timestamp(time).compatible().ok()?;
            // A window is open after its first instant, not at it.
            let after = instant.checked_add(SignedDuration::from_secs(1)).ok()?;
            (after > at).then_some(after)
        };
        let opens = self.schedule.next_after(local).and_then(instant);
        let begun = self.schedule.next_after(local.checked_sub(self.duration).ok()?)?;
        let closes = begun.checked_add(self.duration).ok().and_then(instant);
        opens.into_iter().chain(closes).min()
    }
}

/// What a window is called: what it does, when, and what its author said of it.
fn name(window: &SyncWindow) -> String {
    let SyncWindow { kind, schedule, duration, time_zone, description, .. } = window;
    let mut name = format!("{kind} window '{schedule}' ({duration}");
    if !time_zone.is_empty() && time_zone != "UTC" {
        name.push_str(&format!(", {time_zone}"));
        if TimeZone::get(time_zone).is_err() {
            name.push_str(", which is no time zone: UTC counts");
        }
    }
    name.push(')');
    if !description.is_empty() {
        name.push_str(&format!(" \"{description}\""));
    }
    name
}

/// Go's durations, which always have a unit.
fn duration(text: &str) -> Result<SignedDuration, WindowError> {
    let failed = |why| WindowError::Duration { text: text.to_owned(), why };
    if text != "0" && text.ends_with(|c: char| c.is_ascii_digit()) {
        return Err(failed("missing unit"));
    }
    parse_duration(text).map_err(|_| failed("invalid value"))
}

/// Whether a window is for an application: any of its filters fits, or each of them where it says so.
fn is_for(window: &SyncWindow, application: &Application) -> bool {
    let destination = &application.spec.destination;
    let fits = |patterns: &[lynceus_object::Str], texts: &[&str]| {
        patterns.iter().any(|pattern| {
            let glob = Glob::new(pattern);
            glob.is_ok_and(|glob| texts.iter().any(|text| glob.matches(text)))
        })
    };
    let cluster: Vec<&str> = [&destination.name, &destination.server]
        .into_iter()
        .map(|text| text.as_str())
        .filter(|text| !text.is_empty())
        .collect();
    let filters = [
        (&window.applications, vec![application.metadata.name.as_str()]),
        (&window.clusters, cluster),
        (&window.namespaces, vec![destination.namespace.as_str()]),
    ];
    let mut set = filters.iter().filter(|(patterns, _)| !patterns.is_empty()).peekable();
    if window.and_operator {
        set.peek().is_some() && set.all(|(patterns, texts)| fits(patterns, texts))
    } else {
        set.any(|(patterns, texts)| fits(patterns, texts))
    }
}

#[cfg(test)]
mod tests;
