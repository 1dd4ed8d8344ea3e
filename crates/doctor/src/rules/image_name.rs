//! Image names that are none.

use super::pull::{self, Pull, Why};
use crate::case::Case;
use crate::finding::{Finding, Findings};
use crate::fix::{Fix, Risk};
use crate::node::Node;
use crate::rules::Rule;

pub(super) const RULE: Rule = Rule {
    code: "LYN0506",
    title: "The image has a name that is none",
    explanation: "\
No registry is even asked: what stands under `image` cannot be the name of an image.

## Why
Values were put together and one was empty (`:v1`), a capital letter, a blank, or `https://` before the name.

## Example
```
image: ghcr.io/Shop/Web:1     Failed to apply default image tag: invalid reference format: repository name must be lowercase
```

## What to do
Put the name right where it is put together.
",
    check,
};

fn check(case: &Case<'_>, findings: &mut Findings) {
    for (image, pulls) in pull::lost(case, Why::Name) {
        // An empty tag is an empty value, which has a rule of its own.
        if !pull::lacks_tag(&image) {
            findings.add(found(case, &image, &pulls));
        }
    }
}

fn found(case: &Case<'_>, image: &str, pulls: &[Pull<'_>]) -> Finding {
    let covered = pull::covered(case, image, pulls);
    let why = covered.as_ref().map(|(_, covered, _)| format!("; {}", covered.takes())).unwrap_or_default();
    let cause = format!("{image:?} cannot be the name of an image; {} cannot start{why}", pull::users(pulls));
    let back = covered
        .as_ref()
        .map(|(app, covered, key)| covered.fix(app, key).risk(Risk::Low, "pods that do not start now"));
    let better = better(image).and_then(|name| {
        let fix = pull::take(case, pulls, &name, format!("Write {name}"))?;
        Some(fix.why("it is the same name as registries write it"))
    });
    let title = "Put the name right where it is put together";
    Finding::new(RULE.code, Node::Image(image.into()), cause)
        .of(pull::app(case, pulls))
        .seen(pull::evidence(pulls))
        .seen(covered.iter().flat_map(|(app, covered, _)| covered.evidence(app)))
        .about(if covered.is_none() { pull::fields(case, pulls) } else { Vec::new() })
        .affects(pull::affected(pulls))
        .fix(back)
        .fix(better)
        .fix([Fix::new(title).person("look at the values that the name is put together from")])
}

/// The same name without what no name has.
fn better(image: &str) -> Option<String> {
    let bare = image.trim().trim_start_matches("https://").trim_start_matches("http://");
    let (repository, tag) = pull::split(bare);
    let tag = bare[repository.len()..]
        .len()
        .checked_sub(1)
        .filter(|_| !tag.is_empty())
        .map(|_| &bare[repository.len()..]);
    let name = format!("{}{}", repository.to_lowercase(), tag.unwrap_or_default());
    let is_name = !repository.is_empty() && !name.contains(char::is_whitespace) && !name.starts_with(':');
    (is_name && name != image && !name.ends_with(['/', ':'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::tests::check;

    const WRONG: &str = "
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: prod}
spec: {containers: [{name: web, image: 'shop/Web:1'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: web, state: {waiting: {reason: InvalidImageName, message: 'Failed to apply default image tag \"shop/Web:1\": invalid reference format'}}}
";

    #[test]
    fn a_name_that_is_none_is_found() {
        assert_eq!(
            check("LYN0506", WRONG),
            "P1 LYN0506/-/Image/shop/Web:1: \"shop/Web:1\" cannot be the name of an image; Pod web cannot start\n  Pod \
             prod/web: status.containerStatuses: InvalidImageName: Failed to apply default image tag \"shop/Web:1\": invalid \
             reference format\n  fix: Put the name right where it is put together\n"
        );
    }

    #[test]
    fn an_empty_value_that_covers_a_good_one_is_named() {
        let wanted = "@app web Synced Degraded\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: prod}\nspec: \
                      {containers: [{name: web, image: 'shop/Web:1'}]}\n@covers live.yaml:2 image.repository \"\" values.yaml \
                      Pod web spec.containers[0].image shop/web:1\n@live\n";
        let text = WRONG.replacen("@live\n", wanted, 1);
        let found = check("LYN0506", &text);
        assert!(
            found.contains(
                "cannot start; `image.repository: \"\"` in live.yaml covers what values.yaml has\n"
            ),
            "{found}"
        );
        assert!(found.contains("  fix: Take `image.repository: \"\"` out of live.yaml\n"), "{found}");
        let other = check("LYN0506", &text.replace("containers[0].image shop", "containers[0].image :shop"));
        assert!(!other.contains("live.yaml"), "a name that is none either does not help: {other}");
    }

    #[test]
    fn a_good_name_of_an_image_that_is_not_there_is_another_matter() {
        let text = WRONG.replace("InvalidImageName", "ErrImagePull").replace(
            "Failed to apply default image tag \"shop/Web:1\": invalid reference format",
            "manifest unknown",
        );
        assert_eq!(check("LYN0506", &text), "");
    }

    #[test]
    fn names_are_put_right_where_that_is_certain() {
        assert_eq!(super::better("https://ghcr.io/Shop/web:V1").as_deref(), Some("ghcr.io/shop/web:V1"));
        assert_eq!(super::better(":v1"), None);
    }
}
