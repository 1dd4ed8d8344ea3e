//! Methods as operations of paths.

use lynceus_object::schema::{Shape, TypeRef};
use lynceus_object::{Value, value};

use super::model::{ERROR, Models, reference, scalar};
use crate::limits;
use crate::method::{Body, Flow, Method, Piece, Way, methods};
use crate::rights::{self, Right};

/// Parameters of the query that every answer has, whatever the method.
pub(super) fn shared() -> Value {
    let number = |name: &str, description: &str| value!({"name": name, "in": "query", "type": "integer", "format": "int64", "minimum": 0, "description": description});
    value!({
        "fields": {"name": "fields", "in": "query", "type": "string",
            "description": "The fields that are answered, with commas between; with - before the first, those that are left out."},
        "limit": number("limit", "How many items of a list are answered at the most."),
        "offset": number("offset", "How many items of a list are left out before them."),
    })
}

/// Every path with its operations.
pub(super) fn paths(models: &mut Models) -> Value {
    let mut paths = value!({});
    for (method, way) in ways() {
        let operation = operation(models, method, way);
        paths.set(&[&path(way), &way.verb.to_ascii_lowercase()], operation);
    }
    paths
}

/// The methods with the ways to them. Of two with one way it is the one that is answered there.
pub(super) fn ways() -> impl Iterator<Item = (&'static Method, &'static Way)> {
    let all = methods().iter().flat_map(|method| method.ways.iter().map(move |way| (method, way)));
    all.filter(|(method, _)| !method.is_superseded())
}

/// A path as descriptions write it.
pub(super) fn path(way: &Way) -> String {
    let pieces = way.path.iter().map(|piece| match piece {
        Piece::Word(word) => format!("/{word}"),
        Piece::Field(field) | Piece::Rest(field) => format!("/{{{field}}}"),
    });
    pieces.collect()
}

fn operation(models: &mut Models, method: &Method, way: &Way) -> Value {
    let (service, name) = method.id();
    let right = rights::of(method);
    let mut operation = value!({
        "tags": [service],
        "operationId": operation_id(method, way),
        "summary": format!("{service}.{name}"),
        "description": needs(right),
        "parameters": parameters(models, method, way),
        "responses": {
            "200": {"description": "The answer.", "schema": answer(models, method)},
            "default": {"description": "A refusal.", "schema": reference(ERROR)},
        },
    });
    if right == Right::Open {
        operation.set(&["security"], Value::Seq(lynceus_object::Seq::new()));
    }
    operation
}

/// Unique in the document: a method with several ways has a number from the second on, as Argo CD's have.
fn operation_id(method: &Method, way: &Way) -> String {
    let (service, name) = method.id();
    match method.ways.iter().position(|known| std::ptr::eq(known, way)) {
        None | Some(0) => format!("{service}_{name}"),
        Some(at) => format!("{service}_{name}{}", at + 1),
    }
}

/// What somebody has to be allowed, in a sentence.
pub(super) fn needs(right: Right) -> String {
    match right {
        Right::Open => "For everybody.".to_owned(),
        Right::Known => "For those who are logged in; answers what they may see.".to_owned(),
        Right::Application(action, _) => format!("Needs `applications, {action}`."),
        Right::Thing(resource, action, _) | Right::Asked(resource, action) => {
            format!("Needs `{}, {action}`.", resource.word())
        }
        Right::Account(action) => format!("For one's own account; for others it needs `accounts, {action}`."),
        Right::Nobody => "For nobody.".to_owned(),
    }
}

fn answer(models: &mut Models, method: &Method) -> Value {
    let message = match method.is_report() {
        true => value!({"type": "object"}),
        false => models.of(method.output),
    };
    match method.flow {
        Flow::Answers => {
            value!({"type": "object", "properties": {"result": message, "error": reference(ERROR)}})
        }
        Flow::Single | Flow::Questions => message,
    }
}

fn parameters(models: &mut Models, method: &Method, way: &Way) -> Vec<Value> {
    let told: Vec<&str> = way.path.iter().filter_map(Piece::field).collect();
    let mut parameters: Vec<Value> = told.iter().map(|field| in_path(method.input, field)).collect();
    let sent = match &way.body {
        Body::None => "",
        Body::Whole => {
            parameters.push(in_body(models.of(method.input)));
            "*"
        }
        Body::Field(field) => {
            parameters.push(in_body(at(method.input, field).map_or_else(|| value!({}), |ty| models.of(ty))));
            field
        }
    };
    if sent != "*" {
        let mut names = Vec::new();
        in_query(method.input, String::new(), &mut names);
        names.retain(|(name, _)| !told.contains(&name.as_str()) && !is_within(name, sent));
        parameters.extend(names.into_iter().map(|(_, parameter)| parameter));
    }
    if way.verb == "GET" {
        parameters.push(value!({"$ref": "#/parameters/fields"}));
        if method.flow == Flow::Single && method.output.field("items").is_some() {
            parameters.push(value!({"$ref": "#/parameters/limit"}));
            parameters.push(value!({"$ref": "#/parameters/offset"}));
        }
    }
    parameters
}

fn is_within(name: &str, field: &str) -> bool {
    !field.is_empty() && name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn in_body(schema: Value) -> Value {
    value!({"name": "body", "in": "body", "required": true, "schema": schema})
}

fn in_path(input: TypeRef<'_>, field: &str) -> Value {
    let kind = at(input, field).map(TypeRef::shape);
    let mut parameter = match kind {
        Some(Shape::Scalar(kind)) => scalar(kind),
        _ => value!({"type": "string"}),
    };
    parameter.set(&["name"], field);
    parameter.set(&["in"], "path");
    parameter.set(&["required"], true);
    parameter
}

/// The type of a field by its path.
fn at<'t>(input: TypeRef<'t>, path: &str) -> Option<TypeRef<'t>> {
    path.split('.').try_fold(input, |ty, name| Some(ty.field(name)?.ty()))
}

/// The fields of a message that a query can tell: scalars and lists of them, and those of messages within.
fn in_query(ty: TypeRef<'_>, before: String, found: &mut Vec<(String, Value)>) {
    if before.matches('.').count() >= limits::DESCRIBED_DEPTH {
        return;
    }
    for field in ty.fields() {
        let name = format!("{before}{}", field.name());
        let parameter = match field.ty().shape() {
            Shape::Scalar(kind) => scalar(kind),
            Shape::List(item, _) => match item.shape() {
                Shape::Scalar(kind) => {
                    value!({"type": "array", "items": scalar(kind), "collectionFormat": "multi"})
                }
                _ => continue,
            },
            Shape::Struct => {
                in_query(field.ty(), format!("{name}."), found);
                continue;
            }
            Shape::Map(_) | Shape::Any => continue,
        };
        // What may be any JSON has no form in a query.
        if parameter.str_at(&["type"]).is_none_or(|kind| kind == "object") {
            continue;
        }
        let mut parameter = parameter;
        parameter.set(&["name"], name.as_str());
        parameter.set(&["in"], "query");
        found.push((name, parameter));
    }
}
