// SPDX-License-Identifier: GPL-2.0
// Plots, drawn by dygraphs. All plots show the same span, and dragging in one zooms all.

const plots = new Map(); // id -> {graph, keys, labels}
let rows = [];		 // of each plot: [time, index in the model]

// The Legend plugin sets inline styles, which the page's policy forbids: keys are drawn here.
function havePlots() {
	if (typeof Dygraph === 'undefined')
		return false;
	if (Dygraph.Plugins.Legend)
		Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);
	return true;
}

function window_() {
	const end = isLive() ? Math.max(now(), model.times[model.times.length - 1] || 0) : view.to;

	return [end - span(), end];
}

// After a gap, a line starts at the beginning of its first scan, because a single point has no
// width.
function takeRows() {
	rows = [];
	model.times.forEach((time, i) => {
		if (!isGap(i) && (i === 0 || isGap(i - 1)))
			rows.push([i ? Math.max(model.begins[i], model.times[i - 1] + 1) : model.begins[i], i]);
		rows.push([time, i]);
	});
}

// Rows of Date and one value for each key. Dygraphs needs two rows at least.
function rowsOf(keys) {
	if (rows.length < 2)
		return window_().map((time) => [new Date(time), ...keys.map(() => null)]);
	return rows.map(([time, i]) => [new Date(time), ...keys.map((key) => valueAt(key, i))]);
}

function plotOptions(id, colours, stacked) {
	const [from, to] = window_();

	return {
		labels: ['time', ...plots.get(id).labels],
		colors: colours,
		stackedGraph: stacked,
		fillGraph: stacked,
		fillAlpha: stacked ? 0.62 : 0.15,
		strokeWidth: stacked ? 0.8 : 1.4,
		dateWindow: [from, to],
		includeZero: true,
		gridLineColor: css('--grid'),
		axisLineColor: css('--line'),
		axisLabelWidth: 52,
		highlightCircleSize: stacked ? 0 : 2.5,
		xRangePad: 0,
		rightGap: 4,
		axes: {
			x: {drawGrid: false, pixelsPerLabel: 84, axisLabelFormatter: (date) => axisTime(+date, span())},
			y: {axisLabelFormatter: (value) => short(value).replace(/\.(\d*?)0+(?=[kMG])/, (all, digits) => (digits ? `.${digits}` : '')), axisLabelWidth: 42, pixelsPerLabel: stacked ? 36 : 16},
		},
		legend: 'never',
		interactionModel: {},
		showRoller: false,
		animatedZooms: false,
		highlightCallback: (event, x, points, row) => showValues(row, id),
		unhighlightCallback: () => showValues(-1, id),
	};
}

// The keys of a plot can change: then the graph is created again.
function showPlot(id, element, keys, labels, colours, stacked) {
	let plot = plots.get(id);

	if (plot && (plot.keys.join() !== keys.join() || plot.element !== element)) {
		plot.graph.destroy();
		plot = null;
	}
	if (!plot) {
		plot = {keys, labels, colours, element, stacked};
		plots.set(id, plot);
		if (!element.dataset.brush)
			addBrush(element, id);
		plot.graph = new Dygraph(element, rowsOf(keys), plotOptions(id, colours, stacked));
	} else {
		plot.graph.updateOptions({file: rowsOf(keys), ...plotOptions(id, colours, stacked)});
	}
	element.setAttribute('aria-label', describe(plot));
}

function dropPlots(keep) {
	for (const [id, plot] of plots) {
		if (keep(id))
			continue;
		plot.graph.destroy();
		plots.delete(id);
	}
}

function recolour() {
	for (const plot of plots.values())
		plot.graph.destroy();
	plots.clear();
}

// For screen readers: the last and the highest value of each line.
function describe(plot) {
	const last = model.times.length - 1;
	const words = plot.keys.map((key, i) => {
		const line = model.lines[key] || [];
		const most = line.reduce((a, b) => Math.max(a, b || 0), 0);

		return `${plot.labels[i]} ${short(valueAt(key, last))}, most ${short(most)}`;
	});

	return `Packets a second over ${duration(span())}: ${words.join('; ')}. Arrow keys move, plus and minus zoom.`;
}

// ---- keys ----

