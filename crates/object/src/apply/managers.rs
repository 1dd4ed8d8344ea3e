//! Who manages which fields: `metadata.managedFields` as a value.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use super::set::FieldSet;
use crate::json;
use crate::map::Map;
use crate::object::Object;
use crate::schema::scalar::{parse_time, print_time};
use crate::value::{Str, Value};

/// How many managers that update are told apart; the oldest of more are thrown together.
pub(super) const MAX_UPDATE_MANAGERS: usize = 10;
const ANCIENT: &str = "ancient-changes";

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// By applying a configuration.
    Apply,
    /// By any other write.
    Update,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        }
    }
}

/// What tells one entry of `managedFields` from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ManagerId {
    /// The name that the client gave.
    pub manager: Str,
    /// How the fields were written.
    pub operation: Operation,
    /// The version written in; empty for an applier, which is the same one in every version.
    pub api_version: Str,
    /// The subresource written through; empty for the object itself.
    pub subresource: Str,
}

impl ManagerId {
    /// The id of a manager that writes now; a manager without a name is `unknown`.
    pub fn new(manager: &str, operation: Operation, api_version: &str, subresource: &str) -> Self {
        let manager = if manager.is_empty() { "unknown" } else { manager };
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        ManagerId {
            manager: manager.into(),
            operation,
            api_version: api_version.into(),
            subresource: subresource.into(),
        }
    }

    /// The text by which API servers sort ids.
    pub(super) fn sort_key(&self) -> String {
        let text = |value: &Str| json::go_string(&Value::Str(value.clone()));
        let mut fields = Vec::new();
        if !self.manager.is_empty() {
            fields.push(format!("\"manager\":{}", text(&self.manager)));
        }
        fields.push(format!("\"operation\":\"{}\"", self.operation.name()));
        if !self.api_version.is_empty() {
            fields.push(format!("\"apiVersion\":{}", text(&self.api_version)));
        }
        if !self.subresource.is_empty() {
            fields.push(format!("\"subresource\":{}", text(&self.subresource)));
        }
        format!("{{{}}}", fields.join(","))
    }
}

/// As conflicts name a manager: `"kubectl" with subresource "status" using apps/v1`.
impl fmt::Display for ManagerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.manager.as_str())?;
        if !self.subresource.is_empty() {
            write!(f, " with subresource {:?}", self.subresource.as_str())?;
        }
        if self.operation == Operation::Update {
            write!(f, " using {}", self.api_version)?;
        }
        Ok(())
    }
}

/// What a manager owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Owned {
    /// The fields.
    pub fields: FieldSet,
    /// The version in which they are named.
    pub api_version: Str,
    /// When the manager last changed something.
    pub time: Option<Timestamp>,
}

/// All managers of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Managers(pub(crate) BTreeMap<ManagerId, Owned>);

impl Managers {
    /// Reads `metadata.managedFields`; an object without any has no managers.
    pub fn of(object: &Object) -> Result<Self, String> {
        Managers::read(object.value().items_at(&["metadata", "managedFields"]))
    }

    /// Reads the entries of `managedFields`.
    pub fn read(entries: &[Value]) -> Result<Self, String> {
        let mut managers = BTreeMap::new();
        for (index, entry) in entries.iter().enumerate() {
            let text = |field| entry.str_at(&[field]).unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            let api_version = text("apiVersion");
            if api_version.is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {index}")),
                other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {index}")),
            }
            let mut id = ManagerId::new("-", operation, api_version, text("subresource"));
            id.manager = text("manager").into();
            let fields = match entry.get("fieldsV1") {
                None | Some(Value::Null) => FieldSet::new(),
                Some(fields) => FieldSet::from_value(fields).map_err(|error| error.to_string())?,
            };
            let time = parse_time(text("time"));
            managers.insert(id, Owned { fields, api_version: api_version.into(), time });
        }
        Ok(Managers(managers))
    }

    /// The entries in the order that API servers give them.
    pub fn entries(&self) -> Vec<Value> {
        let seconds = |owned: &Owned| owned.time.map_or(0, Timestamp::as_second);
        let mut sorted: Vec<(&ManagerId, &Owned)> = self.0.iter().collect();
        sorted.sort_by(|(a, x), (b, y)| {
            (a.operation.cmp(&b.operation))
                .then_with(|| seconds(x).cmp(&seconds(y)))
                .then_with(|| a.manager.cmp(&b.manager))
                .then_with(|| x.api_version.cmp(&y.api_version))
                .then_with(|| a.subresource.cmp(&b.subresource))
        });
        sorted.into_iter().map(|(id, owned)| entry(id, owned)).collect()
    }

    /// Writes the entries into an object; none leave no `managedFields`.
    pub fn write(&self, object: &mut Object) {
        if self.0.is_empty() {
            object.remove(&["metadata", "managedFields"]);
        } else {
            object.set(&["metadata", "managedFields"], self.entries());
        }
    }

    /// Whether nobody manages anything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The managers with what they own, in a defined order.
    pub fn iter(&self) -> impl Iterator<Item = (&ManagerId, &Owned)> {
        self.0.iter()
    }

    /// Throws the oldest managers that update together until there are few enough.
    pub(super) fn cap(&mut self) {
        let updaters = || self.0.keys().filter(|id| id.operation == Operation::Update);
        let mut excess = updaters().count().saturating_sub(MAX_UPDATE_MANAGERS);
        if excess == 0 {
            return;
        }
        let mut updaters: Vec<ManagerId> = updaters().cloned().collect();
        let seconds =
            |id: &ManagerId| self.0.get(id).and_then(|owned| owned.time).map_or(0, Timestamp::as_second);
        updaters.sort_by_cached_key(|id| (seconds(id), id.sort_key()));
        let mut first_of_version: BTreeMap<Str, ManagerId> = BTreeMap::new();
        for id in updaters {
            if excess == 0 {
                return;
            }
            let Some(owned) = self.0.get(&id).cloned() else { continue };
            let Some(first) = first_of_version.get(&owned.api_version) else {
                first_of_version.insert(owned.api_version, id);
                continue;
            };
            let bucket = ManagerId::new(ANCIENT, Operation::Update, &owned.api_version, "");
            if !self.0.contains_key(&bucket)
                && let Some(first) = self.0.remove(first)
            {
                self.0.insert(bucket.clone(), first);
            }
            self.0.remove(&id);
            if let Some(bucket) = self.0.get_mut(&bucket) {
                bucket.fields = owned.fields.union(&bucket.fields);
                bucket.time = owned.time;
            }
            excess -= 1;
        }
    }
}

/// One entry of `managedFields`.
pub(super) fn entry(id: &ManagerId, owned: &Owned) -> Value {
    let mut fields: Vec<(Str, Value)> = Vec::with_capacity(7);
    fields.push(("apiVersion".into(), owned.api_version.clone().into()));
    fields.push(("fieldsType".into(), "FieldsV1".into()));
    fields.push(("fieldsV1".into(), owned.fields.to_value()));
    if !id.manager.is_empty() {
        fields.push(("manager".into(), id.manager.clone().into()));
    }
    fields.push(("operation".into(), id.operation.name().into()));
    if !id.subresource.is_empty() {
        fields.push(("subresource".into(), id.subresource.clone().into()));
    }
    if let Some(time) = owned.time {
        fields.push(("time".into(), print_time(time).into()));
    }
    Value::Map(Map::from_sorted(fields.into_iter()))
}
