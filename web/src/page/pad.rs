//! A pad to draw a digit on, and what the model makes of it.
//!
//! The data's images were made by counting ink in 4 × 4 blocks of a 32 × 32 bitmap to which the digit was fitted; a drawing
//! is treated the same way, so that the model sees the kind of image it knows.

use super::digits::{image, rgb};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, KeyboardEvent, PointerEvent};
use yew::prelude::*;

/// The bitmap's side, the image's side, and the ink pixels of the bitmap under one image pixel's side.
const SIDE: usize = 32;
const IMAGE: usize = 8;
const BLOCK: usize = SIDE / IMAGE;
/// Half the width of the pen, in bitmap pixels.
const PEN: f64 = 1.7;
/// The digit's height within the bitmap.
const FIT: f64 = 30.0;

type Bitmap = Vec<bool>;

#[derive(Properties, PartialEq)]
pub struct PadProps {
    pub probabilities: Option<Vec<f32>>,
    pub dark: bool,
    pub on_draw: Callback<Vec<f32>>,
}

/// What lies on the pad: shared by the handlers of one pad, and kept between renders.
#[derive(Clone)]
struct Sheet {
    canvas: NodeRef,
    bitmap: Rc<RefCell<Bitmap>>,
    /// Where the pen was last, while it is down.
    last: Rc<RefCell<Option<(f64, f64)>>>,
    blank: UseStateHandle<bool>,
    on_draw: Callback<Vec<f32>>,
}

impl Sheet {
    fn redraw(&self, cursor: Option<(usize, usize)>) {
        if let Some(c) = self.canvas.cast::<HtmlCanvasElement>() {
            let _ = draw(&c, &self.bitmap.borrow(), cursor);
        }
    }

    /// Has the model look at the drawing.
    fn submit(&self) {
        if let Some(pixels) = downsample(&self.bitmap.borrow()) {
            self.blank.set(false);
            self.on_draw.emit(pixels);
        }
    }

    fn stroke(&self, e: &PointerEvent) {
        let Some(c) = self.canvas.cast::<HtmlCanvasElement>() else { return };
        let rect = c.get_bounding_client_rect();
        let scale = SIDE as f64 / rect.width().max(1.0);
        let to = ((e.client_x() as f64 - rect.left()) * scale, (e.client_y() as f64 - rect.top()) * scale);
        let from = self.last.borrow().unwrap_or(to);
        line(&mut self.bitmap.borrow_mut(), from, to);
        *self.last.borrow_mut() = Some(to);
        self.redraw(None);
    }

    fn press(&self, e: PointerEvent) {
        e.prevent_default();
        if let Some(target) = e.target_dyn_into::<HtmlCanvasElement>() {
            // Without capture a stroke ends at the canvas's edge, no more.
            let _ = target.set_pointer_capture(e.pointer_id());
        }
        *self.last.borrow_mut() = None;
        self.stroke(&e);
    }

    fn drag(&self, e: PointerEvent) {
        if self.last.borrow().is_some() && e.buttons() != 0 {
            self.stroke(&e);
        }
    }

    fn lift(&self) {
        if self.last.borrow_mut().take().is_some() {
            self.submit();
        }
    }

    /// Where a key moves the cursor to; `None` for keys that the pad does not know.
    fn key(&self, key: &str, (x, y): (usize, usize)) -> Option<(usize, usize)> {
        Some(match key {
            "ArrowLeft" => (x.saturating_sub(1), y),
            "ArrowRight" => ((x + 1).min(IMAGE - 1), y),
            "ArrowUp" => (x, y.saturating_sub(1)),
            "ArrowDown" => (x, (y + 1).min(IMAGE - 1)),
            " " => {
                toggle_block(&mut self.bitmap.borrow_mut(), x, y);
                self.redraw(Some((x, y)));
                self.submit();
                (x, y)
            }
            _ => return None,
        })
    }

    fn clear(&self) {
        self.bitmap.borrow_mut().fill(false);
        self.blank.set(true);
        self.redraw(None);
    }
}

#[component]
pub fn Pad(props: &PadProps) -> Html {
    let sheet = Sheet {
        canvas: use_node_ref(),
        bitmap: use_mut_ref(|| vec![false; SIDE * SIDE]),
        last: use_mut_ref(|| None),
        blank: use_state(|| true),
        on_draw: props.on_draw.clone(),
    };
    let cursor = use_state(|| None::<(usize, usize)>);
    {
        let sheet = sheet.clone();
        use_effect_with((props.dark, *cursor), move |(_, cursor)| sheet.redraw(*cursor));
    }
    let handler = |f: fn(&Sheet, PointerEvent)| {
        let sheet = sheet.clone();
        move |e: PointerEvent| f(&sheet, e)
    };
    let (onpointerdown, onpointermove) = (handler(Sheet::press), handler(Sheet::drag));
    let onpointerup = handler(|sheet, _| sheet.lift());
    let onkeydown = {
        let sheet = sheet.clone();
        move |e: KeyboardEvent| {
            let Some(moved) = sheet.key(&e.key(), cursor.unwrap_or((IMAGE / 2, IMAGE / 2))) else { return };
            e.prevent_default();
            cursor.set(Some(moved));
        }
    };
    let clear = {
        let sheet = sheet.clone();
        move |_: MouseEvent| sheet.clear()
    };
    let seen = if *sheet.blank { None } else { props.probabilities.as_ref() };
    let best = seen.and_then(|p| p.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(d, p)| (d, *p)));
    html! {
        <section class="card" aria-labelledby="pad-title">
            <div class="card-head"><h2 id="pad-title">{"Draw a digit"}</h2>
                <p class="muted" aria-live="polite" id="pad-answer">{ best.map_or(String::new(), |(d, p)| format!("{d}, {}", super::format::percent(p))) }</p>
                <button type="button" class="quiet small" onclick={clear}>{"Clear"}</button>
            </div>
            <div class="pad">
                <canvas ref={sheet.canvas} width="256" height="256" tabindex="0" role="application"
                    aria-label="Pad: draw with a pointer, or move with the arrow keys and put down ink with the space bar"
                    {onpointerdown} {onpointermove} {onpointerup} {onkeydown}></canvas>
                { bars(seen, best.map(|(d, _)| d)) }
            </div>
        </section>
    }
}

