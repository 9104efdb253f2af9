"use strict";
// Charts, sorting and filtering of a report. Everything from the data is put in as text nodes or numbers, never as markup.
(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const inks = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
    const state = { text: "", arch: "", definition: "", off: new Set() };
    const $ = (id) => document.getElementById(id);

    function put(parent, space, tag, attributes, children) {
        const node = space ? document.createElementNS(space, tag) : document.createElement(tag);
        for (const [key, value] of Object.entries(attributes || {}))
            if (value !== null && value !== undefined) node.setAttribute(key, value);
        for (const child of [].concat(children === undefined ? [] : children))
            node.append(child instanceof Node ? child : String(child));
        if (parent) parent.append(node);
        return node;
    }
    const html = (parent, tag, attributes, children) => put(parent, null, tag, attributes, children);
    const svg = (parent, tag, attributes, children) =>
        put(parent, "http://www.w3.org/2000/svg", tag, attributes, children);
    const clear = (node) => { node.replaceChildren(); return node; };
    const round = (value, digits) => value === null || value === undefined ? "–" : value.toFixed(digits);

    // Hover: anything with data-tip.
    const tip = html(document.body, "div", { id: "tip", role: "status" });
    function showTip(event, text) {
        tip.textContent = text;
        tip.style.display = "block";
        const box = tip.getBoundingClientRect();
        tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 6)) + "px";
        tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 6)) + "px";
    }
    document.addEventListener("mousemove", (event) => {
        const at = event.target.closest && event.target.closest("[data-tip]");
        if (at) showTip(event, at.getAttribute("data-tip"));
        else if (!event.target.closest || !event.target.closest("[data-live]")) tip.style.display = "none";
    });

    // Filter.
    function passes(model, arch, definition, run) {
        if (state.off.has(model) || (state.arch && arch && arch !== state.arch)) return false;
        if (state.definition && definition && definition !== state.definition) return false;
        return !state.text || [model, definition, run].join("\n").toLowerCase().includes(state.text);
    }
    const shownSeries = () => data.series.filter((s) => passes(s.model, s.arch, s.definition, s.run));

    function filterTables() {
        for (const row of document.querySelectorAll("tr[data-model]")) {
            const d = row.dataset;
            row.hidden = !passes(d.model, d.arch || "", d.definition || "", d.run || "");
        }
    }

    // Sorting: a click on a heading; a second one turns it round. Unknown values stay last.
    function sortBy(heading) {
        const table = heading.closest("table");
        const column = heading.cellIndex;
        const down = heading.getAttribute("aria-sort") === "descending" ||
            (!heading.hasAttribute("aria-sort") && heading.classList.contains("t"));
        const sign = down ? 1 : -1;
        const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
        const numeric = !heading.classList.contains("t");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
            const x = key(a), y = key(b);
            if (x === "" || y === "") return (x === "") - (y === "");
            return sign * (numeric ? Number(x) - Number(y) : x.localeCompare(y, undefined, { numeric: true }));
        });
        for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", down ? "ascending" : "descending");
        table.tBodies[0].append(...rows);
    }
    document.addEventListener("click", (event) => {
        const heading = event.target.closest("th button");
        if (heading) sortBy(heading.closest("th"));
    });

    // Scales.
    function step(range, most) {
        const power = 10 ** Math.floor(Math.log10(range / most));
        return [1, 2, 5, 10].map((f) => f * power).find((s) => range / s <= most) || 10 * power;
    }
    function axes(root, box, xMax, yMax, names) {
        const x = (v) => box.left + v / xMax * box.width;
        const y = (v) => box.top + box.height - v / yMax * box.height;
        const label = (v, s) => v.toFixed(Math.max(0, Math.ceil(-Math.log10(s) - 1e-9)));
        for (let s = step(yMax, 5), v = 0; v <= yMax * 1.0001; v += s) {
            svg(root, "line", { x1: box.left, x2: box.left + box.width, y1: y(v), y2: y(v), stroke: "#e3e3e3" });
            svg(root, "text", { x: box.left - 6, y: y(v) + 4, "text-anchor": "end", class: "soft" }, label(v, s));
        }
        if (names) names.forEach((name, i) => svg(root, "text", { x: x(i + 0.5), y: box.top + box.height + 15, "text-anchor": "middle", class: "soft" }, name));
        else
            for (let s = step(xMax, 8), v = 0; v <= xMax * 1.0001; v += s)
                svg(root, "text", { x: x(v), y: box.top + box.height + 15, "text-anchor": "middle", class: "soft" }, label(v, s));
        svg(root, "path", { d: `M${box.left},${box.top}V${box.top + box.height}H${box.left + box.width}`, stroke: "#8a8a8a", fill: "none" });
        return { x, y };
    }

    // Fast_p: a curve for each series on the chosen definition, with the band between prompt variants.
    const nameOf = (s) => s.model + (state.arch ? "" : s.arch ? ", " + s.arch : "") + (s.twin ? ", " + s.run : "");
    const at = (curve, p) => {
        let low = 0, high = curve.length;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (curve[middle][0] <= p) low = middle; else high = middle;
        }
        return curve[low];
    };
    function drawFastp() {
        const root = clear($("fastp"));
        const kind = $("fastp-kind").value;
        const definition = $("fastp-definition").value;
        const rows = shownSeries().filter((s) => s.definition === definition)
            .map((s) => ({ name: nameOf(s), curve: s[kind].steps, best: s[kind].best }))
            .sort((a, b) => b.best - a.best);
        const drawn = rows.filter((r) => r.best > 0);
        const box = { left: 52, top: 12, width: 760, height: 320 };
        const page = svg(root, "svg", { viewBox: "0 0 1180 380", width: 1180, height: 380, role: "img", "aria-label": "Fast_p curves" });
        const xMax = Math.max(0.05, ...drawn.map((r) => r.best)) * 1.03;
        const yMax = Math.max(1, ...drawn.map((r) => Math.max(...r.curve.map((c) => c[3])))) * 1.05;
        const { x, y } = axes(page, box, xMax, yMax);
        svg(page, "text", { x: box.left + box.width / 2, y: 372, "text-anchor": "middle", class: "soft" }, "speed-up p over the reference");
        svg(page, "text", { x: 14, y: box.top + box.height / 2, transform: `rotate(-90 14 ${box.top + box.height / 2})`, "text-anchor": "middle", class: "soft" }, "% of turns faster than p");
        if (xMax > 1) svg(page, "line", { x1: x(1), x2: x(1), y1: box.top, y2: box.top + box.height, stroke: "#8a8a8a", "stroke-dasharray": "4 4" });
        drawn.forEach((r, i) => {
            const ends = r.curve.map((c, k) => k + 1 < r.curve.length ? r.curve[k + 1][0] : r.best);
            const stairs = (column) => r.curve.map((c, k) => `${x(c[0])},${y(c[column])} ${x(ends[k])},${y(c[column])}`);
            const back = r.curve.map((c, k) => `${x(ends[k])},${y(c[2])} ${x(c[0])},${y(c[2])}`).reverse();
            r.ink = inks[i % inks.length];
            r.dash = i < inks.length ? null : i < 2 * inks.length ? "6 3" : "2 3";
            svg(page, "polygon", { points: stairs(3).concat(back).join(" "), fill: r.ink, opacity: 0.12 });
            svg(page, "polyline", { points: stairs(1).join(" ") + ` ${x(r.best)},${y(0)}`, fill: "none", stroke: r.ink, "stroke-width": 2, "stroke-dasharray": r.dash });
            svg(page, "circle", { cx: x(r.best), cy: y(0), r: 3.5, fill: r.ink });
            if (i < 20) {
                svg(page, "line", { x1: 836, x2: 858, y1: 22 + i * 17, y2: 22 + i * 17, stroke: r.ink, "stroke-width": 3, "stroke-dasharray": r.dash });
                svg(page, "text", { x: 866, y: 26 + i * 17 }, `${r.best.toFixed(3)}  ${r.name.length > 40 ? r.name.slice(0, 39) + "…" : r.name}`);
            }
        });
        if (!drawn.length) svg(page, "text", { x: box.left + box.width / 2, y: 170, "text-anchor": "middle" }, "no such turn");
        const cursor = svg(page, "line", { y1: box.top, y2: box.top + box.height, stroke: "#1a1a1a", visibility: "hidden" });
        const area = svg(page, "rect", { x: box.left, y: box.top, width: box.width, height: box.height, fill: "transparent", "data-live": "" });
        area.addEventListener("mousemove", (event) => {
            const frame = area.getBoundingClientRect();
            const p = (event.clientX - frame.left) / frame.width * xMax;
            cursor.setAttribute("x1", x(p));
            cursor.setAttribute("x2", x(p));
            cursor.setAttribute("visibility", "visible");
            const lines = drawn.slice(0, 20).map((r) => {
                const value = p >= r.best ? [p, 0, 0, 0] : at(r.curve, p);
                return `${value[1].toFixed(1)} % [${value[2].toFixed(1)}, ${value[3].toFixed(1)}]  ${r.name}`;
            });
            showTip(event, [`p = ${p.toFixed(3)}`].concat(lines).join("\n"));
        });
        area.addEventListener("mouseleave", () => cursor.setAttribute("visibility", "hidden"));
        const none = rows.filter((r) => !(r.best > 0)).map((r) => r.name);
        $("fastp-none").textContent = none.length ? "No such turn: " + none.join("; ") : "";
    }

    // Heat map: rows are series of one model, columns definitions.
    function contrast(r, g, b) { return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff"; }
    function heat(share) {
        const stops = [[247, 251, 255], [198, 219, 239], [107, 174, 214], [33, 113, 181], [8, 48, 107]];
        const at = Math.min(Math.max(share, 0), 1) * 4, i = Math.min(3, Math.floor(at)), t = at - i;
        const c = stops[i].map((v, k) => Math.round(v + (stops[i + 1][k] - v) * t));
        return { background: `rgb(${c.join(",")})`, color: contrast(...c) };
    }
    function drawHeat() {
        const root = clear($("heatmap"));
        const key = $("heat-key").value;
        const digits = key.includes("speedup") ? 3 : 1;
        const series = shownSeries();
        const definitions = data.definitions.filter((d) => series.some((s) => s.definition === d));
        const rows = new Map();
        for (const s of series) {
            let n = 0, name;
            do name = [s.arch, s.model, n++].join("\n"); while (rows.has(name) && rows.get(name).has(s.definition));
            if (!rows.has(name)) rows.set(name, new Map());
            rows.get(name).set(s.definition, s);
        }
        const most = Math.max(1e-9, ...series.map((s) => s[key] ?? 0));
        const table = html(root, "table");
        const head = html(html(table, "thead"), "tr");
        for (const name of ["GPU", "model"].concat(definitions)) html(head, "th", { class: "t" }, name);
        const body = html(table, "tbody");
        for (const [name, cells] of rows) {
            const [arch, model, n] = name.split("\n");
            const row = html(body, "tr");
            html(row, "td", { class: "t" }, arch);
            html(row, "td", { class: "t" }, n === "0" ? model : `${model} (${Number(n) + 1})`);
            for (const d of definitions) {
                const s = cells.get(d);
                const cell = html(row, "td", { class: "heat", "data-tip": s ? `${s.model}\n${d}\nrun ${s.run}\n${key.replaceAll("_", " ")}: ${round(s[key], digits)}\n${s.trajectories} trajectories` : null },
                    !s ? "" : s[key] === null ? "?" : s[key] > 0 ? s[key].toFixed(digits) : "–");
                if (s && s[key] !== null) Object.assign(cell.style, heat(s[key] / most));
            }
        }
    }

    // Outcomes turn by turn, pooled over the shown series of a model on a GPU.
    function groups() {
        const all = new Map();
        for (const s of shownSeries()) {
            const name = s.model + (s.arch ? ", " + s.arch : "");
            if (!all.has(name)) all.set(name, { name, series: [], outcomes: [], steps: [] });
            all.get(name).series.push(s);
        }
        for (const group of all.values())
            for (const s of group.series) {
                s.outcomes.forEach((counts, turn) => {
                    group.outcomes[turn] = group.outcomes[turn] || new Array(data.outcomes.length).fill(0);
                    counts.forEach(([outcome, count]) => { group.outcomes[turn][outcome] += count; });
                });
            }
        return [...all.values()];
    }
    function legend(root, used) {
        const line = html(root, "div", { class: "legend" });
        data.outcomes.forEach((o, i) => {
            if (used.has(i)) html(line, "span", {}, [html(null, "i", { style: `background:${o.ink}` }), o.words]);
        });
    }
    const TURNS_SHOWN = 16;
    function drawOutcomes() {
        const root = clear($("outcomes"));
        const all = groups();
        const used = new Set();
        for (const g of all) for (const counts of g.outcomes) counts.forEach((n, i) => { if (n) used.add(i); });
        legend(root, used);
        const list = html(root, "div", { class: "multiples" });
        for (const group of all.slice(0, 60)) {
            const turns = group.outcomes.slice(0, TURNS_SHOWN);
            const figure = html(list, "div", {}, html(null, "div", { class: "soft", title: group.name }, group.name));
            const page = svg(figure, "svg", { width: 270, height: 150, role: "img", "aria-label": "outcomes of " + group.name });
            const box = { left: 34, top: 8, width: 230, height: 118 };
            const { x, y } = axes(page, box, turns.length || 1, 100, turns.map((_, i) => i));
            turns.forEach((counts, turn) => {
                const total = counts.reduce((a, b) => a + b, 0);
                let sum = 0;
                counts.forEach((count, i) => {
                    if (!count) return;
                    const low = 100 * sum / total, high = 100 * (sum += count) / total;
                    svg(page, "rect", { x: x(turn + 0.08), width: x(0.84) - x(0), y: y(high), height: y(low) - y(high), fill: data.outcomes[i].ink,
                        "data-tip": `${group.name}\nturn ${turn}: ${data.outcomes[i].words}\n${count} of ${total} turns (${(100 * count / total).toFixed(1)} %)` });
                });
            });
        }
    }

    // From turn to turn, for one model on one GPU.
    function drawTransitions() {
        const root = clear($("transitions"));
        const all = groups();
        const select = $("transition-group");
        const kept = select.value;
        clear(select);
        for (const g of all) html(select, "option", {}, g.name);
        if (all.some((g) => g.name === kept)) select.value = kept;
        const group = all.find((g) => g.name === select.value);
        if (!group) return;
        const steps = new Map();
        for (const s of group.series)
            for (const [turn, from, to, count] of s.steps) {
                const key = [turn, from, to].join();
                steps.set(key, (steps.get(key) || 0) + count);
            }
        const turns = group.outcomes.slice(0, TURNS_SHOWN);
        const used = data.outcomes.map((_, i) => i).filter((i) => turns.some((c) => c[i]));
        const line = new Map(used.map((o, i) => [o, i]));
        const height = used.length * 34 + 40;
        const page = svg(root, "svg", { width: 270 + turns.length * 88, height, role: "img", "aria-label": "outcomes from turn to turn" });
        const x = (turn) => 260 + turn * 88, y = (o) => 42 + line.get(o) * 34;
        for (const [key, count] of steps) {
            const [turn, from, to] = key.split(",").map(Number);
            if (turn + 1 >= turns.length) continue;
            const total = turns[turn].reduce((a, b) => a + b, 0);
            svg(page, "path", { d: `M${x(turn) + 18},${y(from)}C${x(turn) + 50},${y(from)} ${x(turn) + 38},${y(to)} ${x(turn + 1) - 18},${y(to)}`,
                fill: "none", stroke: data.outcomes[from].ink, "stroke-opacity": 0.55, "stroke-width": Math.max(1.2, 16 * count / total),
                "data-tip": `turn ${turn}: ${data.outcomes[from].words}\nturn ${turn + 1}: ${data.outcomes[to].words}\n${count} of ${total} trajectories` });
        }
        turns.forEach((counts, turn) => {
            svg(page, "text", { x: x(turn), y: 16, "text-anchor": "middle", class: "soft" }, turn ? turn : "turn 0");
            for (const o of used) {
                if (!counts[o]) continue;
                const ink = data.outcomes[o].ink;
                svg(page, "rect", { x: x(turn) - 19, y: y(o) - 10, width: 38, height: 20, fill: ink });
                const rgb = [1, 3, 5].map((i) => parseInt(ink.slice(i, i + 2), 16));
                svg(page, "text", { x: x(turn), y: y(o) + 4, "text-anchor": "middle", style: `fill:${contrast(...rgb)}` }, counts[o]);
            }
        });
        for (const o of used) svg(page, "text", { x: 232, y: y(o) + 4, "text-anchor": "end" }, data.outcomes[o].words);
    }

    // Reasoning tokens: quartiles turn by turn, per model on a GPU (not pooled again: a filter by definition does not apply).
    function drawReasoning() {
        const root = clear($("reasoning"));
        const rows = data.reasoning.filter((r) => passes(r.model, r.arch, "", ""));
        const names = [...new Set(rows.map((r) => r.model + (r.arch ? ", " + r.arch : "")))];
        const most = Math.max(1, ...rows.map((r) => r.q[4])) / 1000;
        if (!rows.length) { root.append("No reasoning tokens are known."); return; }
        const list = html(root, "div", { class: "multiples" });
        for (const name of names.slice(0, 60)) {
            const mine = rows.filter((r) => r.model + (r.arch ? ", " + r.arch : "") === name).slice(0, TURNS_SHOWN);
            const figure = html(list, "div", {}, html(null, "div", { class: "soft", title: name }, name));
            const page = svg(figure, "svg", { width: 270, height: 150, role: "img", "aria-label": "reasoning tokens of " + name });
            const { x, y } = axes(page, { left: 40, top: 8, width: 224, height: 118 }, mine.length, most * 1.05, mine.map((r) => r.turn));
            mine.forEach((r, i) => {
                const q = r.q.map((v) => v / 1000), middle = x(i + 0.5), w = Math.min(18, x(0.6) - x(0));
                const g = svg(page, "g", { "data-tip": `${name}\nturn ${r.turn}, ${r.turns} turns\n5 %: ${q[0].toFixed(1)}k  quartiles: ${q[1].toFixed(1)}k, ${q[2].toFixed(1)}k, ${q[3].toFixed(1)}k  95 %: ${q[4].toFixed(1)}k` });
                svg(g, "line", { x1: middle, x2: middle, y1: y(q[0]), y2: y(q[4]), stroke: "#5a5a5a" });
                svg(g, "rect", { x: middle - w / 2, width: w, y: y(q[3]), height: Math.max(1, y(q[1]) - y(q[3])), fill: inks[0] });
                svg(g, "line", { x1: middle - w / 2, x2: middle + w / 2, y1: y(q[2]), y2: y(q[2]), stroke: "#000", "stroke-width": 2 });
            });
        }
    }

    // Turns of one series: a line for each trajectory, a cell for each turn, with links where the run has the files.
    function drawTurns() {
        const root = clear($("turns"));
        const list = shownSeries();
        const select = $("turn-series");
        const kept = select.value;
        clear(select);
        list.forEach((s) => html(select, "option", { value: s.index }, [s.arch, s.model, s.definition, s.run].filter(Boolean).join(" · ")));
        if (list.some((s) => String(s.index) === kept)) select.value = kept;
        const series = data.series[select.value];
        if (!series) return;
        if (!series.rows) { root.append("This report has too many turns to list each of them: name fewer runs."); return; }
        const used = new Set(series.rows.flatMap((r) => r.turns.map((t) => t[1])));
        legend(root, used);
        const count = series.planned;
        const table = html(root, "table");
        const head = html(html(table, "thead"), "tr");
        html(head, "th", { class: "t" }, "trajectory");
        html(head, "th", {}, "variant");
        for (let i = 0; i < count; i++) html(head, "th", {}, i);
        const body = html(table, "tbody");
        for (const r of series.rows) {
            const row = html(body, "tr");
            html(row, "td", { class: "t" }, r.name);
            html(row, "td", {}, r.variant);
            const byTurn = new Map(r.turns.map((t) => [t[0], t]));
            for (let i = 0; i < count; i++) {
                const t = byTurn.get(i);
                if (!t) { html(row, "td", { class: "cell", "data-tip": `turn ${i} was not taken` }, "·"); continue; }
                const o = data.outcomes[t[1]];
                const rgb = [1, 3, 5].map((k) => parseInt(o.ink.slice(k, k + 2), 16));
                const text = t[2] > 0 ? t[2].toFixed(2) : "";
                const tipText = [`${r.name}, turn ${i}`, o.words].concat(t[2] > 0 ? [`speed-up ${t[2].toFixed(4)}`] : [], t[3] >= 0 ? [`${t[3]} reasoning tokens`] : []).join("\n");
                const cell = html(row, "td", { class: "cell", "data-tip": tipText, style: `background:${o.ink};color:${contrast(...rgb)}` });
                if (!t[4] && !t[5]) { cell.append(text); continue; }
                if (t[4]) html(cell, "a", { href: t[4], title: "code" }, text || "code");
                if (t[4] && t[5]) cell.append(" ");
                if (t[5]) html(cell, "a", { href: t[5], title: "verdict" }, "⚖");
            }
        }
    }

    function draw() {
        filterTables();
        if (data.series.length) {
            drawFastp();
            drawHeat();
            drawOutcomes();
            drawTransitions();
            drawReasoning();
            drawTurns();
        }
        const shown = shownSeries().length;
        $("count").textContent = data.series.length ? `${shown} of ${data.series.length} series` : "";
        document.body.dataset.ready = "yes";
    }

    function start() {
        const names = [...new Set(data.series.map((s) => s.model))];
        const arches = [...new Set(data.series.map((s) => s.arch))];
        if (!names.length)
            for (const row of document.querySelectorAll("tr[data-model]"))
                if (!names.includes(row.dataset.model)) names.push(row.dataset.model);
        for (const name of names) {
            const box = html(null, "input", { type: "checkbox", checked: "", value: name });
            box.addEventListener("change", () => { box.checked ? state.off.delete(name) : state.off.add(name); draw(); });
            html($("models"), "label", {}, [box, " " + name]);
        }
        for (const arch of arches) html($("arch"), "option", { value: arch }, arch || "unknown");
        for (const d of data.definitions) {
            html($("definition"), "option", { value: d }, d);
            html($("fastp-definition"), "option", { value: d }, d);
        }
        data.series.forEach((s, i) => { s.index = i; });
        const seen = new Map();
        for (const s of data.series) {
            const key = [s.arch, s.model, s.definition].join("\n");
            if (seen.has(key)) s.twin = seen.get(key).twin = true;
            seen.set(key, s);
        }
        $("text").addEventListener("input", (e) => { state.text = e.target.value.trim().toLowerCase(); draw(); });
        $("arch").addEventListener("change", (e) => { state.arch = e.target.value; draw(); });
        $("definition").addEventListener("change", (e) => {
            state.definition = e.target.value;
            if (state.definition) $("fastp-definition").value = state.definition;
            draw();
        });
        for (const [id, check] of [["models-all", true], ["models-none", false]])
            $(id).addEventListener("click", () => {
                for (const box of $("models").querySelectorAll("input")) {
                    box.checked = check;
                    check ? state.off.delete(box.value) : state.off.add(box.value);
                }
                draw();
            });
        $("fastp-definition").addEventListener("change", drawFastp);
        $("fastp-kind").addEventListener("change", drawFastp);
        $("heat-key").addEventListener("change", drawHeat);
        $("transition-group").addEventListener("change", drawTransitions);
        $("turn-series").addEventListener("change", drawTurns);
        draw();
    }
    start();
})();
