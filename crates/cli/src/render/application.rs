//! The sources of an Application in a file, read from this machine.

use std::path::Path;
use std::sync::Arc;

use lynceus_api::{Application, ApplicationSource, Kind as _};
use lynceus_files::{FilePath, Tree};
use lynceus_object::{manifest, yaml};
use lynceus_render::{References, Setting};
use lynceus_source::{DiskTree, RepoUrl};

use super::Work;
use crate::exit::{Code, Doing as _, Failure};

/// Reads the Application of a file. Its sources are in the folder, unless they name one on this machine themselves.
pub(super) fn read(file: &Path, folder: &Path) -> Result<Vec<Work>, Failure> {
    let shown = file.display();
    let text = std::fs::read(file).doing(format!("cannot read {shown}"))?;
    let documents = manifest::read(&FilePath::root(), &text, &yaml::Options::default());
    if let Some(problem) = documents.first_error() {
        return Err(Failure::new(Code::Other, format!("cannot read {shown}: {}", problem.message)));
    }
    let mut found = documents.objects.iter().filter(|placed| placed.object.kind() == "Application");
    let (Some(placed), None) = (found.next(), found.next()) else {
        return Err(Failure::new(Code::Other, format!("{shown} does not hold one Application")));
    };
    let application = Application::from_object(&placed.object).doing(format!("cannot read {shown}"))?;
    let sources = application.spec.all_sources();
    let mut trees: Vec<Arc<dyn Tree>> = Vec::with_capacity(sources.len());
    for source in &sources {
        trees.push(tree(source, folder)?);
    }
    let names = sources.iter().zip(&trees).filter(|(source, _)| !source.ref_.is_empty());
    let references: References = names.map(|(source, tree)| (source.ref_.clone(), tree.clone())).collect();
    let setting = Setting {
        application: application.metadata.name.as_str().into(),
        namespace: application.spec.destination.namespace.clone(),
        project: application.spec.project.clone(),
        ..Setting::default()
    };
    let lends = |source: &ApplicationSource| !source.ref_.is_empty() && source.path.is_empty();
    let works = sources.into_iter().zip(trees).filter(|(source, _)| !lends(source));
    Ok(works
        .map(|(source, tree)| {
            let setting = Setting { revision: source.target_revision.clone(), ..setting.clone() };
            Work { tree, source, setting, references: references.clone() }
        })
        .collect())
}

/// The files of a source.
fn tree(source: &ApplicationSource, folder: &Path) -> Result<Arc<dyn Tree>, Failure> {
    if !source.chart.is_empty() {
        let problem = format!("the chart {} is in {} and not on this machine", source.chart, source.repo_url);
        return Err(
            Failure::new(Code::Other, problem).hint("lynceus helm template renders charts from anywhere")
        );
    }
    let folder = match RepoUrl::parse(&source.repo_url) {
        Ok(RepoUrl::Local(path)) => path,
        _ => folder.to_owned(),
    };
    let tree = DiskTree::open(&folder).doing(format!("cannot read the folder {}", folder.display()))?;
    Ok(Arc::new(tree))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_from_the_folder_with_the_parameters_of_the_application() {
        let folder = std::env::temp_dir().join(format!("lynceus-render-{}", std::process::id()));
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n";
        let files = [
            ("base/kustomization.yaml", "resources: [config.yaml]\n"),
            ("base/config.yaml", config),
            ("plain/config.yaml", config),
            (
                "app.yaml",
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: shop\nspec:\n  \
                 project: default\n  destination: {namespace: shop}\n  sources:\n  - repoURL: \
                 https://git.example.com/shop.git\n    path: base\n    kustomize: {namePrefix: prod-}\n  - repoURL: \
                 https://git.example.com/shop.git\n    path: plain\n  - repoURL: \
                 https://git.example.com/values.git\n    ref: values\n",
            ),
        ];
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let works = read(&folder.join("app.yaml"), &folder).unwrap();
        let names = |work: &Work| {
            let rendered = work.with(|job, world| lynceus_render::render(job, world)).unwrap();
            rendered.manifests.iter().map(|made| made.object.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(works.iter().map(names).collect::<Vec<_>>(), [["prod-settings"], ["settings"]]);
        assert!(works.iter().all(|work| work.references.contains_key("values")));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
