//! What a script in the page has around it: files in memory, output that is collected for the page, the lane's clock.

use crate::clock::Clock;
use aludel_python::host::kept::{Kept, Time};
use std::rc::Rc;

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
