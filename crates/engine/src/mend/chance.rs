//! Fields that are others at each rendering, found by rendering twice.

use jiff::SignedDuration;
use lynceus_doctor::{AppName, Chance, Wanted};
use lynceus_files::{FilePath, Span};
use lynceus_object::{FieldPath, Object, ObjectKey};
use lynceus_render::Reason;

use super::desk::read;
use super::overrides::compare;
use super::{Bench, literal};
use crate::engine::Engine;
use crate::limits;
use crate::queue::Freshness;
use crate::rendering::Traced;

/// How much later the second rendering is: a time that is told by the day has to be another one, too.
const LATER: SignedDuration = SignedDuration::from_hours(25);

/// The functions that give something else each time.
const FUNCTIONS: [&str; 23] = [
    "randAlphaNum",
    "randAlpha",
    "randNumeric",
    "randAscii",
    "randBytes",
    "randInt",
    "uuidv4",
    "genPrivateKey",
    "genCA",
    "genCAWithKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "shuffle",
    "htpasswd",
    "bcrypt",
    "encryptAES",
    "now",
    "ago",
    "date",
    "htmlDate",
    "dateInZone",
];

impl Engine {
    /// The fields of an application that are others at each rendering, each with the function that makes it so. Hooks are made anew each
    /// time anyway. Nothing of this is remembered: what is delivered stays what it is.
    pub(crate) async fn chances(&self, name: &AppName, wanted: &[Wanted]) -> Vec<Chance> {
        let Ok(bench) = self.bench(name).await else { return Vec::new() };
        let (trees, _) = self.trees(&bench).await;
        let mut twice = Vec::new();
        for later in [SignedDuration::ZERO, LATER] {
            let mut request = bench.request(self);
            (request.files, request.freshness) = (&trees, Freshness::Anew);
            request.now = request.now.checked_add(later).unwrap_or(request.now);
            let mut objects: Vec<Object> = Vec::new();
            for sourced in self.renderer().render(&request).await {
                let Ok(sourced) = sourced else { return Vec::new() };
                objects.extend(sourced.rendered.manifests.iter().map(|one| one.object.clone()));
            }
            twice.push(objects);
        }
        let [first, second] = twice.as_slice() else { return Vec::new() };
        let mut chances = Vec::new();
        for (key, path) in differing(first, second).into_iter().take(limits::CHANCES) {
            let (span, function) = self.site(&bench, &key, &path, wanted).await;
            // With the namespace that it gets.
            let own = wanted
                .iter()
                .map(|one| one.object.key())
                .find(|own| own.group_kind() == key.group_kind() && (own.name == key.name || is_name(&path)));
            chances.push(Chance { object: own.unwrap_or(key), path, span, function: function.into() });
        }
        chances
    }

    /// Where a template asks for chance or the time, and by which function.
    async fn site(
        &self,
        bench: &Bench,
        key: &ObjectKey,
        path: &FieldPath,
        wanted: &[Wanted],
    ) -> (Option<Span>, &'static str) {
        if let Ok(traced) = self.traced(bench, key, path).await
            && let Some(found) = traced_site(bench, &traced)
        {
            return found;
        }
        // What has another name each time cannot be asked for by its name.
        let is_it = |one: &&Wanted| {
            one.object.group_kind() == key.group_kind() && (one.object.name() == key.name || is_name(path))
        };
        let file = wanted.iter().find(is_it).and_then(|one| one.span.as_ref()).map(|span| span.file.clone());
        let (trees, _) = self.trees(bench).await;
        for tree in trees.iter().flatten() {
            let text = file.as_ref().and_then(|file| Some((file, read(&**tree, file).ok()?)));
            let Some((file, text)) = text else { continue };
            let mut lines = text.lines().enumerate();
            if let Some((number, function)) = lines.find_map(|(number, line)| Some((number, called(line)?))) {
                return (span(file, number + 1), function);
            }
        }
        (None, "")
    }
}

fn traced_site(bench: &Bench, traced: &Traced) -> Option<(Option<Span>, &'static str)> {
    let Reason::Template(explanation) = &traced.reason else { return None };
    let source = bench.sources.get(traced.number)?;
    for place in explanation.parts.iter().chain(literal::places(explanation)) {
        let Some(file) = literal::file_of(source, place) else { continue };
        let Ok(text) = read(&*traced.tree, &file) else { continue };
        let line = place.line.checked_sub(1).and_then(|before| text.lines().nth(before));
        if let Some(function) = line.and_then(called) {
            // What is in the archive of a chart has no line in Git.
            return Some((span(&file, place.line).filter(|_| source.chart.is_empty()), function));
        }
    }
    None
}

fn span(file: &FilePath, line: usize) -> Option<Span> {
    Some(Span { file: file.clone(), line: u32::try_from(line).ok()?, column: 0 })
}

fn is_name(path: &FieldPath) -> bool {
    *path == FieldPath::fields(["metadata", "name"])
}

/// The function of a line that gives something else each time.
fn called(line: &str) -> Option<&'static str> {
    let actions = line.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
    let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '.' | '$' | '"');
    for action in actions {
        let mut words = action.split(|sign: char| !is_part(sign));
        if let Some(function) = words.find_map(|word| FUNCTIONS.iter().find(|one| **one == word)) {
            return Some(function);
        }
    }
    None
}

/// What differs between two renderings, but for hooks.
fn differing(first: &[Object], second: &[Object]) -> Vec<(ObjectKey, FieldPath)> {
    let mut found = Vec::new();
    let hooks = |one: &&Object| !lynceus_api::hook::is_hook(one);
    for (one, other) in first.iter().filter(hooks).zip(second.iter().filter(hooks)) {
        if one.key() != other.key() {
            if one.group_kind() == other.group_kind() {
                found.push((one.key(), FieldPath::fields(["metadata", "name"])));
            }
            continue;
        }
        let mut fields = Vec::new();
        compare(one.value(), other.value(), &FieldPath::root(), &mut fields);
        found.extend(fields.into_iter().map(|(path, _)| (one.key(), path)));
    }
    found
}

#[cfg(test)]
mod tests {
    use lynceus_object::value;

    use super::*;

    #[test]
    fn a_function_is_told_by_its_name_in_an_action() {
        assert_eq!(called("a: {{ randAlphaNum 5 | quote }}"), Some("randAlphaNum"));
        assert_eq!(called("{{- $ca := genCA \"x\" 365 }}"), Some("genCA"));
        assert_eq!(called("at: {{ now | date \"2006\" }}"), Some("now"));
        assert_eq!(called("a: now {{ .Values.now }} {{ \"now\" }} {{ $now }}"), None);
    }

    #[test]
    fn fields_and_names_that_differ_are_found_but_those_of_hooks() {
        let object = |kind: &str, name: &str, a: &str, hook: bool| {
            let mut object = Object::new(value!({
                "apiVersion": "v1", "kind": (kind), "metadata": {"name": (name)}, "data": {"a": (a), "b": "x"},
            }))
            .unwrap();
            if hook {
                object.set_annotation(lynceus_api::annotations::HOOK, "PreSync");
            }
            object
        };
        let first = [
            object("ConfigMap", "c", "1", false),
            object("Pod", "p-1", "1", false),
            object("Pod", "h-1", "1", true),
        ];
        let second = [
            object("ConfigMap", "c", "2", false),
            object("Pod", "p-2", "1", false),
            object("Pod", "h-2", "2", true),
        ];
        let told: Vec<String> =
            differing(&first, &second).iter().map(|(key, path)| format!("{} {path}", key.name)).collect();
        assert_eq!(told.join(", "), "c data.a, p-1 metadata.name");
    }
}
