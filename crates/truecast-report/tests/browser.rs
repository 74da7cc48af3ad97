//! What a browser makes of the page, at the width of a telephone and of a desktop.
//!
//! Each report is laid out by Chromium in a frame of the given width. A script then measures: the page must not be
//! wider than its frame, the certificate must fit into its column, text of a chart must lie within the chart, and no
//! two texts of a chart may lie on one another. Errors on the console fail the test as well. Without Chromium the test
//! says so and passes, except on CI.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]
#![allow(clippy::print_stdout, reason = "a skipped test says why")]

mod samples;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// At 900 the two columns of charts are about as narrow as on paper, where nothing scrolls.
const WIDTHS: [u32; 4] = [320, 390, 900, 1280];
const TIME_LIMIT: Duration = Duration::from_secs(180);

/// Measures every frame once all have loaded, and leaves one line per finding in the document.
const SCRIPT: &str = r#"
const findings = [];
window.onerror = (message) => { findings.push("error: " + message); };
window.onload = () => {
  let pages = 0, texts = 0;
  for (const frame of document.querySelectorAll("iframe")) {
    const name = frame.title, page = frame.contentDocument, view = frame.contentWindow;
    const wide = page.documentElement.scrollWidth;
    pages += 1;
    if (wide > view.innerWidth) findings.push(`${name}: the page is ${wide} wide`);
    for (const box of page.querySelectorAll(".certificate .scroll"))
      if (view.innerWidth > 860 && box.scrollWidth > box.clientWidth) findings.push(`${name}: the certificate is cut off`);
    for (const svg of page.querySelectorAll("svg.tc-chart")) {
      const title = svg.querySelector("title").textContent;
      const box = svg.getBoundingClientRect();
      const all = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
      texts += all.length;
      all.forEach(([words, a], index) => {
        if (a.left < box.left - 1 || a.right > box.right + 1 || a.top < box.top - 1 || a.bottom > box.bottom + 1)
          findings.push(`${name}: "${words}" leaves "${title}"`);
        for (const [others, b] of all.slice(index + 1))
          if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
              Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
            findings.push(`${name}: "${words}" lies on "${others}" in "${title}"`);
      });
    }
  }
  const result = document.createElement("pre");
  result.textContent = [`measured ${pages} pages, ${texts > 100 ? "many" : texts} texts`, ...findings].join("\n");
  result.id = "result";
  document.body.replaceChildren(result);
};
"#;

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let places = std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

/// A page with a frame for every given page and width.
fn harness(pages: &[(String, String)]) -> String {
    let mut html =
        format!("<!DOCTYPE html><meta charset=\"utf-8\"><title>t</title><script>{SCRIPT}</script><body>");
    for (name, page) in pages {
        let source = page.replace('&', "&amp;").replace('"', "&quot;");
        for width in WIDTHS {
            html.push_str(&format!(
                "<iframe title=\"{name} at {width}\" style=\"width:{width}px;height:800px;border:0\" srcdoc=\"{source}\"></iframe>"
            ));
        }
    }
    html
}

/// The lines that the script leaves, and what the browser says on its console.
fn measure(browser: &Path, name: &str, pages: &[(String, String)]) -> (String, String) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("harness.html");
    std::fs::write(&file, harness(pages)).unwrap();
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=20000", "--window-size=1400,1000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (send, receive) = mpsc::channel();
    let streams: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    for (index, mut stream) in streams.into_iter().enumerate() {
        let send = send.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stream.read_to_end(&mut bytes);
            let _ = send.send((index, read.map(|_| String::from_utf8_lossy(&bytes).into_owned())));
        });
    }
    let mut texts = [String::new(), String::new()];
    for _ in 0..2 {
        let Ok((index, text)) = receive.recv_timeout(TIME_LIMIT) else {
            child.kill().unwrap();
            panic!("{} did not finish within {TIME_LIMIT:?}", browser.display());
        };
        texts[index] = text.unwrap();
    }
    child.wait().unwrap();
    let [dom, log] = texts;
    let result = dom.split_once("<pre id=\"result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let findings = result.map(|(lines, _)| lines.to_owned());
    let findings = findings.unwrap_or_else(|| panic!("the script left nothing\n{log}"));
    let console: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    (findings, console.join("\n"))
}

/// `None`, with a word on why, where the test cannot run.
fn browser_or_skip() -> Option<PathBuf> {
    let found = browser();
    if found.is_none() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI must have Chromium");
        println!("skipped: no chromium, chromium-browser or google-chrome on the PATH");
    }
    found
}

#[test]
fn pages_fit_and_no_text_collides() {
    let Some(browser) = browser_or_skip() else { return };
    let pages: Vec<(String, String)> =
        samples::all().into_iter().map(|(name, report)| (name.to_owned(), report.to_html())).collect();
    for (name, page) in &pages {
        // For people to look at.
        std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.html")), page).unwrap();
    }
    let (findings, console) = measure(&browser, "pages", &pages);
    assert_eq!(findings, format!("measured {} pages, many texts", pages.len() * WIDTHS.len()));
    assert_eq!(console, "");
}

/// The measurement itself: a wide element, colliding and escaping text, and an error are all found.
#[test]
fn a_broken_page_is_found_out() {
    let Some(browser) = browser_or_skip() else { return };
    let page = "<!DOCTYPE html><meta name=\"viewport\" content=\"width=device-width\"><body style=\"margin:0\">\
                <div style=\"width:1300px\">wide</div>\
                <svg class=\"tc-chart\" viewBox=\"0 0 100 50\" width=\"300\"><title>c</title>\
                <text x=\"1\" y=\"20\">one</text><text x=\"3\" y=\"22\">two</text><text x=\"95\" y=\"45\">three</text></svg>\
                <script>console.error('broken')</script>";
    let (findings, console) = measure(&browser, "broken", &[("broken".to_owned(), page.to_owned())]);
    for expected in [
        "broken at 390: the page is 1300 wide",
        "broken at 1280: the page is 1300 wide",
        "\"one\" lies on \"two\" in \"c\"",
        "\"three\" leaves \"c\"",
    ] {
        assert!(findings.contains(expected), "{expected} is not in\n{findings}");
    }
    assert!(console.contains("broken"), "{console}");
}
