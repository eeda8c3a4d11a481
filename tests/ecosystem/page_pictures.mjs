// SPDX-License-Identifier: GPL-2.0
// Pictures of the page, live and of one source, in light and dark, and at the width of a phone.

import fs from 'node:fs';
import {Browser, pause} from './webdriver.mjs';

const [url, directory, data] = process.argv.slice(2);
const browser = await Browser.open({width: 1280, height: 860, data: `${data}/browser`});

async function keep(name) {
	fs.writeFileSync(`${directory}/${name}.png`, await browser.picture());
}

await browser.go(url);
await pause(6000);
await keep('page');
await browser.shape({width: 1280, height: 800, dark: true});
await browser.run("document.querySelector('#sources-table tbody button').click()");
await pause(3000);
await keep('page-source');
await browser.run("document.querySelector('#close').click(); scrollTo(0, 0)");
await browser.shape({width: 360, height: 720, dark: false});
await pause(2000);
await keep('page-narrow');
await browser.close();
