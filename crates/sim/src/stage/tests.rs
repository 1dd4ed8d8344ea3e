//! Stages as text, and what is read from them or said of them.

use super::*;

fn error(text: &str) -> String {
    let stage = format!("apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\n{text}");
    let error = Stage::read("stage.yaml", &stage).expect_err(text);
    format!("{error} | {}", error.hint)
}

fn read(text: &str) -> Stage {
    Stage::read("stage.yaml", &format!("apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\n{text}")).unwrap()
}

#[test]
fn a_bad_stage_is_refused_with_its_line_and_field() {
    for (text, wanted) in [
        ("node: 1", "stage.yaml:3: node is no key of a stage | it may have: apiVersion, kind, nodePools,"),
        ("nodePools: {}", "stage.yaml:3: nodePools has to be a list | begin"),
        ("nodePools:\n- count: 2", "stage.yaml:4: nodePools[0] lacks name | name: the pool's name;"),
        (
            "nodePools:\n- name: a\n  count: 9000",
            "stage.yaml:5: nodePools[0].count is out of bounds | it has to be a whole number from 0 to 3000",
        ),
        (
            "nodePools: [{name: a, count: 2900}, {name: b, count: 101}]",
            "stage.yaml:3: nodePools[1] makes more than 3000 nodes",
        ),
        (
            "nodePools: [{name: a}, {name: a}]",
            "stage.yaml:3: nodePools[1] is the second pool with the name a",
        ),
        ("nodePools: [{name: A}]", "stage.yaml:3: nodePools[0].name cannot begin a node's name"),
        (
            "nodePools:\n- name: a\n  capacity:\n    cpu: lots",
            "stage.yaml:6: nodePools[0].capacity.cpu is no amount | write it as 8, 500m or 32Gi",
        ),
        (
            "nodePools: [{name: a, taints: [{key: a, effect: Never}]}]",
            "stage.yaml:3: nodePools[0].taints[0].effect cannot be \"Never\" | it has to be one of: NoSchedule,",
        ),
        (
            "images: {unlisted: maybe}",
            "stage.yaml:3: images.unlisted cannot be \"maybe\" | it has to be one of: present",
        ),
        (
            "images: {list: [{image: 'a:v1'}]}",
            "stage.yaml:3: images.list[0].image has a tag or a digest | put tags into",
        ),
        (
            "images: {list: [{image: a, digests: ['sha256:1']}]}",
            "stage.yaml:3: images.list[0].digests[0] is no digest",
        ),
        (
            "programs:\n- image: a\n  after: soon",
            "stage.yaml:5: programs[0].after is no duration | write it as 5s",
        ),
        (
            "programs: [{image: a, needs: {service: 'a:http'}}]",
            "stage.yaml:3: programs[0].needs.service names no Service",
        ),
        ("storage: [{class: a, binding: Later}]", "stage.yaml:3: storage[0].binding cannot be \"Later\""),
        (
            "nodePools:\n- name: a\n  labels:\n    team: core\n    a b: c",
            "stage.yaml:7: nodePools[0].labels.a b cannot be \"a b\" | name part must consist of",
        ),
        (
            "nodePools:\n- name: a\n  labels:\n    team: a/b",
            "stage.yaml:6: nodePools[0].labels.team cannot be \"a/b\" | a valid label must be",
        ),
        (
            "nodePools:\n- name: a\n  taints:\n  - {key: -x, effect: NoSchedule}",
            "stage.yaml:6: nodePools[0].taints[0].key cannot be \"-x\" | name part must consist of",
        ),
        (
            "nodePools:\n- name: a\n  taints:\n  - {key: x, effect: NoSchedule}\n  - {key: x, effect: NoSchedule}",
            "stage.yaml:7: nodePools[0].taints[1] is the second taint x:NoSchedule",
        ),
        ("nodePools: [{name: a, zones: ['']}]", "stage.yaml:3: nodePools[0].zones[0] cannot be \"\""),
        (
            "nodePools:\n- name: a\n  capacity: {'my gpu': 1}",
            "stage.yaml:5: nodePools[0].capacity.my gpu cannot be \"my gpu\"",
        ),
        (
            "storage:\n- class: Slow_One",
            "stage.yaml:4: storage[0].class cannot be \"Slow_One\" | a lowercase RFC 1123 subdomain",
        ),
        ("storage: [{class: a}, {class: a}]", "stage.yaml:3: storage[1] is the second class with the name a"),
        ("storage: [{class: a, provisioner: 'my disk'}]", "stage.yaml:3: storage[0].provisioner cannot be"),
        ("faults: [{name: a., slow: 1s}]", "stage.yaml:3: faults[0].name cannot be \"a.\" | a lowercase"),
        ("ingress: [{controller: nginx}]", "stage.yaml:3: ingress[0].controller cannot be \"nginx\" | write"),
        (
            "ingress: [{controller: k8s.io/nginx, address: 'http://a'}]",
            "stage.yaml:3: ingress[0].address cannot be \"http://a\"",
        ),
        (
            "programs: [{image: a, needs: {service: My_Db}}]",
            "stage.yaml:3: programs[0].needs.service names no Service",
        ),
        (
            "webhooks: [{service: 'a/B', rules: [{allow: true}]}]",
            "stage.yaml:3: webhooks[0].service names no Service | write it as namespace/name",
        ),
        ("images: {}\nimages: {}", "stage.yaml:4: key \"images\" already set in map"),
        ("---\nkind: Stage", "stage.yaml:4: there is a second document"),
    ] {
        let said = error(text);
        assert!(said.starts_with(wanted), "{text}\n{said}\n{wanted}");
    }
    let none = Stage::read("a.yaml", "kind: Pod").unwrap_err();
    assert_eq!(none.to_string(), "a.yaml:1: the stage lacks apiVersion");
    assert_eq!(Stage::read("a.yaml", "").unwrap_err().to_string(), "a.yaml:1: there is nothing in it");
}

