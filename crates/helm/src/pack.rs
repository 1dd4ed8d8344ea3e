//! A chart as an archive, with the members that `helm package` gives it, in the same order.

use std::io::Write;
use std::time::Duration;

use flate2::{Compression, GzBuilder};
use lynceus_object::{Value, json, yaml};
use tar::{Builder, Header};

use crate::chart::{Chart, Metadata};
use crate::{resolve, show};

/// Why a chart cannot be packed.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The schema of the values is not JSON.
    #[error("invalid JSON in values.schema.json")]
    Schema,
    /// A member cannot be written.
    #[error("cannot pack {member}: {source}")]
    Member {
        /// The member.
        member: String,
        /// What is wrong with it.
        source: std::io::Error,
    },
}

/// The name that Helm gives to the archive of a chart.
pub fn archive_name(chart: &Chart) -> String {
    format!("{}-{}.tgz", chart.metadata.name, chart.metadata.version)
}

/// Packs a chart with its dependencies. Every member is said to be from `modified`, counted since 1970.
///
/// `Chart.yaml` and `Chart.lock` are printed anew, and what `.helmignore` leaves out is not there, as in Helm.
pub fn pack(chart: &Chart, modified: Duration) -> Result<Vec<u8>, PackError> {
    let gzip = GzBuilder::new().comment("Helm").write(Vec::new(), Compression::default());
    let mut archive = Archive { out: Builder::new(gzip), modified: modified.as_secs() };
    archive.chart(chart, "")?;
    let finished = archive.out.into_inner().and_then(flate2::write::GzEncoder::finish);
    finished.map_err(|source| PackError::Member { member: archive_name(chart), source })
}

struct Archive<W: Write> {
    out: Builder<W>,
    modified: u64,
}

impl<W: Write> Archive<W> {
    fn chart(&mut self, chart: &Chart, parent: &str) -> Result<(), PackError> {
        let base = format!("{parent}{}/", chart.metadata.name);
        self.member(&base, "Chart.yaml", printed(&chart.metadata).as_bytes())?;
        if let Some(lock) = chart.lock.as_ref().filter(|_| chart.metadata.api_version == "v2") {
            self.member(&base, "Chart.lock", resolve::print_lock(lock).as_bytes())?;
        }
        for values in chart.raw.iter().filter(|file| file.name == "values.yaml") {
            self.member(&base, &values.name, &values.data)?;
        }
        if let Some(schema) = &chart.schema {
            json::parse(schema).map_err(|_| PackError::Schema)?;
            self.member(&base, "values.schema.json", schema)?;
        }
        for file in chart.templates.iter().chain(&chart.files) {
            self.member(&base, &file.name, &file.data)?;
        }
        for inner in &chart.dependencies {
            self.chart(inner, &format!("{base}charts/"))?;
        }
        Ok(())
    }

    fn member(&mut self, base: &str, name: &str, data: &[u8]) -> Result<(), PackError> {
        let member = format!("{base}{name}");
        let mut header = Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(data.len() as u64);
        header.set_mtime(self.modified);
        self.out
            .append_data(&mut header, &member, data)
            .map_err(|source| PackError::Member { member, source })
    }
}

/// `Chart.yaml` as Helm prints it. Charts of the first kind name their dependencies in a file of their own.
fn printed(metadata: &Metadata) -> String {
    let mut map = show::metadata(metadata);
    if metadata.api_version == "v1" {
        map.remove("dependencies");
    }
    yaml::to_string(&Value::Map(map))
}

#[cfg(test)]
mod tests {
    use lynceus_files::{FilePath, MemoryTree};

    use super::*;

    fn chart(files: &[(&str, &str)]) -> Chart {
        let mut tree = MemoryTree::new();
        for (path, text) in files {
            tree.insert(FilePath::new(path).unwrap(), text.as_bytes());
        }
        Chart::from_tree(&tree, &FilePath::root()).unwrap()
    }

    /// The members of an archive with their modes and the first lines of their contents.
    fn members(packed: &[u8]) -> Vec<String> {
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
        let told = archive.entries().unwrap().map(|entry| {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
            let name = entry.path().unwrap().display().to_string();
            format!("{:o} {name}: {}", entry.header().mode().unwrap(), text.replace('\n', "|"))
        });
        told.collect()
    }

    #[test]
    fn members_come_in_helms_order() {
        let packed = pack(
            &chart(&[
                ("Chart.yaml", "version: 1.0.0\nname: web\napiVersion: v2\n# gone\n"),
                ("Chart.lock", "generated: 2026-01-02T03:04:05.600Z\ndigest: sha256:x\ndependencies: []\n"),
                ("README.md", "read me"),
                (".helmignore", "*.bak\n"),
                ("a.bak", "left out"),
                ("templates/a.yaml", "a: 1"),
                ("values.schema.json", "{}"),
                ("values.yaml", "b: 2 # stays"),
                ("charts/db/Chart.yaml", "apiVersion: v1\nname: db\nversion: 2.0.0\n"),
                ("charts/db/requirements.yaml", "dependencies: []\n"),
            ]),
            Duration::ZERO,
        );
        let expected = [
            "644 web/Chart.yaml: apiVersion: v2|name: web|version: 1.0.0|",
            "644 web/Chart.lock: dependencies: []|digest: sha256:x|generated: \"2026-01-02T03:04:05.6Z\"|",
            "644 web/values.yaml: b: 2 # stays",
            "644 web/values.schema.json: {}",
            "644 web/templates/a.yaml: a: 1",
            "644 web/.helmignore: *.bak|",
            "644 web/README.md: read me",
            "644 web/charts/db/Chart.yaml: apiVersion: v1|name: db|version: 2.0.0|",
            "644 web/charts/db/requirements.yaml: dependencies: []|",
        ];
        assert_eq!(members(&packed.unwrap()), expected);
    }

    #[test]
    fn a_schema_that_is_not_json_is_refused() {
        let files =
            [("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"), ("values.schema.json", "{")];
        assert_eq!(
            pack(&chart(&files), Duration::ZERO).unwrap_err().to_string(),
            "invalid JSON in values.schema.json"
        );
    }
}
