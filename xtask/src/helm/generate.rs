//! Makes random templates and values. The same seed makes the same.

use serde_json::{Value, json};

/// A source of templates.
pub(super) struct Generator(u64);

/// Functions that give the same each time, with how many arguments they like. They get others too.
const FUNCTIONS: [(&str, usize); 132] = [
    ("abbrev", 2),
    ("add", 2),
    ("add1", 1),
    ("addf", 2),
    ("adler32sum", 1),
    ("all", 2),
    ("and", 2),
    ("any", 2),
    ("append", 2),
    ("atoi", 1),
    ("b32dec", 1),
    ("b32enc", 1),
    ("b64dec", 1),
    ("b64enc", 1),
    ("base", 1),
    ("biggest", 2),
    ("camelcase", 1),
    ("cat", 2),
    ("ceil", 1),
    ("chunk", 2),
    ("clean", 1),
    ("coalesce", 2),
    ("compact", 1),
    ("concat", 2),
    ("contains", 2),
    ("deepCopy", 1),
    ("deepEqual", 2),
    ("default", 2),
    ("dict", 2),
    ("dig", 3),
    ("dir", 1),
    ("div", 2),
    ("divf", 2),
    ("duration", 1),
    ("durationRound", 1),
    ("empty", 1),
    ("eq", 2),
    ("ext", 1),
    ("fail", 1),
    ("first", 1),
    ("float64", 1),
    ("floor", 1),
    ("fromJson", 1),
    ("ge", 2),
    ("get", 2),
    ("gt", 2),
    ("has", 2),
    ("hasKey", 2),
    ("hasPrefix", 2),
    ("hasSuffix", 2),
    ("html", 1),
    ("htmlDate", 1),
    ("indent", 2),
    ("index", 2),
    ("initial", 1),
    ("initials", 1),
    ("int", 1),
    ("int64", 1),
    ("isAbs", 1),
    ("join", 2),
    ("js", 1),
    ("kebabcase", 1),
    ("kindIs", 2),
    ("kindOf", 1),
    ("last", 1),
    ("le", 2),
    ("len", 1),
    ("list", 2),
    ("lower", 1),
    ("lt", 2),
    ("max", 2),
    ("maxf", 2),
    ("merge", 2),
    ("mergeOverwrite", 2),
    ("min", 2),
    ("minf", 2),
    ("mod", 2),
    ("mul", 2),
    ("mulf", 2),
    ("mustAppend", 2),
    ("mustFirst", 1),
    ("mustRegexMatch", 2),
    ("ne", 2),
    ("nindent", 2),
    ("nospace", 1),
    ("not", 1),
    ("omit", 2),
    ("or", 2),
    ("pick", 2),
    ("pluck", 2),
    ("plural", 3),
    ("prepend", 2),
    ("print", 2),
    ("printf", 2),
    ("println", 1),
    ("quote", 1),
    ("regexFind", 2),
    ("regexReplaceAll", 3),
    ("regexSplit", 3),
    ("repeat", 2),
    ("replace", 3),
    ("rest", 1),
    ("reverse", 1),
    ("round", 2),
    ("semver", 1),
    ("semverCompare", 2),
    ("seq", 2),
    ("set", 3),
    ("sha1sum", 1),
    ("sha256sum", 1),
    ("slice", 2),
    ("snakecase", 1),
    ("sortAlpha", 1),
    ("split", 2),
    ("splitList", 2),
    ("squote", 1),
    ("sub", 2),
    ("substr", 3),
    ("swapcase", 1),
    ("ternary", 3),
    ("title", 1),
    ("toDecimal", 1),
    ("toJson", 1),
    ("toString", 1),
    ("toStrings", 1),
    ("trim", 1),
    ("trimAll", 2),
    ("trimSuffix", 2),
    ("trunc", 2),
    ("typeOf", 1),
    ("uniq", 1),
    ("without", 2),
];

