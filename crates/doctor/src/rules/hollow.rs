//! Values that are empty, and what is printed with them: a text that is no YAML, or an image without a tag.

use std::collections::BTreeSet;

use lynceus_api::{ApplicationConditionType, GROUP, Word as _};
use lynceus_files::Span;
use lynceus_object::{FieldPath, ObjectKey};

use super::empty_value;
use super::pull::{self, Pull, Why};
use crate::case::{App, Case};
use crate::finding::{Evidence, Finding, Findings};
use crate::fix::{Fix, Place, Risk};
use crate::node::Node;
use crate::snapshot::Hollow;
use crate::words;

const CODE: &str = "LYN1007";

/// Looks for applications that cannot be rendered, and pods that cannot start, because of an empty value.
pub(super) fn find(case: &Case<'_>, findings: &mut Findings) {
    case.apps().filter(|app| !app.delivery.hollow.is_empty()).for_each(|app| findings.add(unprintable(app)));
    for (image, pulls) in pull::lost(case, Why::Name) {
        if pull::lacks_tag(&image) {
            findings.add(untagged(case, &image, &pulls));
        }
    }
}

/// An application that cannot be rendered because what a template prints is no YAML without a value: `image: repo:`.
fn unprintable(app: &App<'_>) -> Finding {
    let all: Vec<Empty<'_, '_>> = app.delivery.hollow.iter().map(|hollow| Empty { app, hollow }).collect();
    let cause = format!("{} cannot be rendered: {}", app.name, told(&all));
    let said = app.errors().find(|(kind, _)| *kind == ApplicationConditionType::ComparisonError);
    Finding::new(CODE, app.node(), cause)
        .of(Some(app.name.clone()))
        .alike(slip(&all))
        .seen(said.map(|(kind, text)| app.status(format!("{}: {text}", kind.as_str()))))
        .seen(all.iter().flat_map(Empty::seen))
        .fix(all.iter().filter_map(Empty::back))
        .fix(set(&all))
}

/// An image whose tag is empty. In quotes such a text is YAML: everything is rendered, and no pod can start.
fn untagged(case: &Case<'_>, image: &str, pulls: &[Pull<'_>]) -> Finding {
    let owners: BTreeSet<_> =
        pulls.iter().filter_map(|one| case.owner(one.server, &one.owner.key())).collect();
    let apps = case.apps().filter(|app| owners.contains(&app.name));
    let all: Vec<Empty<'_, '_>> = apps
        .flat_map(|app| app.delivery.untagged.iter().map(move |(name, hollow)| (name, Empty { app, hollow })))
        .filter_map(|(name, empty)| (name.as_str() == image).then_some(empty))
        .collect();
    let covered = pull::covered(case, image, pulls).filter(|_| all.is_empty());
    let why = match all.is_empty() {
        true => covered.as_ref().map(|(_, covered, _)| format!("; {}", covered.takes())).unwrap_or_default(),
        false => format!(": {}", told(&all)),
    };
    let cause = format!("the tag of image {image:?} is empty, and {} cannot start{why}", pull::users(pulls));
    let is_known = covered.is_some() || !all.is_empty();
    Finding::new(CODE, Node::Image(image.into()), cause)
        .of(pull::app(case, pulls))
        .alike(slip(&all))
        .seen(pull::evidence(pulls))
        .seen(all.iter().flat_map(Empty::seen))
        .seen(covered.iter().flat_map(|(app, covered, _)| covered.evidence(app)))
        .about(if is_known { Vec::new() } else { pull::fields(case, pulls) })
        .affects(pull::affected(pulls))
        .fix(all.iter().filter_map(Empty::back))
        .fix(
            covered.map(|(app, covered, key)| {
                covered.fix(&app, &key).risk(Risk::Low, "pods that do not start now")
            }),
        )
        .fix(if all.is_empty() { Some(tag(case, image, pulls)) } else { set(&all) })
}

/// Gives an image a tag of which nobody knows where it comes from.
fn tag(case: &Case<'_>, image: &str, pulls: &[Pull<'_>]) -> Fix {
    let app = pulls.iter().find_map(|one| case.app_of(one.server, &one.owner.key()));
    let what = match app.is_none_or(empty_value::is_chart) {
        true => format!("Set the value that the tag of {image} comes from."),
        false => format!("Write a tag behind {image}, or take the colon away."),
    };
    Fix::new(format!("Give {image} a tag"))
        .person(what)
        .risk(Risk::Low, pull::users(pulls))
        .why("what it should be cannot be told from here")
}

