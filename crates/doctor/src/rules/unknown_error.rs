//! An error that nobody recognises.

use std::collections::BTreeMap;

use crate::case::{Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::limits;
use crate::node::{AppName, Node};
use crate::rules::Rule;
use crate::rules::backend::evidence;
use crate::words;

pub(super) const RULE: Rule = Rule {
    code: "LYN1902",
    title: "An application says an error",
    explanation: "\
The application's status has an error that no rule recognises. It is repeated here as it is, so that it is not overlooked.

## Why
What went wrong has no rule of its own.

## Example
```
SyncError: Failed last sync attempt to [6c805de]: something that nobody has seen before
```

## What to do
Read what it says. If it is something that others will meet too, it is worth a rule.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    let mut said: BTreeMap<&AppName, Vec<&Said<'_>>> = BTreeMap::new();
    for one in case.said().iter().filter(|said| matches!(said.voice, Voice::Application | Voice::Sync)) {
        if let Some(app) = &one.app {
            said.entry(app).or_default().push(one);
        }
    }
    for (app, said) in said {
        findings.add(found(app, &said));
    }
}

fn found(app: &AppName, said: &[&Said<'_>]) -> Finding {
    let told = said.iter().map(|one| match one.voice {
        Voice::Sync => {
            format!("{} {} could not be applied: {}", one.about.kind, one.about.name, words::quote(one.text))
        }
        _ => words::quote(one.text),
    });
    let cause = format!("{app} says: {}", told.take(limits::NAMED).collect::<Vec<_>>().join("; "));
    Finding::new(RULE.code, Node::Application(app.clone()), cause)
        .of(Some(app.clone()))
        .seen(evidence(said.iter().copied()))
        .weak()
}

#[cfg(test)]
mod tests {
    use crate::tests::{check, roots};

    const ERROR: &str = "@app a Unknown Healthy\n@condition UnknownError the moon is in the wrong house\n";

    #[test]
    fn an_error_that_nobody_knows_is_repeated() {
        assert_eq!(
            check("LYN1902", ERROR),
            "P1 LYN1902/a/Application/a: a says: the moon is in the wrong house\n  status of a: UnknownError: the moon is in the wrong house\n"
        );
        assert_eq!(roots(ERROR), "P1 LYN1902/a/Application/a explains a\n");
    }

    #[test]
    fn an_application_that_is_fine_says_nothing() {
        assert_eq!(check("LYN1902", "@app a Synced Healthy\n"), "");
    }

    #[test]
    fn a_sync_that_failed_with_an_older_commit_is_overtaken_by_what_is_as_git_has_it() {
        let failed = |revision: &str| {
            format!(
                "@app a Synced Healthy\n@status {{sync: {{status: Synced, revision: b}}, operationState: {{phase: Failed, message: \
                 the moon, operation: {{}}, startedAt: null, syncResult: {{revision: {revision}, resources: []}}}}}}\n"
            )
        };
        assert_eq!(check("LYN1902", &failed("a")), "");
        assert_ne!(roots(&failed("b")), "");
    }

    #[test]
    fn an_error_that_is_known_counts_before_it() {
        let text =
            "@app a Unknown Healthy\n@condition ComparisonError unable to resolve 'x' to a commit SHA\n";
        assert_eq!(roots(text), "P1 LYN1001/a/Application/a explains a\n");
    }
}
