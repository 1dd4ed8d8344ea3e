//! Reading what an operator does.

use std::fmt;

use jiff::SignedDuration;
use lynceus_api::Glob;
use lynceus_object::{FieldPath, GroupKind, Segment, Str, Value, yaml};

use super::form;
use super::outcome::{Doomed, News, Outcome};
use super::script::Lua;
use super::template::{Scope, Template, compile};
use crate::cel::{Env, Program};

/// The version of the declarations that are read.
const API_VERSION: &str = "sim.lynceus.dev/v1alpha1";

/// What a program in the cluster does with objects of its kinds.
#[derive(Debug)]
pub struct Operator {
    /// Its name, which is that of its field manager as well.
    pub(super) name: &'static str,
    /// The account that it writes as.
    pub(super) user: &'static str,
    /// The images of the pods that it runs in: it does nothing while none of them is ready. Without any it always runs.
    pub(super) images: Vec<Glob>,
    pub(super) rules: Vec<Rule>,
}

/// What is done with objects of one kind.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) group: Str,
    pub(super) kind: Str,
    /// What names stand for, in an order in which each knows those that it uses.
    pub(super) names: Vec<(Str, Named)>,
    pub(super) course: Course,
}

/// What a name stands for.
#[derive(Debug)]
pub(super) enum Named {
    /// What an expression comes to.
    Expression(Program),
    Objects(Box<Lookup>),
}

/// How it is decided what is done.
#[derive(Debug)]
pub(super) enum Course {
    /// The first that holds is the one that counts.
    Cases(Vec<Case>),
    Script(Lua),
}

/// Another object, or several.
#[derive(Debug)]
pub(super) struct Lookup {
    pub(super) kind: Template,
    /// The namespace; the object's own if none is named, and all if it is `*`.
    pub(super) namespace: Option<Template>,
    pub(super) which: Which,
}

#[derive(Debug)]
pub(super) enum Which {
    /// One, by its name; null if it is not there.
    Name(Template),
    /// All that have these labels, as a list.
    Labels(Template),
}

/// What is so, and what is done then.
#[derive(Debug)]
pub(super) struct Case {
    /// Always, if there is none.
    pub(super) when: Option<Program>,
    /// How long it has to be so.
    pub(super) after: SignedDuration,
    status: Option<Template>,
    set: Option<Template>,
    create: Vec<Template>,
    delete: Vec<Template>,
    events: Vec<(bool, &'static str, Template)>,
}

/// What is wrong with a declaration, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    path: String,
    message: String,
    /// The way to the field, the last step first.
    steps: Vec<Segment>,
    /// The line, where the text cannot be read as far as the field.
    line: Option<u32>,
}

/// What is wrong with the declaration in a file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}:{line}: {fault}")]
pub struct Misread {
    file: String,
    line: u32,
    fault: Fault,
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl Fault {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Fault { path: String::new(), message: message.into(), steps: Vec::new(), line: None }
    }

    /// Where it stands in the text.
    fn line(&self, text: &str) -> u32 {
        let path: FieldPath = self.steps.iter().rev().cloned().collect();
        let documents = yaml::documents(text.as_bytes(), &yaml::Options::default());
        let document = documents.iter().find(|document| !document.is_empty).map_or(0, |one| one.index);
        let found = || yaml::locate(text.as_bytes(), document, &path).map(|(line, _)| line);
        self.line.or_else(found).unwrap_or(1)
    }

    pub(super) fn at_field(mut self, name: &str) -> Self {
        self.steps.push(Segment::Field(name.into()));
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Fault { path: format!("{name}{separator}{}", self.path), ..self }
    }

    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.steps.push(Segment::Index(index));
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Fault { path: format!("[{index}]{separator}{}", self.path), ..self }
    }
}

impl Operator {
    /// The kinds whose objects it does something with.
    pub fn kinds(&self) -> impl Iterator<Item = GroupKind> {
        self.rules.iter().map(|rule| GroupKind::new(rule.group.clone(), rule.kind.clone()))
    }

