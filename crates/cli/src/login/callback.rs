//! Where a browser comes back to from an issuer: a port of this machine that answers one request.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::api::misuse;
use crate::exit::{Doing as _, Outcome};
use crate::limits;

/// Waits for the browser and gives the code that it brings. Requests with another state are somebody else's.
pub(super) async fn code(listener: &TcpListener, state: &str) -> Outcome<String> {
    let waited = tokio::time::timeout(limits::BROWSER, async {
        loop {
            let (mut stream, _) = listener.accept().await.doing("cannot wait for the browser")?;
            let query = query(&mut stream).await;
            match brought(&query, state) {
                Some(brought) => {
                    let said = if brought.is_ok() {
                        "You are logged in. Go back to the terminal."
                    } else {
                        "The login has failed."
                    };
                    say(&mut stream, "200 OK", said).await;
                    return brought;
                }
                None => say(&mut stream, "404 Not Found", "There is nothing here.").await,
            }
        }
    });
    waited.await.unwrap_or_else(|_| Err(misuse("nobody has logged in in the browser in time")))
}

/// The query of a request to the place of coming back.
async fn query(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let read = tokio::time::timeout(limits::CONNECT, async {
        while head.len() < limits::CALLBACK && !head.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read_buf(&mut head).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
    });
    // One that is too slow has said nothing.
    let _ = read.await;
    let text = String::from_utf8_lossy(&head);
    let target = text.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    target.strip_prefix("/auth/callback?").unwrap_or_default().to_owned()
}

/// What a query brings: nothing if it is not for us, else the code or why there is none.
fn brought(query: &str, state: &str) -> Option<Outcome<String>> {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(own, _)| *own == name).map(|(_, value)| plain(value)).unwrap_or_default()
    };
    if state.is_empty() || value("state") != state {
        return None;
    }
    match (value("error"), value("code")) {
        (error, _) if !error.is_empty() => {
            let error: String = error.chars().filter(|letter| !letter.is_control()).take(80).collect();
            Some(Err(misuse(format!("the issuer did not let you in: {error}"))))
        }
        (_, code) if code.is_empty() => Some(Err(misuse("the issuer sent no code"))),
        (_, code) => Some(Ok(code)),
    }
}

fn plain(text: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.bytes().next() {
        let hex = rest.get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let (byte, taken) = match (first, hex) {
            (b'%', Some(byte)) => (byte, 3),
            (b'+', _) => (b' ', 1),
            (byte, _) => (byte, 1),
        };
        out.push(byte);
        // What is not ASCII is encoded, and what is not encoded is passed over.
        rest = rest.get(taken..).unwrap_or_default();
    }
    String::from_utf8_lossy(&out).into_owned()
}

async fn say(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}\n",
        text.len() + 1
    );
    // A browser that is gone has been served.
    let _ = stream.write_all(page.as_bytes()).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(query: &str) -> String {
        match brought(query, "s1") {
            None => "not ours".to_owned(),
            Some(Ok(code)) => format!("code {code}"),
            Some(Err(failure)) => failure.message,
        }
    }

    #[test]
    fn only_the_answer_to_our_own_question_counts() {
        assert_eq!(check("code=a%2Fb+c&state=s1"), "code a/b c");
        assert_eq!(check("code=a&state=s2"), "not ours");
        assert_eq!(check(""), "not ours");
        assert_eq!(check("state=s1"), "the issuer sent no code");
        assert_eq!(check("state=s1&error=access_denied"), "the issuer did not let you in: access_denied");
    }
}
