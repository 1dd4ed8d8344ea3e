//! Types and kinds.

use super::args::{any, text};
use super::equal::deep_equal;
use crate::{Functions, signature};

pub(super) fn register(to: &mut Functions) {
    to.add("typeOf", signature!((ANY) -> STRING), |_, args| Ok(any(args, 0).type_name().into()));
    to.add("typeIs", signature!((STRING, ANY) -> BOOL), |_, args| {
        Ok((text(args, 0) == any(args, 1).type_name()).into())
    });
    to.add("typeIsLike", signature!((STRING, ANY) -> BOOL), |_, args| {
        let (wanted, actual) = (text(args, 0).as_str(), any(args, 1).type_name());
        Ok((wanted == actual || actual.strip_prefix('*') == Some(wanted)).into())
    });
    to.add("kindOf", signature!((ANY) -> STRING), |_, args| Ok(any(args, 0).kind().name().into()));
    to.add("kindIs", signature!((STRING, ANY) -> BOOL), |_, args| {
        Ok((text(args, 0) == any(args, 1).kind().name()).into())
    });
    to.add("deepEqual", signature!((ANY, ANY) -> BOOL), |_, args| {
        Ok(deep_equal(any(args, 0), any(args, 1))?.into())
    });
}
