// SPDX-License-Identifier: GPL-2.0
// The page in unusual situations: prints "ok NAME" or "not ok NAME" for each check, and "do WHAT"
// to request a change from the reader of its output. URL is the page with its token; DIRECTORY gets
// `ended` after all checks.

import fs from 'node:fs';
import {Browser, pause} from './webdriver.mjs';

const [url, directory, fence, other] = process.argv.slice(2);
const origin = new URL(url).origin;

function check(name, isRight, ...got) {
	console.log(`${isRight ? 'ok' : 'not ok'} ${name}`);
	if (!isRight && got.length)
		console.log(`# got: ${JSON.stringify(got)}`);
}

async function make(what) {
	const done = `${directory}/done`;

	fs.rmSync(done, {force: true});
	console.log(`do ${what}`);
	while (!fs.existsSync(done))
		await pause(50);
}

const TEXT = 'const e = document.querySelector(arguments[0]); return e && e.checkVisibility() ? e.textContent : ""';

// Waits until an element shows a text; prints the present text otherwise.
async function shows(browser, name, selector, text) {
	try {
		await browser.until(name, `${TEXT.replace('return', 'const shown =')}; return shown.includes(arguments[1])`, selector, text);
		check(name, true);
	} catch {
		check(name, false, await browser.run(TEXT, selector), await browser.run(TEXT, '#notice'));
	}
}

const live = (browser, name) => shows(browser, name, '#state.live', 'LIVE');

async function goTo(browser, path) {
	await browser.go('about:blank');
	await browser.go(`${origin}/${path}`);
}

// ---- the situations ----

async function needsToken(browser) {
	await goTo(browser, '#token=wrong');
	await shows(browser, 'a wrong token is told, with the command that prints the right one', '#notice', "'ringfence page'");
	check('and nothing else is shown', await browser.run('return document.querySelector("main").checkVisibility()') === false);
}

async function hasNoFence(browser) {
	await browser.go('about:blank');
	await browser.go(url);
	await shows(browser, 'without a fence it says how to attach one', '#notice', "'ringfence attach IF'");
	check('it does not say that the daemon is silent', !(await browser.run(TEXT, '#notice')).includes('does not answer'));
}

async function getsFence(browser) {
	await make('attach');
	await live(browser, 'a fence is shown once it is attached');
	await shows(browser, 'without a limit it says which one shows the sources', '#limits', 'ringfence limit add probe rate 50k/1s shadow');
	await shows(browser, 'and why no source is shown', '#sources-none', 'Without a limit');
	await make('limit');
	await shows(browser, 'a limit gets its panel', '#limits', '50/1s');
	await make('send');
	await shows(browser, 'of a long list it says how long it is', '#sources-note', 'of 62 windows');
}

async function showsIpv6(browser) {
	await browser.until('there is one', "return document.querySelector('#events button[data-source^=\"2001:\"]')");
	await browser.run("document.querySelector('#events button[data-source^=\"2001:\"]').click()");
	await shows(browser, 'a source of IPv6 has its page', '#source', `ringfence deny add 2001:db8:66::/64 for 1h dev ${fence}`);
	await shows(browser, 'and what its window has', '#source', 'of 50 used');
}

async function losesLimit(browser) {
	await make('unlimit');
	await shows(browser, 'a limit that is removed while its source is shown is gone from there', '#source', 'No limit has a window of it now');
	check('the source keeps its commands', (await browser.run(TEXT, '#source')).includes('ringfence allow add 2001:db8:66::/64'));
	await browser.keys('\uE00C');
}

// The daemon's clock cannot be set, therefore the times in its replies to the page are.
async function hasClockSet(browser) {
	await browser.run(`
		const real = window.fetch;
		window.fetch = async (...asked) => {
			const answer = await real(...asked), text = await answer.text();
			const json = asked[0].startsWith('/api/live') ? JSON.parse(text) : null;
			if (json && json.time) json.time -= 7200e3;
			return new Response(json ? JSON.stringify(json) : text, {status: answer.status, headers: answer.headers});
		};`);
	const wanted = await browser.run(`
		const two = (value) => String(value).padStart(2, '0'), time = new Date(Date.now() - 7200e3);
		return two(time.getHours()) + ':' + two(time.getMinutes());`);
	const [hour, minute] = wanted.split(':').map(Number);
	const next = `${String((hour + (minute === 59)) % 24).padStart(2, '0')}:${String((minute + 1) % 60).padStart(2, '0')}`;
	try {
		await browser.until('it goes on', "const shown = document.querySelector('#packets-key').textContent; return shown.includes(arguments[0]) || shown.includes(arguments[1])", wanted, next);
		check('when the clock is set back, the plots go on', true);
	} catch {
		check('when the clock is set back, the plots go on', false, wanted, await browser.run(TEXT, '#packets-key'));
	}
	await browser.go(`${origin}/`);
}

