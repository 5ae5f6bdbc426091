//! The memory plan: where in the arena each temporary lives, and during which launches.

use super::super::format;
use super::graph::Shared;
use yew::prelude::*;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 320.0;

#[derive(Properties, PartialEq)]
pub struct MemoryPlanProps {
    pub inspection: Shared,
}

#[component]
pub fn MemoryPlan(props: &MemoryPlanProps) -> Html {
    let pointed = use_state(|| None::<usize>);
    let m = &props.inspection.memory;
    let launches = props.inspection.kernels.len().max(1) as f64;
    let top = m.arena.max(1) as f64;
    let size = |n| format::joined(format::bytes(n));
    let saved = if m.without_reuse > m.arena { format!(", {} without reuse", size(m.without_reuse)) } else { String::new() };
    let blocks = m.buffers.iter().enumerate().map(|(n, b)| {
        let (x, width) = (b.first as f64 / launches * WIDTH, (b.last - b.first.min(b.last) + 1) as f64 / launches * WIDTH);
        let (y, height) = (HEIGHT - (b.offset + b.bytes) as f64 / top * HEIGHT, (b.bytes as f64 / top * HEIGHT).max(1.0));
        let title = format!("{} {}: {}, launches {} to {}", b.name, b.ty, size(b.bytes), b.first + 1, b.last + 1);
        let (enter, leave) = (pointed.clone(), pointed.clone());
        let label = (width > 60.0 && height > 14.0).then(|| html! { <text x={(x + 6.0).to_string()} y={(y + height / 2.0 + 4.0).to_string()}>{ &b.name }</text> });
        html! {
            <g key={n} class={classes!("block", format!("hue-{}", n % 6), (*pointed == Some(n)).then_some("lit"))}
                onmouseenter={move |_| enter.set(Some(n))} onmouseleave={move |_| leave.set(None)}>
                <title>{ title }</title>
                <rect x={(x + 0.5).to_string()} y={(y + 0.5).to_string()} width={(width - 1.0).max(1.0).to_string()} height={(height - 1.0).max(0.5).to_string()} rx="2" />
                { label.unwrap_or_default() }
            </g>
        }
    });
    let label = format!("Memory plan: {} temporaries share {} over {} launches", m.buffers.len(), size(m.arena), launches);
    let detail = (*pointed).and_then(|n| m.buffers.get(n)).map_or_else(
        || "Point at a block for its buffer.".to_string(),
        |b| format!("{} · {} · {} · launches {} to {}", b.name, b.ty, size(b.bytes), b.first + 1, b.last + 1),
    );
    html! {
        <>
            <dl class="facts">
                <div><dt>{"Temporaries"}</dt><dd>{ size(m.arena) }<small>{ saved }</small></dd></div>
                <div><dt>{"State, updated in place"}</dt><dd>{ size(m.state) }</dd></div>
                <div><dt>{"Inputs"}</dt><dd>{ size(m.inputs) }</dd></div>
            </dl>
            <svg class="memory" viewBox={format!("-44 -8 {} {}", WIDTH + 52.0, HEIGHT + 36.0)} role="img" aria-label={label}>
                <line class="axis" x1="0" y1={HEIGHT.to_string()} x2={WIDTH.to_string()} y2={HEIGHT.to_string()} />
                { for blocks }
                { for (0..launches as usize).step_by((launches as usize).div_ceil(24).max(1)).map(|k| html! {
                    <text class="tick" text-anchor="middle" x={((k as f64 + 0.5) / launches * WIDTH).to_string()} y={(HEIGHT + 16.0).to_string()}>{ k + 1 }</text>
                }) }
                <text class="tick" text-anchor="end" x="-6" y="6">{ size(m.arena) }</text>
                <text class="tick" text-anchor="end" x="-6" y={HEIGHT.to_string()}>{"0"}</text>
            </svg>
            <p class="muted" aria-live="off">{ detail }</p>
            <details>
                <summary>{"As a table"}</summary>
                <table class="wide">
                    <thead><tr><th scope="col">{"Buffer"}</th><th scope="col">{"Type"}</th><th scope="col">{"Offset"}</th><th scope="col">{"Size"}</th><th scope="col">{"Launches"}</th></tr></thead>
                    <tbody>{ for m.buffers.iter().map(|b| html! {
                        <tr><td><code>{ &b.name }</code></td><td>{ &b.ty }</td><td>{ format::count(b.offset) }</td><td>{ size(b.bytes) }</td><td>{ format!("{}–{}", b.first + 1, b.last + 1) }</td></tr>
                    }) }</tbody>
                </table>
            </details>
        </>
    }
}
