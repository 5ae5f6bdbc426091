//! The inspector: what the compiler made of the step, stage by stage.

mod graph;
mod kernels;
mod memory;
mod source;

use super::Tab;
use super::header::{arrow, focus};
use aludel_protocol::{Inspection, Kernel, Lane};
use std::rc::Rc;
use web_sys::KeyboardEvent;
use yew::prelude::*;

#[derive(Properties, Clone)]
pub struct InspectorProps {
    pub inspection: Option<Rc<Inspection>>,
    pub tab: Tab,
    /// The lane that is laid open; `None` when neither is compiled.
    pub lane: Option<Lane>,
    /// The lanes that may be, with their names.
    pub lanes: Vec<(Lane, String)>,
    /// The step is interpreted: there is no program to look into.
    pub interpreter: bool,
    pub on_lane: Callback<Lane>,
    pub on_tab: Callback<Tab>,
}

impl PartialEq for InspectorProps {
    /// An inspection is large and never changes: the same one is the same place.
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.inspection, &other.inspection) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        same && (self.tab, self.lane, self.interpreter) == (other.tab, other.lane, other.interpreter)
            && self.lanes == other.lanes
            && self.on_tab == other.on_tab
    }
}

#[component]
pub fn Inspector(props: &InspectorProps) -> Html {
    let selected = use_state(|| 0usize);
    let tabs = Tab::ALL.iter().map(|(tab, key, title)| {
        let (tab, current, on_tab) = (*tab, *tab == props.tab, props.on_tab.clone());
        let onkeydown = {
            let on_tab = on_tab.clone();
            move |e: KeyboardEvent| {
                if let Some(by) = arrow(&e) {
                    e.prevent_default();
                    let at = Tab::ALL.iter().position(|t| t.0 == tab).unwrap_or(0) as isize;
                    let (next, key, _) = Tab::ALL[(at + by).rem_euclid(Tab::ALL.len() as isize) as usize];
                    on_tab.emit(next);
                    focus(&format!("tab-{key}"));
                }
            }
        };
        html! {
            <button type="button" role="tab" key={*key} id={format!("tab-{key}")} aria-selected={current.to_string()} aria-controls="inspector-panel"
                tabindex={if current { "0" } else { "-1" }} {onkeydown} onclick={move |_| on_tab.emit(tab)}>{ title }</button>
        }
    });
    let body = match &props.inspection {
        None if props.interpreter => {
            html! { <p class="empty">{"The interpreter runs the captured graph as it is: no kernels are made, so there is nothing to look into. With WebGPU there is."}</p> }
        }
        None if props.lane.is_none() => {
            html! { <p class="empty">{"Neither pane is compiled: choose so in one, and its step is laid open here."}</p> }
        }
        None => html! { <p class="empty">{"Train a step in the compiled pane, and the compiler's work is laid open here."}</p> },
        Some(i) => panel(i, props.tab, &selected, &props.on_tab),
    };
    html! {
        <section class="card inspector" aria-labelledby="inspector-title">
            <div class="card-head"><h2 id="inspector-title">{"Inside the compiled step"}</h2>
                if let Some(i) = &props.inspection { <p class="muted">{ summary(i) }</p> }
                if props.lanes.len() > 1 {
                    <div class="segmented small" role="group" aria-label="Whose step">
                        { for props.lanes.iter().map(|(lane, name)| {
                            let (lane, on_lane) = (*lane, props.on_lane.clone());
                            html! {
                                <button type="button" key={lane.key()} id={format!("inspect-{}", lane.key())} aria-pressed={(Some(lane) == props.lane).to_string()}
                                    onclick={move |_| on_lane.emit(lane)}>{ name }</button>
                            }
                        }) }
                    </div>
                }
            </div>
            <div class="tabs" role="tablist" aria-label="Stages of the compiler">{ for tabs }</div>
            <div class="panel" role="tabpanel" id="inspector-panel" aria-labelledby={format!("tab-{}", props.tab.key())} tabindex="0">{ body }</div>
        </section>
    }
}

fn summary(i: &Inspection) -> String {
    format!("{} operators became {} kernels", i.operators.len(), i.kernels.len())
}

