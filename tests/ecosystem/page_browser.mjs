// SPDX-License-Identifier: GPL-2.0
// The page in a real browser: prints "ok NAME" or "not ok NAME" for each check, and "# …" for
// additional information. URL is the page with its token; a file `flood` in DIRECTORY requests a
// flood.

import fs from 'node:fs';
import {Browser, pause} from './webdriver.mjs';

const [url, directory, fence] = process.argv.slice(2);
const origin = new URL(url).origin;

function check(name, isRight, ...got) {
	console.log(`${isRight ? 'ok' : 'not ok'} ${name}`);
	if (!isRight && got.length)
		console.log(`# got: ${JSON.stringify(got)}`);
}

const text = (selector) => `return document.querySelector('${selector}').textContent`;
const href = 'return location.href';

// ---- checks of accessibility, like axe's ----

const UNNAMED = `
	const name = (e) => e.getAttribute('aria-label') || e.getAttribute('alt') || e.labels && e.labels[0] && e.labels[0].textContent || e.textContent.trim();
	return [...document.querySelectorAll('button, a[href], select, summary, [role=img], [role=region]')].filter((e) => !name(e)).map((e) => e.outerHTML.slice(0, 80));`;
const STRUCTURE = `
	const wrong = [], ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
	if (document.documentElement.lang !== 'en') wrong.push('no language');
	if (!document.title) wrong.push('no title');
	for (const tag of ['main', 'header', 'footer', 'nav', 'h1'])
		if (document.querySelectorAll(tag).length !== 1) wrong.push(tag);
	if (new Set(ids).size !== ids.length) wrong.push('an id twice');
	for (const section of document.querySelectorAll('section[aria-labelledby]:not([hidden])'))
		if (!document.getElementById(section.getAttribute('aria-labelledby'))) wrong.push('a section without its title');
	for (const cell of document.querySelectorAll('th')) if (!cell.scope) wrong.push('a heading cell without a scope');
	for (const e of document.querySelectorAll('img')) if (!e.hasAttribute('alt')) wrong.push('an image without alt');
	for (const e of document.querySelectorAll('[tabindex]')) if (e.tabIndex > 0) wrong.push('an order of its own');
	for (const e of document.querySelectorAll('*')) for (const a of e.attributes) if (a.name.startsWith('on')) wrong.push(a.name);
	let level = 0;
	for (const e of document.querySelectorAll('h1, h2, h3')) { const l = +e.tagName[1]; if (l > level + 1) wrong.push('a heading skips a level'); level = l; }
	return wrong;`;
// WCAG 2.2, 1.4.3: 4.5 to 1. Translucent colours are not used for text.
const CONTRAST = `
	const parse = (c) => c.match(/[\\d.]+/g).map(Number);
	const light = (c) => parse(c).slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const back = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, p = parse(c); if (p.length < 4 || p[3] > 0) return c; } return 'rgb(255, 255, 255)'; };
	const poor = new Set(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	let seen = 0;
	for (let n = walker.nextNode(); n; n = walker.nextNode()) {
		const e = n.parentElement, style = getComputedStyle(e);
		if (!n.data.trim() || !e.getClientRects().length || e.closest('script, noscript, :disabled')) continue;
		const a = light(e.closest('svg') ? style.fill : style.color), b = light(back(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		seen++;
		if (ratio < 4.5) poor.add(n.data.trim().slice(0, 20) + ' ' + ratio.toFixed(2));
	}
	return seen > 30 ? [...poor] : ['only ' + seen + ' texts'];`;
const PAINTED = `
	const canvas = document.querySelector('#packets canvas'), pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
	let red = 0;
	for (let i = 0; i < pixels.length; i += 4) red += pixels[i + 3] > 60 && pixels[i] > pixels[i + 2] + 60;
	return red;`;

// ---- the checks ----

