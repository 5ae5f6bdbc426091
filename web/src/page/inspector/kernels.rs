//! The fused kernels, their source, and the operators they came from.

use super::super::format;
use super::graph::Shared;
use super::{phase_class, source};
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct KernelsProps {
    pub inspection: Shared,
    pub selected: usize,
    pub select: Callback<usize>,
}

#[component]
pub fn Kernels(props: &KernelsProps) -> Html {
    let i = &props.inspection;
    let selected = props.selected.min(i.kernels.len().saturating_sub(1));
    let most = i.kernels.iter().map(|k| k.bytes).max().unwrap_or(1).max(1);
    let list = i.kernels.iter().enumerate().map(|(n, k)| {
        let select = props.select.clone();
        html! {
            <li key={n}>
                <button type="button" aria-pressed={(n == selected).to_string()} onclick={move |_| select.emit(n)}>
                    <span class={classes!("chip", phase_class(&k.phase))}>{ n + 1 }</span>
                    <span class="label">{ &k.label }</span>
                    <span class="size">{ format::joined(format::bytes(k.bytes)) }<i style={format!("--p:{:.3}", k.bytes as f64 / most as f64)}></i></span>
                </button>
            </li>
        }
    });
    let detail = i.kernels.get(selected).map(|k| {
        let shared = i.kernels.iter().filter(|o| o.pipeline == k.pipeline).count();
        let origins = i.operators.iter().filter(|o| k.operators.contains(&o.node));
        let groups = format!("{} × {} × {}", k.grid[0], k.grid[1], k.grid[2]);
        let facts = [
            match k.workgroup.iter().product::<u32>() {
                // A CPU's cores share the groups out.
                0 | 1 => format!("{groups} parts"),
                threads => format!("{groups} workgroups of {threads}"),
            },
            format!("{} read and written", format::joined(format::bytes(k.bytes))),
            format!("{} floating-point operations", format::count(k.flops)),
        ];
        html! {
            <div class="detail" key={selected}>
                <h3><span class={classes!("chip", phase_class(&k.phase))}>{ selected + 1 }</span>{ &k.label }</h3>
                <p class="muted">{ &k.phase }{" · "}{ facts.join(" · ") }{ if shared > 1 { format!(" · one text for {shared} launches") } else { String::new() } }</p>
                <h4>{"Comes from"}</h4>
                <ol class="origins">{ for origins.map(|o| html! {
                    <li key={o.node}><code>{ &o.text }</code><small>{ o.location.clone().unwrap_or_default() }</small></li>
                }) }</ol>
                <h4>{ source::Language::of(&k.source).name() }</h4>
                <pre class="code" tabindex="0">{ source::highlight(&k.source) }</pre>
            </div>
        }
    });
    html! {
        <div class="split">
            <ol class="kernels" aria-label="Kernels in the order of launch">{ for list }</ol>
            { detail.unwrap_or_default() }
        </div>
    }
}
