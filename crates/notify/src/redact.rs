//! Hides secrets in texts that people read.

/// Replaces what must not be read by stars.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The longest first, so that none is hidden only in part.
    secrets: Vec<String>,
}

/// Shorter ones would hide half of every text.
const SHORTEST: usize = 4;

const STARS: &str = "********";

impl Redactor {
    /// Hides these.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Vec<u8>>) -> Self {
        let texts = secrets.into_iter().flat_map(|secret| {
            let text = String::from_utf8_lossy(secret).into_owned();
            // A key in PEM is told line by line.
            let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
            lines.into_iter().chain([text.trim().to_owned()])
        });
        let mut secrets: Vec<String> = texts.filter(|text| text.len() >= SHORTEST).collect();
        secrets.sort_by(|left, right| right.len().cmp(&left.len()).then_with(|| left.cmp(right)));
        secrets.dedup();
        Self { secrets }
    }

    /// The text without secrets.
    pub fn hide(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.as_str()) { text.replace(secret.as_str(), STARS) } else { text }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Redactor;

    #[test]
    fn secrets_are_hidden_whole() {
        let redactor = Redactor::new([&b"xoxb-1".to_vec(), &b"xoxb-1-long\n".to_vec(), &b"ab".to_vec()]);
        assert_eq!(redactor.hide("tokens xoxb-1-long, xoxb-1, ab"), "tokens ********, ********, ab");
    }
}
