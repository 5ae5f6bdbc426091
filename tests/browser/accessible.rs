//! axe-core finds nothing on the pages, in light and dark (`vendor/README.md` says where it is from).

use crate::{Page, Test};
use anyhow::{Result, ensure};

const AXE: &str = include_str!("vendor/axe/axe.min.js");

pub const TESTS: [Test; 3] = [
    ("axe finds nothing in the code view", code),
    ("axe finds nothing on the page", presets),
    ("axe finds nothing on the benchmarks", benchmarks),
];

impl Page {
    /// Fails with what axe finds, element by element.
    fn axe(&mut self, what: &str) -> Result<()> {
        for dark in [false, true] {
            self.browser.prefer_dark(dark)?;
            self.settle()?;
            self.browser.eval(&format!("(() => {{ if (!window.axe) {{ {AXE} }} }})()"))?;
            let found = self.browser.eval(
                "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 4).map(n => n.target.join(' ') + ' (' + n.any.concat(n.all).map(c => c.message)[0] + ')').join('; ')).join('\\n'))",
            )?;
            ensure!(found == "", "{what}, dark: {dark}: {}", found.as_str().unwrap_or_default());
        }
        self.browser.prefer_dark(false)
    }
}

fn code(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.axe("the code view")?;
    page.runs("--steps 20 --every 5")?;
    page.browser.wait("marks in the margin", "document.querySelectorAll('.became').length > 2", 20)?;
    page.browser.eval("document.querySelector('#inspect').click()")?;
    page.browser.wait("the inspector", "document.querySelector('#inspector pre') !== null", 20)?;
    page.axe("the code view after a run")
}

fn presets(page: &mut Page) -> Result<()> {
    page.open("?preset=points")?;
    page.browser.click("#step")?;
    page.browser.wait("a step", "document.getElementById('right-step').textContent === '1'", 180)?;
    page.axe("the page")
}

fn benchmarks(page: &mut Page) -> Result<()> {
    page.browser.open(&format!("{}benchmarks.html", page.base))?;
    page.browser.wait("the results", "document.querySelector('#results .muted') === null", 30)?;
    page.axe("the benchmarks")
}
