// SPDX-License-Identifier: GPL-2.0
// Sources and events.

const past = {sources: [], oneIn: 1, recorded: false}; // in a range of the past
let events = [];

const COLUMNS = [
	{id: 'source', title: 'source', left: true},
	{id: 'limit', title: 'limit', left: true},
	{id: 'use', title: 'use'},
	{id: 'drop', title: 'drop/s', past: 'dropped'},
	{id: 'pass', title: 'pass/s', past: 'passed'},
	{id: 'spark', title: '60 s', past: 'over time', fixed: true},
];

// ---- rows ----

function liveRow(row) {
	const limit = live.scan.limits[row[1]] || {name: '?'};
	const spark = live.sparks.get(sparkKey(live.scan, row)) || [];
	const part = (time) => Math.max(0, 1 - (live.scan.time - time) / 60e3);
	const points = [];

	spark.forEach(({time, value}, i) => {
		// The first scan of a line needs a width, because a line through one point is
		// invisible.
		if (value !== null && (i === 0 || spark[i - 1].value === null))
			points.push([part(time - live.scan.interval), value]);
		points.push([part(time), value]);
	});
	return {
		source: row[0], limit: limit.name, use: row[2], drop: row[3], pass: row[4], would: row[5], banned: row[6],
		isNetwork: row[7], points,
	};
}

function pastRow(row) {
	return {
		source: row.source, limit: row.limit, use: row.use, drop: row.dropped, pass: row.passed, would: row.would_drop,
		banned: row.banned ? 1 : 0, isNetwork: 0, points: row.bars.map((value, i) => [i / (row.bars.length - 1), value]),
	};
}

function sourceRows() {
	return isLive() ? (live.scan && live.scan.up ? live.scan.sources.map(liveRow) : []) : past.sources.map(pastRow);
}

function recordedUse(name) {
	const use = new Array(11).fill(0);

	for (const row of past.sources)
		if (row.limit === name)
			use[Math.min(10, Math.floor(row.use / 100))]++;
	return use;
}

function compareRows(a, b) {
	if (view.sort === 'source' || view.sort === 'limit')
		return a[view.sort] < b[view.sort] ? -1 : a[view.sort] > b[view.sort] ? 1 : 0;
	return b[view.sort] - a[view.sort] || (view.sort === 'drop' ? b.would - a.would || b.use - a.use : b.drop - a.drop);
}

// ---- the table ----

function useBar(use) {
	return draw('svg', {class: 'use', viewBox: '0 0 44 9', 'aria-hidden': 'true'},
		draw('rect', {class: 'track', width: 44, height: 9, rx: 2}),
		draw('rect', {class: use >= 1000 ? 'fill bad' : 'fill', width: Math.max(use ? 1 : 0, 44 * Math.min(use, 1000) / 1000), height: 9, rx: 2}));
}

// A null value interrupts the line.
function spark(points) {
	const most = Math.max(1, ...points.map((point) => point[1]));
	const lines = [[]];

	for (const [x, y] of points)
		if (y === null)
			lines.push([]);
		else
			lines[lines.length - 1].push(`${(72 * x).toFixed(1)},${(17 - 16 * y / most).toFixed(1)}`);
	return draw('svg', {class: 'spark', viewBox: '0 0 72 18', 'aria-hidden': 'true'},
		...lines.filter((line) => line.length).map((line) => draw('polyline', {class: 'line', points: line.join(' ')})));
}

function heading(column) {
	const title = !isLive() && column.past ? column.past : column.title;
	const isSorted = view.sort === column.id;

	if (column.fixed)
		return make('th', {scope: 'col', class: 'wide'}, title);
	return make('th', {scope: 'col', class: column.left ? `left ${column.id}-column` : '', 'aria-sort': isSorted && (column.left ? 'ascending' : 'descending')},
		make('button', {type: 'button', 'data-sort': column.id}, title, isSorted ? (column.left ? ' ↑' : ' ↓') : ''));
}

// Allows line breaks in addresses after a colon.
function breakable(address) {
	return address.split(/(?<=:)(?!:)/).flatMap((part, i) => (i ? [make('wbr'), part] : [part]));
}

function rowElement(row) {
	const open = make('button', {type: 'button', class: 'link', 'data-source': row.source}, ...breakable(row.source));
	const first = make('td', {class: 'left'}, open, make('small', {class: 'narrow quiet'}, row.limit));

	if (row.banned)
		first.append(' ', make('span', {class: 'tag warn'}, isLive() ? `banned ${duration(row.banned)}` : 'banned'));
	if (row.isNetwork)
		first.append(' ', make('span', {class: 'tag'}, 'newcomers'));
	return make('tr', {class: row.drop > 0 ? 'over' : ''}, first, make('td', {class: 'left limit-column'}, row.limit),
		make('td', {}, useBar(row.use), make('span', {class: 'percent'}, `${Math.round(row.use / 10)} %`)),
		make('td', {class: 'drop'}, row.drop ? short(row.drop) : row.would ? `(${short(row.would)})` : '0'),
		make('td', {}, short(row.pass)), make('td', {class: 'wide'}, spark(row.points)));
}

// Restores the focus if the focused element was created again.
function keepFocus(element, change) {
	const had = element.contains(document.activeElement) ? document.activeElement : null;
	const {source, sort} = had ? had.dataset : {};

	change();
	if (!had || had.isConnected)
		return;
	for (const button of element.querySelectorAll('button'))
		if ((source && button.dataset.source === source) || (sort && button.dataset.sort === sort)) {
			button.focus({preventScroll: true});
			return;
		}
}

