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
        ("calls", "local f(x) = f(x + 1); f(0)", "calls wait for each other deeper than 20000 levels"),
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
        ("fields", "{ a: $ }", "more than 4000000 steps"),
    ];
    for (what, text, expected) in endless {
        let told = problem(text);
        assert!(told.contains(expected) && told.contains("at app/a.jsonnet"), "{what}: {told}");
    }
}

/// Sixty variables, each made of the one before it as `@` stands in the text.
fn doubled(first: &str, next: &str) -> String {
    let lines = (0..60).map(|n| format!("local a{} = {};\n", n + 1, next.replace('@', &format!("a{n}"))));
    format!("local a0 = {first};\n{}", lines.collect::<String>())
}

/// Each ends with an error of its own that names the place.
fn refused(programs: &[(&str, String)]) {
    for (what, text) in programs {
        let told = problem(text);
        let large = told.contains("takes more than 4000000 steps")
            || told.contains("a text of more than 16000000 bytes");
        assert!(large && told.contains("at app/a.jsonnet"), "{what}: {told}");
    }
}

#[test]
fn what_grows_by_being_added_to_itself_is_refused() {
    let call = |first: &str| format!("local f(s, n) = if n == 0 then s else f(s + s, n - 1); f({first}, 60)");
    let plus = |field: &str, first: &str| {
        format!(
            "local d(o, n) = if n == 0 then o else d(o + {{ {field} }}, n - 1); d({{ a: {first} }}, 60).a"
        )
    };
    refused(&[
        ("texts in calls", call("'ab'")),
        ("texts in variables", format!("{}a60", doubled("'ab'", "@ + @"))),
        ("lists in variables", format!("{}std.length(a60)", doubled("[1]", "@ + @"))),
        ("objects in calls", call("{ a: 1 }")),
        ("extensions", format!("{}a60", doubled("{ a: 1 }", "@ { b: 2 } + @"))),
        ("fields", plus("a+: o.a", "'ab'")),
        ("fields that are objects", plus("a+: o.a", "{ b: 1 }")),
        ("fields with computed names", plus("['a']+: o.a", "'ab'")),
        ("fields of comprehensions", plus("[k]+: o.a for k in ['a']", "'ab'")),
        ("fields by super", plus("a: super.a + super.a", "'ab'")),
        ("removed fields", format!("{}a60", doubled("{ a: 1 }", "std.objectRemoveKey(@ + @, 'x')"))),
        ("texts that are kept", "local s = std.repeat('x', 1.5e7), f(n) = if n == 0 then [] else local t = s + n; if t == '' then [] else [t, f(n - 1)]; std.flattenDeepArray(f(100))".into()),
    ]);
}

#[test]
fn objects_with_assertions_are_measured_and_not_checked() {
    let sum = doubled("{ a: 1, assert self.a == 1 }", "@ + @");
    refused(&[("sums", format!("{sum}a60"))]);
    // The first is only right with what is added to it.
    let spec = "local base = { a:: 1, assert self.a == 2 : 'wrong' }, more = base + { b: 1 } { c: 1 }; (more + { a: 2 }) + {}";
    assert_eq!(rendered(&program(spec), ""), "app/a.jsonnet Pod/x {\"b\":1,\"c\":1}\n");
    let told = problem("local base = { a: 1, assert self.a == 2 : 'wrong' }; base + { b: 1 }");
    assert!(told.contains("assertion failed: wrong\n  at app/a.jsonnet:1:22"), "{told}");
    let told = problem("{ assert 5 }");
    assert!(told.contains("a condition is true or false, not a number\n  at app/a.jsonnet:1:10"), "{told}");
}

#[test]
fn what_holds_the_same_again_and_again_is_not_gone_through() {
    let lists = doubled("['a']", "[@, @]");
    let of_lists = [
        "a60",
        "[{ a: a60 }]",
        "function() a60",
        "'' + a60",
        "a60 + ''",
        "error a60",
        "assert false : a60; 1",
        "{ assert false : a60 }",
        "'%s' % [a60]",
        "'%s' % a60",
        "'%(x)s' % { x: a60 }",
        "std.format('%s', [a60])",
        "std.toString(a60)",
        "std.manifestJson(a60)",
        "std.manifestJsonMinified(a60)",
        "std.manifestYamlDoc(a60)",
        "std.manifestYamlStream([a60])",
        "std.manifestToml({ a: a60 })",
        "std.manifestPython(a60)",
        "std.manifestPythonVars({ a: a60 })",
        "std.manifestIni({ main: { a: a60 }, sections: {} })",
        "std.manifestXmlJsonml(['a', a60])",
        "std.escapeStringJson(a60)",
        "std.deepJoin(a60)",
        "std.flattenDeepArray(a60)",
        "std.prune(a60)",
        "std.assertEqual(a60, 1)",
    ];
    let objects = doubled("{ a: 1 }", "{ a: @, b: @ }");
    let of_objects = ["a60", "std.manifestJson(a60)", "std.prune(a60)", "std.mergePatch({}, a60)"];
    let programs = of_lists.map(|text| (text, format!("{lists}{text}")));
    refused(&programs);
    refused(&of_objects.map(|text| (text, format!("{objects}{text}"))));
}