async function losesFence(browser) {
	await live(browser, 'it is live again');
	await make('detach');
	await shows(browser, 'when the fence goes, the page says so', '#notice', 'attached');
	await shows(browser, 'and shows no rate of it', '#tiles', '–packets in');
	await make('attach');
	await live(browser, 'when it comes back, it is shown without a reload');
	await shows(browser, 'the time without it is a gap, with its reason', '#gaps', 'the fence was not attached');
}

async function losesDaemon(browser) {
	await make('end');
	await shows(browser, 'without the daemon it says that it tries again', '#notice', 'Trying again');
	await make('watch_held');
	await shows(browser, 'while its first scan is under way it says so', '#notice', `The first scan of fence '${fence}' is under way`);
	check('and shows no figures', await browser.run('return document.querySelector("main").checkVisibility()') === false);
	await make('release');
	await live(browser, 'when the daemon is back, it goes on by itself');
	await shows(browser, 'and tells of that gap', '#gaps', 'ringfence-watch did not run');
}

async function getsOddAddress(browser) {
	await goTo(browser, `?fence=${fence}&from=2020-01-01T00:00:00&to=2020-01-01T01:00:00`);
	await shows(browser, 'before the history it says when that begins', '#notice', 'the history of this fence begins at 20');
	for (const [times, what] of [['from=2099-01-01T00:00:00&to=2099-01-02T00:00:00', 'is still to come'], ['from=yesterday&to=-1h', "cannot be read: 'yesterday'"],
		['from=-1h&to=-2h', 'end before they begin']]) {
		await goTo(browser, `?fence=${fence}&${times}`);
		await shows(browser, `a time that ${what.replace(/: .*/, '')} is told`, '#notice', what);
		await live(browser, 'and the present is shown');
	}
	await goTo(browser, `?fence=${fence}&source=203.0.113.9`);
	await shows(browser, 'a source without packets says so', '#source', 'No limit has a window of it now');
	await goTo(browser, `?fence=${fence}&source=${encodeURIComponent('192.0.2.1;reboot')}`);
	await shows(browser, 'what is no address is told', '#source', 'expects an address or a prefix');
	check('and gets no command to copy', !(await browser.run(TEXT, '#source')).includes('ringfence deny'));
	await goTo(browser, '?fence=nosuch');
	await shows(browser, 'a fence that is not watched is named', '#notice', "No fence 'nosuch' is watched");
	await browser.run("const select = document.querySelector('#fence'); select.value = arguments[0]; select.dispatchEvent(new Event('change'))", fence);
	await live(browser, 'and another one can be chosen');
}

async function getsOther(browser) {
	await make('attach_other');
	await shows(browser, 'two fences can be chosen from', '#fence-pick', other);
	await browser.run("const select = document.querySelector('#fence'); select.value = arguments[0]; select.dispatchEvent(new Event('change'))", other);
	await shows(browser, 'the other one is shown', '#limits', 'other');
	await goTo(browser, `?fence=${encodeURIComponent(other)}&source=192.0.2.1`);
	await shows(browser, 'a name of others is quoted in a command', '#source', "ringfence deny add 192.0.2.1 for 1h dev 'a;$(id)'");
}

async function hasNoPlots(browser) {
	await browser.devtools('Network.enable', {});
	await browser.devtools('Network.setBlockedURLs', {urls: ['*/plots.js']});
	await goTo(browser, '');
	await shows(browser, 'where the plots are missing it says so', '#notice', 'Plots are missing');
	await live(browser, 'and all else is there');
	await browser.devtools('Network.setBlockedURLs', {urls: []});
}

async function isToldLittle(browser) {
	await make('end');
	await make('watch_without');
	await goTo(browser, '');
	await live(browser, 'without a history there is the present');
	await shows(browser, 'it says that the plots begin now', '#gaps', 'No history is recorded');
	await shows(browser, 'where sources are hidden it says which line shows them', '#sources-none', "'sources prefix' in /etc/ringfence/watch.conf");
	await browser.keys('\uE012');
	await shows(browser, 'of the past it says that there is none', '#notice', 'No history is recorded');
}

async function isQuiet(browser) {
	await browser.readLogs();
	const loud = browser.messages.filter((one) => !one.includes('chrome://') && !one.includes('Failed to load resource'));

	check('in all that there was no error but of what was refused', loud.length === 0, loud);
}

const browser = await Browser.open({data: `${directory}/browser`});
try {
	for (const one of [needsToken, hasNoFence, getsFence, showsIpv6, losesLimit, hasClockSet, losesFence, losesDaemon,
		getsOddAddress, getsOther, hasNoPlots, isToldLittle, isQuiet])
		await one(browser);
	fs.writeFileSync(`${directory}/ended`, 'done');
} catch (error) {
	check(`all of it runs: ${error.message}`, false, await browser.run('return document.body.textContent').catch(() => ''));
}
await browser.close();
