//! XML without document types, so that no entity can expand.

use roxmltree::{Document, Node, ParsingOptions};

/// Most elements, attributes and texts of a file, for each allowed link.
const PIECES: u64 = 40;

/// Reads a document.
///
/// # Errors
/// Why the text is not XML, with its line.
pub(crate) fn parse(text: &str, links: u64) -> Result<Document<'_>, String> {
    let nodes_limit = u32::try_from(links.saturating_mul(PIECES)).unwrap_or(u32::MAX).max(10_000);
    let options = ParsingOptions { allow_dtd: false, nodes_limit, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|e| format!("not XML: {e}"))
}

/// An attribute as a number.
pub(crate) fn number(node: Node<'_, '_>, name: &str) -> Option<f64> {
    node.attribute(name)?.trim().parse().ok()
}
