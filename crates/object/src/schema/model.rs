//! The walkable form of a schema: an arena of nodes, and references into it.

use std::fmt;
use std::sync::OnceLock;

use crate::value::{Str, Value};
use crate::word::{self, beginning};

pub(crate) type Id = u32;

/// The types of one source, referring to each other by index.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pub(crate) nodes: Vec<Node>,
    pub(crate) structs: Vec<StructDef>,
}

impl Arena {
    pub(crate) const fn new() -> Self {
        Arena { nodes: Vec::new(), structs: Vec::new() }
    }

    pub(crate) fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        (self.nodes.len() - 1) as Id
    }

    /// The fields of a struct by its position.
    pub(crate) fn fields_of(&self, def: usize) -> impl Iterator<Item = Field<'_>> {
        let fields = self.structs.get(def).map_or(&[][..], |def| &def.fields);
        fields.iter().map(|def| Field { arena: self, def })
    }

    pub(crate) fn at(&self, id: Id) -> TypeRef<'_> {
        match self.nodes.get(id as usize) {
            Some(Node { kind: NodeKind::Link(target), .. }) => *target,
            _ => TypeRef { arena: self, id },
        }
    }
}

/// One type.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The name that Go prints in messages; empty where the shape gives it.
    pub(crate) name: Str,
    pub(crate) kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Any,
    Scalar(Scalar, Vec<Str>),
    List {
        item: Id,
        list: ListType,
        wrapped: bool,
    },
    Map {
        value: Id,
        atomic: bool,
    },
    Struct {
        def: u32,
        atomic: bool,
    },
    Link(TypeRef<'static>),
    /// Another type with other marks; gone once a table is read.
    Over {
        base: Id,
        list: Option<ListType>,
        atomic: Option<bool>,
    },
}

#[derive(Debug, Default)]
pub(crate) struct StructDef {
    /// Sorted by name; the fields of embedded structs are here too.
    pub(crate) fields: Vec<FieldDef>,
    /// Embedded structs, each with the number of own fields before it; gone once a table is read.
    pub(crate) embedded: Vec<(u32, Id)>,
    /// What stands in the message of the wire, sorted by number.
    pub(crate) wire: Vec<(u32, Wire)>,
    /// The fields, by position, that Go prints even when nothing set them.
    pub(crate) always_printed: Vec<u32>,
    /// The type of fields that are not named, where they are kept.
    pub(crate) rest: Option<Id>,
    /// How the names of the fields begin, in their order; made when it is first needed.
    pub(crate) beginnings: OnceLock<Box<[u64]>>,
}

impl StructDef {
    /// Where a field stands. The beginnings of names are numbers side by side, which are searched much faster than the
    /// names themselves.
    fn position(&self, name: &str) -> Option<usize> {
        let beginnings =
            self.beginnings.get_or_init(|| self.fields.iter().map(|field| beginning(&field.name)).collect());
        let wanted = beginning(name);
        let first = beginnings.partition_point(|beginning| *beginning < wanted);
        let alike = beginnings[first..].iter().take_while(|beginning| **beginning == wanted).count();
        (first..first + alike).find(|at| word::equals(&self.fields[*at].name, name))
    }
}

/// What a protobuf field number stands for.
#[derive(Clone, Debug)]
pub(crate) enum Wire {
    /// A field, by its position in [`StructDef::fields`].
    Field(u32),
    /// A struct that is a message of its own, while its fields are printed inline.
    Embedded(Id),
}

#[derive(Clone, Debug)]
pub(crate) struct FieldDef {
    pub(crate) name: Str,
    pub(crate) ty: Id,
    pub(crate) number: u32,
    pub(crate) flags: Flags,
    pub(crate) merge: MergeStrategy,
    pub(crate) default: Option<Value>,
    /// The embedded structs that it comes from, each followed by a point, as Go names them in messages.
    pub(crate) via: Str,
    /// Where it stands among the fields as Go declares and prints them.
    pub(crate) place: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) pointer: bool,
    pub(crate) omit_empty: bool,
    pub(crate) omit_zero: bool,
    pub(crate) required: bool,
    pub(crate) list_marker: bool,
}