    /// Reads a declaration from a file; what is wrong is told with the file, the line and the field.
    pub fn open(file: &str, text: &str) -> Result<Self, Misread> {
        Operator::read(text).map_err(|fault| Misread { file: file.to_owned(), line: fault.line(text), fault })
    }

    /// Reads a declaration.
    pub fn read(text: &str) -> Result<Self, Fault> {
        // A key that is there twice would be half of what somebody meant.
        let options = yaml::Options::default().strict();
        let mut documents = yaml::documents(text.as_bytes(), &options);
        documents.retain(|document| !document.is_empty);
        let at_line = |line: u32, message: String| Fault { line: Some(line.max(1)), ..Fault::new(message) };
        if let [_, second, ..] = documents.as_slice() {
            let message = "there is a second document; put each operator into a file";
            return Err(at_line(second.line, message.to_owned()));
        }
        let Some(document) = documents.pop() else {
            return Err(Fault::new(format!("there is no Operator of {API_VERSION} in it")));
        };
        let value = document.result.map_err(|error| at_line(error.line, error.to_string()))?;
        let top = Fields::of(&value, &["apiVersion", "kind", "metadata", "spec"])?;
        if top.text("apiVersion")? != API_VERSION || top.text("kind")? != "Operator" {
            return Err(Fault::new(format!("is no Operator of {API_VERSION}")));
        }
        let name = top.inner("metadata", |metadata| {
            let name = Fields::of(metadata, &["name"])?.text("name")?;
            form::check_name(name).map_err(|fault| fault.at_field("name"))?;
            Ok(name.to_owned())
        })?;
        let (images, rules) = top.inner("spec", |spec| {
            let spec = Fields::of(spec, &["image", "lua", "rules"])?;
            let images = match spec.get("image") {
                Some(Value::Str(_)) => {
                    vec![glob(spec.text("image")?).map_err(|fault| fault.at_field("image"))?]
                }
                _ => spec.list_or_none("image", |image| {
                    glob(image.as_str().ok_or_else(|| Fault::new("has to be a text"))?)
                })?,
            };
            let lua = spec.optional_text("lua")?.unwrap_or_default();
            Ok((images, spec.list("rules", |rule| Rule::read(rule, lua))?))
        })?;
        // It lives as long as the program does, as the names of built-in controllers.
        let user = format!("system:serviceaccount:{name}:{name}").leak();
        Ok(Operator { name: name.leak(), user, images, rules })
    }
}

fn glob(pattern: &str) -> Result<Glob, Fault> {
    Glob::new(pattern).map_err(|error| Fault::new(error.to_string()))
}

impl Rule {
    fn read(value: &Value, shared: &str) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["kind", "let", "with", "cases", "lua"])?;
        let kind = fields.text("kind")?;
        form::check_kind(kind).map_err(|fault| fault.at_field("kind"))?;
        let (group, kind) = split(kind);
        let (names, env) = named(&fields)?;
        let course = match fields.optional_text("lua")? {
            Some(text) if fields.get("cases").is_none() => {
                Course::Script(Lua::read(shared, text).map_err(|fault| fault.at_field("lua"))?)
            }
            Some(_) => return Err(Fault::new("cannot stand beside cases").at_field("lua")),
            None => Course::Cases(fields.list("cases", |case| Case::read(case, &env))?),
        };
        Ok(Rule { group: group.into(), kind: kind.into(), names, course })
    }
}

