//! How objects differ from what Git wants, and how that came about.

use lynceus_api::{Reason, ReasonCode};
use lynceus_diff::{Change, ChangeSet, FieldChange, Origin, Place, RuleVerdict, Verdict};

use crate::limits;

/// How one object differs, if it does.
pub(super) fn told(change: &Change) -> Option<Reason> {
    let key = change.key();
    let name = format!("{} {}", key.kind, key.name);
    let reason = match &change.verdict {
        Verdict::Create => Reason::new(ReasonCode::NotCreated, format!("{name} is not there")),
        Verdict::Prune => Reason::new(ReasonCode::NotPruned, format!("{name} is no longer in Git")),
        Verdict::Update(update) => {
            let shown = update.fields.iter().take(limits::REASON_FIELDS);
            let paths: Vec<String> = shown.clone().map(|field| field.path.to_string()).collect();
            let more = update.fields.len().saturating_sub(paths.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Reason::new(ReasonCode::Differs, format!("{name} differs in {}{more}", paths.join(", ")))
                .because(shown.filter_map(origin))
        }
        Verdict::Same | Verdict::Ignored(_) | Verdict::Failed(_) => return None,
    };
    Some(reason.about(key))
}

/// Who or what made a field differ, where that can be told.
fn origin(field: &FieldChange) -> Option<Reason> {
    let path = &field.path;
    let writer = field.writer.as_ref().map_or("somebody", |writer| writer.manager.as_str());
    let (code, words) = match field.origin {
        Origin::Unknown => return None,
        Origin::Source => {
            (ReasonCode::ChangedInGit, format!("{path} is another in Git than it was when it was applied"))
        }
        Origin::Default => {
            (ReasonCode::ServerDefault, format!("{path} is filled in by the server where nothing is said"))
        }
        Origin::Admission => (
            ReasonCode::ChangedOnTheWay,
            format!("{path} is changed on its way into the cluster, as admission does"),
        ),
        Origin::Writer => (ReasonCode::WrittenByOther, format!("{path} was written by {writer}")),
        Origin::Loop => {
            (ReasonCode::WrittenInLoop, format!("{path} is written again by {writer} after each sync"))
        }
    };
    Some(Reason::new(code, words))
}

/// Rules of the application that were meant to hide a difference and name nothing that is there.
pub(super) fn idle_rules(changes: &ChangeSet) -> Vec<Reason> {
    let idle = changes.rules.iter().filter(|rule| {
        matches!(rule.place, Place::Application(_))
            && matches!(rule.verdict(), RuleVerdict::NoObject | RuleVerdict::NoField)
    });
    idle.filter_map(|rule| Some(Reason::new(ReasonCode::IdleRule, rule.remark()?))).collect()
}
