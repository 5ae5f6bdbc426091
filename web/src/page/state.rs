//! What the page knows, and how events change it. No browser in here: it is plain data.

use super::curve::{Curve, Point};
use super::lanes::Lanes;
use super::location::Link;
use aludel_models::presets::{Config, FieldError, Preset};
use aludel_protocol::{Companion, Connection, Counts, Device, Evaluation, Event, Inspection, Lane, Pane, Progress, Scaling};
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
    /// Before: how many kernels are compiled, and of how many.
    pub compiling: Option<(u32, u32)>,
    pub counts: Counts,
    /// Of f16.
    pub scaling: Option<Scaling>,
    pub evaluation: Option<Rc<Evaluation>>,
    /// How it stands with the server that trains it, if one does.
    pub connection: Option<Connection>,
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
    pub companion: Companion,
    /// The session exists.
    pub ready: bool,
    pub running: bool,
    /// The page is dark at the moment.
    pub dark: bool,
    pub notice: Option<Notice>,
    views: [View; 2],
    pub curves: Curves,
    pub curves_version: u64,
    inspections: [Option<Rc<Inspection>>; 2],
    /// The lane whose compiled step was asked for last.
    pub inspected: Option<Lane>,
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
            companion: Companion::Absent,
            ready: false,
            running: false,
            dark: false,
            notice: None,
            views: Default::default(),
            curves: Curves::default(),
            curves_version: 0,
            inspections: Default::default(),
            inspected: None,
            drawn: None,
            probabilities: None,
            kept: Vec::new(),
        }
    }

    pub fn fail(&mut self, text: String) {
        self.notice = Some(Notice { text, error: true });
    }

    pub fn view(&self, lane: Lane) -> &View {
        &self.views[lane as usize]
    }

    /// What trains where.
    pub fn lanes(&self) -> Lanes {
        Lanes { setups: self.link.lanes.clone(), browser: self.device.clone(), companion: self.companion.clone() }
    }

    /// The lane whose compiled step is laid open: the one asked for, if it is compiled, else the right one, else the left.
    pub fn open_lane(&self) -> Option<Lane> {
        let compiled = |lane: &Lane| self.link.lanes[*lane as usize].pane == Pane::Compiled;
        self.inspected.filter(compiled).or_else(|| [Lane::Right, Lane::Left].into_iter().find(compiled))
    }

    pub fn inspection(&self) -> Option<Rc<Inspection>> {
        self.open_lane().and_then(|lane| self.inspections[lane as usize].clone())
    }

    /// No step has been taken.
    pub fn is_fresh(&self) -> bool {
        self.views.iter().all(|v| v.step == 0)
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
                self.views = Default::default();
                *self.curves.borrow_mut() = Default::default();
                self.curves_version += 1;
                self.inspections = Default::default();
                self.probabilities = None;
                Some(config)
            }
            Err(errors) => {
                self.errors = errors;
                None
            }
        }
    }

    /// Tells one compilation of a lane's step from the next: each time, there is something new to inspect.
    pub fn compilation(&self, lane: Lane) -> Option<u64> {
        let compiled = self.link.lanes[lane as usize].pane == Pane::Compiled;
        self.view(lane).first_ms.filter(|_| compiled).map(f64::to_bits)
    }

    /// The left lane's time over the right one's.
    pub fn speed_up(&self) -> Option<f64> {
        match (self.view(Lane::Left).ms_per_step, self.view(Lane::Right).ms_per_step) {
            (Some(left), Some(right)) if right > 0.0 => Some(left / right),
            _ => None,
        }
    }

    /// The evaluation of the lane that is furthest on.
    pub fn best_evaluation(&self) -> Option<Rc<Evaluation>> {
        let best = self.views.iter().filter(|p| p.evaluation.is_some()).max_by_key(|p| p.step);
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
            Event::Companion(companion) => self.companion = companion,
            Event::Connection { session, lane, connection } if session == self.session => {
                self.views[lane as usize].connection = Some(connection);
            }
            Event::Progress { session, lane, progress } if session == self.session => self.progress(lane, progress),
            Event::Compiling { session, lane, done, total } if session == self.session => {
                self.views[lane as usize].compiling = Some((done, total));
            }
            Event::Evaluated { session, lane, evaluation, .. } if session == self.session => {
                self.views[lane as usize].evaluation = Some(Rc::new(evaluation));
                return true;
            }
            Event::Classified { session, probabilities } if session == self.session => self.probabilities = Some(probabilities),
            Event::Inspected { session, lane, inspection } if session == self.session => {
                self.inspections[lane as usize] = inspection.map(|i| Rc::new(*i));
            }
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

    fn progress(&mut self, lane: Lane, p: Progress) {
        let view = &mut self.views[lane as usize];
        let curve = &mut self.curves.borrow_mut()[lane as usize];
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
        view.compiling = None;
        view.counts = p.counts;
        view.scaling = p.scaling;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Tab};
    use super::*;
    use aludel_protocol::{Mode, Place, Precision, Setup};

    fn state() -> State {
        let preset = Preset::Digits;
        let link = Link {
            preset,
            fields: preset.defaults(),
            mode: Mode::Race,
            lanes: Lane::BOTH.map(Setup::of),
            server: None,
            axis: Axis::Time,
            tab: Tab::Kernels,
            embed: false,
            cpu: false,
        };
        State::new(link)
    }

    fn progress(step: u64, loss: f32, ms: f64) -> Progress {
        Progress {
            pane: Pane::Eager,
            step,
            losses: vec![(step, loss)],
            elapsed_ms: step as f64 * ms,
            ms_per_step: Some(ms),
            counts: Counts::default(),
            first_ms: None,
            scaling: None,
        }
    }

    #[test]
    fn an_earlier_session_changes_nothing() {
        let mut s = state();
        s.begin();
        s.begin();
        s.receive(Event::Progress { session: 1, lane: Lane::Left, progress: progress(3, 1.0, 2.0) });
        assert!(s.is_fresh());
        s.receive(Event::Progress { session: 2, lane: Lane::Left, progress: progress(3, 1.0, 2.0) });
        assert_eq!(s.view(Lane::Left).step, 3);
    }

    #[test]
    fn compiling_is_shown_until_a_step_is_made() {
        let mut s = state();
        s.begin();
        s.receive(Event::Compiling { session: 1, lane: Lane::Right, done: 3, total: 41 });
        assert_eq!((s.view(Lane::Left).compiling, s.view(Lane::Right).compiling), (None, Some((3, 41))));
        s.receive(Event::Progress { session: 1, lane: Lane::Right, progress: progress(1, 1.0, 2.0) });
        assert_eq!(s.view(Lane::Right).compiling, None);
        s.begin();
        s.receive(Event::Compiling { session: 1, lane: Lane::Right, done: 4, total: 41 });
        assert_eq!(s.view(Lane::Right).compiling, None, "of an earlier session");
    }

    #[test]
    fn speed_up_is_stated_whichever_way_it_goes() {
        let mut s = state();
        s.begin();
        assert_eq!(s.speed_up(), None);
        s.receive(Event::Progress { session: 1, lane: Lane::Left, progress: progress(1, 1.0, 2.0) });
        s.receive(Event::Progress { session: 1, lane: Lane::Right, progress: progress(1, 1.0, 4.0) });
        assert_eq!(s.speed_up(), Some(0.5));
    }

    #[test]
    fn the_compiled_lane_is_laid_open() {
        let mut s = state();
        assert_eq!(s.open_lane(), Some(Lane::Right));
        s.inspected = Some(Lane::Left);
        assert_eq!(s.open_lane(), Some(Lane::Right), "the left lane is eager");
        s.link.lanes[0] = Setup { pane: Pane::Compiled, place: Place::Server("cpu".into()), precision: Precision::F32 };
        assert_eq!(s.open_lane(), Some(Lane::Left));
        s.link.lanes.iter_mut().for_each(|l| l.pane = Pane::Eager);
        assert_eq!(s.open_lane(), None);
    }

    /// A lane that goes on from an earlier step draws its curve from there.
    #[test]
    fn a_restored_lane_draws_over_what_was_lost() {
        let mut s = state();
        s.begin();
        for step in [10, 20, 30, 15, 25] {
            s.receive(Event::Progress { session: 1, lane: Lane::Right, progress: progress(step, 1.0, 2.0) });
        }
        let steps: Vec<f64> = s.curves.borrow()[Lane::Right as usize].points.iter().map(|p| p.step).collect();
        assert_eq!(steps, [10.0, 15.0, 25.0]);
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
