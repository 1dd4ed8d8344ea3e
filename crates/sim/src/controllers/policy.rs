//! What the types of the objects that an admission policy is about say of its expressions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lynceus_object::schema::{Scalar, Shape, TypeRef};
use lynceus_object::{Gvk, Object, Str, Value, value};

use super::key::Key;
use super::kind::{VALIDATING_POLICY, is_among};
use super::steps::{Step, Steps};
use super::world::World;
use super::{Controller, Writer};
use crate::cel::{Env, ObjectTy, Program, Ty, escape, is_reserved};
use crate::store::{Event, Place};
use crate::strategy;

/// How many kinds of one rule are looked at.
const MOST_KINDS: usize = 10;
/// How deep types are known; some of them hold themselves.
const DEPTH: usize = 14;

/// Keeps the status of admission policies.
pub(crate) struct PolicyStatus;

impl Controller for PolicyStatus {
    fn component(&self) -> &'static str {
        "validatingadmissionpolicy-status-controller"
    }

    fn writer(&self) -> Writer {
        Writer {
            user: "system:serviceaccount:kube-system:validatingadmissionpolicy-status-controller",
            manager: "validatingadmissionpolicy-status",
        }
    }

    fn hears(&self, place: &Place) -> bool {
        is_among(&[VALIDATING_POLICY], place)
    }

    fn notice(&mut self, event: &Event, _: &World<'_>, wake: &mut Vec<Key>) {
        if VALIDATING_POLICY.is(&event.place) {
            wake.push(Key::of(&event.place, &event.object));
        }
    }

    fn look(&mut self, key: &Key, world: &World<'_>, out: &mut Steps) {
        let Some(policy) = world.find(key) else { return };
        let seen = policy.value().int_at(&["status", "observedGeneration"]).unwrap_or(0);
        if policy.generation() <= seen {
            return;
        }
        let mut checked = VALIDATING_POLICY.named("", policy.name());
        checked.set(&["status", "observedGeneration"], policy.generation());
        checked.set(&["status", "typeChecking"], value!({}));
        let warnings = warnings(&policy, world);
        if !warnings.is_empty() {
            checked.set(&["status", "typeChecking", "expressionWarnings"], warnings);
        }
        out.steps.push(Step::Apply { key: key.clone(), subresource: "status", object: checked });
    }
}

/// What is wrong with the expressions of a policy, each for every kind that it is about.
fn warnings(policy: &Object, world: &World<'_>) -> Vec<Value> {
    let kinds = kinds_of(policy, world).into_iter();
    let kinds: Vec<(Gvk, Env)> =
        kinds.map(|kind| (kind.clone(), environment(policy, &kind, world))).collect();
    let mut found = Vec::new();
    for (index, validation) in policy.value().items_at(&["spec", "validations"]).iter().enumerate() {
        for field in ["expression", "messageExpression"] {
            let text = validation.str_at(&[field]).unwrap_or_default();
            if text.is_empty() {
                continue;
            }
            let problems = kinds.iter().filter_map(|(kind, env)| {
                let error = Program::compile(text, env).err()?;
                Some(format!("{}/{}, Kind={}: {error}\n", kind.group, kind.version, kind.kind))
            });
            let problems: Vec<String> = problems.collect();
            if !problems.is_empty() {
                let place = format!("spec.validations[{index}].{field}");
                found.push(value!({"fieldRef": place, "warning": problems.join("\n")}));
            }
        }
    }
    found
}

/// The kinds that a policy names. Nothing is known of a rule with a pattern.
fn kinds_of(policy: &Object, world: &World<'_>) -> BTreeSet<Gvk> {
    let registry = world.local.registry();
    let mut kinds = BTreeSet::new();
    for rule in policy.value().items_at(&["spec", "matchConstraints", "resourceRules"]) {
        let words = |field: &str| -> Vec<&str> {
            let mut words: Vec<&str> = rule.items_at(&[field]).iter().filter_map(Value::as_str).collect();
            words.sort_unstable();
            words
        };
        let (groups, versions) = (words("apiGroups"), words("apiVersions"));
        if groups.iter().chain(&versions).any(|word| word.contains('*')) {
            continue;
        }
        let plurals = words("resources").into_iter().filter(|word| !word.contains(['*', '/']));
        let plurals: Vec<&str> = plurals.collect();
        let all = groups.iter().flat_map(|group| {
            versions.iter().flat_map({
                let plurals = &plurals;
                move |version| plurals.iter().map(move |plural| (*group, *version, *plural))
            })
        });
        let served = all.filter_map(|(group, version, plural)| registry.find(group, version, plural));
        kinds.extend(served.take(MOST_KINDS).map(|resource| resource.gvk()));
    }
    kinds
}

