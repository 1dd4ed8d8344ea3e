use lynceus_diff::IgnoreStatus;
use lynceus_object::yaml;

use super::*;

/// The settings that two ConfigMaps give, written as YAML, and what is said of them.
fn read(settings: &str, parameters: &str) -> (Settings, Vec<String>) {
    let map = |data: &str| {
        let mut object = Object::default();
        object.set(&["data"], yaml::parse_str(data).unwrap());
        object
    };
    let read = Settings::of(&map(settings), &map(parameters));
    let said = read.diagnostics.iter().map(Diagnostic::to_text).collect();
    (read, said)
}

#[track_caller]
fn said(settings: &str, parameters: &str, expect: &[&str]) {
    assert_eq!(read(settings, parameters).1, expect);
}

#[test]
fn without_any_the_defaults_of_argo_cd_hold() {
    let (read, said) = read("{}", "{}");
    assert_eq!(said, [""; 0]);
    assert_eq!(read.resync, Some(Duration::from_secs(120)));
    assert_eq!(read.resync_jitter, Duration::from_secs(60));
    assert_eq!((read.hard_resync, read.sync_timeout), (None, None));
    assert_eq!(read.heal, Heal::default());
    assert_eq!(read.wave_delay, SignedDuration::from_secs(2));
    assert_eq!((read.workers, read.writes_at_once), (20, Some(20)));
    assert_eq!((read.pace, read.source_wishes), (Pace::default(), Wishes::default()));
    assert_eq!(
        (read.repo_error_grace, read.event_labels),
        (Duration::from_secs(180), EventLabels::default())
    );
    assert_eq!(read.tracking, Tracking::default());
    assert_eq!(read.impersonation, Impersonation::Off);
    assert_eq!(read.comparing.ignore_status, IgnoreStatus::All);
    assert_eq!(read.value_schemes, ["https", "http"]);
    assert!(
        read.in_cluster && read.ignored_updates.is_some() && !read.server_side_diff && !read.persist_health
    );
}

#[test]
fn what_is_set_counts() {
    let (read, said) = read(
        "{timeout.reconciliation: 5m, timeout.hard.reconciliation: 1h, application.resourceTrackingMethod: label,
          application.sync.impersonation.enabled: 'true', resource.respectRBAC: strict,
          resource.sensitive.mask.annotations: 'a, b', cluster.inClusterEnabled: 'false',
          resource.compareoptions: 'ignoreResourceStatusField: off', resource.ignoreResourceUpdatesEnabled: 'false',
          helm.enable: 'false', resource.includeEventLabelKeys: 'team, cost/*', resource.excludeEventLabelKeys: 'cost/secret'}",
        "{controller.kubectl.parallelism.limit: '0', controller.repo.server.timeout.seconds: '0', reposerver.parallelism.limit: '3',
          reposerver.git.request.timeout: 60s, reposerver.enable.git.submodule: 'false',
          controller.repo.error.grace.period.seconds: 2m, reposerver.max.combined.directory.manifests.size: 64Mi, application.namespaces: 'team-*, /^x$/', controller.sync.timeout.seconds: '90', controller.status.processors: '50',
          controller.self.heal.backoff.timeout.seconds: '0', controller.self.heal.timeout.seconds: '5'}",
    );
    assert_eq!(said, [""; 0]);
    assert_eq!(read.resync, Some(Duration::from_secs(300)));
    assert_eq!(read.hard_resync, Some(Duration::from_secs(3600)));
    assert_eq!(read.tracking.method, TrackingMethod::Label);
    assert_eq!((read.impersonation, read.respect_rbac), (Impersonation::Enforced, RespectRbac::Strict));
    assert_eq!(read.comparing.hidden_annotations, ["a", "b"]);
    assert_eq!(read.comparing.ignore_status, IgnoreStatus::None);
    assert_eq!(read.sync_timeout, Some(Duration::from_secs(90)));
    assert_eq!((read.workers, read.heal.pause), (50, SignedDuration::from_secs(5)));
    assert!(!read.in_cluster && read.ignored_updates.is_none());
    assert!(!read.tools.helm && read.tools.kustomize && read.tools.jsonnet);
    assert_eq!(read.directory_bytes, 64 << 20);
    assert_eq!((read.writes_at_once, read.repo_error_grace), (None, Duration::from_secs(120)));
    assert_eq!(read.pace, Pace { timeout: None, at_once: Some(3) });
    let wished = Wishes { git_list_timeout: Some(Duration::from_secs(60)), submodules: Some(false) };
    assert_eq!(read.source_wishes, wished);
    let carried = ["team", "cost/center", "cost/secret", "other"].map(|name| read.event_labels.has(name));
    assert_eq!(carried, [true, true, false, false]);
    let takes = |namespace| read.takes_applications_from(namespace, "argocd");
    assert!(takes("argocd") && takes("team-a") && takes("x") && !takes("xy") && !takes("other"));
}

