//! Every bound of this crate, in one place.

/// The most that the manifests of one directory may have together: 10 MB, as in Argo CD. In memory they become many
/// times that.
pub const DIRECTORY_BYTES: u64 = 10_000_000;

/// The largest single file that is read as a manifest.
pub const FILE_BYTES: u64 = DIRECTORY_BYTES;

/// How many files one directory source may have.
pub const FILES: usize = 20_000;

/// How deep folders may lie in each other.
pub const DEPTH: usize = 100;

/// How many steps a Jsonnet program may take. A call of a function and a field of an object that is made are one
/// each, and more if they have many things in them.
pub const JSONNET_STEPS: u64 = 4_000_000;

/// How many steps an element of a comprehension is, and of a list that is asked for by its length: each stays in memory
/// until all are gathered. `jsonnet/library.libsonnet` has the same number.
pub const JSONNET_ELEMENT_STEPS: u64 = 8;

/// How many bytes that a Jsonnet program makes are a step, about as many as a call takes. Everything is counted that is
/// made, since all of it may be kept: together with the steps themselves it bounds the memory of a program.
pub const JSONNET_STEP_BYTES: u64 = 256;

/// The largest text that a Jsonnet program may make. While it is made, it takes a few times that.
pub const JSONNET_TEXT_BYTES: usize = 16_000_000;

/// How deep calls, variables and fields of a Jsonnet program may wait for each other. Argo CD's evaluator allows 500 calls,
/// and here a call takes up to four places, and a sum in it two more. The evaluator keeps them on the heap.
pub const JSONNET_STACK: usize = 20_000;

/// How deep the text of a Jsonnet program may nest, counted as brackets and the words that begin an expression.
pub const JSONNET_NESTING: usize = 3_000;

/// How much work signs like `+` and `-` may be that stand in rows, counted as the squares of their lengths: the evaluator
/// reads a row again for each sign in it.
pub const JSONNET_SIGNS: u64 = 20_000_000;

/// The largest file that a Jsonnet program may be or import.
pub const JSONNET_FILE_BYTES: u64 = DIRECTORY_BYTES;

/// How many bytes the files may have together that one Jsonnet program imports.
pub const JSONNET_IMPORT_BYTES: u64 = 64_000_000;

/// How large the values may be that a Jsonnet program gives: bytes of text, and some for each value.
pub const JSONNET_OUTPUT_BYTES: u64 = 64_000_000;

/// How much of the message is told that a Jsonnet program fails with.
pub const JSONNET_MESSAGE_BYTES: usize = 10_000;

/// How deep the values may nest that a Jsonnet program gives.
pub const JSONNET_OUTPUT_DEPTH: usize = 200;

/// How many directories of a repository are looked through for applications.
pub const DIRECTORIES: usize = 20_000;

/// The largest file of a repository that is read to describe it, in bytes.
pub const DESCRIBED_FILE: u64 = 4 << 20;