/// Reads `let` and `with`. They may use each other's names; what is wrong is told of the first that cannot be read for anything else
/// than a name that is still to come.
fn named(fields: &Fields<'_>) -> Result<(Vec<(Str, Named)>, Env), Fault> {
    let mut open = Vec::new();
    for section in ["let", "with"] {
        let Some(value) = fields.get(section) else { continue };
        let map = value.as_map().ok_or_else(|| Fault::new("has to be a map").at_field(section))?;
        open.extend(map.iter().map(|(name, value)| (section, name, value)));
    }
    let (mut names, mut env) = (Vec::new(), Env::untyped(["self".into()]));
    while !open.is_empty() {
        let (mut later, mut faults) = (Vec::new(), Vec::new());
        let before = names.len();
        for (section, name, value) in open {
            let read = match section {
                "let" => value
                    .as_str()
                    .ok_or_else(|| Fault::new("has to be an expression"))
                    .and_then(|text| compile(text, &env))
                    .map(Named::Expression),
                _ => Lookup::read(value, &env).map(|lookup| Named::Objects(Box::new(lookup))),
            };
            match read {
                Ok(read) => {
                    env = env.and(name.clone());
                    names.push((name.clone(), read));
                }
                Err(fault) => {
                    faults.push(fault.at_field(name).at_field(section));
                    later.push((section, name, value));
                }
            }
        }
        if names.len() == before {
            let awaits = |fault: &Fault| {
                later.iter().any(|(_, name, _)| fault.message.contains(&format!("reference to '{name}'")))
            };
            let at = faults.iter().position(|fault| !awaits(fault)).unwrap_or_default();
            return Err(faults.swap_remove(at));
        }
        open = later;
    }
    Ok((names, env))
}

impl Lookup {
    fn read(value: &Value, env: &Env) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["kind", "namespace", "name", "labels"])?;
        let which = match (fields.template("name", env)?, fields.template("labels", env)?) {
            (Some(name), None) => Which::Name(name),
            (None, Some(labels)) => Which::Labels(labels),
            _ => return Err(Fault::new("needs either a name or labels")),
        };
        if let Some(kind) = fields.get("kind").and_then(Value::as_str) {
            form::check_kind(kind).map_err(|fault| fault.at_field("kind"))?;
        }
        let kind = fields.template("kind", env)?.ok_or_else(|| Fault::new("needs a kind"))?;
        Ok(Lookup { kind, namespace: fields.template("namespace", env)?, which })
    }
}

impl Case {
    fn read(value: &Value, env: &Env) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["when", "after", "status", "set", "create", "delete", "events"])?;
        let when = match fields.optional_text("when")? {
            Some(text) => Some(compile(text, env).map_err(|fault| fault.at_field("when"))?),
            None => None,
        };
        Ok(Case {
            when,
            after: duration(&fields, "after")?,
            status: fields.template("status", env)?,
            set: fields.template("set", env)?,
            create: fields.list_or_none("create", |object| {
                form::check_made(object)?;
                Template::read(object, env)
            })?,
            delete: fields.list_or_none("delete", |named| {
                Fields::of(named, Doomed::FIELDS)?;
                form::check_doomed(named)?;
                Template::read(named, env)
            })?,
            events: fields.list_or_none("events", |event| news(event, env))?,
        })
    }

    /// What it says of an object.
    pub(super) fn fill(&self, scope: &Scope<'_>) -> Result<Outcome, String> {
        let fill = |template: &Option<Template>| template.as_ref().map(|one| one.fill(scope)).transpose();
        let told = |(warning, reason, message): &(bool, &'static str, Template)| {
            Ok::<_, String>(News { warning: *warning, reason, message: message.fill_text(scope)? })
        };
        Ok(Outcome {
            status: fill(&self.status)?,
            set: fill(&self.set)?,
            create: self.create.iter().map(|one| one.fill(scope)).collect::<Result<_, _>>()?,
            delete: self.delete.iter().map(|one| doomed(&one.fill(scope)?)).collect::<Result<_, _>>()?,
            events: self.events.iter().map(told).collect::<Result<_, _>>()?,
            again: None,
        })
    }
}

fn doomed(named: &Value) -> Result<Doomed, String> {
    Doomed::read(named).map_err(|fault| format!("what is to be deleted: {fault}"))
}