/// What the expressions of a policy can use for objects of a kind.
fn environment(policy: &Object, kind: &Gvk, world: &World<'_>) -> Env {
    let object = type_of_kind(kind, world);
    let mut env = Env::new([("request", request()), ("namespaceObject", Ty::Dyn)])
        .with("object", object.clone())
        .with("oldObject", object)
        .with_authorizer();
    if let Some(params) = policy.at(&["spec", "paramKind"]).filter(|kind| !kind.is_null()) {
        let text = |field| params.str_at(&[field]).unwrap_or_default();
        let kind = Gvk::from_manifest(text("apiVersion"), text("kind"));
        env = env.with("params", type_of_kind(&kind, world));
    }
    // A variable may use those before it.
    let mut variables = BTreeMap::new();
    for variable in policy.value().items_at(&["spec", "variables"]) {
        let text = |field| variable.str_at(&[field]).unwrap_or_default();
        let scope = env.clone().with("variables", object_of(variables.clone()));
        let ty = Program::compile(text("expression"), &scope).map_or(Ty::Dyn, |program| program.ty().clone());
        variables.insert(Str::from(text("name")), (Str::from(text("name")), ty));
    }
    env.with("variables", object_of(variables))
}

fn object_of(fields: BTreeMap<Str, (Str, Ty)>) -> Ty {
    Ty::Object(Arc::new(ObjectTy { fields }))
}

fn type_of_kind(kind: &Gvk, world: &World<'_>) -> Ty {
    let registry = world.local.registry();
    registry.of_kind(kind).map_or(Ty::Dyn, |resource| type_of(strategy::schema(resource), DEPTH))
}

/// A type of the API, as expressions know it.
fn type_of(ty: TypeRef<'_>, depth: usize) -> Ty {
    let Some(depth) = depth.checked_sub(1) else { return Ty::Dyn };
    match ty.shape() {
        Shape::Struct if ty.rest().is_none() => {
            let mut fields = BTreeMap::new();
            for field in ty.fields() {
                let inner = type_of(field.ty(), depth);
                let name = Str::from(field.name());
                if is_reserved(&name) {
                    fields.insert(name.clone(), (name.clone(), inner.clone()));
                }
                if let Some(escaped) = escape(&name) {
                    fields.insert(escaped, (name, inner));
                }
            }
            object_of(fields)
        }
        Shape::Map(inner) => Ty::map(Ty::String, type_of(inner, depth)),
        Shape::List(item, _) => Ty::list(type_of(item, depth)),
        Shape::Scalar(scalar) => match scalar {
            Scalar::String | Scalar::Duration => Ty::String,
            Scalar::Bool => Ty::Bool,
            Scalar::Int32 | Scalar::Int64 => Ty::Int,
            Scalar::Float64 => Ty::Double,
            Scalar::Bytes => Ty::Bytes,
            Scalar::Time | Scalar::MicroTime => Ty::Timestamp,
            Scalar::IntOrString
            | Scalar::Quantity
            | Scalar::Raw
            | Scalar::Fields
            | Scalar::Json
            | Scalar::SchemaOrArray
            | Scalar::SchemaOrBool
            | Scalar::SchemaOrStrings => Ty::Dyn,
        },
        Shape::Struct | Shape::Any => Ty::Dyn,
    }
}

/// The request that a policy is asked about.
fn request() -> Ty {
    let of = |fields: &[(&'static str, Ty)]| {
        object_of(
            fields.iter().map(|(name, ty)| (Str::from(*name), (Str::from(*name), ty.clone()))).collect(),
        )
    };
    let text = |name: &'static str| (name, Ty::String);
    let kind = of(&[text("group"), text("version"), text("kind")]);
    let resource = of(&[text("group"), text("version"), text("resource")]);
    let texts = Ty::list(Ty::String);
    let user = of(&[
        text("username"),
        text("uid"),
        ("groups", texts.clone()),
        ("extra", Ty::map(Ty::String, texts)),
    ]);
    of(&[
        ("kind", kind.clone()),
        ("resource", resource.clone()),
        text("subResource"),
        ("requestKind", kind),
        ("requestResource", resource),
        text("requestSubResource"),
        text("name"),
        text("namespace"),
        text("operation"),
        ("userInfo", user),
        ("dryRun", Ty::Bool),
        ("options", Ty::Dyn),
    ])
}
