//! Which windows of a project are open now.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use lynceus_api::{SyncWindow, parse_duration};
use lynceus_object::{Value, value};
use lynceus_sync::Schedule;

use super::{find, read};
use crate::call::{Answered, Call};

/// The windows that are open now.
pub(super) fn active(call: &Call) -> Answered {
    let object = find(call, call.text("name"))?;
    let project = read(&object)?;
    let now = call.server.engine.clock().now();
    // The windows as the object has them, so that fields that nobody here knows stay.
    let stored = object.value().items_at(&["spec", "syncWindows"]);
    let open: Vec<Value> = stored
        .iter()
        .zip(&project.spec.sync_windows)
        .filter(|(_, window)| is_open(window, now))
        .map(|(stored, _)| stored.clone())
        .collect();
    Ok(value!({"windows": open}).into())
}

/// Whether a window is open. One that cannot be read is not.
fn is_open(window: &SyncWindow, now: Timestamp) -> bool {
    let zone = match window.time_zone.as_str() {
        "" => Some(TimeZone::UTC),
        name => TimeZone::get(name).ok(),
    };
    let (Ok(schedule), Ok(duration), Some(zone)) =
        (Schedule::parse(&window.schedule), parse_duration(&window.duration), zone)
    else {
        return false;
    };
    let wall = zone.to_datetime(now);
    let begun = wall.checked_sub(duration).ok().and_then(|earliest| schedule.next_after(earliest));
    begun.is_some_and(|begun| begun <= wall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_open_for_its_duration() {
        let window = |schedule: &str, zone: &str| SyncWindow {
            kind: "deny".into(),
            schedule: schedule.into(),
            duration: "2h".into(),
            time_zone: zone.into(),
            ..SyncWindow::default()
        };
        let now: Timestamp = "2026-01-01T12:30:00Z".parse().unwrap_or_default();
        assert!(is_open(&window("0 11 * * *", ""), now));
        assert!(!is_open(&window("0 10 * * *", ""), now));
        assert!(!is_open(&window("0 13 * * *", ""), now));
        assert!(is_open(&window("0 13 * * *", "Europe/Berlin"), now));
        assert!(!is_open(&window("nonsense", ""), now));
    }
}