#[test]
fn a_value_that_is_none_is_told_with_what_to_write_and_the_default_holds() {
    said(
        "{timeout.reconciliation: soon, application.resourceTrackingMethod: magic, cluster.inClusterEnabled: maybe}",
        "{controller.status.processors: many, controller.sync.timeout.seconds: 1m, reposerver.git.request.timeout: never,
          controller.kubectl.parallelism.limit: few}",
        &[
            "warning: argocd-cmd-params-cm has controller.status.processors: \"many\", which is no number\n  hint: write a \
             whole number; until then \"20\" holds",
            "warning: argocd-cm has application.resourceTrackingMethod: \"magic\", which is no word that is known here\n  \
             hint: write one of annotation, label, annotation+label; until then \"annotation\" holds",
            "warning: argocd-cm has cluster.inClusterEnabled: \"maybe\", which is no switch\n  hint: write true or false; \
             until then \"true\" holds",
            "warning: argocd-cm has timeout.reconciliation: \"soon\", which is no duration\n  hint: write it as 120s, 3m or \
             1h; until then \"120s\" holds",
            "warning: argocd-cmd-params-cm has controller.sync.timeout.seconds: \"1m\", which is no number of seconds\n  hint: \
             write a number of seconds, such as 30; until then \"0\" holds",
            "warning: argocd-cmd-params-cm has reposerver.git.request.timeout: \"never\", which is no duration\n  hint: write it \
             as 120s, 3m or 1h; until then \"15s\" holds",
            "warning: argocd-cmd-params-cm has controller.kubectl.parallelism.limit: \"few\", which is no number\n  hint: write a \
             whole number; until then \"20\" holds",
        ],
    );
}

#[test]
fn a_setting_that_nobody_knows_is_told_with_the_one_that_was_meant() {
    said(
        "{timeout.reconcilation: 5m, controller.diff.server.side: 'true', repositories: '[]', zzz: 'y'}",
        "{}",
        &[
            "warning: argocd-cm has controller.diff.server.side, which belongs elsewhere\n  hint: write it into \
             argocd-cmd-params-cm",
            "warning: argocd-cm has repositories, which is no longer a setting\n  hint: describe each repository in a Secret \
             with the label argocd.argoproj.io/secret-type: repository",
            "warning: argocd-cm has timeout.reconcilation, which is no setting\n  hint: did you mean timeout.reconciliation?",
            "warning: argocd-cm has zzz, which is no setting\n  hint: docs/settings.md lists all settings; take this one out",
        ],
    );
}

#[test]
fn settings_of_other_parts_are_nobodys_business() {
    said(
        "{url: https://x, oidc.config: 'x: y', accounts.alice: login, accounts.alice.enabled: 'false', ui.bannercontent: hi,
          kustomize.path.v3.9.1: /bin/k, help.download.linux-arm64: x, admin.enabled: 'false'}",
        "{server.insecure: 'true', redis.server: 'x:1', reposerver.repo.cache.expiration: 24h,
          applicationsetcontroller.policy: sync}",
        &[],
    );
}

