//! The build environment: what stands for `$ARGOCD_APP_NAME` in parameters and paths.

use std::cell::Cell;

use lynceus_api::ApplicationSource;
use lynceus_object::Str;

use crate::job::Setting;

/// The variables of one source.
pub(crate) struct Environment<'a> {
    setting: &'a Setting,
    source: &'a ApplicationSource,
    /// Whether anything was asked for.
    names_setting: Cell<bool>,
    /// Whether the revision was asked for.
    names_revision: Cell<bool>,
}

impl<'a> Environment<'a> {
    pub(crate) fn new(setting: &'a Setting, source: &'a ApplicationSource) -> Self {
        Environment { setting, source, names_setting: Cell::new(false), names_revision: Cell::new(false) }
    }

    /// Whether the revision stands somewhere: then it is not the files alone that matter.
    pub(crate) fn names_revision(&self) -> bool {
        self.names_revision.get()
    }

    /// Whether anything of the application stands somewhere: then another application gets something else.
    pub(crate) fn names_setting(&self) -> bool {
        self.names_setting.get()
    }

    fn get(&self, name: &str) -> &'a str {
        self.names_setting.set(true);
        if name.starts_with("ARGOCD_APP_REVISION") {
            self.names_revision.set(true);
        }
        let revision = self.setting.revision.as_str();
        let short = |length: usize| revision.get(..length).unwrap_or(revision);
        match name {
            "ARGOCD_APP_NAME" => &self.setting.application,
            "ARGOCD_APP_NAMESPACE" => &self.setting.namespace,
            "ARGOCD_APP_PROJECT_NAME" => &self.setting.project,
            "ARGOCD_APP_REVISION" => revision,
            "ARGOCD_APP_REVISION_SHORT" => short(7),
            "ARGOCD_APP_REVISION_SHORT_8" => short(8),
            "ARGOCD_APP_SOURCE_REPO_URL" => &self.source.repo_url,
            "ARGOCD_APP_SOURCE_PATH" => &self.source.path,
            "ARGOCD_APP_SOURCE_TARGET_REVISION" => &self.source.target_revision,
            _ => "",
        }
    }

    /// All variables, as a program gets them.
    pub(crate) fn all(&self) -> Vec<(Str, Str)> {
        let names = [
            "ARGOCD_APP_NAME",
            "ARGOCD_APP_NAMESPACE",
            "ARGOCD_APP_PROJECT_NAME",
            "ARGOCD_APP_REVISION",
            "ARGOCD_APP_REVISION_SHORT",
            "ARGOCD_APP_REVISION_SHORT_8",
            "ARGOCD_APP_SOURCE_REPO_URL",
            "ARGOCD_APP_SOURCE_PATH",
            "ARGOCD_APP_SOURCE_TARGET_REVISION",
        ];
        names.into_iter().map(|name| (name.into(), self.get(name).into())).collect()
    }

    /// Puts values in the place of `$NAME` and `${NAME}`. `$$` is a dollar, and what is not known is nothing.
    pub(crate) fn expand(&self, text: &str) -> String {
        expand(text, |name| self.get(name))
    }
}

/// Puts what `get` gives in the place of `$NAME` and `${NAME}`, as Go's os.Expand does it for Argo CD.
pub(crate) fn expand<'v>(text: &str, get: impl Fn(&str) -> &'v str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix('{') {
            let Some((name, after)) = after.split_once('}') else {
                // Go's os.Expand swallows the two signs of a brace that is never closed.
                rest = after;
                continue;
            };
            out.push_str(if name == "$" { "$" } else { get(name) });
            rest = after;
            continue;
        }
        let length = name_length(rest);
        match &rest[..length] {
            "" => out.push('$'),
            "$" => out.push('$'),
            name => out.push_str(get(name)),
        }
        rest = &rest[length..];
    }
    out + rest
}

/// How long the name of a variable at the start of a text is: a sign that shells know, or a word.
fn name_length(text: &str) -> usize {
    match text.bytes().next() {
        Some(b'*' | b'#' | b'$' | b'@' | b'!' | b'?' | b'-' | b'0'..=b'9') => 1,
        _ => text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced_and_dollars_can_be_kept() {
        let setting =
            Setting { application: "shop".into(), revision: "0123456789abcdef".into(), ..Setting::default() };
        let source = ApplicationSource { path: "apps/x".into(), ..ApplicationSource::default() };
        let environment = Environment::new(&setting, &source);
        for (text, expected) in [
            ("plain", "plain"),
            ("$ARGOCD_APP_NAME-a", "shop-a"),
            ("${ARGOCD_APP_NAME}s", "shops"),
            ("$ARGOCD_APP_REVISION_SHORT/$ARGOCD_APP_REVISION_SHORT_8", "0123456/01234567"),
            ("$$x and $UNKNOWN.", "$x and ."),
            ("a$", "a$"),
            ("a$.b", "a$.b"),
            ("$ARGOCD_APP_SOURCE_PATH", "apps/x"),
            ("${unclosed", "unclosed"),
        ] {
            assert_eq!(environment.expand(text), expected, "{text}");
        }
    }
}
