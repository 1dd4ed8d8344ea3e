//! Pods.

use jiff::Timestamp;
use lynceus_object::{Object, Value, value};

use super::{Row, line};

/// The cells of a pod.
pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    if kind != "Pod" {
        return None;
    }
    let state = State::of(row);
    let mut restarts = state.restarts.to_string();
    if let (true, Some(last)) = (state.restarts != 0, state.last_restart) {
        restarts = format!("{restarts} ({} ago)", row.since(&last.to_string()));
    }
    let address = row.items(&["status", "podIPs"]).first().and_then(|ip| ip.str_at(&["ip"]));
    Some(line![
        row.name(),
        format!("{}/{}", state.ready, state.total),
        state.reason,
        restarts,
        row.age(),
        address.filter(|address| !address.is_empty()).unwrap_or("<none>"),
        row.text_or(&["spec", "nodeName"], "<none>"),
        row.text_or(&["status", "nominatedNodeName"], "<none>"),
        readiness_gates(row),
    ])
}

/// Marks the row of a pod that has run to its end.
pub(super) fn completion(pod: &Object, row: &mut Value) {
    let phase = pod.value().str_at(&["status", "phase"]).unwrap_or_default();
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return,
    };
    let done = value!({"type": "Completed", "status": "True", "reason": phase, "message": message});
    row.set(&["conditions"], vec![done]);
}

fn readiness_gates(row: &Row<'_>) -> String {
    let gates = row.items(&["spec", "readinessGates"]);
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates.iter().filter(|gate| row.condition(gate.str_at(&["conditionType"]).unwrap_or_default()));
    format!("{}/{}", open.count(), gates.len())
}

/// What the containers of a pod add up to.
struct State {
    ready: usize,
    total: usize,
    reason: String,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

impl State {
    fn of(row: &Row<'_>) -> State {
        let phase = row.str(&["status", "phase"]);
        let why = row.str(&["status", "reason"]);
        let mut state = State {
            ready: 0,
            total: row.items(&["spec", "containers"]).len() + sidecars(row).count(),
            reason: if why.is_empty() { phase } else { why }.to_owned(),
            restarts: 0,
            last_restart: None,
        };
        let gated = |condition: &Value| {
            condition.str_at(&["type"]) == Some("PodScheduled")
                && condition.str_at(&["reason"]) == Some("SchedulingGated")
        };
        if row.items(&["status", "conditions"]).iter().any(gated) {
            state.reason = "SchedulingGated".to_owned();
        }
        let initializing = state.init_containers(row);
        if !initializing || row.condition("Initialized") {
            state.containers(row);
        }
        if row.is_deleting() {
            if why == "NodeLost" {
                state.reason = "Unknown".to_owned();
            } else if !matches!(phase, "Succeeded" | "Failed") {
                state.reason = "Terminating".to_owned();
            }
        }
        state
    }

    /// Counts the containers that run first, and says whether one of them is not done.
    fn init_containers(&mut self, row: &Row<'_>) -> bool {
        let all = row.items(&["spec", "initContainers"]).len();
        for (at, status) in row.items(&["status", "initContainerStatuses"]).iter().enumerate() {
            self.count_restarts(status);
            let sidecar = sidecars(row).any(|name| status.str_at(&["name"]) == Some(name));
            let terminated = status.at(&["state", "terminated"]).filter(|state| !state.is_null());
            let waiting = status.str_at(&["state", "waiting", "reason"]).unwrap_or_default();
            if terminated.is_some_and(|end| end.int_at(&["exitCode"]).unwrap_or(0) == 0) {
                continue;
            }
            if sidecar && status.bool_at(&["started"]) == Some(true) {
                self.ready += usize::from(status.bool_at(&["ready"]).unwrap_or(false));
                continue;
            }
            self.reason = match terminated {
                Some(end) => format!("Init:{}", ending(end)),
                None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
                None => format!("Init:{at}/{all}"),
            };
            return true;
        }
        false
    }

    fn containers(&mut self, row: &Row<'_>) {
        // From here on only containers that go on running count, and sidecars do.
        (self.restarts, self.last_restart) = (0, None);
        for status in row.items(&["status", "initContainerStatuses"]) {
            if sidecars(row).any(|name| status.str_at(&["name"]) == Some(name)) {
                self.count_restarts(status);
            }
        }
        let (mut running, mut failure) = (false, String::new());
        for status in row.items(&["status", "containerStatuses"]).iter().rev() {
            self.count_restarts(status);
            let waiting = status.str_at(&["state", "waiting", "reason"]).unwrap_or_default();
            if !waiting.is_empty() {
                self.reason = waiting.to_owned();
            } else if let Some(end) = status.at(&["state", "terminated"]).filter(|state| !state.is_null()) {
                self.reason = ending(end);
                if end.int_at(&["exitCode"]).unwrap_or(0) != 0 {
                    failure = self.reason.clone();
                }
            } else if status.bool_at(&["ready"]) == Some(true) && status.at(&["state", "running"]).is_some() {
                running = true;
                self.ready += 1;
            }
        }
        if self.reason == "Completed" {
            if running && row.condition("Ready") {
                self.reason = "Running".to_owned();
            } else if !failure.is_empty() {
                self.reason = failure;
            } else if running {
                self.reason = "NotReady".to_owned();
            }
        }
    }

    fn count_restarts(&mut self, status: &Value) {
        self.restarts += status.int_at(&["restartCount"]).unwrap_or(0);
        let ended =
            status.str_at(&["lastState", "terminated", "finishedAt"]).and_then(|time| time.parse().ok());
        self.last_restart = self.last_restart.max(ended);
    }
}

/// The containers that start first and then go on running.
fn sidecars<'a>(row: &Row<'a>) -> impl Iterator<Item = &'a str> {
    let containers = row.items(&["spec", "initContainers"]).iter();
    let lasting = containers.filter(|container| container.str_at(&["restartPolicy"]) == Some("Always"));
    lasting.map(|container| container.str_at(&["name"]).unwrap_or_default())
}

/// How a container ended.
fn ending(end: &Value) -> String {
    let reason = end.str_at(&["reason"]).unwrap_or_default();
    let signal = end.int_at(&["signal"]).unwrap_or(0);
    if !reason.is_empty() {
        reason.to_owned()
    } else if signal != 0 {
        format!("Signal:{signal}")
    } else {
        format!("ExitCode:{}", end.int_at(&["exitCode"]).unwrap_or(0))
    }
}
