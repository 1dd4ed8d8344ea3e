//! Whether the project's windows let an application sync now.

use lynceus_api::SyncWindow;
use lynceus_engine::window;
use lynceus_object::{Value, typed, value};
use lynceus_sync::windows::{self, Attempt};

use crate::call::{Answer, Answered, Call};
use crate::refusal::Refusal;

pub(super) fn windows(call: &Call) -> Answered {
    let application = call.application("get", "name")?;
    let engine = &call.server.engine;
    let project = engine.project(&application).map_err(|condition| Refusal::invalid(condition.message))?;
    let now = engine.clock().now();
    let is_open =
        |manual| window::closed(&application, &project, Attempt { manual, started: None }, now).is_none();
    let assigned = windows::assigned(&project.spec.sync_windows, &application);
    let active: Vec<&SyncWindow> =
        assigned.iter().copied().filter(|window| windows::is_open(window, now)).collect();
    Ok(Answer::One(value!({
        "assignedWindows": shown(&assigned),
        "activeWindows": shown(&active),
        "canSync": is_open(true),
    })))
}

fn shown(windows: &[&SyncWindow]) -> Value {
    windows.iter().filter_map(|window| typed::from_typed(*window).ok()).collect()
}
