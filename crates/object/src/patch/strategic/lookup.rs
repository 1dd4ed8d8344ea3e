//! What a schema says about a key of a patch.

use super::super::PatchError;
use crate::schema::{Field, MergeStrategy, Scalar, Shape, TypeRef};

/// How to go on below a key.
#[derive(Clone, Copy)]
pub(crate) struct Below<'s> {
    /// The type of a map, or of the items of a list.
    pub(crate) ty: TypeRef<'s>,
    strategy: Option<&'s MergeStrategy>,
}

impl<'s> Below<'s> {
    pub(crate) fn merges(self) -> bool {
        self.strategy.is_some_and(|strategy| strategy.merge)
    }

    pub(crate) fn replaces(self) -> bool {
        self.strategy.is_some_and(|strategy| strategy.replace)
    }

    pub(crate) fn retains_keys(self) -> bool {
        self.strategy.is_some_and(|strategy| strategy.retain_keys)
    }

    /// The merge key of a list, or the empty string.
    pub(crate) fn key(self) -> &'s str {
        self.strategy.and_then(|strategy| strategy.key.as_deref()).unwrap_or_default()
    }
}

/// How a map under `key` is patched.
pub(crate) fn map<'s>(ty: TypeRef<'s>, key: &str) -> Result<Below<'s>, PatchError> {
    if ty.is_untyped() {
        return Ok(Below { ty, strategy: None });
    }
    let field = field(ty, key)?;
    Ok(Below { ty: field.ty(), strategy: Some(field.merge()) })
}

/// How a list under `key` is patched.
pub(crate) fn list<'s>(ty: TypeRef<'s>, key: &str) -> Result<Below<'s>, PatchError> {
    if ty.is_untyped() {
        return Ok(Below { ty, strategy: None });
    }
    let field = field(ty, key)?;
    let item = match field.ty().shape() {
        Shape::List(item, _) if matches!(item.shape(), Shape::List(..)) => {
            return Err(PatchError::Failed("unexpected slice of slice".to_owned()));
        }
        Shape::List(item, _) => item,
        _ if field.is_pointer() => field.ty(),
        _ => {
            let kind = go_kind(ty);
            return Err(PatchError::Failed(format!("expected slice or array type, but got: {kind}")));
        }
    };
    Ok(Below { ty: item, strategy: Some(field.merge()) })
}

fn field<'s>(ty: TypeRef<'s>, key: &str) -> Result<Field<'s>, PatchError> {
    let is_struct = match ty.shape() {
        Shape::Struct => true,
        Shape::Scalar(scalar) => scalar.is_struct(),
        _ => false,
    };
    if !is_struct {
        let kind = go_kind(ty);
        return Err(PatchError::Failed(format!(
            "merging an object in json but data type is not struct, instead is: {kind}"
        )));
    }
    let folded = || ty.fields().find(|field| field.name().eq_ignore_ascii_case(key));
    ty.field(key).or_else(folded).ok_or_else(|| {
        let name = ty.go_name();
        let name = name.rsplit_once('.').map_or(name.as_str(), |(_, name)| name);
        PatchError::Failed(format!("unable to find api field in struct {name} for the json field {key:?}"))
    })
}

/// The word that Go's reflection has for a type.
pub(crate) fn go_kind(ty: TypeRef<'_>) -> &'static str {
    match ty.shape() {
        Shape::Any => "interface",
        Shape::Struct => "struct",
        Shape::List(..) => "slice",
        Shape::Map(_) => "map",
        Shape::Scalar(Scalar::Bytes) => "slice",
        Shape::Scalar(scalar) if scalar.is_struct() => "struct",
        Shape::Scalar(scalar) => scalar.go_name(),
    }
}