/// A bar for the probability of each digit.
fn bars(seen: Option<&Vec<f32>>, best: Option<usize>) -> Html {
    html! {
        <ol class="bars" start="0" aria-label="Probability of each digit">
            { for (0..10).map(|d| {
                let p = seen.and_then(|p| p.get(d)).copied().unwrap_or(0.0);
                html! {
                    <li key={d} class={classes!((best == Some(d)).then_some("likeliest"))} aria-label={format!("{d}: {}", super::format::percent(p))}>
                        <span>{ d }</span><i style={format!("--p:{p:.3}")}></i>
                    </li>
                }
            }) }
        </ol>
    }
}

/// Inks everything within the pen's reach of a segment.
fn line(bitmap: &mut Bitmap, (x0, y0): (f64, f64), (x1, y1): (f64, f64)) {
    let (dx, dy) = (x1 - x0, y1 - y0);
    let length2 = dx * dx + dy * dy;
    for (i, ink) in bitmap.iter_mut().enumerate() {
        let (x, y) = ((i % SIDE) as f64 + 0.5, (i / SIDE) as f64 + 0.5);
        let t = if length2 > 0.0 { (((x - x0) * dx + (y - y0) * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
        if (x - x0 - t * dx).powi(2) + (y - y0 - t * dy).powi(2) <= PEN * PEN {
            *ink = true;
        }
    }
}

fn toggle_block(bitmap: &mut Bitmap, bx: usize, by: usize) {
    let on = !bitmap[by * BLOCK * SIDE + bx * BLOCK];
    for y in by * BLOCK..(by + 1) * BLOCK {
        bitmap[y * SIDE + bx * BLOCK..y * SIDE + (bx + 1) * BLOCK].fill(on);
    }
}

/// Fits the drawing to the bitmap and counts ink by blocks; `None` when nothing is drawn.
fn downsample(bitmap: &Bitmap) -> Option<Vec<f32>> {
    let inked: Vec<(usize, usize)> = bitmap.iter().enumerate().filter(|(_, ink)| **ink).map(|(i, _)| (i % SIDE, i / SIDE)).collect();
    let (left, right) = (inked.iter().map(|p| p.0).min()?, inked.iter().map(|p| p.0).max()?);
    let (top, bottom) = (inked.iter().map(|p| p.1).min()?, inked.iter().map(|p| p.1).max()?);
    let extent = (right - left + 1).max(bottom - top + 1) as f64;
    let scale = extent / FIT;
    let centre = ((left + right + 1) as f64 / 2.0, (top + bottom + 1) as f64 / 2.0);
    let source = |v: usize, c: f64| ((v as f64 + 0.5 - SIDE as f64 / 2.0) * scale + c).floor();
    let mut pixels = vec![0.0f32; IMAGE * IMAGE];
    for y in 0..SIDE {
        for x in 0..SIDE {
            let (sx, sy) = (source(x, centre.0), source(y, centre.1));
            let inside = (0.0..SIDE as f64).contains(&sx) && (0.0..SIDE as f64).contains(&sy);
            if inside && bitmap[sy as usize * SIDE + sx as usize] {
                pixels[y / BLOCK * IMAGE + x / BLOCK] += 1.0 / (BLOCK * BLOCK) as f32;
            }
        }
    }
    Some(pixels)
}

fn draw(canvas: &HtmlCanvasElement, bitmap: &Bitmap, cursor: Option<(usize, usize)>) -> Option<()> {
    let context = canvas.get_context("2d").ok()??.dyn_into::<CanvasRenderingContext2d>().ok()?;
    let side = canvas.width() as f64;
    context.clear_rect(0.0, 0.0, side, side);
    let ink: Vec<f32> = bitmap.iter().map(|b| *b as u8 as f32).collect();
    context
        .draw_image_with_html_canvas_element_and_dw_and_dh(&image(&ink, rgb(&super::theme::style("--text")))?, 0.0, 0.0, side, side)
        .ok()?;
    if let Some((x, y)) = cursor {
        let cell = side / IMAGE as f64;
        context.set_stroke_style_str(&super::theme::style("--right"));
        context.set_line_width(3.0);
        context.stroke_rect(x as f64 * cell + 1.5, y as f64 * cell + 1.5, cell - 3.0, cell - 3.0);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_is_fitted_wherever_it_is() {
        assert_eq!(downsample(&vec![false; SIDE * SIDE]), None);
        let (mut a, mut b) = (vec![false; SIDE * SIDE], vec![false; SIDE * SIDE]);
        line(&mut a, (6.0, 4.0), (6.0, 20.0));
        line(&mut b, (20.0, 9.0), (20.0, 25.0));
        assert_eq!(downsample(&a), downsample(&b));
        let pixels = downsample(&a).unwrap();
        assert!(pixels.iter().all(|p| (0.0..=1.0).contains(p)));
        assert!(pixels[3] > 0.4 && pixels[0] == 0.0, "a stroke down the middle: {pixels:?}");
    }
}
