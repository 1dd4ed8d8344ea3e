//! Queues of AWS: `service.awssqs`.

use jiff::Timestamp;
use lynceus_object::{Value, json, value};

use super::aws_identity::{Identity, Keys, Search};
use super::conversation::{Delivery, Next, SendError};
use super::job::Job;
use super::memory::Memory;
use super::request::{Answer, AwsSignature, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let region = job.required("region")?;
    let queue = match job.to.recipient.as_str() {
        "" => job.required("queue")?,
        recipient => recipient.to_owned(),
    };
    let mut question = value!({"QueueName": (queue)});
    let account = job.option("account")?;
    if !account.is_empty() {
        question.set(&["QueueOwnerAWSAccountId"], account);
    }
    let mut message = value!({"MessageBody": (job.notification.message.as_str())});
    match job.text("awssqs", &["messageGroupId"]) {
        "" => message.set(&["DelaySeconds"], 10),
        // A queue that keeps the order takes no delay of one message.
        group => message.set(&["MessageGroupId"], group),
    }
    let attributes =
        job.part("awssqs").and_then(|part| part.get("messageAttributes")).and_then(Value::as_map);
    for (name, text) in attributes.into_iter().flat_map(|map| map.iter()) {
        let text = crate::config::text(text).unwrap_or_default();
        message.set(&["MessageAttributes", name], value!({"DataType": "String", "StringValue": (text)}));
    }
    let (key, secret) = (job.option("key")?, job.option("secret")?);
    let step = match key.is_empty() && secret.is_empty() {
        true => {
            job.may_look_around()?;
            Step::Identity(Identity::new(&region, job.now))
        }
        false => Step::Begin(Keys {
            key: job.required("key")?,
            secret: job.required("secret")?,
            token: String::new(),
        }),
    };
    Ok(Box::new(Sqs {
        endpoint: job.address("endpointUrl", &format!("https://sqs.{region}.amazonaws.com"))?,
        region,
        question,
        message,
        now: job.now,
        step,
    }))
}

enum Step {
    /// Who sends has to be found out first.
    Identity(Identity),
    Begin(Keys),
    Found(Keys),
    Sent,
}

struct Sqs {
    endpoint: String,
    region: String,
    question: Value,
    message: Value,
    now: Timestamp,
    step: Step,
}

impl Delivery for Sqs {
    fn next(&mut self, answer: Option<&Answer>, memory: &mut Memory) -> Result<Next, SendError> {
        let no_answer = || SendError::new("there was no answer");
        if let Step::Identity(identity) = &mut self.step {
            match identity.next(answer, memory)? {
                Search::Look(place) => return Ok(Next::Look(place)),
                Search::Ask(request) => return Ok(Next::Ask(request)),
                Search::Found(keys) => self.step = Step::Begin(keys),
            }
        }
        match std::mem::replace(&mut self.step, Step::Sent) {
            Step::Identity(_) => Err(no_answer()),
            Step::Begin(keys) => {
                let asked = self.ask(&keys, "AmazonSQS.GetQueueUrl", &self.question);
                self.step = Step::Found(keys);
                Ok(asked)
            }
            Step::Found(keys) => {
                let answer = answer.ok_or_else(no_answer)?;
                let said = answer.json();
                let Some(url) = said.str_at(&["QueueUrl"]) else { return Err(answer.refusal()) };
                self.message.set(&["QueueUrl"], url);
                Ok(self.ask(&keys, "AmazonSQS.SendMessage", &self.message))
            }
            Step::Sent => match answer {
                Some(answer) if answer.is_success() => Ok(Next::Done),
                Some(answer) => Err(answer.refusal()),
                None => Err(no_answer()),
            },
        }
    }
}

impl Sqs {
    fn ask(&self, keys: &Keys, target: &str, body: &Value) -> Next {
        let mut request = Request::new("POST", format!("{}/", self.endpoint))
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Target", target);
        if !keys.token.is_empty() {
            request = request.header("X-Amz-Security-Token", keys.token.as_str());
        }
        request.body = json::to_vec(body);
        request.signature = Some(AwsSignature {
            key: keys.key.clone(),
            secret: keys.secret.clone(),
            region: self.region.clone(),
            service: "sqs",
            time: self.now,
        });
        Next::Ask(request)
    }
}
