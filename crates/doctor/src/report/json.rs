//! For programs. docs/doctor.schema.json says what stands where.

use crate::examination::Examination;

/// The version of the form.
const FORM: u32 = 1;

/// The report as JSON.
pub fn json(examination: &Examination) -> Result<String, serde_json::Error> {
    #[derive(serde::Serialize)]
    struct Report<'a> {
        version: u32,
        #[serde(flatten)]
        examination: &'a Examination,
    }
    let mut text = serde_json::to_string_pretty(&Report { version: FORM, examination })?;
    text.push('\n');
    Ok(text)
}
