//! Jsonnet programs in a folder: files and variables in, objects and diagnostics out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has to stop")]

use lynceus_api::{ApplicationSource, ApplicationSourceDirectory, ApplicationSourceJsonnet, JsonnetVar};
use lynceus_files::FilePath;
use lynceus_object::json;
use lynceus_render::{Bases, Charts, Fetched, Job, References, RenderError, Rendered, Setting};

mod given;

use given::{Still, tree};

/// The options of a source, from lines such as `ext name=value`, `tla-code name=1` and `lib vendor`.
fn options(text: &str) -> ApplicationSourceDirectory {
    let mut jsonnet = ApplicationSourceJsonnet::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (what, rest) = line.split_once(' ').unwrap();
        let variable = |code| {
            let (name, value) = rest.split_once('=').unwrap();
            JsonnetVar { name: name.into(), value: value.into(), code, ..JsonnetVar::default() }
        };
        match what {
            "ext" => jsonnet.ext_vars.push(variable(false)),
            "ext-code" => jsonnet.ext_vars.push(variable(true)),
            "tla" => jsonnet.tlas.push(variable(false)),
            "tla-code" => jsonnet.tlas.push(variable(true)),
            "lib" => jsonnet.libs.push(rest.into()),
            other => panic!("{other} is no option"),
        }
    }
    ApplicationSourceDirectory { jsonnet, ..ApplicationSourceDirectory::default() }
}

fn render(files: &str, given: &str) -> Result<Rendered, RenderError> {
    let tree = tree(files);
    let directory = Some(options(given));
    let source = ApplicationSource { path: "app".into(), directory, ..ApplicationSource::default() };
    let setting = Setting {
        application: "shop".into(),
        namespace: "prod".into(),
        revision: "0123456789".into(),
        ..Setting::default()
    };
    let job = Job {
        tree: &tree,
        source: &source,
        setting: &setting,
        references: &References::new(),
        fetched: &Fetched::new(),
        bases: &Bases::new(),
        charts: &Charts::none(),
    };
    lynceus_render::render(&job, &mut Still)
}

/// Renders `app` and prints what came out: the spec of each object after its name, and what was told.
fn rendered(files: &str, given: &str) -> String {
    match render(files, given) {
        Err(error) => {
            let mut text = format!("error: {error}\n");
            let mut cause = std::error::Error::source(&error);
            while let Some(one) = cause {
                text.push_str(&format!("  caused by: {one}\n"));
                cause = one.source();
            }
            text
        }
        Ok(rendered) => {
            let objects = rendered.manifests.iter().map(|made| {
                let spec = made.object.at(&["spec"]).map(json::to_string).unwrap_or_default();
                format!("{} {}/{} {spec}\n", made.span, made.object.kind(), made.object.name())
            });
            let told = rendered.diagnostics.iter().map(|diagnostic| format!("{}\n", diagnostic.to_text()));
            objects.chain(told).collect()
        }
    }
}

/// A program that gives one object with this spec.
fn program(spec: &str) -> String {
    format!(
        "=== app/a.jsonnet\n{{ apiVersion: 'v1', kind: 'Pod', metadata: {{ name: 'x' }}, spec: {spec} }}\n"
    )
}

/// What a program is told of.
fn problem(text: &str) -> String {
    rendered(&format!("=== app/a.jsonnet\n{text}\n"), "")
}

#[test]
fn a_program_gives_one_object_or_a_list_of_them_and_null_is_nothing() {
    assert_eq!(
        rendered(&program("{ a: 1 + 1, b: 0.5, c: 1e3 }"), ""),
        "app/a.jsonnet Pod/x {\"a\":2,\"b\":0.5,\"c\":1000}\n"
    );
    let object = |name: &str| format!("{{ apiVersion: 'v1', kind: 'Pod', metadata: {{ name: '{name}' }} }}");
    let list = format!("=== app/a.jsonnet\n[{}, null, {}]\n", object("a"), object("b"));
    assert_eq!(rendered(&list, ""), "app/a.jsonnet Pod/a \napp/a.jsonnet Pod/b \n");
    assert_eq!(problem("null"), "");
    let kinds =
        format!("=== app/a.jsonnet\n{{ apiVersion: 'v1', kind: 'List', items: [{}] }}\n", object("c"));
    assert_eq!(rendered(&kinds, ""), "app/a.jsonnet Pod/c \n");
}