#[test]
fn every_key_can_be_given() {
    let stage = read(concat!(
        "nodePools:\n",
        "- {name: general, count: 2, capacity: {cpu: 8, memory: 32Gi}, labels: {tier: a}, architecture: arm64,\n",
        "   taints: [{key: dedicated, value: gpu, effect: NoSchedule}], zones: [a, b], volumeLimit: 25}\n",
        "images:\n",
        "  unlisted: absent\n",
        "  list:\n",
        "  - {image: example.com/app, tags: [v1], digests: [], platforms: [linux/amd64], pullSecret: true}\n",
        "programs:\n",
        "- {image: '*/migrate:*', container: main, exitCode: 1, after: 5s, message: 'no table', oom: false, readyAfter: 3s,\n",
        "   needs: {service: 'vault.vault:8200', crashWithout: true}, log: [one, two]}\n",
        "storage:\n",
        "- {class: slow, provisioner: example.com/slow, binding: WaitForFirstConsumer, fails: 'rpc error', default: true}\n",
    ));
    let pool = &stage.pools.as_deref().unwrap()[0];
    assert_eq!((pool.count, pool.volume_limit, pool.architecture.as_str()), (2, Some(25), "arm64"));
    assert_eq!(pool.capacity, [("cpu".into(), "8".into()), ("memory".into(), "32Gi".into())]);
    let script = stage.script("example.com/migrate:v1", "main").unwrap();
    let need =
        Need { service: "vault".into(), namespace: Some("vault".into()), port: Some(8200), crash: true };
    assert_eq!((script.exit_code, script.needs.as_ref()), (Some(1), Some(&need)));
    assert!(stage.script("example.com/migrate:v1", "side").is_none());
    assert!(stage.storage[0].waits && stage.storage[0].default);
}

#[test]
fn images_are_found_by_name_tag_digest_and_platform() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let stage = read(&format!(
        "images:\n  list:\n  - {{image: nginx, tags: ['1.*'], digests: ['{digest}']}}\n\
         \x20 - {{image: example.com/arm, platforms: [linux/arm64]}}\n  - {{image: 'example.com/own/*', pullSecret: true}}\n"
    ));
    let with_digest = format!("nginx@{digest}");
    for (image, secret, wanted) in [
        ("nginx:1.25", false, "in registry"),
        ("docker.io/library/nginx:1.25", false, "in registry"),
        ("nginx", false, "not found"),
        (with_digest.as_str(), false, "in registry"),
        ("redis", false, "on machine"),
        ("example.com/arm:v1", false, "other platform"),
        ("example.com/own/app:v1", false, "takes a secret"),
        ("example.com/own/app:v1", true, "takes a secret"),
    ] {
        let found = match stage.images.find(&Reference::parse(image).unwrap(), "linux/amd64", secret) {
            Availability::OnMachine => "on machine",
            Availability::InRegistry { needs_secret: false } => "in registry",
            Availability::InRegistry { needs_secret: true } => "takes a secret",
            Availability::NotFound => "not found",
            Availability::OtherPlatform => "other platform",
        };
        assert_eq!(found, wanted, "{image}");
    }
}

