//! The way of a browser to an issuer and back.
//!
//! What has to be remembered meanwhile goes with the browser, signed: where it was, and three secrets. `state` ties the
//! answer to the browser that asked, `nonce` ties the token to the question, and the verifier (PKCE) ties the code to us.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lynceus_object::{Object, Value, json, value, yaml};
use ring::digest;

use super::super::jwt::{self, Unverified};
use super::super::vault::{SETTINGS, setting};
use super::super::{Access, random, seal};
use super::fetch::encoded;
use super::{Exchanged, Provider};
use crate::limits;
use crate::refusal::{Code, Refusal};

/// The issuer of what browsers carry for us. It is none of those whose tokens are sessions.
const CARRIED: &str = "lynceus-login";

/// A browser that is sent somewhere.
pub(crate) struct Visit {
    /// Where to.
    pub(crate) place: String,
    /// What it carries, or the session that it gets.
    pub(crate) token: String,
    /// What it carries beside a session, sealed; empty if nothing.
    pub(crate) carried: String,
}

fn refused(reason: &str) -> Refusal {
    Refusal::new(Code::InvalidArgument, reason)
}

impl Access {
    /// Sends a browser to the issuer.
    pub(crate) async fn depart(&self, host: &str, back: &str) -> Result<Visit, Refusal> {
        let (provider, base) = self.issuer(host).await?;
        let back = own_address(back, &base)
            .ok_or_else(|| refused("return_url has to be an address of this server"))?;
        let secret = || random::bytes::<32>().map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        let (state, nonce, verifier) = (secret()?, secret()?, secret()?);
        let carried = value!({
            "iss": CARRIED, "state": state.as_str(), "nonce": nonce.as_str(), "verifier": verifier.as_str(),
            "back": back, "exp": self.inner.now().saturating_add(limits::LOGIN_ELSEWHERE),
        });
        let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, verifier.as_bytes()));
        let (redirect, scopes) = (format!("{base}/auth/callback"), scopes(&provider));
        let mut query = vec![
            ("response_type", "code".to_owned()),
            ("client_id", provider.config.client_id.clone()),
            ("redirect_uri", redirect),
            ("scope", scopes),
            ("state", state),
            ("nonce", nonce),
            ("code_challenge", challenge),
            ("code_challenge_method", "S256".to_owned()),
        ];
        if let Some(claims) = &provider.config.claims {
            query.push(("claims", json::to_string(&value!({"id_token": claims.clone()}))));
        }
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        let place = provider.address("authorization_endpoint")?;
        let joint = if place.contains('?') { '&' } else { '?' };
        Ok(Visit {
            place: format!("{place}{joint}{}", query.join("&")),
            token: self.carry(&carried).await?,
            carried: String::new(),
        })
    }

    /// Takes a browser back that the issuer sent, with what it carried.
    pub(crate) async fn arrive(
        &self,
        host: &str,
        code: &str,
        state: &str,
        carried: &str,
    ) -> Result<Visit, Refusal> {
        let (provider, base) = self.issuer(host).await?;
        let key = self.key().await?;
        let carried = Unverified::read(carried).filter(|carried| carried.is_signed_with(&key));
        let carried = carried
            .filter(|carried| carried.claim("iss") == CARRIED && carried.is_current(self.inner.now(), 0))
            .ok_or_else(|| refused("this login was not begun here, or too long ago"))?;
        if state.is_empty() || carried.claim("state") != state {
            return Err(refused("this login was begun by another browser"));
        }
        let redirect = format!("{base}/auth/callback");
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect.as_str()),
            ("code_verifier", carried.claim("verifier")),
        ];
        if code.is_empty() {
            return Err(refused("the issuer sent you back without a code"));
        }
        let Exchanged { session: raw, access } = provider.exchange(&form).await?;
        let token = Unverified::read(&raw).ok_or_else(|| refused("the issuer sent no token"))?;
        let identity = provider.verify(&token, &raw, self.inner.now()).await?;
        if carried.claim("nonce").is_empty() || token.claim("nonce") != carried.claim("nonce") {
            return Err(refused("the token is the answer to another login"));
        }
        let access = access.filter(|access| access.len() <= limits::ACCESS_TOKEN);
        // Asked at once, so that whoever cannot be told apart by groups does not find out later.
        let carried_on = match (provider.groups(token.claim("sub"), access.as_deref()).await?, access) {
            (Some(_), Some(access)) => seal::seal(&key, token.claim("sub"), &access)?,
            _ => String::new(),
        };
        tracing::info!(target: "audit", user = identity.name(), issuer = identity.issuer, "logged in");
        Ok(Visit { place: carried.claim("back").to_owned(), carried: carried_on, token: raw })
    }

    /// Where a browser goes that has logged out.
    pub(crate) async fn farewell(&self, host: &str, token: &str) -> Result<String, Refusal> {
        let settings = self.inner.vault.map(SETTINGS).await?;
        let base = base(settings.as_ref(), host).unwrap_or_default();
        let is_foreign =
            Unverified::read(token).is_some_and(|token| token.claim("iss") != super::super::sessions::ISSUER);
        let provider = match is_foreign {
            true => self.inner.sso.provider(&self.inner.vault).await.ok().flatten(),
            false => None,
        };
        let logout = provider.map(|provider| provider.config.logout_url.clone()).unwrap_or_default();
        if !super::fetch::is_safe(&logout) {
            return Ok(format!("{base}/"));
        }
        Ok(logout.replace("{{token}}", &encoded(token)).replace("{{logoutRedirectURL}}", &encoded(&base)))
    }

    async fn issuer(&self, host: &str) -> Result<(std::sync::Arc<Provider>, String), Refusal> {
        let provider = self.inner.sso.provider(&self.inner.vault).await?;
        let provider = provider.ok_or_else(|| Refusal::not_found("single sign-on is not set up"))?;
        let settings = self.inner.vault.map(SETTINGS).await?;
        let base = base(settings.as_ref(), host);
        let lacking = || Refusal::new(Code::FailedPrecondition, "single sign-on needs url in argocd-cm");
        Ok((provider, base.ok_or_else(lacking)?))
    }

    async fn carry(&self, claims: &Value) -> Result<String, Refusal> {
        Ok(jwt::sign(claims, &self.key().await?))
    }

    async fn key(&self) -> Result<Vec<u8>, Refusal> {
        self.inner.signing_key().await
    }
}

