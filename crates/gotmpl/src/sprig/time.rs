//! Go's times and durations: the calendar, layouts, zones, and how they look to templates.

mod calendar;
mod duration;
mod format;
mod layout;
mod moment;
mod object;
mod parse;
mod zone;

pub(super) use duration::{parse_duration, round, show_duration};
pub(super) use format::format;
pub(super) use moment::Moment;
pub(super) use object::{TIME, duration, location, zone_of};
pub(super) use parse::{parse, parse_in};
pub(super) use zone::Zone;
