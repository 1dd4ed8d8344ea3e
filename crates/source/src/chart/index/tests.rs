use std::io::Cursor;

use lynceus_object::value;
use proptest::prelude::*;

use super::*;

const INDEX: &str = "\
apiVersion: v1
entries:
  nginx:
  - annotations:
      changes: |
        - fixed: *everything*
      category: Web
    appVersion: 1.25.0
    created: \"2024-01-02T03:04:05Z\"
    description: A long sentence that goes
      on in the next line
    digest: 0a23
    name: nginx
    urls:
    - nginx-15.0.0.tgz
    version: 15.0.0
  - name: nginx
    version: 14.2.0
    urls: [https://elsewhere/nginx-14.2.0.tgz]
  empty: []
  # a comment
  \"quoted\":
    - name: quoted
      version: 1.0.0
generated: \"2024-01-02T03:04:05Z\"
";

fn opened(text: &str) -> Result<Index, Uncut> {
    let charts = cut(Cursor::new(text.as_bytes()))?;
    let path = std::env::temp_dir().join(format!(
        "lynceus-index-{}-{}",
        std::process::id(),
        crate::digest::sha256(text.as_bytes()).split_off(7)
    ));
    std::fs::write(&path, text).unwrap();
    let file = File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    Ok(Index { text: Mutex::new(file), charts })
}

/// The charts and versions of an index, written down again first if that is needed.
fn check(text: &str) -> Vec<String> {
    let index = opened(text).unwrap_or_else(|_| {
        let mut rewritten = Vec::new();
        rewrite(text.as_bytes(), &mut rewritten).unwrap();
        opened(std::str::from_utf8(&rewritten).unwrap()).unwrap()
    });
    let charts = index.charts().into_iter().map(|chart| {
        let versions = index.versions(chart).unwrap().unwrap();
        let versions: Vec<String> = versions.into_iter().map(|version| version.version).collect();
        format!("{chart} {}", versions.join(" ")).trim_end().to_owned()
    });
    charts.collect()
}

fn is_foreign(text: &str) -> bool {
    matches!(opened(text), Err(Uncut::Foreign))
}

#[test]
fn only_the_entries_of_the_wanted_chart_are_read() {
    assert_eq!(check(INDEX), ["empty", "nginx 15.0.0 14.2.0", "quoted 1.0.0"]);
    let index = opened(INDEX).unwrap();
    let versions = index.versions("nginx").unwrap().unwrap();
    assert_eq!(
        versions[0],
        ChartVersion {
            name: "nginx".to_owned(),
            version: "15.0.0".to_owned(),
            app_version: "1.25.0".to_owned(),
            description: "A long sentence that goes on in the next line".to_owned(),
            created: "2024-01-02T03:04:05Z".to_owned(),
            deprecated: false,
            digest: Some("sha256:0a23".to_owned()),
            urls: vec!["nginx-15.0.0.tgz".to_owned()],
        }
    );
    assert_eq!(versions[1].urls, ["https://elsewhere/nginx-14.2.0.tgz"]);
    assert!(index.versions("apache").is_none());
}

#[test]
fn an_index_in_another_form_gives_the_same() {
    let value = yaml::parse(INDEX.as_bytes()).unwrap();
    let expected = check(INDEX);
    for text in [
        json::to_string(&value),
        json::to_string_pretty(&value, 2),
        yaml::to_string(&value),
        INDEX.replace('\n', "\r\n"),
        format!("---\n{INDEX}"),
        format!("{INDEX}---\nentries:\n  other:\n  - version: 1.0.0\n"),
    ] {
        assert_eq!(check(&text), expected, "{text}");
    }
    assert!(is_foreign(&json::to_string(&value)));
    assert!(!is_foreign(&yaml::to_string(&value)));
}

#[test]
fn what_only_a_parser_can_tell_is_left_to_one() {
    let anchors = "entries:\n  a:\n  - &x\n    name: a\n    version: 1.0.0\n  b:\n  - *x\n";
    assert!(is_foreign(anchors));
    assert_eq!(check(anchors), ["a 1.0.0", "b 1.0.0"]);
    for text in [
        "entries:\n  a: {}\n",
        "entries:\n  a:\n  - version: 1.0.0\n  a:\n  - version: 2.0.0\n",
        "entries:\n    a:\n    - x\n  b:\n",
        "entries:\n- a\n",
        "entries:\n\ta:\n",
        "note: \"a\nentries:\n  b:\n\"\nentries:\n",
        "<html></html>",
        &format!("entries:\n  a:\n  - {}\n", "x".repeat(1 << 20)),
        "",
        "apiVersion: v1\n",
    ] {
        assert!(is_foreign(text), "{text:?}");
    }
}

#[test]
fn a_broken_entry_costs_itself_only() {
    let text = "\
entries:
  a:
  - name: a
    version: 1.0.0
  - name: a
    version: 2.0
  - name: [a
    version: 3.0.0
  - null
  - name: ../a
    version: 4.0.0
  - version: 5.0.0
  - name: a
    version: \"not one\"
  - name: a
    version: 5.1.0
    digest: 5
  - name: a
    version: 6.0.0
    urls: nowhere
  b:
";
    assert_eq!(check(text), ["a 1.0.0 6.0.0", "b"]);
}

#[test]
fn what_is_no_index_is_told() {
    let error = |text: &str| rewrite(text.as_bytes(), &mut Vec::new()).unwrap_err();
    assert_eq!(error("<html><body>hello</body></html>"), "its index has no entries");
    assert_eq!(error(""), "its index has no entries");
    assert_eq!(error("entries: [1]"), "its index has entries that are not a map");
    assert!(error("entries: {a").starts_with("its index cannot be read: "));
    assert_eq!(check("apiVersion: v1\n"), Vec::<String>::new());
    assert_eq!(check("apiVersion: v1\nentries: {}\n"), Vec::<String>::new());
    assert_eq!(check("apiVersion: v1\nentries: null\n"), Vec::<String>::new());
}

/// Text as people write it into descriptions and annotations.
fn prose() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "- b",
        "c: d",
        "# e",
        "\n",
        "\n\n",
        " ",
        "  ",
        "\"",
        "'",
        "*x*",
        "&y",
        "|",
        ">",
        "{",
        "[",
        "entries:",
        "\t",
        "---",
        "ü",
        "a long run of words that goes on and on until the line has to be folded by whoever writes it down",
    ]);
    prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
}

