//! A WebSocket to a companion server: frames are messages of `aludel_protocol::remote`, in postcard.

use super::session::Signal;
use aludel_protocol::remote::ClientMessage;
use aludel_protocol::{decode, encode};
use js_sys::{ArrayBuffer, Uint8Array};
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::{BinaryType, CloseEvent, MessageEvent, WebSocket};

/// An open connection, or one being made. Closes with this value, and is then heard of no more.
pub struct Socket {
    inner: WebSocket,
    _on_open: Closure<dyn Fn()>,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_close: Closure<dyn Fn(CloseEvent)>,
}

impl Socket {
    /// Begins to connect to `url` (`ws:` or `wss:`); `tell` hears of all that follows.
    pub fn open(url: &str, tell: impl Fn(Signal) + 'static) -> Result<Socket, String> {
        let inner = WebSocket::new(url).map_err(|e| {
            let reason = e.dyn_ref::<js_sys::Error>().map(|e| String::from(e.message()));
            reason.unwrap_or_else(|| format!("{url} is no address of a server"))
        })?;
        inner.set_binary_type(BinaryType::Arraybuffer);
        let tell = Rc::new(tell);
        let on_open = {
            let tell = tell.clone();
            Closure::<dyn Fn()>::new(move || tell(Signal::Opened))
        };
        let on_message = {
            let tell = tell.clone();
            Closure::<dyn Fn(MessageEvent)>::new(move |e: MessageEvent| {
                let bytes = e.data().dyn_into::<ArrayBuffer>().map(|b| Uint8Array::new(&b).to_vec()).unwrap_or_default();
                tell(decode(&bytes).map_or_else(Signal::Closed, Signal::Message));
            })
        };
        let on_close = Closure::<dyn Fn(CloseEvent)>::new(move |e: CloseEvent| {
            let reason = e.reason();
            tell(Signal::Closed(if reason.is_empty() { format!("closed with code {}", e.code()) } else { reason }));
        });
        inner.set_onopen(Some(on_open.as_ref().unchecked_ref()));
        inner.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        inner.set_onclose(Some(on_close.as_ref().unchecked_ref()));
        Ok(Socket { inner, _on_open: on_open, _on_message: on_message, _on_close: on_close })
    }

    /// Hands a message over; one that cannot be sent is lost, and the end of the connection follows.
    pub fn send(&self, message: &ClientMessage) {
        // A browser writes to the console that a closing one was given something.
        if self.inner.ready_state() == WebSocket::OPEN
            && let Ok(bytes) = encode(message)
        {
            let _ = self.inner.send_with_u8_array(&bytes);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.inner.set_onopen(None);
        self.inner.set_onmessage(None);
        self.inner.set_onclose(None);
        // What was sent before still goes out.
        let _ = self.inner.close();
    }
}
