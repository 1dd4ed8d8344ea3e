//! Go's types, as far as templates can tell them apart.
//!
//! They show in `%T` and `typeOf`, in what may be compared, and in what a function takes.

use std::fmt;

use crate::{Method, Value};

/// A Go type. Types are compared by their name.
pub type Type = &'static TypeInfo;

/// What is known of a Go type.
pub struct TypeInfo {
    /// As Go prints it: `map[string]interface {}`, `common.Values`.
    pub name: &'static str,
    /// What it is made of.
    pub shape: Shape,
    /// Whether it was declared with a name: `common.Values` is, `map[string]string` and `int` are not.
    ///
    /// Values of a declared type and of a type spelled out can stand for each other if they are made of the same.
    pub declared: bool,
    /// What can be called on values of the type.
    pub methods: &'static [Method],
}

/// What a type is made of.
#[derive(Clone, Copy)]
pub enum Shape {
    /// `interface {}`.
    Any,
    /// An interface with methods, such as `error`.
    Interface,
    /// `reflect.Value`: takes everything, and leaves untyped nil alone.
    Reflect,
    /// `bool`.
    Bool,
    /// Any of the integers.
    Int(Int),
    /// `float64`.
    Float,
    /// `complex128`.
    Complex,
    /// `string`.
    Str,
    /// A slice of a type.
    List(Type),
    /// A map from strings to a type.
    Map(Type),
    /// A struct.
    Struct,
    /// A pointer to a struct.
    Pointer,
}

/// Go's integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Int {
    /// `int`
    I,
    /// `int8`
    I8,
    /// `int16`
    I16,
    /// `int32`, also `rune`
    I32,
    /// `int64`
    I64,
    /// `uint`
    U,
    /// `uint8`, also `byte`
    U8,
    /// `uint16`
    U16,
    /// `uint32`
    U32,
    /// `uint64`
    U64,
}

impl Int {
    /// The type's name in Go.
    pub const fn name(self) -> &'static str {
        match self {
            Self::I => "int",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U => "uint",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
        }
    }

    /// Whether the type has a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I | Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Keeps the bits that the type has room for, as Go's conversions do.
    pub const fn wrap(self, value: i64) -> i64 {
        match self {
            Self::I | Self::I64 | Self::U | Self::U64 => value,
            Self::I8 => value as i8 as i64,
            Self::I16 => value as i16 as i64,
            Self::I32 => value as i32 as i64,
            Self::U8 => value as u8 as i64,
            Self::U16 => value as u16 as i64,
            Self::U32 => value as u32 as i64,
        }
    }
}

/// The kinds of Go's `reflect` package that templates can meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value at all.
    Invalid,
    /// `bool`
    Bool,
    /// Integers.
    Int(Int),
    /// `float64`
    Float,
    /// `complex128`
    Complex,
    /// `string`
    Str,
    /// Slices.
    List,
    /// Maps.
    Map,
    /// Structs.
    Struct,
    /// Pointers.
    Pointer,
}

impl Kind {
    /// The kind's name in Go.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Bool => "bool",
            Self::Int(int) => int.name(),
            Self::Float => "float64",
            Self::Complex => "complex128",
            Self::Str => "string",
            Self::List => "slice",
            Self::Map => "map",
            Self::Struct => "struct",
            Self::Pointer => "ptr",
        }
    }
}

impl TypeInfo {
    /// A type spelled out, such as `[]string`.
    pub const fn plain(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, declared: false, methods: &[] }
    }

    /// A type declared with a name, such as `common.Values`.
    pub const fn declared(name: &'static str, shape: Shape, methods: &'static [Method]) -> Self {
        Self { name, shape, declared: true, methods }
    }

    /// The method of a name.
    pub fn method(&self, name: &str) -> Option<&'static Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Whether untyped nil can stand for a value of the type.
    pub fn takes_nil(&self) -> bool {
        matches!(
            self.shape,
            Shape::Any | Shape::Interface | Shape::Reflect | Shape::List(_) | Shape::Map(_) | Shape::Pointer
        )
    }

    /// Whether a value of type `from` can be given where this type is asked for.
    pub fn takes(&self, from: &TypeInfo) -> bool {
        match self.shape {
            Shape::Any | Shape::Reflect => true,
            _ if self.name == from.name => true,
            _ => !(self.declared && from.declared) && self.same_shape(from),
        }
    }

    fn same_shape(&self, other: &TypeInfo) -> bool {
        match (self.shape, other.shape) {
            (Shape::List(a), Shape::List(b)) | (Shape::Map(a), Shape::Map(b)) => a.name == b.name,
            _ => false,
        }
    }
}

