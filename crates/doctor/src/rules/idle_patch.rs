//! A patch of a kustomization for something that is not there.

use crate::case::{App, Case, Said};
use crate::finding::{Evidence, Finding, Findings, Severity};
use crate::fix::{Fix, Place, Risk};
use crate::rules::Rule;
use crate::rules::near::likely;
use crate::rules::source_error::{Step, told};
use crate::snapshot::IdlePatch;

pub(super) const RULE: Rule = Rule {
    code: "LYN1009",
    title: "A patch is for something that is not there",
    explanation: "\
A kustomization patches an object that its resources do not have. A patch that names the object itself makes Kustomize fail, and nothing
is delivered any more. A patch with a target is left out without a word: everything is delivered, without what the patch says.

## Why
The object was renamed or removed in the base, and the patch of the overlay still has the old name; or the name is misspelt.

## Example
```
patches:
- path: replicas.yaml
  target: {kind: Deployment, name: wbe}        the base has Deployment web
```

## What to do
Name what is there, or take the patch out. Patches that several overlays share and that only some of them need belong into a component
that only those take in.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for app in case.apps() {
        let mut known = Vec::new();
        for patch in &app.delivery.idle_patches {
            let near = likely(&patch.name, patch.names.iter().map(|name| name.as_str()));
            // What several share need not be for each of them, unless it is called almost as something is.
            if (near.is_some() || !patch.is_shared) && !known.contains(&&patch.name) {
                known.push(&patch.name);
                findings.add(found(case, app, patch, near));
            }
        }
    }
    for (app, said) in told(case, Step::Rendering) {
        if let Some((kind, name)) = unmatched(said.text)
            && !app.delivery.idle_patches.iter().any(|patch| patch.fails)
        {
            findings.add(only_said(app, said, kind, name));
        }
    }
}

/// Kind and name of what a patch names itself and Kustomize does not find, by its words: `no matches for Id Deployment.v1.apps/web.[noNs]`.
pub(super) fn unmatched(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once("no matches for Id ")?;
    let id = rest.split([';', ' ', '"']).next()?;
    let (gvk, name) = id.split_once('/')?;
    let (name, _) = name.rsplit_once('.')?;
    Some((gvk.split('.').next()?, name))
}

fn found(case: &Case<'_>, app: &App<'_>, patch: &IdlePatch, near: Option<&str>) -> Finding {
    let what = format!("{} {}", patch.kind, patch.name);
    let hint = near.map(|near| format!("; there is {}", format!("{} {near}", patch.kind).trim()));
    let outcome = match patch.fails {
        true => "so that nothing is rendered",
        false => "so that Kustomize leaves it out without a word",
    };
    let cause = format!(
        "a patch of {} is for {}, which is not there, {outcome}{}",
        app.name,
        what.trim(),
        hint.unwrap_or_default()
    );
    let place = match &patch.field {
        Some(field) => Evidence::seen(format!("application {}: {field}: {}", app.name, what.trim())),
        None => Evidence::File {
            application: app.name.clone(),
            span: patch.span.clone(),
            text: format!("the patch is for {}", what.trim()),
        },
    };
    let health = &app.application().status.health.status;
    let is_unwell = app.is_out_of_sync() || *health != lynceus_api::HealthStatusCode::Healthy;
    let severity = match (patch.fails, is_unwell) {
        (true, _) => Severity::P1,
        (false, true) => Severity::P2,
        (false, false) => Severity::P3,
    };
    let said = told(case, Step::Rendering)
        .into_iter()
        .find(|(one, said)| patch.fails && one.name == app.name && unmatched(said.text).is_some());
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .severity(severity)
        .seen([place])
        .seen(said.map(|(_, said)| said.evidence.clone()))
        .fix(near.map(|near| aim(app, patch, near)))
        .fix([by_hand(app, patch)])
}

