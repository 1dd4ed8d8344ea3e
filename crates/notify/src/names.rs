//! What expressions and templates see: the application, its project, and functions to ask more.

use std::any::Any;
use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use lynceus_gotmpl::sprig::moments;
use lynceus_gotmpl::{Callable, Context, Environment, Failure, List, Value, signature};
use lynceus_object as object;
use lynceus_object::Str;

use crate::details::details_value;
use crate::repo_url::{full_name, query_escape, to_https};

/// What messages are about, and what they may tell.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The Application.
    pub application: &'a object::Value,
    /// Its project, if that could be found.
    pub project: Option<&'a object::Value>,
    /// What the configuration says under `context`.
    pub context: &'a BTreeMap<Str, Str>,
    /// What the Secret holds. Configurations of others than the operator see none.
    pub secrets: Option<&'a BTreeMap<Str, Vec<u8>>>,
    /// What was found out so far.
    pub facts: &'a Facts,
    /// Names beside these, such as `rootCause`.
    pub more: &'a [(&'static str, object::Value)],
}

/// What had to be found out outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Commits by their revision, or why one cannot be read.
    pub commits: BTreeMap<Str, Result<Commit, String>>,
    /// What the source of the application is, as Argo CD's API answers it, or why that cannot be told.
    pub details: Option<Result<object::Value, String>>,
}

/// What is told of a commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Commit {
    /// The whole message.
    pub message: Str,
    /// Name and address of the author.
    pub author: Str,
    /// When it was made.
    pub date: Timestamp,
    /// The tags on it.
    pub tags: Vec<Str>,
}

/// What has to be found out before an expression or a template can go on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A commit of the application's repository.
    Commit(Str),
    /// What the source of the application is.
    Details,
}

/// What comes from outside of a render, and what it turned out to need.
pub(crate) struct Outside<'a> {
    now: Timestamp,
    random: &'a mut dyn FnMut(&mut [u8]),
    asked: Asked,
}

/// What the functions look up, and what they did not find.
pub(crate) struct Asked {
    facts: Facts,
    pub(crate) needs: Vec<Need>,
}

impl<'a> Outside<'a> {
    pub(crate) fn new(subject: Subject<'_>, now: Timestamp, random: &'a mut dyn FnMut(&mut [u8])) -> Self {
        Self { now, random, asked: Asked { facts: subject.facts.clone(), needs: Vec::new() } }
    }

    /// What was needed, each once and in order.
    pub(crate) fn needs(self) -> Vec<Need> {
        let mut needs = self.asked.needs;
        needs.sort();
        needs.dedup();
        needs
    }
}

impl Environment for Outside<'_> {
    fn now(&self) -> Duration {
        Duration::try_from(self.now.duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        (self.random)(bytes);
    }

    fn host(&mut self) -> &mut dyn Any {
        &mut self.asked
    }
}

/// All names. The service is what the message goes to; for triggers there is none.
pub(crate) fn names(subject: Subject<'_>, service: &str) -> Value {
    let mut context: BTreeMap<Str, Str> = BTreeMap::from([("notificationType".into(), service.into())]);
    context.extend(subject.context.clone());
    let mut all = vec![
        ("app", to_template(subject.application)),
        (
            "context",
            Value::map(context.iter().map(|(name, text)| (name.as_str(), Value::str(text.as_str())))),
        ),
        ("appProject", subject.project.map_or_else(empty_map, to_template)),
        ("time", time()),
        ("strings", strings()),
        ("sync", sync()),
        ("repo", repo()),
    ];
    if let Some(secrets) = subject.secrets {
        let bytes = |bytes: &Vec<u8>| Value::List(List::bytes(bytes.clone()));
        all.push(("secrets", Value::map(secrets.iter().map(|(name, held)| (name.as_str(), bytes(held))))));
    }
    all.extend(subject.more.iter().map(|(name, value)| (*name, to_template(value))));
    Value::map(all)
}

fn empty_map() -> Value {
    Value::map(Vec::<(&str, Value)>::new())
}

/// A value as templates have it; numbers are those of Kubernetes' decoder.
pub(crate) fn to_template(value: &object::Value) -> Value {
    match value {
        object::Value::Null => Value::Nil,
        object::Value::Bool(truth) => Value::Bool(*truth),
        object::Value::Int(number) => Value::int64(*number),
        object::Value::Float(number) => Value::Float(*number),
        object::Value::Str(text) => Value::str(text.as_str()),
        object::Value::Seq(items) => Value::list(items.iter().map(to_template)),
        object::Value::Map(map) => {
            Value::map(map.iter().map(|(key, item)| (key.as_str(), to_template(item))))
        }
    }
}

const RFC3339: &str = "2006-01-02T15:04:05Z07:00";