const TEXTS: [&str; 16] = [
    "",
    "a",
    "abc",
    "Hello World",
    "1",
    "-7",
    "3.14",
    "true",
    "foo-bar_baz",
    "ünïcode",
    "a,b,c",
    "1.2.3",
    ">=1.0 <2",
    "%d %s",
    "[a-z]+",
    "line\nbreak",
];

/// None is so large that Go would run out of memory when it repeats a repetition so often.
const NUMBERS: [&str; 11] = ["0", "1", "2", "-1", "10", "3.0", "2.5", "1e1", "0x1F", "007", "64"];

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Generator(seed)
    }

    /// One question for both programs.
    pub(super) fn question(&mut self) -> Value {
        let values = json!({
            "a": self.value(0), "b": self.value(0), "m": {"x": self.value(1), "y": self.value(1)},
            "l": [self.value(1), self.value(1), self.value(1)],
        });
        json!({"template": self.template(), "values": values, "functions": "sprig"})
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % bound.max(1)
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth < 2 { 9 } else { 7 }) {
            0 => Value::Null,
            1 => Value::Bool(self.below(2) == 0),
            2 => json!({"$int": self.below(20)}),
            3 => json!(self.below(64)),
            4 => json!(0.5 + self.below(9) as f64),
            5 | 6 => json!(self.pick(&TEXTS)),
            7 => json!([self.value(depth + 1), self.value(depth + 1)]),
            _ => json!({"k": self.value(depth + 1), "z": self.value(depth + 1)}),
        }
    }

    fn template(&mut self) -> String {
        match self.below(8) {
            0 => format!("{{{{ if {} }}}}yes{{{{ else }}}}no{{{{ end }}}}", self.pipeline(0)),
            1 => format!(
                "{{{{ range $i, $e := {} }}}}[{{{{ $i }}}}={{{{ $e }}}}]{{{{ else }}}}none{{{{ end }}}}",
                self.pipeline(0)
            ),
            2 => format!("{{{{ with {} }}}}<{{{{ . }}}}>{{{{ end }}}}", self.pipeline(0)),
            3 => {
                format!("{{{{ $x := {} }}}}{{{{ $x }}}} {{{{- $x | printf \" %v %T\" }}}}", self.pipeline(0))
            }
            _ => format!("{{{{ {} }}}}", self.pipeline(0)),
        }
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = self.call(depth);
        for _ in 0..self.below(3) {
            let (name, arity) = FUNCTIONS[self.below(FUNCTIONS.len())];
            text.push_str(&format!(" | {name}"));
            for _ in 1..arity {
                text.push_str(&format!(" {}", self.operand(depth + 1)));
            }
        }
        text
    }

    fn call(&mut self, depth: usize) -> String {
        let (name, arity) = FUNCTIONS[self.below(FUNCTIONS.len())];
        // Now and then one too many or too few.
        let count = match self.below(12) {
            0 => arity + 1,
            1 => arity.saturating_sub(1),
            _ => arity,
        };
        let operands: Vec<String> = (0..count).map(|_| self.operand(depth + 1)).collect();
        format!("{name} {}", operands.join(" ")).trim_end().to_owned()
    }

    fn operand(&mut self, depth: usize) -> String {
        match self.below(if depth < 3 { 10 } else { 8 }) {
            0 | 1 => format!("{:?}", self.pick(&TEXTS)).replace("\\u{", "\\u00").replace('}', ""),
            2 | 3 => self.pick(&NUMBERS).to_owned(),
            4 => self.pick(&[".a", ".b", ".m", ".l", ".m.x", ".m.y", ".nope", "."]).to_owned(),
            5 => self.pick(&["true", "false"]).to_owned(),
            6 => "(list 1 \"b\" .a)".to_owned(),
            7 => "(dict \"k\" .b \"n\" 1)".to_owned(),
            _ => format!("({})", self.pipeline(depth)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_templates() {
        let mut generators = [Generator::new(7), Generator::new(7)];
        let [first, second] =
            generators.each_mut().map(|one| (0..50).map(|_| one.question()).collect::<Vec<_>>());
        assert_eq!(first, second);
        assert_ne!(first[0], first[1]);
    }
}
