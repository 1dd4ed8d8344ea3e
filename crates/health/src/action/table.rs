//! Actions as data: `data/actions.txt`, read once.
//!
//! A stanza begins with the kinds it is for. Below it stands each action by name, with `icon`, `title` and the parameter
//! it takes behind `with`; and below that what is known of it, in tests as the checks have them:
//!
//! - `hide TESTS`: it is not offered; `off TESTS`: it cannot be run now; `on TESTS`: it can be run only if they hold.
//!   `owned KIND` before tests says that the object is owned by such a one.
//! - `set .path VALUE`, `unset .path`, and `change .path VALUE` for a field that is there; `{now}` is the time.
//! - `do NAME`: a function of `special.rs`.

use std::collections::HashMap;
use std::sync::LazyLock;

use lynceus_lua::Offer;
use lynceus_object::{Object, Str, Value};

use crate::rules::{self, Tests};

static ACTIONS: LazyLock<HashMap<String, Vec<Action>>> =
    LazyLock::new(|| read(include_str!("../../data/actions.txt")).0);

/// The actions for a kind, in the order of their names.
pub(super) fn of(group: &str, kind: &str) -> &'static [Action] {
    ACTIONS.get(&format!("{group}/{kind}")).map(Vec::as_slice).unwrap_or_default()
}

#[derive(Clone, Debug, Default)]
pub(super) struct Action {
    pub(super) name: Str,
    pub(super) title: Str,
    icon: Str,
    parameter: Option<Str>,
    hidden: Vec<State>,
    off: Vec<State>,
    on: Vec<State>,
    pub(super) edits: Vec<Edit>,
}

/// A state that an object is in or not.
#[derive(Clone, Debug)]
struct State {
    owner: Option<Box<str>>,
    tests: Tests,
}

/// One change that an action makes.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Set(Vec<Box<str>>, Value),
    Change(Vec<Box<str>>, Value),
    Unset(Vec<Box<str>>),
    Do(Box<str>),
}

impl State {
    fn holds(&self, object: &Object) -> bool {
        let owned = self.owner.as_ref().is_none_or(|kind| object.owners().any(|owner| *owner.kind == **kind));
        owned && self.tests.hold(object)
    }
}

impl Action {
    pub(super) fn is_hidden(&self, object: &Object) -> bool {
        self.hidden.iter().any(|state| state.holds(object))
    }

    pub(super) fn is_disabled(&self, object: &Object) -> bool {
        self.off.iter().any(|state| state.holds(object)) || !self.on.iter().all(|state| state.holds(object))
    }

    pub(super) fn offer(&self) -> Offer {
        Offer {
            name: self.name.clone(),
            disabled: false,
            parameters: self.parameter.iter().cloned().collect(),
            icon: self.icon.clone(),
            title: self.title.clone(),
        }
    }
}

/// Reads the actions, and tells which lines cannot be read.
pub(super) fn read(text: &str) -> (HashMap<String, Vec<Action>>, Vec<String>) {
    let mut kinds: Vec<&str> = Vec::new();
    let mut open = false;
    let mut all: HashMap<String, Vec<Action>> = HashMap::new();
    let mut errors = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words = line.trim();
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        let read = match line.len() - line.trim_start().len() {
            0 => {
                if std::mem::take(&mut open) {
                    kinds.clear();
                }
                kinds.extend(words.split_whitespace());
                continue;
            }
            2 => {
                open = true;
                header(words).map(|action| {
                    for kind in &kinds {
                        all.entry((*kind).to_owned()).or_default().push(action.clone());
                    }
                })
            }
            _ => kinds.iter().try_for_each(|kind| {
                let action = all.get_mut(*kind).and_then(|actions| actions.last_mut());
                fact(words, action.ok_or("there is no action to describe")?)
            }),
        };
        if let Err(error) = read {
            errors.push(format!("line {}: {error}: {words}", number + 1));
        }
    }
    for actions in all.values_mut() {
        actions.sort_by(|a, b| a.name.cmp(&b.name));
    }
    (all, errors)
}

/// `restart icon 'fa-redo' title 'Restart' with parameter`
fn header(text: &str) -> Result<Action, String> {
    let mut words = rules::words(text).into_iter();
    let mut action = Action { name: words.next().unwrap_or_default().into(), ..Action::default() };
    while let Some(word) = words.next() {
        let value: Str = words.next().ok_or("a word is missing")?.trim_matches('\'').into();
        match word {
            "icon" => action.icon = value,
            "title" => action.title = value,
            "with" => action.parameter = Some(value),
            other => return Err(format!("{other:?} is nothing that an action has")),
        }
    }
    Ok(action)
}

fn fact(text: &str, action: &mut Action) -> Result<(), String> {
    let (word, rest) = text.split_once(' ').ok_or("a word alone says nothing")?;
    match word {
        "hide" => action.hidden.push(state(rest)?),
        "off" => action.off.push(state(rest)?),
        "on" => action.on.push(state(rest)?),
        "do" => action.edits.push(Edit::Do(rest.into())),
        "unset" => action.edits.push(Edit::Unset(path(rest)?)),
        "set" | "change" => {
            let words = rules::words(rest);
            let [field, value] = words[..] else { return Err("a field and a value are needed".to_owned()) };
            let value = match value {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                text => Value::from(text.trim_matches('"')),
            };
            action.edits.push(match word {
                "set" => Edit::Set(path(field)?, value),
                _ => Edit::Change(path(field)?, value),
            });
        }
        other => return Err(format!("{other:?} is nothing that an action has")),
    }
    Ok(())
}

fn path(text: &str) -> Result<Vec<Box<str>>, String> {
    rules::path(text.strip_prefix('.').ok_or("a path begins with a point")?)
}

fn state(text: &str) -> Result<State, String> {
    let (owner, tests) = match text.strip_prefix("owned ") {
        Some(rest) => {
            let (kind, tests) = rest.split_once(' ').unwrap_or((rest, ""));
            (Some(kind.into()), tests)
        }
        None => (None, text),
    };
    Ok(State { owner, tests: Tests::parse(tests)? })
}
