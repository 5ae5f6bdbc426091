//! What the page knows, and how events change it. No browser in here: it is plain data.

use super::curve::{Curve, Point};
use super::location::Link;
use aludel_models::presets::{Config, FieldError, Preset};
use aludel_protocol::{Counts, Device, Evaluation, Event, Inspection, Pane, Progress};
use std::cell::RefCell;
use std::rc::Rc;

/// Something to say above everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    pub text: String,
    pub error: bool,
}

/// What a pane shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    pub step: u64,
    pub loss: Option<f32>,
    pub elapsed_ms: f64,
    pub ms_per_step: Option<f64>,
    /// How long the first step took.
    pub first_ms: Option<f64>,
    pub counts: Counts,
    pub evaluation: Option<Rc<Evaluation>>,
}

/// Both curves, shared with the plot without being copied.
pub type Curves = Rc<RefCell<[Curve; 2]>>;

pub struct State {
    pub link: Link,
    /// What is wrong with the fields as written.
    pub errors: Vec<FieldError>,
    /// What the session trains.
    pub config: Option<Config>,
    pub session: u32,
    pub device: Option<Device>,
    /// The session exists.
    pub ready: bool,
    pub running: bool,
    /// The page is dark at the moment.
    pub dark: bool,
    pub notice: Option<Notice>,
    panes: [View; 2],
    pub curves: Curves,
    pub curves_version: u64,
    pub inspection: Option<Rc<Inspection>>,
    /// The digit on the pad, and what the model makes of it.
    pub drawn: Option<Vec<f32>>,
    pub probabilities: Option<Vec<f32>>,
    /// The fields of presets not on show.
    kept: Vec<(Preset, Vec<(String, String)>)>,
}

impl State {
    pub fn new(link: Link) -> Self {
        let errors = Config::from_fields(link.preset, &link.fields).err().unwrap_or_default();
        State {
            link,
            errors,
            config: None,
            session: 0,
            device: None,
            ready: false,
            running: false,
            dark: false,
            notice: None,
            panes: Default::default(),
            curves: Curves::default(),
            curves_version: 0,
            inspection: None,
            drawn: None,
            probabilities: None,
            kept: Vec::new(),
        }
    }

    pub fn fail(&mut self, text: String) {
        self.notice = Some(Notice { text, error: true });
    }

    pub fn pane(&self, pane: Pane) -> &View {
        &self.panes[pane as usize]
    }

    pub fn on_interpreter(&self) -> bool {
        self.device.as_ref().is_some_and(|d| d.backend == "Interpreter")
    }

    /// No step has been taken.
    pub fn is_fresh(&self) -> bool {
        self.panes.iter().all(|p| p.step == 0)
    }

    /// Shows another preset; the fields of this one come back when it does.
    pub fn select(&mut self, preset: Preset) {
        let old = (self.link.preset, std::mem::take(&mut self.link.fields));
        self.kept.retain(|(p, _)| *p != old.0);
        self.kept.push(old);
        self.link.preset = preset;
        self.link.fields = self.kept.iter().find(|(p, _)| *p == preset).map_or_else(|| preset.defaults(), |(_, f)| f.clone());
        self.errors = Config::from_fields(preset, &self.link.fields).err().unwrap_or_default();
        self.drawn = None;
        self.notice = None;
    }

    pub fn edit(&mut self, key: &str, value: String) {
        if let Some(slot) = self.link.fields.iter_mut().find(|(k, _)| k == key) {
            slot.1 = value;
        }
        self.errors = Config::from_fields(self.link.preset, &self.link.fields).err().unwrap_or_default();
    }

    /// The fields are valid and say something else than what is being trained.
    pub fn has_changes(&self) -> bool {
        Config::from_fields(self.link.preset, &self.link.fields).is_ok_and(|c| Some(c) != self.config)
    }

    /// Begins a new session when the fields are valid: everything measured starts over.
    pub fn begin(&mut self) -> Option<Config> {
        match Config::from_fields(self.link.preset, &self.link.fields) {
            Ok(config) => {
                self.session += 1;
                self.config = Some(config.clone());
                self.ready = false;
                self.running = false;
                self.notice = None;
                self.panes = Default::default();
                *self.curves.borrow_mut() = Default::default();
                self.curves_version += 1;
                self.inspection = None;
                self.probabilities = None;
                Some(config)
            }
            Err(errors) => {
                self.errors = errors;
                None
            }
        }
    }

    /// How often a step was compiled: each time, there is something new to inspect.
    pub fn compilations(&self) -> Option<u64> {
        self.pane(Pane::Compiled).first_ms.map(f64::to_bits)
    }

    /// Eager time over compiled time.
    pub fn speed_up(&self) -> Option<f64> {
        match (self.pane(Pane::Eager).ms_per_step, self.pane(Pane::Compiled).ms_per_step) {
            (Some(e), Some(c)) if c > 0.0 => Some(e / c),
            _ => None,
        }
    }

