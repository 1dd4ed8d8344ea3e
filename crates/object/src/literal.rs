//! Values written as literals: [`value!`](crate::value).

use serde::Serialize;

use crate::map::Map;
use crate::typed::from_typed;
use crate::value::{Str, Value};

/// Writes a [`Value`] as JSON-like text: `value!({"spec": {"replicas": n}})`.
///
/// Expressions in it may be anything that `serde` can serialize.
#[macro_export]
macro_rules! value {
    (null) => {
        $crate::Value::Null
    };
    ([$($items:tt)*]) => {
        $crate::value_items!([] $($items)*)
    };
    ({$($fields:tt)*}) => {
        $crate::value_fields!([] $($fields)*)
    };
    ($leaf:expr) => {
        $crate::private::written(&$leaf)
    };
}

/// Reads one item after the other; those that are read stand in the brackets.
#[doc(hidden)]
#[macro_export]
macro_rules! value_items {
    ([$($done:expr,)*]) => {
        $crate::private::items([$($done),*])
    };
    ([$($done:expr,)*] null $(, $($rest:tt)*)?) => {
        $crate::value_items!([$($done,)* $crate::Value::Null,] $($($rest)*)?)
    };
    ([$($done:expr,)*] [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value_items!([$($done,)* $crate::value!([$($items)*]),] $($($rest)*)?)
    };
    ([$($done:expr,)*] {$($fields:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value_items!([$($done,)* $crate::value!({$($fields)*}),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $leaf:expr $(, $($rest:tt)*)?) => {
        $crate::value_items!([$($done,)* $crate::value!($leaf),] $($($rest)*)?)
    };
}

/// Reads one field after the other; those that are read stand in the brackets.
#[doc(hidden)]
#[macro_export]
macro_rules! value_fields {
    ([$($done:expr,)*]) => {
        $crate::private::fields([$($done),*])
    };
    ([$($done:expr,)*] $key:tt: null $(, $($rest:tt)*)?) => {
        $crate::value_fields!([$($done,)* ($key.into(), $crate::Value::Null),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $key:tt: [$($items:tt)*] $(, $($rest:tt)*)?) => {
        $crate::value_fields!([$($done,)* ($key.into(), $crate::value!([$($items)*])),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $key:tt: {$($fields:tt)*} $(, $($rest:tt)*)?) => {
        $crate::value_fields!([$($done,)* ($key.into(), $crate::value!({$($fields)*})),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $key:tt: $leaf:expr $(, $($rest:tt)*)?) => {
        $crate::value_fields!([$($done,)* ($key.into(), $crate::value!($leaf)),] $($($rest)*)?)
    };
    ([$($done:expr,)*] $($rest:tt)+) => {
        $crate::value_key!([$($done,)*] [] $($rest)+)
    };
}

/// Reads a key that is an expression of several words, up to its colon.
#[doc(hidden)]
#[macro_export]
macro_rules! value_key {
    ([$($done:expr,)*] [$($key:tt)+] : $($rest:tt)+) => {
        $crate::value_fields!([$($done,)*] ($($key)+): $($rest)+)
    };
    ([$($done:expr,)*] [$($key:tt)*] $next:tt $($rest:tt)+) => {
        $crate::value_key!([$($done,)*] [$($key)* $next] $($rest)+)
    };
}

/// An expression in a literal. What cannot be a value, such as a map whose keys are no texts, is `null`.
pub fn written<T: Serialize + ?Sized>(leaf: &T) -> Value {
    let written = from_typed(leaf);
    debug_assert!(written.is_ok(), "not a value: {written:?}");
    written.unwrap_or_default()
}

/// A list of items.
pub fn items<const N: usize>(items: [Value; N]) -> Value {
    Value::Seq(items.into())
}

/// A map of fields; of two with one name the later counts.
pub fn fields<const N: usize>(fields: [(Str, Value); N]) -> Value {
    Value::Map(Map::from_array(fields))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_string;

    #[test]
    fn a_literal_reads_like_json() {
        let (name, count) = ("web", 3);
        let value = value!({
            "z": null, "a": [1, -2.5, "x", true, [], {}, [null]],
            "name": name, format!("b-{name}"): {"count": count + 1, "last": count == 3,},
        });
        assert_eq!(
            to_string(&value),
            r#"{"a":[1,-2.5,"x",true,[],{},[null]],"b-web":{"count":4,"last":true},"name":"web","z":null}"#
        );
    }

    #[test]
    fn expressions_may_be_whatever_serde_can_write() {
        let list = vec![String::from("a")];
        let value = value!([list, Some("b"), None::<i32>, (1, 'c'), [2, 3].len()]);
        assert_eq!(to_string(&value), r#"[["a"],"b",null,[1,"c"],2]"#);
        assert_eq!(value!(u64::MAX), Value::Float(u64::MAX as f64));
    }

    #[test]
    fn of_two_fields_with_one_name_the_later_counts() {
        assert_eq!(value!({"a": 1, "b": 2, "a": 3}), value!({"a": 3, "b": 2}));
    }
}