impl PartialEq for TypeInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for TypeInfo {}

impl fmt::Debug for TypeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for TypeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The zero value of a type.
pub fn zero(of: Type) -> Value {
    match of.shape {
        Shape::Bool => Value::Bool(false),
        Shape::Int(int) => Value::Int(0, int),
        Shape::Float => Value::Float(0.0),
        Shape::Str => Value::Str(crate::Str::new()),
        Shape::List(_) => Value::List(crate::List::nil(of)),
        Shape::Map(_) => Value::Map(crate::Map::nil(of)),
        _ => Value::Nil,
    }
}

macro_rules! types {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $shape:expr;)*) => {
        $($(#[$doc])* pub static $id: TypeInfo = TypeInfo::plain($name, $shape);)*
    };
}

types! {
    /// `interface {}`
    ANY = "interface {}", Shape::Any;
    /// `reflect.Value`
    REFLECT = "reflect.Value", Shape::Reflect;
    /// `error`
    ERROR = "error", Shape::Interface;
    /// `bool`
    BOOL = "bool", Shape::Bool;
    /// `int`
    INT = "int", Shape::Int(Int::I);
    /// `int8`
    INT8 = "int8", Shape::Int(Int::I8);
    /// `int16`
    INT16 = "int16", Shape::Int(Int::I16);
    /// `int32`
    INT32 = "int32", Shape::Int(Int::I32);
    /// `int64`
    INT64 = "int64", Shape::Int(Int::I64);
    /// `uint`
    UINT = "uint", Shape::Int(Int::U);
    /// `uint8`
    UINT8 = "uint8", Shape::Int(Int::U8);
    /// `uint16`
    UINT16 = "uint16", Shape::Int(Int::U16);
    /// `uint32`
    UINT32 = "uint32", Shape::Int(Int::U32);
    /// `uint64`
    UINT64 = "uint64", Shape::Int(Int::U64);
    /// `float64`
    FLOAT64 = "float64", Shape::Float;
    /// `complex128`
    COMPLEX128 = "complex128", Shape::Complex;
    /// `string`
    STRING = "string", Shape::Str;
    /// `[]interface {}`
    LIST = "[]interface {}", Shape::List(&ANY);
    /// `[][]interface {}`
    LISTS = "[][]interface {}", Shape::List(&LIST);
    /// `[]string`
    STRINGS = "[]string", Shape::List(&STRING);
    /// `[][]string`
    STRING_LISTS = "[][]string", Shape::List(&STRINGS);
    /// `[]int`
    INTS = "[]int", Shape::List(&INT);
    /// `[]int64`
    INT64S = "[]int64", Shape::List(&INT64);
    /// `[]float64`
    FLOATS = "[]float64", Shape::List(&FLOAT64);
    /// `[]uint8`, also `[]byte`
    BYTES = "[]uint8", Shape::List(&UINT8);
    /// `[]map[string]interface {}`
    MAPS = "[]map[string]interface {}", Shape::List(&MAP);
    /// `map[string]interface {}`
    MAP = "map[string]interface {}", Shape::Map(&ANY);
    /// `map[string]string`
    STRING_MAP = "map[string]string", Shape::Map(&STRING);
}

/// The type of an integer.
pub fn of_int(int: Int) -> Type {
    match int {
        Int::I => &INT,
        Int::I8 => &INT8,
        Int::I16 => &INT16,
        Int::I32 => &INT32,
        Int::I64 => &INT64,
        Int::U => &UINT,
        Int::U8 => &UINT8,
        Int::U16 => &UINT16,
        Int::U32 => &UINT32,
        Int::U64 => &UINT64,
    }
}