    /// The evaluation of the pane that is furthest on.
    pub fn best_evaluation(&self) -> Option<Rc<Evaluation>> {
        let best = self.panes.iter().filter(|p| p.evaluation.is_some()).max_by_key(|p| p.step);
        best.and_then(|p| p.evaluation.clone())
    }

    /// Takes in an event. True when a model was newly evaluated.
    pub fn receive(&mut self, event: Event) -> bool {
        match event {
            Event::Listening => {}
            Event::Ready { version, device } => {
                if version != aludel_protocol::VERSION {
                    self.fail(format!("the trainer speaks protocol {version}, this page {}; reload the page", aludel_protocol::VERSION));
                }
                self.device = Some(device);
            }
            Event::Configured { session, .. } if session == self.session => self.ready = true,
            Event::Running { session, running } if session == self.session => self.running = running,
            Event::Progress { session, progress } if session == self.session => self.progress(progress),
            Event::Evaluated { session, pane, evaluation, .. } if session == self.session => {
                self.panes[pane as usize].evaluation = Some(Rc::new(evaluation));
                return true;
            }
            Event::Classified { session, probabilities } if session == self.session => self.probabilities = Some(probabilities),
            Event::Inspected { session, inspection } if session == self.session => self.inspection = inspection.map(|i| Rc::new(*i)),
            Event::Failed { session, message } if session == self.session || session == 0 => self.fail(message),
            Event::Recovered { session, reason, step } if session == self.session => {
                let text = format!("The GPU went away ({reason}). Training goes on from step {step}, on a new device.");
                self.notice = Some(Notice { text, error: false });
            }
            // Of an earlier session.
            _ => {}
        }
        false
    }

    fn progress(&mut self, p: Progress) {
        let view = &mut self.panes[p.pane as usize];
        let curve = &mut self.curves.borrow_mut()[p.pane as usize];
        let (first, before) = (view.step, view.elapsed_ms.min(p.elapsed_ms));
        let steps = p.step.saturating_sub(first).max(1) as f64;
        for (step, loss) in &p.losses {
            // Steps of one report took about the same time each.
            let share = (step.saturating_sub(first) as f64 / steps).min(1.0);
            curve.push(Point { step: *step as f64, seconds: (before + (p.elapsed_ms - before) * share) / 1000.0, loss: *loss as f64 });
        }
        self.curves_version += 1;
        view.step = p.step;
        view.loss = p.losses.last().map(|l| l.1).or(view.loss);
        view.elapsed_ms = p.elapsed_ms;
        view.ms_per_step = p.ms_per_step.or(view.ms_per_step);
        view.first_ms = p.first_ms.or(view.first_ms);
        view.counts = p.counts;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Tab};
    use super::*;
    use aludel_protocol::Mode;

    fn state() -> State {
        let preset = Preset::Digits;
        let link = Link {
            preset,
            fields: preset.defaults(),
            mode: Mode::Race,
            axis: Axis::Time,
            tab: Tab::Kernels,
            embed: false,
            interpreter: false,
        };
        State::new(link)
    }

    fn progress(pane: Pane, step: u64, loss: f32, ms: f64) -> Progress {
        Progress {
            pane,
            step,
            losses: vec![(step, loss)],
            elapsed_ms: step as f64 * ms,
            ms_per_step: Some(ms),
            counts: Counts::default(),
            first_ms: None,
        }
    }

    #[test]
    fn an_earlier_session_changes_nothing() {
        let mut s = state();
        s.begin();
        s.begin();
        s.receive(Event::Progress { session: 1, progress: progress(Pane::Eager, 3, 1.0, 2.0) });
        assert!(s.is_fresh());
        s.receive(Event::Progress { session: 2, progress: progress(Pane::Eager, 3, 1.0, 2.0) });
        assert_eq!(s.pane(Pane::Eager).step, 3);
    }

    #[test]
    fn speed_up_is_stated_whichever_way_it_goes() {
        let mut s = state();
        s.begin();
        assert_eq!(s.speed_up(), None);
        s.receive(Event::Progress { session: 1, progress: progress(Pane::Eager, 1, 1.0, 2.0) });
        s.receive(Event::Progress { session: 1, progress: progress(Pane::Compiled, 1, 1.0, 4.0) });
        assert_eq!(s.speed_up(), Some(0.5));
    }

    #[test]
    fn an_invalid_field_keeps_the_session() {
        let mut s = state();
        s.begin();
        s.edit("layers", "0".into());
        assert_eq!(s.errors.len(), 1);
        assert!(!s.has_changes() && s.begin().is_none());
        assert_eq!(s.session, 1);
        s.edit("layers", "32".into());
        assert!(s.errors.is_empty() && s.has_changes());
    }

    #[test]
    fn a_preset_keeps_its_fields() {
        let mut s = state();
        s.edit("lr", "0.5".into());
        s.select(Preset::Points);
        s.select(Preset::Digits);
        assert!(s.link.fields.contains(&("lr".into(), "0.5".into())));
    }
}
