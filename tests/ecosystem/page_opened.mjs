// SPDX-License-Identifier: GPL-2.0
// The page as a newcomer opens it: prints "ok NAME" or "not ok NAME" for each check.
// URL is the page with its token; DIRECTORY gets `ended` once all checks ran.

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
	await browser.until('there are sources', 8000, "return document.querySelectorAll('#sources-table tbody tr').length > 0");
	const shown = await browser.run('return performance.now()');
	const points = await browser.until('its lines have a past', 4000, `const most = (() => { ${POINTS} })(); return most > 10 && most`);

	check('a source has its last minute when the page is opened', points > shown / 1000 + 4, points, shown);
}

const browser = await Browser.open({data: `${directory}/browser`});
try {
	for (const one of [showsLastMinute])
		await one(browser);
	fs.writeFileSync(`${directory}/ended`, 'done');
} catch (error) {
	check(`all of it runs: ${error.message}`, false, await browser.run("return document.body.textContent").catch(() => ''));
}
await browser.close();