#[test]
fn names_of_images_are_read_as_runtimes_read_them() {
    for (image, wanted) in [
        ("nginx", "docker.io/library/nginx:latest"),
        ("team/app:v1", "docker.io/team/app:v1"),
        ("localhost:5000/app", "localhost:5000/app:latest"),
        ("registry.example.com/team/my_app:1.0-rc.1", "registry.example.com/team/my_app:1.0-rc.1"),
        ("Nginx", "invalid reference format: repository name (library/Nginx) must be lowercase"),
        ("app:", "invalid reference format"),
        ("app:v1 ", "invalid reference format"),
        ("example.com/a..b", "invalid reference format"),
        ("app@sha256:12", "invalid reference format"),
        ("", "invalid reference format"),
    ] {
        let read = match Reference::parse(image) {
            Ok(reference) => reference.full(),
            Err(error) => error.split_once("\": ").map(|(_, why)| why.to_owned()).unwrap(),
        };
        assert_eq!(read, wanted, "{image:?}");
    }
}

#[test]
fn webhooks_metrics_and_ingress_controllers_are_read_with_what_is_wrong_about_them() {
    let stage = read(concat!(
        "programs: [{image: a, uses: {cpu: 80m, memory: 1Gi}, shares: {cpu: 2}}]\n",
        "metrics: [{name: m, of: Pod/*, namespace: a*, value: 3}, {name: jobs, labels: {a: b}, value: 500m}]\n",
        "ingress: [{controller: e.com/x, address: x.example.com}]\n",
        "webhooks: [{configuration: a*, webhook: b, service: shop/s, image: i, rules: [{when: 'true', deny: '${object.kind}'},\n",
        "  {patch: [{op: remove, path: /a}], warn: [careful]}, {allow: true}, {fails: timeout}]}]\n",
    ));
    assert_eq!((stage.scripts[0].uses.len(), stage.metrics.len(), stage.ingress.len()), (2, 2, 1));
    assert!(
        stage.webhooks[0].plays("ab", "b", Some(("shop", "s"))) && !stage.webhooks[0].plays("ab", "b", None)
    );
    for (text, wanted) in [
        ("programs: [{image: a, uses: {cpu: much}}]", "stage.yaml:3: programs[0].uses.cpu is no amount"),
        (
            "metrics: [{name: m, of: web, value: 1}]",
            "stage.yaml:3: metrics[0].of names no object | write it as Service/web",
        ),
        ("metrics: [{name: m}]", "stage.yaml:3: metrics[0] lacks value"),
        ("webhooks: [{rules: []}]", "stage.yaml:3: webhooks[0] has neither configuration nor service"),
        (
            "webhooks: [{service: s}]",
            "stage.yaml:3: webhooks[0].service names no Service | write it as namespace/name",
        ),
        (
            "webhooks:\n- configuration: a\n  rules:\n  - when: object.kind ==\n    allow: true",
            "stage.yaml:6: webhooks[0].rules[0].when is no expression: ERROR: <input>:1:",
        ),
        (
            "webhooks: [{configuration: a, rules: [{when: '1', allow: true}]}]",
            "stage.yaml:3: webhooks[0].rules[0].when comes to int | it has to be true or false",
        ),
        (
            "webhooks: [{configuration: a, rules: [{allow: true, deny: never}]}]",
            "stage.yaml:3: webhooks[0].rules[0] has no answer or several | give it one of: allow,",
        ),
        (
            "webhooks: [{configuration: a, rules: [{deny: '${oops}'}]}]",
            "stage.yaml:3: webhooks[0].rules[0].deny \"oops\" is no expression: ERROR: <input>:1:1: undeclared reference",
        ),
    ] {
        let said = error(text);
        assert!(said.starts_with(wanted), "{text}\n{said}\n{wanted}");
    }
}

#[test]
fn the_documentation_has_every_key() {
    let page = include_str!("../../../../docs/sim.md");
    let missing: Vec<String> = KEYS
        .iter()
        .map(|(path, meaning)| format!("| `{path}` | {meaning} |"))
        .filter(|row| !page.contains(row.as_str()))
        .collect();
    assert!(missing.is_empty(), "docs/sim.md lacks these rows:\n{}", missing.join("\n"));
}
