// Draws the graph of the topology view: positions come from the server, colours from the page's styles.

let drawn = null;

// Every colour is that of the legend; `far` is how much larger names are, because all of it is seen from afar.
function looks(figure, far) {
  const large = Math.min(far, 1.5);
  const page = getComputedStyle(document.documentElement);
  const shapes = { entity: "diamond", project: "round-rectangle", kin: "hexagon" };
  const style = [
    {
      selector: "node",
      style: {
        width: (node) => large * node.data("size"), height: (node) => large * node.data("size"), label: "data(short)", "border-width": 1.5,
        "font-size": 14 * far, "font-weight": 600, "min-zoomed-font-size": 7, "text-valign": "bottom", "text-margin-y": 3,
        color: page.color, "text-outline-color": page.backgroundColor, "text-outline-width": 2,
      },
    },
    // What memories say is read from nearby: there are many of them.
    { selector: ".memory", style: { "font-size": 11, "font-weight": 400, "min-zoomed-font-size": 13 } },
    { selector: ".entity, .project, .kin", style: { "z-index": 1 } },
    { selector: "edge", style: { "curve-style": "haystack", opacity: 0.9 } },
  ];
  for (const dot of figure.querySelectorAll(".dot")) {
    const [, kind, tier] = dot.classList;
    const fill = getComputedStyle(dot).backgroundColor;
    const shape = shapes[kind] ?? "ellipse";
    style.push({
      selector: tier ? `.${kind}.${tier}` : `.${kind}`,
      style: { "background-color": fill, "border-color": fill, shape },
    });
  }
  for (const dash of figure.querySelectorAll(".dash")) {
    const { borderTopColor, borderTopWidth } = getComputedStyle(dash);
    style.push({
      selector: `.${dash.classList[1]}`,
      style: { "line-color": borderTopColor, width: borderTopWidth },
    });
  }
  return [
    ...style,
    { selector: ".near", style: { "min-zoomed-font-size": 0 } },
    { selector: ".faint", style: { opacity: 0.12, "text-opacity": 0 } },
    { selector: "node:selected", style: { "border-color": page.color, "border-width": 3 } },
  ];
}

function elements({ nodes, lines }) {
  const spread = 42;
  const short = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);
  return [
    ...nodes.map((node, number) => ({
      group: "nodes",
      data: { id: `${number}`, size: Math.min(9 + 3 * Math.sqrt(node.many), 34), short: short(node.label), node },
      position: { x: node.at[0] * spread, y: node.at[1] * spread },
      classes: `${node.kind} ${node.tier}`,
    })),
    ...lines.map(([source, target, relation, told]) => ({
      group: "edges", data: { source: `${source}`, target: `${target}`, told }, classes: relation,
    })),
  ];
}

// What the memories say of two entities, from the one it is said of.
function stated(node) {
  const name = (end) => end.data("node").label;
  return node.connectedEdges().filter((edge) => edge.data("told")).slice(0, 3)
    .map((edge) => `${name(edge.source())} → ${edge.data("told")} → ${name(edge.target())}`);
}

function tell(figure, dot) {
  const told = figure.querySelector("[data-told]");
  told.hidden = !dot;
  if (!dot) return;
  const node = dot.data("node");
  const link = told.querySelector("[data-link]");
  link.textContent = node.label;
  link.href = node.to;
  const what = [node.ties, ...stated(dot)].map((one) => `· ${one}`);
  told.querySelector("[data-what]").textContent = what.join(" ");
}

// All of it, but three dots do not fill the screen.
function fit(graph) {
  graph.fit(undefined, 24);
  if (graph.zoom() > 1.5) {
    graph.zoom(1.5);
    graph.center();
  }
}

function follow(figure, graph) {
  const clear = () => {
    graph.elements().removeClass("faint near");
    tell(figure, null);
  };
  // Whoever has turned to a part of it does not want it drawn anew.
  figure.querySelector(".canvas").addEventListener("pointerdown", () => (figure.dataset.busy = ""));
  graph.on("select", "node", ({ target }) => {
    const near = target.closedNeighborhood();
    graph.elements().removeClass("faint near").difference(near).addClass("faint");
    if (near.length < 40) near.addClass("near");
    tell(figure, target);
  });
  graph.on("unselect", "node", clear);
  for (const button of figure.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      const by = Number(button.dataset.zoom);
      if (!by) return fit(graph);
      const middle = { x: graph.width() / 2, y: graph.height() / 2 };
      graph.zoom({ level: graph.zoom() * by, renderedPosition: middle });
    });
  }
}

async function draw() {
  const figure = document.querySelector("[data-drawn]");
  if (!figure || figure === drawn?.figure) return;
  drawn?.graph?.destroy();
  const mine = (drawn = { figure });
  const answer = await fetch(figure.dataset.drawn, { headers: { "X-Live": "1" } });
  if (!answer.ok || answer.redirected) return;
  const [graph] = await Promise.all([answer.json(), import(figure.dataset.library)]);
  if (drawn !== mine || !figure.isConnected) return;
  figure.hidden = false;
  mine.graph = globalThis.cytoscape({
    container: figure.querySelector(".canvas"), elements: elements(graph), style: looks(figure, 1),
    layout: { name: "preset" },
    minZoom: 0.05, maxZoom: 4, pixelRatio: 1, textureOnViewport: true, autoungrabify: true, boxSelectionEnabled: false,
  });
  figure.querySelector(".canvas").drawn = mine.graph;
  fit(mine.graph);
  mine.far = Math.min(2.6, Math.max(1, 0.9 / mine.graph.zoom()));
  mine.graph.style(looks(figure, mine.far));
  follow(figure, mine.graph);
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn?.graph?.style(looks(drawn.figure, drawn.far)));
document.addEventListener("kinmem:dressed", draw);
draw();