function showValues(row, from) {
	for (const [id, plot] of plots) {
		if (id !== from && row >= 0 && row < plot.graph.numRows())
			plot.graph.setSelection(row);
		else if (id !== from && row < 0)
			plot.graph.clearSelection();
		showKey(id, plot, row in rows ? rows[row][1] : -1);
	}
}

// The values of a point; -1: of the last one.
function showKey(id, plot, point) {
	const at = point >= 0 ? point : model.times.length - 1;
	const parts = [make('span', {}, at >= 0 && model.times[at] ? axisTime(model.times[at], point >= 0 && span() <= 36 * 3600e3 ? 0 : span()) : '')];
	const key = byId(`${id}-key`) || plot.element.parentElement.querySelector('.key');

	plot.keys.forEach((name, i) => {
		parts.push(make('span', {}, swatch(plot.colours[i]), plot.labels[i], ' ', make('b', {}, short(valueAt(name, at)))));
	});
	key.replaceChildren(...parts);
}

// ---- zoom ----

function timeAt(id, event) {
	const graph = plots.get(id).graph;

	return graph.toDataXCoord(graph.eventToDomCoords(event)[0]);
}

function addBrush(element, id) {
	const brush = make('div', {class: 'brush', hidden: true});
	let start = null;

	element.dataset.brush = 'yes';
	element.tabIndex = 0;
	element.setAttribute('role', 'img');
	element.addEventListener('pointerdown', (event) => {
		if (event.button || !plots.has(id))
			return;
		start = {x: event.clientX, time: timeAt(id, event)};
		element.setPointerCapture(event.pointerId);
		element.append(brush);
	});
	element.addEventListener('pointermove', (event) => {
		if (!start)
			return;
		const left = element.getBoundingClientRect().left;

		brush.hidden = Math.abs(event.clientX - start.x) < 6;
		brush.style.left = `${Math.min(start.x, event.clientX) - left}px`;
		brush.style.width = `${Math.abs(event.clientX - start.x)}px`;
	});
	element.addEventListener('pointerup', (event) => {
		const from = start;

		start = null;
		brush.hidden = true;
		if (from && Math.abs(event.clientX - from.x) >= 6) {
			const times = [from.time, timeAt(id, event)].sort((a, b) => a - b);

			showSpan(times[0], times[1], now());
			refresh();
		}
	});
	element.addEventListener('pointercancel', () => {
		start = null;
		brush.hidden = true;
	});
	element.addEventListener('dblclick', () => {
		showLive(view.range);
		refresh();
	});
}

// ---- which plots ----

function showPackets() {
	const order = Object.keys(COLOURS);
	const place = (key) => (order.indexOf(key.split('/')[1]) + 1 || 99) + (key.startsWith('dropped/') ? 0 : 100);
	const keys = Object.keys(model.lines).filter((key) => !key.startsWith('limit/') && isSeen(key)).sort((a, b) => place(a) - place(b));
	const names = keys.map((key) => key.split('/')[1]);

	takeRows();
	// Dygraphs stacks the last line at the bottom: passed packets on the axis, drops on top.
	showPlot('packets', byId('packets'), keys, names.map(reasonText), names.map((name) => colourOf(COLOURS[name])), true);
	showValues(-1, 'packets');
	showTable(keys, names.map(reasonText));
}

function isSeen(key) {
	return model.lines[key].some((rate) => rate > 0);
}

function limitsToShow() {
	const names = live.scan && live.scan.up ? live.scan.limits.map((limit) => limit.name) : [];

	if (!isLive())
		for (const key of Object.keys(model.lines))
			if (key.startsWith('limit/') && isSeen(key) && !names.includes(key.split('/')[1]))
				names.push(key.split('/')[1]);
	return names;
}

function limitPanel(name) {
	const panel = make('div', {class: 'limit'}, make('h3', {}), make('div', {class: 'plot'}),
		make('figure', {}), make('div', {class: 'key'}));

	panel.dataset.limit = name;
	return panel;
}

