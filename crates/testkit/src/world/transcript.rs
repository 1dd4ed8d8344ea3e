//! What a scenario came to, as text that is the same wherever it was played.
//!
//! Left out is what depends on chance or on who was quicker: times, uids, commits, the states that an application or a set
//! went through on its way, and the order of writes that one step of a sync sends at once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use lynceus_api::{Application, Kind as _, annotations};
use lynceus_object::{Object, Value};

use super::call::Write;

/// The variable that names the folder in which scenarios write down what they came to.
pub const TRANSCRIPTS: &str = "LYNCEUS_TRANSCRIPTS";

/// The file for the scenario that runs on this thread, if transcripts are wanted: `delivery.a_commit_arrives.txt`.
pub(crate) fn file() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os(TRANSCRIPTS)?);
    let program = std::env::current_exe().ok()?;
    let theme = program.file_stem()?.to_string_lossy().into_owned();
    let theme = theme.rsplit_once('-').map_or(theme.as_str(), |(name, _)| name);
    let thread = std::thread::current();
    let test = thread.name()?.replace("::", ".");
    Some(folder.join(format!("{theme}.{test}.txt")))
}

/// The whole text. `hide` is replaced by a word wherever it stands, for addresses that differ from run to run.
pub(crate) fn text(applications: &[Object], writes: &[Write], hide: &[(String, &str)]) -> String {
    let mut out = String::new();
    for object in applications {
        if let Ok(application) = Application::from_object(object) {
            tell_application(&mut out, &application);
        }
    }
    tell_writes(&mut out, writes);
    tell_events(&mut out, writes);
    for (volatile, word) in hide {
        out = out.replace(volatile.as_str(), word);
    }
    plain(&out)
}

fn tell_application(out: &mut String, application: &Application) {
    let status = &application.status;
    let _ = writeln!(
        out,
        "application {}: {} {}",
        application.metadata.name, status.sync.status, status.health.status
    );
    for condition in &status.conditions {
        let _ = writeln!(out, "  {}: {}", condition.type_, condition.message.trim().replace('\n', "\n    "));
    }
    for one in &status.resources {
        let prune = if one.requires_pruning { ", to be pruned" } else { "" };
        let _ = writeln!(
            out,
            "  {}/{}/{}/{}: {}{prune}",
            one.group, one.kind, one.namespace, one.name, one.status
        );
    }
    if let Some(state) = &status.operation_state {
        let _ = writeln!(out, "  operation {}: {}", state.phase, state.message);
        for one in state.sync_result.iter().flat_map(|result| &result.resources) {
            let outcome = if one.status.as_str().is_empty() {
                &one.hook_phase.to_string()
            } else {
                &one.status.to_string()
            };
            let _ = writeln!(
                out,
                "    {} {}/{}/{}/{} {outcome}: {}",
                one.sync_phase, one.group, one.kind, one.namespace, one.name, one.message
            );
        }
    }
    let _ = writeln!(out, "  syncs in history: {}", status.history.len());
}

/// The writes to applications' objects, for each application, step by step.
fn tell_writes(out: &mut String, writes: &[Write]) {
    let mut owners: BTreeMap<String, String> = BTreeMap::new();
    let mut steps: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for write in writes {
        let call = &write.call;
        match call.resource.as_str() {
            "events" => {}
            // Before a step is taken, it is written down on the Application: what comes between was sent at once.
            "applications.argoproj.io" if call.verb == "patch" => {
                steps.entry(call.name.clone()).or_default().push(Vec::new());
            }
            // The states of a set on its way are no more of a step.
            "applicationsets.argoproj.io" if call.verb == "patch" => {}
            // Another writer was faster, and it was tried again.
            _ if write.code == 409 => {}
            _ => {
                let object = format!("{} {}/{}", call.resource, call.namespace, call.name);
                if let Some(application) = marked(&call.body) {
                    owners.insert(object.clone(), application);
                }
                let owner = owners.get(&object).cloned().unwrap_or_default();
                let steps = steps.entry(owner).or_default();
                match steps.last_mut() {
                    Some(step) => step.push(write.to_string()),
                    None => steps.push(vec![write.to_string()]),
                }
            }
        }
    }
    for (application, steps) in steps {
        let _ = writeln!(out, "writes for {}", if application.is_empty() { "nobody" } else { &application });
        for mut step in steps.into_iter().filter(|step| !step.is_empty()) {
            step.sort();
            let _ = writeln!(out, "  {}", step.join("\n  & "));
        }
    }
}