async function opens(browser) {
	await browser.go(url);
	await browser.until('it is live', "return document.querySelector('#state').classList.contains('live')");
	check('the page opens and is live', true);
	check('the token leaves the address', !(await browser.run(href)).includes('token'), await browser.run(href));
	check('the name of the fence is text', await browser.run(text('#fence-name')) === fence, await browser.run(text('#fence-name')));
	check('no markup comes from a name', await browser.run("return document.querySelectorAll('i, b > *').length") === 0);
	await browser.until('there are sources', "return document.querySelectorAll('#sources-table tbody tr').length > 3");
	check('it lists sources', true);
	check('it has a panel for each limit', await browser.run("return document.querySelectorAll('.limit canvas').length") === 4);
}

async function seesFlood(browser) {
	const before = await browser.run(PAINTED);
	const start = Date.now();

	fs.writeFileSync(`${directory}/flood`, '');
	await browser.until('the flood is seen', "return document.querySelector('#packets-key').textContent.includes('over the limit')");
	console.log(`# the flood was seen ${Date.now() - start} ms after its sender was started`);
	await browser.until('the flood is painted', `${PAINTED.replace('return red', `return red > ${before} + 20`)}`);
	check('a flood is seen in the plot', true);
	await browser.until('its source is first', "return document.querySelector('#sources-table tbody button').textContent === '192.0.2.66'");
	check('its source comes first', true);
	await browser.until('its event is told', "return document.querySelector('#events').textContent.includes('source limited')");
	check('its event is told', true);
	await pause(4000);
}

// With all headers.
async function isSmall(browser) {
	const sum = (from, to) => browser.received.filter(([time]) => time >= from && time < to).reduce((all, [, bytes]) => all + bytes, 0);

	await pause(10000);
	await browser.readLogs();
	const [first, last] = [browser.received[0][0], browser.received[browser.received.length - 1][0]];

	check('the first view takes under 100 KB', sum(first, first + 2) < 102400, sum(first, first + 2));
	check('a second then takes under 3 KB', sum(last - 10, last) / 10 < 3072, sum(last - 10, last) / 10);
	console.log(`# the first two seconds took ${sum(first, first + 2)} bytes, then each ${Math.round(sum(last - 10, last) / 10)}`);
}

async function zooms(browser) {
	await browser.drag('#packets', 0.7, 0.95);
	await browser.until('the zoom is in the address', "return /from=.*&to=/.test(location.search)");
	await browser.until('it says so', "return document.querySelector('#state').textContent === 'PAST'");
	await pause(1500);
	check('a drag zooms', true);
	const ends = await browser.run("return [...document.querySelectorAll('.plot')].map((p) => [...p.querySelectorAll('.dygraph-axis-label-x')].pop().textContent)");
	check('all plots show the same span', ends.length === 3 && ends[1] === ends[2], ends);
	const was = await browser.run(href);
	await browser.go('about:blank');
	await browser.go(was);
	await browser.until('the view is restored', "return document.querySelector('#state').textContent === 'PAST' && document.querySelectorAll('#sources-table tbody tr').length > 0");
	check('the address restores the view', await browser.run(href) === was, was, await browser.run(href));
	check('sources of the past are listed', (await browser.run(text('#sources-table'))).includes('192.0.2.66'));
}

const TAB = '\uE004', ENTER = '\uE007', ESCAPE = '\uE00C', LEFT = '\uE012';
const focused = "return document.activeElement.dataset.source || document.activeElement.id || document.activeElement.tagName";

async function takesKeys(browser) {
	await browser.keys('l');
	await browser.until('l is live', "return document.querySelector('#state').classList.contains('live')");
	await browser.keys('2');
	await browser.until('2 is an hour', "return location.search.includes('range=1h')");
	await browser.keys('1');
	await browser.until('1 is five minutes', "return location.search.includes('range=5m')");
	check('keys choose the range', true);
	await browser.keys(LEFT);
	await browser.until('left goes back', "return /from=/.test(location.search)");
	await browser.keys('+');
	await browser.keys('l');
	check('keys move and zoom', true);
	await browser.until('sources are there', "return document.querySelectorAll('#sources-table tbody tr').length > 0");
	for (let i = 0; i < 60 && !/^\d/.test(await browser.run(focused)); i++)
		await browser.keys(TAB);
	const source = await browser.run(focused);
	check('Tab reaches a source', /^\d/.test(source), source);
	await browser.keys(ENTER);
	await browser.until('it opens', "return !document.querySelector('#source').hidden && document.querySelector('#source code')");
	check('Enter opens it, with commands to copy', (await browser.run(text('#source'))).includes(`ringfence deny add ${source} for 1h`));
	await browser.until('its cells come', "return document.querySelector('#source .cells')");
	check('it has its cells', true);
	check('the focus is on it', await browser.run(focused) === 'source-title', await browser.run(focused));
	await browser.keys(ESCAPE);
	check('Escape closes it', await browser.run("return document.querySelector('#source').hidden"));
	check('and the focus returns', await browser.run(focused) === source, await browser.run(focused));
}