/// A value of an application that is empty.
struct Empty<'c, 'a> {
    app: &'c App<'a>,
    hollow: &'c Hollow,
}

impl Empty<'_, '_> {
    /// `templates/web.yaml prints image.tag, which is given nowhere`
    fn told(&self) -> String {
        let Hollow { key, template, written, covered } = self.hollow;
        let of = match (written, covered) {
            (Some((_, span)), Some(covered)) => {
                format!("which is empty in {} and covers what {covered} has", span.file)
            }
            (Some((_, span)), None) => format!("which is empty in {}", span.file),
            (None, _) => "which is given nowhere".to_owned(),
        };
        format!("{} prints {key}, {of}", template.file)
    }

    fn seen(&self) -> Vec<Evidence> {
        let Hollow { key, template, written, .. } = self.hollow;
        let file = |span: &Span, text: String| Evidence::File {
            application: self.app.name.clone(),
            span: span.clone(),
            text,
        };
        let written = written.iter().map(|(_, span)| file(span, format!("{key} is empty")));
        [file(template, format!("{key} is printed here"))].into_iter().chain(written).collect()
    }

    /// Takes it out, where it covers something.
    fn back(&self) -> Option<Fix> {
        let name = &self.app.name;
        let ((repository, span), covered) = (self.hollow.written.as_ref()?, self.hollow.covered.as_ref()?);
        let (file, key) = (span.file.clone(), self.hollow.key.clone());
        let fix = Fix::new(format!("Take the empty {key} out of {file}"));
        let own = ObjectKey::new(GROUP, "Application", name.namespace.clone(), name.name.clone());
        let (repository, object, path) = (repository.clone(), own, FieldPath::root());
        Some(
            fix.git(name, Place::Override { repository, file, key, object, path })
                .risk(Risk::Low, name.to_string())
                .why(format!("what {covered} has holds again"))
                .verify(format!("lynceus app diff {name}")),
        )
    }
}

fn told(all: &[Empty<'_, '_>]) -> String {
    let all: BTreeSet<String> = all.iter().map(Empty::told).collect();
    words::list(all)
}

/// What several have in common that lack the same values.
fn slip(all: &[Empty<'_, '_>]) -> Option<String> {
    let slips: Option<Vec<String>> = all
        .iter()
        .map(|one| {
            let (repository, span) = one.hollow.written.as_ref()?;
            Some(format!("{repository} {} {}", span.file, one.hollow.key))
        })
        .collect();
    slips.filter(|slips| !slips.is_empty()).map(|slips| slips.join(" "))
}

/// Gives empty values something.
fn set(all: &[Empty<'_, '_>]) -> Option<Fix> {
    let name = &all.first()?.app.name;
    let keys: BTreeSet<String> = all.iter().map(|one| one.hollow.key.to_string()).collect();
    let keys = words::list(keys);
    let files = all.iter().filter_map(|one| one.hollow.written.as_ref()).map(|(_, span)| span.to_string());
    let files: BTreeSet<String> = files.collect();
    let place = if files.is_empty() { format!("the values of {name}") } else { words::list(&files) };
    Some(
        Fix::new(format!("Set {keys}"))
            .person(format!("Give {keys} a value in {place}."))
            .risk(Risk::Low, name.to_string())
            .why("what it should be cannot be told from here")
            .verify(format!("lynceus app diff {name}")),
    )
}

#[cfg(test)]
mod tests {
    use lynceus_files::{FilePath, Span};
    use lynceus_object::FieldPath;

    use crate::snapshot::Hollow;
    use crate::tests::{check, check_snapshot, snapshot};

    fn tag(written: Option<&str>, covered: Option<&str>) -> Hollow {
        let span = |file: &str, line| Span { file: FilePath::new(file).unwrap(), line, column: 0 };
        Hollow {
            key: FieldPath::fields(["image", "tag"]),
            template: span("shop/templates/web.yaml", 13),
            written: written.map(|file| ("https://git.example.com/all.git".into(), span(file, 2))),
            covered: covered.map(str::to_owned),
        }
    }

