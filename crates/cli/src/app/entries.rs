//! Entries of a source's lists that have a name: one that is given goes over the one of its name.

use lynceus_object::{Value, value};

/// What an entry is like.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A value of a chart.
    Parameter,
    /// A value of a chart that stays text.
    StringParameter,
    /// A value of a chart from a file.
    FileParameter,
    /// An image, which is text with its name in it.
    Image,
    /// How many of a workload there are.
    Replica,
    /// A variable of Jsonnet.
    Variable {
        /// Whether it is code.
        code: bool,
    },
    /// A variable of a plugin.
    Env,
}

impl Form {
    /// How an entry is written.
    pub(super) fn shape(self) -> &'static str {
        match self {
            Form::Parameter | Form::StringParameter => "KEY=VALUE",
            Form::FileParameter => "KEY=PATH",
            Form::Image => "NAME:TAG",
            Form::Replica => "NAME=COUNT",
            Form::Variable { .. } | Form::Env => "NAME=VALUE",
        }
    }

    /// Puts an entry into a list; none if it is not written as it should be.
    pub(super) fn put(self, list: &mut Vec<Value>, text: &str) -> Option<()> {
        let entry = self.entry(text)?;
        let name = name(&entry);
        match list.iter_mut().find(|known| self::name(known) == name) {
            Some(known) => *known = entry,
            None => list.push(entry),
        }
        Some(())
    }

    fn entry(self, text: &str) -> Option<Value> {
        if self == Form::Image {
            return (!text.is_empty()).then(|| text.into());
        }
        let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some(match self {
            Form::StringParameter => value!({"name": name, "value": value, "forceString": true}),
            Form::FileParameter => value!({"name": name, "path": value}),
            Form::Replica => value!({"name": name, "count": value.parse::<i64>().ok()?}),
            Form::Variable { code: true } => value!({"name": name, "value": value, "code": true}),
            _ => value!({"name": name, "value": value}),
        })
    }
}

/// Takes the entries of these names out of a list; `false` if none is there.
pub(super) fn take(list: &mut Vec<Value>, names: &[String]) -> bool {
    let before = list.len();
    list.retain(|entry| !names.iter().any(|wanted| name(entry) == image(wanted)));
    list.len() != before
}

fn name(entry: &Value) -> String {
    match entry.as_str() {
        Some(text) => image(text).to_owned(),
        None => entry.str_at(&["name"]).unwrap_or_default().to_owned(),
    }
}

/// The name of an image: what is before the equals sign, the digest or the tag. A port of its registry is no tag.
fn image(text: &str) -> &str {
    let text = text.split(['=', '@']).next().unwrap_or_default();
    let after = text.rfind('/').map_or(0, |at| at + 1);
    match text[after..].find(':') {
        Some(at) => &text[..after + at],
        None => text,
    }
}
