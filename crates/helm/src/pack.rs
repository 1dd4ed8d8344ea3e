//! A chart as an archive, with the members that `helm package` gives it, in the same order.

use std::io::{self, Write};
use std::time::Duration;

use flate2::{Compression, GzBuilder};
use lynceus_object::{Value, json, yaml};
use tar::{Builder, EntryType, Header};

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

/// By this field of their headers, and by their comment, Helm's archives are known.
const MARK: &[u8] = b"rr\x28\0aHR0cHM6Ly95b3V0dS5iZS96OVV6MWljandyTQo=";

/// Packs a chart with its dependencies. `modified` says when a member was changed, counted since 1970, by its path in the
/// chart.
///
/// `Chart.yaml` and `Chart.lock` are printed anew, and what `.helmignore` leaves out is not there, as in Helm.
pub fn pack(chart: &Chart, modified: &dyn Fn(&str) -> Duration) -> Result<Vec<u8>, PackError> {
    let gzip = GzBuilder::new().extra(MARK).comment("Helm").write(Vec::new(), Compression::default());
    let mut archive = Archive { out: Builder::new(gzip), modified };
    archive.chart(chart, "")?;
    let finished = archive.out.into_inner().and_then(flate2::write::GzEncoder::finish);
    finished.map_err(|source| PackError::Member { member: archive_name(chart), source })
}

struct Archive<'a, W: Write> {
    out: Builder<W>,
    modified: &'a dyn Fn(&str) -> Duration,
}

impl<W: Write> Archive<'_, W> {
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
        let inside = member.split_once('/').map_or(member.as_str(), |(_, inside)| inside);
        let modified = (self.modified)(inside);
        self.append(&member, data, modified).map_err(|source| PackError::Member { member, source })
    }

    fn append(&mut self, member: &str, data: &[u8], modified: Duration) -> io::Result<()> {
        let mut header = described(Header::new_ustar(), data, modified)?;
        if header.set_path(member).is_err() {
            // The name is too long for one header.
            let mut header = described(Header::new_gnu(), data, modified)?;
            return self.out.append_data(&mut header, member, data);
        }
        header.set_cksum();
        as_go_writes_it(&mut header);
        self.out.append(&header, data)
    }
}

/// What Helm says of every member.
fn described(mut header: Header, data: &[u8], modified: Duration) -> io::Result<Header> {
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(data.len() as u64);
    // Go rounds.
    header.set_mtime(modified.as_secs() + u64::from(modified.subsec_millis() >= 500));
    header.set_device_major(0)?;
    header.set_device_minor(0)?;
    Ok(header)
}

/// The sum of a header, of which Go writes six digits, a zero and a space.
fn as_go_writes_it(header: &mut Header) {
    let sum = &mut header.as_old_mut().cksum;
    sum.copy_within(1..7, 0);
    sum[6..].copy_from_slice(b"\0 ");
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
            &|_| Duration::ZERO,
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
    fn headers_are_those_that_go_writes() {
        let files =
            [("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"), ("values.yaml", "a: 1\n")];
        let packed = pack(&chart(&files), &|name| match name {
            "Chart.yaml" => Duration::from_millis(1_577_934_245_500),
            _ => Duration::from_millis(1_577_934_245_499),
        });
        let packed = packed.unwrap();
        let begin = [&b"\x1f\x8b\x08\x14\0\0\0\0\0\xff\x2c\0"[..], MARK, b"Helm\0"].concat();
        assert!(packed.starts_with(&begin), "{:?}", &packed[..64]);
        let mut unpacked = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*packed), &mut unpacked).unwrap();
        let shown = |from: usize| String::from_utf8_lossy(&unpacked[from..from + 345]).replace('\0', "~");
        let header = |name: &str, size: &str, time: &str, sum: &str| {
            let name = format!("{name:~<100}0000644~0000000~0000000~{size}~{time}~{sum}~ 0");
            format!("{name:~<257}ustar~00{:~<64}0000000~0000000~", "")
        };
        assert_eq!(shown(0), header("web/Chart.yaml", "00000000050", "13603256646", "011754"));
        assert_eq!(shown(1024), header("web/values.yaml", "00000000005", "13603256645", "012211"));
        assert_eq!(unpacked.len(), 4 * 512 + 1024);
    }

    #[test]
    fn a_schema_that_is_not_json_is_refused() {
        let files =
            [("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"), ("values.schema.json", "{")];
        assert_eq!(
            pack(&chart(&files), &|_| Duration::ZERO).unwrap_err().to_string(),
            "invalid JSON in values.schema.json"
        );
    }
}
