//! The policy that every installation has: the roles `readonly` and `admin`, and who is admin.

/// What `role:readonly` may get, by how its objects are named.
const READ: [(&str, &[&str]); 2] = [
    ("*/*", &["applications", "applicationsets", "logs"]),
    (
        "*",
        &[
            "certificates",
            "clusters",
            "repositories",
            "write-repositories",
            "projects",
            "accounts",
            "gpgkeys",
        ],
    ),
];

/// What `role:admin` may do beside that.
const ADMIN: [(&str, &str, &[&str]); 10] = [
    (
        "applications",
        "*/*",
        &["create", "update", "update/*", "delete", "delete/*", "sync", "override", "action/*"],
    ),
    ("applicationsets", "*/*", &["get", "create", "update", "delete"]),
    ("certificates", "*", &["create", "update", "delete"]),
    ("clusters", "*", &["create", "update", "delete"]),
    ("repositories", "*", &["create", "update", "delete"]),
    ("write-repositories", "*", &["create", "update", "delete"]),
    ("projects", "*", &["create", "update", "delete"]),
    ("accounts", "*", &["update"]),
    ("gpgkeys", "*", &["create", "delete"]),
    ("exec", "*/*", &["create"]),
];

/// Its text, with the account that has everything.
pub(super) fn text() -> String {
    let mut text = String::from("g, role:admin, role:readonly\ng, admin, role:admin\n");
    for (object, resources) in READ {
        for resource in resources {
            text.push_str(&format!("p, role:readonly, {resource}, get, {object}, allow\n"));
        }
    }
    for (resource, object, actions) in ADMIN {
        for action in actions {
            text.push_str(&format!("p, role:admin, {resource}, {action}, {object}, allow\n"));
        }
    }
    text
}
