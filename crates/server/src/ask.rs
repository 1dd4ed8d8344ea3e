//! The two ways for a program to ask the methods of the API: over HTTP, and in the same process.

use std::sync::Arc;

use lynceus_object::{Value, json};

use crate::call::Answer;
use crate::method::{Body, Piece, Way, methods};
use crate::refusal::Refusal;
use crate::server::Server;
use crate::services;

/// A question as a request of HTTP.
#[derive(Debug, PartialEq, Eq)]
pub struct Question {
    /// The verb.
    pub verb: &'static str,
    /// Path and query.
    pub target: String,
    /// The body, as JSON.
    pub body: Option<String>,
}

/// The request for a method that is named as `ProjectService.List`; none if there is no such method, or if what its path
/// needs is not in the message.
pub fn question(method: &str, message: &Value) -> Option<Question> {
    let method = methods().named(method)?;
    method.ways.iter().find_map(|way| way.question(message))
}

/// Shows that a question is asked in our own process. Only [`Server::ask`] can make one, so that nothing that comes over
/// the network can be taken for the owner's.
pub(crate) struct InProcess(());

impl Server {
    /// Answers whoever could do the same to the cluster without asking: no right is needed, and they are called as they say.
    pub async fn ask(self: &Arc<Self>, owner: &str, method: &str, message: Value) -> Result<Answer, Refusal> {
        match methods().named(method) {
            Some(known) => self.asked(known, self.access.owner(InProcess(()), owner), message).await,
            None => Err(services::unknown(method)),
        }
    }
}

impl Way {
    fn question(&self, message: &Value) -> Option<Question> {
        let mut rest = message.clone();
        let mut path = String::new();
        for piece in &self.path {
            path.push('/');
            match piece {
                Piece::Word(word) => path.push_str(word),
                Piece::Field(field) => path.push_str(&encoded(&self.taken(&mut rest, field)?, false)),
                Piece::Rest(field) => path.push_str(&encoded(&self.taken(&mut rest, field)?, true)),
            }
        }
        let body = match self.body {
            Body::None => None,
            Body::Whole => Some(json::to_string(&std::mem::take(&mut rest))),
            Body::Field(field) => rest.remove(&[field]).map(|value| json::to_string(&value)),
        };
        let mut pairs = Vec::new();
        query(&rest, "", &mut pairs);
        let mark = if pairs.is_empty() { "" } else { "?" };
        Some(Question { verb: self.verb, target: format!("{path}{mark}{}", pairs.join("&")), body })
    }

    /// The text of a field that goes into the path. What is inside of a message that goes into the body stays there as well.
    fn taken(&self, message: &mut Value, field: &str) -> Option<String> {
        let path: Vec<&str> = field.split('.').collect();
        let text = scalar(message.at(&path)?)?;
        let is_in_body = match self.body {
            Body::None => false,
            Body::Whole => path.len() > 1,
            Body::Field(body) => path[0] == body,
        };
        if !is_in_body {
            message.remove(&path);
        }
        (!text.is_empty()).then_some(text)
    }
}

fn query(value: &Value, name: &str, pairs: &mut Vec<String>) {
    match value {
        Value::Map(map) => {
            for (key, value) in map.iter() {
                let name = if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
                query(value, &name, pairs);
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| query(item, name, pairs)),
        value => {
            let text = scalar(value).filter(|text| !text.is_empty());
            pairs.extend(text.map(|text| format!("{name}={}", encoded(&text, false))));
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Map(_) | Value::Seq(_) => None,
        Value::Str(text) => Some(text.to_string()),
        other => Some(json::to_string(other)),
    }
}

fn encoded(text: &str, with_slashes: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            b'/' if with_slashes => out.push('/'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request;
    use crate::stage::Stage;
    use lynceus_object::value;

    /// The request, and the message that a server reads from it.
    fn check(method: &str, message: Value) -> String {
        let Some(question) = question(method, &message) else { return "none".to_owned() };
        let (path, query) = question.target.split_once('?').unwrap_or((&question.target, ""));
        let found = methods().by_path(question.verb, &request::pieces(path)).expect("a method");
        let body = question.body.clone().unwrap_or_default();
        let read = request::read(&found, query, body.as_bytes()).expect("a message");
        assert_eq!(read, message, "{question:?}");
        format!("{} {} {body}", question.verb, question.target)
    }

    #[test]
    fn a_message_goes_into_path_query_and_body_and_comes_out_again() {
        assert_eq!(check("ProjectService.List", value!({})), "GET /api/v1/projects ");
        assert_eq!(
            check("ClusterService.Get", value!({"id": {"type": "name", "value": "a/b c"}})),
            "GET /api/v1/clusters/a%2Fb%20c?id.type=name "
        );
        assert_eq!(
            check("ApplicationService.List", value!({"projects": ["a", "b"], "selector": "x=y"})),
            "GET /api/v1/applications?projects=a&projects=b&selector=x%3Dy "
        );
        assert_eq!(
            check("ProjectService.Update", value!({"project": {"metadata": {"name": "shop"}, "spec": {}}})),
            r#"PUT /api/v1/projects/shop {"project":{"metadata":{"name":"shop"},"spec":{}}}"#
        );
        assert_eq!(
            check(
                "RepositoryService.CreateRepository",
                value!({"repo": {"repo": "https://a/b"}, "upsert": true})
            ),
            r#"POST /api/v1/repositories?upsert=true {"repo":"https://a/b"}"#
        );
        assert_eq!(
            check(
                "AccountService.CanI",
                value!({"resource": "projects", "action": "get", "subresource": "a/*"})
            ),
            "GET /api/v1/account/can-i/projects/get/a/%2A "
        );
    }

    #[test]
    fn what_the_path_needs_has_to_be_there() {
        assert_eq!(check("ProjectService.Get", value!({})), "none");
        assert_eq!(check("ProjectService.Get", value!({"name": ""})), "none");
        assert_eq!(check("ProjectService.Nothing", value!({})), "none");
    }

    /// The owner's way is for programs that have the server in their process: nothing here that listens may take it.
    #[test]
    fn nothing_that_listens_asks_as_the_owner() {
        let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in
                std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
            {
                let name = entry.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
                if entry.is_dir() {
                    folders.push(entry);
                } else if !entry.iter().any(|part| part == "tests")
                    && !matches!(&*name, "tests.rs" | "stage.rs")
                {
                    let text = std::fs::read_to_string(&entry).expect("a text");
                    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
                    let words = [".ask(", "InProcess(", "Who::Owner(name", "access.owner("];
                    found.extend(
                        words
                            .iter()
                            .filter(|word| code.contains(**word))
                            .map(|word| format!("{name} {word}")),
                    );
                }
            }
        }
        found.sort();
        assert_eq!(
            found,
            [
                "access.rs Who::Owner(name",
                "ask.rs InProcess(",
                "ask.rs access.owner(",
                "caller.rs Who::Owner(name"
            ]
        );
    }

    #[tokio::test]
    async fn whoever_has_the_cluster_is_asked_for_no_right() {
        let stage = Stage::new().await;
        let answer = stage.server.ask("me", "ProjectService.Get", value!({"name": "default"})).await;
        let Ok(Answer::One(project)) = answer else { panic!("no project") };
        assert_eq!(project.str_at(&["metadata", "name"]), Some("default"));
    }
}
