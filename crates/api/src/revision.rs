//! What is known about a revision.

use lynceus_object::Str;

use crate::scalar::Time;
use crate::wire::wire;

wire! {
    /// What is known about a commit.
    pub struct RevisionMetadata {
        /// Who wrote it.
        optional author: Str = "author",
        /// When.
        required date: Option<Time> = "date",
        /// The tags that point to it.
        optional tags: Vec<Str> = "tags",
        /// What its author says.
        optional message: Str = "message",
        /// What a check of its signature said.
        optional signature_info: Str = "signatureInfo",
        /// Commits that it was made from.
        optional references: Vec<RevisionReference> = "references",
        /// What a check of its integrity said.
        optional source_integrity_result: Option<SourceIntegrityCheckResult> = "sourceIntegrityResult",
    }
}

wire! {
    /// Something that a commit was made from.
    pub struct RevisionReference {
        /// Another commit.
        optional commit: Option<CommitMetadata> = "commit",
    }
}

wire! {
    /// What is known about a commit that another was made from.
    pub struct CommitMetadata {
        /// Who wrote it.
        optional author: Str = "author",
        /// When, as RFC 3339.
        optional date: Str = "date",
        /// The first line of its message.
        optional subject: Str = "subject",
        /// The rest of its message.
        optional body: Str = "body",
        /// Its hash.
        optional sha: Str = "sha",
        /// The repository that it is in.
        optional repo_url: Str = "repoUrl",
    }
}

wire! {
    /// What is known about an OCI artifact.
    pub struct OciMetadata {
        /// When it was made.
        optional created_at: Str = "createdAt",
        /// Who made it.
        optional authors: Str = "authors",
        /// Where the image is described.
        optional image_url: Str = "imageUrl",
        /// Where its documentation is.
        optional docs_url: Str = "docsUrl",
        /// Where its source is.
        optional source_url: Str = "sourceUrl",
        /// Its version.
        optional version: Str = "version",
        /// What it is.
        optional description: Str = "description",
    }
}

wire! {
    /// What is known about a Helm chart.
    pub struct ChartDetails {
        /// What it is.
        optional description: Str = "description",
        /// Its home page.
        optional home: Str = "home",
        /// Who looks after it.
        optional maintainers: Vec<Str> = "maintainers",
    }
}

wire! {
    /// What a check of integrity said.
    pub struct SourceIntegrityCheckResult {
        /// The checks that were made.
        required checks: Vec<SourceIntegrityCheckResultItem> = "Checks",
    }
}

wire! {
    /// One check.
    pub struct SourceIntegrityCheckResultItem {
        /// What was checked.
        required name: Str = "Name",
        /// What is wrong; nothing if empty.
        required problems: Vec<Str> = "Problems",
    }
}