/// The leaves, by how they are written in JSON and on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    String,
    /// A boolean.
    Bool,
    /// A whole number of 32 bits.
    Int32,
    /// A whole number of 64 bits.
    Int64,
    /// A number.
    Float64,
    /// Bytes, in JSON as base64.
    Bytes,
    /// A point in time with seconds.
    Time,
    /// A point in time with microseconds.
    MicroTime,
    /// A length of time, as Go writes it (`1m30s`).
    Duration,
    /// A number or a string such as `25%`.
    IntOrString,
    /// A quantity such as `500m`.
    Quantity,
    /// An object of any kind.
    Raw,
    /// A set of fields in `managedFields`.
    Fields,
    /// Any JSON.
    Json,
    /// A JSON schema or a list of them.
    SchemaOrArray,
    /// A JSON schema or a boolean.
    SchemaOrBool,
    /// A JSON schema or a list of strings.
    SchemaOrStrings,
}

/// How the items of a list belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    /// One value, replaced whole.
    #[default]
    Atomic,
    /// Scalars, each once.
    Set,
    /// Items told apart by these keys.
    Map(Vec<Str>),
}

/// How a strategic merge patch treats a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeStrategy {
    /// Whether a list is merged rather than replaced.
    pub merge: bool,
    /// Whether a map is replaced rather than merged.
    pub replace: bool,
    /// Whether a patch names the keys that stay (`$retainKeys`).
    pub retain_keys: bool,
    /// The key by which items of a merged list are told apart; none for scalars.
    pub key: Option<Str>,
}

/// A schema of its own, such as that of a custom resource.
#[derive(Debug)]
pub struct Schema {
    pub(crate) arena: Arena,
    pub(crate) root: Id,
}

impl Schema {
    /// The type of the whole object.
    pub fn root(&self) -> TypeRef<'_> {
        self.arena.at(self.root)
    }
}

/// A type, to be walked.
#[derive(Clone, Copy)]
pub struct TypeRef<'s> {
    arena: &'s Arena,
    id: Id,
}

/// What sort of type it is.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'s> {
    /// Nothing is known: what is found decides.
    Any,
    /// A leaf.
    Scalar(Scalar),
    /// A list of items.
    List(TypeRef<'s>, &'s ListType),
    /// A map from names to values.
    Map(TypeRef<'s>),
    /// Named fields.
    Struct,
}

impl fmt::Debug for TypeRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.go_name())
    }
}

/// The same place in the same schema.
impl PartialEq for TypeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.arena, other.arena) && self.id == other.id
    }
}

impl<'s> TypeRef<'s> {
    /// The type of what has no schema.
    pub fn untyped() -> Self {
        static NOTHING: Arena = Arena::new();
        NOTHING.at(0)
    }

