//! What is made to go wrong, and when.

use jiff::{SignedDuration, Timestamp};
use lynceus_api::Glob;
use lynceus_object::{FieldPath, Object, Str, Value};

use super::read::{Field, Source, StageError};
use crate::attributes::Attributes;
use crate::kinds::validation::names;

/// What can be made to go wrong; a fault is exactly one of these.
const SORTS: [&str; 7] =
    ["answer", "slow", "cutWatches", "nodeDown", "diskFull", "sealVault", "expireTokens"];

/// Something that is made to go wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// When it begins.
    pub begins: Begins,
    /// How long it lasts; until somebody takes it away if there is no saying.
    pub lasts: Option<SignedDuration>,
    /// What goes wrong.
    pub what: What,
}

/// When a fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Some time after it was made.
    After(SignedDuration),
    /// At a time.
    At(Timestamp),
}

/// What goes wrong.
#[derive(Clone, Debug)]
pub enum What {
    /// Requests are answered with an error.
    Answer {
        /// Which requests.
        requests: Requests,
        /// The code: 429, 500, 503 or 504.
        code: u16,
        /// What the answer says, if it is not what the server usually says.
        message: Option<Str>,
    },
    /// Requests take longer.
    Slow {
        /// Which requests.
        requests: Requests,
        /// By how much.
        by: SignedDuration,
    },
    /// Watches end.
    CutWatches {
        /// Which watches.
        requests: Requests,
        /// Whether what came before is forgotten, so that a watch cannot go on from there.
        expired: bool,
    },
    /// Nodes fall silent.
    NodeDown(Glob),
    /// The disks of nodes are full.
    DiskFull(Glob),
    /// Vault is sealed.
    SealVault {
        /// The namespaces of its pods.
        namespace: Glob,
        /// Their names.
        pod: Glob,
    },
    /// Tokens that were made before are no longer good.
    ExpireTokens {
        /// The namespaces of their service accounts.
        namespace: Glob,
        /// The service accounts' names.
        account: Glob,
        /// The one token that is meant, by its id.
        token: Option<Str>,
    },
}

/// Which requests a fault is about: those that every list has something for, where an empty list has everything.
#[derive(Clone, Debug)]
pub struct Requests {
    groups: Vec<Glob>,
    resources: Vec<Glob>,
    verbs: Vec<Glob>,
    namespaces: Vec<Glob>,
    names: Vec<Glob>,
    users: Vec<Glob>,
    /// What part of them, from 0 to 1.
    pub share: f64,
}

impl Fault {
    /// Reads the `spec` of a Fault; what is wrong is said of its fields.
    pub fn of_object(fault: &Object) -> Result<Self, StageError> {
        let none = Value::Null;
        let spec = fault.at(&["spec"]).unwrap_or(&none);
        // It is read as an item of a stage's list, so that there is one reader and one table of keys.
        let source = Source { file: "", text: "" };
        let item = FieldPath::root().field("faults").index(0);
        Fault::of(&Field::at(&source, item, spec)).map_err(|mut error| {
            error.field = error.field.replacen("faults[0]", "spec", 1);
            error
        })
    }

    /// Reads an item of a stage's list: its name, the fault, and the `spec` of the Fault that it becomes.
    fn of_stage(field: &Field<'_>) -> Result<(Str, Value), StageError> {
        let name = field.need("name")?;
        let text = name.name(names::dns_subdomain)?;
        Fault::of(field)?;
        let mut spec = field.value().clone();
        spec.remove(&["name"]);
        Ok((text.into(), spec))
    }

    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let given: Vec<&str> = SORTS.into_iter().filter(|sort| field.get(sort).is_some()).collect();
        let hint = format!("it has to have exactly one of: {}", SORTS.join(", "));
        let [sort] = given[..] else {
            let problem = match given.as_slice() {
                [] => "does not say what goes wrong".to_owned(),
                more => format!("has {} at the same time", more.join(" and ")),
            };
            return Err(field.wrong(problem, hint));
        };
        let value = field.need(sort)?;
        let what = What::of(sort, &value, field)?;
        for (key, fits) in [
            ("requests", matches!(sort, "answer" | "slow" | "cutWatches")),
            ("share", matches!(sort, "answer" | "slow")),
            ("message", sort == "answer"),
            ("token", sort == "expireTokens"),
        ] {
            if let Some(found) = field.get(key).filter(|_| !fits) {
                return Err(found.wrong(format!("does not go with {sort}"), "leave it out"));
            }
        }
        Ok(Fault {
            begins: field.get("at").map_or(Ok(Begins::After(SignedDuration::ZERO)), |at| begins(&at))?,
            lasts: field.get("for").map(|time| time.duration()).transpose()?,
            what,
        })
    }
}

