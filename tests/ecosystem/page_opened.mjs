// SPDX-License-Identifier: GPL-2.0
// The page when it is opened for the first time: prints "ok NAME" or "not ok NAME" for each check.
// URL is the page with its token; DIRECTORY gets `ended` after all checks.

import fs from 'node:fs';
import {Browser} from './webdriver.mjs';

const [url, directory] = process.argv.slice(2);

function check(name, isRight, ...got) {
	console.log(`${isRight ? 'ok' : 'not ok'} ${name}`);
	if (!isRight && got.length)
		console.log(`# got: ${JSON.stringify(got)}`);
}

const POINTS = "return Math.max(0, ...[...document.querySelectorAll('#sources-table polyline')].map((line) => line.getAttribute('points').split(' ').length))";

async function showsLastMinute(browser) {
	await browser.go(url);
	await browser.until('there are sources', "return document.querySelectorAll('#sources-table tbody tr').length > 0");
	const shown = await browser.run('return performance.now()');
	const points = await browser.until('its lines have a past', `const most = (() => { ${POINTS} })(); return most > 10 && most`);

	check('a source has its last minute when the page is opened', points > shown / 1000 + 4, points, shown);
}

async function saysWhyNoCells(browser) {
	await browser.click('#sources-table tbody button');
	const why = await browser.until('it says why', "const why = document.querySelector('#no-cells'); return why && why.textContent");

	check('of a network it says which line shows cells', why.includes("'sources full' in /etc/ringfence/watch.conf"), why);
	check('there is no empty plot', await browser.run("return document.querySelectorAll('#source .cells').length") === 0);
	check('its commands name the network', (await browser.run("return document.querySelector('#source').textContent")).includes('deny add 198.51.100.0/24 for 1h'));
}

const browser = await Browser.open({data: `${directory}/browser`});
try {
	for (const one of [showsLastMinute, saysWhyNoCells])
		await one(browser);
	fs.writeFileSync(`${directory}/ended`, 'done');
} catch (error) {
	check(`all of it runs: ${error.message}`, false, await browser.run("return document.body.textContent").catch(() => ''));
}
await browser.close();
