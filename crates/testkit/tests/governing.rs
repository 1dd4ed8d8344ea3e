//! Who may do what, and when: projects, windows, signatures, service accounts and settings.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

#[path = "../../source/tests/support/signer.rs"]
mod signer;

use jiff::SignedDuration;
use lynceus_engine::WaitMark;
use lynceus_object::{Value, value};
use lynceus_testkit::fixture::{FINE, automated, config_map, job, secret};
use lynceus_testkit::world::World;
use signer::Signer;

const V1ALPHA1: &str = "argoproj.io/v1alpha1";

/// Changes what the default project says.
async fn project(world: &World, spec: Value) {
    let mut patch = value!({});
    patch.set(&["spec"], spec);
    world.patch(V1ALPHA1, "AppProject", "argocd", "default", &patch).await;
}

/// Sets settings: a ConfigMap's name and its data as YAML.
async fn set(world: &World, map: &str, data: &str) {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {map}, namespace: argocd}}\ndata: {data}\n"
    );
    world.apply(&text).await;
}

async fn sync(world: &World, name: &str) {
    world.patch(V1ALPHA1, "Application", "argocd", name, &value!({"operation": {"sync": {}}})).await;
}

fn message(world: &World, name: &str) -> String {
    world.application(name).status.operation_state.map(|state| state.message.to_string()).unwrap_or_default()
}

fn exists(world: &World, kind: &str, name: &str) -> bool {
    world.object("", kind, "default", name).is_some()
}

/// A window that never ends, for every application.
fn window(kind: &str, more: Value) -> Value {
    let mut window = value!({"schedule": "* * * * *", "duration": "1h", "applications": ["*"]});
    window.set(&["kind"], kind);
    for (field, value) in more.as_map().unwrap().iter() {
        window.set(&[field.as_str()], value.clone());
    }
    value!({"syncWindows": [window]})
}

#[tokio::test]
async fn a_project_may_use_what_is_registered_for_it_alone() {
    let world = World::new().await;
    world
        .apply(
            "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: team, namespace: argocd}\n\
             spec: {sourceRepos: ['https://none/*'], clusterResourceWhitelist: []}\n",
        )
        .await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let mut of_team = automated();
    of_team.set(&["project"], "team");
    world.deliver("shop", "app", &of_team).await;
    let told = |world: &World, what: &str| {
        world.application("shop").status.conditions.iter().any(|condition| condition.message.contains(what))
    };
    world.until("both refusals", |world| told(world, "is not permitted in project 'team'")).await;
    assert!(told(&world, "do not match any of the allowed destinations in project 'team'"));
    let registered = |sort: &str, data: String| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: of-team-{sort}\n  namespace: argocd\n  labels: \
             {{argocd.argoproj.io/secret-type: {sort}}}\nstringData: {{project: team, {data}}}\n"
        )
    };
    world.apply(&registered("repository", format!("url: {:?}", world.repository()))).await;
    world.until("one refusal", |world| !told(world, "application repo")).await;
    assert!(told(&world, "allowed destinations"));
    let cluster = "name: in-cluster, server: 'https://kubernetes.default.svc', config: '{}'";
    world.apply(&registered("cluster", cluster.to_owned())).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_window_that_denies_holds_automation_back_and_says_so() {
    let world = World::new().await;
    project(&world, window("deny", value!({"description": "freeze"}))).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("a wait", |world| WaitMark::of(&world.application("shop")).is_some()).await;
    let mark = WaitMark::of(&world.application("shop")).unwrap();
    assert!(
        mark.for_[0].text.starts_with(
            "it waits for an open sync window: denied by deny window '* * * * *' (1h) \"freeze\""
        ),
        "{:?}",
        mark.for_
    );
    assert_eq!(world.state("shop"), "OutOfSync Missing");
    assert!(!exists(&world, "ConfigMap", "a"));
    project(&world, value!({"syncWindows": null})).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert!(WaitMark::of(&world.application("shop")).is_none());
    world.end().await;
}

