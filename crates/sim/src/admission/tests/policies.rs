//! Policies in CEL.

use lynceus_object::schema;

use super::*;

fn spec(kind: &str, more: &Value) -> Value {
    let mut policy = value!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "p"},
        "spec": {"matchConstraints": {"resourceRules": [
            {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]},
        ]}},
    });
    for (field, part) in more.as_map().unwrap().iter() {
        policy.set(&["spec", field], part.clone());
    }
    policy
}

fn bound(kind: &str, more: &Value) -> Value {
    let mut binding = value!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "b"}, "spec": {"policyName": "p"},
    });
    for (field, part) in more.as_map().unwrap().iter() {
        binding.set(&["spec", field], part.clone());
    }
    binding
}

/// What becomes of a write under a validating policy, with the rights of a cluster where `alice` may get pods in `shop`, and
/// the service account `robot` may get `/metrics`.
async fn judged(policy: Value, actions: Value) -> String {
    let rule = |more: Value| {
        let mut rule = value!({"verbs": ["get"]});
        for (field, part) in more.as_map().unwrap().iter() {
            rule.set(&[field], part.clone());
        }
        rule
    };
    let group = "rbac.authorization.k8s.io";
    let role = value!({
        "apiVersion": format!("{group}/v1"), "kind": "Role", "metadata": {"name": "reader", "namespace": "shop"},
        "rules": [rule(value!({"apiGroups": [""], "resources": ["pods", "pods/log"]}))],
    });
    let binding = value!({
        "apiVersion": format!("{group}/v1"), "kind": "RoleBinding", "metadata": {"name": "alice", "namespace": "shop"},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "User", "apiGroup": group, "name": "alice"}],
    });
    let metrics = value!({
        "apiVersion": format!("{group}/v1"), "kind": "ClusterRole", "metadata": {"name": "metrics"},
        "rules": [rule(value!({"nonResourceURLs": ["/metrics"]}))],
    });
    let robot = value!({
        "apiVersion": format!("{group}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": "robot"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "metrics"},
        "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "shop"}],
    });
    let shelf = [role, binding, metrics, robot].into_iter().fold(Shelf::default(), Shelf::with);
    let binding = bound("ValidatingAdmissionPolicyBinding", &value!({"validationActions": actions}));
    validated(shelf.with(spec("ValidatingAdmissionPolicy", &policy)).with(binding)).await
}

#[tokio::test]
async fn expressions_may_ask_who_may_do_what() {
    for (expression, fine) in [
        ("authorizer.group('').resource('pods').namespace('shop').check('get').allowed()", true),
        ("authorizer.group('').resource('pods').namespace('shop').check('delete').allowed()", false),
        ("authorizer.group('').resource('pods').namespace('other').name('a').check('get').allowed()", false),
        (
            "authorizer.group('').resource('pods').subresource('log').namespace('shop').check('get').allowed()",
            true,
        ),
        (
            "authorizer.group('').resource('pods').subresource('exec').namespace('shop').check('get').allowed()",
            false,
        ),
        ("authorizer.group('apps').resource('pods').namespace('shop').check('get').allowed()", false),
        (
            "authorizer.group('').resource('pods').labelSelector('a=b').namespace('shop').check('get').allowed()",
            true,
        ),
        ("authorizer.path('/metrics').check('get').allowed()", false),
        ("authorizer.serviceAccount('shop', 'robot').path('/metrics').check('get').allowed()", true),
        ("authorizer.requestResource.check('create').allowed()", false),
        (
            "authorizer.group('').resource('pods').namespace('shop').check('get').reason() == 'RBAC: allowed by \
             RoleBinding \"alice/shop\" of Role \"reader\" to User \"alice\"'",
            true,
        ),
        ("authorizer.requestResource.check('create').reason() == ''", true),
        ("authorizer.requestResource.check('create').errored()", false),
        ("variables.may.allowed()", true),
    ] {
        let policy = value!({
            "variables": [{"name": "may", "expression": "authorizer.group('').resource('pods').namespace('shop').check('get')"}],
            "validations": [{"expression": expression, "message": "no"}],
        });
        let expected = match fine {
            true => "fine []",
            false => {
                "422 Invalid configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
            }
        };
        assert_eq!(judged(policy, value!(["Deny"])).await, expected, "{expression}");
    }
}

