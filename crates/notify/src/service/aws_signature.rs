//! Signatures of requests to AWS, version 4.

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rsa::sha2::{Digest as _, Sha256};

use super::request::Request;

/// Who signs, and for which service where.
pub(super) struct Signer<'a> {
    pub(super) key: &'a str,
    pub(super) secret: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
}

impl Signer<'_> {
    /// The request with the headers that prove who sent it. Its path is `/`, and it has no query.
    pub(super) fn sign(&self, mut request: Request, host: &str, now: Timestamp) -> Option<Request> {
        let wall = now.to_zoned(TimeZone::UTC);
        let (date, time) = (wall.strftime("%Y%m%d").to_string(), wall.strftime("%Y%m%dT%H%M%SZ").to_string());
        request = request.header("X-Amz-Date", time.clone());
        let mut headers: Vec<(String, String)> = request
            .headers
            .iter()
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .chain([("host".to_owned(), host.to_owned())])
            .collect();
        headers.sort();
        let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(";");
        let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let canonical =
            format!("{}\n/\n\n{lines}\n{names}\n{}", request.method, hex(&Sha256::digest(&request.body)));
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
        let mut key = format!("AWS4{}", self.secret).into_bytes();
        for part in [date.as_str(), self.region, self.service, "aws4_request"] {
            key = digest(&key, part)?;
        }
        let signature = hex(&digest(&key, &to_sign)?);
        let credential = format!("{}/{scope}", self.key);
        let value =
            format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}");
        Some(request.header("Authorization", value))
    }
}

fn digest(key: &[u8], text: &str) -> Option<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(text.as_bytes());
    Some(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Request, Signer};

    /// The case `post-vanilla` of the published test suite of the signature.
    #[test]
    fn the_published_example_is_signed_as_published() {
        let signer = Signer {
            key: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            service: "service",
        };
        let now = "2015-08-30T12:36:00Z".parse().unwrap();
        let request = Request::new("POST", "https://example.amazonaws.com/");
        let signed = signer.sign(request, "example.amazonaws.com", now).unwrap();
        let (_, value) = signed.headers.last().unwrap();
        assert_eq!(
            value,
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
             SignedHeaders=host;x-amz-date, \
             Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
    }
}
