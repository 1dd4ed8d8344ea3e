//! Patches of kustomizations that are for something which is not there, and what has them be for something else.

use lynceus_api::Application;
use lynceus_doctor::surgery::{Change, Cut, operate};
use lynceus_doctor::{AppName, IdlePatch};
use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, Segment, Str, Value, yaml};
use lynceus_render::RenderError;

use super::desk::Desk;
use super::{Bench, MendError};
use crate::engine::Engine;
use crate::rendering::{RenderingError, Sourced};

/// The patches of an application's sources that are left out because what they are for is not there.
pub(crate) fn idle_patches(application: &Application, sourced: &[Sourced]) -> Vec<IdlePatch> {
    let mut all = Vec::new();
    for (number, one) in sourced.iter().enumerate() {
        all.extend(one.rendered.idle_patches.iter().map(|patch| {
            // What the Application itself says stands in one of its sources.
            let field = match patch.field.segments() {
                [Segment::Field(spec), Segment::Field(_), rest @ ..] if *spec == "spec" => {
                    let source = match application.spec.has_multiple_sources() {
                        true => FieldPath::fields(["spec", "sources"]).index(number),
                        false => FieldPath::fields(["spec", "source"]),
                    };
                    Some(source.segments().iter().chain(rest).cloned().collect())
                }
                _ => None,
            };
            IdlePatch {
                repository: one.source.repo_url.clone(),
                span: patch.span.clone(),
                field,
                kind: patch.kind.clone(),
                name: patch.name.clone(),
                names: patch.names.clone(),
                is_shared: patch.is_shared,
                fails: false,
            }
        }));
    }
    all
}

impl Engine {
    /// The patch because of which an application cannot be rendered, if it is one that names what is not there.
    pub(crate) async fn failing_patches(&self, name: &AppName) -> Vec<IdlePatch> {
        let Ok(bench) = self.bench(name).await else { return Vec::new() };
        match self.manifests(&bench, &[]).await {
            Err(MendError::Rendering { source, .. }) => failing(&bench, &source).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// Has a patch in a file be for another object.
    pub(super) async fn aim(
        &self,
        desk: &mut Desk,
        name: &AppName,
        (repository, file): (&Str, &FilePath),
        (kind, from, to): (&Str, &Str, &Str),
    ) -> Result<(), MendError> {
        let bench = self.bench(name).await?;
        let (trees, _) = self.trees(&bench).await;
        let own = bench.sources.iter().zip(&trees).filter(|(source, _)| source.repo_url == *repository);
        let tree = own.filter_map(|(_, tree)| tree.as_ref()).find(|tree| tree.entry(file).is_ok());
        let missing = || MendError::NoPatch { file: file.clone(), name: from.clone() };
        let tree = tree.ok_or_else(missing)?;
        desk.change(repository, &**tree, file, |text| {
            let cuts = aimed(file, text, (kind, from, to))?;
            if cuts.is_empty() { Err(missing()) } else { Ok(operate(file, text, &cuts)?) }
        })
    }
}

fn failing(bench: &Bench, error: &RenderingError) -> Option<IdlePatch> {
    let RenderingError::Render { path, source, .. } = error else { return None };
    let RenderError::Kustomize { source, .. } = &**source else { return None };
    let missing = source.missing.as_ref()?;
    let kustomization = source.kustomization.clone().map(|file| Span { file, line: 0, column: 0 });
    let span = source.span.clone().or(kustomization)?;
    let of_path = bench.sources.iter().find(|one| one.path == path.as_str());
    Some(IdlePatch {
        repository: of_path.or(bench.sources.first())?.repo_url.clone(),
        field: FieldPath::parse(&source.field).ok().filter(|_| source.field.starts_with("spec.")),
        span,
        kind: missing.kind.clone(),
        name: missing.name.clone(),
        names: missing.names.clone(),
        is_shared: false,
        fails: true,
    })
}

/// The changes by which all patches of a file that are for one object are for another.
fn aimed(file: &FilePath, text: &str, (kind, from, to): (&str, &str, &str)) -> Result<Vec<Cut>, MendError> {
    let mut cuts = Vec::new();
    let name = FieldPath::fields(["metadata", "name"]);
    let is_it = |value: &Value, way: &[&str]| {
        let own = value.str_at(&["kind"]);
        value.str_at(way) == Some(from) && (kind.is_empty() || own.is_none_or(|own| own == kind))
    };
    for (document, one) in yaml::documents(text.as_bytes(), &yaml::Options::default()).into_iter().enumerate()
    {
        let Ok(value) = one.result else { continue };
        let mut set =
            |path: FieldPath, to: &str| cuts.push(Cut { document, path, change: Change::Set(to.into()) });
        if is_it(&value, &["metadata", "name"]) {
            set(name.clone(), to);
        }
        for (at, patch) in value.items_at(&["patches"]).iter().enumerate() {
            let path = FieldPath::fields(["patches"]).index(at);
            if patch.get("target").is_some_and(|target| is_it(target, &["name"])) {
                set(path.field("target").field("name"), to);
            } else if let Some(inner) = patch.str_at(&["patch"]).filter(|_| patch.get("target").is_none())
                && yaml::parse(inner.as_bytes()).is_ok_and(|inner| is_it(&inner, &["metadata", "name"]))
            {
                let cut = Cut { document: 0, path: name.clone(), change: Change::Set(to.into()) };
                set(path.field("patch"), &operate(file, inner, &[cut])?);
            }
        }
    }
    Ok(cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let file = FilePath::new("a.yaml").unwrap();
        let cuts = aimed(&file, text, ("Deployment", "wbe", "web")).unwrap();
        assert_eq!(operate(&file, text, &cuts).unwrap(), expected);
    }

    #[test]
    fn a_target_is_named_otherwise_and_others_are_left() {
        check(
            "patches:\n- path: a.yaml # few\n  target: {kind: Deployment, name: wbe}\n- target: {kind: Service, name: wbe}\n",
            "patches:\n- path: a.yaml # few\n  target: {kind: Deployment, name: web}\n- target: {kind: Service, name: wbe}\n",
        );
    }

    #[test]
    fn a_patch_of_its_own_is_named_otherwise_in_its_file_and_in_a_kustomization() {
        check(
            "kind: Deployment\nmetadata:\n  name: wbe\n---\nkind: Service\nmetadata: {name: wbe}\n",
            "kind: Deployment\nmetadata:\n  name: web\n---\nkind: Service\nmetadata: {name: wbe}\n",
        );
        check(
            "patches:\n- patch: |\n    kind: Deployment\n    metadata:\n      name: wbe\n",
            "patches:\n- patch: |\n    kind: Deployment\n    metadata:\n      name: web\n",
        );
    }
}
