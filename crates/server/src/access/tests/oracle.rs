//! Random policies and requests, answered by us and by the casbin that Argo CD asks.
//!
//! `cargo xtask compat rbac` names the program that answers for Argo CD; without it a recorded set is answered again.

use std::io::Write as _;
use std::process::{Command, Stdio};

use lynceus_object::{Object, Value, json, value};

use crate::access::caller::{Identity, Origin, Who, granted};
use crate::access::policy::Grants;
use crate::access::rules::Rules;
use crate::access::{builtin, rules};

/// The program that answers for Argo CD.
const ORACLE: &str = "LYNCEUS_RBAC_ORACLE";

/// How many policies are asked about.
const COUNT: &str = "LYNCEUS_RBAC_COUNT";

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/access/tests/rbac.jsonl");

#[test]
fn rights_come_to_what_they_come_to_in_argo_cd() {
    let mut questions = Vec::new();
    match std::env::var_os(ORACLE) {
        Some(program) => {
            let count = std::env::var(COUNT).ok().and_then(|count| count.parse().ok()).unwrap_or(3_000);
            let mut chance = Chance(20_261_118);
            questions.extend((0..count).map(|_| question(&mut chance)));
            let answers = ask(&program, &questions);
            assert_eq!(answers.len(), questions.len());
            questions
                .iter_mut()
                .zip(answers)
                .for_each(|(question, answers)| question.set(&["answers"], answers));
            if std::env::var_os("LYNCEUS_BLESS").is_some() {
                let short = |question: &Value| {
                    let mut short = question.clone();
                    drop(short.remove(&["builtin"]));
                    json::to_string(&short) + "\n"
                };
                let lines: String = questions.iter().take(100).map(short).collect();
                std::fs::write(RECORDED, lines).unwrap();
            }
        }
        None => {
            let text = std::fs::read_to_string(RECORDED).unwrap();
            questions.extend(text.lines().map(|line| json::parse(line.as_bytes()).unwrap()));
        }
    }
    let differing: Vec<String> = questions.iter().flat_map(compare).collect();
    tell(&questions, differing.len());
    assert!(
        differing.is_empty(),
        "{} differ, such as\n{}",
        differing.len(),
        differing[..differing.len().min(5)].join("\n")
    );
    let allowed = questions
        .iter()
        .flat_map(|one| one.items_at(&["answers"]))
        .filter(|answer| **answer == Value::Bool(true));
    assert!(allowed.count() > questions.len(), "the questions are worth asking");
}

/// Says how many requests were answered alike, for whoever keeps count.
fn tell(questions: &[Value], differing: usize) {
    let (read, unread): (Vec<_>, Vec<_>) =
        questions.iter().enumerate().partition(|(_, question)| ours(question).is_some());
    unread.iter().for_each(|(at, _)| println!("rights: unread=policy#{at}"));
    let requests: usize = read.iter().map(|(_, question)| question.items_at(&["requests"]).len()).sum();
    println!("rights: {} of {}", requests - differing, requests + unread.len());
}

fn compare(question: &Value) -> Vec<String> {
    let Some(ours) = ours(question) else { return Vec::new() };
    let requests = question.items_at(&["requests"]).iter();
    let theirs = question.items_at(&["answers"]).iter();
    let pairs = requests.zip(theirs.zip(ours)).filter(|(_, (theirs, ours))| theirs.as_bool() != Some(*ours));
    pairs
        .map(|(request, (theirs, _))| {
            let mut short = question.clone();
            ["builtin", "requests", "answers"].iter().for_each(|field| drop(short.remove(&[field])));
            format!(
                "{} is {} there: {}",
                json::to_string(request),
                json::to_string(theirs),
                json::to_string(&short)
            )
        })
        .collect()
}

