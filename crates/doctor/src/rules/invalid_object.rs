//! An object that the API server refuses because of what stands in it.

mod remedy;
mod unfit;

use lynceus_object::{FieldPath, Object};

use crate::case::{Case, Said, Voice};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::AppName;
use crate::rules::Rule;
use crate::snapshot::{Override, Refused};
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN0808",
    title: "The API server refuses an object as invalid",
    explanation: "\
An object has a field that its kind does not have, or a value that the field may not have. It is not made, or stays as it was.

## Why
A manifest was written for another version of the kind, a value has the wrong type or form, or two fields exclude each other. A number
or `true` where a text belongs lacks its quotes. Annotations that are too long are mostly not those of the manifest: what was last applied
is kept in one, and a large ConfigMap or definition does not fit.

## Example
```
Service \"web\" is invalid: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive
```

## What to do
Correct the field where it comes from. A field that is unknown is misspelt, stands at the wrong place, or needs a newer version of
the kind. What does not fit into an annotation has to be applied by the server (`ServerSideApply=true`).
",
    check,
};

/// What a refusal says of a field.
pub(super) const SORTS: [&str; 8] = [
    ": Invalid value",
    ": Unsupported value",
    ": Required value",
    ": Duplicate value",
    ": Too long",
    ": Too many",
    ": Forbidden",
    ": Not found",
];
const UNKNOWN: [&str; 6] = [
    " cannot be handled as a ",
    "unknown field \"",
    "error validating data",
    "ValidationError(",
    "field not declared in schema",
    "cannot unmarshal ",
];
/// What cannot be changed is another trouble, and so is what is refused for other reasons.
const OTHERS: [&str; 7] = [
    "field is immutable",
    "is immutable after creation",
    "may not change once set",
    "for fields other than",
    "denied request",
    "denied the request",
    "failed calling webhook",
];

fn check(case: &Case<'_>, findings: &mut Findings) {
    for said in case.said().iter().filter(|said| said.voice == Voice::Sync && is_invalid(said.text)) {
        let wanted = case.wanted(said.server, &said.about).first().map(|(_, wanted)| &wanted.object);
        if !is_empty_value(said.text, wanted) {
            findings.add(found(case, said, wanted));
        }
    }
    for refused in &case.snapshot.refused {
        findings.add(turned_away(case, refused));
    }
}

/// What nobody applies for an application has no application that says it.
fn turned_away(case: &Case<'_>, refused: &Refused) -> Finding {
    let Refused { key, span, why } = refused;
    let what = format!("{} {}", key.kind, key.name);
    let why = why.split_once(" is invalid: ").map_or(why.as_str(), |(_, rest)| rest);
    let field = fields(why).first().map(|(field, _)| *field).or_else(|| unknown_field(why));
    let file = span.as_ref().map_or("its file".to_owned(), ToString::to_string);
    let step = match field {
        Some(field) => format!("Correct {field} of {what} in {file}."),
        None => format!("Correct {what} in {file} according to what is said of it."),
    };
    let fix = Fix::new(format!("Correct {} of {what}", field.unwrap_or("the field"))).person(step);
    let application = AppName::new(key.namespace.clone(), key.name.clone());
    let name = (key.kind == "Application").then(|| application.clone());
    let evidence = span.clone().map(|span| Evidence::File { application, span, text: what.clone() });
    let home = case.snapshot.clusters.first().map(|home| home.server.as_str()).unwrap_or_default();
    Finding::new(
        RULE.code,
        case.node(home, key),
        format!("the API server refuses {what}: {}", words::quote(why)),
    )
    .of(name)
    .seen(evidence)
    .fix(Some(fix.risk(Risk::Low, what)))
}

/// The field that a refusal says the kind does not have.
fn unknown_field(text: &str) -> Option<&str> {
    text.split_once("unknown field \"").and_then(|(_, rest)| rest.split('"').next())
}

/// Whether a refusal is about what stands in an object.
pub(super) fn is_invalid(text: &str) -> bool {
    let is_field = text.contains(" is invalid: ") && SORTS.iter().any(|sort| text.contains(sort));
    (is_field || UNKNOWN.iter().any(|word| text.contains(word)))
        && !OTHERS.iter().any(|word| text.contains(word))
}

/// Whether a required field is missing or empty in what is wanted, as far as that is known: then the values are at fault.
pub(super) fn is_empty_value(text: &str, wanted: Option<&Object>) -> bool {
    let Some(wanted) = wanted else { return fields(text).iter().any(|(_, sort)| *sort == REQUIRED) };
    !empty_fields(text, Some(wanted)).is_empty()
}

const REQUIRED: &str = ": Required value";

