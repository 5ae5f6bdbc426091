//! The plane of a two-dimensional classifier: its decision boundary, and the points it learns.

use aludel_models::data::Labelled;
use aludel_models::presets::Config;
use aludel_protocol::Evaluation;
use std::rc::Rc;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};
use yew::prelude::*;

/// The plane shown is [-1.2, 1.2]², as the protocol says.
const REACH: f64 = 1.2;
/// The canvas's own pixels; the style sheet scales it.
const SIZE: u32 = 480;
const COLOURS: [[f64; 3]; 2] = [[59.0, 111.0, 212.0], [224.0, 123.0, 57.0]];

#[derive(Properties, PartialEq)]
pub struct BoundaryProps {
    /// What is trained, for those who cannot see it.
    pub name: AttrValue,
    pub config: Config,
    pub evaluation: Option<Rc<Evaluation>>,
    pub dark: bool,
}

#[component]
pub fn Boundary(props: &BoundaryProps) -> Html {
    let canvas = use_node_ref();
    let data = props.config.dataset().map(|data| (data, props.config.seed));
    let train = use_memo(data, |data| data.map(|(d, seed)| d.generate(seed).0));
    let dark = props.dark;
    {
        let canvas = canvas.clone();
        use_effect_with((props.evaluation.clone(), train.clone(), dark), move |(evaluation, train, dark)| {
            if let (Some(canvas), Some(train)) = (canvas.cast::<HtmlCanvasElement>(), &**train) {
                // A canvas that the browser refuses to give stays blank; training goes on.
                let _ = draw(&canvas, evaluation.as_deref(), train, *dark);
            }
        });
    }
    let label = match props.evaluation.as_deref() {
        Some(e) => {
            format!("{}: decision boundary over the training points; held-out accuracy {}", props.name, super::format::percent(e.score()))
        }
        None => format!("{}: the training points, before any training", props.name),
    };
    html! { <canvas class="boundary" ref={canvas} width={SIZE.to_string()} height={SIZE.to_string()} role="img" aria-label={label}></canvas> }
}

fn draw(canvas: &HtmlCanvasElement, evaluation: Option<&Evaluation>, train: &Labelled, dark: bool) -> Option<()> {
    let context = canvas.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?;
    let ground = if dark { [24.0, 26.0, 30.0] } else { [250.0, 250.0, 252.0] };
    context.set_fill_style_str(&format!("rgb({},{},{})", ground[0], ground[1], ground[2]));
    context.fill_rect(0.0, 0.0, SIZE as f64, SIZE as f64);
    if let Some(Evaluation::Points { field, size, .. }) = evaluation
        && field.len() == (*size as usize).pow(2)
    {
        paint_field(&context, field, *size, ground)?;
    }
    let place = |v: f32| (v as f64 + REACH) / (2.0 * REACH) * SIZE as f64;
    for i in 0..train.rows() {
        let [x, y] = [train.row(i)[0], train.row(i)[1]];
        let [r, g, b] = COLOURS[train.y[i].clamp(0, 1) as usize];
        context.begin_path();
        context.arc(place(x), SIZE as f64 - place(y), 4.5, 0.0, std::f64::consts::TAU).ok()?;
        context.set_fill_style_str(&format!("rgb({r},{g},{b})"));
        context.fill();
        context.set_stroke_style_str(if dark { "rgba(20,20,24,.8)" } else { "rgba(255,255,255,.9)" });
        context.set_line_width(1.5);
        context.stroke();
    }
    Some(())
}

/// Probability as colour: strong where the model is sure, none where it is not.
fn paint_field(context: &CanvasRenderingContext2d, field: &[u8], size: u32, ground: [f64; 3]) -> Option<()> {
    let mut pixels = Vec::with_capacity(field.len() * 4);
    for p in field {
        let p = *p as f64 / 255.0;
        let colour = COLOURS[(p > 0.5) as usize];
        let strength = 0.12 + 0.38 * ((p - 0.5).abs() * 2.0).powf(0.7);
        pixels.extend((0..3).map(|c| (ground[c] + (colour[c] - ground[c]) * strength).round() as u8));
        pixels.push(255);
    }
    let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), size, size).ok()?;
    let document = web_sys::window()?.document()?;
    let small = document.create_element("canvas").ok()?.dyn_into::<HtmlCanvasElement>().ok()?;
    small.set_width(size);
    small.set_height(size);
    small.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?.put_image_data(&image, 0.0, 0.0).ok()?;
    context.draw_image_with_html_canvas_element_and_dw_and_dh(&small, 0.0, 0.0, SIZE as f64, SIZE as f64).ok()
}
