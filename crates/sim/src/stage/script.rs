//! What containers do.

use jiff::SignedDuration;
use lynceus_api::Glob;
use lynceus_object::{Quantity, Str};

use super::metric::quantity;
use super::read::{Field, StageError};
use crate::kinds::validation::names;

/// What the containers of some images do.
#[derive(Clone, Debug)]
pub struct Script {
    image: Glob,
    container: Option<Glob>,
    /// What it ends with, if it ends.
    pub exit_code: Option<i64>,
    /// How long it runs, if it ends.
    pub after: Option<SignedDuration>,
    /// Its last words.
    pub message: Str,
    /// Whether it ends because it took too much memory.
    pub oom: bool,
    /// How long it takes until it answers.
    pub ready_after: SignedDuration,
    /// What it cannot serve without.
    pub needs: Option<Need>,
    /// What its service account has to be allowed; without it the program fails.
    pub may: Option<Right>,
    /// The lines that it writes.
    pub log: Vec<Str>,
    /// What each of its containers uses, by resource.
    pub uses: Vec<(Str, Quantity)>,
    /// What all of its containers that are ready use together in a namespace, by resource.
    pub shares: Vec<(Str, Quantity)>,
}

/// Something that a program does with the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    /// What it does: `get`.
    pub verb: Str,
    /// To which resource.
    pub resource: Str,
    /// Its group.
    pub group: Str,
}

/// A Service that a program cannot serve without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The Service's name.
    pub service: Str,
    /// Its namespace; the pod's own if none.
    pub namespace: Option<Str>,
    /// The port that it has to have.
    pub port: Option<i64>,
    /// Whether the program ends without it.
    pub crash: bool,
}

impl Script {
    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let flag = |key: &str| field.get(key).map_or(Ok(false), |flag| flag.flag());
        let time = |key: &str| field.get(key).map(|time| time.duration()).transpose();
        Ok(Script {
            image: field.need("image")?.glob()?,
            container: field.get("container").map(|name| name.glob()).transpose()?,
            exit_code: field.get("exitCode").map(|code| code.number(0, 255)).transpose()?,
            after: time("after")?,
            message: field.get("message").map_or(Ok(""), |text| text.text())?.into(),
            oom: flag("oom")?,
            ready_after: time("readyAfter")?.unwrap_or_default(),
            needs: field.get("needs").map(|needs| Need::of(&needs)).transpose()?,
            may: field.get("may").map(|right| Right::of(&right)).transpose()?,
            log: field.list("log", |line| line.text().map(Str::from))?,
            uses: amounts(field, "uses")?,
            shares: amounts(field, "shares")?,
        })
    }

    /// Whether it speaks of a container.
    pub(super) fn is_for(&self, image: &str, container: &str) -> bool {
        self.image.matches(image) && self.container.as_ref().is_none_or(|name| name.matches(container))
    }

    /// Whether it says that the program ends.
    pub fn ends(&self) -> bool {
        self.exit_code.is_some() || self.after.is_some() || self.oom
    }
}

impl Right {
    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        let words: Vec<&str> = field.text()?.split_whitespace().collect();
        let [verb, resource] = words[..] else {
            return Err(field.wrong("names no right", "write it as get pods or get deployments.apps"));
        };
        let (resource, group) = resource.split_once('.').unwrap_or((resource, ""));
        Ok(Right { verb: verb.into(), resource: resource.into(), group: group.into() })
    }
}

fn amounts(field: &Field<'_>, key: &str) -> Result<Vec<(Str, Quantity)>, StageError> {
    let entries = field.get(key).map_or_else(|| Ok(Vec::new()), |map| map.entries())?;
    entries.into_iter().map(|(name, amount)| Ok((name, quantity(&amount)?))).collect()
}

impl Need {
    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let service = field.need("service")?;
        let text = service.text()?;
        let wrong =
            || service.wrong("names no Service", "write it as name, name.namespace or name.namespace:port");
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse::<u16>().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let mut parts = name.split('.').map(Str::from);
        let (first, namespace) = (parts.next().unwrap_or_default(), parts.next());
        // What follows the namespace in a full name, `svc.cluster.local`, says nothing more.
        let is_name = |name: &str| names::dns_label(name).is_empty();
        if !is_name(&first) || namespace.as_ref().is_some_and(|namespace| !is_name(namespace)) {
            return Err(wrong());
        }
        let crash = field.get("crashWithout").map_or(Ok(false), |flag| flag.flag())?;
        Ok(Need { service: first, namespace, port: port.map(i64::from), crash })
    }
}
