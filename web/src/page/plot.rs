//! The loss curves, drawn by uPlot (web/vendor/uplot).

use super::Axis;
use super::curve::Point;
use super::state::Curves;
use super::theme::style;
use aludel_protocol::Lane;
use js_sys::{Array, Float64Array, JSON, Object, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;
use yew::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// <https://github.com/leeoniya/uPlot/blob/master/dist/uPlot.d.ts>
    #[wasm_bindgen(js_name = uPlot)]
    type UPlot;
    #[wasm_bindgen(constructor, js_class = "uPlot")]
    fn new(options: &JsValue, data: &Array, target: &HtmlElement) -> UPlot;
    #[wasm_bindgen(method, js_name = setData)]
    fn set_data(this: &UPlot, data: &Array);
    #[wasm_bindgen(method, js_name = setSize)]
    fn set_size(this: &UPlot, size: &Object);
    #[wasm_bindgen(method)]
    fn destroy(this: &UPlot);
    #[wasm_bindgen(static_method_of = UPlot, js_class = "uPlot")]
    fn join(tables: &Array) -> Array;
}

#[derive(Properties, Clone)]
pub struct PlotProps {
    pub curves: Curves,
    /// Counts changes of the curves.
    pub version: u64,
    pub axis: Axis,
    /// What the curves are called.
    pub names: [String; 2],
    pub dark: bool,
    pub on_axis: Callback<Axis>,
}

impl PartialEq for PlotProps {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
            && self.axis == other.axis
            && self.names == other.names
            && self.dark == other.dark
            && self.on_axis == other.on_axis
    }
}

const HEIGHT: i32 = 240;

/// What a plot was made for: another of these takes another plot.
#[derive(Clone, PartialEq)]
struct Look {
    axis: Axis,
    log: bool,
    dark: bool,
    names: [String; 2],
}

#[component]
pub fn Plot(props: &PlotProps) -> Html {
    let target = use_node_ref();
    let plot = use_mut_ref(|| None::<(Look, UPlot)>);
    let log = use_state(|| false);
    let look = Look { axis: props.axis, log: *log, dark: props.dark, names: props.names.clone() };
    {
        let (target, plot) = (target.clone(), plot.clone());
        let curves = props.curves.clone();
        use_effect_with((props.version, look), move |(_, look)| {
            let Some(element) = target.cast::<HtmlElement>() else { return };
            let data = data(&curves, look.axis);
            let width = element.client_width().max(200);
            let mut plot = plot.borrow_mut();
            if let Some((_, old)) = plot.take_if(|(l, _)| l != look) {
                old.destroy();
            }
            match &*plot {
                Some((_, p)) => p.set_data(&data),
                None => *plot = options(look, width).map(|o| (look.clone(), UPlot::new(&o, &data, &element))),
            }
        });
    }
    {
        let (target, plot) = (target.clone(), plot.clone());
        use_effect_with((), move |_| {
            let observed = target.cast::<HtmlElement>();
            let resize = Closure::<dyn Fn()>::new(move || {
                if let (Some(e), Some((_, p))) = (target.cast::<HtmlElement>(), &*plot.borrow()) {
                    p.set_size(&size(e.client_width().max(200)));
                }
            });
            let observer = web_sys::ResizeObserver::new(resize.as_ref().unchecked_ref()).ok();
            if let (Some(o), Some(e)) = (&observer, &observed) {
                o.observe(e);
            }
            move || {
                if let Some(o) = observer {
                    o.disconnect();
                }
                drop(resize);
            }
        });
    }
    let axis_button = |axis: Axis, title: &'static str| {
        let on_axis = props.on_axis.clone();
        html! { <button type="button" aria-pressed={(props.axis == axis).to_string()} onclick={move |_| on_axis.emit(axis)}>{ title }</button> }
    };
    let toggle_log = {
        let log = log.clone();
        move |_: MouseEvent| log.set(!*log)
    };
    let last = |lane: Lane| props.curves.borrow()[lane as usize].points.last().map(|p| format!("{:.4} at step {:.0}", p.loss, p.step));
    let [left, right] = &props.names;
    let summary = format!(
        "Loss curves. {left}: {}. {right}: {}.",
        last(Lane::Left).unwrap_or_else(|| "none yet".into()),
        last(Lane::Right).unwrap_or_else(|| "none yet".into())
    );
    html! {
        <section class="card plot" aria-labelledby="plot-title">
            <div class="card-head">
                <h2 id="plot-title">{"Loss"}</h2>
                <p class="legend" aria-hidden="true"><span class="key left">{ left }</span><span class="key right">{ right }</span></p>
                <div class="segmented small" role="group" aria-label="Horizontal axis">
                    { axis_button(Axis::Time, "Time") }
                    { axis_button(Axis::Step, "Steps") }
                </div>
                <button type="button" class="quiet small" aria-pressed={log.to_string()} onclick={toggle_log}>{"Log scale"}</button>
            </div>
            <div class="canvas" ref={target} role="img" aria-label={summary}></div>
        </section>
    }
}

fn size(width: i32) -> Object {
    let o = Object::new();
    let _ = Reflect::set(&o, &"width".into(), &width.into());
    let _ = Reflect::set(&o, &"height".into(), &HEIGHT.into());
    o
}

/// Two curves with their own positions, joined on one axis with gaps.
fn data(curves: &Curves, axis: Axis) -> Array {
    let curves = curves.borrow();
    let x = |p: &Point| if axis == Axis::Step { p.step } else { p.seconds };
    let table = |lane: Lane| {
        let points = &curves[lane as usize].points;
        let column = |f: &dyn Fn(&Point) -> f64| Float64Array::from(&points.iter().map(f).collect::<Vec<_>>()[..]);
        Array::of2(&column(&x), &column(&|p| p.loss))
    };
    UPlot::join(&Array::of2(&table(Lane::Left), &table(Lane::Right)))
}

fn options(look: &Look, width: i32) -> Option<JsValue> {
    let (left, right, text, grid) = (style("--left"), style("--right"), style("--muted"), style("--line"));
    let label = if look.axis == Axis::Step { "Step" } else { "Seconds of training, compiling apart" };
    let value = if look.axis == Axis::Step { "step" } else { "s" };
    // Logarithmic: uPlot calls that distribution 3.
    let distribution = if look.log { 3 } else { 1 };
    let axis = |label: &str, size: i32| {
        format!(
            r#"{{"stroke":"{text}","label":"{label}","labelSize":18,"size":{size},"font":"12px system-ui","labelFont":"12px system-ui",
                "grid":{{"stroke":"{grid}","width":1}},"ticks":{{"show":false}}}}"#
        )
    };
    let series = |label: &str, colour: &str| {
        // A server's device may have any name.
        let label = JSON::stringify(&label.into()).map_or_else(|_| "\"\"".into(), String::from);
        format!(r#"{{"label":{label},"stroke":"{colour}","width":2,"spanGaps":true,"points":{{"show":false}}}}"#)
    };
    let json = format!(
        r#"{{"width":{width},"height":{HEIGHT},"legend":{{"show":false}},"cursor":{{"y":false,"points":{{"size":7}}}},
            "scales":{{"x":{{"time":false}},"y":{{"distr":{distribution}}}}},
            "axes":[{},{}],"series":[{{"label":"{value}"}},{},{}]}}"#,
        axis(label, 32),
        axis("", 52),
        series(&look.names[0], &left),
        series(&look.names[1], &right),
    );
    JSON::parse(&json).ok()
}