function showLimits() {
	const names = limitsToShow();
	const box = byId('limits');
	const panels = new Map([...box.children].map((panel) => [panel.dataset.limit, panel]));

	dropPlots((id) => !id.startsWith('limit/') || names.includes(id.slice(6)));
	if (!names.length && !(live.scan && live.scan.up)) {
		box.replaceChildren();
		return;
	}
	if (!names.length) {
		box.replaceChildren(make('p', {class: 'quiet'}, "No limit is in force: 'ringfence limit add probe rate 50k/1s shadow' drops nothing, and shows the sources."));
		return;
	}
	const wanted = names.map((name) => panels.get(name) || limitPanel(name));

	if (wanted.length !== box.children.length || wanted.some((panel, i) => panel !== box.children[i]))
		box.replaceChildren(...wanted);
	wanted.forEach((panel, i) => showLimit(panel, names[i]));
}

function showLimit(panel, name) {
	const limit = live.scan && live.scan.up ? live.scan.limits.find((one) => one.name === name) : null;
	const outcomes = ['dropped', 'would_drop', 'passed'].filter((outcome) => outcome === 'passed' || isThere(name, outcome));
	const title = panel.querySelector('h3');

	title.replaceChildren(name, ' ', make('span', {class: 'quiet'}, limit ? limit.rate_text : 'not in force now'));
	if (limit && limit.shadow)
		title.append(make('span', {class: 'tag'}, 'shadow'));
	if (limit && isLive()) {
		title.append(make('span', {class: 'quiet'}, `${short(limit.active)} active`));
		if (limit.over)
			title.append(make('span', {class: 'tag bad'}, `${short(limit.over)} over`));
		if (limit.banned)
			title.append(make('span', {class: 'tag warn'}, `${short(limit.banned)} banned`));
	}
	showUse(panel.querySelector('figure'), limit && isLive() ? limit.use : recordedUse(name));
	showPlot(`limit/${name}`, panel.querySelector('.plot'), outcomes.map((outcome) => lineKey('limit', name, outcome)),
		outcomes.map((outcome) => outcome.replace('_', ' ')), outcomes.map((outcome) => colourOf(OUTCOME_COLOURS[outcome])), false);
	showKey(`limit/${name}`, plots.get(`limit/${name}`), -1);
}

function isThere(name, outcome) {
	const key = lineKey('limit', name, outcome);

	return key in model.lines && isSeen(key);
}

// The number of sources by their use of the limit; heights grow as the square root, because linear
// bars would hide small counts.
function showUse(figure, use) {
	const most = Math.max(1, ...use);
	const bars = use.map((count, i) => draw('rect', {
		x: 1 + i * 12, width: 10, y: 60 - 56 * Math.sqrt(count / most), height: 56 * Math.sqrt(count / most) + 1,
		class: i === 10 ? 'fill bad' : 'fill',
	}, draw('title', {}, `${i === 10 ? 'all of it' : `${10 * i}–${10 * i + 10} %`}: ${count}`)));
	const text = use.map((count, i) => (count ? `${i === 10 ? 'all' : `${10 * i} to ${10 * i + 10} %`}: ${count}` : '')).filter(Boolean);

	figure.className = text.length ? '' : 'none';
	figure.replaceChildren(draw('svg', {viewBox: '0 0 132 74', role: 'img', 'aria-label': `Sources by use of the limit. ${text.join(', ') || 'none'}`},
		draw('line', {x1: 0, x2: 132, y1: 61.5, y2: 61.5, class: 'mark'}), ...bars,
		draw('text', {x: 1, y: 72}, '0'), draw('text', {x: 56, y: 72}, '50 %'), draw('text', {x: 103, y: 72}, '100 %')),
	make('figcaption', {}, 'sources by use'));
}

// ---- the table ----

function showTable(keys, labels) {
	if (!byId('values').open)
		return;
	const step = Math.max(1, Math.ceil(model.times.length / 60));
	const rows = [];

	for (let i = model.times.length - 1; i >= 0; i -= step)
		rows.push(make('tr', {}, make('td', {}, `${day(model.times[i])} ${clock(model.times[i])}`),
			...keys.map((key) => make('td', {}, short(model.lines[key][i])))));
	byId('values-table').replaceChildren(
		make('caption', {class: 'quiet'}, 'Packets a second, by reason; the newest first'),
		make('thead', {}, make('tr', {}, make('th', {scope: 'col'}, 'time'), ...labels.map((label) => make('th', {scope: 'col'}, label)))),
		make('tbody', {}, ...rows));
}
