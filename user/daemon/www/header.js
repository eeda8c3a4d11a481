// SPDX-License-Identifier: GPL-2.0
// The header, and notices about unusual states.

const STALE_SCANS = 3; // an older scan is marked as old
const GAPS_SHOWN = 3;
let failed = null; // the error of the last request
let others = [];   // the fences that are watched, if the one in the URL is not

function notice(text) {
	byId('notice').hidden = !text;
	setText(byId('notice'), text);
}

// ---- the header ----

function stateText() {
	const scan = live.scan;

	if (failed)
		return ['gone', failed instanceof NoFence ? 'no fence' : failed instanceof Refused ? 'no token' : 'no answer'];
	if (!scan)
		return ['', '…'];
	if (scan.scanning)
		return ['', 'first scan'];
	if (!scan.up)
		return ['gone', 'not attached'];
	if (age() > STALE_SCANS * scan.interval)
		return ['stale', `old: ${duration(age())}`];
	if (!isLive())
		return ['', 'PAST'];
	return ['live', `LIVE ${clock(scan.time)}${scan.interval > 1000 ? `, each ${Math.round(scan.interval / 100) / 10} s` : ''}`];
}

const CONFIRMATIONS = {pending: 'The rules are unconfirmed', reverted: 'The new rules were not confirmed: the old rules are in force', expired: 'The attach was not confirmed: everything passes'};
const SOURCE_DETAIL = {none: 'No sources are shown.', prefix: 'Sources are shown as networks, /24 and /48.', full: 'Sources are shown in full.'};

function showFences() {
	const isLost = failed instanceof NoFence;
	const known = isLost ? others : live.scan ? live.scan.fences : [];
	const names = isLost && view.fence && known.length ? [view.fence, ...known] : known;
	const select = byId('fence');

	byId('fence-pick').hidden = names.length < 2;
	setText(byId('fence-name'), names.length === 1 ? names[0] : '');
	if ([...select.options].map((option) => option.value).join('\n') !== names.join('\n'))
		select.replaceChildren(...names.map((name) => make('option', {value: name}, name)));
	select.value = isLost ? view.fence : live.scan ? live.scan.fence : '';
}

// ---- notices: the first one that applies ----

function failedText() {
	if (failed instanceof Refused)
		return "The token is missing or no longer valid: open the address that 'ringfence page' prints.";
	if (!(failed instanceof NoFence))
		return `ringfence-watch does not answer: ${failed.message || 'no answer'}. Trying again.`;
	if (others.length)
		return `No fence '${view.fence}' is watched: choose one of those above, or attach it.`;
	return "No fence is attached here: 'ringfence attach IF' attaches one, and it is shown then. " +
		"'ringfence history list' has what was recorded of earlier ones.";
}

function confirmationText(scan) {
	if (scan.paused_ms)
		return `PAUSED: nothing is dropped, ${duration(scan.paused_ms)} left: 'ringfence resume' ends that.`;

	const left = scan.confirmation === 'pending' ? `, ${duration(scan.unconfirmed_ms)} left: 'ringfence confirm' keeps them` : '';

	return CONFIRMATIONS[scan.confirmation] ? `${CONFIRMATIONS[scan.confirmation]}${left}.` : '';
}

function liveText(scan) {
	if (!scan)
		return '';
	if (scan.scanning)
		return `The first scan of fence '${scan.fence}' is under way. With a million windows it takes some seconds.`;
	return scan.up ? confirmationText(scan) : `Fence '${scan.fence}' is not attached now. It is shown again once it is.`;
}

function pastText() {
	if (isLive() || !model.isKnown)
		return '';
	if (!model.recorded)
		return "No history is recorded, so there is no past: see 'history' in /etc/ringfence/watch.conf. 'l' shows the present.";
	if (!model.first)
		return 'Nothing of this fence was recorded yet.';
	if (view.to < model.first)
		return `Nothing was recorded then: the history of this fence begins at ${day(model.first)} ${clock(model.first)}.`;
	return model.times.length ? '' : 'Nothing was recorded in this range.';
}

function noticeText() {
	if (failed)
		return failedText();
	if (view.fault)
		return `This is the present: ${view.fault}.`;
	return liveText(live.scan) || pastText() || (typeof Dygraph === 'undefined'
		? 'Plots are missing: dygraphs was not there when ringfence-watch was built. All else is here.' : '');
}

// Times that the plots cannot show.
function showGaps() {
	const from = model.gaps.length > GAPS_SHOWN ? model.gaps.length - GAPS_SHOWN : 0;
	const gaps = model.gaps.slice(from).map((gap) => `${axisTime(gap.from, span())} to ${axisTime(gap.to, span())}, ${gap.reason}`);
	const since = isLive() && model.isKnown && !model.recorded ? 'No history is recorded: the plots begin when this page was opened.' : '';

	setText(byId('gaps'), gaps.length ? `Not recorded: ${from ? `${from} times before, ` : ''}${gaps.join('; ')}.` : since);
	byId('gaps').hidden = !byId('gaps').textContent;
}

// ---- the whole header ----

function showHeader() {
	const [kind, text] = stateText();
	const scan = live.scan;

	byId('state').className = `pill ${kind}`;
	setText(byId('state'), text);
	for (const button of document.querySelectorAll('[data-range]'))
		button.setAttribute('aria-pressed', String(isLive() && button.dataset.range === view.range));
	setText(byId('span'), isLive() ? '' : `${day(view.from)} ${clock(view.from)} – ${day(view.to) === day(view.from) ? '' : `${day(view.to)} `}${clock(view.to)}`);
	byId('forward').disabled = isLive();
	showFences();
	notice(noticeText());
	document.querySelector('main').hidden = Boolean(scan ? scan.scanning : failed);
	if (!scan)
		return;
	document.title = `ringfence ${scan.fence}`;
	if (scan.up)
		setText(byId('source-detail'), SOURCE_DETAIL[scan.source_detail]);
}

