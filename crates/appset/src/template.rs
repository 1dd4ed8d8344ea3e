//! Texts with placeholders, filled with parameters: the two languages that ApplicationSets have.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use lynceus_gotmpl as gotmpl;
use lynceus_gotmpl::format::quote;
use lynceus_gotmpl::{Environment, MissingKey, Templates};
use lynceus_object::Str;

use crate::functions::FUNCTIONS;
use crate::limits;
use crate::param::{Params, to_template};

/// The name under which Argo CD parses every text, as errors show it.
const NAME: &str = "base";

/// What fills the texts of one ApplicationSet.
pub(crate) struct Engine<'e> {
    /// Whether texts are Go templates; otherwise names between braces are replaced.
    pub(crate) go: bool,
    missing_key: MissingKey,
    environment: RefCell<&'e mut dyn Environment>,
    /// The same few texts are filled for every element.
    parsed: RefCell<HashMap<Str, Arc<Templates>>>,
}

/// Parameters ready to fill texts with.
pub(crate) struct Filling<'p> {
    params: &'p Params,
    dot: gotmpl::Value,
}

/// A text that cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct TemplateError {
    /// What is wrong.
    pub(crate) message: String,
    /// The line of the text, counted from 1.
    pub(crate) line: Option<usize>,
    /// Whether a parameter is asked for that is not there.
    pub(crate) is_missing_key: bool,
}

impl<'e> Engine<'e> {
    /// Reads the options of Go templates.
    pub(crate) fn new(
        go: bool,
        options: &[Str],
        environment: &'e mut dyn Environment,
    ) -> Result<Self, String> {
        let mut missing_key = MissingKey::default();
        for option in options.iter().filter(|_| go) {
            missing_key = read_option(option)?;
        }
        Ok(Engine { go, missing_key, environment: RefCell::new(environment), parsed: RefCell::default() })
    }

    /// Makes parameters ready.
    pub(crate) fn fill_with<'p>(&self, params: &'p Params) -> Filling<'p> {
        let dot = if self.go { to_template(params) } else { gotmpl::Value::Nil };
        Filling { params, dot }
    }

    /// The text with its placeholders filled.
    pub(crate) fn replace(&self, text: &Str, with: &Filling<'_>) -> Result<Str, TemplateError> {
        self.replace_with(text, with, self.missing_key)
    }

    /// The same, but a parameter that is missing is an error whatever the options say.
    pub(crate) fn replace_strictly(&self, text: &Str, with: &Filling<'_>) -> Result<Str, TemplateError> {
        self.replace_with(text, with, MissingKey::Error)
    }

    fn replace_with(
        &self,
        text: &Str,
        with: &Filling<'_>,
        missing: MissingKey,
    ) -> Result<Str, TemplateError> {
        // Without braces there is nothing to fill in either language.
        let filled = match (text.contains("{{"), self.go) {
            (false, _) => return Ok(text.clone()),
            (true, true) => self.execute(text, with, missing)?,
            (true, false) => fast(text, with.params)?,
        };
        if filled.len() > limits::TEXT_BYTES {
            return Err(TemplateError::new(format!("it gives more than {} bytes", limits::TEXT_BYTES)));
        }
        Ok(filled)
    }

    fn execute(&self, text: &Str, with: &Filling<'_>, missing_key: MissingKey) -> Result<Str, TemplateError> {
        let templates = self.parse(text)?;
        let mut environment = self.environment.borrow_mut();
        let options = gotmpl::Options { missing_key, ..gotmpl::Options::default() };
        let mut context = gotmpl::Context::new(templates, &mut **environment, options);
        let filled = context.execute(NAME, with.dot.clone()).map_err(|error| TemplateError::of(&error))?;
        Ok(String::from_utf8_lossy(&filled.bytes()).as_ref().into())
    }

    fn parse(&self, text: &Str) -> Result<Arc<Templates>, TemplateError> {
        if let Some(known) = self.parsed.borrow().get(text) {
            return Ok(Arc::clone(known));
        }
        let mut templates = Templates::new(NAME, Arc::clone(&FUNCTIONS));
        let name = gotmpl::Str::from(NAME);
        templates.parse(&name, &text.clone().into()).map_err(|error| TemplateError::of(&error))?;
        let templates = Arc::new(templates);
        self.parsed.borrow_mut().insert(text.clone(), Arc::clone(&templates));
        Ok(templates)
    }
}

fn read_option(option: &str) -> Result<MissingKey, String> {
    match option {
        "missingkey=default" | "missingkey=invalid" => Ok(MissingKey::Invalid),
        "missingkey=zero" => Ok(MissingKey::Zero),
        "missingkey=error" => Ok(MissingKey::Error),
        other => Err(format!(
            "spec.goTemplateOptions has {}, which is no option of Go templates; use missingkey=error, \
             missingkey=zero or missingkey=default",
            quote::double(other)
        )),
    }
}

