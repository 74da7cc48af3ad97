//! Markup that is balanced and escaped by construction.
//!
//! What is written is well-formed XML and valid HTML at once: tags close in the order they were opened in, empty
//! elements end in `/>`, and text can only enter through [`escape`].

use std::fmt::Write;

use crate::number::coordinate;

/// A growing piece of HTML or SVG.
#[derive(Debug, Clone, Default)]
pub(crate) struct Markup {
    written: String,
    open: Vec<&'static str>,
}

impl Markup {
    /// Begins an element; attributes follow, and then [`Tag::open`], [`Tag::empty`] or [`Tag::text`].
    pub(crate) fn tag(&mut self, name: &'static str) -> Tag<'_> {
        self.written.push('<');
        self.written.push_str(name);
        Tag { markup: self, name }
    }

    /// Closes the element that was opened last.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            self.written.push_str("</");
            self.written.push_str(name);
            self.written.push('>');
        }
    }

    /// Text between tags.
    pub(crate) fn text(&mut self, text: &str) {
        escape(text, &mut self.written);
    }

    /// Markup that this crate made, as it is: another [`Markup`]'s, or a style sheet.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.written.push_str(markup);
    }

    /// An element with text in it and no attributes.
    pub(crate) fn element(&mut self, name: &'static str, text: &str) {
        self.tag(name).text(text);
    }

    /// All that was written, with what is still open closed.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.written
    }
}

/// An element whose attributes are being written.
#[derive(Debug)]
#[must_use = "a tag is not closed before open, empty or text"]
pub(crate) struct Tag<'a> {
    markup: &'a mut Markup,
    name: &'static str,
}

impl Tag<'_> {
    /// An attribute with text.
    pub(crate) fn attribute(self, name: &str, value: &str) -> Self {
        // Writing to a string cannot fail.
        let _ = write!(self.markup.written, " {name}=\"");
        escape(value, &mut self.markup.written);
        self.markup.written.push('"');
        self
    }

    /// `class="…"`.
    pub(crate) fn class(self, value: &str) -> Self {
        self.attribute("class", value)
    }

    /// An attribute with a length or place in the chart's units.
    pub(crate) fn number(self, name: &str, value: f64) -> Self {
        self.attribute(name, &coordinate(value))
    }

    /// Leaves the element open for content.
    pub(crate) fn open(self) {
        self.markup.written.push('>');
        self.markup.open.push(self.name);
    }

    /// Ends an element without content.
    pub(crate) fn empty(self) {
        self.markup.written.push_str("/>");
    }

    /// Ends an element with text as its content.
    pub(crate) fn text(self, text: &str) {
        self.markup.written.push('>');
        escape(text, &mut self.markup.written);
        self.markup.written.push_str("</");
        self.markup.written.push_str(self.name);
        self.markup.written.push('>');
    }
}

/// Appends `text` so that it is text in an element and in a quoted attribute alike.
///
/// Control characters that XML has no place for become U+FFFD: a key read from a damaged file must not break the page.
fn escape(text: &str, into: &mut String) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\t' | '\n' => into.push(character),
            '\u{fffe}' | '\u{ffff}' => into.push('\u{fffd}'),
            _ if character.is_control() => into.push('\u{fffd}'),
            _ => into.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut markup = Markup::default();
        markup.tag("p").attribute("title", "\"><script>").text("<script>&\"'\u{0}");
        assert_eq!(
            markup.finish(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;script&gt;&amp;&quot;&#39;\u{fffd}</p>"
        );
    }

    #[test]
    fn what_is_open_is_closed_in_order() {
        let mut markup = Markup::default();
        markup.tag("main").open();
        markup.tag("svg").number("width", 1.0 / 3.0).open();
        markup.tag("path").class("a").empty();
        markup.close();
        markup.element("p", "x");
        assert_eq!(markup.finish(), "<main><svg width=\"0.33\"><path class=\"a\"/></svg><p>x</p></main>");
        let mut nothing = Markup::default();
        nothing.close();
        assert_eq!(nothing.finish(), "");
    }
}