    #[test]
    fn a_value_without_which_the_chart_prints_no_yaml_is_told_with_its_place_and_not_as_an_error_of_yaml() {
        let text = "@app shop Unknown Healthy\n@unrendered\n@condition ComparisonError cannot render shop of \
                    https://git.example.com/all.git: Helm cannot render shop: YAML parse error on shop/templates/web.yaml: error \
                    converting YAML to JSON: yaml: line 13: mapping values are not allowed in this context\n";
        let found = |written: Option<&str>, covered: Option<&str>| {
            let mut snapshot = snapshot(text);
            snapshot.applications[0].hollow.push(tag(written, covered));
            assert_eq!(check_snapshot("LYN1006", &snapshot), "");
            check_snapshot("LYN1007", &snapshot)
        };
        let told = found(Some("shop/live.yaml"), Some("shop/values.yaml"));
        assert!(
            told.starts_with(
                "P1 LYN1007/shop/Application/shop: shop cannot be rendered: shop/templates/web.yaml prints image.tag, which is empty \
                 in shop/live.yaml and covers what shop/values.yaml has\n"
            ),
            "{told}"
        );
        assert!(
            told.ends_with(
                "  shop/templates/web.yaml:13: image.tag is printed here\n  shop/live.yaml:2: image.tag is empty\n  fix: Take the \
                 empty image.tag out of shop/live.yaml\n  fix: Set image.tag\n"
            ),
            "{told}"
        );
        assert!(found(None, None).contains("prints image.tag, which is given nowhere\n"));
        assert_eq!(check("LYN1007", text), "", "nobody knows of an empty value");
        assert!(check("LYN1006", text).contains("LYN1006/shop/Application/shop"));
    }

    const QUOTED: &str = "
@app shop Synced Degraded
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: 'acme/web:'}]}
@live
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: web, image: 'acme/web:'}]}
status:
  phase: Pending
  containerStatuses:
  - {name: web, state: {waiting: {reason: InvalidImageName, message: 'couldn''t parse image name: invalid reference format'}}}
";

    #[test]
    fn an_image_whose_tag_is_empty_is_told_with_the_value_and_not_as_a_name_that_is_none() {
        let mut snapshot = snapshot(QUOTED);
        let tag = tag(Some("shop/live.yaml"), Some("shop/values.yaml"));
        snapshot.applications[0].untagged.push(("acme/web:".into(), tag));
        assert_eq!(
            check_snapshot("LYN1007", &snapshot),
            "P1 LYN1007/shop/Image/acme/web:: the tag of image \"acme/web:\" is empty, and Pod web cannot start: \
             shop/templates/web.yaml prints image.tag, which is empty in shop/live.yaml and covers what shop/values.yaml has\n  Pod \
             shop/web: status.containerStatuses: InvalidImageName: couldn't parse image name: invalid reference format\n  \
             shop/templates/web.yaml:13: image.tag is printed here\n  shop/live.yaml:2: image.tag is empty\n  fix: Take the empty \
             image.tag out of shop/live.yaml\n  fix: Set image.tag\n"
        );
        assert_eq!(check_snapshot("LYN0506", &snapshot), "");
    }

    #[test]
    fn an_empty_tag_that_no_value_is_known_for_is_told_all_the_same() {
        let found = check("LYN1007", QUOTED);
        assert!(
            found.contains("the tag of image \"acme/web:\" is empty, and Pod web cannot start\n"),
            "{found}"
        );
        assert!(found.ends_with("  fix: Give acme/web: a tag\n"), "{found}");
        assert_eq!(check("LYN1007", &QUOTED.replace("acme/web:", ":v1")), "", "there is a tag, and no name");
        let covers = "@covers live.yaml:2 image.tag \"\" values.yaml Pod web spec.containers[0].image acme/web:v1\n@live\n";
        let covered = check("LYN1007", &QUOTED.replacen("@live\n", covers, 1));
        assert!(
            covered.contains("cannot start; `image.tag: \"\"` in live.yaml covers what values.yaml has\n"),
            "{covered}"
        );
        assert!(covered.contains("  fix: Take `image.tag: \"\"` out of live.yaml\n"), "{covered}");
    }
}
