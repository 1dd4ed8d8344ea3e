//! An engine that may not do everything.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_testkit::fixture::{FINE, automated, config_map, once, secret};
use lynceus_testkit::world::{Setting, World};

/// Rights for `limited`: `*` on the groups and resources of each rule.
fn rights(rules: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: limited}}\nrules:\n{rules}---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {{name: limited}}\nroleRef: \
         {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: limited}}\nsubjects:\n- {{apiGroup: \
         rbac.authorization.k8s.io, kind: User, name: limited}}\n"
    )
}

async fn limited(rules: &str) -> World {
    let user = Some("limited".to_owned());
    World::open(Setting { user, given: rights(rules), ..Setting::default() }).await
}

const OWN: &str = "- {apiGroups: [argoproj.io], resources: ['*'], verbs: ['*']}\n- {apiGroups: [''], resources: \
                   [events], verbs: ['*']}\n";

#[tokio::test]
async fn a_kind_that_may_not_be_read_is_told_and_the_others_are_delivered() {
    let rules = format!(
        "{OWN}- {{apiGroups: [''], resources: [configmaps, namespaces, pods], verbs: ['*']}}\n- {{apiGroups: [apps], \
         resources: ['*'], verbs: ['*']}}\n"
    );
    let world = limited(&rules).await;
    world.commit(&[("good/a.yaml", &config_map("a", "one")), ("bad/s.yaml", &secret("s"))]);
    world.deliver("good", "good", &automated()).await;
    world.deliver("bad", "bad", &once()).await;
    world.until("the good one", |world| world.state("good") == FINE).await;
    world.until("what is wrong", |world| world.said("bad").contains("Secret")).await;
    world.end().await;
}

#[tokio::test]
async fn a_write_that_is_forbidden_fails_in_the_servers_words() {
    let rules = format!("{OWN}- {{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]}}\n");
    let world = limited(&rules).await;
    world.commit(&[("app/a.yaml", &config_map("a", "one"))]);
    world.deliver("shop", "app", &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    let state = world.application("shop").status.operation_state.unwrap();
    assert_eq!(
        state.sync_result.unwrap().resources[0].message,
        "configmaps is forbidden: User \"limited\" cannot create resource \"configmaps\" in API group \"\" in the \
         namespace \"default\""
    );
    world.end().await;
}

#[tokio::test]
async fn nobody_gives_more_rights_than_they_have() {
    let rules = format!(
        "{OWN}- {{apiGroups: ['*'], resources: ['*'], verbs: [get, list, watch]}}\n- {{apiGroups: \
         [rbac.authorization.k8s.io], resources: ['*'], verbs: [create, update, patch]}}\n"
    );
    let world = limited(&rules).await;
    world.commit(&[(
        "app/role.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: more}\nrules:\n- apiGroups: ['']\n  \
         resources: [secrets]\n  verbs: [delete]\n",
    )]);
    world.deliver("shop", "app", &once()).await;
    world.until("the failure", |world| world.state("shop").ends_with("Failed")).await;
    world.end().await;
}
