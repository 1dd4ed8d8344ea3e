//! How objects differ from what Git wants, and how that came about.

use lynceus_api::{Glob, Reason, ReasonCode};
use lynceus_diff::{Change, ChangeSet, FieldChange, Origin, Place, RuleReport, RuleVerdict, Verdict};
use lynceus_object::Object;

use crate::limits;

/// How a rule begins that names managers and no fields.
const BY_MANAGERS: &str = "managed by ";

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

/// Rules that hide a whole part of their objects, and rules of the application that name nothing that is there.
pub(crate) fn odd_rules(changes: &ChangeSet) -> Vec<Reason> {
    let code = |rule: &RuleReport| match rule.verdict() {
        RuleVerdict::HidesAll => Some(ReasonCode::WideRule),
        // A rule that is set for all need not be for something of each.
        RuleVerdict::NoObject | RuleVerdict::NoField if is_idle(rule, changes) => Some(ReasonCode::IdleRule),
        _ => None,
    };
    changes.rules.iter().filter_map(|rule| Some(Reason::new(code(rule)?, rule.remark()?))).collect()
}

/// Whether a rule of the application that did nothing could have done something.
fn is_idle(rule: &RuleReport, changes: &ChangeSet) -> bool {
    // A manager's fields are left out where they differ only, and now they may not.
    let by_writer = rule.verdict() == RuleVerdict::NoField && rule.what.starts_with(BY_MANAGERS);
    let uncompared = changes.changes.iter().filter(|change| matches!(change.verdict, Verdict::Create));
    let uncompared = uncompared.filter_map(|change| change.pair.desired()).chain(&changes.hooks);
    // What is not there yet was not compared, and hooks never are.
    let comes_later = || uncompared.into_iter().any(|object| fits(&rule.kind, object));
    matches!(rule.place, Place::Application(_)) && !by_writer && !comes_later()
}

/// Whether an object is of the kinds that a rule is for, as they are written.
fn fits(kinds: &str, object: &Object) -> bool {
    let (group, kind) = kinds.rsplit_once('/').unwrap_or(("", kinds));
    let fits = |pattern, text| Glob::new(pattern).is_ok_and(|glob| glob.matches(text));
    fits(group, object.group()) && fits(kind, object.kind())
}
