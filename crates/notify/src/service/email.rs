//! Mail: `service.email.NAME`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::fmt::rfc2822;

use super::conversation::{Delivery, Next, SendError};
use super::job::Job;
use super::memory::Memory;
use super::request::Answer;

/// A mail and the server that is to take it. It holds a password, so it cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Email {
    /// The server's name.
    pub host: String,
    /// Its port. On 465 the connection is encrypted from the start; on others once the server offers it.
    pub port: u16,
    /// Whether any certificate will do.
    pub insecure: bool,
    /// Who logs in; nobody if it is empty.
    pub username: String,
    /// With which password.
    pub password: String,
    /// Who writes to whom.
    pub envelope: Envelope,
    /// The whole mail, with lines that end as the protocol wants it.
    pub content: String,
}

/// Who writes to whom, as the server is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender's address.
    pub from: String,
    /// The recipients' addresses.
    pub to: Vec<String>,
}

pub(super) fn deliver(job: &mut Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let host = job.required("host")?;
    let port = job.number("port")?.unwrap_or(587);
    let port = u16::try_from(port).map_err(|_| SendError::lasting("the option port is no port"))?;
    let username = job.option("username")?;
    let from = match job.option("from")? {
        from if from.is_empty() => username.clone(),
        from => from,
    };
    let to: Result<Vec<String>, SendError> =
        job.to.recipient.split(',').map(|one| address(one.trim())).collect();
    let envelope = Envelope { from: address(bare(&from))?, to: to? };
    let mail = Email {
        host,
        port,
        insecure: job.flag("insecure_skip_verify")?,
        username,
        password: job.option("password")?,
        content: content(job, &from, &envelope)?,
        envelope,
    };
    Ok(Box::new(Once(Some(mail))))
}

struct Once(Option<Email>);

impl Delivery for Once {
    fn next(&mut self, _: Option<&Answer>, _: &mut Memory) -> Result<Next, SendError> {
        Ok(self.0.take().map_or(Next::Done, Next::Mail))
    }
}

/// The address in `Name <address>`.
fn bare(text: &str) -> &str {
    match (text.find('<'), text.rfind('>')) {
        (Some(open), Some(close)) if open < close => &text[open + 1..close],
        _ => text.trim(),
    }
}

/// An address that cannot say anything else to the server.
fn address(text: &str) -> Result<String, SendError> {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !"<>()[],;:\\\"".contains(c);
    match text.split_once('@') {
        Some((name, domain)) if !name.is_empty() && !domain.is_empty() && text.chars().all(is_plain) => {
            Ok(text.to_owned())
        }
        _ => Err(SendError::lasting(format!("{text:?} is no address of mail"))),
    }
}

fn content(job: &mut Job<'_>, from: &str, envelope: &Envelope) -> Result<String, SendError> {
    let body = match job.text("email", &["body"]) {
        "" => job.notification.message.as_str(),
        body => body,
    };
    let kind = if job.flag("html")? { "text/html" } else { "text/plain" };
    let domain = envelope.from.rsplit('@').next().unwrap_or_default().to_owned();
    let date = rfc2822::to_string(&job.now.to_zoned(jiff::tz::TimeZone::UTC))
        .map_err(|_| SendError::new("the time cannot be written"))?;
    let headers = [
        ("From", sender(from, &envelope.from)),
        ("To", envelope.to.join(", ")),
        ("Subject", word(job.text("email", &["subject"]))),
        ("Date", date),
        ("Message-ID", format!("<{}@{domain}>", job.uuid())),
        ("MIME-Version", "1.0".to_owned()),
        ("Content-Type", format!("{kind}; charset=UTF-8")),
        ("Content-Transfer-Encoding", "base64".to_owned()),
    ];
    let mut content: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    content.push_str("\r\n");
    let encoded = STANDARD.encode(body);
    for line in encoded.as_bytes().chunks(76) {
        content.push_str(&String::from_utf8_lossy(line));
        content.push_str("\r\n");
    }
    Ok(content)
}

/// The sender with the name that was given, if there is one.
fn sender(from: &str, address: &str) -> String {
    match from.split_once('<') {
        Some((name, _)) if !name.trim().is_empty() => {
            format!("{} <{address}>", word(name.trim().trim_matches('"')))
        }
        _ => address.to_owned(),
    }
}

/// A text as the value of a header: on one line, and in ASCII.
fn word(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = text.trim();
    if text.is_ascii() && text.len() < 900 {
        return text.to_owned();
    }
    // Encoded words have at most 75 characters, and hold whole characters.
    let mut words = Vec::new();
    let mut piece = String::new();
    for c in text.chars() {
        if piece.len() + c.len_utf8() > 45 {
            words.push(std::mem::take(&mut piece));
        }
        piece.push(c);
    }
    words.push(piece);
    let encoded = words.iter().map(|piece| format!("=?UTF-8?B?{}?=", STANDARD.encode(piece)));
    encoded.collect::<Vec<_>>().join("\r\n ")
}
