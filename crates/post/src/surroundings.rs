//! Files and variables that the machine has for those who run on it.

use std::io::Read as _;

use lynceus_notify::{Answer, Place};

use crate::limits;

/// What stands in a place, as if a server had been asked for it.
pub(crate) fn look(place: &Place) -> Answer {
    match place {
        Place::Variable(name) => match std::env::var(name) {
            Ok(text) => Answer { status: 200, body: text.into_bytes() },
            Err(_) => Answer { status: 404, body: Vec::new() },
        },
        Place::File(path) => {
            let mut body = Vec::new();
            let read = std::fs::File::open(path)
                .and_then(|file| file.take(limits::CREDENTIALS_BYTES).read_to_end(&mut body));
            match read {
                Ok(_) => Answer { status: 200, body },
                Err(error) => Answer { status: 404, body: error.to_string().into_bytes() },
            }
        }
    }
}
