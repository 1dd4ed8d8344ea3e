//! Commands of `argocd admin` that are not here, and what to use instead.

use crate::exit::{Code, Failure};

/// Said below the help.
pub(super) const LIST: &str = "\
Not here, because something else does it:
  dashboard               lynceus server serves the page
  redis-initial-password  there is no Redis
  app get-reconcile-results, app diff-reconcile-results
                          lynceus controller --observe
  cluster kubeconfig, stats, shards, namespaces
                          lynceus cluster list; there are no shards
  proj generate-allow-list, proj update-role-policy
                          lynceus proj allow-cluster-resource, lynceus proj role add-policy
";

/// What is used instead of each, by the first words of the command.
const INSTEAD: &[(&str, &str)] = &[
    ("admin dashboard", "the page is served by\nlynceus server --kubeconfig FILE"),
    ("admin redis-initial-password", "there is no Redis, and so no password of it"),
    (
        "admin app get-reconcile-results",
        "see what would be done, and where Argo CD disagrees, with\nlynceus controller --observe",
    ),
    (
        "admin app diff-reconcile-results",
        "see what would be done, and where Argo CD disagrees, with\nlynceus controller --observe",
    ),
    (
        "admin cluster kubeconfig",
        "the Secret of the cluster has the address and the token:\nkubectl -n argocd get secrets -l argocd.argoproj.io/secret-type=cluster",
    ),
    ("admin cluster stats", "see the clusters and how they are with\nlynceus cluster list"),
    (
        "admin cluster shards",
        "there are no shards: every controller that holds the Lease of a cluster looks after it; see\nlynceus cluster list",
    ),
    (
        "admin cluster namespaces",
        "set the namespaces of a cluster with\nlynceus cluster set NAME --namespace NAMESPACE",
    ),
    (
        "admin proj generate-allow-list",
        "allow kinds one by one with\nlynceus proj allow-cluster-resource PROJECT GROUP KIND",
    ),
    (
        "admin proj update-role-policy",
        "change the roles of each project with\nlynceus proj role add-policy PROJECT ROLE --action ACTION --object OBJECT",
    ),
    (
        "admin settings resource-overrides ignore-differences",
        "compare two files as a sync would with\nlynceus diff --help",
    ),
    (
        "admin settings resource-overrides ignore-resource-updates",
        "see docs/comparing.md; compare two files as a sync would with\nlynceus diff --help",
    ),
    (
        "admin settings resource-overrides run-action",
        "run it on an object of an application with\nlynceus app actions run APPNAME ACTION",
    ),
];

/// The failure that says what to use.
pub(super) fn instead(parents: &str, words: &[String]) -> Failure {
    let line: Vec<&str> =
        words.iter().map(String::as_str).take_while(|word| !word.starts_with('-')).collect();
    let line = format!("{parents} {}", line.join(" "));
    let found = INSTEAD.iter().find(|(command, _)| {
        line.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    });
    match found {
        Some((command, hint)) => Failure::new(Code::Other, format!("lynceus has no `{command}`")).hint(*hint),
        None => Failure::new(Code::Trouble, format!("there is no command `{}`", line.trim()))
            .hint(format!("see which there are: lynceus {parents} --help")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parents: &str, line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        instead(parents, &words).message
    }

    #[test]
    fn what_is_not_here_says_what_to_use() {
        assert_eq!(check("admin", "dashboard -p x"), "lynceus has no `admin dashboard`");
        assert_eq!(check("admin cluster", "shards"), "lynceus has no `admin cluster shards`");
        assert_eq!(check("admin", "exports"), "there is no command `admin exports`");
    }
}
