//! The name of a release, made by a template.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use lynceus_gotmpl::{
    Context, Environment, Error, Functions, Limits, MissingKey, Options, Str, Templates, Value, signature,
    sprig,
};

use crate::engine::World;
use crate::limits;

/// What Helm calls the template.
const NAME: &str = "name-template";

/// What a variable of the environment is; nothing if it is not set.
pub type Variable = fn(&str) -> String;

/// What `--name-template` makes of a template: nothing is handed to it but sprig's functions, the two that read the
/// environment included.
pub fn release_name(template: &str, variable: Variable, world: &mut dyn World) -> Result<String, Box<Error>> {
    let mut set = Templates::new(NAME, Arc::new(functions(variable)));
    set.parse(&Str::from(NAME), &Str::from(template))?;
    let limits = Limits { steps: limits::MAX_STEPS, bytes: limits::MAX_BYTES, ..Limits::default() };
    let options = Options { missing_key: MissingKey::default(), limits, trace: false };
    let mut alone = Alone { world, nobody: () };
    let name = Context::new(Arc::new(set), &mut alone, options).execute(NAME, Value::Nil)?;
    Ok(String::from(name))
}

fn functions(variable: Variable) -> Functions {
    let mut all = sprig::functions();
    let text = |args: &[Value]| {
        args.first().and_then(Value::as_str).map(|text| text.to_string()).unwrap_or_default()
    };
    all.add("env", signature!((STRING) -> STRING), move |_, args| Ok(Value::from(variable(&text(args)))));
    all.add("expandenv", signature!((STRING) -> STRING), move |_, args| {
        Ok(Value::from(expanded(&text(args), variable)))
    });
    all
}

/// A text with `$name` and `${name}` replaced, as Go's `os.Expand` does it.
fn expanded(text: &str, variable: Variable) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, len) = variable_name(after);
        match name {
            Some(name) => out.push_str(&variable(name)),
            // A dollar that begins nothing stays; one that begins nonsense is eaten with it.
            None if len == 0 => out.push('$'),
            None => {}
        }
        rest = after.get(len..).unwrap_or_default();
    }
    out + rest
}

/// The name of a variable behind a dollar, and how much of the text it takes.
fn variable_name(text: &str) -> (Option<&str>, usize) {
    let is_special = |char: char| "*#$@!?-0123456789".contains(char);
    let is_letter = |char: char| char.is_ascii_alphanumeric() || char == '_';
    if let Some(inside) = text.strip_prefix('{') {
        return match inside.split_once('}') {
            Some(("", _)) => (None, 2),
            Some((name, _))
                if name.chars().all(is_letter) || name.len() == 1 && name.starts_with(is_special) =>
            {
                (Some(name), name.len() + 2)
            }
            _ => (None, 1),
        };
    }
    if text.starts_with(is_special) {
        return (text.get(..1), 1);
    }
    let len = text.chars().take_while(|char| is_letter(*char)).count();
    (text.get(..len).filter(|name| !name.is_empty()), len)
}

/// Time and chance, and no chart.
struct Alone<'a> {
    world: &'a mut dyn World,
    nobody: (),
}

impl Environment for Alone<'_> {
    fn now(&self) -> Duration {
        self.world.now()
    }

    fn random(&mut self, bytes: &mut [u8]) {
        self.world.random(bytes);
    }

    fn host(&mut self) -> &mut dyn Any {
        &mut self.nobody
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Still;

    impl World for Still {
        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn random(&mut self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    fn check(template: &str, expected: &str) {
        let variable: Variable = |name| if name == "USER" { "me".to_owned() } else { String::new() };
        let made = release_name(template, variable, &mut Still);
        assert_eq!(made.unwrap_or_else(|error| format!("error: {error}")), expected, "{template}");
    }

    #[test]
    fn a_name_is_made_as_helm_makes_it() {
        check("web-{{ \"B\" | lower }}", "web-b");
        check("web-{{ .X }}", "web-<no value>");
        check("{{ env \"USER\" }}-x", "me-x");
        check("{{ expandenv \"$USER-${USER}-$NONE.$\" }}", "me-me-.$");
        check("{{", "error: template: name-template:1: unclosed action");
        check(
            "{{ fail \"oh\" }}",
            "error: template: name-template:1:3: executing \"name-template\" at <fail \"oh\">: error calling fail: oh",
        );
        check("{{ include \"x\" . }}", "error: template: name-template:1: function \"include\" not defined");
    }
}
