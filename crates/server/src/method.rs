//! The methods of the API, by one table: what each takes and answers, and how it is reached over REST and gRPC.

use std::collections::HashMap;
use std::sync::LazyLock;

use lynceus_object::schema::{Schemas, TypeRef};

/// The messages and methods of Argo CD, and ours behind them. Written by `xtask/gen-schema`, which explains the format.
const ARGOCD: &str = include_str!("../data/argocd.txt");

/// What Lynceus answers beside Argo CD's API, in the same form.
const OURS: &str = include_str!("../data/lynceus.txt");

/// One method of the API.
pub(crate) struct Method {
    /// The service, with its package: `application.ApplicationService`.
    pub(crate) service: &'static str,
    /// The name in its service.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) input: TypeRef<'static>,
    /// What it answers.
    pub(crate) output: TypeRef<'static>,
    /// Whether question or answer is a stream.
    pub(crate) flow: Flow,
    /// How it is reached over REST.
    pub(crate) ways: Vec<Way>,
}

impl Method {
    /// How the method is called in rights, logs and dispatch: `ApplicationService.List`.
    pub(crate) fn id(&self) -> (&'static str, &'static str) {
        (self.service.rsplit('.').next().unwrap_or(self.service), self.name)
    }

    /// Repositories have two methods for one thing, of which REST means the newer.
    pub(crate) fn is_superseded(&self) -> bool {
        self.service == "repository.RepositoryService"
            && matches!(self.name, "List" | "Create" | "Update" | "Delete")
    }

    /// Whether it answers a report of ours, which over REST comes without the message around it that gRPC needs.
    pub(crate) fn is_report(&self) -> bool {
        self.output.full_name() == "lynceus.Report"
    }
}

/// How messages go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// One question, one answer.
    Single,
    /// One question, many answers.
    Answers,
    /// Many questions, one answer.
    Questions,
}

/// A verb and a path that lead to a method.
pub(crate) struct Way {
    /// The HTTP verb.
    pub(crate) verb: &'static str,
    /// The path, piece by piece.
    pub(crate) path: Vec<Piece>,
    /// What of the request is the body.
    pub(crate) body: Body,
}

/// A piece of a path between two slashes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// This word.
    Word(&'static str),
    /// Anything, which is the value of a field.
    Field(&'static str),
    /// Everything up to the end.
    Rest(&'static str),
}

impl Piece {
    /// The field that it tells.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self {
            Piece::Word(_) => None,
            Piece::Field(field) | Piece::Rest(field) => Some(field),
        }
    }
}

/// What of a request stands in the body of an HTTP request.
pub(crate) enum Body {
    /// Nothing.
    None,
    /// All that is not in the path.
    Whole,
    /// The value of this field.
    Field(&'static str),
}

/// All methods.
pub(crate) struct Methods {
    all: Vec<Method>,
    /// By the path of a gRPC call.
    by_call: HashMap<String, usize>,
}

/// The methods that are served.
pub(crate) fn methods() -> &'static Methods {
    static METHODS: LazyLock<Methods> = LazyLock::new(|| Methods::read(&[ARGOCD, OURS]));
    &METHODS
}

fn schemas() -> &'static Schemas {
    static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| {
        let mut text = String::with_capacity(ARGOCD.len() + OURS.len());
        text.push_str(ARGOCD);
        text.push_str(OURS);
        Schemas::parse(&text)
    });
    &SCHEMAS
}

/// The type of a message by its name; one that nobody knows is empty.
pub(crate) fn message(name: &str) -> TypeRef<'static> {
    schemas().named(name).unwrap_or_else(TypeRef::untyped)
}

impl Methods {
    fn read(texts: &[&'static str]) -> Self {
        let mut all: Vec<Method> = Vec::new();
        let lines = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("> "));
        for line in lines {
            let words: Vec<&'static str> = line.split(' ').collect();
            let [service, name, verb, path, body, input, output, flow] = words[..] else { continue };
            let way = Way { verb, path: pieces(path), body: Body::of(body) };
            match all.last_mut() {
                Some(last) if last.service == service && last.name == name => last.ways.push(way),
                _ => all.push(Method {
                    service,
                    name,
                    input: message(input),
                    output: message(output),
                    flow: Flow::of(flow),
                    ways: vec![way],
                }),
            }
        }
        let by_call = all
            .iter()
            .enumerate()
            .map(|(at, method)| (format!("/{}/{}", method.service, method.name), at))
            .collect();
        Methods { all, by_call }
    }