/// Replaces names between double braces. A name that is no text among the parameters is left as it is, braces and all.
fn fast(text: &Str, params: &Params) -> Result<Str, TemplateError> {
    if !text.lines().any(has_placeholder) {
        return Ok(text.clone());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, behind)) = rest.split_once("{{") {
        let Some((tag, after)) = behind.split_once("}}") else {
            let line = text.len() - behind.len();
            let line = text[..line].matches('\n').count() + 1;
            let message = format!("'{{{{' in {} has no '}}}}' behind it", quote::double(text));
            return Err(TemplateError { line: Some(line), ..TemplateError::new(message) });
        };
        out.push_str(before);
        match params.get(tag.trim()).and_then(|param| param.as_text()) {
            Some(value) if !tag.trim().is_empty() => out.push_str(value),
            _ => out.extend(["{{", tag, "}}"]),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out.into())
}

/// Whether a line has opening and closing braces, in this order.
fn has_placeholder(line: &str) -> bool {
    line.split_once("{{").is_some_and(|(_, behind)| behind.contains("}}"))
}

impl TemplateError {
    fn new(message: String) -> Self {
        TemplateError { message, line: None, is_missing_key: false }
    }

    fn of(error: &gotmpl::Error) -> Self {
        let message = error.to_string();
        let is_missing_key =
            message.contains("map has no entry for key") || message.contains("can't evaluate field");
        TemplateError { line: error.location.as_ref().map(|place| place.line), message, is_missing_key }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::param::params_of;
    use lynceus_object::{Value, value};

    /// A world without time or chance.
    pub(crate) struct Still;

    impl Environment for Still {
        fn now(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }

        fn random(&mut self, bytes: &mut [u8]) {
            bytes.fill(0);
        }

        fn host(&mut self) -> &mut dyn std::any::Any {
            self
        }
    }

    fn fill(go: bool, options: &[Str], text: &str, params: Value) -> String {
        let params = params_of(&params).expect("a map");
        let mut still = Still;
        let engine = Engine::new(go, options, &mut still).expect("options");
        match engine.replace(&text.into(), &engine.fill_with(&params)) {
            Ok(text) => text.to_string(),
            Err(error) => format!("error in line {:?}: {error}", error.line),
        }
    }

    #[test]
    fn names_between_braces_are_replaced_and_unknown_ones_left() {
        let params = value!({"name": "web", "path.basename": "a", "n": 3});
        for (text, filled) in [
            ("{{name}}-{{ path.basename }}", "web-a"),
            ("{{ unknown }}{{}}{{n}}", "{{ unknown }}{{}}{{n}}"),
            ("{{name", "{{name"),
            ("{{name}} {{", "error in line Some(1): '{{' in \"{{name}} {{\" has no '}}' behind it"),
            ("a\n}}{{\nname}}", "a\n}}{{\nname}}"),
        ] {
            assert_eq!(fill(false, &[], text, params.clone()), filled);
        }
    }

    #[test]
    fn go_templates_have_sprig_and_argos_own_functions() {
        let params = value!({"name": "Web_App", "list": ["a", "b"], "yaml": "a: 1"});
        for (text, filled) in [
            ("{{ .name | normalize }}", "web-app"),
            ("{{ .name | slugify 3 false }}", "web"),
            ("{{ toYaml .list }}", "- a\n- b"),
            ("{{ (fromYaml .yaml).a }}", "1"),
            ("{{ join \"-\" .list | upper }}", "A-B"),
            ("{{ .missing }}", "<no value>"),
        ] {
            assert_eq!(fill(true, &[], text, params.clone()), filled);
        }
        assert!(
            fill(true, &[], "{{ env \"HOME\" }}", params.clone()).contains("function \"env\" not defined")
        );
    }

    #[test]
    fn a_missing_parameter_can_be_an_error_with_its_line() {
        let options = ["missingkey=error".into()];
        let told = fill(true, &options, "a\n{{ .missing }}", value!({"name": "x"}));
        assert_eq!(
            told,
            "error in line Some(2): template: base:2:3: executing \"base\" at <.missing>: map has no entry for key \"missing\""
        );
    }

    #[test]
    fn an_unknown_option_is_told() {
        let mut still = Still;
        let told = Engine::new(true, &["missingkey=warn".into()], &mut still).err().expect("an error");
        assert!(told.contains("missingkey=warn") && told.contains("missingkey=error"), "{told}");
    }
}
