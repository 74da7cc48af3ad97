//! A page of figures, tables and words in the style of the report, for experiments.

use crate::markup::Markup;
use crate::page;

/// A table of text; the first column names the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentTable {
    /// Above the table.
    pub title: String,
    /// One for each column.
    pub heads: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// A page that fetches nothing and runs no script: words first, then figures side by side, tables, lists.
///
/// ```
/// use truecast_report::Document;
/// use truecast_report::chart::{Chart, LineChart};
///
/// let page = Document::new("An experiment").figure(LineChart::new("regret").to_svg(), "It falls.").to_html();
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("It falls."));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    title: String,
    source: String,
    paragraphs: Vec<String>,
    figures: Vec<(String, String)>,
    tables: Vec<DocumentTable>,
    lists: Vec<(String, Vec<String>)>,
}

impl Document {
    /// An empty page.
    pub fn new(title: &str) -> Self {
        Document { title: title.to_owned(), ..Document::default() }
    }

    /// Where it comes from, under the title.
    #[must_use]
    pub fn source(mut self, source: &str) -> Self {
        self.source = source.to_owned();
        self
    }

    /// Adds words before the figures.
    #[must_use]
    pub fn paragraph(mut self, text: &str) -> Self {
        self.paragraphs.push(text.to_owned());
        self
    }

    /// Adds a figure, as [`Chart::to_svg`](crate::chart::Chart::to_svg) gives it. The SVG is taken as it is.
    #[must_use]
    pub fn figure(mut self, svg: String, caption: &str) -> Self {
        self.figures.push((svg, caption.to_owned()));
        self
    }

    /// Adds a table after the figures.
    #[must_use]
    pub fn table(mut self, table: DocumentTable) -> Self {
        self.tables.push(table);
        self
    }

    /// Adds a list after the tables.
    #[must_use]
    pub fn list(mut self, title: &str, items: Vec<String>) -> Self {
        self.lists.push((title.to_owned(), items));
        self
    }

    /// The page.
    pub fn to_html(&self) -> String {
        let mut markup = Markup::default();
        markup.raw("<!DOCTYPE html>\n");
        markup.tag("html").attribute("lang", "en").open();
        page::head(&mut markup, &self.title);
        markup.tag("body").open();
        markup.tag("main").open();
        markup.tag("header").open();
        markup.element("h1", &self.title);
        markup.tag("p").class("source").text(&self.source);
        markup.close();
        markup.tag("section").open();
        for paragraph in &self.paragraphs {
            markup.element("p", paragraph);
        }
        markup.close();
        markup.tag("div").class("figures").open();
        for (svg, caption) in &self.figures {
            markup.tag("figure").open();
            markup.raw(svg);
            markup.element("figcaption", caption);
            markup.close();
        }
        markup.close();
        for table in &self.tables {
            table.write(&mut markup);
        }
        for (title, items) in &self.lists {
            markup.tag("section").class("notes").open();
            markup.element("h2", title);
            markup.tag("ul").open();
            for item in items {
                markup.element("li", item);
            }
            markup.close();
            markup.close();
        }
        markup.finish()
    }
}

impl DocumentTable {
    fn write(&self, markup: &mut Markup) {
        markup.tag("section").open();
        markup.element("h2", &self.title);
        // A region that scrolls can be reached by keyboard, and is named for those who do not see it.
        let scroll = markup.tag("div").class("scroll").attribute("tabindex", "0").attribute("role", "region");
        scroll.attribute("aria-label", &self.title).open();
        markup.tag("table").open();
        markup.tag("thead").open();
        markup.tag("tr").open();
        for head in &self.heads {
            markup.tag("th").attribute("scope", "col").text(head);
        }
        markup.close();
        markup.close();
        markup.tag("tbody").open();
        for row in &self.rows {
            markup.tag("tr").open();
            for (at, cell) in row.iter().enumerate() {
                if at == 0 {
                    markup.tag("th").attribute("scope", "row").text(cell);
                } else {
                    markup.element("td", cell);
                }
            }
            markup.close();
        }
        for _ in ["tbody", "table", "div", "section"] {
            markup.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_balanced_and_escaped() {
        let rows = vec![vec!["<a>".to_owned(), "1 & 2".to_owned()]];
        let table = DocumentTable { title: "t".into(), heads: vec!["method".into(), "score".into()], rows };
        let page = Document::new("<t>").source("s").paragraph("p").table(table);
        let html = page.list("l", vec!["<li>".into()]).to_html();
        let body = html.strip_prefix("<!DOCTYPE html>\n").unwrap();
        roxmltree::Document::parse(body).unwrap();
        assert!(html.contains("&lt;a&gt;") && html.contains("1 &amp; 2") && html.contains("&lt;li&gt;"));
    }
}
