//! What the rig is made of: the programs, their releases and the Go packages that they are built from.
//!
//! Every version of the rig stands here and nowhere else.

/// The release of Kubernetes that we follow.
pub(crate) const KUBERNETES: &str = "v1.36.3";
/// The release of the modules that Kubernetes keeps in its own tree.
const STAGING: &str = "v0.36.3";
const ETCD: &str = "v3.6.16";
const KWOK: &str = "v0.8.0";
/// The newest release of Argo CD whose engine, a module in its own tree, was published on its own as well.
const ARGO_CD: &str = "v3.5.3";
/// The release of Helm that Argo CD bundles, and the last of the line before it.
const HELM: &str = "v4.2.4";
const HELM_3: &str = "v3.22.0";
/// The release of Kustomize that Argo CD bundles.
const KUSTOMIZE_RELEASE: &str = "v5.8.1";
const GITOPS_ENGINE: &str = "v0.0.0-20260914071520-c9c369efcc5b";
/// The Go language that the wrapper modules ask for.
const GO: &str = "1.26.0";
/// Raised when the way of building changes, so that everything is built again.
const RECIPE: u32 = 1;

/// The module that a program is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Module {
    Kubernetes,
    Etcd,
    Kwok,
    ArgoCd,
    Helm,
    Helm3,
    Kustomize,
}

/// A program of the rig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) module: Module,
    pub(crate) package: &'static str,
}

/// Everything that is built, in the order of building: what others wait for comes first.
pub(crate) const PROGRAMS: [Program; 6] = [
    Program { name: "etcd", module: Module::Etcd, package: "go.etcd.io/etcd/server/v3" },
    kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
    kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    KUBECTL,
    kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"),
    Program { name: "kwok", module: Module::Kwok, package: "sigs.k8s.io/kwok/cmd/kwok" },
];

/// The command line of Kubernetes.
pub(crate) const KUBECTL: Program = kubernetes("kubectl", "k8s.io/kubernetes/cmd/kubectl");

/// Its plugin that converts objects between versions.
pub(crate) const KUBECTL_CONVERT: Program =
    kubernetes("kubectl-convert", "k8s.io/kubernetes/cmd/kubectl-convert");

/// The command line of Argo CD, for those who ask for it.
pub(crate) const ARGOCD: Program =
    Program { name: "argocd", module: Module::ArgoCd, package: "github.com/argoproj/argo-cd/v3/cmd" };

/// Helm, to compare rendered charts with.
pub(crate) const HELM_PROGRAMS: [Program; 2] = [
    Program { name: "helm", module: Module::Helm, package: "helm.sh/helm/v4/cmd/helm" },
    Program { name: "helm3", module: Module::Helm3, package: "helm.sh/helm/v3/cmd/helm" },
];

/// Kustomize, to compare builds with.
pub(crate) const KUSTOMIZE: Program =
    Program { name: "kustomize", module: Module::Kustomize, package: "sigs.k8s.io/kustomize/kustomize/v5" };

const fn kubernetes(name: &'static str, package: &'static str) -> Program {
    Program { name, module: Module::Kubernetes, package }
}

impl Program {
    /// What the finished program is marked with: while it is the same, nothing is built.
    pub(crate) fn stamp(&self) -> String {
        format!("{} {} recipe {RECIPE}\n", self.package, self.module.version())
    }
}

