//! ApplicationSets as the rules look at them: what their conditions say, and what sort of trouble that is.

use lynceus_api::GROUP;
use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::Case;
use crate::finding::{Code, Evidence, Finding};
use crate::node::{AppName, Node};
use crate::words;

/// What an ApplicationSet complains of.
pub(super) struct Complaint<'a> {
    pub(super) set: &'a Object,
    pub(super) sort: Sort,
    /// What its condition says.
    pub(super) message: &'a str,
}

/// What sort of trouble a condition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// Somebody that it asks does not let it in.
    Token,
    /// A name that two want.
    Claimed,
    /// A project or cluster that is not there.
    Nowhere,
    /// Anything else.
    Other,
}

/// The ApplicationSets of the installation.
pub(super) fn sets<'a>(case: &Case<'a>) -> impl Iterator<Item = &'a Object> {
    let home = case.servers().next().unwrap_or_default();
    case.of_kind(home, GROUP, "ApplicationSet").iter().copied().filter(|set| !set.is_deleting())
}

/// What ApplicationSets complain of that is of one sort.
pub(super) fn complaints<'a>(case: &Case<'a>, sort: Sort) -> Vec<Complaint<'a>> {
    let complaint = |set: &'a Object| {
        let error = condition(set, "ErrorOccurred")?;
        let text = |field: &str| error.str_at(&[field]).unwrap_or_default();
        let message = error.str_at(&["message"])?;
        (text("status") == "True").then(|| Complaint { set, sort: sort_of(message), message })
    };
    sets(case).filter_map(complaint).filter(|one| one.sort == sort).collect()
}

/// A condition of an ApplicationSet.
pub(super) fn condition<'a>(set: &'a Object, kind: &str) -> Option<&'a Value> {
    let conditions = set.value().items_at(&["status", "conditions"]);
    conditions.iter().find(|one| one.str_at(&["type"]) == Some(kind))
}

/// What a message is about, in our words and in those of Argo CD.
fn sort_of(message: &str) -> Sort {
    let text = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_number = |code: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == code);
    let is_limited = has(&["rate limit", "ask no more"]);
    let is_refused = is_number("401")
        || is_number("403")
        || has(&["bad credentials", "unauthorized", "authentication required"]);
    match () {
        () if has(&[
            "there is already an application named",
            "duplicate name",
            "already owned by another",
        ]) =>
        {
            Sort::Claimed
        }
        () if text.contains("the application ") && text.contains(" belongs to ") => Sort::Claimed,
        () if has(&["references project", "destination spec is invalid"]) => Sort::Nowhere,
        () if is_refused && !is_limited => Sort::Token,
        () => Sort::Other,
    }
}

/// What the condition of an ApplicationSet says whose deletions are held.
pub(super) fn held(set: &Object) -> Option<&str> {
    let condition = condition(set, "ResourcesUpToDate")?;
    let is_held = condition.str_at(&["reason"]) == Some("DeletionsHeld");
    condition.str_at(&["message"]).filter(|_| is_held)
}

/// Whether the deletion of an application is held: whatever is wrong with it comes from what its set does not find any more.
pub(super) fn is_leaving(case: &Case<'_>, name: &AppName) -> bool {
    let Some(named) = maker(case, name).and_then(held).and_then(|message| message.split_once("deleted ("))
    else {
        return false;
    };
    let named = named.1.split_once(')').map_or(named.1, |(named, _)| named);
    let (named, more) = named.split_once(" and ").map_or((named, ""), |(named, more)| (named, more));
    let is_lost = || case.app(name).is_some_and(|app| app.errors().next().is_some());
    named.split(", ").any(|one| one == name.name) || (!more.is_empty() && is_lost())
}

/// A finding about an ApplicationSet, with what its condition says.
pub(super) fn finding(case: &Case<'_>, code: Code, set: &Object, cause: String, kind: &str) -> Finding {
    let home = case.servers().next().unwrap_or_default();
    let said = condition(set, kind).and_then(|one| one.str_at(&["message"])).unwrap_or_default();
    let path = FieldPath::fields(["status", "conditions"]).field(kind);
    Finding::new(code, Node::object(home, set.key()), cause)
        .of(brought_by(case, set))
        .seen([Evidence::Field { object: set.key(), path, value: words::quote(said) }])
}

