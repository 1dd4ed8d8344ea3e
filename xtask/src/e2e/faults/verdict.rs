//! What the API server's record of the writes says: how often hooks were made, and what was deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde_json::Value;

use super::fleet::{self, Fleet};

/// How many findings are told.
const MOST: usize = 8;

/// What was found.
#[derive(Default)]
pub(super) struct Verdict {
    hooks: usize,
    creations: usize,
    prunes: usize,
    operations: usize,
    retries: usize,
    /// Hooks that were made twice in one attempt of an operation, and attempts that failed over what they had made.
    repeated: Vec<String>,
    /// Objects that were deleted while Git contained them.
    wrongly_deleted: Vec<String>,
}

impl Verdict {
    pub(super) fn passes(&self) -> Result<(), String> {
        match (self.repeated.len(), self.wrongly_deleted.len()) {
            (0, 0) => Ok(()),
            (hooks, objects) => {
                Err(format!("{hooks} hooks ran again, {objects} objects were deleted that Git contains"))
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "faults: {} operations were started and {} retried; {} hooks were made {} times; {} objects were pruned",
            self.operations, self.retries, self.hooks, self.creations, self.prunes
        )?;
        for finding in self.repeated.iter().take(MOST) {
            writeln!(out, "  ran again: {finding}")?;
        }
        for finding in self.wrongly_deleted.iter().take(MOST) {
            writeln!(out, "  deleted though Git contains it: {finding}")?;
        }
        Ok(())
    }
}

/// Reads the record. A hook may run once in each attempt of an operation: Argo CD, too, starts over when it retries.
pub(super) fn read(log: &Path, fleet: &Fleet) -> Result<Verdict, String> {
    let file = std::fs::File::open(log).map_err(|error| format!("cannot read {}: {error}", log.display()))?;
    let mut verdict = Verdict::default();
    let mut attempts: BTreeMap<String, usize> = BTreeMap::new();
    let mut made: BTreeMap<(String, usize), Vec<String>> = BTreeMap::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| format!("cannot read {}: {error}", log.display()))?;
        // A killed server may leave half a line.
        let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
        let Some(write) = Write::of(&event) else { continue };
        let attempt = attempts.entry(write.application().to_owned()).or_default();
        match write.verb {
            "create" if write.is_hook() => {
                made.entry((write.name.to_owned(), *attempt)).or_default().push(write.time.to_owned());
            }
            "delete" if write.is_wrong(fleet) => {
                verdict.wrongly_deleted.push(format!("{} {} at {}", write.resource, write.name, write.time));
            }
            "delete" if write.name.contains("-extra-") => verdict.prunes += 1,
            "patch" | "update" if write.starts_operation(&event) => {
                *attempt += 1;
                verdict.operations += 1;
            }
            "patch" | "update" => {
                if let Some(why) = write.retries(&event) {
                    *attempt += 1;
                    verdict.retries += 1;
                    if why.contains("already exists") {
                        verdict.repeated.push(format!("{} was retried at {}: {why}", write.name, write.time));
                    }
                }
            }
            _ => {}
        }
    }
    verdict.creations = made.values().map(Vec::len).sum();
    verdict.hooks = made.keys().map(|(name, _)| name).collect::<BTreeSet<_>>().len();
    for ((name, _), times) in made.into_iter().filter(|(_, times)| times.len() > 1) {
        verdict.repeated.push(format!("{name} at {}", times.join(", ")));
    }
    Ok(verdict)
}

/// One write by the controller that went through.
struct Write<'a> {
    verb: &'a str,
    resource: &'a str,
    name: &'a str,
    time: &'a str,
}

impl<'a> Write<'a> {
    fn of(event: &'a Value) -> Option<Self> {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let code = event.pointer("/responseStatus/code").and_then(Value::as_i64)?;
        let by_controller = text("/user/username") == Some("lynceus");
        let is_try = text("/requestURI").is_some_and(|uri| uri.contains("dryRun=All"));
        if !(200..300).contains(&code) || !by_controller || is_try {
            return None;
        }
        Some(Write {
            verb: text("/verb")?,
            resource: text("/objectRef/resource")?,
            name: text("/objectRef/name").unwrap_or_default(),
            time: text("/requestReceivedTimestamp").unwrap_or_default(),
        })
    }

    /// The application that the object belongs to.
    fn application(&self) -> &str {
        self.name.get(..fleet::name(0).len()).unwrap_or_default()
    }

    /// Why this write says that an operation starts over.
    fn retries<'e>(&self, event: &'e Value) -> Option<&'e str> {
        let state = event.pointer("/requestObject/status/operationState")?;
        let again = self.resource == "applications" && state.get("retryCount").and_then(Value::as_i64)? > 0;
        again.then(|| state.get("message").and_then(Value::as_str).unwrap_or_default())
    }

    fn is_hook(&self) -> bool {
        self.name.contains("-hook-") || self.name.contains("-job-")
    }

    /// Whether this deletes something that Git contained at that time. Hooks are deleted before they are made anew.
    fn is_wrong(&self, fleet: &Fleet) -> bool {
        if !self.name.starts_with("app-") || self.is_hook() || self.resource == "pods" {
            return false;
        }
        let Some((application, revision)) = self.name.split_once("-extra-") else { return true };
        let numbers = (application.trim_start_matches("app-").parse().ok(), revision.parse().ok());
        let (Some(application), Some(revision)) = numbers else { return true };
        match fleet.removed_at(application, revision) {
            None => true,
            Some(removed) => seconds(self.time).is_some_and(|time| {
                let removed = removed.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
                // Both clocks are this machine's.
                time < removed
            }),
        }
    }

    /// Whether this write asks for an operation.
    fn starts_operation(&self, event: &Value) -> bool {
        self.resource == "applications"
            && self.name.len() == fleet::name(0).len()
            && event.pointer("/requestObject/operation/sync").is_some()
    }
}

/// Seconds since 1970 of a time such as `2026-11-16T04:25:44.066970Z`.
fn seconds(time: &str) -> Option<f64> {
    let (date, rest) = time.split_once('T')?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = rest.trim_end_matches('Z').split(':').map(|part| part.parse::<f64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    // Days since 1970, counting years from March so that the leap day comes last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    Some(days as f64 * 86_400.0 + hour * 3_600.0 + minute * 60.0 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_seconds() {
        assert_eq!(seconds("1970-01-01T00:00:01Z"), Some(1.0));
        assert_eq!(seconds("2000-03-01T00:00:00.500000Z"), Some(951_868_800.5));
    }

    #[test]
    fn only_writes_of_the_controller_that_went_through_count() {
        let event = |code: i64, user: &str, uri: &str| {
            serde_json::json!({"verb": "create", "user": {"username": user}, "requestURI": uri, "responseStatus": {"code": code},
                "objectRef": {"resource": "jobs", "name": "app-000-job-1"}})
        };
        assert!(Write::of(&event(201, "lynceus", "/x")).is_some_and(|write| write.is_hook()));
        assert!(Write::of(&event(409, "lynceus", "/x")).is_none());
        assert!(Write::of(&event(201, "admin", "/x")).is_none());
        assert!(Write::of(&event(201, "lynceus", "/x?dryRun=All")).is_none());
    }
}
