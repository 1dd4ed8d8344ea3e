//! What holds for every text and every value.

use lynceus_object::{FieldPath, Value, json, yaml};
use proptest::prelude::*;

/// Strings made of what matters to YAML.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 ]{0,12}",
        "[-+.0-9eExob_:]{1,8}",
        Just("\n".to_owned()),
        Just("  ".to_owned()),
        "[:#'\"\\\\{}\\[\\],&*!|>%@`?~=-]{1,3}",
        "(true|yes|no|null|~|=|---|\\.\\.\\.)",
        "[\\u{80}-\\u{2fff}\\u{1f600}]{1,3}",
        "[\\u{0}-\\u{1f}]",
        Just("word ".repeat(30)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinity", |float| float.is_finite()).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..5)
                .prop_map(|fields| Value::Map(fields.into_iter().collect())),
        ]
    })
}

/// Text that looks like YAML, with mistakes in it.
fn yaml_soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ ]{0,4}[a-z]{1,5}: ?",
        "[ ]{0,4}- ",
        Just("\n".to_owned()),
        Just("\t".to_owned()),
        "[&*][ab] ?",
        "(\\||>)[-+0-9]{0,2}\n",
        text(),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// But for a key `<<`, which Go prints without quotes and then takes for a merge.
    #[test]
    fn what_is_printed_is_read_back(value in value()) {
        let printed = yaml::to_string(&value);
        prop_assert_eq!(yaml::parse_str(&printed).map_err(|error| error.to_string()), Ok(value), "{}", printed);
    }

    #[test]
    fn json_comes_back(value in value()) {
        for printed in [json::to_string(&value), json::go_string(&value), json::to_string_pretty(&value, 2)] {
            prop_assert_eq!(json::parse(printed.as_bytes()).map_err(|error| error.to_string()), Ok(value.clone()));
        }
    }

    #[test]
    fn reading_never_panics(text in yaml_soup(), document in 0usize..3) {
        let v3 = yaml::Options::default().strict().version(yaml::Version::V3);
        for options in [yaml::Options::default(), v3] {
            let documents = yaml::documents(text.as_bytes(), &options);
            for (at, found) in documents.iter().enumerate() {
                prop_assert_eq!(found.index, at);
                prop_assert!(found.line as usize <= text.lines().count() + 1);
            }
        }
        let _ = yaml::locate(text.as_bytes(), document, &FieldPath::fields(["a", "b"]));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = yaml::documents(&bytes, &yaml::Options::default());
        let _ = json::read_stream(&bytes);
    }
}
