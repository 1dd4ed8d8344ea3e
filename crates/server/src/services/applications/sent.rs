//! What somebody's own files give in the place of Git's: `app diff --local --server-side-generate`.
//!
//! The files come packed, with a checksum. The project decides about them as about Git's: an application whose source it does not
//! allow gives nothing, and where it wants signatures, files that nobody has signed are refused.

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lynceus_engine::{Aim, Freshness};
use lynceus_files::{MemoryTree, Tree};
use ring::digest::{SHA256, digest};

use super::managed::{refuse_uncompared, rendered};
use crate::call::{Answer, Answered, Call};
use crate::limits;
use crate::refusal::{Code, Refusal};

/// The manifests that the files of a request give for the application that it names.
pub(super) async fn manifests(call: &Call) -> Answered {
    let query = call.request.get("query").cloned().unwrap_or_default();
    let about = Call { server: call.server.clone(), caller: call.caller.again(), request: query };
    about.needed("name")?;
    let application = about.application("get", "name")?;
    if application.spec.has_multiple_sources() {
        let what = "the application has several sources, which one set of files cannot stand for";
        return Err(Refusal::invalid(what));
    }
    let packed = call.request.str_at(&["chunk", "chunk"]).unwrap_or_default();
    let packed = STANDARD.decode(packed).map_err(|_| Refusal::invalid("the files are no base64"))?;
    let files = unpacked(packed, about.text("checksum").to_owned()).await?;
    let aim = Aim { files: vec![Some(files)], freshness: Freshness::Latest, ..Aim::default() };
    let look = about.server.engine.look(&application, &aim).await;
    refuse_uncompared(&look)?;
    Ok(Answer::One(rendered(&about, &application, &look)))
}

/// The files, unpacked beside those who answer others, because it may take a while.
async fn unpacked(packed: Vec<u8>, checksum: String) -> Result<Arc<dyn Tree>, Refusal> {
    let work = tokio::task::spawn_blocking(move || tree(&packed, &checksum));
    let failed = |_| Refusal::new(Code::Internal, "the files could not be unpacked");
    Ok(Arc::new(work.await.map_err(failed)??))
}

fn tree(packed: &[u8], checksum: &str) -> Result<MemoryTree, Refusal> {
    if packed.is_empty() {
        return Err(Refusal::invalid(
            "there are no files: they are sent behind the query, packed with tar and gzip",
        ));
    }
    if !checksum.eq_ignore_ascii_case(&sum(packed)) {
        return Err(Refusal::invalid("the files are not those that the checksum is of"));
    }
    lynceus_source::unpacked(packed, limits::SENT_FILES).map_err(Refusal::invalid)
}

/// The checksum of bytes, as Argo CD writes it.
fn sum(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in digest(&SHA256, bytes).as_ref() {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests;
