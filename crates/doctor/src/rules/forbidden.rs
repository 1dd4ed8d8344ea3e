//! The API server's words for something that somebody may not do.

/// What somebody may not do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Forbidden {
    /// Who.
    pub(super) user: String,
    /// What they want to do: `get`.
    pub(super) verb: String,
    /// With what: `deployments`, `pods/log`.
    pub(super) resource: String,
    /// Of which API group.
    pub(super) group: String,
    /// Where; everywhere if nothing.
    pub(super) namespace: Option<String>,
}

impl Forbidden {
    /// Reads `… is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "n"`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once("User \"").or_else(|| text.split_once("User \\\""))?;
        let rest = rest.replace("\\\"", "\"");
        let (user, rest) = rest.split_once("\" cannot ")?;
        let (verb, rest) = rest.split_once(" resource \"")?;
        let (resource, rest) = rest.split_once('"')?;
        let group = rest
            .split_once("in API group \"")
            .and_then(|(_, rest)| rest.split('"').next())
            .unwrap_or_default();
        let namespace = rest.split_once("in the namespace \"").and_then(|(_, rest)| rest.split('"').next());
        Some(Forbidden {
            user: user.to_owned(),
            verb: verb.to_owned(),
            resource: resource.to_owned(),
            group: group.to_owned(),
            namespace: namespace.map(ToOwned::to_owned),
        })
    }

    /// The service account, as namespace and name.
    pub(super) fn account(&self) -> Option<(&str, &str)> {
        self.user.strip_prefix("system:serviceaccount:")?.split_once(':')
    }

    /// `get deployments.apps in namespace shop`.
    pub(super) fn told(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!(".{}", self.group) };
        let place = match &self.namespace {
            Some(namespace) => format!(" in namespace {namespace}"),
            None => " in the whole cluster".to_owned(),
        };
        format!("{} {}{group}{place}", self.verb, self.resource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_may_not_do_is_read() {
        let text = "deployments.apps \"web\" is forbidden: User \"system:serviceaccount:shop:runner\" cannot get resource \
                    \"deployments\" in API group \"apps\" in the namespace \"shop\"";
        let read = Forbidden::read(text).unwrap();
        assert_eq!(
            (read.account(), read.told().as_str()),
            (Some(("shop", "runner")), "get deployments.apps in namespace shop")
        );
        let text = "nodes is forbidden: User \"u\" cannot list resource \"nodes\" in API group \"\" at the cluster scope";
        assert_eq!(Forbidden::read(text).unwrap().told(), "list nodes in the whole cluster");
        assert_eq!(Forbidden::read("pods \"x\" is forbidden: violates PodSecurity"), None);
    }
}