/// Reads all faults of a stage, none of which may have the name of another.
pub(super) fn read_all(root: &Field<'_>) -> Result<Vec<(Str, Value)>, StageError> {
    let mut faults: Vec<(Str, Value)> = Vec::new();
    for field in root.get("faults").map_or_else(|| Ok(Vec::new()), |list| list.items())? {
        let (name, spec) = Fault::of_stage(&field)?;
        if faults.iter().any(|(known, _)| *known == name) {
            let problem = format!("is the second fault with the name {name}");
            return Err(field.wrong(problem, "give each fault a name of its own"));
        }
        faults.push((name, spec));
    }
    Ok(faults)
}

/// A time, or how long it is until then.
fn begins(field: &Field<'_>) -> Result<Begins, StageError> {
    match field.text().ok().and_then(|text| text.parse::<Timestamp>().ok()) {
        Some(time) => Ok(Begins::At(time)),
        None => field.duration().map(Begins::After).map_err(|error| StageError {
            problem: "is neither a duration nor a time".to_owned(),
            hint: "write it as 30s or 2026-01-31T12:00:00Z".to_owned(),
            ..error
        }),
    }
}

impl What {
    fn of(sort: &str, value: &Field<'_>, fault: &Field<'_>) -> Result<Self, StageError> {
        let requests = || Requests::of(fault);
        Ok(match sort {
            "answer" => What::Answer {
                requests: requests()?,
                code: code(value)?,
                message: fault.get("message").map(|text| text.text().map(Str::from)).transpose()?,
            },
            "slow" => What::Slow { requests: requests()?, by: value.duration()? },
            "cutWatches" => What::CutWatches {
                requests: requests()?,
                expired: value.word(&["ended", "expired"])? == "expired",
            },
            "nodeDown" => What::NodeDown(value.glob()?),
            "diskFull" => What::DiskFull(value.glob()?),
            "sealVault" => {
                let (namespace, pod) = two(value, "namespace or namespace/pod", Some("*"))?;
                What::SealVault { namespace, pod }
            }
            _ => {
                let (namespace, account) = two(value, "namespace/serviceaccount", None)?;
                let token = fault.get("token").map(|id| id.text().map(Str::from)).transpose()?;
                What::ExpireTokens { namespace, account, token }
            }
        })
    }

    /// The requests that it is about, if it is about requests.
    pub fn requests(&self) -> Option<&Requests> {
        match self {
            What::Answer { requests, .. }
            | What::Slow { requests, .. }
            | What::CutWatches { requests, .. } => Some(requests),
            _ => None,
        }
    }
}

fn code(field: &Field<'_>) -> Result<u16, StageError> {
    let hint = "it has to be one of: 429, 500, 503, 504";
    let code = field.number(400, 599).ok().and_then(|code| u16::try_from(code).ok());
    code.filter(|code| matches!(code, 429 | 500 | 503 | 504))
        .ok_or_else(|| field.wrong("is no code that can be answered", hint))
}

/// Two patterns with a slash between them; `rest` stands for the second where there is no slash.
fn two(field: &Field<'_>, form: &str, rest: Option<&str>) -> Result<(Glob, Glob), StageError> {
    let text = field.text()?;
    let parts = text.split_once('/').or_else(|| rest.map(|rest| (text, rest)));
    let wrong = || field.wrong("cannot be read", format!("write it as {form}; * stands for anything"));
    let (first, second) = parts.filter(|(a, b)| !a.is_empty() && !b.is_empty()).ok_or_else(wrong)?;
    let glob = |text: &str| Glob::new(text).map_err(|_| wrong());
    Ok((glob(first)?, glob(second)?))
}

impl Requests {
    fn of(fault: &Field<'_>) -> Result<Self, StageError> {
        let wanted = fault.get("requests");
        if let Some(wanted) = &wanted {
            wanted.check_keys()?;
        }
        let list = |key: &str| match &wanted {
            Some(wanted) => wanted.list(key, Field::glob),
            None => Ok(Vec::new()),
        };
        Ok(Requests {
            groups: list("groups")?,
            resources: list("resources")?,
            verbs: list("verbs")?,
            namespaces: list("namespaces")?,
            names: list("names")?,
            users: list("users")?,
            share: fault.get("share").map_or(Ok(1.0), |share| share.part())?,
        })
    }

