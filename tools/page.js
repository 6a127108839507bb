// SPDX-License-Identifier: GPL-2.0-only
// Orders and filters the functions, and shows them and the objects for a range of the time.
// The page is whole without this.  Names are read from it, and written as text only.
'use strict';
(() => {
const one = (what, where = document) => where.querySelector(what);
const all = (what, where = document) => [...where.querySelectorAll(what)];
const data = JSON.parse(one('#data').textContent);
const numbers = text => text ? text.split(',').map(Number) : [];
const sum = list => list.reduce((n, m) => n + m, 0);
const part = (list, range) => sum(list.slice(range.from, range.to));
const percent = share => (100 * share).toFixed(1) + ' %';
const slices = data.slices;
const whole = { from: 0, to: slices.length };

// The same are html_level() and stats_interval().
const level = (value, most) => value && Math.ceil(7 * Math.min(1, Math.log1p(value) / Math.log1p(most)));
function interval(part, all) {
	const zz = 1.959963984540054 ** 2;
	if (!all)
		return [0, 1];
	const share = part / all, middle = (share + zz / (2 * all)) / (1 + zz / all);
	const half = Math.sqrt(zz * (share * (1 - share) / all + zz / (4 * all * all))) / (1 + zz / all);
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

const rows = all('#rows tbody tr, #rows tfoot tr').map((row, i) => ({
	row, user: numbers(data.user[i]), system: numbers(data.system[i]), name: one('th', row).textContent,
}));
const strips = all('.where').map((svg, i) => ({
	...data.space[i], svg, at: 0, cells: data.space[i].cells.map(numbers),
	caption: one('figcaption', svg.parentNode),
}));

function seconds(samples) {
	return samples ? (samples * data.sample_ns / 1e9).toFixed(2) + ' s' : '–';
}

function count(range) {
	for (const row of rows) {
		row.u = part(row.user, range);
		row.s = part(row.system, range);
		row.n = row.u + row.s;
	}
	for (const strip of strips)
		strip.now = strip.cells.map(cell => part(cell, range));
	return sum(rows.map(row => row.n));
}

function drawRow({ row, u, s, n }, total, scale) {
	const [low, high] = interval(n, total), share = n / (total || 1), user = u / (total || 1);
	const x = value => (scale * value).toFixed(0);
	const texts = [percent(share), n < 5 ? '·' : (50 * (high - low)).toFixed(1), seconds(u), seconds(s)];
	texts.forEach((text, i) => { row.cells[i + 1].textContent = text; });
	one('title', row).textContent = `${percent(user)} user, ${percent(share - user)} system; ` +
		`19 times of 20 between ${(100 * low).toFixed(1)} and ${percent(high)}`;
	one('.user', row).setAttribute('d', `M0 1H${x(user)}V9H0z`);
	one('.system', row).setAttribute('d', `M${x(user)} 1H${x(share)}V9H${x(user)}z`);
	one('.whisker', row).setAttribute('d', `M${x(low)} 5H${x(high)}M${x(low)} 2V8M${x(high)} 2V8`);
}

// The function that has most of a cell, in all of the time.
function owner(strip, cell) {
	const row = rows[strip.owner[cell]];
	return row && !row.row.matches('.others') ? one('th', row.row).firstChild.data.trim() : 'functions without a row';
}

const address = (strip, cell) => '0x' + (BigInt(strip.first) + BigInt(strip.step) * BigInt(cell)).toString(16);

function drawStrip(strip, total, most) {
	const hottest = strip.now.indexOf(Math.max(...strip.now)), n = strip.now[hottest];
	for (let k = 1; k <= 7; k++)
		one('.l' + k, strip.svg).setAttribute('d', strip.now.map((n, i) =>
			level(n, most) === k ? `M${i} 0H${i + 1}V10H${i}z` : '').join(''));
	one('.mark', strip.svg).setAttribute('d', n ? `M${hottest} 11V13H${hottest + 1}V11z` : '');
	one('.share', strip.caption).textContent = percent(sum(strip.now) / (total || 1));
	one('.hottest', strip.caption).textContent = n ? `hottest: ${owner(strip, hottest)} near ` +
		`${address(strip, hottest)}, ${percent(n / total)}` : 'nothing in this range';
}

const order = { key: row => row.n, sign: -1 };
function sort() {
	const body = one('#rows tbody'), compare = (a, b) => (a > b) - (a < b);
	rows.filter(row => row.row.parentNode === body)
		.sort((a, b) => order.sign * compare(order.key(a), order.key(b)) || b.n - a.n)
		.forEach(row => body.append(row.row));
}

function filter() {
	const word = one('#filter').value.toLowerCase();
	let found = 0, n = 0;
	for (const row of rows) {
		row.row.hidden = !row.name.toLowerCase().includes(word);
		found += !row.row.hidden;
		n += row.row.hidden ? 0 : row.n;
	}
	one('#found').textContent = word && `${found} rows, ${percent(n / (sum(rows.map(row => row.n)) || 1))}`;
}

function draw(range) {
	const total = count(range), most = Math.max(1, ...strips.flatMap(strip => strip.now));
	const scale = 1000 / interval(Math.max(0, ...rows.map(row => row.n)), total)[1];
	rows.forEach(row => drawRow(row, total, scale));
	strips.forEach(strip => drawStrip(strip, total, most));
	one('#which').textContent = range.from || range.to < slices.length ?
		`${total} samples from ${begin(range)} s to ${end(range)} s.` : `${total} samples.`;
	sort();
	filter();
}

const begin = range => slices[range.from][0] / 1000;
const end = range => slices[range.to - 1][1] / 1000;

function choose(from, to) {
	const range = { from: Math.max(0, Math.min(from, to - 1)), to: Math.min(slices.length, Math.max(to, from + 1)) };
	const last = slices[slices.length - 1][1], isAll = range.from === 0 && range.to === slices.length;
	one('#from').value = range.from;
	one('#to').value = range.to;
	one('#from').setAttribute('aria-valuetext', begin(range) + ' s');
	one('#to').setAttribute('aria-valuetext', end(range) + ' s');
	one('#range').textContent = `${begin(range)} s to ${end(range)} s`;
	for (const veil of all('.veil'))
		veil.setAttribute('d', isAll ? '' :
			`M0 0H${1000 * begin(range)}V10H0zM${1000 * end(range)} 0H${last}V10H${1000 * end(range)}z`);
	draw(range);
	return isAll ? location.pathname + location.search : `#from=${begin(range)}&to=${end(range)}`;
}

// A range is a link to it, too; a page inside of another may not have one.
function brush(from, to) {
	const link = choose(from, to);
	try {
		history.replaceState(null, '', link);
	} catch (error) {
		return;
	}
}

function follow() {
	const link = new URLSearchParams(location.hash.slice(1));
	const from = 1000 * link.get('from'), to = link.has('to') ? 1000 * link.get('to') : Infinity;
	const first = slices.findIndex(slice => slice[1] > from);
	if ((link.has('from') || link.has('to')) && first >= 0)
		choose(first, slices.filter(slice => slice[0] < to).length);
}

function timeStrips() {
	let held;
	for (const svg of all('.when')) {
		const at = event => {
			const box = svg.getBoundingClientRect();
			const ms = (event.clientX - box.left) / box.width * slices[slices.length - 1][1];
			const i = slices.findIndex(slice => slice[1] > ms);
			return i < 0 ? slices.length - 1 : i;
		};
		svg.onpointerdown = event => { held = at(event); svg.setPointerCapture(event.pointerId); brush(held, held + 1); };
		svg.onpointermove = event => held !== undefined && brush(Math.min(held, at(event)), Math.max(held, at(event)) + 1);
		svg.onpointerup = svg.onpointercancel = () => { held = undefined; };
	}
	one('#from').oninput = () => brush(+one('#from').value, Math.max(+one('#to').value, +one('#from').value + 1));
	one('#to').oninput = () => brush(Math.min(+one('#from').value, +one('#to').value - 1), +one('#to').value);
	one('#whole').onclick = () => brush(whole.from, whole.to);
	window.onhashchange = follow;
	follow();
}

function pick(row) {
	all('.picked').forEach(old => old.classList.remove('picked'));
	one('#filter').value = '';
	filter();
	row.row.classList.add('picked');
	row.row.tabIndex = -1;
	row.row.focus({ preventScroll: true });
	row.row.scrollIntoView({ block: 'center' });
}

function spaceStrips() {
	for (const strip of strips) {
		const { svg } = strip, cells = strip.cells.length;
		const show = at => {
			strip.at = Math.max(0, Math.min(cells - 1, at));
			all('.cursor').forEach(cursor => cursor.setAttribute('d', ''));
			one('.cursor', svg).setAttribute('d', `M${strip.at} 0H${strip.at + 1}V10H${strip.at}z`);
			one('#cell').textContent = `${one('b', strip.caption).textContent} ${address(strip, strip.at)}: ` +
				`${strip.now[strip.at]} samples` + (strip.now[strip.at] ? ', most of them in ' + owner(strip, strip.at) : '');
		};
		const enter = () => strip.now[strip.at] && rows[strip.owner[strip.at]] && pick(rows[strip.owner[strip.at]]);
		const at = event => Math.floor((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width * cells);
		svg.tabIndex = 0;
		svg.onfocus = () => show(strip.at);
		svg.onpointermove = event => show(at(event));
		svg.onclick = event => { show(at(event)); enter(); };
		svg.onkeydown = event => {
			const step = { ArrowLeft: -1, ArrowRight: 1, Home: -cells, End: cells }[event.key];
			if (step)
				show(strip.at + step);
			else if (event.key === 'Enter')
				enter();
			else
				return;
			event.preventDefault();
		};
	}
}

function headings() {
	const keys = [row => row.n, row => row.n, row => row.n, row => row.u, row => row.s, row => row.name];
	const titles = all('#rows thead th');
	titles.forEach((title, i) => {
		const button = document.createElement('button');
		button.append(...title.childNodes);
		title.append(button);
		button.onclick = () => {
			order.sign = title.ariaSort ? -order.sign : i < 5 ? -1 : 1;
			order.key = keys[i];
			titles.forEach(other => other.removeAttribute('aria-sort'));
			title.setAttribute('aria-sort', order.sign < 0 ? 'descending' : 'ascending');
			sort();
		};
	});
	titles[1].setAttribute('aria-sort', 'descending');
}

all('.script').forEach(element => { element.hidden = false; });
count(whole);
headings();
one('#filter').oninput = filter;
spaceStrips();
if (one('#brush'))
	timeStrips();
})();