#[test]
fn the_library_takes_what_argo_cds_takes() {
    let spec = "[std.foldl(function(a, b) b + a, 'abc', ''), std.foldr(function(a, b) b + a, 'abc', ''),\n\
                std.escapeStringJson(str_='a'), std.range(1, 3), std.repeat('ab', 2), std.makeArray(2, function(i) i * i)]";
    assert_eq!(
        rendered(&program(spec), ""),
        "app/a.jsonnet Pod/x [\"cba\",\"cba\",\"\\\"a\\\"\",[1,2,3],\"abab\",[0,1]]\n"
    );
}

#[test]
fn what_is_no_manifest_is_told_of() {
    assert_eq!(
        problem("[[{}]]"),
        "error: Jsonnet: the program gives a list where a manifest should be\n  at app/a.jsonnet\n  \
         hint: join the lists with std.flattenArrays\n"
    );
    assert!(problem("'text'").contains("std.parseYaml"));
    assert!(
        problem("{ f(x):: x, spec: function(x) x }").contains("a function"),
        "{}",
        problem("{ spec: function(x) x }")
    );
    assert_eq!(
        problem("{ metadata: { name: 'x' } }"),
        "error: document 1 has no kind\n  at app/a.jsonnet\n  hint: every object has apiVersion, kind and metadata.name\n"
    );
}

#[test]
fn variables_are_strings_or_code_with_the_build_environment_in_them() {
    assert_eq!(
        rendered(
            &program("{ a: std.extVar('a'), b: std.extVar('b'), c: std.extVar('c') }"),
            "ext a=$ARGOCD_APP_NAME-${ARGOCD_APP_NAMESPACE}-$$\next-code b=[1, '$ARGOCD_APP_REVISION_SHORT']\next c=1\next c=2",
        ),
        "app/a.jsonnet Pod/x {\"a\":\"shop-prod-$\",\"b\":[1,\"0123456\"],\"c\":\"2\"}\n"
    );
}

#[test]
fn a_function_is_called_with_the_arguments_and_anything_else_leaves_them_alone() {
    let function = "=== app/a.jsonnet\nfunction(name, replicas=1)\n  { apiVersion: 'v1', kind: 'Pod', metadata: { name: name }, spec: replicas }\n";
    assert_eq!(
        rendered(function, "tla name=$ARGOCD_APP_NAME\ntla-code replicas=1+2"),
        "app/a.jsonnet Pod/shop 3\n"
    );
    assert_eq!(
        rendered(function, ""),
        "error: Jsonnet: the function needs its parameter name\n  at app/a.jsonnet\n"
    );
    assert_eq!(rendered(&program("1"), "tla name=x"), "app/a.jsonnet Pod/x 1\n");
}

#[test]
fn imports_are_found_beside_the_file_then_in_the_libraries_then_at_the_path() {
    let files = "=== app/a.jsonnet\nlocal k = import 'k.libsonnet';\nk.pod('a', importstr 'deep/text.txt', importbin 'deep/bytes')\n\
                 === app/deep/text.txt\nhello\n=== app/deep/bytes\nA\n\
                 === vendor/k.libsonnet\nimport 'inner/pod.libsonnet'\n\
                 === vendor/inner/pod.libsonnet\n{ pod(name, text, bytes):: (import '../names.jsonnet')(name) { spec: [text, bytes] } }\n\
                 === vendor/names.jsonnet\nfunction(name) { apiVersion: 'v1', kind: 'Pod', metadata: { name: name + '-' + std.thisFile } }\n\
                 === old/k.libsonnet\nerror 'the last library is looked at first'\n";
    assert_eq!(
        rendered(files, "lib old\nlib vendor"),
        "app/a.jsonnet Pod/a-vendor/names.jsonnet [\"hello\\n\",[65,10]]\n"
    );
    let read = render(files, "lib vendor").unwrap().read_set;
    let paths: Vec<&str> = read.files.iter().map(FilePath::as_str).collect();
    for file in [
        "app/k.libsonnet",
        "vendor/k.libsonnet",
        "vendor/inner/pod.libsonnet",
        "vendor/names.jsonnet",
        "app/deep/text.txt",
    ] {
        assert!(paths.contains(&file), "{file} of {paths:?}");
    }
}

