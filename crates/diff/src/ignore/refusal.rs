//! What has no place in a path.
//!
//! A path says where something is. Whatever loops without end, looks at the world outside the object, changes it, or
//! makes values that grow with each step is no part of that, and is refused before it is ever run: the steps of an
//! expression are counted, but what one step allocates is not.

use jaq_core::load::lex::{StrPart, Tok, Token};

use crate::limits;

/// Words that loop without end, look outside, or make texts and lists longer than what they are made of.
const REFUSED: [&str; 25] = [
    "combinations",
    "debug",
    "def",
    "env",
    "foreach",
    "gsub",
    "halt",
    "halt_error",
    "import",
    "include",
    "input",
    "inputs",
    "join",
    "now",
    "range",
    "reduce",
    "repeat",
    "setpath",
    "stderr",
    "sub",
    "tojson",
    "transpose",
    "until",
    "walk",
    "while",
];

/// Looks for what a path has no need of.
pub(super) fn refuse(tokens: &[Token<&str>]) -> Result<(), String> {
    let mut growth: u64 = 1;
    visit(tokens, &mut growth)?;
    if growth > limits::JQ_GROWTH {
        return Err("it makes values that are far larger than the object".to_owned());
    }
    Ok(())
}

/// `growth` is by how much the expression can make a value larger: each sum, each text put together and each list can
/// hold what it is made from once more.
fn visit(tokens: &[Token<&str>], growth: &mut u64) -> Result<(), String> {
    for (at, Token(text, token)) in tokens.iter().enumerate() {
        let called = || matches!(tokens.get(at + 1), Some(Token(_, Tok::Block(_))));
        let mut grows = |times: usize| {
            *growth = growth.saturating_mul(u64::try_from(times).unwrap_or(u64::MAX).max(1));
        };
        match token {
            Tok::Word if REFUSED.contains(text) => return Err(format!("`{text}` has no place in a path")),
            Tok::Word if *text == "recurse" && called() => {
                return Err("`recurse` with a filter may never end".to_owned());
            }
            Tok::Word if *text == "tostring" => grows(2),
            Tok::Var if *text == "$ENV" => return Err("`$ENV` has no place in a path".to_owned()),
            Tok::Fmt => return Err(format!("`{text}` has no place in a path")),
            Tok::Sym
                if *text == "*" || text.ends_with('=') && !matches!(*text, "==" | "!=" | "<=" | ">=") =>
            {
                return Err(format!("`{text}` has no place in a path"));
            }
            Tok::Sym if *text == "+" => grows(2),
            Tok::Block(inner) => {
                if text.starts_with(['[', '{']) {
                    let parts = inner.split(|Token(text, _)| *text == ",");
                    grows(parts.filter(|part| part.iter().any(is_copy)).count());
                }
                visit(inner, growth)?;
            }
            Tok::Str(parts) => {
                let terms = parts.iter().filter_map(|part| match part {
                    StrPart::Term(token) => Some(token),
                    _ => None,
                });
                // What is put into a text is printed, and may become longer by that.
                grows(2 * terms.clone().count());
                for token in terms {
                    visit(std::slice::from_ref(token), growth)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a part of a list can hold what the list is made from; a text or a number cannot.
fn is_copy(Token(text, token): &Token<&str>) -> bool {
    match token {
        Tok::Sym => text.starts_with('.'),
        Tok::Var | Tok::Block(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::jq::JqPath;

    #[test]
    fn what_never_ends_looks_outside_or_grows_is_refused() {
        for expression in [
            "repeat(.)",
            "def f: f; f",
            "recurse(.)",
            "env",
            "$ENV",
            "input",
            ".a |= 1",
            "select(\"x\" * 1000000)",
            ".a[",
            "nosuch",
            "\"\\(env)\"",
            "select(reduce .. as $x (\"\"; . + .) == \"\")",
            "select([., .] | [., .] | [., .] | [., .] | [., .] | [., .] | [., .] == 1)",
            "select(\"\\(.)\\(.)\" | \"\\(.)\\(.)\" | \"\\(.)\\(.)\" | \"\\(.)\\(.)\" == \"\")",
            "select(tojson | tojson)",
            "select(@json == \"\")",
            "select(setpath([999999999]; 1))",
        ] {
            assert!(JqPath::compile(expression).is_err(), "{expression}");
        }
    }

    #[test]
    fn what_people_write_is_not() {
        for expression in [
            "..",
            ".spec.template.spec.containers[] | select(.name == \"web\") | .env[] | select(.name == \"A\" or .name == \"B\")",
            ".metadata.annotations | to_entries[] | select(.key | startswith(\"a.io/\"))",
            ".spec.rules[]?.http.paths[]?.backend",
            ".data | keys[] as $k | .[$k]",
            ".webhooks[]?.clientConfig.caBundle",
            ".spec.x[] | select([.name] | inside([\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\"]))",
            ".metadata.labels.\"a.io/b\"",
            ".spec.versions[].schema.openAPIV3Schema.properties.status",
            "select(.kind == \"A\").spec, .spec.y",
        ] {
            assert!(JqPath::compile(expression).is_ok(), "{expression}: {:?}", JqPath::compile(expression));
        }
    }
}
