//! The companion server: where it is, what it lends, and the form that names another one.

use super::lanes::Lanes;
use aludel_protocol::{Companion, Lane};
use web_sys::HtmlInputElement;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct ServerProps {
    pub lanes: Lanes,
    /// Asks the server at an address, or where that is empty at the page's own, with a token or none.
    pub on_connect: Callback<(Option<String>, Option<String>)>,
}

/// A button, and what it opens: a native popover, closed by Escape or a click elsewhere.
#[component]
pub fn Server(props: &ServerProps) -> Html {
    let (address, token) = (use_node_ref(), use_node_ref());
    let companion = &props.lanes.companion;
    let (state, label) = match companion {
        Companion::Absent => ("", "Companion server"),
        Companion::Connecting { .. } => ("busy", "Connecting…"),
        Companion::Locked { .. } => ("off", "Server: token needed"),
        Companion::Connected { .. } => ("on", "Server connected"),
        Companion::Unreachable { .. } => ("off", "Server out of reach"),
    };
    let known = match companion {
        Companion::Absent => String::new(),
        Companion::Connecting { address }
        | Companion::Locked { address, .. }
        | Companion::Connected { address, .. }
        | Companion::Unreachable { address, .. } => address.clone(),
    };
    let submit = {
        let (on_connect, address, token) = (props.on_connect.clone(), address.clone(), token.clone());
        move |e: SubmitEvent| {
            e.prevent_default();
            let text = |node: &NodeRef| node.cast::<HtmlInputElement>().map(|i| i.value().trim().to_string()).filter(|t| !t.is_empty());
            on_connect.emit((text(&address), text(&token)));
        }
    };
    let about = match companion {
        Companion::Absent => html! {
            <p>{"Either pane can train on another machine: run "}<code>{"aludel serve"}</code>{" there, and name it here."}</p>
        },
        Companion::Connecting { address } => html! { <p>{ format!("Asking {address} …") }</p> },
        Companion::Locked { wrong: true, .. } => {
            html! { <p class="error">{"That is not the server's token: the one it was started with is."}</p> }
        }
        Companion::Locked { .. } => html! { <p>{"This server asks for the token that it was started with."}</p> },
        Companion::Connected { name, .. } => html! {
            <>
                <p>{ format!("{name} lends these devices; choose one in either pane:") }</p>
                <ul>{ for props.lanes.choices(Lane::Right).into_iter().filter(|c| c.key.starts_with("server:") && !c.absent)
                    .map(|c| html! { <li key={c.key}>{ c.title }</li> }) }</ul>
            </>
        },
        Companion::Unreachable { address, message } => html! { <p class="error">{ format!("{address}: {message}.") }</p> },
    };
    html! {
        <div class="server">
            <button type="button" id="server" class={classes!("quiet", state)} popovertarget="server-panel" title="Train on another machine" aria-label={label}>
                // A phone has room for one word; the dot and the name say the rest.
                <span class="roomy">{ label }</span><span class="tight">{"Server"}</span>
            </button>
            <div id="server-panel" popover="auto" role="dialog" aria-labelledby="server-title">
                <h2 id="server-title">{"Companion server"}</h2>
                { about }
                <form onsubmit={submit} autocomplete="off">
                    <label for="server-address">{"Address"}</label>
                    <input id="server-address" ref={address} type="text" inputmode="url" placeholder="127.0.0.1:7878" value={known} spellcheck="false" />
                    <label for="server-token">{"Token, if it asks for one"}</label>
                    <input id="server-token" ref={token} type="password" autocomplete="off" />
                    <button type="submit" id="server-connect">{"Connect"}</button>
                </form>
                <small>{"The token is kept for this tab only."}</small>
            </div>
        </div>
    }
}