#[test]
fn nothing_outside_of_the_repository_is_imported() {
    let told =
        |import: &str| rendered(&format!("=== app/a.jsonnet\n{import}\n=== app/out -> ../../secret\n"), "");
    assert!(
        told("importstr '/etc/passwd'").starts_with(
            "error: Jsonnet: import \"/etc/passwd\" is an absolute path\n  at app/a.jsonnet:1:1\n"
        )
    );
    assert!(
        told("importstr '../../etc/passwd'")
            .starts_with("error: Jsonnet: import \"../../etc/passwd\" leaves the repository\n")
    );
    assert!(told("importstr 'out'").contains("which leaves the repository"), "{}", told("importstr 'out'"));
    assert!(
        told("import 'none'").contains("is in none of the places that are searched\n  at app/a.jsonnet:1:1")
    );
    assert_eq!(
        rendered(&program("1"), "lib ../elsewhere"),
        "error: the source's path is not usable\n  caused by: path \"../elsewhere\" leaves the repository\n"
    );
}

#[test]
fn errors_name_the_file_and_the_line() {
    for (text, expected) in [
        ("{\n  a: 1,\n  b: ,\n}", "\",\" does not belong here\n  at app/a.jsonnet:3:6"),
        ("{\n  a: x\n}", "there is no variable x\n  at app/a.jsonnet:2:6"),
        ("{ b:: 1 }\n{\n  a: self.c }", "there is no field c\n  at app/a.jsonnet:3:6"),
        ("local f(x) =\n  1 + error 'no ' + x;\n[f(1)]", "no 1\n  at app/a.jsonnet:2:7"),
        ("[x + {}.a for x in [1]]", "there is no field a\n  at app/a.jsonnet:1:6"),
        ("assert 1 == 2 : 'wrong';\n{}", "assertion failed: wrong\n  at app/a.jsonnet:1:1"),
        (
            "[\n  std.length(1)\n]",
            "std.length takes a string or a list or an object or a function as argument 1, not a number\n  at app/a.jsonnet:2:3",
        ),
        ("'abc", "the string is never closed\n  at app/a.jsonnet:1:1"),
        ("local a = b, b = a; a", "a value is needed to compute itself\n  at app/a.jsonnet:1:"),
    ] {
        let told = problem(text);
        assert!(told.starts_with(&format!("error: Jsonnet: {expected}")), "{text}\n{told}");
    }
    let imported = rendered("=== app/a.jsonnet\nimport 'lib'\n=== app/lib\n\n\n1 +\n", "");
    assert_eq!(
        imported,
        "error: Jsonnet: the program ends in the middle of something, on behalf of app/a.jsonnet\n  at app/lib:4:1\n"
    );
    assert_eq!(
        rendered(&program("std.extVar('a')"), "ext-code a=1 +"),
        "error: Jsonnet: external variable a: the program ends in the middle of something\n  at app/a.jsonnet\n"
    );
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let endless = [
        ("calls", "local f(x) = f(x + 1); f(0)", "calls wait for each other deeper than 2000 levels"),
        (
            "doubling",
            "local f(n) = if n == 0 then 0 else f(n - 1) + f(n - 1); f(100)",
            "more than 4000000 steps",
        ),
        (
            "objects",
            "{ n:: 100, r: if self.n == 0 then 0 else (self { n:: super.n - 1 }).r + (self { n:: super.n - 1 }).r }",
            "more than 4000000 steps",
        ),
        (
            "comprehensions",
            "local r = std.range(1, 1000); std.length([1 for a in r for b in r for c in r for d in r])",
            "more than 4000000 steps",
        ),
        ("ranges", "std.range(1, 1000000000000)", "more than 4000000 steps"),
        ("arrays", "std.makeArray(1e15, function(i) i)", "more than 4000000 steps"),
        ("texts", "std.repeat('0123456789', 1e12)", "more than 4000000 steps"),
        ("imports", "import 'a.jsonnet'", "a value is needed to compute itself"),
        ("fields", "{ a: $ }", "deeper than 2000 levels"),
    ];
    for (what, text, expected) in endless {
        let told = problem(text);
        assert!(told.contains(expected) && told.contains("at app/a.jsonnet"), "{what}: {told}");
    }
}