/// Our answers; none where we differ on purpose: a policy that cannot be read leaves the admin, here but not there.
fn ours(question: &Value) -> Option<Vec<bool>> {
    let text = |field: &str| question.str_at(&[field]).unwrap_or_default().to_owned();
    let map = object(
        value!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-rbac-cm"}, "data": {
            "policy.csv": text("policy"), "policy.default": text("default"), "policy.matchMode": text("mode"),
        }}),
    );
    let rules = Rules::read(Some(&map));
    let subject = text("subject");
    if rules.is_broken && subject == "admin" {
        return None;
    }
    let added = rules.of_project(&project(question));
    let origin = if subject.starts_with("proj:") { Origin::Project } else { Origin::Login };
    let who = Who::Known(Identity {
        origin,
        subject,
        issuer: String::new(),
        claims: value!({"groups": question.get("groups").cloned().unwrap_or_default()}),
        issued: 0,
        expires: None,
        id: String::new(),
        token: String::new(),
        carried: String::new(),
    });
    let base = granted(&who, &rules, "", None);
    let with = granted(&who, &rules, "team", Some(&added.policy));
    let requests = question.items_at(&["requests"]).iter();
    let words = requests.map(|request| {
        [0, 1, 2].map(|at| request.as_seq().and_then(|all| all.get(at)?.as_str()).unwrap_or_default())
    });
    Some(
        words
            .map(|[resource, action, thing]| {
                let is_of_project = match resource {
                    "projects" => thing == "team",
                    "accounts" => false,
                    _ => thing.starts_with("team/"),
                };
                let grants: &[Grants] = if is_of_project { &with } else { &base };
                grants.iter().any(|grants| grants.allow(resource, action, thing))
            })
            .collect(),
    )
}

fn object(value: Value) -> Object {
    Object::new(value).unwrap()
}

fn project(question: &Value) -> Object {
    object(value!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "team"},
        "spec": {"roles": question.get("roles").cloned().unwrap_or_default()},
    }))
}

fn ask(program: &std::ffi::OsStr, questions: &[Value]) -> Vec<Value> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text: String = questions.iter().map(|question| json::to_string(question) + "\n").collect();
    let mut stdin = child.stdin.take().unwrap();
    // Written beside the reading: neither pipe holds everything.
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| json::parse(line.as_bytes()).unwrap())
        .collect()
}

/// Numbers that look random and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len())]
    }
}

const SUBJECTS: [&str; 9] =
    ["alice", "bob", "admin", "role:a", "role:b", "role:readonly", "ops", "proj:team:dev", "proj:other:dev"];
const ROLES: [&str; 6] = ["role:a", "role:b", "role:readonly", "role:admin", "proj:team:dev", "ops"];
const RESOURCES: [&str; 8] =
    ["applications", "applicationsets", "logs", "exec", "clusters", "repositories", "projects", "accounts"];
const ACTIONS: [&str; 8] = [
    "get",
    "create",
    "update",
    "delete",
    "sync",
    "action/apps/Deployment/restart",
    "update//Pod/prod/web",
    "override",
];
const OBJECTS: [&str; 8] = [
    "team/web",
    "team/prod/web",
    "shop/web",
    "shop/a-b",
    "team",
    "default",
    "https://kubernetes.default.svc",
    "team/https://x",
];
const RESOURCE_GLOBS: [&str; 7] =
    ["*", "applications", "applications", "app*", "{logs,exec}", "clusters", "pro?ects"];
const ACTION_GLOBS: [&str; 9] = [
    "*",
    "get",
    "sync",
    "{get,sync}",
    "action/*",
    "update/*",
    "action/apps/*/rest*",
    "[gs]*",
    "update/*/Pod/*",
];
// Without alternatives of which only some have a star: the library takes those for as long as the last one.
const OBJECT_GLOBS: [&str; 15] = [
    "*",
    "*/*",
    "team/*",
    "team/*/web",
    "{team,shop}/*",
    "shop/[a-c]*",
    "shop/[!a]*",
    "*web",
    "team",
    "{team,sh?p}/web",
    "https://*",
    "[a-z0-9]*",
    "*/{web,a-b}",
    "shop/{",
    "t*m/**",
];
const RESOURCE_EXPRESSIONS: [&str; 4] = ["app.*", ".*", "^logs$", "(clusters|projects)"];
const ACTION_EXPRESSIONS: [&str; 5] = ["get", "^(get|sync)$", ".*", "action/.*", "("];
const OBJECT_EXPRESSIONS: [&str; 6] = [".*", "^team/.*$", "web$", "shop/[a-c].*", "*/*", "team"];