impl Module {
    /// The directory of the wrapper module.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Module::Kubernetes => "kubernetes",
            Module::Etcd => "etcd",
            Module::Kwok => "kwok",
            Module::ArgoCd => "argo-cd",
            Module::Helm => "helm",
            Module::Helm3 => "helm3",
            Module::Kustomize => "kustomize",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Module::Kubernetes => "k8s.io/kubernetes",
            Module::Etcd => "go.etcd.io/etcd/server/v3",
            Module::Kwok => "sigs.k8s.io/kwok",
            Module::ArgoCd => "github.com/argoproj/argo-cd/v3",
            Module::Helm => "helm.sh/helm/v4",
            Module::Helm3 => "helm.sh/helm/v3",
            Module::Kustomize => "sigs.k8s.io/kustomize/kustomize/v5",
        }
    }

    pub(crate) fn version(self) -> &'static str {
        match self {
            Module::Kubernetes => KUBERNETES,
            Module::Etcd => ETCD,
            Module::Kwok => KWOK,
            Module::ArgoCd => ARGO_CD,
            Module::Helm => HELM,
            Module::Helm3 => HELM_3,
            Module::Kustomize => KUSTOMIZE_RELEASE,
        }
    }

    /// The `go.mod` of the wrapper module. What a module replaces counts only in its own tree, so it is said again; and
    /// where it is a directory of that tree, which others do not have, it is pinned to what was published of it.
    pub(crate) fn wrapper(self, upstream: &str) -> String {
        let mut text =
            format!("module rig\n\ngo {}\n\nrequire {} {}\n\n", self.go(), self.path(), self.version());
        for (module, with) in replaced(upstream) {
            match self.published(with) {
                Some(version) => text.push_str(&format!("replace {module} => {module} {version}\n")),
                // What it requires by a version that was published needs no directory.
                None if with.starts_with('.') => {}
                None => text.push_str(&format!("replace {module} => {with}\n")),
            }
        }
        text
    }

    /// The published version of a directory in the module's own tree.
    fn published(self, with: &str) -> Option<&'static str> {
        match self {
            Module::Kubernetes if with.starts_with("./staging/") => Some(STAGING),
            Module::ArgoCd if with == "./gitops-engine" => Some(GITOPS_ENGINE),
            _ => None,
        }
    }

    /// The Go language that the wrapper asks for.
    fn go(self) -> &'static str {
        match self {
            Module::ArgoCd => "1.26.3",
            Module::Kubernetes
            | Module::Etcd
            | Module::Kwok
            | Module::Helm
            | Module::Helm3
            | Module::Kustomize => GO,
        }
    }

    /// What the linker writes into the program, so that it can say which release it is.
    pub(crate) fn linker_flags(self) -> String {
        let mut flags = "-s -w".to_owned();
        let set = |name: &str, value: &str| format!(" -X {name}={value}");
        match self {
            Module::Kubernetes => {
                let mut parts = KUBERNETES.trim_start_matches('v').split('.');
                let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                for package in ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] {
                    flags.push_str(&set(&format!("{package}.gitVersion"), KUBERNETES));
                    flags.push_str(&set(&format!("{package}.gitMajor"), major));
                    flags.push_str(&set(&format!("{package}.gitMinor"), minor));
                    flags.push_str(&set(&format!("{package}.gitTreeState"), "clean"));
                }
            }
            Module::Kwok => {
                flags.push_str(&set("sigs.k8s.io/kwok/pkg/consts.Version", KWOK.trim_start_matches('v')))
            }
            Module::ArgoCd => {
                let package = "github.com/argoproj/argo-cd/v3/common";
                flags.push_str(&set(&format!("{package}.version"), ARGO_CD.trim_start_matches('v')));
            }
            Module::Helm | Module::Helm3 => {
                let variable = format!("{}/internal/version.version", self.path());
                flags.push_str(&set(&variable, self.version()));
            }
            Module::Kustomize => {
                flags.push_str(&set("sigs.k8s.io/kustomize/api/provenance.version", KUSTOMIZE_RELEASE));
            }
            Module::Etcd => {}
        }
        flags
    }
}

/// What a `go.mod` replaces, and with what.
fn replaced(upstream: &str) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = upstream
        .lines()
        .filter_map(|line| line.trim().trim_start_matches("replace ").split_once(" => "))
        .map(|(module, with)| (module.trim(), with.split("//").next().unwrap_or_default().trim()))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staging_modules_are_pinned_to_what_was_published() {
        let upstream = "module k8s.io/kubernetes\n\nreplace (\n\tk8s.io/api => ./staging/src/k8s.io/api\n)\n";
        let wrapper = Module::Kubernetes.wrapper(upstream);
        assert!(wrapper.contains("require k8s.io/kubernetes v1.36.3\n"), "{wrapper}");
        assert!(wrapper.ends_with("replace k8s.io/api => k8s.io/api v0.36.3\n"), "{wrapper}");
    }

    #[test]
    fn what_is_replaced_for_a_reason_is_replaced_here_too() {
        let upstream = "replace (\n\tgopkg.in/yaml.v2 => gopkg.in/yaml.v2 v2.4.0 // why\n)\n\n\
                        replace example.com/gitops-engine => ./gitops-engine\n";
        let wrapper = Module::ArgoCd.wrapper(upstream);
        let pinned =
            format!("replace example.com/gitops-engine => example.com/gitops-engine {GITOPS_ENGINE}\n");
        assert!(wrapper.contains(&pinned), "{wrapper}");
        assert!(wrapper.ends_with("replace gopkg.in/yaml.v2 => gopkg.in/yaml.v2 v2.4.0\n"), "{wrapper}");
    }

    #[test]
    fn directories_of_a_module_that_requires_published_versions_are_left_out() {
        let wrapper = Module::Etcd.wrapper("replace go.etcd.io/etcd/api/v3 => ../api\n");
        assert!(!wrapper.contains("replace"), "{wrapper}");
    }

    #[test]
    fn a_stamp_names_package_and_version() {
        assert_eq!(PROGRAMS[5].stamp(), "sigs.k8s.io/kwok/cmd/kwok v0.8.0 recipe 1\n");
    }
}