/// The required fields that are missing or empty in what is wanted. Of a number that was left out the server says that it is 0, and of
/// a text that it is too short.
pub(super) fn empty_fields<'t>(text: &'t str, wanted: Option<&Object>) -> Vec<&'t str> {
    let nothing: Vec<&str> = [": Invalid value: 0: ", ": Invalid value: \"\": "]
        .iter()
        .flat_map(|words| text.match_indices(words))
        .filter_map(|(at, _)| text[..at].rsplit([' ', '\n']).next())
        .map(|field| field.trim_start_matches('['))
        .filter(|field| wanted.is_some_and(|wanted| is_empty(wanted, field)))
        .collect();
    let required = fields(text).into_iter().filter(|(_, sort)| *sort == REQUIRED).map(|(field, _)| field);
    let required = required.filter(|field| wanted.is_none_or(|wanted| is_empty(wanted, field)));
    let all: Vec<&str> = required.chain(nothing).collect();
    all.iter().copied().filter(|field| !is_filled_in(field, &all)).collect()
}

/// Fields that the API server fills in from others beside them: they are empty because those are.
const FILLED_IN: [(&str, &str); 1] = [("targetPort", "port")];

fn is_filled_in(field: &str, empty: &[&str]) -> bool {
    FILLED_IN.iter().any(|(filled, from)| {
        let beside = field.strip_suffix(filled).filter(|rest| rest.ends_with('.'));
        beside.is_some_and(|rest| empty.contains(&format!("{rest}{from}").as_str()))
    })
}

fn is_empty(wanted: &Object, field: &str) -> bool {
    let Ok(path) = FieldPath::parse(field) else { return true };
    path.get(wanted.value()).is_none_or(lynceus_object::Value::is_empty)
}

/// The fields that a refusal names, with what is wrong with each.
pub(super) fn fields(text: &str) -> Vec<(&str, &'static str)> {
    let mut found = Vec::new();
    for sort in SORTS {
        for (at, _) in text.match_indices(sort) {
            let before = &text[..at];
            let field = before.rsplit([' ', '\n']).next().unwrap_or_default().trim_start_matches('[');
            if !field.is_empty() {
                found.push((field, sort));
            }
        }
    }
    found
}