fn panel(i: &Rc<Inspection>, tab: Tab, selected: &UseStateHandle<usize>, on_tab: &Callback<Tab>) -> Html {
    match tab {
        Tab::Graph => {
            let open = {
                let (selected, on_tab) = (selected.clone(), on_tab.clone());
                Callback::from(move |k: usize| {
                    selected.set(k);
                    on_tab.emit(Tab::Kernels);
                })
            };
            html! { <graph::Graph inspection={graph::Shared(i.clone())} {open} /> }
        }
        Tab::Joint => stages(i, &["joint", "prims"], "The whole step: forward, backward and the update, as primitive operations."),
        Tab::Loops => stages(i, &["loop", "fus"], "Loop nests before and after fusion. Views are gone: they are index expressions."),
        Tab::Kernels => {
            let select = {
                let selected = selected.clone();
                Callback::from(move |k| selected.set(k))
            };
            html! { <kernels::Kernels inspection={graph::Shared(i.clone())} selected={**selected} {select} /> }
        }
        Tab::Memory => html! { <memory::MemoryPlan inspection={graph::Shared(i.clone())} /> },
        Tab::Guards => guards(i),
        Tab::NotFused => not_fused(i),
    }
}

/// Texts of the stages whose names contain one of `names`.
fn stages(i: &Inspection, names: &[&str], about: &'static str) -> Html {
    let found: Vec<_> = i.stages.iter().filter(|s| names.iter().any(|n| s.name.to_lowercase().contains(n))).collect();
    html! {
        <>
            <p class="about">{ about }</p>
            { for found.iter().enumerate().map(|(n, s)| html! {
                <details key={s.name.clone()} open={n + 1 == found.len()}>
                    <summary>{ &s.name }<small>{ format!("{} lines", super::format::count(s.text.lines().count() as u64)) }</small></summary>
                    <pre class="code" tabindex="0">{ &s.text }</pre>
                </details>
            }) }
            if found.is_empty() { <p class="empty">{"This program kept no text of the stage."}</p> }
        </>
    }
}

fn guards(i: &Inspection) -> Html {
    html! {
        <>
            <p class="about">{"What must hold for this program to be used again. A call for which one fails is captured anew; nothing is ever run under wrong assumptions."}</p>
            <table class="wide">
                <thead><tr><th scope="col">{"Condition"}</th><th scope="col">{"Because"}</th></tr></thead>
                <tbody>{ for i.guards.iter().map(|g| html! { <tr><td><code>{ &g.condition }</code></td><td>{ &g.reason }</td></tr> }) }</tbody>
            </table>
            if i.guards.is_empty() { <p class="empty">{"None: the program holds for every size."}</p> }
            { list("Compiled for", &i.specialisations) }
            { list("Graph breaks", &i.breaks) }
        </>
    }
}

fn list(title: &'static str, items: &[String]) -> Html {
    if items.is_empty() {
        return html! {};
    }
    html! { <><h3>{ title }</h3><ul>{ for items.iter().map(|s| html! { <li>{ s }</li> }) }</ul></> }
}

fn not_fused(i: &Inspection) -> Html {
    let name = |k: u32| match i.kernels.get(k as usize) {
        Some(kernel) => kernel_name(k as usize, kernel),
        None => html! { { format!("{}", k + 1) } },
    };
    html! {
        <>
            <p class="about">{"Neighbouring kernels that share a buffer and yet stayed apart, with the rule that kept them so."}</p>
            <table class="wide">
                <thead><tr><th scope="col">{"Kernel"}</th><th scope="col">{"and"}</th><th scope="col">{"stayed apart because"}</th></tr></thead>
                <tbody>{ for i.not_fused.iter().map(|n| html! { <tr><td>{ name(n.first) }</td><td>{ name(n.second) }</td><td>{ &n.reason }</td></tr> }) }</tbody>
            </table>
            if i.not_fused.is_empty() { <p class="empty">{"Nothing was left that could have been fused."}</p> }
        </>
    }
}

fn kernel_name(index: usize, kernel: &Kernel) -> Html {
    html! { <><span class={classes!("chip", phase_class(&kernel.phase))}>{ index + 1 }</span>{" "}{ &kernel.label }</> }
}

/// Colours tell the phases of a step apart; their names are there as well.
fn phase_class(phase: &str) -> &'static str {
    match phase.to_lowercase() {
        p if p.contains("recompute") => "recompute",
        p if p.contains("backward") && p.contains("forward") => "mixed",
        p if p.contains("backward") => "backward",
        p if p.contains("update") => "update",
        _ => "forward",
    }
}
