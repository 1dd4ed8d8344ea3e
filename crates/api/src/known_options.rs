//! The sync options that there are, and where each may stand.

/// Where a sync option stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionPlace {
    /// In an application's `syncPolicy`, or in an operation.
    Application,
    /// In an annotation of an object.
    Object,
}

/// Why a sync option has no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionFault {
    /// There is none of this name.
    #[error("there is no such option")]
    Unknown,
    /// It has a value that it cannot have.
    #[error("it can be {0}")]
    Value(String),
    /// It may not stand here.
    #[error("it has a meaning {0} only")]
    Place(&'static str),
}

struct Known {
    key: &'static str,
    values: &'static [&'static str],
    places: &'static [OptionPlace],
}

const SWITCH: &[&str] = &["true", "false"];
const RULE: &[&str] = &["true", "false", "confirm"];
const BOTH: &[OptionPlace] = &[OptionPlace::Application, OptionPlace::Object];
const APPLICATION: &[OptionPlace] = &[OptionPlace::Application];
const OBJECT: &[OptionPlace] = &[OptionPlace::Object];

const KNOWN: [Known; 14] = [
    Known { key: "ApplyOutOfSyncOnly", values: SWITCH, places: APPLICATION },
    Known { key: "ClientSideApplyMigration", values: SWITCH, places: APPLICATION },
    Known { key: "CreateNamespace", values: SWITCH, places: APPLICATION },
    Known { key: "Delete", values: RULE, places: BOTH },
    Known { key: "FailOnSharedResource", values: SWITCH, places: APPLICATION },
    Known { key: "Force", values: SWITCH, places: OBJECT },
    Known { key: "Prune", values: RULE, places: BOTH },
    Known { key: "PruneLast", values: SWITCH, places: BOTH },
    Known {
        key: "PrunePropagationPolicy",
        values: &["foreground", "background", "orphan"],
        places: APPLICATION,
    },
    Known { key: "Replace", values: SWITCH, places: BOTH },
    Known { key: "RespectIgnoreDifferences", values: SWITCH, places: APPLICATION },
    Known { key: "ServerSideApply", values: SWITCH, places: BOTH },
    Known { key: "SkipDryRunOnMissingResource", values: SWITCH, places: BOTH },
    Known { key: "Validate", values: SWITCH, places: BOTH },
];

/// Why an option that stands in a place has no effect, if it has none. Options are words: `true` is not `True`.
pub fn check_option(option: &str, place: OptionPlace) -> Result<(), OptionFault> {
    let (key, value) = option.split_once('=').unwrap_or((option, ""));
    let known = KNOWN.iter().find(|known| known.key == key).ok_or(OptionFault::Unknown)?;
    if !known.values.contains(&value) {
        return Err(OptionFault::Value(known.values.join(" or ")));
    }
    if known.places.contains(&place) {
        return Ok(());
    }
    Err(OptionFault::Place(match place {
        OptionPlace::Application => "in the annotation of an object",
        OptionPlace::Object => "in the syncOptions of an application",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(option: &str, place: OptionPlace) -> String {
        check_option(option, place).map_or_else(|fault| fault.to_string(), |()| "fine".into())
    }

    #[test]
    fn an_option_is_a_known_word_in_its_place() {
        let (application, object) = (OptionPlace::Application, OptionPlace::Object);
        assert_eq!(check("Prune=confirm", object), "fine");
        assert_eq!(check("PrunePropagationPolicy=orphan", application), "fine");
        assert_eq!(check("ServerSideApply=True", object), "it can be true or false");
        assert_eq!(check("Prune", object), "it can be true or false or confirm");
        assert_eq!(check("Pruen=false", object), "there is no such option");
        assert_eq!(check("Force=true", application), "it has a meaning in the annotation of an object only");
        assert_eq!(
            check("CreateNamespace=true", object),
            "it has a meaning in the syncOptions of an application only"
        );
    }
}
