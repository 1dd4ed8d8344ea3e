//! Custom resources: definitions compiled into pruning, defaulting, validation and columns.
//!
//! | module | what it does |
//! |---|---|
//! | [`definition`] | defaults and validates a definition |
//! | [`status`] | gives it its names and says that it is served |
//! | [`compiled`] | turns it into the [`Resource`]s that are routed to |
//! | [`schema`] | the compiled schema, walked by [`prune`], [`default`], [`validate`], [`lists`], [`rule`] |
//! | [`instance`] | what a write to an instance goes through |

mod coerce;
mod columns;
mod compiled;
mod conversion;
mod default;
mod definition;
mod field_path;
mod format;
mod instance;
mod limits;
mod lists;
mod meta;
mod named_format;
mod prune;
mod rule;
mod schema;
mod shown;
mod status;
mod validate;

use jiff::Timestamp;
use lynceus_object::schema::TypeRef;
use lynceus_object::{Object, Value};

pub use compiled::{Compiled, compare_versions, resources};
pub use conversion::{Webhook, convert, keep};
pub use definition::{
    default as default_definition, prepare as prepare_definition, validate as validate_definition,
    warnings as definition_warnings,
};
pub use instance::{
    default, field, prepare_create, prepare_update, prune, replicas_path, scale, set_scale, validate,
    validate_update, warnings,
};
pub use schema::ListType;
pub use status::{CLEANUP, is_true, mark_cleaned_up, mark_deleted, set_condition, settle};

pub(crate) use format::{go_duration, is_uri};
pub(crate) use named_format::format_problems;
pub(crate) use shown::{float as float_text, quoted};

use crate::table::{self, Include};

/// The schema of the kind as its definition gives it, for the description of the API.
pub fn openapi(custom: &Compiled) -> Option<Value> {
    Some(custom.openapi().clone()).filter(|schema| !schema.is_null())
}

/// The schema that merging and apply go by.
pub fn schema(custom: &Compiled) -> TypeRef<'_> {
    custom.merge_schema().root()
}

/// A `meta.k8s.io/v1` Table with the definition's printer columns.
pub fn table(
    custom: &Compiled,
    objects: &[Object],
    metadata: Value,
    include: Include,
    headers: bool,
    now: Timestamp,
) -> Value {
    let row = |object: &Object| table::row_of(object, columns::cells(&custom.columns, object, now), include);
    table::table(&columns::headers(&custom.columns), objects.iter().map(row).collect(), metadata, headers)
}
