//! A change set to a plan, and a plan to steps.
