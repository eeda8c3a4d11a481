// SPDX-License-Identifier: GPL-2.0
// A browser through WebDriver, using only fetch. All of its log messages and requests are recorded.

const DRIVER = process.env.WEBDRIVER || 'http://127.0.0.1:9515';
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

const PATIENCE_MS = 180000; // as in lib.sh: on a busy machine a page can take long to load
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function call(method, path, body) {
	const answer = await fetch(DRIVER + path, {method, body: body && JSON.stringify(body)});
	const {value} = await answer.json();

	if (!answer.ok)
		throw new Error(`${method} ${path}: ${value.message}`);
	return value;
}

export class Browser {
	static async open({width = 1360, height = 900, dark = false, data}) {
		const browser = new Browser();
		const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
			'--disable-background-networking', '--disable-component-update', '--hide-scrollbars', `--user-data-dir=${data}`,
			`--window-size=${width},${height}`];

		browser.session = (await call('POST', '/session', {capabilities: {alwaysMatch: {
			browserName: 'chrome', 'goog:chromeOptions': {args, binary: process.env.CHROMIUM || '/usr/bin/chromium'},
			'goog:loggingPrefs': {browser: 'ALL', performance: 'ALL'},
		}}})).sessionId;
		browser.messages = [];
		browser.requests = [];
		browser.received = []; // [time in s, bytes] of each HTTP response
		browser.url = {}; // of each request, by id
		await browser.shape({width, height, dark});
		return browser;
	}

	on(method, path, body) {
		return call(method, `/session/${this.session}${path}`, body);
	}

	devtools(cmd, params) {
		return this.on('POST', '/goog/cdp/execute', {cmd, params});
	}

	async shape({width, height, dark}) {
		await this.devtools('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 500});
		await this.devtools('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'}]});
	}

	go(url) {
		return this.on('POST', '/url', {url});
	}

	run(script, ...args) {
		return this.on('POST', '/execute/sync', {script, args});
	}

	async until(what, script, ...args) {
		const end = Date.now() + PATIENCE_MS;

		for (;;) {
			const value = await this.run(script, ...args);

			if (value)
				return value;
			if (Date.now() > end)
				throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
			await pause(100);
		}
	}

	async find(selector) {
		return (await this.on('POST', '/element', {using: 'css selector', value: selector}))[ELEMENT];
	}

	// The page can replace an element between the two calls.
	async click(selector) {
		for (let attempt = 0; ; attempt++) {
			try {
				return await this.on('POST', `/element/${await this.find(selector)}/click`, {});
			} catch (error) {
				if (attempt === 20 || !error.message.includes('stale element'))
					throw error;
			}
		}
	}

	async keys(...keys) {
		const actions = keys.flatMap((value) => [{type: 'keyDown', value}, {type: 'keyUp', value}]);

		return this.on('POST', '/actions', {actions: [{type: 'key', id: 'keys', actions}]});
	}

	// From one part of an element's width to a different one.
	async drag(selector, from, to) {
		const box = await this.run('const b = document.querySelector(arguments[0]).getBoundingClientRect(); return [b.left, b.top, b.width, b.height]', selector);
		const at = (part) => ({type: 'pointerMove', duration: 60, x: Math.round(box[0] + box[2] * part), y: Math.round(box[1] + box[3] / 2)});

		return this.on('POST', '/actions', {actions: [{type: 'pointer', id: 'mouse', parameters: {pointerType: 'mouse'},
			actions: [at(from), {type: 'pointerDown', button: 0}, at((from + to) / 2), at(to), {type: 'pointerUp', button: 0}]}]});
	}

	async picture(full) {
		const {data} = await this.devtools('Page.captureScreenshot', {format: 'png', captureBeyondViewport: Boolean(full)});

		return Buffer.from(data, 'base64');
	}

	async readLogs() {
		for (const entry of await this.on('POST', '/se/log', {type: 'browser'}))
			this.messages.push(`${entry.level} ${entry.message}`);
		for (const entry of await this.on('POST', '/se/log', {type: 'performance'})) {
			const {method, params} = JSON.parse(entry.message).message;

			if (method === 'Network.requestWillBeSent') {
				this.requests.push(params.request.url);
				this.url[params.requestId] = params.request.url;
			}
			if (method === 'Network.loadingFinished' && /^http/.test(this.url[params.requestId]))
				this.received.push([params.timestamp, params.encodedDataLength]);
		}
	}

	close() {
		return this.on('DELETE', '', undefined);
	}
}

export {pause};
