//! The captured graph, beside the kernels that came of it: pointing at one side lights up the other.

use super::phase_class;
use aludel_protocol::Inspection;
use std::rc::Rc;
use yew::prelude::*;

/// An inspection compared by place: it is large and never changes.
#[derive(Clone)]
pub struct Shared(pub Rc<Inspection>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Shared {
    type Target = Inspection;
    fn deref(&self) -> &Inspection {
        &self.0
    }
}

/// What is pointed at.
#[derive(Clone, Copy, PartialEq)]
enum Focus {
    Operator(u32),
    Kernel(usize),
}

#[derive(Properties, PartialEq)]
pub struct GraphProps {
    pub inspection: Shared,
    /// Shows a kernel's source.
    pub open: Callback<usize>,
}

#[component]
pub fn Graph(props: &GraphProps) -> Html {
    let pointed = use_state(|| None::<Focus>);
    let i = &props.inspection;
    let point = |focus: Option<Focus>| {
        let pointed = pointed.clone();
        move || pointed.set(focus)
    };
    let operators = i.operators.iter().map(|op| {
        let kernels: Vec<usize> = (0..i.kernels.len()).filter(|k| i.kernels[*k].operators.contains(&op.node)).collect();
        let lit = match *pointed {
            Some(Focus::Operator(n)) => n == op.node,
            Some(Focus::Kernel(k)) => kernels.contains(&k),
            None => false,
        };
        let (enter, leave, focus, blur) = (point(Some(Focus::Operator(op.node))), point(None), point(Some(Focus::Operator(op.node))), point(None));
        html! {
            <li key={op.node} class={classes!(lit.then_some("lit"))} tabindex="0" onmouseenter={move |_| enter()} onmouseleave={move |_| leave()}
                onfocus={move |_| focus()} onblur={move |_| blur()}>
                <code>{ &op.text }</code>
                <span class="chips">{ for kernels.iter().map(|k| {
                    let (open, k) = (props.open.clone(), *k);
                    html! { <button type="button" class={classes!("chip", phase_class(&i.kernels[k].phase))} aria-label={format!("kernel {}", k + 1)} onclick={move |_| open.emit(k)}>{ k + 1 }</button> }
                }) }</span>
                <small>{ op.location.clone().unwrap_or_default() }</small>
            </li>
        }
    });
    let kernels = i.kernels.iter().enumerate().map(|(k, kernel)| {
        let lit = match *pointed {
            Some(Focus::Operator(n)) => kernel.operators.contains(&n),
            Some(Focus::Kernel(p)) => p == k,
            None => false,
        };
        let (enter, leave, focus, blur) = (point(Some(Focus::Kernel(k))), point(None), point(Some(Focus::Kernel(k))), point(None));
        let open = props.open.clone();
        html! {
            <li key={k} class={classes!(lit.then_some("lit"))}>
                <button type="button" onmouseenter={move |_| enter()} onmouseleave={move |_| leave()} onfocus={move |_| focus()} onblur={move |_| blur()}
                    onclick={move |_| open.emit(k)}>
                    <span class={classes!("chip", phase_class(&kernel.phase))}>{ k + 1 }</span>{ &kernel.label }
                </button>
            </li>
        }
    });
    html! {
        <>
            <p class="about">{"What your model called, and the kernels that each call ended up in. Point at either side."}</p>
            <div class="linked">
                <ol class="operators" aria-label="Captured operators">{ for operators }</ol>
                <ol class="kernels" aria-label="Kernels">{ for kernels }</ol>
            </div>
        </>
    }
}
