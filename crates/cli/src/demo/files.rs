//! The files of the example repository.

/// The environments with the wave that each comes in and how many replicas it has.
const ENVIRONMENTS: [(&str, i32, i32); 3] = [("dev", 0, 1), ("staging", 1, 2), ("production", 2, 3)];

/// What every environment has.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("migrate.yaml", include_str!("../../demo/environment/migrate.yaml")),
    ("store.yaml", include_str!("../../demo/environment/store.yaml")),
    ("catalog.yaml", include_str!("../../demo/environment/catalog.yaml")),
    ("front.yaml", include_str!("../../demo/environment/front.yaml")),
    ("smoke-test.yaml", include_str!("../../demo/environment/smoke-test.yaml")),
];

/// Files that stand in the repository under the names that they have here.
macro_rules! as_they_are {
    ($($path:literal),* $(,)?) => { [$(($path, include_str!(concat!("../../demo/", $path)))),*] };
}

/// What there is once. The troubles are in `extras`.
const ONCE: [(&str, &str); 33] = as_they_are![
    "README.md",
    "stage.yaml",
    "bootstrap/shop.yaml",
    "bootstrap/extras.yaml",
    "bootstrap/previews.yaml",
    "extras/apps/checkout.yaml",
    "extras/apps/external-secrets.yaml",
    "extras/apps/invoices.yaml",
    "extras/apps/newsletter.yaml",
    "extras/apps/payments.yaml",
    "extras/apps/recommendations.yaml",
    "extras/apps/reports.yaml",
    "extras/apps/search.yaml",
    "extras/apps/vault.yaml",
    "extras/checkout/checkout.yaml",
    "extras/checkout/namespace.yaml",
    "extras/external-secrets/definitions.yaml",
    "extras/external-secrets/operator.yaml",
    "extras/invoices/invoices.yaml",
    "extras/newsletter/planner.yaml",
    "extras/newsletter/sender.yaml",
    "extras/payments/payments.yaml",
    "extras/recommendations/features.yaml",
    "extras/recommendations/recommendations.yaml",
    "extras/reports/reports.yaml",
    "extras/search/features.yaml",
    "extras/search/search.yaml",
    "extras/vault/store.yaml",
    "extras/vault/vault.yaml",
    "previews/banner/page.yaml",
    "previews/basket/page.yaml",
    "previews/gifts/page.yaml",
    "previews/wishlist/page.yaml",
];

/// Every file of the repository with its text.
pub(super) fn all(repository: &str, namespace: &str) -> Vec<(String, String)> {
    let known = |text: &str| text.replace("{{repository}}", repository).replace("{{namespace}}", namespace);
    let once = ONCE.iter().map(|(path, text)| ((*path).to_owned(), known(text)));
    let mut files: Vec<(String, String)> = once.collect();
    for (environment, wave, replicas) in ENVIRONMENTS {
        let fill = |text: &str| {
            known(text)
                .replace("{{environment}}", environment)
                .replace("{{wave}}", &wave.to_string())
                .replace("{{replicas}}", &replicas.to_string())
        };
        let application = include_str!("../../demo/apps/application.yaml");
        files.push((format!("apps/{environment}.yaml"), fill(application)));
        for (name, text) in ENVIRONMENT {
            files.push((format!("environments/{environment}/{name}"), fill(text)));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lynceus_files::FilePath;

    use super::*;

    #[test]
    fn every_file_of_the_demo_is_a_manifest_without_a_gap() {
        for (name, text) in all("file:///demo", "argocd") {
            // What an ApplicationSet fills in itself begins with a dot.
            assert!(!text.replace("{{.", "").contains("{{"), "{name} has a gap");
            if name.ends_with(".yaml") {
                let path = FilePath::new(&name).unwrap();
                let read = lynceus_object::manifest::read(&path, text.as_bytes(), &Default::default());
                assert!(
                    read.diagnostics.is_empty() && !read.objects.is_empty(),
                    "{name}: {:?}",
                    read.diagnostics
                );
            }
        }
    }

    #[test]
    fn no_file_of_the_folder_is_forgotten() {
        let known = all("", "");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
        let mut folders = vec![folder.join("extras"), folder.join("bootstrap"), folder.join("previews")];
        while let Some(inside) = folders.pop() {
            for entry in std::fs::read_dir(inside).unwrap().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&folder).unwrap().display().to_string();
                assert!(known.iter().any(|(path, _)| *path == name), "{name} is not in the repository");
            }
        }
    }
}
