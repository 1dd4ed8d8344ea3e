//! The images that there are.

use lynceus_api::Glob;
use lynceus_object::Str;

use super::read::{Field, StageError};
use super::reference::{self, Reference};

/// The images that there are.
#[derive(Clone, Debug, Default)]
pub struct Images {
    /// Whether an image that the list does not name does not exist.
    pub unlisted_absent: bool,
    /// The images that have to be pulled.
    pub list: Vec<Image>,
    /// Images that do not exist though nothing else is said of them.
    pub absent: Vec<Reference>,
}

/// An image in a registry.
#[derive(Clone, Debug)]
pub struct Image {
    name: Glob,
    tags: Vec<Glob>,
    digests: Vec<Str>,
    platforms: Vec<Str>,
    pull_secret: bool,
}

/// What comes of the wish for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It is on every machine already.
    OnMachine,
    /// It can be pulled, if those who pull are allowed to.
    InRegistry {
        /// Whether it takes a pull secret.
        needs_secret: bool,
    },
    /// The registry does not have it.
    NotFound,
    /// The registry has it for other machines.
    OtherPlatform,
}

impl Images {
    pub(super) fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let unlisted = field.get("unlisted").map(|word| word.word(&["present", "absent"])).transpose()?;
        let list = field.list("list", Image::of)?;
        Ok(Images { unlisted_absent: unlisted == Some("absent"), list, absent: Vec::new() })
    }

    /// What comes of the wish for an image on a machine of some platform. Somebody without the secret that an image takes
    /// is not told whether there is such a tag.
    pub fn find(&self, wanted: &Reference, platform: &str, has_secret: bool) -> Availability {
        let name = wanted.repository();
        match self.list.iter().find(|image| image.name.matches(&name)) {
            Some(image) if image.pull_secret && !has_secret => {
                Availability::InRegistry { needs_secret: true }
            }
            Some(image) if !image.has(wanted) => Availability::NotFound,
            Some(image) if !image.runs_on(platform) => Availability::OtherPlatform,
            Some(image) => Availability::InRegistry { needs_secret: image.pull_secret },
            None if self.unlisted_absent || self.absent.contains(wanted) => Availability::NotFound,
            None => Availability::OnMachine,
        }
    }
}

impl Image {
    fn of(field: &Field<'_>) -> Result<Self, StageError> {
        field.check_keys()?;
        let image = field.need("image")?;
        let text = image.text()?;
        if text.contains('@') || text.rsplit('/').next().is_some_and(|last| last.contains(':')) {
            return Err(image.wrong("has a tag or a digest", "put tags into tags, and digests into digests"));
        }
        let name = Glob::new(&reference::with_host(text))
            .map_err(|error| image.wrong(format!("is no pattern: {error}"), "* stands for any characters"))?;
        Ok(Image {
            name,
            tags: field.list("tags", Field::glob)?,
            digests: field.list("digests", digest)?,
            platforms: field.list("platforms", platform)?,
            pull_secret: field.get("pullSecret").map_or(Ok(false), |flag| flag.flag())?,
        })
    }

    fn has(&self, wanted: &Reference) -> bool {
        if self.tags.is_empty() && self.digests.is_empty() {
            return true;
        }
        match (&wanted.digest, &wanted.tag) {
            (Some(digest), _) => self.digests.contains(digest),
            (None, tag) => self.tags.iter().any(|known| known.matches(tag.as_deref().unwrap_or("latest"))),
        }
    }

    fn runs_on(&self, platform: &str) -> bool {
        self.platforms.is_empty() || self.platforms.iter().any(|known| known == platform)
    }
}

fn digest(field: &Field<'_>) -> Result<Str, StageError> {
    let text = field.text()?;
    match reference::is_digest(text) {
        true => Ok(text.into()),
        false => Err(field.wrong("is no digest", "write it as sha256: and 64 hexadecimal digits")),
    }
}

fn platform(field: &Field<'_>) -> Result<Str, StageError> {
    let text = field.text()?;
    let parts: Vec<&str> = text.split('/').collect();
    match parts.as_slice() {
        [system, machine, ..] if !system.is_empty() && !machine.is_empty() => Ok(text.into()),
        _ => Err(field.wrong("is no platform", "write it as linux/amd64")),
    }
}
