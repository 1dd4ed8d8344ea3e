//! `.Capabilities`.

use std::any::Any;

use lynceus_gotmpl::{
    Context, Failure, Json, List, Method, Object, Shape, Str, Type, TypeInfo, Value, signature, types,
};

use crate::capabilities::{Capabilities, HelmVersion, KubeVersion};

static CAPABILITIES: TypeInfo = TypeInfo::declared("*common.Capabilities", Shape::Pointer, &[]);
static HELM_VERSION: TypeInfo = TypeInfo::declared("version.BuildInfo", Shape::Struct, &[]);

static KUBE_VERSION: TypeInfo = TypeInfo::declared(
    "common.KubeVersion",
    Shape::Struct,
    &[
        Method { name: "String", signature: signature!(() -> STRING), call: normalized },
        Method { name: "GitVersion", signature: signature!(() -> STRING), call: version },
    ],
);

static VERSION_SET: TypeInfo = TypeInfo::declared(
    "common.VersionSet",
    Shape::List(&types::STRING),
    &[Method { name: "Has", signature: signature!((STRING) -> BOOL), call: has }],
);

/// What `.Capabilities` is.
pub(super) fn object(capabilities: &Capabilities) -> Value {
    let versions = capabilities.api_versions.iter().map(|version| Value::from(version.as_str())).collect();
    Value::object(Root {
        kube_version: Value::object(Kube(capabilities.kube_version.clone())),
        api_versions: Value::List(List::typed(&VERSION_SET, versions)),
        helm_version: Value::object(Helm(capabilities.helm_version.clone())),
    })
}

struct Root {
    kube_version: Value,
    api_versions: Value,
    helm_version: Value,
}

impl Object for Root {
    fn go_type(&self) -> Type {
        &CAPABILITIES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("KubeVersion", self.kube_version.clone()),
            ("APIVersions", self.api_versions.clone()),
            ("HelmVersion", self.helm_version.clone()),
        ]
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "KubeVersion" => Some(self.kube_version.clone()),
            "APIVersions" => Some(self.api_versions.clone()),
            "HelmVersion" => Some(self.helm_version.clone()),
            _ => None,
        }
    }
}

struct Kube(KubeVersion);

impl Object for Kube {
    fn go_type(&self) -> Type {
        &KUBE_VERSION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("Version", Value::from(self.0.version.as_str())),
            // Not for templates to name, but printed with the others.
            ("normalizedVersion", Value::from(self.0.normalized.as_str())),
            ("Major", Value::from(self.0.major.as_str())),
            ("Minor", Value::from(self.0.minor.as_str())),
        ]
    }

    fn field(&self, name: &str) -> Option<Value> {
        let text = match name {
            "Version" => &self.0.version,
            "Major" => &self.0.major,
            "Minor" => &self.0.minor,
            _ => return None,
        };
        Some(Value::from(text.as_str()))
    }

    fn pointer_text(&self) -> Option<Str> {
        Some(Str::from(self.0.normalized.as_str()))
    }

    fn json(&self) -> Json {
        let exported = self.fields().into_iter().filter(|(name, _)| *name != "normalizedVersion");
        Json::Fields(exported.collect())
    }
}

struct Helm(HelmVersion);

impl Object for Helm {
    fn go_type(&self) -> Type {
        &HELM_VERSION
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("Version", Value::from(self.0.version.as_str())),
            ("GitCommit", Value::from(self.0.git_commit.as_str())),
            ("GitTreeState", Value::from(self.0.git_tree_state.as_str())),
            ("GoVersion", Value::from(self.0.go_version.as_str())),
            ("KubeClientVersion", Value::from(self.0.kube_client_version.as_str())),
        ]
    }

    fn json(&self) -> Json {
        let names =
            ["version", "git_commit", "git_tree_state", "go_version", "kube_client_version"].into_iter();
        let named = names.zip(self.fields()).map(|(name, (_, value))| (name, value));
        // The last one is told even when there is nothing to tell.
        Json::Fields(named.filter(|(name, value)| *name == "kube_client_version" || value.truth()).collect())
    }
}

fn kube(value: &Value) -> Option<&KubeVersion> {
    value.as_object::<Kube>().map(|kube| &kube.0)
}

fn normalized(_: &mut Context<'_>, value: &Value, _: &[Value]) -> Result<Value, Failure> {
    Ok(Value::Str(kube(value).map(|kube| Str::from(kube.normalized.as_str())).unwrap_or_default()))
}

fn version(_: &mut Context<'_>, value: &Value, _: &[Value]) -> Result<Value, Failure> {
    Ok(Value::Str(kube(value).map(|kube| Str::from(kube.version.as_str())).unwrap_or_default()))
}

fn has(_: &mut Context<'_>, value: &Value, args: &[Value]) -> Result<Value, Failure> {
    let wanted = args.first().and_then(Value::as_str);
    let there = value.as_list().and_then(List::read);
    let found = there.is_some_and(|there| there.iter().any(|version| version.as_str() == wanted));
    Ok(Value::Bool(found))
}
