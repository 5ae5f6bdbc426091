// Numbers as the page shows them.

/** Three significant digits. */
export function significant(v) {
  const a = Math.abs(v);
  if (a >= 1000) return Math.round(v).toLocaleString("en-US");
  return v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 || a === 0 ? 2 : 3);
}

/** Milliseconds as a number and its unit. */
export const time = (ms) => (ms >= 10_000 ? [significant(ms / 1000), "s"] : [significant(ms), "ms"]);

/** Bytes with their unit. */
export const size = (n) => (n < 1000 ? `${n}\u202fB` : n < 1e6 ? `${significant(n / 1e3)}\u202fkB` : n < 1e9 ? `${significant(n / 1e6)}\u202fMB` : `${significant(n / 1e9)}\u202fGB`);
