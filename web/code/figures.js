// Figures and files that scripts made: pictures are shown, everything can be taken away.
import { size } from "./format.js";

const IMAGES = { svg: "image/svg+xml", png: "image/png" };

const equal = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);

export class Figures {
  #section;
  #list;
  /** From a path to what each lane made: bytes and the figure that shows them. */
  #made = new Map();

  constructor(section, list) {
    this.#section = section;
    this.#list = list;
  }

  clear() {
    for (const link of this.#list.querySelectorAll("a")) URL.revokeObjectURL(link.href);
    this.#list.replaceChildren();
    this.#made.clear();
    this.#section.hidden = true;
  }

  /** A file that a script wrote, or a figure that it shows; of one with the same name it takes the place. Where both lanes made the same,
   *  it is shown once. */
  add(lane, path, bytes, media) {
    this.#section.hidden = false;
    const lanes = this.#made.get(path) ?? new Map();
    this.#made.set(path, lanes);
    const old = lanes.get(lane)?.figure;
    const [other, same] = [...lanes].find(([l, made]) => l !== lane && equal(made.bytes, bytes)) ?? [];
    const figure = same?.figure ?? this.#figure(path, bytes, media ?? IMAGES[path.split(".").at(-1).toLowerCase()]);
    lanes.set(lane, { bytes, figure });
    figure.querySelector(".of").textContent = ` ${size(bytes.length)}, ${same ? `${other} and ${lane}` : lane}`;
    if (old === figure) return;
    // What another lane's figure showed too stays there.
    if (old && [...lanes.values()].some((made) => made.figure === old)) {
      old.querySelector(".of").textContent = ` ${size(bytes.length)}, ${[...lanes].find(([, made]) => made.figure === old)[0]}`;
    } else if (old) {
      URL.revokeObjectURL(old.querySelector("a").href);
      if (figure.isConnected) old.remove();
      else old.replaceWith(figure);
    }
    if (!figure.isConnected) this.#list.append(figure);
  }

  #figure(path, bytes, type) {
    const url = URL.createObjectURL(new Blob([bytes], { type: type ?? "application/octet-stream" }));
    const figure = document.createElement("figure");
    const link = Object.assign(document.createElement("a"), { href: url, download: path.split("/").at(-1).replaceAll(" ", "-"), textContent: path });
    const caption = document.createElement("figcaption");
    caption.append(link, Object.assign(document.createElement("span"), { className: "of" }));
    // As an image, what a script wrote as SVG cannot run anything.
    if (type) figure.append(Object.assign(document.createElement("img"), { src: url, alt: `${path}, made by the script` }));
    figure.append(caption);
    return figure;
  }
}
