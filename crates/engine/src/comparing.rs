//! How an application is compared, and what is said of what could not be or is not its own.

use lynceus_api::{Application, ApplicationConditionType, OperationPhase, Options, annotations, options};
use lynceus_diff::{ChangeSet, DiffError, RuleVerdict, Verdict, unquoted};
use lynceus_object::{Object, Str};

use crate::claims::Claim;
use crate::condition::Condition;
use crate::key::AppKey;
use crate::rendering::Sourced;
use crate::settings::Settings;

/// Whether the servers are asked what applies would do, and what of their answers counts.
pub(crate) struct ServerSideDiff {
    pub(crate) on: bool,
    pub(crate) include_mutations: bool,
}

impl ServerSideDiff {
    /// What is set for all, unless the application says otherwise.
    pub(crate) fn of(application: &Application, settings: &Settings) -> Self {
        let text = application.metadata.annotations.get(annotations::COMPARE_OPTIONS);
        let said = Options::parse(text.map(Str::as_str).unwrap_or_default());
        let on = settings.server_side_diff || said.has(options::compare::SERVER_SIDE_DIFF);
        ServerSideDiff {
            on: on && !said.has(options::compare::DISABLE_SERVER_SIDE_DIFF),
            include_mutations: said.has(options::compare::INCLUDE_MUTATION_WEBHOOK),
        }
    }
}

/// Whether the last sync brought what the sources want now.
pub(crate) fn is_applied(application: &Application, sourced: &[Sourced]) -> bool {
    let Some(state) = &application.status.operation_state else { return false };
    let Some(result) = &state.sync_result else { return false };
    let now: Vec<&Str> = sourced.iter().map(|one| &one.revision).collect();
    let then: Vec<&Str> = match result.revisions.is_empty() {
        true => vec![&result.revision],
        false => result.revisions.iter().collect(),
    };
    state.phase == OperationPhase::Succeeded && now == then
}

/// Rules that could not be followed to their end: what they should have hidden is not.
pub(crate) fn failed_rules(changes: &ChangeSet) -> impl Iterator<Item = Condition> + '_ {
    let failed = changes.rules.iter().filter(|rule| rule.verdict() == RuleVerdict::Failed);
    failed.filter_map(|rule| rule.remark().map(Condition::comparison))
}

/// What is said of an object that two applications want: Argo CD's words, and then the files.
pub(crate) fn shared_by(key: &AppKey, object: &Object, file: &str, other: &Claim) -> Condition {
    let (kind, name) = (object.kind(), object.name());
    let theirs = other.application.as_str().replace('_', "/");
    let mut message = format!("{kind}/{name} is part of applications {key} and {theirs}");
    let files = [(key.to_string(), file), (theirs, other.file.as_str())];
    let known: Vec<String> = files
        .iter()
        .filter(|(_, file)| !file.is_empty())
        .map(|(application, file)| format!("{application} has it from {file}"))
        .collect();
    if !known.is_empty() {
        message.push_str(&format!(" ({})", known.join(", ")));
    }
    Condition::new(ApplicationConditionType::SharedResourceWarning, message)
}

/// What is said of objects that could not be compared for such a reason. A server may quote what it refuses, and that of
/// a Secret is not repeated.
pub(crate) fn failed_comparisons(
    changes: &ChangeSet,
    is_such: impl Fn(&DiffError) -> bool,
) -> impl Iterator<Item = Condition> {
    changes.changes.iter().filter_map(move |change| match &change.verdict {
        Verdict::Failed(error) if is_such(error) => {
            let objects: Vec<&Object> = change.pair.desired().into_iter().chain(change.pair.live()).collect();
            let why = unquoted(&crate::words(error), &objects);
            Some(Condition::comparison(format!("{} cannot be compared: {why}", change.key())))
        }
        _ => None,
    })
}
