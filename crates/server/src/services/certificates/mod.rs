//! Certificates and host keys that are trusted: `argocd-tls-certs-cm` and `argocd-ssh-known-hosts-cm`.

mod der;
mod hosts;
mod tls;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_api::Glob;
use lynceus_object::{Value, value};

use super::{maps, unknown};
use crate::call::{Answered, Call};
use crate::limits;
use crate::refusal::Refusal;
use crate::rights::Resource;
use crate::server::Server;

/// The ConfigMap of host keys, and the entry that they stand in.
const HOSTS: (&str, &str) = ("argocd-ssh-known-hosts-cm", "ssh_known_hosts");

/// The ConfigMap of certificates, with an entry for each server.
const TLS: &str = "argocd-tls-certs-cm";

/// Has a question answered.
pub(super) async fn answer(method: &str, call: Call) -> Answered {
    match method {
        "ListCertificates" => Ok(list(&call).into()),
        "CreateCertificate" => create(&call).await,
        "DeleteCertificate" => delete(&call).await,
        _ => Err(unknown(method)),
    }
}

/// One certificate or host key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Certificate {
    server: String,
    /// `ssh` or `https`.
    kind: &'static str,
    /// The sort of key.
    sort: String,
    /// As it is written in its ConfigMap.
    data: String,
    /// What tells it from others at a glance.
    info: String,
}

impl Certificate {
    fn shown(&self) -> Value {
        value!({
            "serverName": self.server, "certType": self.kind, "certSubType": self.sort,
            "certData": STANDARD.encode(&self.data), "certInfo": self.info,
        })
    }
}

/// Which certificates a request means.
struct Wanted<'c> {
    host: &'c str,
    kind: &'c str,
    sort: &'c str,
}

impl<'c> Wanted<'c> {
    fn of(call: &'c Call) -> Self {
        Wanted {
            host: call.text("hostNamePattern"),
            kind: call.text("certType"),
            sort: call.text("certSubType"),
        }
    }

    fn fits(&self, certificate: &Certificate) -> bool {
        let fits = |pattern: &str, text: &str| {
            matches!(pattern, "" | "*")
                || pattern == text
                || Glob::new(pattern).is_ok_and(|glob| glob.matches(text))
        };
        fits(self.host, &certificate.server)
            && fits(self.kind, certificate.kind)
            && fits(self.sort, &certificate.sort)
    }
}

fn known(server: &Server) -> Vec<Certificate> {
    let hosts = maps::get(server, HOSTS.0);
    let mut all = hosts::read(hosts.value().str_at(&["data", HOSTS.1]).unwrap_or_default());
    for (host, pem) in maps::entries(&maps::get(server, TLS)) {
        all.extend(tls::read(&host, &pem));
    }
    all
}

fn list(call: &Call) -> Value {
    let wanted = Wanted::of(call);
    let mut found = known(&call.server);
    found.retain(|one| wanted.fits(one) && call.caller.may(Resource::Certificates, "get", &one.server));
    answered(&found)
}

fn answered(certificates: &[Certificate]) -> Value {
    let items: Vec<Value> = certificates.iter().map(Certificate::shown).collect();
    value!({"metadata": {}, "items": items})
}

/// Adds certificates and host keys; with `upsert` in the place of others for the same server.
async fn create(call: &Call) -> Answered {
    let items = call.request.items_at(&["certificates", "items"]);
    if items.is_empty() {
        return Err(Refusal::invalid("there are no certificates in the request"));
    }
    if items.len() > limits::CERTIFICATES {
        return Err(Refusal::invalid(format!(
            "at most {} certificates can be added at once",
            limits::CERTIFICATES
        )));
    }
    let (mut hosts, mut tls) = (Vec::new(), Vec::new());
    for item in items {
        let text = |field| item.str_at(&[field]).unwrap_or_default();
        let server = text("serverName").trim();
        call.caller.need(Resource::Certificates, "create", server)?;
        let data = STANDARD.decode(text("certData")).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let data =
            data.ok_or_else(|| Refusal::invalid(format!("certData of {server:?} is no text in base64")))?;
        match text("certType") {
            "ssh" => hosts.push(hosts::checked(server, text("certSubType"), &data)?),
            "https" => tls.push((tls::host(server)?, tls::checked(server, &data)?)),
            other => {
                return Err(Refusal::invalid(format!("certType {other:?} is neither ssh nor https")));
            }
        }
    }
    let mut added = Vec::new();
    if !hosts.is_empty() {
        added.extend(add_hosts(call, hosts).await?);
    }
    if !tls.is_empty() {
        added.extend(add_tls(call, tls).await?);
    }
    Ok(answered(&added).into())
}

async fn add_hosts(call: &Call, wanted: Vec<Certificate>) -> Result<Vec<Certificate>, Refusal> {
    let map = maps::get(&call.server, HOSTS.0);
    let before = map.value().str_at(&["data", HOSTS.1]).unwrap_or_default();
    let (after, added) = hosts::add(before, wanted, call.flag("upsert"))?;
    if after != before {
        maps::write(&call.server, HOSTS.0, vec![(HOSTS.1.to_owned(), Some(after))]).await?;
    }
    Ok(added)
}

async fn add_tls(call: &Call, wanted: Vec<(String, Vec<Certificate>)>) -> Result<Vec<Certificate>, Refusal> {
    let known = maps::entries(&maps::get(&call.server, TLS));
    let (mut changes, mut added) = (Vec::new(), Vec::new());
    for (host, certificates) in wanted {
        let pem: String = certificates.iter().map(|one| one.data.as_str()).collect();
        let before = known.iter().find(|(known, _)| *known == host).map(|(_, pem)| pem);
        match before {
            Some(before) if before.trim() == pem.trim() => continue,
            Some(_) if !call.flag("upsert") => {
                return Err(Refusal::invalid(format!(
                    "TLS certificate for server '{host}' already exist, and upsert was not specified."
                )));
            }
            _ => {}
        }
        changes.push((host, Some(pem)));
        added.extend(certificates);
    }
    if !changes.is_empty() {
        maps::write(&call.server, TLS, changes).await?;
    }
    Ok(added)
}

/// Takes certificates and host keys away, and tells which they were.
async fn delete(call: &Call) -> Answered {
    let wanted = Wanted::of(call);
    if wanted.host.is_empty() {
        return Err(Refusal::invalid("hostNamePattern is missing"));
    }
    let gone: Vec<Certificate> = known(&call.server).into_iter().filter(|one| wanted.fits(one)).collect();
    for certificate in &gone {
        call.caller.need(Resource::Certificates, "delete", &certificate.server)?;
    }
    if gone.iter().any(|one| one.kind == "ssh") {
        let map = maps::get(&call.server, HOSTS.0);
        let before = map.value().str_at(&["data", HOSTS.1]).unwrap_or_default();
        let after = hosts::without(before, |one| wanted.fits(one));
        maps::write(&call.server, HOSTS.0, vec![(HOSTS.1.to_owned(), Some(after))]).await?;
    }
    let mut changes: Vec<(String, Option<String>)> =
        gone.iter().filter(|one| one.kind == "https").map(|one| (one.server.clone(), None)).collect();
    changes.dedup();
    if !changes.is_empty() {
        maps::write(&call.server, TLS, changes).await?;
    }
    Ok(answered(&gone).into())
}

#[cfg(test)]
mod tests;