fn found(case: &Case<'_>, said: &Said<'_>, wanted: Option<&Object>) -> Finding {
    let key = &said.about;
    let paths: Vec<(FieldPath, &str)> = fields(said.text)
        .into_iter()
        .filter_map(|(field, sort)| Some((FieldPath::parse(field).ok()?, sort)))
        .collect();
    // What lacks something has more of it without what covers it.
    let has_more = |other: &Object| {
        let mut lacking = paths.iter().filter(|(_, sort)| *sort == REQUIRED);
        lacking.any(|(path, _)| path.get(other.value()) != wanted.and_then(|wanted| path.get(wanted.value())))
    };
    let covered = case.override_of(said.server, key, has_more);
    let is_large = remedy::is_too_large(said.text, wanted);
    let why = match is_large {
        true => "; what was last applied does not fit into an annotation".to_owned(),
        false => Override::ending(covered.as_ref()),
    };
    let unquoted = wanted.map(|wanted| remedy::unquoted(said.text, wanted)).unwrap_or_default();
    // What does not fit the kind can be seen without the server, which does not always say where it is.
    let unfit =
        wanted.filter(|_| paths.is_empty() && unquoted.is_empty()).map(unfit::find).unwrap_or_default();
    let named = fields(said.text).first().map(|(field, _)| (*field).to_owned());
    let unknown = unknown_field(said.text).map(ToOwned::to_owned);
    let first = unfit.first().map(|one| one.path.to_string());
    let field = named.or(unknown).or(first).or_else(|| unquoted.first().map(ToString::to_string));
    let what = said.text.split_once(" is invalid: ").map_or(said.text, |(_, rest)| rest);
    let cause = format!("the API server refuses {} {}: {}", key.kind, key.name, words::quote(what)) + &why;
    let cause = unfit.iter().fold(cause, |cause, one| cause + &one.told());
    let step = match &field {
        Some(field) => format!("Correct {field} of {} {} where it comes from.", key.kind, key.name),
        None => format!("Correct {} {} according to what the server says.", key.kind, key.name),
    };
    let fix =
        Fix::new(format!("Correct {} of {} {}", field.as_deref().unwrap_or("the field"), key.kind, key.name))
            .person(step)
            .risk(Risk::Low, format!("{} {}", key.kind, key.name));
    Finding::new(RULE.code, said.node.clone(), cause)
        .of(said.app.clone())
        .seen([said.evidence.clone()])
        .seen(covered.iter().flat_map(|(app, covered)| covered.evidence(app)))
        .about(
            paths
                .iter()
                .map(|(path, _)| path)
                .filter(|_| covered.is_none() && !is_large)
                .chain(&unquoted)
                .chain(unfit.iter().map(|one| &one.path))
                .filter_map(|path| Some((said.app.clone()?, key.clone(), path.clone()))),
        )
        .fix(covered.map(|(app, covered)| {
            covered.fix(&app, key).risk(Risk::Low, format!("{} {}", key.kind, key.name))
        }))
        .fix(said.app.iter().filter_map(|app| unfit::rename(app, key, &unfit)))
        .fix(said.app.iter().filter_map(|app| remedy::quote(app, key, &unquoted)))
        .fix(
            said.app
                .iter()
                .filter(|_| is_large)
                .filter_map(|app| case.app(app))
                .flat_map(|app| remedy::by_server(app, key, wanted)),
        )
        .fix(Some(fix).filter(|_| !is_large))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::check;

    pub(super) fn refused(message: &str) -> String {
        format!(
            "@app shop OutOfSync Missing\n@status {{operationState: {{phase: Failed, operation: {{}}, startedAt: null, syncResult: \
             {{revision: a, resources: [{{group: '', version: v1, kind: Service, namespace: shop, name: web, status: SyncFailed, \
             message: '{message}'}}]}}}}}}\n"
        )
    }

    #[test]
    fn a_quantity_that_is_none_is_told_with_its_field() {
        let text = "
@app lite OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: apps, version: v1, kind: Deployment, namespace: lite, name: lite, status: SyncFailed, message: 'Deployment in version \"v1\" cannot be handled as a Deployment: quantities must match the regular expression'}]}}}
apiVersion: apps/v1
kind: Deployment
metadata: {name: lite, namespace: lite}
spec: {template: {spec: {containers: [{name: lite, image: lite, resources: {requests: {cpu: 2OOm}}}]}}}
";
        let found = check("LYN0808", text);
        assert!(
            found.contains("; spec.template.spec.containers[0].resources.requests.cpu is 2OOm\n"),
            "{found}"
        );
    }

    #[test]
    fn a_field_that_is_called_almost_so_is_named() {
        let text = "
@app d OutOfSync Missing
@status {operationState: {phase: Failed, operation: {}, startedAt: '2026-01-01T10:00:00Z', syncResult: {revision: a, resources: [{group: apps, version: v1, kind: Deployment, namespace: d, name: d, status: SyncFailed, message: 'strict decoding error: unknown field \"spec.replica\"'}]}}}
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: d}
spec: {replica: 3}
";
        let found = check("LYN0808", text);
        assert!(found.contains("; spec.replica is called replicas\n"), "{found}");
        assert!(found.contains("  fix: Call spec.replica replicas\n"), "{found}");
    }

    #[test]
    fn a_value_that_a_field_may_not_have_is_found() {
        let text = refused(
            "Service \"web\" is invalid: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535",
        );
        assert_eq!(
            check("LYN0808", &text),
            "P1 LYN0808/shop/Service/web: the API server refuses Service web: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535\n  status of shop: Service web: Service \"web\" is invalid: spec.ports[0].port: Invalid value: 0: must be between 1 and 65535\n  fix: Correct spec.ports[0].port of Service web\n"
        );
    }

    #[test]
    fn an_empty_value_below_what_is_required_is_named() {
        let text = refused("Service \"web\" is invalid: spec.ports[0]: Required value: a port is required")
            + "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{name: a}]}\n";
        let covers = "@covers live.yaml:4 port null values.yaml Service web spec.ports[0].port 80\n";
        let found = check("LYN0808", &format!("{text}{covers}"));
        assert!(found.contains("; `port: null` in live.yaml covers what values.yaml has\n"), "{found}");
        assert!(found.contains("\n  fix: Take `port: null` out of live.yaml\n"), "{found}");
        let other = format!("{text}{}", covers.replace("spec.ports[0].port", "spec.clusterIP"));
        assert!(!check("LYN0808", &other).contains("live.yaml"));
    }

    #[test]
    fn a_field_that_nobody_knows_is_found() {
        let text = refused(
            "Service in version \"v1\" cannot be handled: strict decoding error: unknown field \"spec.prots\"",
        );
        assert!(check("LYN0808", &text).ends_with("fix: Correct spec.prots of Service web\n"));
    }

    #[test]
    fn what_cannot_be_changed_is_another_trouble() {
        let text = refused(
            "Service \"web\" is invalid: spec.clusterIP: Invalid value: \"None\": field is immutable",
        );
        assert_eq!(check("LYN0808", &text), "");
    }

    #[test]
    fn a_required_field_that_is_empty_comes_from_the_values() {
        let text = refused("Service \"web\" is invalid: spec.ports: Required value");
        assert_eq!(check("LYN0808", &text), "");
        let short = refused(
            "Service \"web\" is invalid: spec.host: Invalid value: \"\": spec.host in body should be at least 1 chars long",
        );
        let wanted =
            "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {host: ''}\n";
        assert_eq!(check("LYN0808", &format!("{short}{wanted}")), "");
        assert!(check("LYN1007", &format!("{short}{wanted}")).contains("spec.host"));
        assert_eq!(fields("a is invalid: [spec.a: Required value, spec.b[0].c: Invalid value: 1]").len(), 2);
    }
}
