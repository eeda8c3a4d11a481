// SPDX-License-Identifier: GPL-2.0
// The main loop, and the handlers of events.

let turn = 0;	 // number of the current request: late replies to earlier requests are ignored
let modelAt = 0; // when the range was requested

// ---- the whole page ----

let canPlot = false;

function show() {
	showHeader();
	showTiles();
	showNewcomers();
	showGaps();
	if (canPlot) {
		showPackets();
		showLimits();
	}
	showSources();
	showEvents();
}

async function askRange() {
	const mine = ++turn;
	const [from, to] = isLive() ? [now() - span(), now()] : [view.from, view.to];
	const words = {fence: view.fence, from: Math.round(from), to: Math.round(to)};

	modelAt = performance.now();
	const range = await ask('range', words);
	const list = await ask('events', words);
	const sources = isLive() ? null : await ask('sources', words);

	if (mine !== turn)
		return; // the user has chosen a different range
	takeRange(range);
	events = list.rows || [];
	if (sources)
		Object.assign(past, {sources: sources.rows || [], oneIn: sources.one_in || 1, recorded: Boolean(sources.recorded)});
	if (isLive() && (view.range === '5m' || !model.recorded))
		live.points.forEach(appendPoint);
}

async function askScan() {
	const scan = await ask('live', view.fence ? {fence: view.fence} : {});
	const isNew = takeScan(scan);

	if (!view.fence) {
		view.fence = scan.fence;
		writeView(false);
	}
	if (isNew && isLive() && live.points.length && (view.range === '5m' || !model.recorded))
		appendPoint(live.points[live.points.length - 1]);
	return isNew;
}

async function askRecent() {
	const mine = view.fence;
	const recent = await ask('recent', {fence: mine});

	if (mine === view.fence)
		takeRecent(recent);
}

async function askNewEvents() {
	const last = events.length ? events[0].time + 1 : Math.round(now() - span());
	const list = await ask('events', {fence: view.fence, from: last, to: Math.round(now()) + 1000});

	events = (list.rows || []).concat(events).filter((event) => event.time > now() - span()).slice(0, 200);
}

// The fences that are watched, if the requested one is not.
async function askOthers() {
	try {
		others = view.fence ? (await ask('live', {})).fences : [];
	} catch {
		others = [];
	}
}

// The last scan is no longer current.
async function loseFence() {
	await askOthers();
	if (live.scan && live.scan.up) {
		live.scan.up = false;
		show();
	}
}

async function attempt(what) {
	try {
		await what();
		failed = null;
		return true;
	} catch (error) {
		failed = error;
		if (error instanceof NoFence)
			await loseFence();
		showHeader();
		return false;
	}
}

function refresh() {
	showHeader();
	if (live.scan && live.scan.scanning)
		return; // during the first scan, the daemon has no data for other requests
	showSource();
	attempt(async () => {
		if (isLive())
			await askRecent();
		await askRange();
		show();
	});
	if (view.source)
		askSource();
}

// ---- each second ----

let beat = 0;

async function second() {
	const wasScanning = Boolean(live.scan && live.scan.scanning);
	const isNew = await askScan();

	beat++;
	if (live.scan.scanning)
		return showHeader();
	if (live.wasSet || wasScanning)
		refresh();
	else if (isLive() && model.recorded && view.range !== '5m' && performance.now() - modelAt > Math.max(model.step, 10e3))
		await askRange();
	else if (isLive() && beat % 5 === 0 && live.scan.history)
		await askNewEvents();
	if (isNew || beat % 5 === 0)
		isLive() ? show() : showHeader();
	if (view.source && isLive() && beat % 2 === 0)
		askSource();
}

// Shortly after the next scan. A hidden page sends fewer requests.
function pause() {
	const interval = live.scan ? live.scan.interval : 1000;
	const least = document.hidden ? 15e3 : failed ? 2000 : 250;

	return Math.max(least, Math.min(interval, interval - age() + 120));
}

let wake = () => {};

async function run() {
	for (;;) {
		await new Promise((resolve) => {
			wake = resolve;
			setTimeout(resolve, pause());
		});
		const wasFailed = failed;
		const worked = await attempt(second);

		if (wasFailed && worked)
			refresh();
	}
}

// ---- keys and buttons ----

function move(part) {
	const [from, to] = isLive() ? [now() - span(), now()] : [view.from, view.to];
	const by = (to - from) * part;

	showSpan(from + by, to + by, now());
	refresh();
}

function zoom(factor) {
	const [from, to] = isLive() ? [now() - span(), now()] : [view.from, view.to];
	const middle = (from + to) / 2;

	showSpan(middle - (to - from) * factor / 2, middle + (to - from) * factor / 2, now());
	refresh();
}

function choose(range) {
	showLive(range);
	refresh();
}

const KEYS = {
	1: () => choose('5m'), 2: () => choose('1h'), 3: () => choose('24h'), 4: () => choose('7d'),
	ArrowLeft: () => move(-0.5), ArrowRight: () => isLive() || move(0.5), '+': () => zoom(0.5), '=': () => zoom(0.5),
	'-': () => zoom(2), l: () => choose(view.range), Home: () => choose(view.range),
	Escape: () => view.source && closeSource(),
};

function onKey(event) {
	const action = KEYS[event.key];

	if (!action || event.ctrlKey || event.altKey || event.metaKey || /^(SELECT|INPUT|CODE)$/.test(event.target.tagName) ||
		(event.target.classList.contains('scroll') && event.key.startsWith('Arrow')))
		return;
	event.preventDefault();
	action();
}

function onClick(event) {
	const button = event.target.closest('button');

	if (!button)
		return;
	if (button.dataset.range)
		choose(button.dataset.range);
	if (button.dataset.source)
		openSource(button.dataset.source, button);
	if (button.dataset.sort) {
		view.sort = button.dataset.sort;
		writeView(false);
		showSources();
	}
}

function listen() {
	document.addEventListener('keydown', onKey);
	document.addEventListener('click', onClick);
	byId('back').addEventListener('click', () => move(-0.5));
	byId('forward').addEventListener('click', () => move(0.5));
	byId('wider').addEventListener('click', () => zoom(2));
	byId('closer').addEventListener('click', () => zoom(0.5));
	byId('values').addEventListener('toggle', () => canPlot && showPackets());
	byId('fence').addEventListener('change', (event) => {
		view.fence = event.target.value;
		writeView(true);
		attempt(askScan).then(refresh);
	});
	addEventListener('popstate', () => {
		readView();
		refresh();
	});
	// Connects immediately when the page is shown or the network is available again.
	addEventListener('online', () => wake());
	document.addEventListener('visibilitychange', () => {
		if (document.hidden)
			return;
		wake();
		refresh();
	});
	dark.addEventListener('change', () => {
		recolour();
		show();
	});
}

async function start() {
	takeToken();
	readView();
	canPlot = havePlots();
	listen();
	if (!canPlot)
		byId('packets').replaceChildren(make('p', {class: 'quiet'}, 'Plots are missing: dygraphs was not there when ringfence-watch was built.'));
	if (await attempt(askScan))
		refresh();
	run();
}
