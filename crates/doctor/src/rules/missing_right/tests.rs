use crate::tests::check;

const JOB: &str = "
@app ci OutOfSync Progressing
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci}
@live
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci, uid: j1}
spec: {template: {spec: {serviceAccountName: waiter, containers: [{name: wait, image: cli}]}}}
status: {failed: 1}
---
apiVersion: v1
kind: Pod
metadata: {name: wait-1, namespace: ci, ownerReferences: [{kind: Job, name: wait, uid: j1, controller: true}]}
spec: {containers: [{name: wait, image: cli}]}
status:
  phase: Failed
  containerStatuses:
  - name: wait
    state: {terminated: {exitCode: 1, message: 'imagestreamtags.image.openshift.io \"web:latest\" is forbidden: User \"system:serviceaccount:ci:waiter\" cannot get resource \"imagestreamtags\" in API group \"image.openshift.io\" in the namespace \"ci\"'}}
";

#[test]
fn a_job_that_may_not_read_what_it_waits_for_is_found() {
    assert_eq!(
        check("LYN0803", JOB),
        "P1 LYN0803/ci/ServiceAccount/waiter: service account ci/waiter may not get imagestreamtags.image.openshift.io in namespace ci, which Job ci/wait needs\n  Pod ci/wait-1: status.containerStatuses[0].state.terminated.message: imagestreamtags.image.openshift.io \"web:latest\" is forbidden: User \"system:serviceaccount:ci:waiter\" cannot get resource \"imagestreamtags\" in API group \"image.openshift.io\" in the namespace \"ci\"\n  fix: Let service account waiter get imagestreamtags.image.openshift.io in namespace ci\n"
    );
}

#[test]
fn a_role_that_is_bound_is_extended() {
    let role = "
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: waiter, namespace: ci}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
@live
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter, namespace: ci}
roleRef: {kind: Role, name: waiter}
subjects: [{kind: ServiceAccount, name: waiter, namespace: ci}]
---
";
    let snapshot = crate::tests::snapshot(&JOB.replacen("@live\n", role, 1));
    let mut findings = crate::finding::Findings::default();
    super::check(&crate::case::Case::new(&snapshot), &mut findings);
    let found = findings.into_sorted();
    let steps: Vec<String> = found[0].fixes[0].steps.iter().map(ToString::to_string).collect();
    assert_eq!(
        steps,
        [
            "in the files of ci: set rules of Role waiter to [{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\"]},\
          {\"apiGroups\":[\"image.openshift.io\"],\"resources\":[\"imagestreamtags\"],\"verbs\":[\"get\"]}]"
        ]
    );
}

#[test]
fn a_binding_that_names_the_account_in_another_namespace_is_corrected() {
    let role = "
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter, namespace: ci}
@live
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: waiter, namespace: ci}
rules: [{apiGroups: [image.openshift.io], resources: [imagestreamtags], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter, namespace: ci}
roleRef: {kind: Role, name: waiter}
subjects: [{kind: ServiceAccount, name: waiter, namespace: ci-dev}]
---
";
    let text = JOB.replacen("@live\n", role, 1);
    let found = check("LYN0803", &text);
    assert!(
        found.contains("needs; RoleBinding waiter has subjects[0].namespace ci-dev instead of ci\n"),
        "{found}"
    );
    assert!(found.ends_with("  fix: Have RoleBinding waiter bind ci/waiter\n"), "{found}");
    let there = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: waiter, namespace: ci-dev}\n";
    assert!(
        !check("LYN0803", &format!("{text}{there}")).contains("instead of"),
        "it may be meant for that one"
    );
}

#[test]
fn what_a_sync_may_not_do_is_not_a_programs_trouble() {
    let text = "
@app shop OutOfSync Missing
@condition ComparisonError deployments.apps is forbidden: User \"system:serviceaccount:argocd:x\" cannot list resource \"deployments\" in API group \"apps\" at the cluster scope
";
    assert_eq!(check("LYN0803", text), "");
}

const SCRIPT: &str = "
@live
apiVersion: batch/v1
kind: Job
metadata: {name: wait, namespace: ci, uid: j1}
spec:
  template:
    spec:
      serviceAccountName: waiter
      containers:
      - name: wait
        image: cli
        command: [/bin/sh, -c]
        args: ['while ! oc get imagestreamtag web:latest -n ci; do sleep 30; done']
status: {active: 1}
---
apiVersion: image.openshift.io/v1
kind: ImageStreamTag
metadata: {name: 'other:latest', namespace: ci}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: waiter, namespace: ci}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: waiter, namespace: ci}
roleRef: {kind: Role, name: waiter}
subjects: [{kind: ServiceAccount, name: waiter, namespace: ci}]
";

#[test]
fn a_script_that_asks_for_more_than_its_roles_allow_is_found_without_a_word() {
    assert_eq!(
        check("LYN0803", SCRIPT),
        "P1 LYN0803/ci/ServiceAccount/waiter: service account ci/waiter may not get imagestreamtags.image.openshift.io in namespace ci, which Job ci/wait needs\n  Job ci/wait: spec.template.spec.containers[0].args: [\"while ! oc get imagestreamtag web:latest -n ci; do sleep 30; done\"]\n  fix: Let service account waiter get imagestreamtags.image.openshift.io in namespace ci\n"
    );
}

#[test]
fn a_script_whose_role_allows_it_is_fine() {
    let allowed = SCRIPT
        .replace("apiGroups: [''], resources: [pods]", "apiGroups: [image.openshift.io], resources: ['*']");
    assert_eq!(check("LYN0803", &allowed), "");
}

#[test]
fn where_no_roles_were_seen_nothing_can_be_told() {
    let (unseen, _) = SCRIPT.split_once("---\napiVersion: rbac").unwrap();
    assert_eq!(check("LYN0803", unseen), "");
}

#[test]
fn a_hook_gets_its_right_before_it_runs() {
    let hook = JOB.replacen(
        "metadata: {name: wait, namespace: ci}",
        "metadata: {name: wait, namespace: ci, annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/sync-wave: '2'}}",
        1,
    );
    let snapshot = crate::tests::snapshot(&hook);
    let mut findings = crate::finding::Findings::default();
    super::check(&crate::case::Case::new(&snapshot), &mut findings);
    let found = findings.into_sorted();
    let added: Vec<String> = found[0].fixes[0].steps.iter().filter_map(annotations).collect();
    let wanted = "{\"argocd.argoproj.io/hook\":\"PreSync\",\"argocd.argoproj.io/sync-wave\":\"1\"}";
    assert_eq!(added, [wanted, wanted]);
}

fn annotations(step: &crate::fix::Step) -> Option<String> {
    match step {
        crate::fix::Step::Git(crate::fix::Edit { place: crate::fix::Place::Add { object, .. }, .. }) => {
            Some(lynceus_object::json::to_string(object.at(&["metadata", "annotations"])?))
        }
        _ => None,
    }
}

#[test]
fn a_role_whose_name_is_taken_is_not_written_anew() {
    let taken = "
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: waiter, namespace: ci}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
@live
";
    let fixes = crate::tests::roots_with_fixes(&JOB.replacen("@live\n", taken, 1));
    assert!(fixes.contains("Role waiter-wait") && fixes.contains("RoleBinding waiter-wait"), "{fixes}");
}