#[test]
fn functions_that_make_more_than_they_are_given_are_refused_when_it_is_too_much() {
    let again = |first: &str, next: &str| format!("{}std.length(a60)", doubled(first, next));
    refused(&[
        ("flattenArrays", again("[1]", "std.flattenArrays([@, @])")),
        ("join", again("'ab'", "std.join('', [@, @])")),
        ("join of lists", again("[1]", "std.join([], [@, @])")),
        ("lines", again("'ab'", "std.lines([@, @])")),
        ("strReplace", again("'a'", "std.strReplace(@, 'a', 'aa')")),
        ("escapeStringJson", again("'\"'", "std.escapeStringJson(@)")),
        ("escapeStringBash", again("\"'\"", "std.escapeStringBash(@)")),
        ("escapeStringDollars", again("'$'", "std.escapeStringDollars(@)")),
        ("base64", again("'a'", "std.base64(@)")),
        ("toString", again("'\"'", "std.toString([@])")),
        ("a large separator", "std.join(std.repeat('x', 1e6), std.makeArray(1e5, function(i) ''))".into()),
        ("a large replacement", "local s = std.repeat('a', 1e6); std.strReplace(s, 'a', s)".into()),
        ("a large indentation", "std.manifestJsonEx(std.range(1, 1000), std.repeat(' ', 1e6))".into()),
        ("a field that is taken often", "std.repeat('%(a)s', 10000) % { a: std.repeat('x', 1e6) }".into()),
        ("a width", "std.format('%1000000000d', 1)".into()),
        ("a width by the sign", "'%1000000000d' % 1".into()),
        ("a width of a field", "'%(a)1000000000s' % { a: 1 }".into()),
        ("a width that is given", "'%*d' % [1000000000, 1]".into()),
        ("a precision", "'%.1000000000f' % 1".into()),
        ("characters", "std.length(std.stringChars(std.repeat('x', 1.5e7)))".into()),
        ("parts", "std.length(std.split(std.repeat('x', 1.5e7), 'x'))".into()),
        (
            "aliases",
            "std.parseYaml('a: &a ' + std.repeat('x', 1e6) + '\\nb: [' + std.repeat('*a, ', 1e5) + ']')"
                .into(),
        ),
    ]);
}

#[test]
fn what_is_counted_gives_what_it_gave() {
    let sum: Vec<String> = (0..1_000).map(|n| format!("'{n},'")).collect();
    let deep = "local f(n) = if n == 0 then '' else '<' + f(n - 1) + '>'; std.length(f(490))";
    for (spec, expected) in [
        (format!("std.length({} + '' + {{}})", sum.join(" + ")), "3893"),
        (deep.into(), "980"),
        ("std.foldl(function(o, i) o { ['f' + i]: i }, std.range(1, 3), {})".into(), r#"{"f1":1,"f2":2,"f3":3}"#),
        ("local a = { b: [1], c+: { d: 1 } }; a { b+: [2], c+: { e: 2 }, f+: 3 }".into(), r#"{"b":[1,2],"c":{"d":1,"e":2},"f":3}"#),
        ("local n = 'b'; { b: 1 } + { local n = 'c', [n]+: 2, ['x' + n]+: 3, [null]+: 4 }".into(), r#"{"b":3,"xb":3}"#),
        ("{ a: 1, b: 2 } + { [k]+: 1 for k in ['a', 'c'] if k != 'z' }".into(), r#"{"a":2,"b":2,"c":1}"#),
        ("{ local y = 2, [$.kind]+: self.y + y, y:: 1 }".into(), r#"{"Pod":3}"#),
        ("local o = { a:: 1 } + { b: 2 }; [std.objectFieldsAll(o), std.length(o), std.objectValuesAll(o), o == { b: 2 }]".into(), r#"[["a","b"],1,[1,2],true]"#),
        ("local o = { a: self.b, b:: 1 } { b:: super.b + 1 }; [o.a, 'a' in o, std.objectHasAll(o, 'b'), std.mergePatch(o, { c: 1 })]".into(), r#"[2,true,true,{"a":2,"c":1}]"#),
        ("['%5.2f|%-3s|%%|%*d' % [1.5, 'a', 4, 7], '%(a)s' % { a: [1], b: error 'b' }, 7 % 4]".into(), r#"[" 1.50|a  |%|   7","[1]",3]"#),
        ("['a' + 1 + null + [1, 'b'], 1 + 2 + 'c', [1] + [] + [2], 'abc'[1:], [1, 2, 3][::2]]".into(), r#"["a1null[1, \"b\"]","3c",[1,2],"bc",[1,3]]"#),
        ("[std.join(',', ['a', null, 'b']), std.flatMap(function(x) [x, x], [1]), std.lines(['a']), std.native('x')]".into(), r#"["a,b",[1,1],"a\n",null]"#),
    ] {
        assert_eq!(rendered(&program(&spec), ""), format!("app/a.jsonnet Pod/x {expected}\n"));
    }
    let long = problem("error std.repeat('x', 1e6)");
    assert!(long.len() < 11_000 && long.contains("xxx …"), "{}", long.len());
    let told = rendered(&program("null + 1"), "");
    assert!(told.contains("null + a number has no meaning\n  at app/a.jsonnet:1:"), "{told}");
    let function = "=== app/a.jsonnet\nfunction(name) {}\n";
    assert!(rendered(function, "tla a-b=1").contains("the function has no parameter a-b"));
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
    assert!(problem(wide).contains("more than 4000000 steps"), "{}", problem(wide));
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