#[tokio::test]
async fn a_question_that_cannot_be_put_is_an_error() {
    for (expression, why) in [
        ("authorizer.path('').check('get').allowed()", "path must not be empty"),
        ("authorizer.group('').resource('').check('get').allowed()", "resource must not be empty"),
        (
            "authorizer.serviceAccount('shop', 'Robot').path('/').check('get').allowed()",
            "Invalid service account name",
        ),
        (
            "authorizer.serviceAccount('a.b', 'robot').path('/').check('get').allowed()",
            "Invalid service account namespace",
        ),
    ] {
        let policy = value!({"validations": [{"expression": expression}]});
        assert_eq!(
            judged(policy.clone(), value!(["Deny"])).await,
            format!(
                "422 Invalid configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: \
                 expression '{expression}' resulted in error: {why}"
            )
        );
        assert_eq!(
            judged(policy, value!(["Warn"])).await,
            format!(
                "fine {:?}",
                [format!(
                    "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': expression '{expression}' resulted \
                     in error: {why}"
                )]
            )
        );
    }
}

#[tokio::test]
async fn a_webhook_is_asked_where_its_conditions_about_rights_hold() {
    let url = serve(|_| value!({"allowed": false})).await;
    for (expression, asked) in [
        ("authorizer.requestResource.check('create').allowed()", false),
        ("!authorizer.requestResource.check('create').allowed()", true),
    ] {
        let changes = value!({"matchConditions": [{"name": "rights", "expression": expression}]});
        let found = validated(Shelf::default().hook(VALIDATING, &url, changes)).await;
        assert_eq!(found != "fine []", asked, "{expression} {found}");
    }
}

#[tokio::test]
async fn a_condition_that_is_false_decides_whatever_is_wrong_with_others() {
    let conditions = |texts: [&str; 3]| {
        let one = |text: &str| value!({"name": "n", "expression": text});
        Value::from(texts.map(one).to_vec())
    };
    let (wrong, worse) = ("object.data.gone == 'x'", "object.data.away == 'x'");
    let unmatched = conditions([wrong, "false", worse]);
    let policy = value!({
        "matchConditions": unmatched.clone(), "validations": [{"expression": "false", "message": "no"}],
    });
    assert_eq!(judged(policy.clone(), value!(["Deny"])).await, "fine []");
    let mut broken = policy;
    broken.set(&["matchConditions"], conditions([wrong, worse, wrong]));
    assert_eq!(
        judged(broken, value!(["Deny"])).await,
        "422 Invalid configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: \
         [expression 'object.data.gone == 'x'' resulted in error: no such key: gone, expression 'object.data.away == 'x'' \
         resulted in error: no such key: away]"
    );
    let mut mutating = patches("[JSONPatch{op: 'remove', path: '/data/k'}]");
    mutating.set(&["matchConditions"], unmatched);
    assert_eq!(changed(mutating).await, Ok(value!({"data": {"k": "v"}, "labels": {"a": "b"}})));
}

#[tokio::test]
async fn a_note_for_the_audit_that_cannot_be_made_counts_as_the_failure_policy_says() {
    let policy = |expression: &str, failure: &str| {
        value!({
            "failurePolicy": failure, "validations": [{"expression": "true"}],
            "auditAnnotations": [{"key": "k", "valueExpression": expression}],
        })
    };
    let denied = "422 Invalid configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: \
                  expression 'object.data.gone' resulted in error: no such key: gone";
    for (expression, failure, expected) in [
        ("object.data.k", "Fail", "fine []"),
        ("null", "Fail", "fine []"),
        ("object.data.gone", "Fail", denied),
        ("object.data.gone", "Ignore", "fine []"),
    ] {
        // What is to be done about refusals is about validations alone.
        assert_eq!(
            judged(policy(expression, failure), value!(["Warn"])).await,
            expected,
            "{expression} {failure}"
        );
    }
}

#[tokio::test]
async fn the_first_refusal_counts_and_no_warning_is_lost() {
    let rules = value!({"validations": [
        {"expression": "false", "message": "first", "reason": "Forbidden"},
        {"expression": "object.data.gone == ''"},
        {"expression": "false", "messageExpression": "'k is ' + object.data.k"},
    ]});
    let object = config_map();
    let shelf = Shelf::default()
        .with(spec("ValidatingAdmissionPolicy", &rules))
        .with(bound("ValidatingAdmissionPolicyBinding", &value!({"validationActions": ["Deny", "Warn"]})));
    let error =
        Chain::new().validate(&shelf, &admission(Operation::Create), Some(&object), None).await.unwrap_err();
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            403,
            "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: first"
        )
    );
    let words: Vec<&str> =
        error.warnings.iter().filter_map(|warning| warning.split_once("'b': ").map(|(_, why)| why)).collect();
    let failed = "expression 'object.data.gone == ''' resulted in error: no such key: gone";
    assert_eq!(words, ["first", failed, "k is v"]);
}