    /// All of them, in the order of the table.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Method> {
        self.all.iter()
    }

    /// A method by its service and name: `ProjectService.List`.
    pub(crate) fn named(&self, id: &str) -> Option<&Method> {
        let (service, name) = id.split_once('.')?;
        self.all.iter().find(|method| method.id() == (service, name))
    }

    /// The method of a gRPC call: `/application.ApplicationService/List`.
    pub(crate) fn by_call(&self, path: &str) -> Option<&Method> {
        self.by_call.get(path).map(|at| &self.all[*at])
    }

    /// The method that a verb and a path lead to, with the fields that the path tells. Words go before fields, so that
    /// `/applications/manifestsWithFiles` is not an application.
    pub(crate) fn by_path(&self, verb: &str, path: &[String]) -> Option<Found<'_>> {
        let found = self.all.iter().flat_map(|method| method.ways.iter().map(move |way| (method, way)));
        let fitting = found
            .filter(|(_, way)| way.verb == verb)
            .filter_map(|(method, way)| Some((method, way, way.fits(path)?)));
        let chosen = fitting.max_by_key(|(method, way, _)| {
            // Of two methods with one way the older one, which is named last, is the deprecated one.
            let words = way.path.iter().filter(|piece| matches!(piece, Piece::Word(_))).count();
            (words, !method.is_superseded())
        });
        chosen.map(|(method, way, fields)| Found { method, way, fields })
    }

    /// Whether anything is served at a path, whatever the verb.
    pub(crate) fn knows(&self, path: &[String]) -> bool {
        self.all.iter().flat_map(|method| &method.ways).any(|way| way.fits(path).is_some())
    }
}

/// A method with the fields that its path told.
pub(crate) struct Found<'m> {
    /// The method.
    pub(crate) method: &'m Method,
    /// The way that led to it.
    pub(crate) way: &'m Way,
    /// Fields, by their path in the request, with their values.
    pub(crate) fields: Vec<(&'static str, String)>,
}

impl Way {
    /// The fields that a path tells, if it is this one.
    fn fits(&self, path: &[String]) -> Option<Vec<(&'static str, String)>> {
        let mut fields = Vec::new();
        let mut rest = path;
        for piece in &self.path {
            if let Piece::Rest(field) = piece {
                fields.push((*field, rest.join("/")));
                return (!rest.is_empty()).then_some(fields);
            }
            let (first, others) = rest.split_first()?;
            rest = others;
            match piece {
                Piece::Word(word) if first == word => {}
                Piece::Field(field) if !first.is_empty() => fields.push((*field, first.clone())),
                _ => return None,
            }
        }
        rest.is_empty().then_some(fields)
    }
}

fn pieces(path: &'static str) -> Vec<Piece> {
    let words = path.trim_start_matches('/').split('/');
    words
        .map(|word| match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
            None => Piece::Word(word),
            Some(field) => match field.strip_suffix("=**") {
                Some(field) => Piece::Rest(field),
                None => Piece::Field(field),
            },
        })
        .collect()
}

impl Body {
    fn of(word: &'static str) -> Self {
        match word {
            "-" => Body::None,
            "*" => Body::Whole,
            field => Body::Field(field),
        }
    }
}

impl Flow {
    fn of(word: &str) -> Self {
        match word {
            "s" => Flow::Answers,
            "c" => Flow::Questions,
            _ => Flow::Single,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(verb: &str, path: &str) -> String {
        let path: Vec<String> = path.trim_start_matches('/').split('/').map(str::to_owned).collect();
        match methods().by_path(verb, &path) {
            None => "none".to_owned(),
            Some(found) => format!("{} {:?}", found.method.name, found.fields),
        }
    }

    #[test]
    fn a_path_leads_to_its_method_and_tells_fields() {
        assert_eq!(found("GET", "/api/v1/applications"), "List []");
        assert_eq!(found("GET", "/api/v1/applications/shop"), "Get [(\"name\", \"shop\")]");
        assert_eq!(
            found("PUT", "/api/v1/applications/shop"),
            "Update [(\"application.metadata.name\", \"shop\")]"
        );
        assert_eq!(found("POST", "/api/v1/applications/manifestsWithFiles"), "GetManifestsWithFiles []");
        assert_eq!(found("GET", "/api/v1/applications/a/logs"), "PodLogs [(\"name\", \"a\")]");
        assert_eq!(found("GET", "/api/v1/applications//logs"), "none");
        assert_eq!(
            found("GET", "/api/v1/account/can-i/applications/get/default/shop"),
            "CanI [(\"resource\", \"applications\"), (\"action\", \"get\"), (\"subresource\", \"default/shop\")]"
        );
    }

    #[test]
    fn of_two_methods_with_one_way_the_newer_is_meant() {
        assert_eq!(found("GET", "/api/v1/repositories"), "ListRepositories []");
        assert_eq!(found("POST", "/api/v1/repositories"), "CreateRepository []");
    }

    #[test]
    fn every_method_has_messages_and_a_way() {
        for method in methods().iter() {
            let is_empty = matches!(method.name, "Version");
            assert!(
                is_empty || !method.input.is_untyped(),
                "{} {} takes nothing",
                method.service,
                method.name
            );
            assert!(!method.output.is_untyped(), "{} {} answers nothing", method.service, method.name);
            assert!(!method.ways.is_empty());
        }
        assert!(methods().by_call("/application.ApplicationService/List").is_some());
        assert!(methods().by_call("/application.ApplicationService/Nothing").is_none());
    }
}
