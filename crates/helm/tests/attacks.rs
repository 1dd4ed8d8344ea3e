//! Charts that mean harm: each ends in a clear error, soon and without much memory.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::sync::Arc;

use lynceus_files::{FilePath, MemoryTree};
use lynceus_helm::{Capabilities, Chart, Options, Release, UserValues, ValueOptions, render};

mod flags;

const CHART: &str = "apiVersion: v2\nname: c\nversion: 1.0.0\n";

fn load(files: &[(&str, &str)]) -> Result<Chart, String> {
    let mut tree = MemoryTree::new();
    tree.insert(FilePath::new("Chart.yaml").unwrap(), CHART.as_bytes());
    for (name, content) in files {
        tree.insert(FilePath::new(name).unwrap(), content.as_bytes());
    }
    Chart::from_tree(&tree, &FilePath::root()).map_err(|error| error.to_string())
}

fn rendered(files: &[(&str, &str)]) -> Result<usize, String> {
    let chart = Arc::new(load(files)?);
    let release = Release::new("r", "default");
    let (capabilities, options) = (Capabilities::default(), Options::default());
    render(&chart, &UserValues::default(), &release, &capabilities, &options, &mut flags::Still(1))
        .map(|rendering| rendering.manifests.len())
        .map_err(|error| error.to_string())
}

fn fails(files: &[(&str, &str)], expected: &str) {
    let error = rendered(files).unwrap_err();
    assert!(error.contains(expected), "{}", error.chars().take(2_000).collect::<String>());
}

