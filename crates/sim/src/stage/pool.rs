//! Groups of like machines.

use lynceus_object::Str;

use super::read::{Field, StageError};
use crate::kinds::validation::names;
use crate::limits;

/// A group of like machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name, which its nodes' names begin with.
    pub name: Str,
    /// How many nodes it has.
    pub count: usize,
    /// What each node has, where it is not what nodes have by default.
    pub capacity: Vec<(Str, Str)>,
    /// Labels beside those that every node has.
    pub labels: Vec<(Str, Str)>,
    /// Taints.
    pub taints: Vec<Taint>,
    /// What the machines are, such as `amd64`.
    pub architecture: Str,
    /// The zones that the nodes are spread over in turn.
    pub zones: Vec<Str>,
    /// How many volumes a node can have.
    pub volume_limit: Option<i64>,
}

/// A taint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Its key.
    pub key: Str,
    /// Its value; may be empty.
    pub value: Str,
    /// What it does.
    pub effect: Str,
}

impl Pool {
    /// The machines of a cluster without a stage.
    pub(crate) fn usual() -> Self {
        Pool {
            name: "sim-node".into(),
            count: 3,
            capacity: Vec::new(),
            labels: Vec::new(),
            taints: Vec::new(),
            architecture: "amd64".into(),
            zones: vec!["sim-a".into(), "sim-b".into(), "sim-c".into()],
            volume_limit: None,
        }
    }

    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let usual = Pool::usual();
        let label = |(key, value): &(Str, Field<'_>)| -> Result<(Str, Str), StageError> {
            value.check_key(key, names::label_key)?;
            Ok((key.clone(), value.name(names::label_value)?.into()))
        };
        let labels = match field.get("labels") {
            Some(map) => map.entries()?.iter().map(label).collect::<Result<_, StageError>>()?,
            None => Vec::new(),
        };
        let capacity = match field.get("capacity") {
            Some(map) => map
                .entries()?
                .iter()
                .map(|(key, value)| {
                    value.check_key(key, names::label_key)?;
                    Ok((key.clone(), value.amount()?.into()))
                })
                .collect::<Result<_, StageError>>()?,
            None => Vec::new(),
        };
        let zones = field.list("zones", |zone| zone.name(place).map(Str::from))?;
        let most = i64::try_from(limits::STAGE_NODES).unwrap_or(i64::MAX);
        let count = field.get("count").map_or(Ok(1), |count| count.number(0, most))?;
        Ok(Pool {
            name: name(&field.need("name")?)?,
            count: usize::try_from(count).unwrap_or_default(),
            capacity,
            labels,
            taints: taints(field)?,
            architecture: field.get("architecture").map_or(Ok("amd64"), |text| text.name(place))?.into(),
            zones: if zones.is_empty() { usual.zones } else { zones },
            volume_limit: field
                .get("volumeLimit")
                .map(|limit| limit.number(0, i64::from(i32::MAX)))
                .transpose()?,
        })
    }
}

impl Taint {
    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let effect = field.need("effect")?.word(&["NoSchedule", "PreferNoSchedule", "NoExecute"])?;
        let value = field.get("value").map_or(Ok(""), |value| value.name(names::label_value))?;
        Ok(Taint {
            key: field.need("key")?.name(names::label_key)?.into(),
            value: value.into(),
            effect: effect.into(),
        })
    }
}

/// The taints of a pool, of which no two may be of the same key and effect.
fn taints(field: &Field<'_>) -> Result<Vec<Taint>, StageError> {
    let mut taints: Vec<Taint> = Vec::new();
    for item in field.get("taints").map_or_else(|| Ok(Vec::new()), |list| list.items())? {
        let taint = Taint::of(&item)?;
        if taints.iter().any(|known| known.key == taint.key && known.effect == taint.effect) {
            let problem = format!("is the second taint {}:{}", taint.key, taint.effect);
            return Err(item.wrong(problem, "a node has each key once for each effect"));
        }
        taints.push(taint);
    }
    Ok(taints)
}

/// What is wrong with a zone or an architecture: both are values of labels, and not empty.
fn place(text: &str) -> Vec<String> {
    match text {
        "" => vec!["it may not be empty".to_owned()],
        text => names::label_value(text),
    }
}

/// Reads all pools, which may not have more nodes than there are addresses for, nor a name twice.
pub(super) fn read_all(list: &Field<'_>) -> Result<Vec<Pool>, StageError> {
    let mut pools: Vec<Pool> = Vec::new();
    for field in list.items()? {
        let pool = Pool::of(&field)?;
        if pools.iter().any(|known| known.name == pool.name) {
            let problem = format!("is the second pool with the name {}", pool.name);
            return Err(field.wrong(problem, "give each pool a name of its own"));
        }
        pools.push(pool);
        if pools.iter().map(|pool| pool.count).sum::<usize>() > limits::STAGE_NODES {
            let problem = format!("makes more than {} nodes", limits::STAGE_NODES);
            return Err(field.wrong(problem, "there are no addresses for more"));
        }
    }
    Ok(pools)
}

/// Part of a node's name, which is a DNS label.
fn name(field: &Field<'_>) -> Result<Str, StageError> {
    let text = field.text()?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.is_empty() || text.len() > 50 || !text.chars().all(fits) || text.starts_with('-') {
        let hint = "up to 50 lower-case letters, digits and -, and no - at the beginning";
        return Err(field.wrong("cannot begin a node's name", hint));
    }
    Ok(text.into())
}
