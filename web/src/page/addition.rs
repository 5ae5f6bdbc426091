//! Sums that the transformer was never shown, and its answers.

use aludel_protocol::Evaluation;
use std::rc::Rc;
use yew::prelude::*;

/// Rows that the table always has, so that it does not grow when answers come.
const ROWS: usize = 10;

#[derive(Properties, PartialEq)]
pub struct SamplesProps {
    pub evaluation: Option<Rc<Evaluation>>,
}

#[component]
pub fn Samples(props: &SamplesProps) -> Html {
    let (summary, samples) = match props.evaluation.as_deref() {
        Some(Evaluation::Addition { exact, problems, samples }) => {
            (format!("{} of {problems} held-out sums right", (exact * *problems as f32).round()), samples.clone())
        }
        _ => ("sums it was never shown".to_string(), Vec::new()),
    };
    html! {
        <section class="card samples" aria-labelledby="samples-title">
            <div class="card-head"><h2 id="samples-title">{"Answers"}</h2><p class="muted" id="samples-summary">{ summary }</p></div>
            <table>
                <thead><tr><th scope="col">{"Sum"}</th><th scope="col">{"Answer"}</th><th scope="col"><span class="unseen">{"Right?"}</span></th></tr></thead>
                <tbody>
                    { for (0..ROWS).map(|i| match samples.get(i) {
                        Some(s) => {
                            let right = s.answer == s.expected;
                            let answer = if s.answer.is_empty() { "∅".to_string() } else { s.answer.clone() };
                            html! {
                                <tr key={i} class={if right { "right" } else { "wrong" }}>
                                    <td>{ &s.question }</td>
                                    <td>{ answer }</td>
                                    <td>{ if right { "✓".to_string() } else { format!("✗ {}", s.expected) } }</td>
                                </tr>
                            }
                        }
                        None => html! { <tr key={i}><td>{"–"}</td><td></td><td></td></tr> },
                    }) }
                </tbody>
            </table>
        </section>
    }
}
