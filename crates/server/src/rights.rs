//! What somebody has to be allowed for each method, in one table. A method that is not in it is refused to everybody.

use crate::call::Call;
use crate::method::Method;
use crate::refusal::Refusal;

/// What a method needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Nothing: it is for those who have not logged in, too.
    Open,
    /// To be somebody. What is answered is about the caller, or is filtered by what the caller may see.
    Known,
    /// An action on the application that the request names in this field.
    Application(&'static str, &'static str),
    /// An action on something that the request names in this field; in a list, the answer is filtered.
    Thing(Resource, &'static str, &'static str),
    /// An action on the local account that the request names; everybody may do it to their own.
    Account(&'static str),
    /// The right depends on more than a name, and the method asks for it by [`Caller::need`](crate::access::Caller::need).
    Asked(Resource, &'static str),
    /// Not in the table.
    Nobody,
}

/// The resources of Argo CD's rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource {
    /// Applications, by project and name.
    Applications,
    /// Sets of applications, by project and name.
    ApplicationSets,
    /// Clusters, by address, with the project before it where they have one.
    Clusters,
    /// Projects, by name.
    Projects,
    /// Repositories, by address, with the project before it where they have one.
    Repositories,
    /// Repositories that are written to.
    WriteRepositories,
    /// Certificates of repositories.
    Certificates,
    /// Accounts, by name.
    Accounts,
    /// Keys of signatures.
    GpgKeys,
    /// Logs of an application's pods.
    Logs,
}

impl Resource {
    /// Its word in policies.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Resource::Applications => "applications",
            Resource::ApplicationSets => "applicationsets",
            Resource::Clusters => "clusters",
            Resource::Projects => "projects",
            Resource::Repositories => "repositories",
            Resource::WriteRepositories => "write-repositories",
            Resource::Certificates => "certificates",
            Resource::Accounts => "accounts",
            Resource::GpgKeys => "gpgkeys",
            Resource::Logs => "logs",
        }
    }
}

/// The right that a method needs.
pub(crate) fn of(method: &Method) -> Right {
    use Resource::{ApplicationSets, Applications, Certificates, Clusters, GpgKeys, Logs, Projects};
    use Resource::{Repositories, WriteRepositories};
    let (service, name) = method.id();
    match (service, name) {
        ("VersionService", _) | ("SessionService", _) => Right::Open,
        ("SettingsService", "Get") => Right::Open,
        ("SettingsService" | "NotificationService", _) => Right::Known,

        ("AccountService", "CanI" | "ListAccounts") => Right::Known,
        ("AccountService", "GetAccount") => Right::Account("get"),
        ("AccountService", "CreateToken" | "DeleteToken" | "UpdatePassword") => Right::Account("update"),

        ("ApplicationService", "List" | "Watch") => Right::Known,
        ("ApplicationService", "Create") => Right::Asked(Applications, "create"),
        ("ApplicationService", "Update") => Right::Asked(Applications, "update"),
        ("ApplicationService", "UpdateSpec" | "Patch") => Right::Application("update", "name"),
        ("ApplicationService", "Delete") => Right::Application("delete", "name"),
        ("ApplicationService", "Sync" | "TerminateOperation") => Right::Application("sync", "name"),
        ("ApplicationService", "Rollback") => Right::Asked(Applications, "sync"),
        ("ApplicationService", "ManagedResources" | "ResourceTree" | "WatchResourceTree") => {
            Right::Application("get", "applicationName")
        }
        ("ApplicationService", "ServerSideDiff") => Right::Application("get", "appName"),
        ("ApplicationService", "PodLogs") => Right::Asked(Logs, "get"),
        (
            "ApplicationService",
            "PatchResource" | "DeleteResource" | "RunResourceAction" | "RunResourceActionV2",
        ) => Right::Asked(Applications, "update"),
        ("ApplicationService", "GetManifestsWithFiles") => Right::Asked(Applications, "get"),
        ("ApplicationService", _) => Right::Application("get", "name"),

        ("ApplicationSetService", "List" | "Watch") => Right::Known,
        ("ApplicationSetService", "Create" | "Generate") => Right::Asked(ApplicationSets, "create"),
        ("ApplicationSetService", "Delete") => Right::Asked(ApplicationSets, "delete"),
        ("ApplicationSetService", _) => Right::Asked(ApplicationSets, "get"),

        ("ProjectService", "List") => Right::Known,
        ("ProjectService", "Create") => Right::Asked(Projects, "create"),
        ("ProjectService", "Update") => Right::Asked(Projects, "update"),
        ("ProjectService", "CreateToken" | "DeleteToken") => Right::Asked(Projects, "update"),
        ("ProjectService", "Delete") => Right::Thing(Projects, "delete", "name"),
        ("ProjectService", _) => Right::Thing(Projects, "get", "name"),

        ("ClusterService", "List") => Right::Known,
        ("ClusterService", "Create") => Right::Asked(Clusters, "create"),
        ("ClusterService", "Update" | "RotateAuth" | "InvalidateCache") => Right::Asked(Clusters, "update"),
        ("ClusterService", "Delete") => Right::Asked(Clusters, "delete"),
        ("ClusterService", _) => Right::Asked(Clusters, "get"),

        ("RepositoryService", "List" | "ListRepositories" | "ListWriteRepositories") => Right::Known,
        ("RepositoryService", "CreateWriteRepository") => Right::Asked(WriteRepositories, "create"),
        ("RepositoryService", "UpdateWriteRepository") => Right::Asked(WriteRepositories, "update"),
        ("RepositoryService", "DeleteWriteRepository") => Right::Asked(WriteRepositories, "delete"),
        ("RepositoryService", "ValidateWriteAccess") => Right::Asked(WriteRepositories, "create"),
        ("RepositoryService", "GetWrite") => Right::Asked(WriteRepositories, "get"),
        ("RepositoryService", "Create" | "CreateRepository" | "ValidateAccess") => {
            Right::Asked(Repositories, "create")
        }
        ("RepositoryService", "Update" | "UpdateRepository") => Right::Asked(Repositories, "update"),
        ("RepositoryService", "Delete" | "DeleteRepository") => Right::Asked(Repositories, "delete"),
        ("RepositoryService", _) => Right::Asked(Repositories, "get"),

        ("RepoCredsService", "ListRepositoryCredentials" | "ListWriteRepositoryCredentials") => Right::Known,
        ("RepoCredsService", "CreateRepositoryCredentials") => Right::Asked(Repositories, "create"),
        ("RepoCredsService", "UpdateRepositoryCredentials") => Right::Asked(Repositories, "update"),
        ("RepoCredsService", "DeleteRepositoryCredentials") => Right::Asked(Repositories, "delete"),
        ("RepoCredsService", "CreateWriteRepositoryCredentials") => Right::Asked(WriteRepositories, "create"),
        ("RepoCredsService", "UpdateWriteRepositoryCredentials") => Right::Asked(WriteRepositories, "update"),
        ("RepoCredsService", "DeleteWriteRepositoryCredentials") => Right::Asked(WriteRepositories, "delete"),

        ("CertificateService", "ListCertificates") => Right::Known,
        ("CertificateService", "CreateCertificate") => Right::Asked(Certificates, "create"),
        ("CertificateService", "DeleteCertificate") => Right::Asked(Certificates, "delete"),

        ("GPGKeyService", "List") => Right::Known,
        ("GPGKeyService", "Get") => Right::Thing(GpgKeys, "get", "keyID"),
        ("GPGKeyService", "Create") => Right::Asked(GpgKeys, "create"),
        ("GPGKeyService", "Delete") => Right::Thing(GpgKeys, "delete", "keyID"),

        ("DoctorService", "Explain") => Right::Known,
        ("DoctorService", "Reasons") => Right::Application("get", "name"),
        // They look at all applications, so what is answered is filtered by what the caller may see.
        ("DoctorService", "Examine" | "Fix" | "Rehearse") => Right::Known,
        _ => Right::Nobody,
    }
}