/// What a mutating policy leaves of a ConfigMap's data and labels.
async fn changed(policy: Value) -> Result<Value, String> {
    let shelf = Shelf::default()
        .with(spec("MutatingAdmissionPolicy", &policy))
        .with(bound("MutatingAdmissionPolicyBinding", &value!({})));
    let mut object = config_map();
    let admission = admission(Operation::Create);
    let ty = schema::builtin().of(&admission.kind).unwrap();
    match Chain::new().mutate(&shelf, &admission, ty, &mut object, None).await {
        Ok(_) => Ok(
            value!({"data": object.at(&["data"]).cloned(), "labels": object.at(&["metadata", "labels"]).cloned()}),
        ),
        Err(error) => Err(format!("{} {} {}", error.code, error.reason, error.message)),
    }
}

fn patches(expression: &str) -> Value {
    value!({"mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]})
}

fn applies(expression: &str) -> Value {
    value!({"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}]})
}

#[tokio::test]
async fn a_policy_changes_an_object_by_a_patch_or_by_laying_fields_over_it() {
    let both = |data: Value, labels: Value| value!({"data": data, "labels": labels});
    let same = || both(value!({"k": "v"}), value!({"a": "b"}));
    for (policy, expected) in [
        (
            patches("[JSONPatch{op: 'add', path: '/data/new', value: object.data.k + '!'}]"),
            both(value!({"k": "v", "new": "v!"}), value!({"a": "b"})),
        ),
        (
            patches(
                "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('e.com/x'), value: 'y'}]",
            ),
            both(value!({"k": "v"}), value!({"a": "b", "e.com/x": "y"})),
        ),
        (
            patches(
                "[JSONPatch{op: 'test', path: '/data/k', value: 'other'}, JSONPatch{op: 'remove', path: '/data/k'}]",
            ),
            same(),
        ),
        (
            applies(
                "Object{metadata: Object.metadata{labels: {'team': request.userInfo.username}}, data: {'k': 'w'}}",
            ),
            both(value!({"k": "w"}), value!({"a": "b", "team": "alice"})),
        ),
        (applies("Object{}"), same()),
    ] {
        assert_eq!(changed(policy.clone()).await, Ok(expected), "{policy:?}");
    }
    let mut unmatched = patches("[JSONPatch{op: 'remove', path: '/data/k'}]");
    unmatched.set(&["matchConditions"], value!([{"name": "n", "expression": "object.data.k == 'other'"}]));
    assert_eq!(changed(unmatched).await, Ok(same()));
    let mut with_variables = patches("[JSONPatch{op: 'add', path: '/data/who', value: variables.who}]");
    let may = "authorizer.requestResource.check('create').allowed() ? 'may' : 'may not'";
    with_variables.set(&["variables"], value!([{"name": "who", "expression": may}]));
    assert_eq!(
        changed(with_variables).await,
        Ok(both(value!({"k": "v", "who": "may not"}), value!({"a": "b"})))
    );
}

#[tokio::test]
async fn a_change_that_cannot_be_made_counts_as_the_failure_policy_says() {
    let failing = patches("[JSONPatch{op: 'add', path: '/data/x', value: object.data.gone}]");
    assert_eq!(
        changed(failing.clone()).await.unwrap_err(),
        "403 Invalid policy 'p' with binding 'b' denied request: expression '[JSONPatch{op: 'add', path: '/data/x', value: \
         object.data.gone}]' resulted in error: no such key: gone"
    );
    let mut open = failing;
    open.set(&["failurePolicy"], "Ignore");
    assert_eq!(changed(open).await, Ok(value!({"data": {"k": "v"}, "labels": {"a": "b"}})));
    let nowhere = changed(patches("[JSONPatch{op: 'remove', path: '/data/gone'}]")).await.unwrap_err();
    assert!(
        nowhere.starts_with("403 Invalid policy 'p' with binding 'b' denied request: JSON Patch: "),
        "{nowhere}"
    );
}