fn scopes(provider: &Provider) -> String {
    let mut scopes = provider.config.scopes.clone();
    if !scopes.iter().any(|scope| scope == "openid") {
        scopes.insert(0, "openid".to_owned());
    }
    scopes.join(" ")
}

/// Our address: the one of the settings that the browser asked for, or the first.
fn base(settings: Option<&Object>, host: &str) -> Option<String> {
    let more = match yaml::parse(setting(settings, "additionalUrls").as_bytes()) {
        Ok(Value::Seq(items)) => items.iter().filter_map(|item| Some(item.as_str()?.to_owned())).collect(),
        _ => Vec::new(),
    };
    let first = Some(setting(settings, "url").to_owned()).filter(|url| !url.is_empty())?;
    let all = std::iter::once(first.clone()).chain(more);
    let is_it = |url: &String| {
        let place = url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
        place == Some(host)
    };
    Some(all.into_iter().find(is_it).unwrap_or(first).trim_end_matches('/').to_owned())
}

/// An address of ours; none if it is somebody else's, however it is written.
fn own_address(address: &str, base: &str) -> Option<String> {
    if address.is_empty() {
        return Some(format!("{base}/"));
    }
    if address.len() > 2_000 || address.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return None;
    }
    if address.starts_with('/') && !address.starts_with("//") {
        let origin = base.find("://").and_then(|at| base[at + 3..].find('/').map(|slash| at + 3 + slash));
        return Some(format!("{}{address}", &base[..origin.unwrap_or(base.len())]));
    }
    let rest = address.strip_prefix(base)?;
    (rest.is_empty() || rest.starts_with(['/', '?', '#'])).then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comes_back_to_this_server_only() {
        let base = "https://lynceus.example";
        for (address, place) in [
            ("", "https://lynceus.example/"),
            ("/applications?x=1", "https://lynceus.example/applications?x=1"),
            ("https://lynceus.example", "https://lynceus.example"),
            ("https://lynceus.example/a", "https://lynceus.example/a"),
        ] {
            assert_eq!(own_address(address, base).as_deref(), Some(place), "{address}");
        }
        for address in [
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "https://lynceus.example.evil.example",
            "https://lynceus.example@evil.example",
            "http://lynceus.example",
            "javascript:alert(1)",
            "evil",
            "/a\nb",
        ] {
            assert_eq!(own_address(address, base), None, "{address}");
        }
    }
}
