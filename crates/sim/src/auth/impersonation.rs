//! `Impersonate-…` headers: acting as someone else, for those who may.

use std::collections::BTreeMap;

use http::HeaderMap;
use lynceus_object::Str;

use super::{Decision, authorize, forbidden};
use crate::ApiError;
use crate::attributes::{Attributes, User};
use crate::view::View;

const EXTRA: &str = "impersonate-extra-";

/// The user that the headers ask for, or the one who asks if they ask for nobody.
pub(crate) fn impersonate(view: &dyn View, user: User, headers: &HeaderMap) -> Result<User, ApiError> {
    let wish = Wish::read(headers);
    if wish.is_empty() {
        return Ok(user);
    }
    if wish.user.is_empty() {
        return Err(ApiError::bad_request(format!(
            "requested {} without impersonating a user name",
            wish.described()
        )));
    }
    for attributes in wish.questions() {
        if let Decision::Deny(reason) = authorize(view, &user, &attributes) {
            return Err(forbidden(&user, &attributes, &reason));
        }
    }
    Ok(wish.into_user())
}

#[derive(Default)]
struct Wish {
    user: Str,
    uid: Str,
    groups: Vec<Str>,
    extra: BTreeMap<Str, Vec<Str>>,
}

impl Wish {
    fn read(headers: &HeaderMap) -> Self {
        let all = |name: &str| -> Vec<Str> {
            headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).map(Str::from).collect()
        };
        let mut extra: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
        for name in headers.keys() {
            if let Some(key) = name.as_str().strip_prefix(EXTRA) {
                extra.insert(unescape(key).into(), all(name.as_str()));
            }
        }
        let first = |name: &str| all(name).into_iter().next().unwrap_or_default();
        Wish {
            user: first("impersonate-user"),
            uid: first("impersonate-uid"),
            groups: all("impersonate-group"),
            extra,
        }
    }

    fn is_empty(&self) -> bool {
        self.user.is_empty() && self.uid.is_empty() && self.groups.is_empty() && self.extra.is_empty()
    }

    /// The wish as the original prints it.
    fn described(&self) -> String {
        let list = |words: &[Str]| match words {
            [] => "[]string(nil)".to_owned(),
            words => {
                let words: Vec<String> = words.iter().map(|word| format!("{:?}", word.as_str())).collect();
                format!("[]string{{{}}}", words.join(", "))
            }
        };
        let extra: Vec<String> =
            self.extra.iter().map(|(key, values)| format!("{:?}:{}", key.as_str(), list(values))).collect();
        let extra = match extra.is_empty() {
            true => "(nil)".to_owned(),
            false => format!("{{{}}}", extra.join(", ")),
        };
        format!(
            "&user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:{}, Extra:map[string][]string{extra}}}",
            self.uid.as_str(),
            list(&self.groups),
        )
    }

    /// What the one who asks has to be allowed, part by part.
    fn questions(&self) -> Vec<Attributes> {
        let ask = |group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| Attributes {
            verb: "impersonate".into(),
            group: group.into(),
            version: "v1".into(),
            resource: resource.into(),
            subresource: subresource.into(),
            namespace: namespace.into(),
            name: name.into(),
            path: Str::new(),
        };
        let mut out = vec![match service_account(&self.user) {
            Some((namespace, name)) => ask("", "serviceaccounts", "", namespace, name),
            None => ask("", "users", "", "", &self.user),
        }];
        out.extend(self.groups.iter().map(|group| ask("", "groups", "", "", group)));
        for (key, values) in &self.extra {
            out.extend(values.iter().map(|value| ask("authentication.k8s.io", "userextras", key, "", value)));
        }
        if !self.uid.is_empty() {
            out.push(ask("authentication.k8s.io", "uids", "", "", &self.uid));
        }
        out
    }

    fn into_user(self) -> User {
        let mut groups = self.groups;
        if groups.is_empty()
            && let Some((namespace, _)) = service_account(&self.user)
        {
            groups = service_account_groups(namespace);
        }
        let mine =
            if self.user == "system:anonymous" { "system:unauthenticated" } else { "system:authenticated" };
        let settled = groups.iter().any(|group| group == mine || (group == "system:unauthenticated"));
        if !settled {
            groups.push(mine.into());
        }
        User { name: self.user, uid: self.uid, groups, extra: self.extra }
    }
}

/// Namespace and name in a service account's user name.
pub(super) fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty() && !name.contains(':')).then_some((namespace, name))
}

/// The groups that every service account of a namespace is in.
fn service_account_groups(namespace: &str) -> Vec<Str> {
    vec!["system:serviceaccounts".into(), ecow::eco_format!("system:serviceaccounts:{namespace}")]
}

fn unescape(key: &str) -> String {
    let bytes = key.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = key.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (byte, code) {
            (b'%', Some(code)) => {
                out.push(code);
                at += 3;
            }
            (byte, _) => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| key.to_owned())
}
