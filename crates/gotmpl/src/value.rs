//! The values that templates work on, with Go's dynamic types.

use std::rc::Rc;

use crate::types::{self, Int, Kind, Shape, Type};
use crate::{List, Map, Object, Str};

/// A value of one render.
///
/// Maps and lists are shared: a clone is another handle on the same contents, as in Go, so that `set`
/// changes what everybody sees. Values belong to one thread.
#[derive(Clone, Default)]
pub enum Value {
    /// Untyped nil, also the `null` of YAML.
    #[default]
    Nil,
    /// `bool`
    Bool(bool),
    /// Any of the integer types. Those without a sign keep their bits: see [`Value::as_u64`].
    Int(i64, Int),
    /// `float64`
    Float(f64),
    /// `string`
    Str(Str),
    /// A slice.
    List(List),
    /// A map from strings.
    Map(Map),
    /// A struct, a pointer to one, or a declared type with methods that is neither list nor map.
    Object(Rc<dyn Object>),
}

impl Value {
    /// An `int`.
    pub fn int(value: i64) -> Self {
        Self::Int(value, Int::I)
    }

    /// An `int64`.
    pub fn int64(value: i64) -> Self {
        Self::Int(value, Int::I64)
    }

    /// A `string`.
    pub fn str(text: impl Into<Str>) -> Self {
        Self::Str(text.into())
    }

    /// A list of type `[]interface {}`.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Self::List(List::new(items.into_iter().collect()))
    }

    /// A list of type `[]string`.
    pub fn strings<T: Into<Str>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(|item| Self::Str(item.into())).collect();
        Self::List(List::typed(&types::STRINGS, items))
    }

    /// A map of type `map[string]interface {}`.
    pub fn map<K: Into<Str>>(items: impl IntoIterator<Item = (K, Value)>) -> Self {
        Self::Map(items.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// A value with fields or methods of its own.
    pub fn object(object: impl Object + 'static) -> Self {
        Self::Object(Rc::new(object))
    }

    /// The dynamic type; nil has none.
    pub fn go_type(&self) -> Option<Type> {
        Some(match self {
            Self::Nil => return None,
            Self::Bool(_) => &types::BOOL,
            Self::Int(_, int) => types::of_int(*int),
            Self::Float(_) => &types::FLOAT64,
            Self::Str(_) => &types::STRING,
            Self::List(list) => list.go_type(),
            Self::Map(map) => map.go_type(),
            Self::Object(object) => object.go_type(),
        })
    }

    /// The type's name as `%T` prints it.
    pub fn type_name(&self) -> &'static str {
        self.go_type().map_or("<nil>", |of| of.name)
    }

    /// The kind of Go's `reflect` package.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Nil => Kind::Invalid,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_, int) => Kind::Int(*int),
            Self::Float(_) => Kind::Float,
            Self::Str(_) => Kind::Str,
            Self::List(_) => Kind::List,
            Self::Map(_) => Kind::Map,
            Self::Object(object) => match object.go_type().shape {
                Shape::Pointer => Kind::Pointer,
                Shape::Bool => Kind::Bool,
                Shape::Int(int) => Kind::Int(int),
                Shape::Float => Kind::Float,
                Shape::Complex => Kind::Complex,
                Shape::Str => Kind::Str,
                Shape::List(_) => Kind::List,
                Shape::Map(_) => Kind::Map,
                Shape::Struct | Shape::Any | Shape::Interface | Shape::Reflect => Kind::Struct,
            },
        }
    }

    /// Whether `if` takes the value as true: not the zero of its type, not empty.
    pub fn truth(&self) -> bool {
        match self {
            Self::Nil => false,
            Self::Bool(value) => *value,
            Self::Int(value, _) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Object(object) => object.truth(),
        }
    }

    /// Whether this is untyped nil.
    pub fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// The plain value that a declared type such as `time.Duration` is made of, otherwise the value itself.
    pub fn underlying(&self) -> Value {
        match self {
            Self::Object(object) => object.underlying().unwrap_or_else(|| self.clone()),
            _ => self.clone(),
        }
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&Str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if this is a bool.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, if this is an integer with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value, int) if int.is_signed() => Some(*value),
            _ => None,
        }
    }

    /// The number, if this is an integer without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Int(value, int) if !int.is_signed() => Some(value.cast_unsigned()),
            _ => None,
        }
    }

    /// The number, if this is a float.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// The list, if this is one.
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The map, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The object of a Rust type, if this is one.
    pub fn as_object<T: 'static>(&self) -> Option<&T> {
        match self {
            Self::Object(object) => object.as_any().downcast_ref(),
            _ => None,
        }
    }

    /// The value under a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.as_map()?.get(key)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

macro_rules! from_int {
    ($($rust:ty => $int:ident),*) => {
        $(impl From<$rust> for Value {
            #[allow(clippy::cast_lossless, reason = "one macro for widening and for keeping the bits")]
            fn from(value: $rust) -> Self {
                Self::Int(value as i64, Int::$int)
            }
        })*
    };
}

from_int!(isize => I, i32 => I32, i64 => I64, u8 => U8, u32 => U32, u64 => U64);

impl From<usize> for Value {
    /// A Go `int`: what lengths and positions are.
    fn from(value: usize) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX), Int::I)
    }
}

macro_rules! from_text {
    ($($rust:ty),*) => {
        $(impl From<$rust> for Value {
            fn from(text: $rust) -> Self {
                Self::Str(text.into())
            }
        })*
    };
}

from_text!(&str, String, &String, char);

impl From<Str> for Value {
    fn from(text: Str) -> Self {
        Self::Str(text)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Self::List(list)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::List(List::new(items))
    }
}
