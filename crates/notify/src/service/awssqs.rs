//! Queues of AWS: `service.awssqs`.

use jiff::Timestamp;
use lynceus_object::{Value, json, value};

use super::aws_signature::Signer;
use super::conversation::{Delivery, Next, SendError};
use super::job::Job;
use super::memory::Memory;
use super::request::{Answer, Request};

pub(super) fn deliver(job: &Job<'_>) -> Result<Box<dyn Delivery>, SendError> {
    let region = job.required("region")?;
    let queue = match job.to.recipient.as_str() {
        "" => job.required("queue")?,
        recipient => recipient.to_owned(),
    };
    let mut question = value!({"QueueName": (queue)});
    let account = job.option("account");
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
    Ok(Box::new(Sqs {
        endpoint: job.address("endpointUrl", &format!("https://sqs.{region}.amazonaws.com")),
        key: job.required("key")?,
        secret: job.required("secret")?,
        region,
        question,
        message,
        now: job.now,
        step: Step::Begin,
    }))
}

#[derive(Clone, Copy)]
enum Step {
    Begin,
    Found,
    Sent,
}

struct Sqs {
    endpoint: String,
    key: String,
    secret: String,
    region: String,
    question: Value,
    message: Value,
    now: Timestamp,
    step: Step,
}

impl Delivery for Sqs {
    fn next(&mut self, answer: Option<&Answer>, _: &mut Memory) -> Result<Next, SendError> {
        match (self.step, answer) {
            (Step::Begin, _) => {
                self.step = Step::Found;
                self.ask("AmazonSQS.GetQueueUrl", &self.question)
            }
            (Step::Found, Some(answer)) => {
                let said = answer.json();
                let Some(url) = said.str_at(&["QueueUrl"]) else { return Err(answer.refusal()) };
                self.step = Step::Sent;
                self.message.set(&["QueueUrl"], url);
                self.ask("AmazonSQS.SendMessage", &self.message)
            }
            (Step::Sent, Some(answer)) if answer.is_success() => Ok(Next::Done),
            (Step::Sent, Some(answer)) => Err(answer.refusal()),
            (_, None) => Err(SendError::new("there was no answer")),
        }
    }
}

impl Sqs {
    fn ask(&self, target: &str, body: &Value) -> Result<Next, SendError> {
        let mut request = Request::new("POST", format!("{}/", self.endpoint))
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Target", target);
        request.body = json::to_vec(body);
        let host = self.endpoint.split_once("://").map_or("", |(_, host)| host);
        let signer = Signer { key: &self.key, secret: &self.secret, region: &self.region, service: "sqs" };
        let signed = signer.sign(request, host, self.now);
        signed.map(Next::Ask).ok_or_else(|| SendError::lasting("the request cannot be signed"))
    }
}
