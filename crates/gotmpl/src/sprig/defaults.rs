//! Defaults, conditions and JSON.

use super::args::{any, boolean, rest, text};
use crate::json::{self, Style};
use crate::{Failure, Functions, Value, signature};

pub(super) fn register(to: &mut Functions) {
    to.add("hello", signature!(() -> STRING), |_, _| Ok("Hello!".into()));
    to.add("default", signature!((ANY, ...ANY) -> ANY), |_, args| {
        let given = rest(args, 1).first().filter(|value| value.truth());
        Ok(given.unwrap_or(any(args, 0)).clone())
    });
    to.add("empty", signature!((ANY) -> BOOL), |_, args| Ok((!any(args, 0).truth()).into()));
    to.add("coalesce", signature!((...ANY) -> ANY), |_, args| {
        Ok(args.iter().find(|value| value.truth()).cloned().unwrap_or_default())
    });
    to.add("all", signature!((...ANY) -> BOOL), |_, args| Ok(args.iter().all(Value::truth).into()));
    to.add("any", signature!((...ANY) -> BOOL), |_, args| Ok(args.iter().any(Value::truth).into()));
    to.add("ternary", signature!((ANY, ANY, BOOL) -> ANY), |_, args| {
        Ok(any(args, if boolean(args, 2) { 0 } else { 1 }).clone())
    });
    to.add("fail", signature!((STRING) -> STRING), |_, args| Err(Failure::new(text(args, 0).as_str())));
    reading(to);
    writing(to);
}

fn reading(to: &mut Functions) {
    to.add("fromJson", signature!((STRING) -> ANY), |_, args| {
        Ok(json::decode(text(args, 0)).unwrap_or_else(|error| error.partial))
    });
    to.add("mustFromJson", signature!((STRING) -> ANY), |_, args| {
        json::decode(text(args, 0)).map_err(|error| Failure::new(error.message))
    });
}

fn writing(to: &mut Functions) {
    for (name, style) in [("toJson", Style::Compact), ("toPrettyJson", Style::Pretty)] {
        to.add(name, signature!((ANY) -> STRING), move |_, args| {
            Ok(json::encode(any(args, 0), style).unwrap_or_default().into())
        });
    }
    for (name, style) in [
        ("mustToJson", Style::Compact),
        ("mustToPrettyJson", Style::Pretty),
        ("toRawJson", Style::Raw),
        ("mustToRawJson", Style::Raw),
    ] {
        to.add(name, signature!((ANY) -> STRING), move |_, args| {
            Ok(json::encode(any(args, 0), style)?.into())
        });
    }
}
