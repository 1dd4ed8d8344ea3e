//! Versions: `semver` gives an object, `semverCompare` a truth value.

use std::any::Any;
use std::cmp::Ordering;

use super::args::text;
use crate::semver::{Constraints, Version};
use crate::types::{self, Type};
use crate::{Failure, Functions, Json, Method, Object, Shape, Str, TypeInfo, Value, signature};

static POINTER: TypeInfo = TypeInfo::declared("*semver.Version", Shape::Pointer, &POINTER_METHODS);

/// What the methods that compute a version give: a struct, on which less can be called.
static STRUCT: TypeInfo = TypeInfo::declared("semver.Version", Shape::Struct, &METHODS);

pub(super) fn register(to: &mut Functions) {
    to.add("semver", takes!((types::STRING) -> POINTER), |_, args| {
        let version = Version::parse(text(args, 0)).map_err(|error| Failure::new(error.to_string()))?;
        Ok(Value::object(Held { version, of: &POINTER }))
    });
    to.add("semverCompare", signature!((STRING, STRING) -> BOOL), |_, args| {
        let constraints =
            Constraints::parse(text(args, 0)).map_err(|error| Failure::new(error.to_string()))?;
        let version = Version::parse(text(args, 1)).map_err(|error| Failure::new(error.to_string()))?;
        Ok(constraints.check(&version).into())
    });
}

/// A version as templates see it.
struct Held {
    version: Version,
    of: Type,
}

impl Object for Held {
    fn go_type(&self) -> Type {
        self.of
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    /// None that a template could name: they only show when the version is printed as Go.
    fn field(&self, _: &str) -> Option<Value> {
        None
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let version = &self.version;
        vec![
            ("major", version.major.into()),
            ("minor", version.minor.into()),
            ("patch", version.patch.into()),
            ("pre", version.prerelease.as_str().into()),
            ("metadata", version.metadata.as_str().into()),
            ("original", version.original().into()),
        ]
    }

    fn text(&self) -> Option<Str> {
        Some(self.version.to_string().into())
    }

    fn json(&self) -> Json {
        Json::Value(self.version.to_string().into())
    }
}

fn this(value: &Value) -> Option<&Version> {
    value.as_object::<Held>().map(|held| &held.version)
}

fn word(value: &Value, part: fn(&Version) -> String) -> Value {
    this(value).map(part).unwrap_or_default().into()
}

fn number(value: &Value, part: fn(&Version) -> u64) -> Value {
    this(value).map(part).unwrap_or_default().into()
}

fn order(value: &Value, args: &[Value]) -> Result<Ordering, Failure> {
    let other = args.first().and_then(this);
    match (this(value), other) {
        (Some(one), Some(other)) => Ok(one.compare(other)),
        _ => Err(Failure::new(super::args::NIL_DEREFERENCE)),
    }
}

fn next(value: &Value, step: fn(&Version) -> Option<Version>, name: &str) -> Result<Value, Failure> {
    let version = this(value).and_then(step);
    let version =
        version.ok_or_else(|| Failure::new(format!("{name} version increment would overflow uint64")))?;
    Ok(Value::object(Held { version, of: &STRUCT }))
}

fn changed(version: Option<Result<Version, crate::semver::VersionError>>) -> Result<Value, Failure> {
    match version {
        Some(Ok(version)) => Ok(Value::object(Held { version, of: &STRUCT })),
        Some(Err(error)) => Err(Failure::new(error.to_string())),
        None => Err(Failure::new(super::args::NIL_DEREFERENCE)),
    }
}

macro_rules! methods {
    ($($further:expr),*) => {
        [
            method!("String", () -> types::STRING, |_, value, _| Ok(word(value, |v| v.to_string()))),
            method!("Major", () -> types::UINT64, |_, value, _| Ok(number(value, |v| v.major))),
            method!("Minor", () -> types::UINT64, |_, value, _| Ok(number(value, |v| v.minor))),
            method!("Patch", () -> types::UINT64, |_, value, _| Ok(number(value, |v| v.patch))),
            method!("Prerelease", () -> types::STRING, |_, value, _| Ok(word(value, |v| v.prerelease.clone()))),
            method!("Metadata", () -> types::STRING, |_, value, _| Ok(word(value, |v| v.metadata.clone()))),
            method!("IncMajor", () -> STRUCT, |_, value, _| next(value, Version::next_major, "major")),
            method!("IncMinor", () -> STRUCT, |_, value, _| next(value, Version::next_minor, "minor")),
            method!("IncPatch", () -> STRUCT, |_, value, _| next(value, Version::next_patch, "patch")),
            method!("SetPrerelease", (types::STRING) -> STRUCT, |_, value, args| {
                changed(this(value).map(|version| version.with_prerelease(text(args, 0))))
            }),
            method!("SetMetadata", (types::STRING) -> STRUCT, |_, value, args| {
                changed(this(value).map(|version| version.with_metadata(text(args, 0))))
            }),
            $($further),*
        ]
    };
}

static METHODS: [Method; 11] = methods!();

static POINTER_METHODS: [Method; 18] = methods!(
    method!("Original", () -> types::STRING, |_, value, _| Ok(word(value, |v| v.original().to_owned()))),
    method!("Compare", (POINTER) -> types::INT, |_, value, args| Ok(Value::int(order(value, args)? as i64))),
    method!("Equal", (POINTER) -> types::BOOL, |_, value, args| Ok(order(value, args)?.is_eq().into())),
    method!("LessThan", (POINTER) -> types::BOOL, |_, value, args| Ok(order(value, args)?.is_lt().into())),
    method!("LessThanEqual", (POINTER) -> types::BOOL, |_, value, args| Ok(order(value, args)?.is_le().into())),
    method!("GreaterThan", (POINTER) -> types::BOOL, |_, value, args| Ok(order(value, args)?.is_gt().into())),
    method!("GreaterThanEqual", (POINTER) -> types::BOOL, |_, value, args| Ok(order(value, args)?.is_ge().into()))
);
