//! `--local`: the manifests of a folder on this machine instead of those in Git.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lynceus_api::{Application, ApplicationSource};
use lynceus_files::Severity;
use lynceus_object::Object;
use lynceus_render::Setting;
use lynceus_source::DiskTree;

use crate::exit::{Code, Doing as _, Failure, Outcome};
use crate::render::Work;

#[derive(clap::Args)]
pub(crate) struct Local {
    /// Take the manifests from this folder instead of from Git, with the parameters of the application.
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,
    /// The root of the repository, for what the folder names outside of itself; the nearest with a .git if none is given.
    #[arg(long, value_name = "DIR", requires = "local")]
    local_repo_root: Option<PathBuf>,
}

impl Local {
    pub(crate) fn is_given(&self) -> bool {
        self.local.is_some()
    }

    /// The manifests of the folder, if one is given.
    pub(crate) async fn manifests(&self, application: &Application) -> Outcome<Option<Vec<Object>>> {
        let Some(folder) = &self.local else { return Ok(None) };
        let failed = format!("cannot read {}", folder.display());
        let [source] = application.spec.all_sources().try_into().map_err(|_| {
            let name = &application.metadata.name;
            Failure::new(Code::Other, format!("{name} has several sources, which --local cannot stand for"))
        })?;
        let folder = folder.canonicalize().doing(failed.as_str())?;
        let root = match &self.local_repo_root {
            Some(root) => root.canonicalize().doing(format!("cannot read {}", root.display()))?,
            None => repository(&folder).to_owned(),
        };
        let Ok(path) = folder.strip_prefix(&root) else {
            let problem = format!("{} is not in {}", folder.display(), root.display());
            return Err(Failure::new(Code::Other, problem).hint("--local-repo-root is a folder around it"));
        };
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let tree = DiskTree::open(&root).doing(failed.as_str())?;
        let source =
            ApplicationSource { path: path.to_string_lossy().as_ref().into(), chart: "".into(), ..source };
        let setting = Setting {
            application: application.metadata.name.as_str().into(),
            namespace: application.spec.destination.namespace.clone(),
            project: application.spec.project.clone(),
            ..Setting::default()
        };
        let mut objects = Vec::new();
        for made in Work::of_tree(Arc::new(tree), source, setting).render().await {
            let rendered = made.doing(failed.as_str())?.rendered;
            let broken = rendered.diagnostics.iter().find(|one| one.severity == Severity::Error);
            if let Some(broken) = broken {
                return Err(Failure::new(Code::Other, format!("{failed}: {}", broken.to_text())));
            }
            objects.extend(rendered.manifests.iter().map(|manifest| manifest.object.clone()));
        }
        Ok(Some(objects))
    }
}

/// The nearest folder that is a checkout; the folder itself if there is none.
fn repository(folder: &Path) -> &Path {
    folder.ancestors().find(|around| around.join(".git").exists()).unwrap_or(folder)
}

#[cfg(test)]
mod tests {
    use lynceus_api::Kind as _;
    use lynceus_object::value;

    use super::*;

    #[tokio::test]
    async fn a_folder_is_rendered_with_the_parameters_of_the_application_and_what_it_names_around_it() {
        let folder = std::env::temp_dir().join(format!("lynceus-local-{}", std::process::id()));
        for (path, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            ("base/kustomization.yaml", "resources: [config.yaml]\n"),
            ("base/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n"),
            ("prod/kustomization.yaml", "resources: [../base]\n"),
        ] {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let kustomize = value!({"namePrefix": "prod-"});
        let source =
            value!({"repoURL": "https://git.example.com/shop", "path": "elsewhere", "kustomize": kustomize});
        let mut object = Object::new(value!({"metadata": {"name": "shop"}})).unwrap();
        object.set(&["spec"], value!({"source": source}));
        let application = Application::from_object(&object).unwrap();
        let local = |root: Option<&str>| Local {
            local: Some(folder.join("prod")),
            local_repo_root: root.map(|root| folder.join(root)),
        };
        let made = local(None).manifests(&application).await.unwrap().unwrap();
        assert_eq!(made.iter().map(Object::name).collect::<Vec<_>>(), ["prod-settings"]);
        let refused = local(Some("base")).manifests(&application).await.err().unwrap();
        assert!(refused.message.contains("/prod is not in "), "{refused}");
        let alone = local(Some("prod")).manifests(&application).await.err().unwrap();
        assert!(alone.to_string().contains("../base"), "{alone}");
        let _ = std::fs::remove_dir_all(&folder);
    }
}