fn time() -> Value {
    let parse = Callable::value("time.Parse", signature!((STRING) -> ANY), |_, args| {
        let text = args.first().and_then(Value::as_str).cloned().unwrap_or_default();
        moments::parse(RFC3339, &text).map_err(Failure::new)
    });
    let now = Callable::value("time.Now", signature!(() -> ANY), |context, _| Ok(moments::now(context)));
    let lengths = [
        ("Nanosecond", 1),
        ("Microsecond", 1_000),
        ("Millisecond", 1_000_000),
        ("Second", 1_000_000_000),
        ("Minute", 60_000_000_000),
        ("Hour", 3_600_000_000_000),
    ];
    let layouts = [
        ("Layout", "01/02 03:04:05PM '06 -0700"),
        ("ANSIC", "Mon Jan _2 15:04:05 2006"),
        ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
        ("RubyDate", "Mon Jan 02 15:04:05 -0700 2006"),
        ("RFC822", "02 Jan 06 15:04 MST"),
        ("RFC822Z", "02 Jan 06 15:04 -0700"),
        ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
        ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
        ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
        ("RFC3339", RFC3339),
        ("RFC3339Nano", "2006-01-02T15:04:05.999999999Z07:00"),
        ("Kitchen", "3:04PM"),
        ("Stamp", "Jan _2 15:04:05"),
        ("StampMilli", "Jan _2 15:04:05.000"),
        ("StampMicro", "Jan _2 15:04:05.000000"),
        ("StampNano", "Jan _2 15:04:05.000000000"),
    ];
    let lengths = lengths.map(|(name, nanos)| (name, moments::of_nanos(nanos)));
    let layouts = layouts.map(|(name, layout)| (name, Value::str(layout)));
    Value::map([("Parse", parse), ("Now", now)].into_iter().chain(lengths).chain(layouts))
}

fn strings() -> Value {
    let replace = Callable::value(
        "strings.ReplaceAll",
        signature!((STRING, STRING, STRING) -> STRING),
        |context, args| match args {
            [Value::Str(text), Value::Str(from), Value::Str(to)] => {
                context.charge((text.len() + 1).saturating_mul(to.len() + 1))?;
                Ok(Value::str(text.replace(from.as_str(), to)))
            }
            _ => Err(Failure::new("ReplaceAll takes three texts")),
        },
    );
    let upper = Callable::value("strings.ToUpper", signature!((STRING) -> STRING), |_, args| {
        Ok(Value::str(text_of(args).to_uppercase()))
    });
    let lower = Callable::value("strings.ToLower", signature!((STRING) -> STRING), |_, args| {
        Ok(Value::str(text_of(args).to_lowercase()))
    });
    Value::map([("ReplaceAll", replace), ("ToUpper", upper), ("ToLower", lower)])
}

fn text_of(args: &[Value]) -> lynceus_gotmpl::Str {
    args.first().and_then(Value::as_str).cloned().unwrap_or_default()
}

fn sync() -> Value {
    let item = Callable::value("sync.GetInfoItem", signature!((ANY, STRING) -> STRING), |_, args| {
        let name = args.get(1).and_then(Value::as_str).cloned().unwrap_or_default();
        let application = args.first().cloned().unwrap_or_default();
        let places = [&["status", "operationState", "operation", "info"][..], &["operation", "info"]];
        let found = places.iter().find_map(|path| info_item(&at(&application, path), &name));
        Ok(found.unwrap_or_else(|| Value::str("")))
    });
    Value::map([("GetInfoItem", item)])
}

fn at(value: &Value, path: &[&str]) -> Value {
    path.iter().fold(value.clone(), |value, name| match value {
        Value::Map(map) => map.get(name).unwrap_or_default(),
        _ => Value::Nil,
    })
}

fn info_item(items: &Value, name: &str) -> Option<Value> {
    let Value::List(items) = items else { return None };
    let is_it = |item: &Value| at(item, &["name"]).as_str().is_some_and(|found| found.as_str() == name);
    items.to_vec().into_iter().find(is_it).map(|item| at(&item, &["value"]))
}

fn repo() -> Value {
    let https = Callable::value("repo.RepoURLToHTTPS", signature!((STRING) -> STRING), |_, args| {
        to_https(&text_of(args)).map(Value::str).map_err(Failure::new)
    });
    let name = Callable::value("repo.FullNameByRepoURL", signature!((STRING) -> STRING), |_, args| {
        full_name(&text_of(args)).map(Value::str).map_err(Failure::new)
    });
    let escape = Callable::value("repo.QueryEscape", signature!((STRING) -> STRING), |_, args| {
        Ok(Value::str(query_escape(&text_of(args).bytes())))
    });
    let commit = Callable::value("repo.GetCommitMetadata", signature!((STRING) -> ANY), |context, args| {
        commit_metadata(context, &text_of(args))
    });
    let details = Callable::value("repo.GetAppDetails", signature!(() -> ANY), |context, _| {
        let asked = host(context)?;
        match &asked.facts.details {
            Some(Ok(details)) => Ok(details_value(details)),
            Some(Err(why)) => Err(Failure::new(why.clone())),
            None => {
                asked.needs.push(Need::Details);
                Err(Failure::new("the source has to be looked at first"))
            }
        }
    });
    Value::map([
        ("RepoURLToHTTPS", https),
        ("FullNameByRepoURL", name),
        ("QueryEscape", escape),
        ("GetCommitMetadata", commit),
        ("GetAppDetails", details),
    ])
}

fn host<'a>(context: &'a mut Context<'_>) -> Result<&'a mut Asked, Failure> {
    context.host::<Asked>().ok_or_else(|| Failure::new("repositories cannot be asked here"))
}

fn commit_metadata(context: &mut Context<'_>, revision: &str) -> Result<Value, Failure> {
    let asked = host(context)?;
    match asked.facts.commits.get(revision) {
        Some(Ok(commit)) => Ok(Value::map([
            ("Message", Value::str(commit.message.as_str())),
            ("Author", Value::str(commit.author.as_str())),
            ("Date", moments::unix(commit.date.as_second())),
            ("Tags", Value::strings(commit.tags.iter().map(Str::as_str))),
        ])),
        Some(Err(why)) => Err(Failure::new(why.clone())),
        None => {
            asked.needs.push(Need::Commit(revision.into()));
            Err(Failure::new(format!("commit {revision} has to be read first")))
        }
    }
}
