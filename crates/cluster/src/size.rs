//! Objects that are too large, and what can be done about it.

use lynceus_object::{Object, json};

use crate::error::ClusterError;
use crate::write::Strategy;

/// Says more about a refusal where the reason is the object's size.
pub(crate) fn explain(error: ClusterError, object: &Object, strategy: Strategy) -> ClusterError {
    let ClusterError::Refused(refusal) = &error else { return error };
    let hint = if refusal.message.contains("metadata.annotations: Too long")
        && strategy == Strategy::ClientSide
    {
        "client-side apply keeps a copy of the object in an annotation; the sync option ServerSideApply=true needs none"
            .to_owned()
    } else if refusal.code == 413 || refusal.message.contains("request is too large") {
        let bytes = json::to_vec(object.value()).len();
        let copy = match strategy {
            Strategy::ClientSide => {
                "; the sync option ServerSideApply=true saves the copy of it in an annotation"
            }
            Strategy::ServerSide | Strategy::Replace | Strategy::Create => "",
        };
        format!("it has {bytes} bytes, more than the cluster takes{copy}")
    } else {
        return error;
    };
    ClusterError::TooLarge { key: object.key(), message: refusal.message.clone(), hint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Refusal;
    use lynceus_object::Gvk;

    fn told(code: u16, message: &str, strategy: Strategy) -> String {
        let object = Object::named(&Gvk::new("", "v1", "ConfigMap"), "shop", "big");
        let refusal = Refusal { code, message: message.to_owned(), ..Refusal::default() };
        explain(ClusterError::Refused(refusal), &object, strategy).to_string()
    }

    #[test]
    fn an_annotation_that_is_too_long_leads_to_server_side_apply() {
        let message =
            "ConfigMap \"big\" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes";
        assert_eq!(
            told(422, message, Strategy::ClientSide),
            format!(
                "{message} (client-side apply keeps a copy of the object in an annotation; the sync option \
                 ServerSideApply=true needs none)"
            )
        );
        assert_eq!(told(422, message, Strategy::ServerSide), message);
    }

    #[test]
    fn an_object_that_is_too_large_for_the_store_is_told_its_size() {
        assert_eq!(
            told(500, "etcdserver: request is too large", Strategy::ServerSide),
            "etcdserver: request is too large (it has 83 bytes, more than the cluster takes)"
        );
    }
}