function noSources() {
	const detail = live.scan ? live.scan.source_detail : '';

	if (detail === 'none')
		return `Sources are hidden by the setting 'sources none'; ${withSetting('sources prefix')} shows their networks.`;
	if (!isLive() && !past.recorded)
		return 'No history is recorded.';
	if (!isLive())
		return 'No source was recorded in this range.';
	if (!live.scan || !live.scan.up)
		return '';
	return live.scan.limits.length ? 'No source is active.' : 'Without a limit no source is known: a shadow limit shows them, and drops nothing.';
}

function showSources() {
	const rows = sourceRows().sort(compareRows);
	const table = byId('sources-table');
	const all = live.scan && live.scan.up && isLive() ? live.scan.count : rows.length;
	const note = all > rows.length ? `${rows.length} of ${short(all)} windows` : '';

	keepFocus(table, () => table.replaceChildren(
		make('thead', {}, make('tr', {}, ...COLUMNS.map(heading))), make('tbody', {}, ...rows.map(rowElement))));
	table.hidden = !rows.length;
	byId('sources-none').hidden = Boolean(rows.length);
	setText(byId('sources-none'), noSources());
	setText(byId('sources-note'), !isLive() && past.oneIn > 1 ? `from one in ${past.oneIn} of the recorded intervals` : note);
}

// ---- events ----

function eventText(event) {
	const parts = [];

	if (event.source)
		parts.push(make('button', {type: 'button', class: 'link', 'data-source': event.source}, event.source));
	if (event.limit)
		parts.push(` ${event.limit}`);
	if (event.rate)
		parts.push(` ${event.rate}`);
	if (event.dropped)
		parts.push(` ${short(event.dropped)} dropped`);
	if (event.detail)
		parts.push(` ${event.detail}`);
	return parts;
}

function eventElement(event) {
	const when = span() > 20 * 3600e3 ? axisTime(event.time, 48 * 3600e3) : clock(event.time);

	return make('li', {}, make('time', {datetime: new Date(event.time).toISOString()}, when),
		make('span', {class: 'what'}, make('span', {class: `tag ${EVENT_TAGS[event.type] || ''}`}, event.type.replace(/_/g, ' ')), ' ', ...eventText(event)));
}

function showEvents() {
	const list = byId('events');
	const recorded = model.recorded;

	keepFocus(list, () => list.replaceChildren(...events.map(eventElement)));
	setText(byId('events-note'), events.length ? '' : recorded ? 'none in this range' : 'no history is recorded');
}

// ---- at a glance ----

function tile(text, value, isBad) {
	return make('div', {class: isBad ? 'tile bad' : 'tile'}, make('b', {}, value), make('small', {}, text));
}

function sumOf(kind, at) {
	return Object.keys(model.lines).filter((key) => key.startsWith(`${kind}/`)).reduce((sum, key) => sum + (model.lines[key][at] || 0), 0);
}

function mostOf(values) {
	const known = values.filter((value) => value !== null);

	return known.length ? Math.max(...known) : null;
}

// Live: the last second. In the past: the mean of all points.
function meanOf(kind) {
	const last = live.scan && !live.scan.up ? -1 : model.times.length - 1;
	const indexes = isLive() ? (last >= 0 ? [last] : []) : model.times.map((time, i) => i).filter((i) => model.sources[i] !== null);

	return indexes.length ? indexes.reduce((sum, i) => sum + sumOf(kind, i), 0) / indexes.length : undefined;
}

// Packets over the newcomers rate, as `top` shows them.
const EXAMINED = {challenged: 'dropped/challenged', proven: 'passed/proven', established: 'passed/established', dropped: 'dropped/newcomer_drop'};

function showNewcomers() {
	const box = byId('newcomers');
	const isUsed = isLive() ? live.scan && live.scan.up && live.scan.except_established
		: Object.keys(model.lines).some((key) => /^(passed|dropped)\/(challenged|proven|established)\//.test(key) && isSeen(key));

	box.hidden = !isUsed;
	if (!isUsed)
		return;
	box.replaceChildren(make('span', {}, isLive() ? `newcomers: ${live.scan.newcomers}` : 'newcomers'), ...Object.entries(EXAMINED).map(([text, kind]) =>
		make('span', {}, swatch(colourOf(COLOURS[kind.split('/')[1]])), `${text} `, make('b', {}, `${short(meanOf(kind))}/s`))));
}

// In the past, the maximum as well.
function showTiles() {
	const [passed, dropped] = [meanOf('passed'), meanOf('dropped')];
	const tiles = [
		tile(isLive() ? 'packets in, a second' : 'packets in, a second, on average', short(passed + dropped)),
		tile('dropped, a second', short(dropped), dropped > 0),
		tile('of all dropped', percent(dropped, passed + dropped), dropped > 0),
	];

	if (isLive() && live.scan && live.scan.up) {
		const over = live.scan.limits.reduce((sum, limit) => sum + limit.over, 0);
		const banned = live.scan.limits.reduce((sum, limit) => sum + limit.banned, 0);

		tiles.push(tile('sources over a limit', short(over), over > 0), tile('banned', short(banned), banned > 0),
			tile('windows in use lately', short(live.scan.count)));
	} else if (!isLive()) {
		tiles.push(tile('most dropped in a second, by one reason', short(mostOf(model.peak))),
			tile('most sources at a time', short(mostOf(model.sources))));
	}
	byId('tiles').replaceChildren(...tiles);
}
