use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use lynceus_files::{Entry, Tree as _};
use tar::{Builder, Header};

use super::*;

enum Kind<'a> {
    File(&'a str),
    Symlink(&'a str),
    Hardlink(&'a str),
    Device,
}

/// An archive whose names are written as they are, however wrong.
fn archive(members: &[(&str, Kind<'_>)]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, kind) in members {
        let mut header = Header::new_gnu();
        let (kind, content, target) = match kind {
            Kind::File(content) => (EntryType::Regular, *content, ""),
            Kind::Symlink(target) => (EntryType::Symlink, "", *target),
            Kind::Hardlink(target) => (EntryType::Link, "", *target),
            Kind::Device => (EntryType::Char, "", ""),
        };
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        let gnu = header.as_gnu_mut().unwrap();
        gnu.name[..path.len()].copy_from_slice(path.as_bytes());
        gnu.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn layer(media_type: &str) -> Blob {
    Blob { media_type: media_type.to_owned(), ..Blob::default() }
}

fn check(members: &[(&str, Kind<'_>)]) -> Result<MemoryTree, String> {
    unpack(&layer(TYPES[1]), &gzip(&archive(members)))
}

fn read(tree: &MemoryTree, path: &str) -> String {
    String::from_utf8(tree.read(&FilePath::new(path).unwrap(), 100).unwrap().to_vec()).unwrap()
}

#[test]
fn files_and_links_that_stay_inside_are_unpacked() {
    let members = [
        ("./a/b.yaml", Kind::File("b")),
        ("a/link", Kind::Symlink("../c")),
        ("c", Kind::Hardlink("a/b.yaml")),
        ("null", Kind::Device),
    ];
    let plain = unpack(&layer(TYPES[0]), &archive(&members)).unwrap();
    let packed = check(&members).unwrap();
    for tree in [plain, packed] {
        assert_eq!([read(&tree, "a/b.yaml"), read(&tree, "a/link"), read(&tree, "c")], ["b", "b", "b"]);
        assert_eq!(tree.entry(&FilePath::new("a/link").unwrap()), Ok(Entry::Link("../c".to_owned())));
        assert!(tree.entry(&FilePath::new("null").unwrap()).is_err());
    }
}

#[test]
fn what_leads_out_of_the_archive_is_refused() {
    let error = |path: &str, kind| check(&[(path, kind)]).unwrap_err();
    for path in ["../x", "/etc/passwd", "a/../../x", "..", "a\\..\\x"] {
        assert!(error(path, Kind::File("")).contains("leads out of it"), "{path}");
    }
    for target in ["../x", "/etc/passwd", "a/../../x"] {
        assert!(error("link", Kind::Symlink(target)).contains("leads out of it"), "{target}");
    }
    assert!(error("link", Kind::Hardlink("../x")).contains("leads out of it"));
    assert!(error("link", Kind::Hardlink("x")).contains("does not come before it"));
}

#[test]
fn an_archive_that_unfolds_too_far_is_refused() {
    let mut header = Header::new_gnu();
    header.set_path("zeros").unwrap();
    header.set_size(1 << 40);
    header.set_cksum();
    let bytes = gzip(&[header.as_bytes(), vec![0; 1 << 20].as_slice()].concat());
    assert!(bytes.len() < 1 << 14);
    let error = unpack_within(&layer(TYPES[1]), &bytes, 1 << 18).unwrap_err();
    assert!(error.contains("more than 262144 bytes"), "{error}");
    // What one file leaves is all that the next may have.
    let members = [("a", Kind::File("123")), ("b", Kind::File("456"))];
    assert!(unpack_within(&layer(TYPES[0]), &archive(&members), 6).is_ok());
    assert!(unpack_within(&layer(TYPES[0]), &archive(&members), 5).is_err());
}

#[test]
fn a_broken_archive_is_told() {
    let whole = gzip(&archive(&[("a", Kind::File(&"x".repeat(5000)))]));
    let error = unpack(&layer(TYPES[1]), &whole[..whole.len() / 2]).unwrap_err();
    assert!(error.contains("cannot be read"), "{error}");
    assert!(unpack(&layer(TYPES[1]), b"nonsense").unwrap_err().contains("cannot be read"));
}

#[test]
fn the_files_of_a_chart_come_out_of_its_directory() {
    let chart = |members: &[(&str, Kind<'_>)]| unpack(&layer(CHART_LAYER), &gzip(&archive(members)));
    let tree = chart(&[("web/Chart.yaml", Kind::File("c")), ("web/templates/a", Kind::File("a"))]).unwrap();
    assert_eq!(read(&tree, "Chart.yaml"), "c");
    assert_eq!(
        chart(&[("web/a", Kind::File("")), ("other/a", Kind::File(""))]).unwrap_err(),
        "a chart has more than one directory"
    );
    assert_eq!(chart(&[("a", Kind::File(""))]).unwrap_err(), "a chart has files beside its directory");
}

#[test]
fn exactly_one_layer_has_the_files() {
    let manifest = |types: &[&str]| Manifest {
        layers: types.iter().map(|media_type| layer(media_type)).collect(),
        ..Manifest::default()
    };
    assert_eq!(content(&manifest(&[TYPES[1], "application/json"])).unwrap().media_type, TYPES[1]);
    assert!(content(&manifest(&[])).unwrap_err().contains("has 0 layers"));
    assert!(content(&manifest(&[TYPES[0], TYPES[1]])).unwrap_err().contains("has 2 layers"));
    assert!(content(&manifest(&["x/y.tar"])).unwrap_err().contains("not among those taken"));
    assert!(content(&manifest(&["x/y"; 11])).unwrap_err().contains("more than 10 layers"));
}