#[tokio::test]
async fn outside_of_the_windows_that_allow_nothing_syncs_by_itself() {
    let world = World::new().await;
    let never = value!({"syncWindows": [
        {"kind": "allow", "schedule": "0 0 29 2 *", "duration": "1m", "applications": ["shop"]},
    ]});
    project(&world, never).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("blog/b.yaml", &config_map("b", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.deliver("blog", "blog", &automated()).await;
    world.until("the other", |world| world.state("blog") == FINE).await;
    world.until("a wait", |world| WaitMark::of(&world.application("shop")).is_some()).await;
    let mark = WaitMark::of(&world.application("shop")).unwrap();
    assert!(
        mark.for_[0].text.starts_with("it waits for an open sync window: outside of allow window"),
        "{:?}",
        mark.for_
    );
    assert!(mark.until.is_some_and(|until| until.to_string().contains("-02-29T")), "it says when");
    world.end().await;
}

#[tokio::test]
async fn a_sync_by_hand_waits_for_a_window_unless_it_lets_people_through() {
    let world = World::new().await;
    project(&world, window("deny", value!({}))).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    sync(&world, "shop").await;
    world
        .until("the refusal", |world| message(world, "shop") == "Sync operation blocked by sync window")
        .await;
    assert_eq!(world.state("shop"), "OutOfSync Missing Running");
    assert!(!exists(&world, "ConfigMap", "a"));
    project(&world, window("deny", value!({"manualSync": true}))).await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn a_window_that_cannot_be_read_stops_syncs_and_says_why() {
    let world = World::new().await;
    project(&world, window("allow", value!({"schedule": "every day"}))).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    sync(&world, "shop").await;
    let expect = "Sync operation blocked by sync window: invalid sync windows: cannot parse schedule 'every day': expected \
                  exactly 5 fields, found 2: [every day]";
    world.until("the reason", |world| message(world, "shop") == expect).await;
    world.end().await;
}

#[tokio::test]
async fn everything_that_a_project_does_not_permit_is_told_at_once() {
    let world = World::new().await;
    project(&world, value!({
        "sourceRepos": ["https://host/team/*"], "destinations": [{"server": "*", "namespace": "!default"}],
    }))
    .await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("both", |world| world.application("shop").status.conditions.len() == 2).await;
    let said = world.said("shop");
    assert!(said.contains("InvalidSpecError: application destination server 'https://kubernetes.default.svc' and namespace 'default' do not match any of the allowed destinations in project 'default'"), "{said}");
    assert!(said.contains("is not permitted in project 'default'"), "{said}");
    assert!(world.state("shop").starts_with("Unknown Unknown"));
    project(&world, value!({"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]}))
        .await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn what_a_project_permits_no_more_is_neither_shown_nor_pruned() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/s.yaml", &secret("s"))]);
    let policy =
        value!({"syncPolicy": {"automated": {"prune": true, "selfHeal": true}, "retry": {"limit": 0}}});
    world.deliver("shop", "app", &policy).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    project(&world, value!({"namespaceResourceBlacklist": [{"group": "", "kind": "Secret"}]})).await;
    world.until("that it is missed", |world| world.state("shop").starts_with("OutOfSync Missing")).await;
    // Nor is it pruned when Git does not want it any more.
    world.commit(&[("app/s.yaml", "")]);
    world.until("rest", |world| world.state("shop").starts_with("Synced Healthy")).await;
    assert!(exists(&world, "Secret", "s"));
    assert_eq!(world.application("shop").status.resources.len(), 1);
    world.end().await;
}

#[tokio::test]
async fn a_cluster_scoped_object_is_permitted_by_its_name() {
    let world = World::new().await;
    project(
        &world,
        value!({"clusterResourceWhitelist": [{"group": "", "kind": "Namespace", "name": "team-*"}]}),
    )
    .await;
    let namespace = |name: &str| format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
    world.commit(&[("good/n.yaml", &namespace("team-a")), ("bad/n.yaml", &namespace("other"))]);
    world.deliver("good", "good", &automated()).await;
    world.deliver("bad", "bad", &value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}})).await;
    world.until("the good one", |world| world.state("good") == FINE).await;
    world.until("the bad one", |world| world.state("bad").ends_with("Failed")).await;
    let result = world.application("bad").status.operation_state.unwrap().sync_result.unwrap();
    assert_eq!(result.resources[0].message, "resource :Namespace is not permitted in project default");
    world.end().await;
}

#[tokio::test]
async fn the_rules_of_a_global_project_hold_for_those_that_its_selector_fits() {
    let world = World::new().await;
    world
        .apply(
            "apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: rules, namespace: argocd}\nspec:\n  \
             namespaceResourceBlacklist: [{group: '', kind: Secret}]\n",
        )
        .await;
    set(
        &world,
        "argocd-cm",
        "{globalProjects: '[{projectName: rules, labelSelector: {matchLabels: {opt: strict}}}]'}",
    )
    .await;
    world
        .patch(
            V1ALPHA1,
            "AppProject",
            "argocd",
            "default",
            &value!({"metadata": {"labels": {"opt": "strict"}}}),
        )
        .await;
    world.commit(&[("app/s.yaml", &secret("s"))]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}})).await;
    world.until("the refusal", |world| world.state("shop").ends_with("Failed")).await;
    let result = world.application("shop").status.operation_state.unwrap().sync_result.unwrap();
    assert_eq!(result.resources[0].message, "resource :Secret is not permitted in project default");
    world.end().await;
}

