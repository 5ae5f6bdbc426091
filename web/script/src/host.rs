//! What a script in the page has around it: files in memory, output that is collected for the page, the lane's clock.

use crate::clock::Clock;
use aludel_python::host::kept::{Kept, Time};
use aludel_python::modules::apart::{Fetching, Wanted};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// A file of the library, which `web/code/worker.js` fetches.
    #[wasm_bindgen(catch, js_name = libraryFile)]
    fn library_file(package: &str, version: &str) -> Result<js_sys::Promise, JsValue>;
}

/// The file of a package that the module does not carry.
pub fn fetch(wanted: Wanted) -> Fetching {
    Box::pin(async move {
        let shown = |e: JsValue| -> String { js_sys::Error::from(e).message().into() };
        let text = JsFuture::from(library_file(wanted.package, wanted.version).map_err(shown)?).await.map_err(shown)?;
        Ok(text.as_string().unwrap_or_default())
    })
}

/// The surroundings of one lane.
pub type PageHost = Kept<LaneTime>;

/// The page's clock, and the lane's.
pub struct LaneTime(pub Rc<Clock>);

impl Time for LaneTime {
    fn now(&self) -> f64 {
        js_sys::Date::now() / 1e3
    }
    fn elapsed(&self) -> f64 {
        self.0.elapsed() / 1e3
    }
    fn skip(&self, seconds: f64) {
        self.0.skip(seconds * 1e3);
    }
    fn utc_offset(&self) -> i64 {
        -(js_sys::Date::new_0().get_timezone_offset() * 60.0) as i64
    }
    fn entropy(&mut self) -> u64 {
        let half = || (js_sys::Math::random() * 4_294_967_296.0) as u64;
        (half() << 32) | half()
    }
}
