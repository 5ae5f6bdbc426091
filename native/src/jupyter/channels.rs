//! The five sockets of a kernel, on a thread of their own.
//!
//! Whatever the kernel says goes through one queue, so that all of it arrives in order and a cell that prints more than is read waits.

use aludel::{Error, Result};
use jupyter_zmq_client as zmq;
use jupyter_zmq_client::{
    ConnectionInfo, InputReply, InterruptReply, IoPubWelcome, JupyterMessage, JupyterMessageContent as Content, KernelIoPubXPubConnection,
    ReplyStatus, RouterRecvConnection, RouterSendConnection, ShutdownReply, Status, Stdio, StreamContent, SubscriptionEvent,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as queue};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// So much may wait to be sent.
const WAITING: usize = 1024;
/// Output is sent together that is written in this time, up to so many bytes.
const TOGETHER: Duration = Duration::from_millis(20);
const PIECE: usize = 1 << 16;
/// The last words of a kernel have so long to be sent.
const PARTING: Duration = Duration::from_secs(1);

/// Something to be sent.
pub enum Out {
    IoPub(JupyterMessage),
    Shell(JupyterMessage),
    Stdin(JupyterMessage),
    /// Everything before it is sent.
    Sent(oneshot::Sender<()>),
}

/// The machine's end of the sockets.
pub struct Wire {
    pub out: mpsc::Sender<Out>,
    /// Requests of the shell channel.
    pub requests: queue::Receiver<JupyterMessage>,
    /// Lines for `input()`.
    pub lines: queue::Receiver<InputReply>,
    /// Somebody asked for an interruption.
    pub interrupt: Arc<AtomicBool>,
    /// Sends for as long as it is held.
    _runtime: tokio::runtime::Runtime,
}

impl Wire {
    /// Waits until all that was said is on its way.
    pub fn flush(&self) {
        let (sent, wait) = oneshot::channel();
        if self.out.blocking_send(Out::Sent(sent)).is_ok() {
            // The thread that sends has ended otherwise.
            let _ = wait.blocking_recv();
        }
    }
}

/// Binds the sockets of a connection file.
///
/// # Errors
///
/// Ports that are taken, and transports that there are not.
pub fn open(connection: ConnectionInfo) -> Result<Wire> {
    let failed = |e: String| Error::invalid("the kernel's sockets", e, "start it again: Jupyter finds other ports");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(|e| failed(e.to_string()))?;
    let (out, said) = mpsc::channel(WAITING);
    let (ask, requests) = queue::channel();
    let (answer, lines) = queue::channel();
    let interrupt = Arc::new(AtomicBool::new(false));
    let (flag, speak) = (interrupt.clone(), out.clone());
    runtime.block_on(async {
        let session = session_id();
        let failed = |e: zmq::RuntimeError| failed(e.to_string());
        let mut heartbeat = zmq::create_kernel_heartbeat_connection(&connection).await.map_err(failed)?;
        let (shell_out, shell) = zmq::create_kernel_shell_connection(&connection, &session).await.map_err(failed)?.split();
        let (stdin_out, stdin) = zmq::create_kernel_stdin_connection(&connection, &session).await.map_err(failed)?.split();
        let (control_out, control) = zmq::create_kernel_control_connection(&connection, &session).await.map_err(failed)?.split();
        let iopub = zmq::create_kernel_iopub_xpub_connection(&connection, &session).await.map_err(failed)?;
        tokio::spawn(async move { while heartbeat.single_heartbeat().await.is_ok() {} });
        tokio::spawn(write(said, iopub, shell_out, stdin_out));
        tokio::spawn(read(shell, move |message| ask.send(message).is_ok()));
        tokio::spawn(read(stdin, move |message| match message.content {
            Content::InputReply(reply) => answer.send(reply).is_ok(),
            _ => true,
        }));
        tokio::spawn(watch_signals(flag.clone()));
        tokio::spawn(serve_control(control, control_out, speak, flag));
        Ok::<(), Error>(())
    })?;
    Ok(Wire { out, requests, lines, interrupt, _runtime: runtime })
}