#[tokio::test]
async fn applications_of_other_namespaces_are_taken_where_settings_and_project_say_so() {
    let world = World::new().await;
    world.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a}\n").await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let text = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: shop, namespace: team-a}}\nspec:\n  project: \
         default\n  source: {{repoURL: '{}', path: app, targetRevision: main}}\n  destination: {{server: \
         'https://kubernetes.default.svc', namespace: default}}\n  syncPolicy: {{automated: {{}}}}\n",
        world.repository()
    );
    world.apply(&text).await;
    let status = |world: &World, path: &[&str]| {
        let object = world.object("argoproj.io", "Application", "team-a", "shop").unwrap();
        object.value().str_at(path).unwrap_or_default().to_owned()
    };
    world.pass(SignedDuration::from_secs(3)).await;
    let object = world.object("argoproj.io", "Application", "team-a", "shop").unwrap();
    assert!(object.at(&["status", "sync"]).is_none(), "it is not ours");
    set(&world, "argocd-cmd-params-cm", "{application.namespaces: 'team-*'}").await;
    let said = |world: &World| {
        let object = world.object("argoproj.io", "Application", "team-a", "shop").unwrap();
        object.value().items_at(&["status", "conditions"]).first().map(|condition| {
            let text = |field| condition.str_at(&[field]).unwrap_or_default().to_owned();
            format!("{}: {}", text("type"), text("message"))
        })
    };
    world.until("the refusal", |world| said(world).is_some()).await;
    assert_eq!(
        said(&world).unwrap(),
        "UnknownError: application 'shop' in namespace 'team-a' is not permitted to use project 'default'"
    );
    project(&world, value!({"sourceNamespaces": ["team-a"]})).await;
    world.until("the sync", |world| status(world, &["status", "sync", "status"]) == "Synced").await;
    assert!(exists(&world, "ConfigMap", "a"));
    world.end().await;
}

#[tokio::test]
async fn a_sync_acts_as_the_service_account_that_the_project_names() {
    let world = World::new().await;
    set(&world, "argocd-cm", "{application.sync.impersonation.enabled: 'true'}").await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &value!({})).await;
    world.until("the comparison", |world| world.state("shop") == "OutOfSync Missing").await;
    sync(&world, "shop").await;
    world.until("the refusal", |world| world.state("shop").ends_with("Error")).await;
    assert_eq!(
        message(&world, "shop"),
        "no matching service account found for destination server https://kubernetes.default.svc and namespace default"
    );
    project(&world, value!({"destinationServiceAccounts": [
        {"server": "https://kubernetes.default.svc", "namespace": "default", "defaultServiceAccount": "deployer"},
    ]}))
    .await;
    sync(&world, "shop").await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    let result = world.application("shop").status.operation_state.unwrap().sync_result.unwrap();
    assert!(
        result.resources[0].message.contains("User \"system:serviceaccount:default:deployer\" cannot"),
        "{}",
        result.resources[0].message
    );
    world
        .apply(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: deployer, namespace: default}\nrules:\n- \
             {apiGroups: [''], resources: [configmaps], verbs: ['*']}\n---\napiVersion: \
             rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: deployer, namespace: default}\nroleRef: \
             {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer}\nsubjects:\n- {kind: ServiceAccount, name: \
             deployer, namespace: default}\n",
        )
        .await;
    sync(&world, "shop").await;
    world.until("the sync", |world| world.state("shop") == FINE).await;
    world.end().await;
}

