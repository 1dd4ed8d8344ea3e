//! What the scripts of Jobs ask the API server for, by their own words.
//!
//! A script that waits in a loop until `oc get` succeeds says nothing anywhere but in its log, which is not in a snapshot. What it
//! asks for stands in its arguments, and what it may do in the Roles.

use lynceus_object::{FieldPath, Object, ObjectKey, Value};

use crate::case::{Case, Pods};
use crate::finding::Evidence;
use crate::rules::forbidden::Forbidden;
use crate::rules::rights;
use crate::words;

/// What Jobs that have not ended well ask for and may not do.
pub(super) fn lacking(case: &Case<'_>, server: &str) -> Vec<(Forbidden, ObjectKey, Evidence)> {
    let mut found = Vec::new();
    if !rights::are_known(case, server) {
        return found;
    }
    for job in case.of_kind(server, "batch", "Job").iter().filter(|job| case.is_unwell(job)) {
        let Some(pods) = Pods::of(job) else { continue };
        let account = ObjectKey::new("", "ServiceAccount", job.namespace(), pods.service_account());
        for (path, container) in pods.containers() {
            for right in asked(case, server, &account, container) {
                if !rights::allows(case, server, &account, &right) {
                    found.push((right, case.top(server, job).key(), seen(job, &path, container)));
                }
            }
        }
    }
    found
}

fn seen(job: &Object, path: &FieldPath, container: &Value) -> Evidence {
    let field = if container.items_at(&["args"]).is_empty() { "command" } else { "args" };
    let value = container.at(&[field]).map(words::shown).unwrap_or_default();
    Evidence::Field { object: job.key(), path: path.field(field), value }
}

/// What a container's words ask for: `kubectl get KIND NAME` and its like, of kinds that the cluster serves.
fn asked(case: &Case<'_>, server: &str, account: &ObjectKey, container: &Value) -> Vec<Forbidden> {
    let texts = ["command", "args"].into_iter().flat_map(|field| container.items_at(&[field]));
    let text = texts.filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
    // Each command stands for itself.
    let is_end = |sign: char| matches!(sign, ';' | '\n' | '(' | ')' | '`' | '|' | '&' | '{' | '}');
    let mut found = Vec::new();
    for command in text.split(is_end) {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
        let program = words.iter().position(|word| matches!(word.rsplit('/').next(), Some("kubectl" | "oc")));
        if let Some(place) = program {
            found.extend(right(case, server, account, &words[place + 1..]));
        }
    }
    found
}

fn right(case: &Case<'_>, server: &str, account: &ObjectKey, words: &[&str]) -> Option<Forbidden> {
    let flag = words.iter().position(|word| matches!(*word, "-n" | "--namespace"));
    let namespace = flag.and_then(|place| words.get(place + 1)).copied().unwrap_or(&account.namespace);
    let is_plain = |(place, word): &(usize, &&str)| {
        !word.starts_with(['-', '>', '<', '2']) && flag.is_none_or(|flag| *place != flag + 1)
    };
    let mut plain = words.iter().enumerate().filter(is_plain).map(|(_, word)| *word);
    let (verb, kind) = (plain.next()?, plain.next()?);
    let (kind, name) =
        kind.split_once('/').map_or_else(|| (kind, plain.next()), |(kind, name)| (kind, Some(name)));
    let verb = match (verb, name) {
        ("get" | "wait", Some(_)) => "get",
        ("get", None) => "list",
        ("delete", Some(_)) => "delete",
        ("patch" | "annotate" | "label" | "scale", Some(_)) => "patch",
        _ => return None,
    };
    // A variable is not a name.
    if kind.contains('$') || namespace.contains('$') || words.contains(&"-A") {
        return None;
    }
    let (group, resource) = rights::resource(case, server, kind)?;
    Some(Forbidden {
        user: format!("system:serviceaccount:{}:{}", account.namespace, account.name),
        verb: verb.to_owned(),
        resource,
        group,
        namespace: Some(namespace.to_owned()),
    })
}
