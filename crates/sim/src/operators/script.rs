//! What an operator does where expressions do not reach: in Lua.
//!
//! A script finds the object as `self`, everything that is named by `let` and `with` by its name, and an empty map as `emptyMap`,
//! because `{}` is an empty list. It returns a table with the fields of a case, or nothing. It runs in the sandbox of
//! `lynceus_lua`: instructions and memory are counted there, and time with them, so that the same run takes the same course on every
//! machine.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use lynceus_lua::{Libraries, Script, World};
use lynceus_object::{Map, Value};

use super::declaration::{Fault, Fields, duration};
use super::outcome::{Doomed, News, Outcome};
use super::template::Scope;
use crate::limits;

/// The functions that every script finds.
const PRELUDE: &str = include_str!("prelude.lua");

/// A script, with the functions that it shares with others.
#[derive(Debug)]
pub(super) struct Lua {
    script: Script,
    /// How many lines those of every script and those of the operator take.
    before: (usize, usize),
}

impl Lua {
    pub(super) fn read(shared: &str, text: &str) -> Result<Self, Fault> {
        let whole = format!("{PRELUDE}{}\n{text}", shared.trim_end());
        let before = (PRELUDE.lines().count(), shared.trim_end().lines().count().max(1));
        match Script::compile(&whole, Libraries::Open) {
            Ok(script) => Ok(Lua { script, before }),
            Err(error) => Err(Fault::new(placed(before, error.line, &error.message))),
        }
    }

    /// Runs the script. It says what is to be done, and after how long in which state; nothing if there is nothing to do.
    pub(super) fn run(
        &self,
        scope: &Scope<'_>,
        now: Timestamp,
    ) -> Result<Option<(String, SignedDuration, Outcome)>, String> {
        let mut values = vec![("emptyMap", Value::Map(Map::new()))];
        for (name, value) in scope {
            let value = value.to_value();
            values.push((*name, value.ok_or_else(|| format!("{name} is nothing that a script can hold"))?));
        }
        let said = self.script.run_with(&values, &World::at(now));
        let said = said.map_err(|error| placed(self.before, error.line, &error.message))?;
        match &said {
            Value::Null => Ok(None),
            Value::Seq(items) if items.is_empty() => Ok(None),
            said => read(said).map(Some).map_err(|fault| format!("what the script returned: {fault}")),
        }
    }
}

/// What went wrong, with the line in the text that it is in.
fn placed((prelude, shared): (usize, usize), line: Option<u32>, message: &str) -> String {
    match line.map(|line| line as usize) {
        Some(line) if line > prelude + shared => format!("line {}: {message}", line - prelude - shared),
        Some(line) if line > prelude => format!("line {} of spec.lua: {message}", line - prelude),
        Some(line) => format!("line {line} of the prelude: {message}"),
        None => message.to_owned(),
    }
}

fn read(said: &Value) -> Result<(String, SignedDuration, Outcome), Fault> {
    let known = ["state", "after", "again", "status", "set", "create", "delete", "events"];
    let fields = Fields::of(said, &known)?;
    let outcome = Outcome {
        status: fields.get("status").cloned(),
        set: fields.get("set").cloned(),
        create: fields.list_or_none("create", |object| Ok(object.clone()))?,
        delete: fields.list_or_none("delete", Doomed::read)?,
        events: fields.list_or_none("events", news)?,
        again: Some(duration(&fields, "again")?).filter(|again| again.is_positive()).map(at_least),
    };
    let state = fields.optional_text("state")?.unwrap_or_default().to_owned();
    Ok((state, duration(&fields, "after")?, outcome))
}

/// Time that is moved by hand goes from one look to the next: without a bound a second could take for ever.
fn at_least(again: SignedDuration) -> SignedDuration {
    again.max(limits::OPERATOR_AGAIN)
}

fn news(value: &Value) -> Result<News, Fault> {
    let fields = Fields::of(value, &["type", "reason", "message"])?;
    let warning = fields.is_warning()?;
    Ok(News { warning, reason: kept(fields.text("reason")?)?, message: fields.text("message")?.to_owned() })
}

/// A reason as events have it. They are kept for ever, so that there is a bound to how many a script may think of.
fn kept(reason: &str) -> Result<&'static str, Fault> {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.get(reason) {
        return Ok(found);
    }
    if known.len() >= limits::OPERATOR_REASONS || reason.len() > limits::OPERATOR_REASON_BYTES {
        return Err(
            Fault::new("is too long, or one too many: reasons are a few fixed words").at_field("reason")
        );
    }
    let reason: &'static str = reason.to_owned().leak();
    known.insert(reason);
    Ok(reason)
}