#[tokio::test]
async fn objects_that_belong_to_nobody_are_counted_where_the_project_wants_to_know() {
    let world = World::new().await;
    project(&world, value!({"orphanedResources": {"ignore": [{"group": "", "kind": "Secret"}]}})).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    let spec = value!({"syncPolicy": {"automated": {}, "syncOptions": ["CreateNamespace=true"]}, "destination": {"namespace": "shop"}});
    world.deliver("shop", "app", &spec).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    assert_eq!(world.said("shop"), "");
    let own = |kind: &str, name: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop}}\n")
    };
    world.apply(&own("ConfigMap", "mine")).await;
    world.apply(&own("Secret", "ignored")).await;
    let expect = "OrphanedResourceWarning: Application has 1 orphaned resources";
    world.until("the warning", |world| world.said("shop").trim() == expect).await;
    project(&world, value!({"orphanedResources": {"warn": false}})).await;
    world.until("silence", |world| world.said("shop").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn only_revisions_that_are_signed_by_a_trusted_key_are_delivered() {
    let world = World::new().await;
    let (mut jane, mut eve) = (Signer::new(1), Signer::new(2));
    let keys = |signers: &[&Signer]| {
        let mut map = lynceus_object::Object::named(
            &lynceus_object::Gvk::new("", "v1", "ConfigMap"),
            "argocd",
            "argocd-gpg-keys-cm",
        );
        for signer in signers {
            map.set(&["data", signer.id().as_str()], signer.public());
        }
        lynceus_object::yaml::to_string(map.value())
    };
    world.apply(&keys(&[&jane, &eve])).await;
    project(&world, value!({"signatureKeys": [{"keyID": jane.id()}]})).await;
    let commit = world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    let refusal = |commit: &str, why: &str| {
        format!(
            "ComparisonError: GIT/GPG: Failed verifying revision {commit} by 'Test <test@example.com>': {why}"
        )
    };
    let expect = refusal(&commit.to_string(), "unsigned (key_id=)");
    world.until("the first refusal", |world| world.said("shop").trim() == expect).await;
    assert!(!exists(&world, "ConfigMap", "a"));
    let commit = world.commit_signed(&[("app/a.yaml", &config_map("a", "two"))], &mut |data| eve.sign(data));
    let expect = refusal(&commit.to_string(), &format!("signed with unallowed key (key_id={})", eve.id()));
    world.until("the second refusal", |world| world.said("shop").trim() == expect).await;
    world.commit_signed(&[("app/a.yaml", &config_map("a", "three"))], &mut |data| jane.sign(data));
    world.until("the sync", |world| world.state("shop") == FINE).await;
    assert_eq!(world.said("shop"), "");
    // With the whole history in view, the first commit counts as well.
    project(
        &world,
        value!({"sourceIntegrity": {"git": {"policies": [
            {"repos": [{"url": "*"}], "gpg": {"mode": "strict", "keys": [jane.id()]}},
        ]}}}),
    )
    .await;
    world
        .until("the third refusal", |world| world.said("shop").matches("Failed verifying").count() == 2)
        .await;
    let seal = "A seal\n\nArgocd-gpg-seal: reviewed\n";
    world.commit_signed_as(seal, &[("app/a.yaml", &config_map("a", "four"))], &mut |data| jane.sign(data));
    world.until("the seal", |world| world.state("shop") == FINE && world.said("shop").is_empty()).await;
    world.end().await;
}

#[tokio::test]
async fn a_sync_that_takes_too_long_is_stopped() {
    let world = World::new().await;
    set(&world, "argocd-cmd-params-cm", "{controller.sync.timeout.seconds: '4'}").await;
    let slow = job("slow", "PreSync", "[\"sleep\", \"3600\"]");
    world.commit(&[("app/a.yaml", &config_map("a", "one")), ("app/slow.yaml", &slow)]);
    world.deliver("shop", "app", &value!({"syncPolicy": {"automated": {}, "retry": {"limit": 0}}})).await;
    world.until("its end", |world| world.state("shop").ends_with("Failed")).await;
    let message = message(&world, "shop");
    assert!(message.ends_with("triggered by controller sync timeout"), "{message}");
    world.end().await;
}

#[tokio::test]
async fn settings_are_followed_as_soon_as_they_are_set() {
    let world = World::new().await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    let source = |world: &World| world.application("shop").status.resource_health_source.as_str().to_owned();
    assert_eq!(source(&world), "appTree");
    set(&world, "argocd-cmd-params-cm", "{controller.resource.health.persist: 'true'}").await;
    world.until("the new place", |world| source(world).is_empty()).await;
    set(&world, "argocd-cm", "{resource.exclusions: '[{apiGroups: [\"\"], kinds: [ConfigMap]}]'}").await;
    let expect = "ExcludedResourceWarning: Resource /ConfigMap a is excluded in the settings";
    world.until("the exclusion", |world| world.said("shop").trim() == expect).await;
    world.end().await;
}

#[tokio::test]
async fn a_change_of_ignored_fields_is_no_reason_to_look() {
    let world = World::new().await;
    set(
        &world,
        "argocd-cm",
        "{resource.customizations.ignoreResourceUpdates.ConfigMap: 'jsonPointers: [/data]'}",
    )
    .await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &automated()).await;
    world.until("the commit", |world| world.state("shop") == FINE).await;
    let data = |world: &World| {
        let map = world.object("", "ConfigMap", "default", "a").unwrap();
        map.value().str_at(&["data", "key"]).unwrap_or_default().to_owned()
    };
    // What was asked for before is looked at first.
    world.pass(SignedDuration::from_secs(5)).await;
    world.patch("v1", "ConfigMap", "default", "a", &value!({"data": {"key": "drifted"}})).await;
    world.until("the drift", |world| data(world) == "drifted").await;
    world.pass(SignedDuration::from_secs(5)).await;
    assert_eq!(data(&world), "drifted", "nobody was told of it");
    let refresh = value!({"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}});
    world.patch(V1ALPHA1, "Application", "argocd", "shop", &refresh).await;
    world.until("the healing", |world| data(world) == "one").await;
    world.end().await;
}