fn line(chance: &mut Chance, is_expression: bool) -> String {
    if chance.below(3) == 0 {
        return format!("g, {}, {}", chance.one(&SUBJECTS), chance.one(&ROLES));
    }
    let (resources, actions, objects): (&[&str], &[&str], &[&str]) = match is_expression {
        true => (&RESOURCE_EXPRESSIONS, &ACTION_EXPRESSIONS, &OBJECT_EXPRESSIONS),
        false => (&RESOURCE_GLOBS, &ACTION_GLOBS, &OBJECT_GLOBS),
    };
    let quoted = |text: &str| if text.contains(',') { format!("\"{text}\"") } else { text.to_owned() };
    let effect = chance.one(&["allow", "allow", "allow", "allow", "deny", "maybe"]);
    let (subject, resource) = (chance.one(&SUBJECTS), quoted(chance.one(resources)));
    let (action, object) = (quoted(chance.one(actions)), quoted(chance.one(objects)));
    let line = format!("p, {subject}, {resource}, {action}, {object}, {effect}");
    match chance.below(120) {
        0 => line.replace(", allow", ""),
        1 => format!("{line} \""),
        _ => line,
    }
}

fn lines(chance: &mut Chance, most: usize, is_expression: bool) -> Vec<String> {
    (0..chance.below(most)).map(|_| line(chance, is_expression)).collect()
}

fn question(chance: &mut Chance) -> Value {
    let is_expression = chance.below(4) == 0;
    let policy = lines(chance, 14, is_expression).join("\n");
    let own: Value = lines(chance, 5, is_expression).into_iter().map(Value::from).collect();
    let groups: Value = (0..chance.below(3)).map(|_| Value::from(chance.one(&["ops", "devs"]))).collect();
    let roles = value!([{"name": "dev", "policies": own, "groups": groups}]);
    let subject = chance.one(&SUBJECTS);
    let mine =
        if subject.starts_with("proj:") { Vec::new() } else { vec![chance.one(&["ops", "devs", "alice"])] };
    let requests: Value = (0..16)
        .map(|_| value!([chance.one(&RESOURCES), chance.one(&ACTIONS), chance.one(&OBJECTS)]))
        .collect();
    // There, too, the built-in lines are to be matched as they are meant.
    let builtin = match is_expression {
        true => builtin::text()
            .replace("*/*", ".*/.*")
            .replace(" *,", " .*,")
            .replace("e/*", "e/.*")
            .replace("n/*", "n/.*"),
        false => builtin::text(),
    };
    let builtin = if is_expression { anchored(&builtin) } else { builtin };
    let mut question = value!({
        "builtin": builtin, "policy": policy, "projectName": "team", "roles": roles, "subject": subject,
        "mode": if is_expression { "regex" } else { "glob" },
        "default": chance.one(&["", "", "role:readonly", "role:a"]),
        "groups": mine.into_iter().map(Value::from).collect::<Value>(),
        "requests": requests,
    });
    question.set(&["project"], rules::roles(&project(&question)));
    question
}

/// A glob matches the whole, an expression any part.
fn anchored(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split(", ").collect::<Vec<_>>()[..] {
        ["p", subject, resource, action, object, effect] => {
            format!("p, {subject}, ^{resource}$, ^{action}$, ^{object}$, {effect}\n")
        }
        _ => format!("{line}\n"),
    });
    lines.collect()
}