/// How long something has to be so.
pub(super) fn duration(fields: &Fields<'_>, name: &str) -> Result<SignedDuration, Fault> {
    match fields.optional_text(name)? {
        Some(text) => lynceus_api::parse_duration(text)
            .map_err(|_| Fault::new(format!("{text:?} is no duration such as 5s")).at_field(name)),
        None => Ok(SignedDuration::ZERO),
    }
}

fn news(value: &Value, env: &Env) -> Result<(bool, &'static str, Template), Fault> {
    let fields = Fields::of(value, &["type", "reason", "message"])?;
    let message = fields.template("message", env)?.ok_or_else(|| Fault::new("needs a message"))?;
    Ok((fields.is_warning()?, fields.text("reason")?.to_owned().leak(), message))
}

/// A group and a kind, as in `apps/Deployment`; the core group has none.
pub(super) fn split(text: &str) -> (&str, &str) {
    text.rsplit_once('/').unwrap_or(("", text))
}

/// The fields of a map, all of which are known.
pub(super) struct Fields<'a>(&'a lynceus_object::Map);

impl<'a> Fields<'a> {
    pub(super) fn of(value: &'a Value, known: &[&str]) -> Result<Self, Fault> {
        let map = value.as_map().ok_or_else(|| Fault::new("has to be a map"))?;
        if let Some((name, _)) = map.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(Fault::new(format!("is not known; there is {}", known.join(", "))).at_field(name));
        }
        Ok(Fields(map))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&'a str>, Fault> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| Fault::new("has to be a text").at_field(name))
    }

    pub(super) fn text(&self, name: &str) -> Result<&'a str, Fault> {
        self.optional_text(name)?.ok_or_else(|| Fault::new("is missing").at_field(name))
    }

    /// Whether an event warns.
    pub(super) fn is_warning(&self) -> Result<bool, Fault> {
        match self.optional_text("type")? {
            None | Some("Normal") => Ok(false),
            Some("Warning") => Ok(true),
            Some(other) => {
                Err(Fault::new(format!("{other:?} is neither Normal nor Warning")).at_field("type"))
            }
        }
    }

    fn inner<T>(&self, name: &str, read: impl FnOnce(&'a Value) -> Result<T, Fault>) -> Result<T, Fault> {
        let value = self.get(name).ok_or_else(|| Fault::new("is missing").at_field(name))?;
        read(value).map_err(|fault| fault.at_field(name))
    }

    fn template(&self, name: &str, env: &Env) -> Result<Option<Template>, Fault> {
        let Some(value) = self.get(name) else { return Ok(None) };
        Template::read(value, env).map(Some).map_err(|fault| fault.at_field(name))
    }

    fn list<T>(&self, name: &str, read: impl Fn(&'a Value) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let items = self.list_or_none(name, read)?;
        if items.is_empty() { Err(Fault::new("needs at least one").at_field(name)) } else { Ok(items) }
    }

    pub(super) fn list_or_none<T>(
        &self,
        name: &str,
        read: impl Fn(&'a Value) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let items = value.as_seq().ok_or_else(|| Fault::new("has to be a list").at_field(name))?;
        let read = |(index, item)| read(item).map_err(|fault| fault.at_index(index).at_field(name));
        items.iter().enumerate().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let head = "apiVersion: sim.lynceus.dev/v1alpha1\nkind: Operator\nmetadata: {name: x}\nspec:\n";
        Operator::read(&format!("{head}{text}")).err().map(|fault| fault.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_line() {
        let head = "# Things\n---\napiVersion: sim.lynceus.dev/v1alpha1\nkind: Operator\nmetadata:\n  name: x\nspec:\n";
        for (text, wanted) in [
            ("  rule: []\n", "op.yaml:8: spec.rule: is not known; there is image, lua, rules"),
            (
                "  rules:\n  - kind: apps/v1/Deployment\n    cases: [{}]\n",
                "op.yaml:9: spec.rules[0].kind: \"apps/v1/Deployment\" is no kind: write it as Pod or",
            ),
            (
                "  rules:\n  - kind: a/B\n    cases:\n    - after: soon\n",
                "op.yaml:11: spec.rules[0].cases[0].after: \"soon\" is no duration such as 5s",
            ),
            (
                "  rules:\n  - kind: a/B\n    cases:\n    - create:\n      - apiVersion: v1\n        kind: Pod\n        metadata: {name: a}\n        spec:\n          container: []\n",
                "op.yaml:16: spec.rules[0].cases[0].create[0].spec.container: is no field of a v1 Pod",
            ),
            (
                "  rules:\n  - kind: a/B\n    cases:\n    - create:\n      - {apiVersion: v1, kind: Secret, metadata: {labels: {}}}\n",
                "op.yaml:12: spec.rules[0].cases[0].create[0].metadata.name: is missing",
            ),
            (
                "  rules:\n  - kind: a/B\n    cases:\n    - delete: [{kind: Pod}]\n",
                "op.yaml:11: spec.rules[0].cases[0].delete[0].name: is missing",
            ),
            ("  rules: []\n---\nkind: Operator\n", "op.yaml:10: there is a second document; put each"),
            ("  rules: [\n", "op.yaml:"),
            ("  lua: a\n  lua: b\n", "op.yaml:9: "),
        ] {
            let misread = Operator::open("op.yaml", &format!("{head}{text}")).unwrap_err().to_string();
            assert!(misread.starts_with(wanted), "{misread}\n{wanted}");
        }
        let named = Operator::open("op.yaml", &head.replace("name: x", "name: X")).unwrap_err().to_string();
        assert!(named.starts_with("op.yaml:6: metadata.name: cannot be \"X\": a lowercase"), "{named}");
        assert_eq!(
            Operator::open("op.yaml", "").unwrap_err().to_string(),
            "op.yaml:1: there is no Operator of sim.lynceus.dev/v1alpha1 in it"
        );
    }

    #[test]
    fn a_declaration_is_read_and_what_is_wrong_has_its_place() {
        assert_eq!(problem("  rules: [{kind: example.com/Thing, cases: [{status: {ready: true}}]}]\n"), "");
        for (text, expected) in [
            ("  rules: []\n", "spec.rules: needs at least one"),
            ("  rule: []\n", "spec.rule: is not known; there is image, lua, rules"),
            (
                "  rules: [{kind: a/B, cases: [{when: 'self.'}]}]\n",
                "spec.rules[0].cases[0].when: \"self.\" is no expression",
            ),
            (
                "  rules: [{kind: a/B, cases: [{after: soon}]}]\n",
                "spec.rules[0].cases[0].after: \"soon\" is no duration such as 5s",
            ),
            (
                "  rules: [{kind: a/B, cases: [{delete: [{kind: C, names: x}]}]}]\n",
                "spec.rules[0].cases[0].delete[0].names: is not known; there is kind, namespace, name",
            ),
            (
                "  rules: [{kind: a/B, with: {x: {kind: C}}, cases: [{}]}]\n",
                "spec.rules[0].with.x: needs either a name or labels",
            ),
            (
                "  rules: [{kind: a/B, let: {a: b + 1, b: self.}, cases: [{}]}]\n",
                "spec.rules[0].let.b: \"self.\" is no expression",
            ),
            (
                "  rules: [{kind: a/B, let: {a: b, b: a}, cases: [{}]}]\n",
                "spec.rules[0].let.a: \"b\" is no expression",
            ),
            (
                "  rules: [{kind: a/B, cases: [{}], lua: return}]\n",
                "spec.rules[0].lua: cannot stand beside cases",
            ),
            (
                "  lua: \"local x\\n\"\n  rules: [{kind: a/B, lua: \"local y\\nreturn }\"}]\n",
                "spec.rules[0].lua: line 2: unexpected symbol near '}'",
            ),
            (
                "  rules: [{kind: a/B, cases: [{status: {a: '${other.x}'}}]}]\n",
                "spec.rules[0].cases[0].status.a: \"other.x\" is no expression",
            ),
        ] {
            assert!(problem(text).starts_with(expected), "{}", problem(text));
        }
    }
}
