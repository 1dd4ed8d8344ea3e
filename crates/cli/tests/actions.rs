//! `lynceus app actions` as a user types it, against a running `lynceus up`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

mod support;

use lynceus_object::{Object, Value, yaml};
use support::{Home, Up, until};

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: 'example/web:1'}]}
";

const BACKUP: &str = "
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: 0 0 1 1 *
  jobTemplate:
    spec:
      suspend: true
      template:
        spec: {restartPolicy: Never, containers: [{name: main, image: 'example/backup:1'}]}
";

fn object(text: &str) -> Object {
    Object::new(yaml::parse_str(text).unwrap()).unwrap()
}

/// Runs `lynceus app actions` with the words of a line: its exit code if that is not 0, and what it printed.
fn actions(home: &Home, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let output = home.run(&[&["app", "--kubeconfig", "data/kubeconfig", "actions"], &words[..]].concat());
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    match output.status.code() {
        Some(0) => text,
        code => format!("[{}] {text}", code.unwrap_or(-1)),
    }
}

/// Delivers files as the application `shop` of a project.
async fn delivered(home: &Home, settings: &[&str], project: &str, files: &[(&str, &str)]) -> Up {
    let files: Vec<(&str, String)> = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    home.commit(&files);
    let up = home.up(&[]).await;
    for setting in settings {
        up.create(&object(setting)).await;
    }
    let mut application = home.application("shop", "app");
    application.set(&["spec", "project"], project);
    up.create(&application).await;
    let synced = async || up.state("shop").await.starts_with("Synced").then_some(());
    until("the sync", synced).await;
    up
}

async fn text(up: &Up, group: &str, kind: &str, name: &str, path: &[&str]) -> String {
    let object = up.get(group, kind, "shop", name).await.expect("it is there");
    match object.at(path) {
        Some(Value::Str(text)) => text.to_string(),
        Some(other) => lynceus_object::json::to_string(other),
        None => "nothing".to_owned(),
    }
}

#[tokio::test]
async fn what_is_built_in_is_listed_and_run() {
    let home = Home::new();
    let files = [("app/web.yaml", WEB), ("app/backup.yaml", BACKUP)];
    let up = delivered(&home, &[], "default", &files).await;
    assert_eq!(
        actions(&home, "list shop"),
        "GROUP        KIND         NAME    ACTION            DISABLED\n\
         apps         Deployment   web     pause             false\n\
         apps         Deployment   web     restart           false\n\
         apps         Deployment   web     resume            true\n\
         apps         Deployment   web     scale             false\n\
         batch        CronJob      backup  create-job        false\n\
         batch        CronJob      backup  suspend           false\n\
         argoproj.io  Application  shop    toggle-auto-sync  false\n"
    );
    assert_eq!(
        actions(&home, "list shop --kind Application --out json"),
        "[\n  {\n    \"Group\": \"argoproj.io\",\n    \"Kind\": \"Application\",\n    \"Name\": \"shop\",\n    \
         \"Action\": \"toggle-auto-sync\",\n    \"Disabled\": false\n  }\n]\n"
    );
    assert_eq!(
        actions(&home, "list shop --kind Application -o yaml"),
        "- Action: toggle-auto-sync\n  Disabled: false\n  Group: argoproj.io\n  Kind: Application\n  Name: shop\n\n"
    );

    assert_eq!(actions(&home, "run shop restart --kind Deployment"), "");
    let restarted = ["spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"];
    assert!(text(&up, "apps", "Deployment", "web", &restarted).await.starts_with("20"));
    // It is not the sync's: one that begins to apply on the server's side does not take it back.
    let sync = ["app", "--kubeconfig", "data/kubeconfig", "sync", "shop", "--server-side", "--timeout", "60"];
    assert!(home.run(&sync).status.success());
    assert_ne!(text(&up, "apps", "Deployment", "web", &restarted).await, "nothing");
    let told = up.told("argocd", "ResourceActionRan").await;
    assert!(told[0].ends_with(" ran action restart on resource apps/Deployment/web"), "{told:?}");

    assert_eq!(actions(&home, "run shop scale --kind Deployment --param replicas=3"), "");
    assert_eq!(text(&up, "apps", "Deployment", "web", &["spec", "replicas"]).await, "3");
    assert_eq!(
        actions(&home, "run shop scale --kind Deployment"),
        "[20] error: cannot run action scale on apps/Deployment/shop/web\n  caused by: what is to be changed cannot be worked \
         out\n  caused by: parameter replicas: is required\n  hint: give it with --param replicas=VALUE\n"
    );

    assert_eq!(actions(&home, "run shop create-job --kind CronJob --group batch"), "");
    let jobs = up.jobs("shop").await;
    let job = jobs[0].split(' ').next().unwrap();
    assert!(job.starts_with("backup-2") && jobs.len() == 1, "{jobs:?}");
    assert_eq!(text(&up, "batch", "Job", job, &["spec", "suspend"]).await, "true");
    // What the application's objects own is acted on too; here, in its status.
    assert_eq!(actions(&home, "run shop terminate --kind Job"), "");
    let conditions = text(&up, "batch", "Job", job, &["status", "conditions"]).await;
    assert!(conditions.contains("ManuallyTerminated"), "{conditions}");

    assert_eq!(actions(&home, "run shop toggle-auto-sync --kind Application"), "");
    let application = up.get("argoproj.io", "Application", "argocd", "shop").await.unwrap();
    assert_eq!(application.value().bool_at(&["spec", "syncPolicy", "automated", "enabled"]), Some(false));
}