#[test]
fn endless_recursion_ends() {
    let template = |text: &'static str| [("templates/a.yaml", text)];
    fails(
        &template(r#"{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}"#),
        "rendering template has a nested reference name: x: unable to execute template",
    );
    fails(&template(r#"{{ define "x" }}{{ template "x" . }}{{ end }}{{ template "x" . }}"#), "");
    fails(
        &[("values.yaml", "t: '{{ tpl .Values.t . }}'"), ("templates/a.yaml", "{{ tpl .Values.t . }}")],
        "error calling tpl",
    );
}

#[test]
fn nothing_grows_without_end() {
    for text in [
        "{{ until 1000000000 }}",
        "{{ range until 1000000000 }}x{{ end }}",
        r#"{{ repeat 1000000000 "xxxxxxxxxx" }}"#,
        r#"{{ $d := dict }}{{ range until 100000 }}{{ $d = dict "a" $d }}{{ end }}{{ toYaml $d }}{{ fail "end" }}"#,
        r#"{{ $d := list }}{{ range until 60 }}{{ $d = concat $d $d (list 1) }}{{ end }}"#,
        r#"{{ indent 1000000000 "x" }}"#,
        r#"{{ printf "%1000000000d" 1 }}"#,
    ] {
        let error = rendered(&[("templates/a.yaml", text)]).unwrap_err();
        assert!(error.len() < 10_000, "{text}: {}", error.len());
    }
}

#[test]
fn a_value_that_holds_itself_is_not_followed_for_ever() {
    for use_of_it in [
        "{{ toYaml .Values }}",
        "{{ toJson .Values }}",
        "{{ toYamlPretty .Values }}",
        "{{ toToml .Values }}",
        "{{ .Values }}",
        "{{ deepCopy .Values }}",
        "{{ mergeOverwrite (dict) .Values }}",
        "{{ eq .Values .Values }}",
        "{{ deepEqual .Values (deepCopy .Values) }}",
    ] {
        let text = format!("{{{{ $_ := set .Values \"self\" .Values }}}}{use_of_it}");
        let _ = rendered(&[("templates/a.yaml", &text)]);
    }
}

#[test]
fn a_schema_talks_to_nobody() {
    for reference in ["https://example.com/schema.json", "file:///etc/passwd", "other.json"] {
        let schema = format!(r#"{{"$ref": "{reference}"}}"#);
        fails(&[("values.schema.json", &schema)], "references to other places are not followed");
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    fails(&[("values.schema.json", r##"{"$ref": "#"}"##)], "reference cycle");
    fails(
        &[(
            "values.schema.json",
            r##"{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}"##,
        )],
        "reference cycle",
    );
    // Referring to itself further in is fine.
    let schema = r##"{"additionalProperties": {"$ref": "#"}}"##;
    assert_eq!(rendered(&[("values.schema.json", schema), ("values.yaml", "a: {b: {c: {}}}")]), Ok(0));
}

#[test]
fn a_schema_that_is_too_much_work_is_refused() {
    let mut chain = String::from(r##"{"$ref": "#/$defs/a0", "$defs": {"##);
    for at in 0..20_000 {
        chain.push_str(&format!(r##""a{at}": {{"$ref": "#/$defs/a{}"}}, "##, at + 1));
    }
    chain.push_str(r#""a20000": true}}"#);
    fails(&[("values.schema.json", &chain)], "the schema leads through more than 100 others");
    let mut double = String::from(r##"{"$ref": "#/$defs/a0", "$defs": {"##);
    for at in 0..40 {
        let next = at + 1;
        double.push_str(&format!(
            r##""a{at}": {{"allOf": [{{"$ref": "#/$defs/a{next}"}}, {{"$ref": "#/$defs/a{next}"}}]}}, "##
        ));
    }
    double.push_str(r#""a40": true}}"#);
    fails(&[("values.schema.json", &double)], "the schema takes more than 100000 steps for a value");
}

#[test]
fn deep_values_are_refused() {
    let deep = format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000));
    fails(&[("values.yaml", &deep)], "cannot load values.yaml");
    let schema = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    fails(&[("values.schema.json", &schema)], "");
}

#[test]
fn anchors_do_not_explode() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let refs = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
    }
    fails(&[("values.yaml", &text)], "cannot load values.yaml");
}

#[test]
fn names_with_dots_are_refused() {
    for name in ["..", ".", "a/b", "../x", "a/../b"] {
        let mut tree = MemoryTree::new();
        let chart = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
        tree.insert(FilePath::new("Chart.yaml").unwrap(), chart.into_bytes());
        let error = Chart::from_tree(&tree, &FilePath::root()).unwrap_err().to_string();
        assert!(error.starts_with("validation: chart.metadata.name"), "{error}");
    }
}

#[test]
fn odd_charts_do_not_panic() {
    for chart in
        ["", "null", "[]", "a", "dependencies: [null]", "maintainers: [null]", "dependencies: {}", "\u{0}"]
    {
        let mut tree = MemoryTree::new();
        tree.insert(FilePath::new("Chart.yaml").unwrap(), chart.as_bytes());
        assert!(Chart::from_tree(&tree, &FilePath::root()).is_err(), "{chart:?}");
    }
    for lock in ["null", "dependencies: [null]", "x"] {
        let _ = load(&[("Chart.lock", lock)]);
    }
}

#[test]
fn links_do_not_leave_the_tree() {
    for target in ["/etc/passwd", "../../etc/passwd", "missing", "."] {
        let mut tree = MemoryTree::new();
        tree.insert(FilePath::new("Chart.yaml").unwrap(), CHART.as_bytes());
        tree.insert_link(FilePath::new("templates/x").unwrap(), target);
        assert!(Chart::from_tree(&tree, &FilePath::root()).is_err(), "{target}");
    }
}

#[test]
fn a_set_text_cannot_ask_for_much() {
    for text in [
        "a[99999999]=1".to_owned(),
        "a[9999999999999999999999]=1".to_owned(),
        format!("{}=1", vec!["a"; 5_000].join(".")),
        format!("a{}=1", "[0]".repeat(100_000)),
        format!("{}=1", vec!["a[0]"; 100_000].join(".")),
        format!("a{}=1", "[65536]".repeat(1_000)),
    ] {
        let options = ValueOptions { set: vec![text], ..ValueOptions::default() };
        assert!(options.merge(&mut |_| Err(String::new())).is_err());
    }
}

/// A member of an archive.
fn member(name: &str, kind: u8, body: &[u8]) -> Vec<u8> {
    let mut header = [0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[124..136].copy_from_slice(format!("{:011o}\0", body.len()).as_bytes());
    header[156] = kind;
    header[157..168].copy_from_slice(b"/etc/passwd");
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut out = header.to_vec();
    out.extend_from_slice(body);
    out.resize(out.len().div_ceil(512) * 512, 0);
    out
}

fn archive(members: &[(&str, u8, &[u8])]) -> Result<Chart, String> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for (name, kind, body) in members {
        packed.write_all(&member(name, *kind, body)).unwrap();
    }
    packed.write_all(&[0; 1024]).unwrap();
    Chart::from_archive(&packed.finish().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn archives_that_lead_elsewhere_are_refused() {
    let chart = ("c/Chart.yaml", b'0', CHART.as_bytes());
    assert!(archive(&[chart]).is_ok());
    for (name, kind, expected) in [
        ("c/../../etc/x", b'0', "chart illegally references parent directory"),
        ("c//etc/x", b'0', "chart illegally contains absolute paths"),
        ("c/templates/link", b'2', "chart illegally contains a link: \"c/templates/link\""),
        ("c/templates/hard", b'1', "chart illegally contains a link: \"c/templates/hard\""),
        ("x", b'0', "chart illegally contains content outside the base directory: \"x\""),
    ] {
        assert_eq!(archive(&[chart, (name, kind, b"x")]).unwrap_err(), expected);
    }
}

#[test]
fn archive_bombs_are_refused() {
    let zeros = vec![0u8; 6 * 1024 * 1024];
    let error = archive(&[("c/big", b'0', &zeros)]).unwrap_err();
    assert_eq!(error, "decompressed chart file \"c/big\" is larger than the maximum file size 5242880");
    let five = vec![0u8; 5 * 1024 * 1024];
    let names: Vec<String> = (0..25).map(|at| format!("c/{at}")).collect();
    let members: Vec<(&str, u8, &[u8])> =
        names.iter().map(|name| (name.as_str(), b'0', five.as_slice())).collect();
    let error = archive(&members).unwrap_err();
    assert_eq!(error, "decompressed chart is larger than the maximum size 104857600");
    assert!(Chart::from_archive(b"\x1f\x8b\x08 nonsense").is_err());
    assert!(archive(&[]).is_err());
}
