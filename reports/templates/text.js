// How anything gets onto the page: elements made one by one, and data as text alone, never as markup.
const data = JSON.parse(document.getElementById("data").textContent);
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

// Control characters, lone surrogates, and those that reorder a line are shown as what they are: strangers.
const visible = (text) => String(text).replace(HIDDEN, (char) => (char === "\n" || char === "\t" ? char : "\ufffd"));

const SVG = new Set(["svg", "rect", "line", "path", "text", "g", "title", "circle"]);

function make(tag, attributes, ...children) {
  const node = SVG.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, visible(value));
  }
  node.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== "")
      .map((child) => (child instanceof Node ? child : document.createTextNode(visible(child)))),
  );
  return node;
}

const part = (id) => document.getElementById(id);
const count = (number) => number.toLocaleString("en-US");
const many = (number, one, more) => `${count(number)} ${number === 1 ? one : more || one + "s"}`;
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const cut = (text, width) => (text.length > width ? text.slice(0, width - 1) + "…" : text);
const toned = (tone, mark, ...text) =>
  make(
    "span",
    { class: tone },
    make("span", { class: "mark", "aria-hidden": "true" }, mark),
    make("span", { class: "tone" }, ...text),
  );

// What became of a program, as a mark beside the word: colour is never the only sign.
const OUTCOMES = {
  pass: ["good", "✓"],
  known: ["warn", "~"],
  fail: ["bad", "✕"],
  crash: ["bad", "☠"],
  timeout: ["bad", "⧖"],
  unsupported: ["none", "–"],
  refused: ["none", "–"],
  out_of_date: ["warn", "!"],
  error: ["open", "?"],
};
const outcome = (name) => toned(...(OUTCOMES[name] || ["open", "?"]), name.replaceAll("_", " "));
const places = (run) => (run && run.violations ? run.violations.map((number) => data.places[number]) : []);
const kindsOf = (program) => new Set(program.runs.flatMap((run) => (run && run.kinds) || []));

const paragraph = (kind, ...children) => make("p", { class: kind }, ...children);
const note = (...children) => paragraph("note", ...children);
const lead = (...children) => paragraph("lead", ...children);
const button = (text, click, attributes) => make("button", { type: "button", click, ...attributes }, text);
const link = (text, click, kind) => button(text, click, { class: `plain ${kind || ""}` });
const isKnown = (fault) => Boolean(fault.finding);

function table(attributes, columns, rows) {
  const heads = columns.map((column) => make("th", { scope: "col", class: column.class }, column.name ?? column));
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": attributes.label },
    make("table", { class: attributes.class }, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)),
  );
}

function choice(label, options, changed) {
  const select = make(
    "select",
    { change: () => changed(select.value) },
    options.map(([value, text]) => make("option", { value }, text)),
  );
  return make("label", {}, label, select);
}

// Draws what is inside only once it is opened.
function later(attributes, title, draw) {
  const details = make("details", attributes, make("summary", {}, title));
  details.addEventListener(
    "toggle",
    () => details.open && details.childElementCount === 1 && details.append(...[draw()].flat()),
  );
  return details;
}