#[tokio::test]
async fn what_cannot_be_run_says_why_and_nothing_is_changed() {
    let home = Home::new();
    let second = WEB.replace("name: web", "name: api").replace("app: web", "app: api");
    let files = [("app/web.yaml", WEB), ("app/api.yaml", second.as_str())];
    let up = delivered(&home, &[], "default", &files).await;
    let mut other = object(&WEB.replace("name: web", "name: other"));
    other.set(&["metadata", "namespace"], "shop");
    up.create(&other).await;
    for (line, told) in [
        (
            "run shop dance --kind Deployment --resource-name web",
            "[20] error: cannot run action dance on apps/Deployment/shop/web\n  caused by: Deployment has no action \"dance\"; \
             it has pause, restart, resume, scale\n  hint: see which there are, and which can be run now:\n        \
             lynceus app actions list APPNAME\n",
        ),
        (
            "run shop restart --kind Deployment --resource-name other",
            "[20] error: no matching resource found\n  hint: an action is for what the application manages and for what that \
             owns, nothing else\n",
        ),
        (
            "run shop restart --kind Deployment",
            "[20] error: multiple resources match inputs, use the --all flag to patch multiple resources\n  hint: or name one \
             with --resource-name, and --namespace if need be:\n        shop/api\n        shop/web\n",
        ),
        (
            "list nope",
            "[20] error: there is no application nope in namespace argocd\n  hint: list them with `lynceus app list`\n",
        ),
    ] {
        assert_eq!(actions(&home, line), told);
    }
    let template = ["spec", "template", "metadata", "annotations"];
    for name in ["web", "api", "other"] {
        assert_eq!(text(&up, "apps", "Deployment", name, &template).await, "nothing");
    }

    // An outage of Git is when somebody wants to restart something.
    std::fs::remove_dir_all(home.folder.join("repository")).unwrap();
    assert_eq!(actions(&home, "run shop restart --kind Deployment --all"), "");
    for name in ["web", "api"] {
        assert_ne!(text(&up, "apps", "Deployment", name, &template).await, "nothing");
    }
    assert_eq!(text(&up, "apps", "Deployment", "other", &template).await, "nothing");
}

