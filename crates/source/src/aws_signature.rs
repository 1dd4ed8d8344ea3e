//! Signatures of requests to AWS, version 4.

use jiff::Timestamp;
use ring::hmac;
use sha2::{Digest as _, Sha256};

use crate::digest::hex;

/// Who signs, and for which service where. It holds a secret, so it cannot be printed.
#[derive(Clone, Copy)]
pub struct AwsSigner<'a> {
    /// The public half of the key.
    pub key: &'a str,
    /// The secret half.
    pub secret: &'a str,
    /// Where the service is.
    pub region: &'a str,
    /// What it is called there.
    pub service: &'a str,
}

/// A request without a query, as far as it is signed.
#[derive(Clone, Copy)]
pub struct AwsRequest<'a> {
    /// `GET`, `POST` and the like.
    pub method: &'a str,
    /// The host, with the port if it is not the usual one.
    pub host: &'a str,
    /// The path.
    pub path: &'a str,
    /// The other headers that are signed.
    pub headers: &'a [(&'a str, &'a str)],
    /// What is sent along.
    pub body: &'a [u8],
}

impl AwsSigner<'_> {
    /// The headers that prove who sent a request, and when: they go along with its own.
    pub fn sign(&self, request: AwsRequest<'_>, now: Timestamp) -> [(&'static str, String); 2] {
        let AwsRequest { method, host, path, headers, body } = request;
        let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = time.get(..8).unwrap_or_default();
        let own = [("host", host), ("x-amz-date", time.as_str())];
        let mut all: Vec<(String, &str)> =
            headers.iter().chain(&own).map(|(name, text)| (name.to_ascii_lowercase(), text.trim())).collect();
        all.sort();
        let names = all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
        let lines: String = all.iter().map(|(name, text)| format!("{name}:{text}\n")).collect();
        let asked = format!("{method}\n{path}\n\n{lines}\n{names}\n{}", hex(&Sha256::digest(body)));
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(asked)));
        let parts = [day, self.region, self.service, "aws4_request"];
        let first = format!("AWS4{}", self.secret).into_bytes();
        let key = parts.iter().fold(first, |key, part| mac(&key, part));
        let (signature, credential) = (hex(&mac(&key, &text)), format!("{}/{scope}", self.key));
        let value =
            format!("AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={signature}");
        [("x-amz-date", time), ("authorization", value)]
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the published test suite of the signature says of a request to its example.
    fn signed(method: &str, headers: &[(&str, &str)], body: &[u8]) -> String {
        let signer = AwsSigner {
            key: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1",
            service: "service",
        };
        let request = AwsRequest { method, host: "example.amazonaws.com", path: "/", headers, body };
        let [(_, time), (_, value)] = signer.sign(request, "2015-08-30T12:36:00Z".parse().unwrap());
        assert_eq!(time, "20150830T123600Z");
        let credential =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=";
        value.strip_prefix(credential).unwrap().replace(", Signature=", " ")
    }

    #[test]
    fn requests_are_signed_as_the_published_test_suite_has_it() {
        assert_eq!(
            signed("POST", &[], b""),
            "host;x-amz-date 5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
        assert_eq!(
            signed("GET", &[], b""),
            "host;x-amz-date 5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(
            signed("POST", &[("Content-Type", "application/x-www-form-urlencoded")], b"Param1=value1"),
            "content-type;host;x-amz-date ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
    }
}