/// Names this kernel's messages.
fn session_id() -> String {
    let mut bytes = [0; 16];
    // Without randomness all kernels have one name: nothing depends on it.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Hands messages on for as long as anybody takes them. What is no message, or not signed, is left out.
async fn read(mut from: RouterRecvConnection, mut take: impl FnMut(JupyterMessage) -> bool) {
    loop {
        match from.read().await {
            Ok(message) => {
                if !take(message) {
                    return;
                }
            }
            Err(e) => unread(e).await,
        }
    }
}

async fn unread(e: zmq::RuntimeError) {
    tracing::warn!(error = %e, "a message cannot be read");
    // Of a socket that only fails.
    sleep(Duration::from_millis(10)).await;
}

/// Sends what is said, and welcomes who listens.
async fn write(
    mut said: mpsc::Receiver<Out>,
    mut iopub: KernelIoPubXPubConnection,
    mut shell: RouterSendConnection,
    mut stdin: RouterSendConnection,
) {
    let mut kept: Option<Out> = None;
    loop {
        let next = match kept.take() {
            Some(next) => next,
            None => tokio::select! {
                next = said.recv() => match next {
                    Some(next) => next,
                    None => return,
                },
                event = iopub.recv_subscription() => {
                    if let Ok(SubscriptionEvent::Subscribe(topic)) = event {
                        sent(iopub.send(IoPubWelcome::new(topic).into()).await);
                    }
                    continue;
                }
            },
        };
        match next {
            Out::IoPub(message) => {
                let (message, next) = together(message, &mut said).await;
                kept = next;
                sent(iopub.send(message).await);
            }
            Out::Shell(message) => sent(shell.send(message).await),
            Out::Stdin(message) => sent(stdin.send(message).await),
            Out::Sent(done) => {
                // Nobody waits any more otherwise.
                let _ = done.send(());
            }
        }
    }
}

/// Who is gone hears nothing.
fn sent(outcome: zmq::Result<()>) {
    if let Err(e) = outcome {
        tracing::debug!(error = %e, "a message is not sent");
    }
}

/// Output with what is written right after it, and what else was found there.
async fn together(message: JupyterMessage, said: &mut mpsc::Receiver<Out>) -> (JupyterMessage, Option<Out>) {
    let Content::StreamContent(StreamContent { name, text }) = &message.content else { return (message, None) };
    let (name, mut text) = (name.clone(), text.clone());
    let parent = message.parent_header.as_ref().map(|h| h.msg_id.clone());
    let end = tokio::time::Instant::now() + TOGETHER;
    let mut other = None;
    while text.len() < PIECE {
        let Ok(Some(next)) = tokio::time::timeout_at(end, said.recv()).await else { break };
        match next {
            Out::IoPub(JupyterMessage { content: Content::StreamContent(more), parent_header, .. })
                if same(&more.name, &name) && parent_header.as_ref().map(|h| &h.msg_id) == parent.as_ref() =>
            {
                text += &more.text;
            }
            next => {
                other = Some(next);
                break;
            }
        }
    }
    let content = Content::StreamContent(StreamContent { name, text });
    (JupyterMessage { content, ..message }, other)
}

fn same(a: &Stdio, b: &Stdio) -> bool {
    matches!((a, b), (Stdio::Stdout, Stdio::Stdout) | (Stdio::Stderr, Stdio::Stderr))
}

/// Answers what may not wait for a cell to end.
async fn serve_control(mut from: RouterRecvConnection, mut to: RouterSendConnection, out: mpsc::Sender<Out>, interrupt: Arc<AtomicBool>) {
    loop {
        let message = match from.read().await {
            Ok(message) => message,
            Err(e) => {
                unread(e).await;
                continue;
            }
        };
        let reply: JupyterMessage = match &message.content {
            Content::InterruptRequest(_) => {
                interrupt.store(true, Ordering::SeqCst);
                InterruptReply { status: ReplyStatus::Ok, error: None }.as_child_of(&message)
            }
            Content::KernelInfoRequest(_) => super::session::about().as_child_of(&message),
            Content::ShutdownRequest(request) => {
                interrupt.store(true, Ordering::SeqCst);
                ShutdownReply { restart: request.restart, status: ReplyStatus::Ok, error: None }.as_child_of(&message)
            }
            _ => continue,
        };
        // What a cell prints may fill the queue: the answer does not wait for it.
        let last = matches!(message.content, Content::ShutdownRequest(_));
        let _ = timeout(PARTING, out.send(Out::IoPub(Status::busy().as_child_of(&message)))).await;
        sent(to.send(reply.clone()).await);
        if last {
            let _ = timeout(PARTING, out.send(Out::IoPub(JupyterMessage::new(reply.content, Some(&message))))).await;
        }
        let _ = timeout(PARTING, out.send(Out::IoPub(Status::idle().as_child_of(&message)))).await;
        if last {
            let (done, wait) = oneshot::channel();
            let _ = timeout(PARTING, async {
                if out.send(Out::Sent(done)).await.is_ok() {
                    let _ = wait.await;
                }
            })
            .await;
            // A cell that runs on is not waited for, and the sockets' own threads send what was handed to them.
            sleep(Duration::from_millis(50)).await;
            std::process::exit(0);
        }
    }
}

/// Ctrl-C interrupts the cell, as Jupyter's message does; a kernel whose Jupyter is gone ends.
async fn watch_signals(interrupt: Arc<AtomicBool>) {
    let parent = std::env::var("JPY_PARENT_PID").ok().and_then(|pid| pid.parse::<i32>().ok());
    let mut look = tokio::time::interval(Duration::from_secs(1));
    #[cfg(unix)]
    let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).ok();
    loop {
        #[cfg(unix)]
        let signal = async {
            match &mut signals {
                Some(signals) => signals.recv().await.is_some(),
                None => std::future::pending().await,
            }
        };
        #[cfg(not(unix))]
        let signal = async { tokio::signal::ctrl_c().await.is_ok() };
        tokio::select! {
            heard = signal => if heard { interrupt.store(true, Ordering::SeqCst) },
            _ = look.tick() => if is_orphan(parent) { std::process::exit(1) },
        }
    }
}

#[cfg(unix)]
fn is_orphan(parent: Option<i32>) -> bool {
    // Whoever started it directly: a launcher in between is another process.
    parent.is_some() && nix::unistd::getppid().as_raw() == 1
}

#[cfg(not(unix))]
fn is_orphan(_: Option<i32>) -> bool {
    false
}
