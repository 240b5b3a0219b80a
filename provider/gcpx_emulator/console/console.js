"use strict";
// Puts what the emulator sends in its place, and sends forms as JSON. All HTML comes escaped from the emulator.

const byId = (id) => document.getElementById(id);

function replace(element, html) {
  const open = new Map([...element.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]));
  const focused = element.contains(document.activeElement) ? document.activeElement : null;
  const place = focused && (focused.id || focused.getAttribute("href"));
  const scrolled = [...element.querySelectorAll(".scroll")].map((one) => one.scrollLeft);
  element.innerHTML = html;
  for (const one of element.querySelectorAll("details[data-key]"))
    if (open.has(one.dataset.key)) one.open = open.get(one.dataset.key);
  element.querySelectorAll(".scroll").forEach((one, index) => { one.scrollLeft = scrolled[index] || 0; });
  if (place)
    [...element.querySelectorAll("a, [id]")].find((one) => one.id === place || one.getAttribute("href") === place)?.focus();
}

function made(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

function putTile([block, key, following, html]) {
  const tile = made(html), old = byId("i" + key);
  if (old) {
    const focused = old === document.activeElement;
    if (old.className !== tile.className) tile.classList.add("changed");
    old.replaceWith(tile);
    if (focused) tile.focus();
    return;
  }
  tile.classList.add("new");
  byId(block)?.insertBefore(tile, following ? byId("i" + following) : null);
}

function removeTile(key) {
  const tile = byId("i" + key);
  if (!tile) return;
  tile.removeAttribute("id");
  tile.classList.add("gone");
  setTimeout(() => tile.remove(), 600);
}

let summary = "";
let saying = null;
function say(words) {  // not more often than a screen reader can speak
  summary = words;
  saying ??= setTimeout(() => { saying = null; byId("summary").textContent = summary; }, 3000);
}

function show(news) {
  for (const [id, html] of Object.entries(news.panels || {})) if (byId(id)) replace(byId(id), html);
  if (news.whole !== undefined) replace(byId("fleets"), news.whole);
  for (const [id, html] of Object.entries(news.heads || {})) if (byId(id)) replace(byId(id), html);
  (news.gone || []).forEach(removeTile);
  (news.tiles || []).forEach(putTile);
  if (news.summary) say(news.summary);
}

function watch() {
  const state = byId("state"), address = document.body.dataset.events;
  if (!address) return;
  const events = new EventSource(address);
  events.onopen = () => { state.textContent = "live"; state.className = "live"; };
  events.onerror = () => { state.textContent = "not connected"; state.className = ""; };
  events.onmessage = (event) => show(JSON.parse(event.data));
}

async function send(method, path, body, answer) {
  let words, failed = true;
  try {
    const options = { method, headers: { "Content-Type": "application/json" }, body: method === "POST" ? body : undefined };
    const response = await fetch(path, options);
    failed = !response.ok;
    words = failed ? (await response.json()).error.message : "Done.";
  } catch (error) { words = String(error.message); }
  if (!answer) return;
  answer.textContent = words;
  answer.classList.toggle("bad", failed);
}

function bodyOf(form) {
  const fields = new FormData(form);
  if (fields.has("json")) return fields.get("json");
  const numbers = new Set([...form.querySelectorAll("input[type=number]")].map((one) => one.name));
  const given = [...fields].filter(([, value]) => value !== "");
  return JSON.stringify(Object.fromEntries(given.map(([name, value]) => [name, numbers.has(name) ? Number(value) : value])));
}

async function withEntry(form) {  // what is set, with one more entry
  const set = await (await fetch(form.dataset.post)).json(), { key, value } = form.elements, name = form.dataset.into;
  return JSON.stringify({ ...set, [name]: { ...set[name], [key.value]: Number(value.value) } });
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.dataset.post) return;
  event.preventDefault();
  const body = form.dataset.into ? await withEntry(form) : bodyOf(form);
  send("POST", form.dataset.post, body, form.querySelector(".answer"));
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-post], button[data-delete]");
  if (!button || (button.dataset.confirm && !confirm(button.dataset.confirm))) return;
  const answer = button.parentElement.querySelector(".answer");
  if (button.dataset.post) send("POST", button.dataset.post, button.dataset.body, answer);
  else send("DELETE", button.dataset.delete, null, answer);
});

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
document.addEventListener("keydown", (event) => {  // the arrow keys move among the tiles of a zone
  const block = event.target.closest?.(".tiles"), step = STEPS[event.key];
  if (!block || !step || !block.children.length) return;
  const tiles = [...block.children], at = tiles.indexOf(document.activeElement);
  const next = at < 0 ? 0 : at + step;
  tiles[Math.max(0, Math.min(tiles.length - 1, next))].focus();
  event.preventDefault();
});

document.addEventListener("mouseover", (event) => {
  const tile = event.target.closest?.(".tiles .tile");
  if (tile) tile.title = tile.getAttribute("aria-label");
});

addEventListener("DOMContentLoaded", watch);
