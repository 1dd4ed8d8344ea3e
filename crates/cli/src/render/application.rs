//! The sources of an Application in a file, read from this machine.

use std::path::Path;
use std::sync::Arc;

use lynceus_api::{Application, ApplicationSource, Kind as _};
use lynceus_files::{FilePath, Tree};
use lynceus_object::{manifest, yaml};
use lynceus_render::Setting;
use lynceus_source::{DiskTree, RepoUrl};

use super::Work;
use crate::exit::{Code, Doing as _, Failure, Outcome};

/// Reads the Application of a file, and finds the files of its sources that are on this machine.
pub(super) fn read(file: &Path, folder: &Path) -> Outcome<Work> {
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
    let mut files = Vec::with_capacity(sources.len());
    for source in &sources {
        files.push(here(source, &sources, folder)?);
    }
    let setting = Setting {
        application: application.metadata.name.as_str().into(),
        namespace: application.spec.destination.namespace.clone(),
        project: application.spec.project.clone(),
        ..Setting::default()
    };
    Ok(Work { sources, files, setting })
}

/// The files of a source, if they are on this machine: in the folder that it names itself, or else in the one that stands for
/// every repository whose files it has.
fn here(
    source: &ApplicationSource,
    sources: &[ApplicationSource],
    folder: &Path,
) -> Outcome<Option<Arc<dyn Tree>>> {
    if !source.chart.is_empty() || source.repo_url.starts_with("oci://") {
        return Ok(None);
    }
    let folder = match RepoUrl::parse(&source.repo_url) {
        Ok(RepoUrl::Local(path)) => path,
        _ => folder.to_owned(),
    };
    let tree = DiskTree::open(&folder).doing(format!("cannot read the folder {}", folder.display()))?;
    let has = |path: &str| FilePath::new(path).is_ok_and(|path| tree.entry(&path).is_ok());
    let is_here = if source.path.is_empty() && !source.ref_.is_empty() {
        borrowed(source, sources).all(has)
    } else {
        has(&source.path)
    };
    Ok(is_here.then(|| Arc::new(tree) as Arc<dyn Tree>))
}

/// The files that others name of a source.
fn borrowed<'a>(
    lender: &'a ApplicationSource,
    sources: &'a [ApplicationSource],
) -> impl Iterator<Item = &'a str> {
    let helms = sources.iter().filter_map(|source| source.helm.as_ref());
    let files = helms.flat_map(|helm| {
        helm.value_files.iter().chain(helm.file_parameters.iter().map(|parameter| &parameter.path))
    });
    files.filter_map(|file| file.strip_prefix('$')?.strip_prefix(lender.ref_.as_str())?.strip_prefix('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sources_are_read_from_the_folder_with_the_parameters_of_the_application() {
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
        let work = read(&folder.join("app.yaml"), &folder).unwrap();
        assert!(work.files.iter().all(Option::is_some));
        let made = work.render().await;
        let names = made.iter().flat_map(|made| &made.as_ref().unwrap().rendered.manifests);
        let names: Vec<&str> = names.map(|manifest| manifest.object.name()).collect();
        assert_eq!(names, ["prod-settings", "settings"]);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
