//! An error that nobody recognises.

use crate::case::{Case, Said, Voice};
use crate::finding::{Finding, Findings};
use crate::rules::Rule;
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
    for said in case.said().iter().filter(|said| matches!(said.voice, Voice::Application | Voice::Sync)) {
        findings.add(found(said));
    }
}

fn found(said: &Said<'_>) -> Finding {
    let whose = said.app.as_ref().map(|app| app.name.as_str()).unwrap_or_default();
    let cause = match said.voice {
        Voice::Sync => format!(
            "{} {} of {whose} could not be applied: {}",
            said.about.kind,
            said.about.name,
            words::quote(said.text)
        ),
        _ => format!("{whose} says: {}", words::quote(said.text)),
    };
    Finding::new(RULE.code, said.node.clone(), cause)
        .of(said.app.clone())
        .seen([said.evidence.clone()])
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
    fn an_error_that_is_known_counts_before_it() {
        let text =
            "@app a Unknown Healthy\n@condition ComparisonError unable to resolve 'x' to a commit SHA\n";
        assert_eq!(roots(text), "P1 LYN1001/a/Application/a explains a\n");
    }
}