    /// Whether a request is one of them, whatever the share.
    pub fn include(&self, user: &str, request: &Attributes) -> bool {
        let Some(group) = group(request) else { return false };
        let has = |list: &[Glob], text: &str| list.is_empty() || list.iter().any(|one| one.matches(text));
        let core = group.is_empty() && self.groups.iter().any(|one| one.matches("core"));
        let part = ecow::eco_format!("{}/{}", request.resource, request.subresource);
        (core || has(&self.groups, group))
            && (has(&self.resources, &request.resource)
                || !request.subresource.is_empty() && has(&self.resources, &part))
            && has(&self.verbs, &request.verb)
            && has(&self.namespaces, &request.namespace)
            && has(&self.names, &request.name)
            && has(&self.users, user)
    }
}

/// The group that a request is about. None for what no fault may touch: whether the server is well, what it serves at all, and
/// the faults themselves, so that whoever made one can take it away.
fn group(request: &Attributes) -> Option<&str> {
    let group = match request.is_resource() {
        true => request.group.as_str(),
        false => match request.path.trim_matches('/').split('/').collect::<Vec<_>>()[..] {
            ["api", _] => "",
            ["apis", group, ..] => group,
            _ => return None,
        },
    };
    (group != crate::faults::GROUP).then_some(group)
}

#[cfg(test)]
mod tests {
    use crate::Stage;
    use crate::attributes::Attributes;
    use crate::stage::Fault;
    use lynceus_object::{Object, value, yaml};

    #[test]
    fn a_bad_fault_of_a_stage_is_refused_with_its_line_and_field() {
        for (text, wanted) in [
            ("faults:\n- {nodeDown: a}", "stage.yaml:4: faults[0] lacks name"),
            ("faults:\n- {name: A, nodeDown: a}", "stage.yaml:4: faults[0].name cannot be \"A\""),
            (
                "faults:\n- name: a\n  answer: 418",
                "stage.yaml:5: faults[0].answer is no code that can be answered",
            ),
            ("faults:\n- name: a\n  node: 1", "stage.yaml:5: faults[0].node is no key of a stage"),
            (
                "faults:\n- {name: a, slow: 1s}\n- {name: a, slow: 1s}",
                "stage.yaml:5: faults[1] is the second fault with the name a",
            ),
            (
                "faults:\n- name: a\n  answer: 500\n  requests:\n    verb: [get]",
                "stage.yaml:7: faults[0].requests.verb is no key of a stage",
            ),
        ] {
            let stage = format!("apiVersion: sim.lynceus.dev/v1alpha1\nkind: Stage\n{text}\n");
            assert_eq!(Stage::read("stage.yaml", &stage).unwrap_err().to_string(), wanted);
        }
    }

    /// Whether a fault with these `requests` is about a request: `verb group/resource/part namespace name user`.
    fn is_about(requests: &str, request: &str) -> bool {
        let mut fault = value!({"spec": {"answer": 500}});
        fault.set(&["spec", "requests"], yaml::parse_str(requests).unwrap());
        let fault = Fault::of_object(&Object::new(fault).unwrap()).unwrap();
        let [verb, path, namespace, name, user] = request.split(' ').collect::<Vec<_>>()[..] else {
            panic!()
        };
        let mut parts = path.split('/');
        let mut part = || parts.next().unwrap_or_default().into();
        let request = Attributes {
            verb: verb.into(),
            group: part(),
            resource: part(),
            subresource: part(),
            namespace: namespace.into(),
            name: name.into(),
            ..Attributes::default()
        };
        fault.what.requests().unwrap().include(user, &request)
    }

    #[test]
    fn requests_are_told_apart_by_all_that_is_said_of_them() {
        for (requests, request, wanted) in [
            ("{}", "get /pods default a me", true),
            ("{groups: [apps]}", "get apps/deployments default a me", true),
            ("{groups: [apps]}", "get /pods default a me", false),
            ("{groups: [core]}", "get /pods default a me", true),
            ("{groups: ['*']}", "get /pods default a me", true),
            ("{resources: [pods]}", "update /pods/status default a me", true),
            ("{resources: [pods/status]}", "update /pods/status default a me", true),
            ("{resources: [pods/status]}", "update /pods default a me", false),
            ("{verbs: [create, update]}", "get /pods default a me", false),
            ("{namespaces: ['team-*']}", "get /pods team-a a me", true),
            ("{names: [b]}", "get /pods team-a a me", false),
            ("{users: ['system:*']}", "get /pods team-a a me", false),
            ("{}", "delete sim.lynceus.dev/faults  a me", false),
        ] {
            assert_eq!(is_about(requests, request), wanted, "{requests} {request}");
        }
    }
}
