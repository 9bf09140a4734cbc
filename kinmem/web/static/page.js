// Keys, the choice of several rows, and what changes meanwhile. The page works without any of it.

document.documentElement.classList.add("js");

// Keys: `data-key` names the key of a control; j and k move through rows.

const isTyping = (target) =>
  target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName);

function move(step) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, at + step))];
  next.querySelector("a, button")?.focus();
  next.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
  if (isTyping(event.target)) return;
  if (event.key === "j" || event.key === "k") {
    event.preventDefault();
    move(event.key === "j" ? 1 : -1);
    return;
  }
  const wanted = [...document.querySelectorAll("[data-key]")].find(
    (one) => one.dataset.key === event.key,
  );
  if (!wanted) return;
  event.preventDefault();
  if (isTyping(wanted)) {
    wanted.focus();
    wanted.select?.();
  } else wanted.click();
});

// What is asked for with GET stands in the address: without the fields that are empty.
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb !== "get") return;
  for (const [name, value] of [...detail.formData.entries()]) if (value === "") detail.formData.delete(name);
});

// Rows that are chosen.

function countChosen() {
  for (const bar of document.querySelectorAll("[data-chosen]")) {
    const chosen = bar.closest("form").querySelectorAll("input[name=id]:checked").length;
    bar.classList.toggle("some", chosen > 0);
    const told = bar.querySelector("[data-count]");
    if (!told) continue;
    told.dataset.none ??= told.textContent;
    told.textContent = chosen ? told.dataset.count.replace("{n}", chosen) : told.dataset.none;
  }
}

document.addEventListener("change", (event) => {
  const target = event.target;
  if (target.matches("[data-all]")) {
    for (const box of target.form.querySelectorAll("input[name=id]")) box.checked = target.checked;
  }
  if (target.type === "checkbox") countChosen();
  if (target.matches("[data-now]")) target.form.requestSubmit();
});

document.addEventListener("click", (event) => {
  event.target.closest("[data-close]")?.closest(".notice").remove();
});

function dress() {
  for (const close of document.querySelectorAll("[data-close]")) close.hidden = false;
  countChosen();
  // A view's own script; the browser loads each once.
  for (const one of document.querySelectorAll("[data-module]")) import(one.dataset.module);
  const nav = document.querySelector(".side nav");
  const here = nav?.querySelector("[aria-current]");
  if (here) nav.scrollLeft = here.offsetLeft - nav.clientWidth / 2 + here.offsetWidth / 2;
  document.dispatchEvent(new CustomEvent("kinmem:dressed"));
}

// What changes elsewhere. A page that somebody is working on is not replaced under their hands.

let stream = null;
let waiting = false;

const isBusy = () => {
  const main = document.getElementById("main");
  const focused = document.activeElement;
  return (
    !main ||
    main.querySelector("input[name=id]:checked, [data-busy], .erase[open], .filters details[open]") !== null ||
    (main.contains(focused) && isTyping(focused))
  );
};

// What somebody has unfolded, or folded, stays so.
function keepFolds(main, fresh) {
  const name = (one) =>
    `${one.closest("[data-row]")?.querySelector("a")?.getAttribute("href")} ${one.querySelector("summary").textContent}`;
  const known = new Map([...main.querySelectorAll("details")].map((one) => [name(one), one.open]));
  for (const one of fresh.querySelectorAll("details")) one.open = known.get(name(one)) ?? one.open;
}

async function refresh() {
  if (isBusy()) {
    waiting = true;
    offer();
    return;
  }
  waiting = false;
  document.getElementById("changed")?.remove();
  const answer = await fetch(location.href, { headers: { "X-Live": "1" } });
  if (!answer.ok || answer.redirected) return;
  const there = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = there.getElementById("main");
  const main = document.getElementById("main");
  if (!fresh || !main || isBusy()) return;
  keepFolds(main, fresh);
  if (fresh.innerHTML === main.innerHTML) return;
  const href = document.activeElement?.getAttribute("href");
  main.replaceWith(fresh);
  htmx.process(fresh);
  if (href) fresh.querySelector(`a[href="${CSS.escape(href)}"]`)?.focus({ preventScroll: true });
  dress();
}

function offer() {
  if (document.getElementById("changed")) return;
  const line = document.createElement("button");
  line.id = "changed";
  line.className = "changed";
  line.type = "button";
  line.textContent = document.body.dataset.live;
  line.addEventListener("click", () => location.reload());
  document.body.append(line);
}

function listen() {
  if (stream || document.hidden || !document.body.dataset.live) return;
  stream = new EventSource("/events");
  stream.addEventListener("changed", refresh);
}

// A browser keeps few connections to one server: a page that nobody sees holds none.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    stream?.close();
    stream = null;
  } else {
    if (document.body.dataset.live) refresh();
    listen();
  }
});

document.addEventListener("focusout", () => {
  if (waiting) setTimeout(() => !isBusy() && refresh(), 500);
});

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.boosted && event.target === document.body) {
    const main = document.getElementById("main");
    (main?.querySelector("[autofocus]") ?? main)?.focus({ preventScroll: true });
  }
  dress();
});

dress();
listen();
