// SPDX-License-Identifier: GPL-2.0
// The state of the view, which is in the URL: a copy of the URL shows the same.

const RANGES = {'5m': 300e3, '1h': 3600e3, '24h': 86400e3, '7d': 7 * 86400e3};
const SPAN_LEAST = 10e3;
const SPAN_MOST = 400 * 86400e3;
const UNITS = {s: 1e3, m: 60e3, h: 3600e3, d: 86400e3};

// fault: the error in the times of the URL; the page then shows live data.
const view = {fence: '', range: '5m', from: 0, to: 0, source: '', sort: 'drop', fault: ''};

// 2026-11-22T14:02, 14:02 of today, -2h
function readTime(text, now) {
	const back = /^-(\d+)(s|m|h|d)$/.exec(text);
	const today = /^\d\d:\d\d(:\d\d)?$/.test(text) ? `${day(now)}T${text}` : text;

	return back ? now - back[1] * UNITS[back[2]] : Date.parse(today) || 0;
}

function writeTime(ms) {
	return `${day(ms)}T${clock(ms)}`;
}

function isLive() {
	return !view.from;
}

function span() {
	return isLive() ? RANGES[view.range] : view.to - view.from;
}

function faultOf(from, to, words, now) {
	if (!words.has('from') && !words.has('to'))
		return '';
	if (!from || !to)
		return `a time of the address cannot be read: '${from ? words.get('to') : words.get('from') || ''}'`;
	if (from >= now)
		return 'the time of the address is still to come';
	return from < to ? '' : 'the times of the address end before they begin';
}

function readView() {
	const words = new URLSearchParams(location.search);
	const now = Date.now();
	const from = readTime(words.get('from') || '', now);
	const to = words.has('to') ? readTime(words.get('to'), now) : now;

	view.fence = words.get('fence') || '';
	view.source = words.get('source') || '';
	view.sort = words.get('sort') || 'drop';
	view.range = words.get('range') in RANGES ? words.get('range') : '5m';
	view.fault = faultOf(from, to, words, now);
	view.from = view.fault ? 0 : from;
	view.to = view.from ? to : 0;
}

function writeView(push) {
	const words = new URLSearchParams();

	if (view.fence)
		words.set('fence', view.fence);
	if (isLive()) {
		words.set('range', view.range);
	} else {
		words.set('from', writeTime(view.from));
		words.set('to', writeTime(view.to));
	}
	if (view.source)
		words.set('source', view.source);
	if (view.sort !== 'drop')
		words.set('sort', view.sort);
	history[push ? 'pushState' : 'replaceState'](null, '', '/?' + words.toString().replace(/%3A/g, ':'));
}

// The span between two times in the past; a span that reaches into the future is shortened.
function showSpan(from, to, now) {
	const length = Math.min(Math.max(to - from, SPAN_LEAST), SPAN_MOST);
	const end = Math.min(Math.max(to, from + length), now);

	view.fault = '';
	view.from = Math.round((end - length) / 1000) * 1000;
	view.to = Math.round(end / 1000) * 1000;
	writeView(true);
}

function showLive(range) {
	view.range = range;
	view.from = view.to = 0;
	view.fault = '';
	writeView(true);
}