impl Right {
    /// Whether a method of this right changes something, so that it is written down who asked.
    pub(crate) fn changes(self) -> bool {
        match self {
            Right::Application(action, _)
            | Right::Thing(_, action, _)
            | Right::Asked(_, action)
            | Right::Account(action) => action != "get",
            Right::Open | Right::Known | Right::Nobody => false,
        }
    }

    /// Refuses what the caller may not ask.
    pub(crate) async fn check(self, call: &Call) -> Result<(), Refusal> {
        match self {
            Right::Open | Right::Known => Ok(()),
            Right::Nobody => Err(Refusal::denied()),
            Right::Application(action, field) => call.application_may(action, field).map(drop),
            Right::Thing(resource, action, field) => {
                let name = call.request.str_at(&[field]).unwrap_or_default();
                call.caller.need(resource, action, name)
            }
            Right::Account(action) => {
                let name = call.text("name");
                let is_own = call.caller.account().is_some_and(|own| name.is_empty() || name == own);
                if is_own { Ok(()) } else { call.caller.need(Resource::Accounts, action, name) }
            }
            // Nobody who is not allowed this for anything at all comes further.
            Right::Asked(resource, action) => call.caller.need_some(resource, action),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::methods;

    #[test]
    fn every_method_has_a_right() {
        let lacking: Vec<&str> =
            methods().iter().filter(|method| of(method) == Right::Nobody).map(|method| method.name).collect();
        assert_eq!(lacking, Vec::<&str>::new());
    }

    #[test]
    fn only_these_are_for_everybody() {
        let open: Vec<String> = methods()
            .iter()
            .filter(|method| of(method) == Right::Open)
            .map(|method| format!("{}.{}", method.service, method.name))
            .collect();
        assert_eq!(
            open,
            [
                "session.SessionService.GetUserInfo",
                "session.SessionService.Create",
                "session.SessionService.Delete",
                "cluster.SettingsService.Get",
                "version.VersionService.Version"
            ]
        );
    }

    #[test]
    fn the_field_that_a_right_reads_is_one_of_the_request() {
        for method in methods().iter() {
            if let Right::Application(_, field) | Right::Thing(_, _, field) = of(method) {
                assert!(method.input.field(field).is_some(), "{} has no {field}", method.name);
            }
        }
    }
}
