//! From the texts of two ConfigMaps to values, with a warning for every text that is not one.

use std::time::Duration;

use lynceus_api::{parse_bool, parse_duration};
use lynceus_files::Diagnostic;
use lynceus_object::{Object, Quantity, Str, Value, yaml};

use super::keys::{ConfigMap, Form, KEYS, Key};
use super::others;

/// Reads settings, and remembers what is wrong with them.
pub(super) struct Reader<'a> {
    settings: &'a Object,
    parameters: &'a Object,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    /// Reads from `argocd-cm` and `argocd-cmd-params-cm`. Settings that nobody knows are told of at once.
    pub(super) fn new(settings: &'a Object, parameters: &'a Object) -> Self {
        let mut reader = Reader { settings, parameters, diagnostics: Vec::new() };
        for map in [ConfigMap::Settings, ConfigMap::Parameters] {
            let unknown: Vec<Diagnostic> =
                reader.entries(map).filter_map(|(name, _)| unknown(map, name)).collect();
            reader.diagnostics.extend(unknown);
        }
        reader
    }

    /// Every setting of a ConfigMap, in order.
    pub(super) fn entries(&self, map: ConfigMap) -> impl Iterator<Item = (&'a Str, &'a str)> + use<'a> {
        let object = match map {
            ConfigMap::Settings => self.settings,
            ConfigMap::Parameters => self.parameters,
        };
        let data = object.at(&["data"]).and_then(Value::as_map);
        data.into_iter()
            .flat_map(|data| data.iter())
            .filter_map(|(name, value)| Some((name, value.as_str()?)))
    }

    /// The text of a setting; one that is empty counts as not set.
    pub(super) fn set(&self, key: &Key) -> Option<&'a str> {
        self.entries(key.map)
            .find(|(name, _)| *name == key.name)
            .map(|(_, text)| text)
            .filter(|text| !text.is_empty())
    }

    pub(super) fn text(&self, key: &Key) -> Str {
        self.set(key).unwrap_or(key.default).into()
    }

    pub(super) fn list(&self, key: &Key) -> Vec<Str> {
        words(self.set(key).unwrap_or(key.default))
    }

    pub(super) fn switch(&mut self, key: &Key) -> bool {
        self.value(key, parse_bool)
    }

    /// A switch that somebody else decides about where it is not set.
    pub(super) fn choice(&mut self, key: &Key) -> Option<bool> {
        self.value(key, |text| parse_bool(text).map(Some))
    }

    pub(super) fn duration(&mut self, key: &Key) -> Duration {
        self.value(key, |text| parse_duration(text).ok()?.try_into().ok())
    }

    /// A duration, where zero stands for never.
    pub(super) fn period(&mut self, key: &Key) -> Option<Duration> {
        Some(self.duration(key)).filter(|period| !period.is_zero())
    }

    pub(super) fn seconds(&mut self, key: &Key) -> Duration {
        self.value(key, |text| text.trim().parse().ok().map(Duration::from_secs))
    }

    pub(super) fn number(&mut self, key: &Key) -> u32 {
        self.value(key, |text| text.trim().parse().ok())
    }

    /// A number of bytes.
    pub(super) fn bytes(&mut self, key: &Key) -> u64 {
        self.value(key, |text| u64::try_from(Quantity::parse(text.trim()).ok()?.value()).ok())
    }

    /// One of the words that the setting takes; empty for none.
    pub(super) fn word(&mut self, key: &Key) -> &'static str {
        let Form::Word(words) = key.form else { return "" };
        self.value(key, |text| {
            words.iter().copied().find(|word| *word == text).or(text.is_empty().then_some(""))
        })
    }

    /// The document that a setting holds.
    pub(super) fn yaml(&mut self, key: &Key) -> Value {
        let Some(text) = self.set(key) else { return Value::Null };
        yaml::parse_str(text).unwrap_or_else(|error| {
            self.warn(key.map, key.name, &format!("cannot be read: {error}"), key.form);
            Value::Null
        })
    }

    /// A setting that is not what it should be counts as not set.
    fn value<T: Default>(&mut self, key: &Key, parse: impl Fn(&str) -> Option<T>) -> T {
        if let Some(text) = self.set(key) {
            if let Some(value) = parse(text) {
                return value;
            }
            let shown: String = text.chars().take(100).collect();
            let what = format!("{shown:?}, which is no {}", key.form.noun());
            self.diagnostics.push(
                Diagnostic::warning(format!("{} has {}: {what}", key.map.name(), key.name)).hint(format!(
                    "{}; until then {:?} holds",
                    key.form.example(),
                    key.default
                )),
            );
        }
        parse(key.default).unwrap_or_default()
    }

    /// Says what is wrong with a setting.
    pub(super) fn warn(&mut self, map: ConfigMap, name: &str, what: &str, form: Form) {
        let message = format!("{} has {name}, which {what}", map.name());
        self.diagnostics.push(Diagnostic::warning(message).hint(form.example()));
    }
}

/// Words with commas between them.
pub(super) fn words(text: &str) -> Vec<Str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Str::from).collect()
}

/// What there is to say of a setting that is not followed, if anybody should be told.
fn unknown(map: ConfigMap, name: &str) -> Option<Diagnostic> {
    if KEYS.iter().any(|key| key.map == map && key.is(name)) || others::is_known(map, name) {
        return None;
    }
    let warning = |what: &str| Diagnostic::warning(format!("{} has {name}, which {what}", map.name()));
    if let Some((_, instead)) = others::REMOVED.iter().find(|(removed, _)| *removed == name) {
        return Some(warning("is no longer a setting").hint(*instead));
    }
    let elsewhere = [ConfigMap::Settings, ConfigMap::Parameters]
        .into_iter()
        .find(|other| *other != map && KEYS.iter().any(|key| key.map == *other && key.is(name)));
    if let Some(other) = elsewhere {
        return Some(warning("belongs elsewhere").hint(format!("write it into {}", other.name())));
    }
    let known = KEYS.iter().filter(|key| key.map == map).map(|key| key.name).chain(others::names(map));
    let hint = match lynceus_source::similar(name, known).into_iter().next() {
        Some(near) => format!("did you mean {near}?"),
        None => "docs/settings.md lists all settings; take this one out".to_owned(),
    };
    Some(warning("is no setting").hint(hint))
}