/// Has the patch be for what is there.
fn aim(app: &App<'_>, patch: &IdlePatch, near: &str) -> Fix {
    let place = match &patch.field {
        Some(field) => Place::Application { path: field.field("name"), value: Some(near.into()) },
        None => Place::Aim {
            repository: patch.repository.clone(),
            file: patch.file().clone(),
            kind: patch.kind.clone(),
            from: patch.name.clone(),
            to: near.into(),
        },
    };
    Fix::new(format!("Have the patch be for {}", format!("{} {near}", patch.kind).trim()))
        .git(&app.name, place)
        .risk(Risk::Medium, "what the patch says holds from then on")
        .why("it is there, and is called almost so")
        .verify(format!("lynceus app diff {}", app.name))
}

fn by_hand(app: &App<'_>, patch: &IdlePatch) -> Fix {
    let place = match (&patch.field, patch.span.line) {
        (Some(field), _) => format!("{field} of the Application"),
        (None, 0) => patch.file().to_string(),
        (None, line) => format!("{}:{line}", patch.file()),
    };
    Fix::new("Take the patch out, or name what it is for")
        .person(format!(
            "At {place}, take the patch out if {} was removed on purpose, or name what is called otherwise now.",
            patch.name
        ))
        .risk(Risk::Low, app.name.to_string())
        .why("whether the object or the patch is meant is not known here")
        .verify(format!("lynceus app diff {}", app.name))
}

/// What only an error tells of.
fn only_said(app: &App<'_>, said: &Said<'_>, kind: &str, name: &str) -> Finding {
    let cause = format!(
        "a patch of {} is for {kind} {name}, which is not there, so that nothing is rendered",
        app.name
    );
    let fix = Fix::new("Take the patch out, or name what it is for")
        .person(format!("Look for the patch of {kind} {name} in the kustomizations of {}.", app.name))
        .risk(Risk::Low, app.name.to_string())
        .verify(format!("lynceus app diff {}", app.name));
    Finding::new(RULE.code, app.node(), cause)
        .of(Some(app.name.clone()))
        .seen([said.evidence.clone()])
        .fix([fix])
}

#[cfg(test)]
mod tests {
    use lynceus_files::{FilePath, Span};

    use crate::snapshot::IdlePatch;
    use crate::tests::{check, check_snapshot, snapshot};

    const FINE: &str = "
@app shop Synced Healthy
";

    fn idle(names: &[&str], is_shared: bool) -> String {
        let mut snapshot = snapshot(FINE);
        snapshot.applications[0].idle_patches.push(IdlePatch {
            repository: "https://git.example.com/all.git".into(),
            span: Span { file: FilePath::new("shop/kustomization.yaml").unwrap(), line: 6, column: 0 },
            field: None,
            kind: "Deployment".into(),
            name: "wbe-front".into(),
            names: names.iter().map(|name| (*name).into()).collect(),
            is_shared,
            fails: false,
        });
        check_snapshot("LYN1009", &snapshot)
    }

    #[test]
    fn a_patch_that_is_left_out_is_told_with_its_place_and_what_is_meant() {
        assert_eq!(
            idle(&["api", "web-front"], false),
            "P3 LYN1009/shop/Application/shop: a patch of shop is for Deployment wbe-front, which is not there, so that \
             Kustomize leaves it out without a word; there is Deployment web-front\n  shop/kustomization.yaml:6: the patch is \
             for Deployment wbe-front\n  fix: Have the patch be for Deployment web-front\n  fix: Take the patch out, or name \
             what it is for\n"
        );
    }

    #[test]
    fn a_patch_of_a_component_is_told_only_if_something_is_called_almost_so() {
        assert!(idle(&["web-front"], true).contains("there is Deployment web-front"));
        assert_eq!(idle(&["api"], true), "");
    }

    #[test]
    fn an_error_alone_is_told_with_what_the_patch_is_for() {
        let text = "
@app shop Unknown Healthy
@condition ComparisonError Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: kustomize build shop failed: no resource matches strategic merge patch \"Deployment.v1.apps/web.[noNs]\": no matches for Id Deployment.v1.apps/web.[noNs]; failed to find unique target for patch Deployment.v1.apps/web.[noNs]
";
        assert!(
            check("LYN1009", text)
                .contains("for Deployment web, which is not there, so that nothing is rendered")
        );
        assert_eq!(check("LYN1006", text), "");
        let several = text.replace("no matches", "multiple matches");
        assert_eq!(check("LYN1009", &several), "", "there it is the name that several have");
    }
}
