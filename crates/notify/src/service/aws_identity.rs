//! The keys that a machine or an account of a cluster has for AWS, in the order in which Amazon's own libraries look.

use jiff::{SignedDuration, Timestamp};
use lynceus_object::Value;

use super::conversation::{Place, SendError};
use super::memory::Memory;
use super::request::{Answer, Request, form};
use super::surroundings::{Variables, token_in_file};

const VARIABLES: [&str; 10] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ENDPOINT_URL_STS",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
];

/// Where containers of Amazon's own scheduler ask.
const CONTAINERS: &str = "http://169.254.170.2";

/// How long before their end keys are not used any more.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

/// What requests are signed with. It cannot be printed.
#[derive(Clone)]
pub(super) struct Keys {
    pub(super) key: String,
    pub(super) secret: String,
    /// What goes along with keys that hold for a while only.
    pub(super) token: String,
}

/// What has to be done to find them.
pub(super) enum Search {
    Look(Place),
    Ask(Request),
    Found(Keys),
}

enum Step {
    Variables,
    TokenFile { path: String },
    ContainerFile { path: String },
    Asked,
}

/// The search for keys.
pub(super) struct Identity {
    region: String,
    now: Timestamp,
    variables: Variables,
    step: Step,
}

impl Identity {
    pub(super) fn new(region: &str, now: Timestamp) -> Self {
        Self { region: region.to_owned(), now, variables: Variables::new(&VARIABLES), step: Step::Variables }
    }

    /// The next step; `answer` is that to the step before.
    pub(super) fn next(&mut self, answer: Option<&Answer>, memory: &mut Memory) -> Result<Search, SendError> {
        match &self.step {
            Step::Variables => match self.variables.next(answer) {
                Some(place) => Ok(Search::Look(place)),
                None => self.choose(memory),
            },
            Step::TokenFile { path } => {
                let token = token_in_file(path, answer)?;
                let request = self.assume(&token);
                self.step = Step::Asked;
                Ok(Search::Ask(request))
            }
            Step::ContainerFile { path } => {
                let token = token_in_file(path, answer)?;
                let request = self.container(Some(&token));
                self.step = Step::Asked;
                Ok(Search::Ask(request))
            }
            Step::Asked => {
                let answer = answer.ok_or_else(|| SendError::new("there was no answer"))?;
                self.read(answer, memory)
            }
        }
    }

    fn choose(&mut self, memory: &Memory) -> Result<Search, SendError> {
        let text = |name: &str| self.variables.get(name).unwrap_or_default().to_owned();
        let (key, secret) = (text("AWS_ACCESS_KEY_ID"), text("AWS_SECRET_ACCESS_KEY"));
        if !key.is_empty() && !secret.is_empty() {
            return Ok(Search::Found(Keys { key, secret, token: text("AWS_SESSION_TOKEN") }));
        }
        let remembered = |part: &str| memory.get(&["aws", &self.region, part], self.now);
        if let (Some(key), Some(secret), Some(token)) =
            (remembered("key"), remembered("secret"), remembered("token"))
        {
            return Ok(Search::Found(Keys { key, secret, token }));
        }
        let path = text("AWS_WEB_IDENTITY_TOKEN_FILE");
        if !path.is_empty() && self.variables.get("AWS_ROLE_ARN").is_some() {
            self.step = Step::TokenFile { path: path.clone() };
            return Ok(Search::Look(Place::File(path)));
        }
        let has_container = ["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]
            .iter()
            .any(|name| self.variables.get(name).is_some());
        if !has_container {
            return Err(SendError::lasting(
                "there are no keys for AWS: set the options key and secret, or give the controller a role",
            ));
        }
        let path = text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        if path.is_empty() {
            let request = self.container(None);
            self.step = Step::Asked;
            return Ok(Search::Ask(request));
        }
        self.step = Step::ContainerFile { path: path.clone() };
        Ok(Search::Look(Place::File(path)))
    }

    /// Asks for the keys of a role, with the token of an account of the cluster.
    fn assume(&self, token: &str) -> Request {
        let usual = format!("https://sts.{}.amazonaws.com", self.region);
        let host = self.variables.get("AWS_ENDPOINT_URL_STS").unwrap_or(&usual).trim_end_matches('/');
        let mut request = Request::new("POST", format!("{host}/"))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Accept", "application/json");
        let session = self.variables.get("AWS_ROLE_SESSION_NAME").unwrap_or("lynceus");
        let role = self.variables.get("AWS_ROLE_ARN").unwrap_or_default();
        let pairs = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", role),
            ("RoleSessionName", session),
            ("WebIdentityToken", token),
        ];
        request.body = form(&pairs).into_bytes();
        request
    }

    fn container(&self, token: Option<&str>) -> Request {
        let relative = self.variables.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let url = match relative {
            Some(path) => format!("{CONTAINERS}{path}"),
            None => self.variables.get("AWS_CONTAINER_CREDENTIALS_FULL_URI").unwrap_or_default().to_owned(),
        };
        let request = Request::new("GET", url);
        match token {
            Some(token) => request.header("Authorization", token),
            None => request,
        }
    }

    /// The keys in an answer of either sort.
    fn read(&self, answer: &Answer, memory: &mut Memory) -> Result<Search, SendError> {
        let said = answer.json();
        let assumed = ["AssumeRoleWithWebIdentityResponse", "AssumeRoleWithWebIdentityResult", "Credentials"];
        let keys = said.at(&assumed).unwrap_or(&said);
        if !answer.is_success() {
            return Err(answer.refusal());
        }
        // What it says otherwise may be half of a key, so only what is missing is told.
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| keys.str_at(&[name])).filter(|text| !text.is_empty());
            let missing =
                || SendError::new(format!("the answer with keys for AWS has no {}", names.join(" or ")));
            found.map(str::to_owned).ok_or_else(missing)
        };
        let key = text(&["AccessKeyId"])?;
        let secret = text(&["SecretAccessKey"])?;
        let token = text(&["SessionToken", "Token"])?;
        let until = keys.get("Expiration").and_then(end).and_then(|end| end.checked_sub(SKEW).ok());
        for (part, value) in [("key", &key), ("secret", &secret), ("token", &token)] {
            memory.put(&["aws", &self.region, part], value, Some(until.unwrap_or(self.now)));
        }
        Ok(Search::Found(Keys { key, secret, token }))
    }
}

/// When keys end: seconds since 1970, or a time in words.
fn end(value: &Value) -> Option<Timestamp> {
    match value.as_str() {
        Some(text) => text.parse().ok(),
        None => {
            Timestamp::from_second(value.as_float().map(|seconds| seconds as i64).or(value.as_int())?).ok()
        }
    }
}
