//! EXACT: its parts by hand.
