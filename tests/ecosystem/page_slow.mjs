// SPDX-License-Identifier: GPL-2.0
// The page while scans are far apart: prints "ok NAME" or "not ok NAME" for each check. URL is the
// page with its token; DIRECTORY gets `ended` after all checks.

import fs from 'node:fs';
import {Browser} from './webdriver.mjs';

const [url, directory] = process.argv.slice(2);

function check(name, isRight, ...got) {
	console.log(`${isRight ? 'ok' : 'not ok'} ${name}`);
	if (!isRight && got.length)
		console.log(`# got: ${JSON.stringify(got)}`);
}

// For each plot: its width, the first and last column of pixels with a line, and the columns
// without one between them.
const LINES = `
	return [...document.querySelectorAll('#packets, .limit .plot')].map((plot) => {
		const canvas = plot.querySelector('canvas'), {width, height} = canvas, columns = [];
		const pixels = canvas.getContext('2d').getImageData(0, 0, width, height).data;
		for (let i = 0; i < pixels.length; i += 4)
			if (pixels[i + 3] > 40 && Math.abs(pixels[i] - pixels[i + 2]) > 40)
				columns[i / 4 % width] = true;
		const painted = Object.keys(columns).map(Number);
		const [first, last] = [painted[0], painted[painted.length - 1]];
		return {width, first, last, without: painted.length ? last - first + 1 - painted.length : width};
	});`;

async function hasWholeLines(browser) {
	await browser.go(url);
	await browser.until('it is live', "return document.querySelector('#state').classList.contains('live')");
	await browser.until('there are plots', "return document.querySelectorAll('.limit canvas').length === 4");
	await browser.until('it has scans of its own', "return performance.now() > 12000 && document.querySelectorAll('#sources-table .tag.warn').length > 1");
	const plots = await browser.run(LINES);

	check('each plot begins with the history', plots.every((plot) => (plot.last - plot.first) / plot.width > 0.09), plots);
	check('no plot has a gap between scans', plots.every((plot) => plot.without === 0), plots);
	check('the header has the interval', (await browser.run("return document.querySelector('#state').textContent")).includes('each 3.6 s'));
	await browser.until('a source that comes and goes has two lines',
		"return [...document.querySelectorAll('#sources-table tr')].some((row) => row.textContent.startsWith('198.51.100.77') && row.querySelectorAll('polyline').length > 1)");
	check('each source has a line', await browser.run("return [...document.querySelectorAll('#sources-table polyline')].every((line) => line.getBoundingClientRect().width > 0)"));
}

// Cells that are displayed and extend past the table's box, or past the view.
const CUT = `
	const box = document.querySelector('#sources-table').parentElement, right = Math.min(box.getBoundingClientRect().right, innerWidth);
	return [...document.querySelectorAll('#sources-table th, #sources-table td, #sources-table .tag')]
		.filter((e) => e.getClientRects().length && (e.getBoundingClientRect().right > right + 0.5 || e.scrollWidth > e.clientWidth + 1))
		.map((e) => e.textContent);`;

async function cutsNothing(browser) {
	for (const width of [360, 600, 768, 1024, 1200, 1280, 1920]) {
		await browser.shape({width, height: 900, dark: false});
		const cut = await browser.run(CUT);

		check(`at ${width} pixels no column is cut off`, cut.length === 0, cut);
		check(`at ${width} pixels the drops a second are visible`,
			await browser.run("return [...document.querySelectorAll('#sources-table td.drop')].some((cell) => cell.checkVisibility() && parseFloat(cell.textContent) > 0)"));
	}
}

// The daemon's reply, with a single point.
const ONE_SCAN = `
	const real = window.fetch;
	window.fetch = async (...asked) => {
		const answer = await real(...asked), text = await answer.text();
		const json = asked[0].startsWith('/api/range') ? JSON.parse(text) : null;
		if (json && json.recorded) {
			const at = json.sources.findLastIndex((count) => count !== null) - 2, only = (values) => values.map((value, i) => (i === at ? value : null));
			json.sources = only(json.sources);
			json.peak = only(json.peak);
			for (const line of json.lines) line.rate = only(line.rate);
		}
		return new Response(json ? JSON.stringify(json) : text, {status: answer.status, headers: answer.headers});
	};`;

async function showsOneScan(browser) {
	await browser.run(ONE_SCAN);
	await browser.keys('-');
	await browser.until('it is the past', "return document.querySelector('#state').textContent === 'PAST'");
	try {
		await browser.until('one scan is painted', `const plots = (() => { ${LINES} })(); return plots.every((plot) => plot.last - plot.first < 12)`);
		check('a single scan between two gaps is visible', true);
	} catch {
		check('a single scan between two gaps is visible', false, await browser.run(LINES));
	}
}

const browser = await Browser.open({data: `${directory}/browser`});
try {
	for (const one of [hasWholeLines, cutsNothing, showsOneScan])
		await one(browser);
	fs.writeFileSync(`${directory}/ended`, 'done');
} catch (error) {
	check(`all of it runs: ${error.message}`, false, await browser.run('return document.body.textContent').catch(() => ''));
}
await browser.close();