#[test]
fn texts_and_values_that_nest_too_deep_are_refused_and_the_others_are_read() {
    // As deep as a text may be: the stack holds. Deeper, it is not even tried.
    for (opening, inner, closing, depth) in [
        ("{a:", "1", "}", 2_900),
        ("{a(b):", "1", "}", 2_900),
        ("[", "1", "]", 2_900),
        ("[x for x in ", "[1]", "]", 2_900),
        ("{[x]: 1 for x in ", "[1]", "}", 2_900),
        ("(", "1", ")", 2_900),
        ("f(", "1", ")", 2_900),
        ("a[", "1", "]", 2_900),
        ("local a = 1; ", "a", "", 2_900),
        ("local a = ", "1", "; a", 2_900),
        ("function(x) ", "x", "", 2_900),
        ("function(x=", "1", ") 1", 1_400),
        ("if true then 1 else ", "1", "", 1_400),
        ("assert true; ", "1", "", 2_900),
        ("error ", "'x'", "", 2_900),
        ("-", "1", "", 2_900),
        ("1 + ", "1", "", 20_000),
    ] {
        let text = |depth: usize| format!("{}{inner}{}", opening.repeat(depth), closing.repeat(depth));
        for text in [text(depth), text(20_000), opening.repeat(depth), opening.repeat(20_000)] {
            let told = problem(&text);
            assert!(told.is_empty() || told.starts_with("error: Jsonnet: "), "{opening}: {told}");
        }
    }
    let nested = "std.foldl(function(a, i) [a], std.range(1, 1000), 1)";
    assert!(problem(nested).contains("nests deeper than 200 levels"), "{}", problem(nested));
    let wide = "local a = [1, 1], b = [a, a, a, a, a, a, a, a], c = [b, b, b, b, b, b, b, b], d = [c, c, c, c, c, c, c, c],\n\
                e = [d, d, d, d, d, d, d, d], f = [e, e, e, e, e, e, e, e], g = [f, f, f, f, f, f, f, f], h = [g, g, g, g, g, g, g, g]; [h, h, h, h]";
    assert!(problem(wide).contains("more than 64000000 bytes"), "{}", problem(wide));
    let both = format!("{}=== app/b.jsonnet\nerror 'b'\n", program("1"));
    assert_eq!(rendered(&both, ""), "app/a.jsonnet Pod/x 1\nerror: Jsonnet: b\n  at app/b.jsonnet:1:1\n");
}

#[test]
fn a_file_can_ask_to_be_skipped_and_libraries_are_not_rendered() {
    let files = "=== app/a.jsonnet\n// +argocd:skip-file-rendering\nerror 'skipped'\n=== app/b.libsonnet\nerror 'a library'\n";
    assert_eq!(rendered(files, ""), "");
}

#[test]
fn only_what_asks_who_it_is_for_is_for_one_application() {
    let named = |files: &str, given: &str| {
        let rendered = render(files, given).unwrap();
        (rendered.names_setting, rendered.names_revision)
    };
    assert_eq!(named(&program("1"), "ext a=b"), (false, false));
    assert_eq!(named(&program("1"), "ext a=$ARGOCD_APP_NAME"), (true, false));
    assert_eq!(named(&program("1"), "ext a=$ARGOCD_APP_REVISION"), (true, true));
    assert_eq!(named("=== app/a.yaml\na: 1\n", "ext a=$ARGOCD_APP_REVISION"), (false, false));
    assert_eq!(named("=== app/.argocd-source-other.yaml\n{}\n", ""), (true, false));
}
