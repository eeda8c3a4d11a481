// SPDX-License-Identifier: GPL-2.0
// Numbers, times and elements.

// Cold colours pass, warm colours are dropped; both can be distinguished without seeing red and
// green.
const COLOURS = {
	under_limit: ['#5b9bd5', '#4a86c0'], no_limit: ['#a9c7e6', '#34597d'], shadow_over: ['#8e7cc3', '#8e7cc3'],
	allowed: ['#76b7a5', '#4f9484'], newcomer_pass: ['#9fb8c8', '#6d8798'], established: ['#7cc8d8', '#3e8c9c'],
	proven: ['#2c5f8a', '#79b4ea'], non_ip: ['#c3ccd6', '#4a5563'],
	over_limit: ['#d9534a', '#e0695f'], banned: ['#8c2f39', '#a8454f'], denied: ['#e08e45', '#d98a45'],
	newcomer_drop: ['#f0b850', '#d9a53f'], challenged: ['#e9dc8c', '#a39a4e'], malformed: ['#b98a6a', '#a97f62'], no_window: ['#c26fa0', '#c26fa0'],
};
const OTHER_COLOUR = ['#9aa5b1', '#77828f'];
const OUTCOME_COLOURS = {passed: COLOURS.under_limit, dropped: COLOURS.over_limit, would_drop: COLOURS.shadow_over};

const dark = window.matchMedia('(prefers-color-scheme: dark)');

function colourOf(pair) {
	return (pair || OTHER_COLOUR)[dark.matches ? 1 : 0];
}

function reasonText(name) {
	return REASONS[name] || name.replace(/_/g, ' ');
}

function css(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// 950, 1.42M, 20k
function short(value) {
	if (value === null || value === undefined || Number.isNaN(value))
		return '–';
	for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e3]])
		if (value >= size)
			return (value / size).toFixed(value < 10 * size ? 2 : value < 100 * size ? 1 : 0) + unit;
	return value >= 10 || value % 1 === 0 ? String(Math.round(value)) : value.toFixed(1);
}

// Text that names a line of the settings, and how to apply it.
function withSetting(words) {
	return `the line '${words}' in /etc/ringfence/watch.conf, followed by 'systemctl reload ringfence-watch',`;
}

function percent(part, whole) {
	return whole > 0 ? (100 * part / whole).toFixed(part && part < whole * 0.1 ? 2 : 1) + ' %' : '–';
}

function two(value) {
	return String(value).padStart(2, '0');
}

function clock(ms) {
	const time = new Date(ms);

	return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}

function day(ms) {
	const time = new Date(ms);

	return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

function duration(ms) {
	for (const [unit, size] of [['d', 86400e3], ['h', 3600e3], ['min', 60e3]])
		if (ms >= size)
			return `${Math.round(ms / size * 10) / 10} ${unit}`;
	return `${Math.round(ms / 1000)} s`;
}

function axisTime(ms, span) {
	if (span > 36 * 3600e3)
		return `${day(ms).slice(5)} ${clock(ms).slice(0, 5)}`;
	return span > 20 * 60e3 ? clock(ms).slice(0, 5) : clock(ms);
}

// ---- elements ----

function byId(id) {
	return document.getElementById(id);
}

function make(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== undefined && value !== false)
			element.setAttribute(name, value === true ? '' : value);
	element.append(...children.filter((child) => child !== null));
	return element;
}

function draw(tag, attributes, ...children) {
	const element = document.createElementNS('http://www.w3.org/2000/svg', tag);

	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

function setText(element, text) {
	if (element.textContent !== text)
		element.textContent = text;
}

function swatch(colour) {
	return draw('svg', {viewBox: '0 0 9 9', 'aria-hidden': 'true'},
		draw('rect', {width: 9, height: 9, rx: 2, fill: colour}));
}
