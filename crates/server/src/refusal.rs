//! Why a question is not answered, with the code that gRPC and REST have for it.

use std::fmt;

use axum::http::StatusCode;

/// A question that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What sort of refusal it is.
    pub code: Code,
    /// What the caller is told. Never a secret, and nothing of what the caller may not see.
    pub message: String,
}

/// The sorts of refusals, with gRPC's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The caller went away.
    Canceled = 1,
    /// Something that has no code of its own.
    Unknown = 2,
    /// The question is wrong whatever the state.
    InvalidArgument = 3,
    /// It took too long.
    DeadlineExceeded = 4,
    /// There is no such thing.
    NotFound = 5,
    /// There is one already.
    AlreadyExists = 6,
    /// The caller may not.
    PermissionDenied = 7,
    /// Too much is asked for.
    ResourceExhausted = 8,
    /// The state does not allow it.
    FailedPrecondition = 9,
    /// Somebody else was faster.
    Aborted = 10,
    /// Nobody answers this.
    Unimplemented = 12,
    /// Our fault.
    Internal = 13,
    /// What is needed for the answer cannot be reached.
    Unavailable = 14,
    /// Nobody knows who asks.
    Unauthenticated = 16,
}

impl Refusal {
    /// Refuses for a reason.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into() }
    }

    /// The question is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Refusal::new(Code::InvalidArgument, message)
    }

    /// There is no such thing.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Refusal::new(Code::NotFound, message)
    }

    /// The caller may not. As with Argo CD the text is the same whether the thing exists or not.
    pub(crate) fn denied() -> Self {
        Refusal::new(Code::PermissionDenied, "permission denied")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl Code {
    /// The code of a number of gRPC's; one that nobody knows is unknown.
    pub fn of(number: i64) -> Self {
        use Code::{Aborted, AlreadyExists, Canceled, DeadlineExceeded, FailedPrecondition, Internal};
        use Code::{InvalidArgument, NotFound, PermissionDenied, ResourceExhausted, Unauthenticated};
        use Code::{Unavailable, Unimplemented, Unknown};
        let all = [
            Canceled,
            InvalidArgument,
            DeadlineExceeded,
            NotFound,
            AlreadyExists,
            PermissionDenied,
            ResourceExhausted,
            FailedPrecondition,
            Aborted,
            Unimplemented,
            Internal,
            Unavailable,
            Unauthenticated,
        ];
        all.into_iter().find(|code| i64::from(code.number()) == number).unwrap_or(Unknown)
    }

    /// gRPC's number.
    pub(crate) fn number(self) -> i32 {
        self as i32
    }

    /// The status of HTTP that a gateway makes of it.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Code::Canceled => StatusCode::REQUEST_TIMEOUT,
            // Not 412, which is for the conditions that a request sets itself.
            Code::InvalidArgument | Code::FailedPrecondition => StatusCode::BAD_REQUEST,
            Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            Code::NotFound => StatusCode::NOT_FOUND,
            Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
            Code::PermissionDenied => StatusCode::FORBIDDEN,
            Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
            Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::Unauthenticated => StatusCode::UNAUTHORIZED,
            Code::Unknown | Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<lynceus_cluster::ClusterError> for Refusal {
    fn from(error: lynceus_cluster::ClusterError) -> Self {
        let code = if error.is_not_found() {
            Code::NotFound
        } else if error.is_conflict() {
            Code::Aborted
        } else if error.is_invalid() {
            Code::InvalidArgument
        } else {
            Code::Unknown
        };
        Refusal::new(code, lynceus_engine::words(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_code_is_that_of_the_gateway_in_front_of_argo_cd() {
        let expected = [
            (3, 400),
            (5, 404),
            (6, 409),
            (7, 403),
            (8, 429),
            (9, 400),
            (10, 409),
            (12, 501),
            (13, 500),
            (16, 401),
        ];
        for (number, status) in expected {
            assert_eq!(Code::of(number).status().as_u16(), status, "{number}");
        }
    }
}