async function isAccessible(browser) {
	await browser.click('#values summary');
	await browser.until('the table comes', "return document.querySelectorAll('#values-table tbody tr').length > 3");
	check('the plot is a table as well', true);
	for (const dark of [false, true]) {
		await browser.shape({width: 1360, height: 900, dark});
		await pause(1500);
		const name = dark ? 'dark' : 'light';
		const poor = await browser.run(CONTRAST);

		check(`${name}: all text has contrast`, poor.length === 0, poor);
	}
	check('it is dark where that is wanted', await browser.run("return getComputedStyle(document.body).backgroundColor") === 'rgb(18, 21, 26)');
	const [unnamed, wrong] = [await browser.run(UNNAMED), await browser.run(STRUCTURE)];
	check('all that can be used has a name', unnamed.length === 0, unnamed);
	check('the structure is right', wrong.length === 0, wrong);
}

async function isNarrow(browser) {
	await browser.shape({width: 360, height: 780, dark: false});
	await pause(1500);
	const [page, widest] = await browser.run('return [document.documentElement.scrollWidth, Math.max(...[...document.querySelectorAll("main *")].filter((e) => !e.closest(".scroll, .command, svg, .plot")).map((e) => e.getBoundingClientRect().right))]');
	check('it fits into 360 pixels', page <= 360 && widest <= 361, page, widest);
}

async function showsChallenges(browser) {
	check('newcomers are not shown while no rule examines them', await browser.run("return document.querySelector('#newcomers').hidden"));
	fs.rmSync(`${directory}/done`, {force: true});
	console.log('do challenge');
	await browser.until('challenges are shown', "return /^newcomers: challenge *challenged [1-9].*proven 0.s *established 0.s *dropped/.test(document.querySelector('#newcomers').textContent)");
	check('newcomers that are challenged are shown', true);
	await browser.until('the plot has them', "return document.querySelector('#packets-key').textContent.includes('answered by a challenge')");
	check('the plot has their line', true);
	await browser.until('their event is there', "return document.querySelector('#events').textContent.includes('challenges started')");
	check('their event is listed', true);
	const poor = await browser.run(CONTRAST);
	check('and their text has contrast', poor.length === 0, poor);
}

async function isQuiet(browser) {
	await browser.readLogs();
	const foreign = browser.requests.filter((one) => /^(https?|wss?|ftp):/.test(one) && !one.startsWith(`${origin}/`));
	const loud = browser.messages.filter((one) => !one.includes('chrome://'));

	check('it asked nobody else', foreign.length === 0, foreign);
	check('there is no violation of the policy, and no other error', loud.length === 0, loud);
	check('it asked for something', browser.requests.some((one) => one.startsWith(`${origin}/api/live`)));
}

async function saysWhatIsMissing(browser) {
	await browser.run('sessionStorage.clear()');
	await browser.go(`${origin}/`);
	await browser.until('it says so', "return document.querySelector('#notice').textContent.includes('ringfence page')");
	check('without the token it says what to do', true);
}

const browser = await Browser.open({data: `${directory}/browser`});
try {
	for (const one of [opens, seesFlood, isSmall, zooms, takesKeys, isAccessible, showsChallenges, isNarrow, isQuiet, saysWhatIsMissing])
		await one(browser);
} catch (error) {
	check(`all of it runs: ${error.message}`, false, await browser.run(text('body')).catch(() => ''));
}
await browser.close();