/// The application in whose files an ApplicationSet stands.
pub(super) fn brought_by(case: &Case<'_>, set: &Object) -> Option<AppName> {
    case.owner(case.servers().next().unwrap_or_default(), &set.key())
}

/// The ApplicationSet that makes an application.
pub(super) fn maker<'a>(case: &Case<'a>, name: &AppName) -> Option<&'a Object> {
    let home = case.servers().next().unwrap_or_default();
    let owners = &case.app(name)?.application().metadata.owner_references;
    let owner = owners.iter().find(|owner| owner.kind == "ApplicationSet")?;
    case.live(home, &ObjectKey::new(GROUP, "ApplicationSet", name.namespace.clone(), owner.name.clone()))
}

/// What is written down about an application in the steps of its ApplicationSet: its step, from 1, and its status.
pub(crate) fn step<'a>(set: &'a Object, name: &str) -> Option<(Option<usize>, &'a str)> {
    let all = set.value().items_at(&["status", "applicationStatus"]);
    let own = all.iter().find(|one| one.str_at(&["application"]) == Some(name))?;
    Some((number(own), own.str_at(&["status"]).unwrap_or_default()))
}

fn number(status: &Value) -> Option<usize> {
    status.str_at(&["step"])?.parse().ok().filter(|step| *step > 0)
}

/// Whether an application waits for its step: whoever looks for somebody who should sync it looks in vain.
pub(crate) fn waits_for_step(case: &Case<'_>, name: &AppName) -> bool {
    maker(case, name).and_then(|set| step(set, &name.name)).is_some_and(|(_, status)| status == "Waiting")
}

/// The applications of the first step that is not done, where another one waits for it.
pub(crate) fn awaited(case: &Case<'_>, name: &AppName) -> Vec<AppName> {
    let Some(set) = maker(case, name) else { return Vec::new() };
    let Some((Some(own), "Waiting")) = step(set, &name.name) else { return Vec::new() };
    let all = set.value().items_at(&["status", "applicationStatus"]);
    let unfinished = || all.iter().filter(|one| one.str_at(&["status"]) != Some("Healthy"));
    let Some(open) = unfinished().filter_map(number).min() else { return Vec::new() };
    let is_awaited = |one: &&Value| {
        let is_changing = matches!(one.str_at(&["status"]), Some("Pending" | "Progressing"));
        number(one) == Some(open) && (open < own || is_changing)
    };
    let names = unfinished().filter(is_awaited).filter_map(|one| one.str_at(&["application"]));
    names.map(|one| AppName::new(name.namespace.clone(), one)).filter(|one| one != name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_by_its_words() {
        for (message, sort) in [
            (
                "spec.generators[0].scmProvider: the repositories of the organisation cannot be had: api.github.com answers 401 to /orgs/a/repos; check that the token is valid",
                Sort::Token,
            ),
            (
                "error listing repos: GET https://api.github.com/orgs/a/repos: 401 Bad credentials []",
                Sort::Token,
            ),
            ("GET https://api.github.com/orgs/a/repos: 403 API rate limit exceeded", Sort::Other),
            ("git.example.com lets us ask no more until 2026-01-01T00:00:00Z", Sort::Other),
            (
                "spec.generators[0].list, element 1: there is already an Application named a, from spec.generators[0].list, element 0",
                Sort::Claimed,
            ),
            ("ApplicationSet shops contains applications with duplicate name: a", Sort::Claimed),
            (
                "spec.generators[0].list, element 0: the Application a belongs to ApplicationSet b",
                Sort::Claimed,
            ),
            ("application references project shop which does not exist", Sort::Nowhere),
            (
                "application destination spec is invalid: there is no cluster with the name east",
                Sort::Nowhere,
            ),
            ("map has no entry for key \"port4010\"", Sort::Other),
        ] {
            assert_eq!(sort_of(message), sort, "{message}");
        }
    }
}
