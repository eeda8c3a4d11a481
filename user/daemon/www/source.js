// SPDX-License-Identifier: GPL-2.0
// One source: its cells, its events, and commands to copy. The page itself changes nothing.

let shown = null; // the last reply
let opener = null;

// Quotes a word of a command for the shell: names are untrusted.
function word(text) {
	return /^[\w.:/@+-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`;
}

// The URL is untrusted: commands are shown only for an address or a prefix.
function isAddress(text) {
	return /^[0-9a-f.:]{2,45}(\/\d{1,3})?$/i.test(text);
}

function commands() {
	const fence = live.scan ? word(live.scan.fence) : 'FENCE';
	const limit = live.scan && live.scan.up ? live.scan.limits.find((one) => sourceRows().some((row) => row.source === view.source && row.limit === one.name)) || live.scan.limits[0] : null;
	const list = [
		['Drop all of it for an hour', `ringfence deny add ${view.source} for 1h dev ${fence}`],
		['Let all of it pass for an hour', `ringfence allow add ${view.source} for 1h dev ${fence}`],
	];

	if (limit && limit.unit === 'packets' && limit.rate)
		list.push(['Add a separate limit, twice as high, for a minute unless confirmed',
			`ringfence limit add raised rate ${2 * limit.rate}/${limit.rate_text.split('/')[1]} from ${view.source} confirm 60s dev ${fence}`]);
	list.push(['What happens to its next packet', `ringfence show ${view.source} dev ${fence}`]);
	return list;
}

function commandElement([title, text]) {
	const code = make('code', {tabindex: '0', 'aria-label': title}, text);
	const copy = make('button', {type: 'button', 'aria-label': `Copy: ${title}`}, 'Copy');

	copy.addEventListener('click', async () => {
		try {
			await navigator.clipboard.writeText(text);
			copy.textContent = 'Copied';
		} catch {
			getSelection().selectAllChildren(code); // for the keys of the system
			copy.textContent = 'Selected';
		}
	});
	return make('div', {}, make('small', {class: 'quiet'}, title), make('div', {class: 'command'}, code, copy));
}

// The cells as bars against COUNT, the oldest first.
function cellBars(window) {
	const count = window.cells.length;
	const most = Math.max(window.count, ...window.cells, 1);
	const width = 320 / count;
	const mark = 66 - 60 * window.count / most;
	const label = `Cells of ${window.limit}, the oldest first: ${window.cells.join(', ')}; the limit is ${window.count}`;

	return draw('svg', {class: 'cells', viewBox: '0 0 320 76', preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
		...window.cells.map((value, i) => draw('rect', {class: 'fill', x: i * width + 0.5, width: Math.max(0.5, width - 1), y: 66 - 60 * value / most, height: 60 * value / most},
			draw('title', {}, String(value)))),
		draw('line', {class: 'base', x1: 0, x2: 320, y1: 66.5, y2: 66.5}),
		draw('line', {class: 'mark', x1: 0, x2: 320, y1: mark, y2: mark}));
}

function again(limit) {
	const wait = limit.shadow ? limit.shadow_retry_after_ms : limit.retry_after_ms;
	const verb = limit.shadow ? 'would pass' : 'passes';

	return wait === null ? `never ${verb} again` : wait ? `${verb} again in ${wait < 1000 ? `${wait} ms` : duration(wait)}` : `${verb} now`;
}

function limitElement(limit) {
	const count = limit.burst === null ? limit.rate : limit.burst;
	const ban = limit.banned_ms ? `, banned for another ${duration(limit.banned_ms)}` : '';
	const lent = limit.lent ? ` (lent to CPUs: ${short(limit.lent)})` : '';
	const all = `${limit.limit}: ${limit.shadow ? 'would drop' : 'drops'} all that it matches`;
	const head = !limit.rate ? all : `${limit.limit}: ${short(limit.used)} of ${short(count)} used${lent}, ${again(limit)}${ban}; ${short(limit.dropped)} dropped, ${short(limit.passed)} passed`;

	return make('div', {}, make('h3', {}, head), ...(limit.cells.length ? [cellBars({limit: limit.limit, cells: limit.cells, count})] : []));
}

// The output of `show`: the first lines are the verdict.
function nowElements() {
	const now = shown.now;

	if (!now)
		return [];
	return [...now.summary.split('\n').map((line) => make('p', {class: 'verdict'}, line)),
		...now.limits.filter((limit) => !limit.newcomer).map(limitElement)];
}

function pastElement(row) {
	const rate = row.cell_us ? 1e6 / row.cell_us : 1;
	const count = Math.max(...row.cells, 1);

	return make('div', {}, make('h3', {}, `${row.source} ${row.limit}: cells from ${clock(row.first)}, each ${row.cell_us / 1000} ms, most ${short(count * rate)}/s`),
		cellBars({limit: row.limit, cells: row.cells, count}));
}

function showSource() {
	const box = byId('source');

	box.hidden = !view.source;
	if (!view.source)
		return;
	const hadFocus = document.activeElement.id === 'source-title';
	const close = make('button', {type: 'button', id: 'close', 'aria-keyshortcuts': 'Escape'}, 'Close');
	const parts = [make('h2', {id: 'source-title', tabindex: '-1'}, view.source, close)];
	const row = sourceRows().find((one) => one.source === view.source);

	close.addEventListener('click', closeSource);
	if (row)
		parts.push(make('p', {class: 'quiet'}, `${row.limit}: ${Math.round(row.use / 10)} % of the limit, ${short(row.drop)} dropped and ${short(row.pass)} passed${isLive() ? ' a second' : ''}`));
	if (shown && shown.fault)
		parts.push(make('p', {class: 'quiet'}, shown.fault));
	else if (shown)
		parts.push(...sourceParts());
	if (isAddress(view.source))
		parts.push(make('h3', {}, 'Commands, to copy'), ...commands().map(commandElement));
	box.replaceChildren(...parts);
	if (hadFocus)
		byId('source-title').focus({preventScroll: true});
}

function noCells() {
	if (live.scan && live.scan.source_detail !== 'full')
		return `Sources are shown as networks here, without cells; ${withSetting('sources full')} shows those of single sources.`;
	if (!isLive())
		return 'No cells of it were recorded then: the history keeps them for two hours.';
	return sourceRows().some((row) => row.source === view.source && row.isNetwork)
		? 'Newcomers of this network share one window; single sources have cells.' : 'No limit has a window of it now.';
}

function sourceParts() {
	const parts = isLive() ? nowElements() : shown.past.map(pastElement);

	if (!parts.some((part) => part.localName === 'div'))
		parts.push(make('p', {class: 'quiet', id: 'no-cells'}, noCells()));
	if ((shown.rows || []).length)
		parts.push(make('h3', {}, 'Its events'), make('ol', {class: 'events'}, ...shown.rows.slice(0, 20).map(eventElement)));
	return parts;
}

async function askSource() {
	const end = isLive() ? now() : view.to;
	const asked = view.source;
	let answer;

	try {
		answer = await ask('source', {fence: view.fence, source: asked, from: Math.round(end - span()), to: Math.round(end)});
	} catch (error) {
		answer = {fault: error.message};
	}
	if (view.source !== asked)
		return;
	shown = answer;
	const isUsed = byId('source').contains(document.activeElement) && document.activeElement.id !== 'source-title';

	if (!isUsed)
		showSource();
}

function openSource(source, from) {
	opener = from && from.dataset.source;
	view.source = source;
	shown = null;
	writeView(true);
	showSource();
	byId('source-title').focus();
	askSource();
}

function closeSource() {
	view.source = '';
	shown = null;
	writeView(true);
	showSource();
	const back = [...document.querySelectorAll('#sources-table button')].find((button) => button.dataset.source === opener);

	(back || byId('sources-title')).focus();
}
