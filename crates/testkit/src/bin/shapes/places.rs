//! What can be asked of a server, by what it has: each path for each application, project, cluster and repository.

use serde_json::{Value, json};

use crate::ask::Asker;

/// Something to ask.
pub(crate) struct Place {
    /// The path as the description has it.
    pub(crate) path: String,
    /// The path and query that are asked.
    pub(crate) address: String,
    /// Whether the answer is a stream, of which the first message counts.
    pub(crate) is_stream: bool,
}

/// Paths that a repository of plain manifests, or an installation without them, has no answer for.
const NOTHING_THERE: [&str; 8] = [
    "/chartdetails",
    "/ocimetadata",
    "/helmcharts",
    "/oci-tags",
    "/gpgkeys/{keyID}",
    "/write-repositories/{repo}",
    "/server-side-diff",
    // Logs of one pod are asked for as those of an application.
    "/pods/{podName}/logs",
];

/// An ApplicationSet, so that there is one to ask for. It makes nothing of its own: the list of its generator is empty.
const SET: &str = "shapes-of-sets";

/// Everything that can be asked.
pub(crate) async fn of(asker: &Asker, theirs: &Value) -> Result<Vec<Place>, String> {
    let names = Names::of(asker).await?;
    let paths = theirs["paths"].as_object().into_iter().flatten();
    let asked = paths.filter(|(path, verbs)| {
        !verbs["get"].is_null() && !NOTHING_THERE.iter().any(|part| path.contains(part))
    });
    Ok(asked.flat_map(|(path, verbs)| names.places(path, &verbs["get"])).collect())
}

/// What there is to ask for.
struct Names {
    applications: Vec<Value>,
    projects: Vec<String>,
    clusters: Vec<String>,
    repositories: Vec<String>,
    sets: Vec<String>,
}

impl Names {
    async fn of(asker: &Asker) -> Result<Self, String> {
        let list = |list: Value| list["items"].as_array().cloned().unwrap_or_default();
        let texts = |items: Vec<Value>, pointer: &str| -> Vec<String> {
            items.iter().filter_map(|item| Some(item.pointer(pointer)?.as_str()?.to_owned())).collect()
        };
        let applications = list(asker.get("/api/v1/applications").await?);
        let mut repositories = texts(applications.clone(), "/spec/source/repoURL");
        repositories.sort();
        repositories.dedup();
        for repository in &repositories {
            asker.post("/api/v1/repositories?upsert=true", &json!({"repo": repository})).await?;
        }
        asker.post("/api/v1/applicationsets?upsert=true", &set()).await?;
        Ok(Names {
            applications,
            projects: texts(list(asker.get("/api/v1/projects").await?), "/metadata/name"),
            clusters: texts(list(asker.get("/api/v1/clusters").await?), "/server"),
            repositories,
            sets: texts(list(asker.get("/api/v1/applicationsets").await?), "/metadata/name"),
        })
    }

    /// A path with every name that fits it.
    fn places(&self, path: &str, operation: &Value) -> Vec<Place> {
        let title = operation.pointer("/responses/200/schema/title").and_then(Value::as_str);
        let is_stream = title.is_some_and(|title| title.starts_with("Stream result"));
        let addresses = match path {
            _ if !path.contains('{') => vec![path.to_owned()],
            _ if path.contains("/can-i/") => vec!["/api/v1/account/can-i/applications/get/*".to_owned()],
            _ if path.contains("/applicationsets/") => filled(path, &self.sets),
            _ if path.contains("/applications/") => {
                self.applications.iter().filter_map(|application| of_application(path, application)).collect()
            }
            _ if path.contains("/projects/") => filled(path, &self.projects),
            _ if path.contains("/clusters/") => filled(path, &self.clusters),
            _ if path.contains("repositories/") => filled(path, &self.repositories),
            _ => filled(path, &["admin".to_owned()]),
        };
        addresses.into_iter().map(|address| Place { path: path.to_owned(), address, is_stream }).collect()
    }
}

fn set() -> Value {
    json!({
        "metadata": {"name": SET},
        "spec": {
            "generators": [{"list": {"elements": []}}],
            "template": {
                "metadata": {"name": "{{name}}"},
                "spec": {
                    "project": "default",
                    "source": {"repoURL": "https://git.example.com/x.git", "path": "."},
                    "destination": {"name": "in-cluster", "namespace": "x"},
                },
            },
        },
    })
}

fn filled(path: &str, names: &[String]) -> Vec<String> {
    let (Some(begin), Some(end)) = (path.find('{'), path.find('}')) else { return vec![path.to_owned()] };
    names.iter().map(|name| format!("{}{}{}", &path[..begin], escaped(name), &path[end + 1..])).collect()
}

fn escaped(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2F").replace(':', "%3A")
}

/// The path for an application; none where it has nothing that could be asked for.
fn of_application(path: &str, application: &Value) -> Option<String> {
    let name = application.pointer("/metadata/name")?.as_str()?;
    let project = application.pointer("/spec/project")?.as_str()?;
    let path = path.replace("{name}", name).replace("{applicationName}", name).replace(
        "{revision}",
        application.pointer("/status/sync/revision")?.as_str().filter(|text| !text.is_empty())?,
    );
    let query = match path.contains("/resource") && !path.ends_with("-tree") && !path.ends_with("-resources")
    {
        true => of_resource(application)?,
        false => String::new(),
    };
    let tail = if path.ends_with("/logs") { "&tailLines=1" } else { "" };
    Some(format!("{path}?project={project}{query}{tail}"))
}

/// The query for an object of the application that is there.
fn of_resource(application: &Value) -> Option<String> {
    let resources = application.pointer("/status/resources")?.as_array()?;
    let synced = resources.iter().find(|resource| resource["status"] == "Synced")?;
    let text = |field: &str| synced[field].as_str().unwrap_or_default();
    Some(format!(
        "&group={}&version={}&kind={}&namespace={}&resourceName={}",
        text("group"),
        text("version"),
        text("kind"),
        text("namespace"),
        text("name")
    ))
}