fn entry() -> impl Strategy<Value = Value> {
    (0..30u32, prose(), prose(), prose()).prop_map(|(version, description, key, note)| {
        let mut annotations = lynceus_object::Map::default();
        annotations.insert(key.as_str(), note.as_str());
        let version = format!("{version}.0.0");
        value!({"annotations": annotations, "name": "x", "version": version, "description": description})
    })
}

proptest! {
    #[test]
    fn nothing_that_a_server_sends_is_too_much(text in "(entries:\n)?([ \t]{0,3}[-a\"'{\\[:&*#|\n]{0,3}(: |\n)?){0,20}", bytes: Vec<u8>) {
        for text in [text.as_bytes(), &bytes] {
            let _ = cut(Cursor::new(text));
            let _ = entry::versions("a", text);
            let _ = rewrite(text, &mut Vec::new());
        }
    }

    #[test]
    fn what_is_cut_out_is_what_a_parser_finds(
        charts in prop::collection::btree_map("[a-z0-9][a-z0-9.-]{0,8}", prop::collection::vec(entry(), 0..4), 0..5),
        note in prose(),
    ) {
        let mut entries = lynceus_object::Map::default();
        for (name, versions) in &charts {
            entries.insert(name.as_str(), Value::from(versions.clone()));
        }
        let index = value!({"apiVersion": "v1", "entries": entries, "generated": note});
        let text = yaml::to_string(&index);
        let opened = match opened(&text) {
            Ok(opened) => opened,
            Err(_) => {
                let mut rewritten = Vec::new();
                rewrite(text.as_bytes(), &mut rewritten).unwrap();
                opened(std::str::from_utf8(&rewritten).unwrap()).unwrap()
            }
        };
        prop_assert_eq!(opened.charts(), charts.keys().map(String::as_str).collect::<Vec<_>>());
        for (name, versions) in &charts {
            let found = opened.versions(name).unwrap().unwrap();
            let found: Vec<(&str, &str)> = found.iter().map(|found| (found.version.as_str(), found.description.as_str())).collect();
            let expected: Vec<(&str, &str)> = versions
                .iter()
                .map(|version| (version.str_at(&["version"]).unwrap(), version.str_at(&["description"]).unwrap()))
                .collect();
            prop_assert_eq!(found, expected, "{}", text);
        }
    }
}

#[test]
fn too_many_charts_or_versions_are_told_soon() {
    let mut text = "entries:\n".to_owned();
    for number in 0..=MAX_CHARTS {
        text.push_str(&format!("  c{number}:\n  - version: 1.0.0\n"));
    }
    assert!(
        matches!(opened(&text), Err(Uncut::Excess(reason)) if reason.contains("more than 200000 charts"))
    );
    let many = "  - version: 1.0.0\n    name: a\n".repeat(crate::limits::MAX_CHART_VERSIONS + 1);
    let index = opened(&format!("entries:\n  a:\n{many}  b:\n  - name: b\n    version: 1.0.0\n")).unwrap();
    assert_eq!(index.versions("a").unwrap().unwrap_err(), "it has more than 100000 versions");
    assert_eq!(index.versions("b").unwrap().unwrap().len(), 1);
}