/// The application that an object says it belongs to, in its own mark or in what was last applied.
fn marked(body: &Value) -> Option<String> {
    let mark = |object: &Value| {
        let mark = object.str_at(&["metadata", "annotations", annotations::TRACKING_ID])?;
        mark.split(':').next().map(str::to_owned)
    };
    mark(body).or_else(|| {
        let last = body.str_at(&["metadata", "annotations", annotations::LAST_APPLIED])?;
        mark(&lynceus_object::json::parse(last.as_bytes()).ok()?)
    })
}

/// The events on Applications that tell of operations. Those that tell of a state on the way depend on who was quicker.
fn tell_events(out: &mut String, writes: &[Write]) {
    let mut events: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for write in writes.iter().filter(|write| write.call.resource == "events" && write.succeeded()) {
        let word = |path: &[&str]| write.call.body.str_at(path).unwrap_or_default();
        if word(&["involvedObject", "kind"]) == "Application" && word(&["reason"]) != "ResourceUpdated" {
            let told = format!("{} {}: {}", word(&["type"]), word(&["reason"]), word(&["message"]));
            events.entry(word(&["involvedObject", "name"])).or_default().push(told);
        }
    }
    for (application, told) in events {
        let _ = writeln!(out, "events of {application}");
        for line in told {
            let _ = writeln!(out, "  {line}");
        }
    }
}

/// Takes commits, uids, times of day, ports of this machine and the ends of made-up names out of a text.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\0']) {
        if letter.is_ascii_alphanumeric() || matches!(letter, '-' | ':') {
            word.push(letter);
            continue;
        }
        let bare = word.trim_end_matches(':');
        out.push_str(plain_word(bare).as_deref().unwrap_or(bare));
        out.push_str(&word[bare.len()..]);
        word.clear();
        if letter != '\0' {
            out.push(letter);
        }
    }
    out
}

/// The letters of the suffixes that controllers make names with; no English word is made of them.
const SUFFIX: &str = "bcdfghjklmnpqrstvwxz2456789";

fn plain_word(word: &str) -> Option<String> {
    let is_suffix = |end: &str| (8..=10).contains(&end.len()) && end.chars().all(|c| SUFFIX.contains(c));
    if let Some((stem, _)) = word.rsplit_once('-').filter(|(_, end)| is_suffix(end)) {
        return Some(format!("{stem}-SUFFIX"));
    }
    let hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    // A hook without a name gets one from its commit, its phase and the second in which its sync began.
    if let [stem @ .., commit, phase, second] = word.split('-').collect::<Vec<_>>().as_slice()
        && (commit.len() == 7 && hex(commit))
        && (second.len() == 10 && second.bytes().all(|byte| byte.is_ascii_digit()))
    {
        return Some(format!("{}-COMMIT-{phase}-SECOND", stem.join("-")));
    }
    let is_uid =
        word.len() == 36 && word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && hex(&word.replace('-', ""));
    let is_time = word.strip_suffix("AM").or(word.strip_suffix("PM")).is_some_and(|time| {
        time.split_once(':').is_some_and(|(hour, minute)| hex(hour) && minute.len() == 2 && hex(minute))
    });
    // What is left of 127.0.0.1:40421 after the dots.
    let is_port = word.strip_prefix("1:").is_some_and(|port| port.len() >= 4 && port.parse::<u16>().is_ok());
    match word {
        _ if is_port => Some("1:PORT".to_owned()),
        _ if word.len() == 40 && hex(word) => Some("COMMIT".to_owned()),
        _ if is_uid => Some("UID".to_owned()),
        _ if is_time => Some("TIME".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_uids_times_and_made_up_names_are_left_out() {
        assert_eq!(plain("web-77789f8c76: Synced"), "web-SUFFIX: Synced");
        assert_eq!(
            plain("Job/each-1a2b3c4-postsync-1767225600 Synced"),
            "Job/each-COMMIT-postsync-SECOND Synced"
        );
        assert_eq!(plain("http://127.0.0.1:40421/x: no"), "http://127.0.0.1:PORT/x: no");
        let text = "to 8b8b8b8b8b8b8b8b8b8b8b8b8b8b8b8b8b8b8b8b, uid 123e4567-e89b-12d3-a456-426614174000 at 3:04PM.";
        assert_eq!(plain(text), "to COMMIT, uid UID at TIME.");
    }
}
