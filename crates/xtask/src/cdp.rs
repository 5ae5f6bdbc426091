//! A Chromium driven over its DevTools protocol: https://chromedevtools.github.io/devtools-protocol/.