    fn node(self) -> &'s NodeKind {
        self.arena.nodes.get(self.id as usize).map_or(&NodeKind::Any, |node| &node.kind)
    }

    pub(crate) fn definition(self) -> Option<&'s StructDef> {
        match self.node() {
            NodeKind::Struct { def, .. } => self.arena.structs.get(*def as usize),
            _ => None,
        }
    }

    /// A field by its position.
    pub(crate) fn field_at(self, index: u32) -> Option<Field<'s>> {
        self.definition()?.fields.get(index as usize).map(|def| Field { arena: self.arena, def })
    }

    /// The fields that Go prints even when nothing set them.
    pub(crate) fn always_printed(self) -> impl Iterator<Item = Field<'s>> {
        let indexes = self.definition().map_or(&[][..], |def| &def.always_printed);
        indexes.iter().filter_map(move |index| self.field_at(*index))
    }

    pub(crate) fn sibling(self, id: Id) -> TypeRef<'s> {
        self.arena.at(id)
    }

    /// What sort of type it is.
    pub fn shape(self) -> Shape<'s> {
        match self.node() {
            NodeKind::Any | NodeKind::Link(_) | NodeKind::Over { .. } => Shape::Any,
            NodeKind::Scalar(scalar, _) => Shape::Scalar(*scalar),
            NodeKind::List { item, list, .. } => Shape::List(self.arena.at(*item), list),
            NodeKind::Map { value, .. } => Shape::Map(self.arena.at(*value)),
            NodeKind::Struct { .. } => Shape::Struct,
        }
    }

    /// Whether it is one of these types.
    pub(crate) fn is_in(self, arena: &Arena) -> bool {
        std::ptr::eq(self.arena, arena)
    }

    /// Whether nothing is known about it.
    pub fn is_untyped(self) -> bool {
        matches!(self.shape(), Shape::Any)
    }

    /// A field of a struct.
    pub fn field(self, name: &str) -> Option<Field<'s>> {
        let def = self.definition()?;
        let at = def.position(name)?;
        def.fields.get(at).map(|def| Field { arena: self.arena, def })
    }

    /// The fields of a struct in name order; those of embedded structs among them.
    pub fn fields(self) -> impl ExactSizeIterator<Item = Field<'s>> {
        let fields = self.definition().map_or(&[][..], |def| &def.fields);
        fields.iter().map(move |def| Field { arena: self.arena, def })
    }

    /// The type of whatever stands under `key`: a field, a map's value, or an unnamed field that is kept.
    pub fn child(self, key: &str) -> Option<TypeRef<'s>> {
        match self.shape() {
            Shape::Struct => match self.field(key) {
                Some(field) => Some(field.ty()),
                None => self.rest(),
            },
            Shape::Map(value) => Some(value),
            Shape::Any => Some(self),
            Shape::Scalar(_) | Shape::List(..) => None,
        }
    }

    /// The type of the fields that a struct does not name, where it keeps them.
    pub fn rest(self) -> Option<TypeRef<'s>> {
        self.definition().and_then(|def| def.rest).map(|id| self.arena.at(id))
    }

    /// The type of a list's items; untyped lists have untyped items.
    pub fn item(self) -> Option<TypeRef<'s>> {
        match self.shape() {
            Shape::List(item, _) => Some(item),
            Shape::Any => Some(self),
            _ => None,
        }
    }

    /// How the items of a list belong together.
    pub fn list_type(self) -> &'s ListType {
        match self.node() {
            NodeKind::List { list, .. } => list,
            _ => &ListType::Atomic,
        }
    }

    /// Whether a map or struct is one value that is replaced whole.
    pub fn is_atomic(self) -> bool {
        match self.node() {
            NodeKind::Map { atomic, .. } | NodeKind::Struct { atomic, .. } => *atomic,
            _ => false,
        }
    }

    /// Whether a list is a message of its own on the wire.
    pub(crate) fn is_wrapped(self) -> bool {
        matches!(self.node(), NodeKind::List { wrapped: true, .. })
    }

    /// The values of an enumeration in order; empty for any other type.
    pub fn values(self) -> &'s [Str] {
        match self.node() {
            NodeKind::Scalar(_, values) => values,
            _ => &[],
        }
    }

    /// The name of the type alone, such as `PodSpec`; empty if it has none.
    pub fn name(self) -> &'s str {
        let name = self.arena.nodes.get(self.id as usize).map_or("", |node| node.name.as_str());
        name.rsplit_once('.').map_or(name, |(_, name)| name)
    }

    /// The type as Go prints it in messages, such as `[]v1.Container`.
    pub fn go_name(self) -> String {
        if let Some(node) = self.arena.nodes.get(self.id as usize)
            && !node.name.is_empty()
        {
            return package_name(&node.name);
        }
        match self.shape() {
            Shape::Any => "interface {}".to_owned(),
            Shape::Scalar(scalar) => scalar.go_name().to_owned(),
            Shape::List(item, _) => format!("[]{}", item.go_name()),
            Shape::Map(value) => format!("map[string]{}", value.go_name()),
            Shape::Struct => "struct".to_owned(),
        }
    }

    /// The package and name of a type of the table, such as `core/v1.PodSpec`; empty if it has none.
    pub fn full_name(self) -> &'s str {
        self.arena.nodes.get(self.id as usize).map_or("", |node| node.name.as_str())
    }
}

