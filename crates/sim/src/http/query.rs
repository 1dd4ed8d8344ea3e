//! Query parameters, read as Go reads them.

use lynceus_object::Str;

use crate::ApiError;

/// The parameters of a request, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        });
        Query(pairs.collect())
    }

    /// The first value of a parameter.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The first value of a parameter, or the empty string.
    pub(super) fn text(&self, key: &str) -> Str {
        self.get(key).unwrap_or_default().into()
    }

    /// All values of a parameter.
    pub(super) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// A flag: there, and neither `false` nor `0`.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.get(key).map(|value| !matches!(value.to_ascii_lowercase().as_str(), "false" | "0"))
    }

    /// A whole number.
    pub(super) fn number(&self, key: &str) -> Result<Option<i64>, ApiError> {
        let Some(text) = self.get(key).filter(|text| !text.is_empty()) else { return Ok(None) };
        let bad = || ApiError::bad_request(format!("strconv.ParseInt: parsing {text:?}: invalid syntax"));
        text.parse().map(Some).map_err(|_| bad())
    }
}

/// Undoes percent-encoding; `+` is a space. Bytes that are no UTF-8 are replaced.
fn decode(text: &str) -> String {
    percent_decode(text, true)
}

/// Undoes percent-encoding in a path, where `+` stands for itself.
pub(super) fn decode_segment(text: &str) -> String {
    percent_decode(text, false)
}

fn percent_decode(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'+' if plus_is_space => out.push(b' '),
            b'%' => {
                let hex = |byte: &u8| char::from(*byte).to_digit(16);
                match (bytes.get(at).and_then(hex), bytes.get(at + 1).and_then(hex)) {
                    (Some(high), Some(low)) => {
                        out.push((high * 16 + low) as u8);
                        at += 2;
                    }
                    _ => out.push(byte),
                }
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        let query = Query::parse("labelSelector=app%3Dweb%2Ctier+in+%28a%29&watch=true&limit=5&x");
        assert_eq!(query.get("labelSelector"), Some("app=web,tier in (a)"));
        assert_eq!(query.flag("watch"), Some(true));
        assert_eq!(query.number("limit"), Ok(Some(5)));
        assert_eq!(query.flag("x"), Some(true));
        assert_eq!(query.flag("y"), None);
        assert_eq!(Query::parse("limit=many").number("limit").unwrap_err().code, 400);
    }

    #[test]
    fn broken_escapes_stand_for_themselves() {
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz"), "%zz");
        assert_eq!(decode_segment("a+b%2Fc"), "a+b/c");
    }
}
