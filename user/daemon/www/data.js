// SPDX-License-Identifier: GPL-2.0
// Requests to the daemon. The token is read from the URL's fragment, which browsers never send.

const KEEP_MS = 3700e3; // of live points
const PAUSE_MS = 700;	// between two attempts
let token = '';

function takeToken() {
	const found = /[#&]token=([\x21-\x25\x27-\x7e]+)/.exec(location.hash);

	if (found) {
		sessionStorage.setItem('ringfence-token', decodeURIComponent(found[1]));
		history.replaceState(null, '', location.pathname + location.search);
	}
	token = sessionStorage.getItem('ringfence-token') || '';
}

class Refused extends Error {}
class NoFence extends Error {}
class Wrong extends Error {} // a request that can have no reply

async function askOnce(path, words) {
	const answer = await fetch(`/api/${path}?${new URLSearchParams(words)}`, {
		headers: {Authorization: `Bearer ${token}`}, cache: 'no-store', credentials: 'omit',
	});

	if (answer.status === 401)
		throw new Refused('the token is wrong');
	if (answer.status === 404)
		throw new NoFence('no such fence is watched');
	if (answer.status === 400)
		throw new Wrong((await answer.text()).trim());
	if (!answer.ok && !(answer.headers.get('Content-Type') || '').includes('json'))
		throw new Error((await answer.text()).trim());
	const json = await answer.json();
	if (json.error)
		throw new Error(json.error);
	json.age = Number(answer.headers.get('X-Age-Ms')) || 0;
	return json;
}

// A connection can be refused temporarily, because the number of connections per address is eight.
async function ask(path, words) {
	for (let attempt = 0; ; attempt++) {
		try {
			return await askOnce(path, words);
		} catch (error) {
			if (error instanceof Refused || error instanceof NoFence || error instanceof Wrong || attempt === 2)
				throw error;
		}
		await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
	}
}

// ---- live: what each scan adds ----

// wasSet: the daemon's clock was set back, so earlier points have times in the future.
const live = {scan: null, at: 0, points: [], sparks: new Map(), wasSet: false};

// The daemon's clock, which can differ from the browser's.
function now() {
	return live.scan && live.scan.up ? live.scan.time + live.scan.age + performance.now() - live.at : Date.now();
}

function age() {
	return live.scan ? live.scan.age + performance.now() - live.at : 0;
}

function lineKey(kind, name, outcome) {
	return `${kind}/${name}/${outcome}`;
}

function counts(scan) {
	const all = {};

	for (const kind of ['passed', 'dropped'])
		for (const [name, packets] of Object.entries(scan[kind]))
			all[lineKey(kind, name, '')] = packets;
	for (const limit of scan.limits)
		for (const outcome of ['passed', 'dropped', 'would_drop'])
			all[lineKey('limit', limit.name, outcome)] = limit[outcome];
	return all;
}

// Rates between two scans: counters never decrease, but an attached fence starts at 0 again.
function difference(before, scan) {
	const seconds = (scan.awake - before.awake) / 1000;
	const old = counts(before);
	const point = {time: scan.time, seconds, rates: {}, sources: scan.count, bytes: [0, 0]};

	for (const [key, packets] of Object.entries(counts(scan)))
		point.rates[key] = Math.max(0, packets - (old[key] || 0)) / seconds;
	point.bytes = scan.bytes.map((bytes, i) => Math.max(0, bytes - before.bytes[i]) / seconds);
	return point;
}

// Limits by name: their places change with the rules.
function sparkKey(scan, row) {
	return `${row[0]} ${(scan.limits[row[1]] || {name: ''}).name}`;
}

// The daemon's data of the last minute, for the time in which this page made no requests.
function takeRecent(recent) {
	for (const [source, limit, values] of recent.sources) {
		const key = `${source} ${limit}`;
		const all = new Map((live.sparks.get(key) || []).map((point) => [point.time, point.value]));

		values.forEach((value, i) => recent.times[i] <= now() && all.set(recent.times[i], value));
		live.sparks.set(key, [...all].sort((a, b) => a[0] - b[0]).map(([time, value]) => ({time, value})));
	}
}

// The value of a scan without the source is null.
function noteSparks(scan) {
	const values = new Map(scan.sources.map((row) => [sparkKey(scan, row), row[3] + row[4]]));

	for (const key of new Set([...live.sparks.keys(), ...values.keys()])) {
		const spark = (live.sparks.get(key) || []).filter(({time}) => time >= scan.time - 60e3);

		spark.push({time: scan.time, value: values.has(key) ? values.get(key) : null});
		live.sparks.set(key, spark);
		if (spark.every(({value}) => value === null))
			live.sparks.delete(key);
	}
}

function takeScan(scan) {
	const before = live.scan;
	const isNew = !before || before.fence !== scan.fence || before.awake !== scan.awake || !scan.up;

	live.wasSet = Boolean(before && before.fence === scan.fence && before.up && scan.up && scan.time < before.time);
	if (before && (before.fence !== scan.fence || live.wasSet)) {
		live.points = [];
		live.sparks.clear();
	}
	live.scan = scan;
	live.at = performance.now();
	if (!isNew || !scan.up)
		return isNew;
	if (before && before.up && before.fence === scan.fence && scan.awake > before.awake)
		live.points.push(difference(before, scan));
	while (live.points.length && live.points[0].time < scan.time - KEEP_MS)
		live.points.shift();
	noteSparks(scan);
	return true;
}

// ---- the lines of the plots ----

// begins, times: start and end of each point, in ms; lines: name -> rates; sources: null in a gap.
const model = {};

function emptyModel() {
	Object.assign(model, {begins: [], times: [], lines: {}, peak: [], sources: [], gaps: [], step: 1000, recorded: false, isKnown: false, first: 0});
}

emptyModel();

// All arrays with one value per point.
function columns() {
	return [model.begins, model.times, model.peak, model.sources, ...Object.values(model.lines)];
}

function isGap(i) {
	return model.sources[i] === null;
}

// Counters that are 0 in the whole range have no line.
function valueAt(key, i) {
	const line = model.lines[key];

	return line ? line[i] : i in model.times && !isGap(i) ? 0 : null;
}

function takeRange(range) {
	emptyModel();
	model.isKnown = true;
	model.recorded = Boolean(range.recorded);
	if (!model.recorded)
		return;
	model.step = range.step;
	model.gaps = range.gaps;
	model.first = range.first;
	model.peak = range.peak;
	model.sources = range.sources;
	for (let i = 0; i < range.points; i++) {
		model.begins.push(range.from + i * range.step);
		model.times.push(range.from + (i + 1) * range.step);
	}
	for (const line of range.lines)
		model.lines[lineKey(line.kind, line.name, line.outcome)] = line.rate;
	trimModel(range);
}

// Points after the last recorded scan are meaningless, and so are points before the first one.
function trimModel(range) {
	let last = model.times.length;

	while (last && (model.times[last - 1] > range.last + model.step || isGap(last - 1)))
		last--;
	for (const values of columns())
		values.length = last;
}

// A gap is a time without scans; recorded data can be one or two scans late.
function appendPoint(point) {
	const last = model.times[model.times.length - 1];
	const length = point.seconds * 1000;
	const begin = point.time - length;

	if (last && point.time <= last)
		return;
	if (last && begin - last > 2 * Math.max(model.step, length))
		pushPoint(last, last + 1, null);
	pushPoint(begin, point.time, point);
	// The first point can be older than the span: the line starts at the left edge of the plot.
	while (model.times[1] <= point.time - span())
		columns().forEach((values) => values.shift());
}

function pushPoint(begin, time, point) {
	for (const key of point ? Object.keys(point.rates) : [])
		if (!(key in model.lines))
			model.lines[key] = model.sources.map((count) => (count === null ? null : 0));
	model.begins.push(begin);
	model.times.push(time);
	model.sources.push(point ? point.sources : null);
	model.peak.push(null);
	for (const [key, line] of Object.entries(model.lines))
		line.push(point ? point.rates[key] || 0 : null);
}