#[test]
fn customizations_are_read_in_both_forms() {
    let (read, said) = read(
        "{resource.customizations: '{\"cert-manager.io/Certificate\": {health.lua: \"return 1\"}, \"*.x.io/*\": {health.lua: \"return 2\"}}',
          resource.customizations.health.cert-manager.io_Certificate: return 3,
          resource.customizations.useOpenLibs.cert-manager.io_Certificate: 'true',
          resource.customizations.ignoreDifferences.all: 'managedFieldsManagers: [kube]',
          resource.customizations.ignoreDifferences.ConfigMap: 'jsonPointers: [/data]'}",
        "{}",
    );
    assert_eq!(said, [""; 0]);
    let scripts: Vec<String> = read
        .customizations
        .iter()
        .filter(|(_, one)| !one.health_lua.is_empty())
        .map(|(kind, one)| {
            format!("{}/{}={} {}", kind.group, kind.kind, one.health_lua, one.health_lua_use_open_libs)
        })
        .collect();
    assert_eq!(scripts, ["*.x.io/*=return 2 false", "cert-manager.io/Certificate=return 3 true"]);
    let rules = read.customizations.ignored_differences();
    let rules: Vec<String> = rules
        .iter()
        .filter(|rule| !rule.json_pointers.is_empty())
        .map(|rule| format!("{}/{}", rule.group, rule.kind))
        .collect();
    assert_eq!(rules, ["/ConfigMap"]);
}

#[test]
fn customizations_that_cannot_be_read_are_told_and_the_others_hold() {
    let (read, said) = read(
        "{resource.customizations.healt.Pod: x, resource.customizations.health.a_b_c: x, resource.customizations.health.Pod: 'return hs',
          resource.customizations.ignoreDifferences.Pod: 'jsonPointers: no list'}",
        "{}",
    );
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].contains("resource.customizations.healt.Pod, which is of no known sort"), "{}", said[1]);
    assert!(
        said.iter().any(|text| text.contains("write <group>_<kind> or <kind> instead of a_b_c")),
        "{said:?}"
    );
    assert!(said[2].contains("ignoreDifferences for Pod"), "{}", said[2]);
    assert!(read.customizations.iter().any(|(_, one)| one.health_lua == "return hs"));
}

#[test]
fn global_projects_are_read_with_their_selectors() {
    let (read, said) = read(
        "{globalProjects: '[{labelSelector: {matchLabels: {opt: prod}}, projectName: rules}, {projectName: all}, {}]'}",
        "{}",
    );
    let names: Vec<&str> = read.global_projects.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["rules", "all"]);
    assert!(read.global_projects[1].selector.is_everything());
    assert_eq!(said.len(), 1, "{said:?}");
}

#[test]
fn every_default_is_what_its_setting_holds() {
    // Setting each to its default has to be the same as not to set it.
    let write = |map: ConfigMap| {
        let mut object = Object::default();
        for key in KEYS.iter().filter(|key| key.map == map && !key.name.contains('<')) {
            object.set(&["data", key.name], key.default);
        }
        object
    };
    let set = Settings::of(&write(ConfigMap::Settings), &write(ConfigMap::Parameters));
    assert_eq!(set.diagnostics, []);
    assert_eq!((set.resync, set.heal), (Some(crate::limits::RESYNC), Heal::default()));
    assert_eq!((set.pace, set.writes_at_once), (Pace::default(), Some(20)));
    assert_eq!((set.resync_jitter, set.workers), (crate::limits::RESYNC_JITTER, crate::limits::WORKERS));
}

#[test]
fn the_documentation_has_every_setting() {
    let page = include_str!("../../../../docs/settings.md");
    let between = page.split("<!-- settings -->\n").nth(1).unwrap_or_default();
    assert_eq!(between, keys::table(), "put this behind the mark in docs/settings.md:\n{}", keys::table());
}