/// `core/v1.PodSpec` is `v1.PodSpec` to Go.
fn package_name(full: &str) -> String {
    full.rsplit_once('/').map_or(full, |(_, name)| name).to_owned()
}

impl Scalar {
    /// The type as Go prints it in messages.
    pub fn go_name(self) -> &'static str {
        match self {
            Scalar::String => "string",
            Scalar::Bool => "bool",
            Scalar::Int32 => "int32",
            Scalar::Int64 => "int64",
            Scalar::Float64 => "float64",
            Scalar::Bytes => "[]uint8",
            Scalar::Time => "v1.Time",
            Scalar::MicroTime => "v1.MicroTime",
            Scalar::Duration => "v1.Duration",
            Scalar::IntOrString => "intstr.IntOrString",
            Scalar::Quantity => "resource.Quantity",
            Scalar::Raw => "runtime.RawExtension",
            Scalar::Fields => "v1.FieldsV1",
            Scalar::Json => "v1.JSON",
            Scalar::SchemaOrArray => "v1.JSONSchemaPropsOrArray",
            Scalar::SchemaOrBool => "v1.JSONSchemaPropsOrBool",
            Scalar::SchemaOrStrings => "v1.JSONSchemaPropsOrStringArray",
        }
    }
}

/// A field of a struct.
#[derive(Clone, Copy)]
pub struct Field<'s> {
    arena: &'s Arena,
    def: &'s FieldDef,
}

impl<'s> Field<'s> {
    /// The name in JSON.
    pub fn name(self) -> &'s str {
        &self.def.name
    }

    /// The type.
    pub fn ty(self) -> TypeRef<'s> {
        self.arena.at(self.def.ty)
    }

    /// How a strategic merge patch treats it.
    pub fn merge(self) -> &'s MergeStrategy {
        &self.def.merge
    }

    /// How the items of a list belong together in server-side apply.
    pub fn list_type(self) -> &'s ListType {
        self.ty().list_type()
    }

    /// Whether the list type is stated, rather than following from the patch strategy.
    pub fn has_list_marker(self) -> bool {
        self.def.flags.list_marker
    }

    /// Where it stands among its struct's fields in Go's own order, which is the order of printing.
    pub(crate) fn place(self) -> u32 {
        self.def.place
    }

    /// Whether it has to be there.
    pub fn is_required(self) -> bool {
        self.def.flags.required
    }

    /// Whether Go holds it by pointer, so that "not set" and "zero" differ.
    pub fn is_pointer(self) -> bool {
        self.def.flags.pointer
    }

    /// Whether Go leaves it out when it is empty.
    pub fn omits_empty(self) -> bool {
        self.def.flags.omit_empty
    }

    /// Whether Go leaves it out when it is the zero of its type, structs included.
    pub fn omits_zero(self) -> bool {
        self.def.flags.omit_zero
    }

    /// The value that it has in server-side apply's eyes where it is left out.
    pub fn default(self) -> Option<&'s Value> {
        self.def.default.as_ref()
    }

    pub(crate) fn via(self) -> &'s str {
        &self.def.via
    }

    /// The field number in protobuf; 0 if it is not there.
    pub fn number(self) -> u32 {
        self.def.number
    }
}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name(), self.ty())
    }
}
