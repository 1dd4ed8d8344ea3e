//! Groups that an issuer tells when it is asked, because its tokens would be too long with them: `enableUserInfoGroups`.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lynceus_object::Value;
use tokio::time::Instant;

use super::fetch::Trouble;
use super::{Provider, fetch, unusable};
use crate::limits;
use crate::refusal::{Code, Refusal};

/// What an issuer said last of each of its people, by their name there.
#[derive(Default)]
pub(super) struct Groups(Mutex<HashMap<String, (Instant, Told)>>);

/// What it said: their groups, or that it would not say, which is remembered for a moment as well.
#[derive(Clone)]
enum Told {
    Groups(Value),
    Nothing(Refusal),
}

impl Groups {
    fn known(&self, subject: &str, lasts: Duration) -> Option<Told> {
        let all = self.lock();
        let (since, told) = all.get(subject)?;
        let lasts = if matches!(told, Told::Nothing(_)) { limits::ISSUER_AGAIN } else { lasts };
        (since.elapsed() < lasts).then(|| told.clone())
    }

    fn keep(&self, subject: &str, told: Told, lasts: Duration) {
        let mut all = self.lock();
        if all.len() >= limits::USER_INFOS {
            all.retain(|_, (since, _)| since.elapsed() < lasts);
        }
        // Whoever can make so many sessions in that time makes others be asked about again, and no more.
        if all.len() >= limits::USER_INFOS {
            all.clear();
        }
        all.insert(subject.to_owned(), (Instant::now(), told));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, (Instant, Told)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Provider {
    /// The groups of somebody, by the token that the issuer gave for asking; none if the settings do not want it asked, or
    /// if there is nothing to ask with. Then what the session says counts.
    pub(crate) async fn groups(&self, subject: &str, access: Option<&str>) -> Result<Option<Value>, Refusal> {
        let Some(settings) = &self.config.user_info else { return Ok(None) };
        let told = match (self.groups.known(subject, settings.lasts), access) {
            (Some(told), _) => told,
            (None, None) => return Ok(None),
            (None, Some(access)) => {
                let told = match self.ask_groups(subject, access).await {
                    Ok(groups) => Told::Groups(groups),
                    Err(refusal) => Told::Nothing(refusal),
                };
                self.groups.keep(subject, told.clone(), settings.lasts);
                told
            }
        };
        match told {
            Told::Groups(groups) => Ok(Some(groups)),
            Told::Nothing(refusal) => Err(refusal),
        }
    }

    async fn ask_groups(&self, subject: &str, access: &str) -> Result<Value, Refusal> {
        let path = self.config.user_info.as_ref().map(|settings| settings.path.as_str()).unwrap_or_default();
        let place = match path {
            "" => self.address("userinfo_endpoint")?.to_owned(),
            path => format!("{}/{}", self.config.issuer.trim_end_matches('/'), path.trim_start_matches('/')),
        };
        if !fetch::is_safe(&place) {
            return Err(unusable("its address of user information may not be asked"));
        }
        let info = self.fetcher.bearing(&place, access).await.map_err(|trouble| match trouble {
            // The token for asking has ended, and with it what it was given for.
            Trouble::Refused { status: 401 | 403, .. } => Refusal::new(
                Code::Unauthenticated,
                "the issuer does not tell your groups any more, please re-login",
            ),
            other => unusable(&other.to_string()),
        })?;
        // The answer has to be about the one who asks: another's would give another's rights.
        if info.str_at(&["sub"]) != Some(subject) {
            return Err(unusable("what it says of a user is about another one"));
        }
        Ok(info.get("groups").cloned().unwrap_or_default())
    }
}
