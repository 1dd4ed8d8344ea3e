//! Texts put together by chance: whatever they are, the result is a text or an error.

use proptest::prelude::*;

use crate::{Limits, Options, run_within, zero};

/// What templates are made of, whole and broken.
const PIECES: [&str; 64] = [
    "{{",
    "}}",
    "{{- ",
    " -}}",
    "{{if ",
    "{{else}}",
    "{{else if ",
    "{{end}}",
    "{{range ",
    "{{with ",
    "{{break}}",
    "{{continue}}",
    "{{define \"x\"}}",
    "{{template \"x\" .}}",
    "{{block \"b\" .}}",
    "{{include \"x\" .}}",
    "{{tpl .Values.template .}}",
    "$",
    "$x",
    "$x := ",
    "$x = ",
    "$i, $x := ",
    ".",
    ".Values",
    ".Values.name",
    ".Values.ports",
    ".Values.labels",
    ".Values.nope",
    ".Release.Name",
    "(",
    ")",
    " | ",
    " ",
    "\n",
    "nil",
    "true",
    "1",
    "-2.5",
    "0x1F",
    "1i",
    "'a'",
    "\"text\"",
    "\"é\\xff\"",
    "`raw`",
    "/* c */",
    "eq ",
    "index ",
    "slice ",
    "len ",
    "printf \"%5.2v|%q|%x|%[2]*d\" ",
    "print ",
    "and ",
    "or ",
    "not ",
    "html ",
    "upper ",
    "list ",
    "dict ",
    "set ",
    "default ",
    "nindent 2 ",
    "toYaml ",
    "text",
    "é😀",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(pieces in proptest::collection::vec(0..PIECES.len(), 1..24), trace: bool) {
        let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        let limits = Limits { steps: 10_000, bytes: 1 << 20, depth: 50 };
        let _ = run_within(&text, Options { limits, trace, ..zero() });
    }

    #[test]
    fn pipelines_end(pieces in proptest::collection::vec(16..PIECES.len(), 1..8), trace: bool) {
        let pipeline: String = pieces.into_iter().flat_map(|at| [PIECES[at], " "]).collect();
        let text = format!("{{{{define \"x\"}}}}{{{{.}}}}{{{{end}}}}{{{{range $i, $x := .Values.ports}}}}{{{{ {pipeline} }}}}{{{{end}}}}");
        let limits = Limits { steps: 10_000, bytes: 1 << 20, depth: 50 };
        let _ = run_within(&text, Options { limits, trace, ..zero() });
    }
}