const PROJECT: &str = "
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: narrow, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{server: '*', namespace: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
  namespaceResourceBlacklist: [{group: batch, kind: Job}]
";

#[tokio::test]
async fn an_action_makes_nothing_that_the_project_does_not_permit() {
    let home = Home::new();
    let up = delivered(&home, &[PROJECT], "narrow", &[("app/backup.yaml", BACKUP)]).await;
    let told = actions(&home, "run shop create-job --kind CronJob");
    let (head, rest) = told.split_once("manage batch/Job/backup-").expect(&told);
    assert_eq!(
        head,
        "[20] error: cannot run action create-job on batch/CronJob/shop/backup\n  caused by: application is not permitted to "
    );
    assert!(
        rest.contains(" in shop\n  caused by: resource batch:Job is not permitted in project narrow\n"),
        "{rest}"
    );
    assert_eq!(up.jobs("shop").await, [""; 0]);
    assert_eq!(actions(&home, "run shop suspend --kind CronJob"), "");
    assert_eq!(text(&up, "batch", "CronJob", "backup", &["spec", "suspend"]).await, "true");
}

/// Actions of our own. `Widget` has a status of its own, `Gadget` keeps it with the rest.
const SETTINGS: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data:
  resource.customizations.actions.example.com_Widget: &actions |
    discovery.lua: |
      return {mark = {}, copy = {disabled = obj.spec.size == 1}, stray = {}}
    definitions:
    - name: mark
      action.lua: |
        obj.spec.size = tonumber(actionParams["size"])
        obj.status = {phase = "Marked"}
        return obj
    - name: copy
      action.lua: |
        local copy = {apiVersion = "v1", kind = "ConfigMap"}
        copy.metadata = {name = "copy", namespace = obj.metadata.namespace}
        copy.data = {size = tostring(obj.spec.size)}
        return {{operation = "create", resource = copy}, {operation = "patch", resource = obj}}
    - name: stray
      action.lua: |
        obj.metadata.name = "another"
        return obj
  resource.customizations.actions.example.com_Gadget: *actions
  resource.customizations.actions.Secret: |
    discovery.lua: return {leak = {}}
    definitions:
    - name: leak
      action.lua: error("it is " .. obj.data.word)
  resource.customizations.actions.ConfigMap: |
    discovery.lua: error("not today")
"#;

fn definition(kind: &str, subresources: &str) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    format!(
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {plural}.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{kind: {kind}, plural: {plural}}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {subresources}
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
"
    )
}

#[tokio::test]
async fn a_users_own_actions_come_from_the_settings() {
    let home = Home::new();
    let definitions = [definition("Widget", "{status: {}}"), definition("Gadget", "{}")];
    let one = |kind: &str| {
        format!("apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: one}}\nspec: {{size: 1}}\n")
    };
    let files = [
        ("app/a.yaml", definitions.join("---")),
        ("app/b.yaml", one("Widget")),
        ("app/c.yaml", one("Gadget")),
        ("app/e.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n".to_owned()),
        (
            "app/d.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {word: hush-hush}\n".to_owned(),
        ),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let up = delivered(&home, &[SETTINGS], "default", &files).await;
    assert_eq!(
        actions(&home, "list shop --kind Widget"),
        "GROUP        KIND    NAME  ACTION  DISABLED\n\
         example.com  Widget  one   copy    true\n\
         example.com  Widget  one   mark    false\n\
         example.com  Widget  one   stray   false\n"
    );
    for kind in ["Widget", "Gadget"] {
        assert_eq!(actions(&home, &format!("run shop mark --kind {kind} --param size=7")), "");
        assert_eq!(text(&up, "example.com", kind, "one", &["spec", "size"]).await, "7");
        assert_eq!(text(&up, "example.com", kind, "one", &["status", "phase"]).await, "Marked");
    }
    assert_eq!(actions(&home, "run shop copy --kind Widget"), "");
    assert_eq!(text(&up, "", "ConfigMap", "copy", &["data", "size"]).await, "7");
    let again = actions(&home, "run shop copy --kind Widget");
    assert!(again.contains("caused by: configmaps \"copy\" already exists\n"), "{again}");

    let stray = actions(&home, "run shop stray --kind Widget");
    assert!(
        stray.contains("the script changes example.com/Widget/shop/another, but it may only change example.com/Widget/shop/one"),
        "{stray}"
    );
    assert_eq!(
        actions(&home, "list shop --kind ConfigMap"),
        "[20] GROUP  KIND  NAME  ACTION  DISABLED\nerror: the actions of some resources cannot be listed\n  caused by: \
         /ConfigMap/shop/c: which actions there are cannot be told: the script of the action has failed: <string>:1: not today\n  hint: they \
         are under resource.customizations in the ConfigMap argocd-cm\n"
    );
    let leak = actions(&home, "run shop leak --kind Secret");
    assert!(leak.starts_with("[20] error: cannot run action leak on /Secret/shop/s\n"), "{leak}");
    assert!(leak.contains("it is ++++") && !leak.contains("aHVzaC1odXNo"), "{leak}");
}
