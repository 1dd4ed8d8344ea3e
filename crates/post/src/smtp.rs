//! Mail, handed over to a server by SMTP.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_notify::{Email, SendError};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::line::{Line, Peer};
use crate::{Certificates, limits};

/// The port on which a connection is encrypted from the start.
const ENCRYPTED: u16 = 465;

/// Hands a mail over, within a time.
pub(crate) async fn send(
    mail: &Email,
    certificates: &Certificates,
    within: Duration,
) -> Result<(), SendError> {
    let late = |_| SendError::new(format!("the mail server {} did not answer in time", mail.host));
    tokio::time::timeout(within, hand_over(mail, certificates)).await.map_err(late)?
}

async fn hand_over(mail: &Email, certificates: &Certificates) -> Result<(), SendError> {
    let peer = Peer { host: &mail.host, word: "mail server", limit: limits::MAIL_ANSWER_BYTES };
    let line = Line::open(peer, mail.port).await?;
    if mail.port == ENCRYPTED {
        let mut talk = Talk { line: line.encrypt(mail.insecure, certificates).await?, mail };
        talk.expect(220).await?;
        let offers = talk.greet().await?;
        return talk.letter(&offers, true).await;
    }
    let mut talk = Talk { line, mail };
    talk.expect(220).await?;
    let offers = talk.greet().await?;
    if !offers.has("STARTTLS") {
        return talk.letter(&offers, false).await;
    }
    talk.ask("STARTTLS", 220).await?;
    let mut talk = Talk { line: talk.line.encrypt(mail.insecure, certificates).await?, mail };
    let offers = talk.greet().await?;
    talk.letter(&offers, true).await
}

/// What a server offers, in capitals.
struct Offers(Vec<String>);

impl Offers {
    fn has(&self, word: &str) -> bool {
        self.0.iter().any(|line| line.split_whitespace().next() == Some(word))
    }

    /// Whether a way to log in is among them.
    fn has_login(&self, way: &str) -> bool {
        self.0.iter().any(|line| {
            let mut words = line.split([' ', '=']);
            words.next() == Some("AUTH") && words.any(|word| word == way)
        })
    }
}

/// A mail, and the line over which it is handed over.
struct Talk<'m, S> {
    line: Line<'m, S>,
    mail: &'m Email,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Talk<'_, S> {
    /// An answer, which has to begin with a number.
    async fn expect(&mut self, wanted: u16) -> Result<Vec<String>, SendError> {
        let mut texts = Vec::new();
        let mut size = 0;
        loop {
            let line = self.line.read().await?;
            size += line.len();
            if size > limits::MAIL_ANSWER_BYTES {
                return Err(self.line.peer.error("does not stop answering"));
            }
            let code: Option<u16> = line.get(..3).and_then(|code| code.parse().ok());
            let text = line.get(4..).unwrap_or_default();
            texts.push(text.to_owned());
            match (code, line.as_bytes().get(3)) {
                (Some(_), Some(b'-')) => {}
                // One that is told where else the recipient is has taken it as well.
                (Some(code), _) if code == wanted || (code == 251 && wanted == 250) => return Ok(texts),
                (Some(code), _) => return Err(self.refused(code, text)),
                (None, _) => return Err(self.refused(0, text)),
            }
        }
    }

    fn refused(&self, code: u16, text: &str) -> SendError {
        let told: String = text.chars().filter(|c| !c.is_control()).take(limits::TOLD_CHARACTERS).collect();
        self.line.peer.error(format!("answered {code}: {told}"))
    }

    async fn ask(&mut self, text: &str, wanted: u16) -> Result<Vec<String>, SendError> {
        self.line.write(format!("{text}\r\n").as_bytes()).await?;
        self.expect(wanted).await
    }

    async fn greet(&mut self) -> Result<Offers, SendError> {
        let lines = self.ask("EHLO localhost", 250).await?;
        Ok(Offers(lines.into_iter().skip(1).map(|line| line.to_ascii_uppercase()).collect()))
    }

    async fn log_in(&mut self, offers: &Offers, is_encrypted: bool) -> Result<(), SendError> {
        let Email { username, password, host, .. } = self.mail;
        if username.is_empty() {
            return Ok(());
        }
        let is_here = host == "localhost" || host == "::1" || host.starts_with("127.");
        if !is_encrypted && !is_here {
            return Err(SendError::new(format!(
                "the mail server {host} offers no encryption, so it is not told the password; use port {ENCRYPTED}, or leave out username and password"
            )));
        }
        if offers.has_login("PLAIN") {
            let word = STANDARD.encode(format!("\0{username}\0{password}"));
            self.ask(&format!("AUTH PLAIN {word}"), 235).await?;
        } else if offers.has_login("LOGIN") {
            self.ask("AUTH LOGIN", 334).await?;
            self.ask(&STANDARD.encode(username), 334).await?;
            self.ask(&STANDARD.encode(password), 235).await?;
        } else {
            return Err(self.line.peer.error("offers no login that is known here"));
        }
        Ok(())
    }

    async fn letter(&mut self, offers: &Offers, is_encrypted: bool) -> Result<(), SendError> {
        self.log_in(offers, is_encrypted).await?;
        let mail = self.mail;
        self.ask(&format!("MAIL FROM:<{}>", mail.envelope.from), 250).await?;
        for to in &mail.envelope.to {
            self.ask(&format!("RCPT TO:<{to}>"), 250).await?;
        }
        self.ask("DATA", 354).await?;
        // A dot alone would end the mail.
        let mut text = String::with_capacity(mail.content.len() + 16);
        for line in mail.content.split_inclusive('\n') {
            if line.starts_with('.') {
                text.push('.');
            }
            text.push_str(line);
        }
        text.push_str(".\r\n");
        self.line.write(text.as_bytes()).await?;
        self.expect(250).await?;
        // The mail has been taken; how the server says goodbye does not matter any more.
        if let Err(error) = self.line.write(b"QUIT\r\n").await {
            tracing::debug!(%error, "the mail server hung up first");
        }
        Ok(())
    }
}
