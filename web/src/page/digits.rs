//! Held-out digits and what the model sees in them.

use aludel_models::data::{Labelled, digits};
use aludel_protocol::Evaluation;
use std::rc::Rc;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};
use yew::prelude::*;

/// How many images are shown: the first of those held out.
const SHOWN: usize = 40;
const COLUMNS: u32 = 10;
/// A cell of the canvas, in its own pixels: the image, then the digit seen.
const CELL: (u32, u32) = (56, 80);
const IMAGE: u32 = 48;

/// How many reconstructions are shown, and the rows of the canvas that an image takes with the one below it.
pub const RECONSTRUCTED: usize = 20;
const PAIR: u32 = 2 * IMAGE + 16;

#[derive(Properties, PartialEq)]
pub struct HeldOutProps {
    pub evaluation: Option<Rc<Evaluation>>,
    /// What comes back of each image, below it; else the digit that is seen in it.
    pub reconstructed: bool,
    pub dark: bool,
}

#[component]
pub fn HeldOut(props: &HeldOutProps) -> Html {
    let canvas = use_node_ref();
    let held_out = use_memo((), |_| digits::split().1);
    let (id, title, draw, shown, cell): (_, _, fn(&HtmlCanvasElement, Option<&Evaluation>, &Labelled) -> Option<()>, _, _) =
        match props.reconstructed {
            false => ("predictions", "Predictions", draw, SHOWN, CELL.1),
            true => ("reconstructions", "Reconstructions", draw_pairs, RECONSTRUCTED, PAIR),
        };
    {
        let canvas = canvas.clone();
        use_effect_with((props.evaluation.clone(), held_out.clone(), props.dark), move |(evaluation, held_out, _)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                let _ = draw(&canvas, evaluation.as_deref(), held_out);
            }
        });
    }
    let summary = match props.evaluation.as_deref() {
        Some(Evaluation::Digits { predictions, .. }) => {
            let wrong = predictions.iter().zip(&held_out.y).filter(|(p, y)| p.0 as i32 != **y).count();
            format!("{wrong} of {} held-out images are read wrongly", predictions.len())
        }
        Some(Evaluation::Autoencoder { kept, .. }) => {
            format!("Held-out images above, what comes back below: {} of their variance is kept", super::format::percent(kept.max(0.0)))
        }
        _ => format!("{} images are held out", held_out.rows()),
    };
    let size = (COLUMNS * CELL.0, shown.div_ceil(COLUMNS as usize) as u32 * cell);
    html! {
        <section class="card" aria-labelledby={format!("{id}-title")}>
            <div class="card-head"><h2 id={format!("{id}-title")}>{ title }</h2><p class="muted" id={format!("{id}-summary")}>{ &summary }</p></div>
            <canvas class="predictions" ref={canvas} width={size.0.to_string()} height={size.1.to_string()} role="img" aria-label={summary.clone()}></canvas>
        </section>
    }
}

fn draw_pairs(canvas: &HtmlCanvasElement, evaluation: Option<&Evaluation>, data: &Labelled) -> Option<()> {
    let context = canvas.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?;
    context.clear_rect(0.0, 0.0, canvas.width() as f64, canvas.height() as f64);
    context.set_image_smoothing_enabled(false);
    let (ink, below) = (rgb(&super::theme::style("--text")), rgb(&super::theme::style("--right")));
    let back = match evaluation {
        Some(Evaluation::Autoencoder { images, .. }) => images.as_slice(),
        _ => &[],
    };
    for i in 0..RECONSTRUCTED.min(data.rows()) {
        let (x, y) = ((i as u32 % COLUMNS * CELL.0) as f64 + 4.0, (i as u32 / COLUMNS * PAIR) as f64 + 2.0);
        let show = |pixels: &[f32], colour, y| {
            let small = image(pixels, colour)?;
            context.draw_image_with_html_canvas_element_and_dw_and_dh(&small, x, y, IMAGE as f64, IMAGE as f64).ok()
        };
        show(data.row(i), ink, y)?;
        if let Some(pixels) = back.get(i * digits::PIXELS..(i + 1) * digits::PIXELS) {
            let pixels: Vec<f32> = pixels.iter().map(|p| *p as f32 / 255.0).collect();
            show(&pixels, below, y + IMAGE as f64 + 4.0)?;
        }
    }
    Some(())
}

fn draw(canvas: &HtmlCanvasElement, evaluation: Option<&Evaluation>, data: &Labelled) -> Option<()> {
    let context = canvas.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?;
    context.clear_rect(0.0, 0.0, canvas.width() as f64, canvas.height() as f64);
    context.set_image_smoothing_enabled(false);
    context.set_text_align("center");
    let (ink, good, bad) = (super::theme::style("--text"), super::theme::style("--muted"), super::theme::style("--error"));
    let ink = rgb(&ink);
    for i in 0..SHOWN.min(data.rows()) {
        let (x, y) = ((i as u32 % COLUMNS * CELL.0) as f64 + 4.0, (i as u32 / COLUMNS * CELL.1) as f64 + 2.0);
        let small = image(data.row(i), ink)?;
        context.draw_image_with_html_canvas_element_and_dw_and_dh(&small, x, y, IMAGE as f64, IMAGE as f64).ok()?;
        if let Some(Evaluation::Digits { predictions, .. }) = evaluation
            && let Some((seen, sure)) = predictions.get(i)
        {
            let right = *seen as i32 == data.y[i];
            if !right {
                context.set_stroke_style_str(&bad);
                context.set_line_width(2.5);
                context.stroke_rect(x - 2.0, y - 1.0, IMAGE as f64 + 4.0, IMAGE as f64 + 3.0);
            }
            context.set_fill_style_str(if right { &good } else { &bad });
            context.set_global_alpha(if right { 0.35 + 0.65 * *sure as f64 } else { 1.0 });
            context.set_font(if right { "20px system-ui, sans-serif" } else { "bold 20px system-ui, sans-serif" });
            context.fill_text(&seen.to_string(), x + IMAGE as f64 / 2.0, y + 70.0).ok()?;
            context.set_global_alpha(1.0);
        }
    }
    Some(())
}

/// Pixels as ink of that colour, on nothing.
pub fn image(pixels: &[f32], ink: [u8; 3]) -> Option<HtmlCanvasElement> {
    let side = pixels.len().isqrt() as u32;
    let rgba: Vec<u8> = pixels.iter().flat_map(|p| [ink[0], ink[1], ink[2], (p.clamp(0.0, 1.0) * 255.0) as u8]).collect();
    let data = ImageData::new_with_u8_clamped_array_and_sh(Clamped(&rgba), side, side).ok()?;
    let canvas = web_sys::window()?.document()?.create_element("canvas").ok()?.dyn_into::<HtmlCanvasElement>().ok()?;
    canvas.set_width(side);
    canvas.set_height(side);
    canvas.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?.put_image_data(&data, 0.0, 0.0).ok()?;
    Some(canvas)
}

/// The parts of `rgb(r, g, b)`, as [`super::theme::style`] gives colours.
pub fn rgb(colour: &str) -> [u8; 3] {
    let mut parts = colour.split(|c: char| !c.is_ascii_digit()).filter_map(|p| p.parse().ok());
    std::array::from_fn(|_| parts.next().unwrap_or(128))
}
