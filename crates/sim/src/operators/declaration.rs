//! Reading what an operator does.

use std::fmt;

use jiff::SignedDuration;
use lynceus_api::Glob;
use lynceus_object::{Str, Value, yaml};

use super::template::{Template, compile};
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
    /// The image of the pods that it runs in: it does nothing while none of them is ready. Without one it always runs.
    pub(super) image: Option<Glob>,
    pub(super) rules: Vec<Rule>,
}

/// What is done with objects of one kind.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) group: Str,
    pub(super) kind: Str,
    /// Other objects, by the names that expressions know them by; a later one may name an earlier one.
    pub(super) with: Vec<(Str, Lookup)>,
    /// The first that holds is the one that counts.
    pub(super) cases: Vec<Case>,
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
    /// Fields of the status.
    pub(super) status: Option<Template>,
    /// Fields of the object itself.
    pub(super) set: Option<Template>,
    /// Other objects.
    pub(super) create: Vec<Template>,
    /// What is told when it becomes so.
    pub(super) events: Vec<News>,
}

#[derive(Debug)]
pub(super) struct News {
    pub(super) warning: bool,
    pub(super) reason: &'static str,
    pub(super) message: Template,
}

/// What is wrong with a declaration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    path: String,
    message: String,
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
        Fault { path: String::new(), message: message.into() }
    }

    pub(super) fn at_field(self, name: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Fault { path: format!("{name}{separator}{}", self.path), ..self }
    }

    pub(super) fn at_index(self, index: usize) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Fault { path: format!("[{index}]{separator}{}", self.path), ..self }
    }
}

impl Operator {
    /// Reads a declaration.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let value = yaml::parse_str(text).map_err(|error| Fault::new(error.to_string()))?;
        let top = Fields::of(&value, &["apiVersion", "kind", "metadata", "spec"])?;
        if top.text("apiVersion")? != API_VERSION || top.text("kind")? != "Operator" {
            return Err(Fault::new(format!("is no Operator of {API_VERSION}")));
        }
        let name = top
            .inner("metadata", |metadata| Fields::of(metadata, &["name"])?.text("name").map(str::to_owned))?;
        let (image, rules) = top.inner("spec", |spec| {
            let spec = Fields::of(spec, &["image", "rules"])?;
            let image = match spec.optional_text("image")? {
                Some(pattern) => Some(
                    Glob::new(pattern).map_err(|error| Fault::new(error.to_string()).at_field("image"))?,
                ),
                None => None,
            };
            Ok((image, spec.list("rules", Rule::read)?))
        })?;
        // It lives as long as the program does, as the names of built-in controllers.
        let user = format!("system:serviceaccount:{name}:{name}").leak();
        Ok(Operator { name: name.leak(), user, image, rules })
    }
}

impl Rule {
    fn read(value: &Value) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["kind", "with", "cases"])?;
        let (group, kind) = split(fields.text("kind")?);
        let mut names: Vec<Str> = vec!["self".into()];
        let mut with = Vec::new();
        if let Some(lookups) = fields.get("with") {
            let lookups = lookups.as_map().ok_or_else(|| Fault::new("has to be a map").at_field("with"))?;
            for (name, lookup) in lookups.iter() {
                let env = Env::untyped(names.iter().cloned());
                let read =
                    Lookup::read(lookup, &env).map_err(|fault| fault.at_field(name).at_field("with"))?;
                names.push(name.clone());
                with.push((name.clone(), read));
            }
        }
        let env = Env::untyped(names);
        let cases = fields.list("cases", |case| Case::read(case, &env))?;
        Ok(Rule { group: group.into(), kind: kind.into(), with, cases })
    }
}

impl Lookup {
    fn read(value: &Value, env: &Env) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["kind", "namespace", "name", "labels"])?;
        let which = match (fields.template("name", env)?, fields.template("labels", env)?) {
            (Some(name), None) => Which::Name(name),
            (None, Some(labels)) => Which::Labels(labels),
            _ => return Err(Fault::new("needs either a name or labels")),
        };
        let kind = fields.template("kind", env)?.ok_or_else(|| Fault::new("needs a kind"))?;
        Ok(Lookup { kind, namespace: fields.template("namespace", env)?, which })
    }
}

impl Case {
    fn read(value: &Value, env: &Env) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["when", "after", "status", "set", "create", "events"])?;
        let when = match fields.optional_text("when")? {
            Some(text) => Some(compile(text, env).map_err(|fault| fault.at_field("when"))?),
            None => None,
        };
        let after = match fields.optional_text("after")? {
            Some(text) => lynceus_api::parse_duration(text)
                .map_err(|_| Fault::new(format!("{text:?} is no duration such as 5s")).at_field("after"))?,
            None => SignedDuration::ZERO,
        };
        Ok(Case {
            when,
            after,
            status: fields.template("status", env)?,
            set: fields.template("set", env)?,
            create: fields.list_or_none("create", |object| Template::read(object, env))?,
            events: fields.list_or_none("events", |news| News::read(news, env))?,
        })
    }
}

impl News {
    fn read(value: &Value, env: &Env) -> Result<Self, Fault> {
        let fields = Fields::of(value, &["type", "reason", "message"])?;
        let warning = match fields.optional_text("type")? {
            None | Some("Normal") => false,
            Some("Warning") => true,
            Some(other) => {
                return Err(Fault::new(format!("{other:?} is neither Normal nor Warning")).at_field("type"));
            }
        };
        let reason = fields.text("reason")?.to_owned().leak();
        let message = fields.template("message", env)?.ok_or_else(|| Fault::new("needs a message"))?;
        Ok(News { warning, reason, message })
    }
}

/// A group and a kind, as in `apps/Deployment`; the core group has none.
pub(super) fn split(text: &str) -> (&str, &str) {
    text.rsplit_once('/').unwrap_or(("", text))
}

/// The fields of a map, all of which are known.
struct Fields<'a>(&'a lynceus_object::Map);

impl<'a> Fields<'a> {
    fn of(value: &'a Value, known: &[&str]) -> Result<Self, Fault> {
        let map = value.as_map().ok_or_else(|| Fault::new("has to be a map"))?;
        if let Some((name, _)) = map.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            return Err(Fault::new(format!("is not known; there is {}", known.join(", "))).at_field(name));
        }
        Ok(Fields(map))
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn optional_text(&self, name: &str) -> Result<Option<&'a str>, Fault> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| Fault::new("has to be a text").at_field(name))
    }

    fn text(&self, name: &str) -> Result<&'a str, Fault> {
        self.optional_text(name)?.ok_or_else(|| Fault::new("is missing").at_field(name))
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

    fn list_or_none<T>(
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
    fn a_declaration_is_read_and_what_is_wrong_has_its_place() {
        assert_eq!(problem("  rules: [{kind: example.com/Thing, cases: [{status: {ready: true}}]}]\n"), "");
        for (text, expected) in [
            ("  rules: []\n", "spec.rules: needs at least one"),
            ("  rule: []\n", "spec.rule: is not known; there is image, rules"),
            (
                "  rules: [{kind: a/B, cases: [{when: 'self.'}]}]\n",
                "spec.rules[0].cases[0].when: \"self.\" is no expression",
            ),
            (
                "  rules: [{kind: a/B, cases: [{after: soon}]}]\n",
                "spec.rules[0].cases[0].after: \"soon\" is no duration such as 5s",
            ),
            (
                "  rules: [{kind: a/B, with: {x: {kind: C}}, cases: [{}]}]\n",
                "spec.rules[0].with.x: needs either a name or labels",
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
