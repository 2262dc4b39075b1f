// The page around the worker that runs the program: input, answers, pictures, files, links. Whatever the program or a link brings is
// put into the page as text; pictures are taken apart and only what they draw is kept.
'use strict';
(() => {
  const find = id => document.getElementById(id);
  const make = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text });
  const input = find('input'), log = find('log'), mark = find('mark'), offers = find('offers'), state = find('state');
  const MOST_SHOWN = 400, MOST_KEPT = 2 ** 21, MOST_FILE = 2 ** 30, MOST_LINK = 100000, MOST_BUTTONS = 20, MOST_REMEMBERED = 10000;
  const RESTORE_MS = 2000, PATIENCE_MS = 500, MOST_STEPS = 200;

  // ---- the worker ----
  let worker, parts, number = 0, waiting = new Map(), running = false;
  // Where the host isolates the page (its headers, or sw.js), the worker shares a number with it: 1 asks a running program to stop.
  const stopped = self.crossOriginIsolated ? new Int32Array(new SharedArrayBuffer(4)) : null;

  // Five digits in base 85 are four bytes, the last of which may be too many.
  function heldBytes(text, size) {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~';
    const values = new Uint8Array(128), bytes = new DataView(new ArrayBuffer(text.length / 5 * 4));
    for (let i = 0; i < digits.length; i++) values[digits.charCodeAt(i)] = i;
    for (let i = 0, at = 0; i < text.length; i += 5, at += 4) {
      let four = 0;
      for (let k = i; k < i + 5; k++) four = four * 85 + values[text.charCodeAt(k)];
      bytes.setUint32(at, four);
    }
    return new Uint8Array(bytes.buffer, 0, size);
  }
  async function bytesOf(name) {
    const held = find(`held-${name}`);
    if (!held) return (await fetch(name)).arrayBuffer();
    return new Response(new Blob([heldBytes(held.textContent, Number(held.dataset.size))]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  }
  // A module that has but the type of a function which returns a vector.
  const RETURNS_VECTOR = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123);
  async function load() {
    if (!self.DecompressionStream || !self.WebAssembly || !WebAssembly.validate(RETURNS_VECTOR)) throw new Error('it needs Chrome 91, Firefox 113, Safari 16.4 or a later one');
    const [wasm, ...scripts] = await Promise.all(['tsr.wasm', 'tsr.js', 'worker.js'].map(bytesOf));
    return { wasm, url: URL.createObjectURL(new Blob([scripts[0], '\n', scripts[1]], { type: 'text/javascript' })) };
  }
  // The worker's answer; what it prints before goes to `part`.
  function ask(op, more = {}, part = () => {}, moved = []) {
    return new Promise(resolve => {
      waiting.set(++number, { resolve, part });
      worker.postMessage({ id: number, op, ...more }, moved);
    });
  }
  function forgetQuestions(answer) {
    for (const one of waiting.values()) one.resolve({ printed: [], ...answer });
    waiting.clear();
  }
  async function start() {
    parts = parts || await load();
    worker = new Worker(parts.url);
    worker.onmessage = ({ data }) => {
      const one = waiting.get(data.id);
      if (!one) return;
      if (data.part) { one.part(data.part); return; }
      waiting.delete(data.id);
      one.resolve(data);
    };
    worker.onerror = event => forgetQuestions({ broken: event.message || 'the worker ended' });
    const answer = await ask('start', { wasm: parts.wasm, stop: stopped && stopped.buffer });
    if (answer.broken || answer.status !== 0) throw new Error(answer.broken || 'the program did not start');
    for (const file of added.values()) await put(file);
  }
  // What the browser's words for its own limits mean here.
  function reasonOf(broken) {
    if (/call stack|too much recursion/i.test(broken)) return 'RecursionError: these calls are deeper than the browser allows';
    return /memory allocation|out of memory|array buffer allocation/i.test(broken) ? 'MemoryError' : `The program broke off: ${broken}`;
  }

  // ---- what was said ----
  let kept = 0; // characters of the log
  function shorten() {
    while (log.children.length > 1 && (log.children.length > MOST_SHOWN || kept > MOST_KEPT)) {
      kept -= log.firstChild.textContent.length;
      log.firstChild.remove();
    }
    find('prompt').scrollTop = find('prompt').scrollHeight;
  }
  function tell(text) {
    log.append(make('p', 'told', text));
    kept += text.length;
    shorten();
  }
  // A statement, and under it what append() adds.
  function show(typed) {
    const entry = make('div', 'entry', ''), head = make('pre', 'typed', typed.split('\n').map((l, i) => (i ? '... ' : '>>> ') + l).join('\n'));
    head.title = 'click: back to the input';
    head.onclick = () => fill(typed);
    entry.append(head);
    log.append(entry);
    kept += head.textContent.length;
    shorten();
    return entry;
  }
  function append(entry, pieces) {
    for (const { stream, text } of pieces) {
      const name = stream === 2 ? 'error' : 'out';
      if (entry.lastChild.className !== name) entry.append(make('pre', name, ''));
      entry.lastChild.append(text);
      if (entry.parentNode) kept += text.length;
    }
    shorten();
  }

  // ---- running ----
  const past = [];        // statements that ended well, in order: what a restart runs again
  let generation = 0, current = Promise.resolve();
  async function fresh() {
    worker.terminate();
    forgetQuestions({ stopped: true });
    generation++;
    await start();
  }
  // A new worker, and in it the statements that ended well.
  async function restart(why) {
    const began = performance.now();
    await fresh();
    if (place) { await ask('lesson', { lesson: place.lesson, step: place.step, go: 'begin' }); tell(`${why} (the step begins again)`); return; }
    let again = 0;
    for (const text of past) {
      if (performance.now() - began > RESTORE_MS) break;
      const answer = await Promise.race([ask('run', { text }), new Promise(r => setTimeout(() => r(null), RESTORE_MS))]);
      if (!answer || answer.broken) { await fresh(); past.length = 0; tell(`${why} (the session begins anew: its statements could not be run again)`); return; }
      again++;
    }
    if (again === past.length) tell(`${why} (the session was restored: ${again} statement${again === 1 ? '' : 's'} ran again)`);
    else { tell(`${why} (only the first ${again} of ${past.length} statements ran again: names made later are lost)`); past.length = again; }
  }
  async function anew(why) {
    if (place) return beginLesson(place.lesson, place.step);
    past.length = 0;
    busy(true);
    await fresh();
    busy(false);
    tell(why);
    steps.length = 0;
    await picture('a new session');
  }
  function busy(on) {
    running = on;
    find('stop').disabled = !on;
    document.body.setAttribute('aria-busy', String(on));
    state.textContent = on ? 'running …' : 'ready';
  }
  // Whether the statement came to its end, be it by an error.
  async function run(text) {
    const mine = generation, entry = show(text);
    remember(text);
    busy(true);
    const taught = place && place.parts.task;
    let failed = false;
    const add = pieces => { failed = failed || pieces.some(p => p.stream === 2); append(entry, pieces); };
    if (stopped) Atomics.store(stopped, 0, 0);
    const answer = await (current = ask(taught ? 'attempt' : 'run', { text }, add));
    if (mine !== generation || answer.stopped) return false; // stop() says what became of it
    add(answer.printed);
    if (answer.broken) await restart(reasonOf(answer.broken));
    else if (answer.status >= 0) await anew('The session ended; this is a new one.');
    else {
      if (!failed) past.push(text);
      await picture(text);
      await list();
    }
    if (taught) await judged(answer);
    busy(false);
    return !answer.broken && answer.status < 0;
  }
  // By the shared number, which the evaluator reads; else, or where one long operation does not look at it, by a new worker.
  let stopping = false, asking = false, dropped = false; // asking whether a statement goes on; Ctrl+C drops it then
  async function stop() {
    if (asking) dropped = true;
    if (!running || stopping || asking) return;
    stopping = true;
    state.textContent = 'stopping …';
    if (stopped) Atomics.store(stopped, 0, 1);
    if (!stopped || !await Promise.race([current.then(() => true), new Promise(r => setTimeout(() => r(false), PATIENCE_MS))])) {
      await restart('KeyboardInterrupt');
      busy(false);
    }
    stopping = false;
    input.focus();
  }

  // ---- the input ----
  const key = 'tsr.history';
  let history = [], at = 0, queue = [];
  try { history = JSON.parse(localStorage.getItem(key) || '[]').filter(t => typeof t === 'string'); } catch (error) { history = []; }
  at = history.length;
  function remember(text) {
    if (text.trim() && text.length <= MOST_REMEMBERED && history[history.length - 1] !== text) history.push(text);
    history = history.slice(-500);
    at = history.length;
    try { localStorage.setItem(key, JSON.stringify(history)); } catch (error) { /* a page from a disk may keep nothing */ }
  }
  function grow() {
    input.rows = Math.min(24, input.value.split('\n').length);
    mark.textContent = input.value.includes('\n') ? '...' : '>>>';
  }
  function fill(text) { input.value = text; grow(); input.focus(); input.setSelectionRange(text.length, text.length); }
  function insert(text) { input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end'); grow(); }

  async function enter() {
    if (running) return;
    const text = input.value.replace(/\s+$/, '');
    if (!text && place && !place.parts.task) { busy(true); await nextStep(); busy(false); return; }
    if (place && (text === '?' || text === 'hint')) { fill(''); return hint(); }
    if (!text) { if (queue.length) fill(queue.shift()); else fill(''); return; }
    if (/^\s*>>> /m.test(text)) return paste(text);
    const whole = input.value.split('\n'), blank = whole.length > 1 && !whole[whole.length - 1].trim();
    busy(true);
    asking = true;
    dropped = false;
    const typed = input.value, { more, indent, broken } = await ask('goesOn', { text: blank ? `${text}\n\n` : text });
    asking = false;
    if (dropped) { busy(false); return fill(''); }
    if (more && !broken) {
      busy(false);
      input.setSelectionRange(input.value.length, input.value.length);
      return insert(`\n${' '.repeat(indent)}`);
    }
    fill(input.value.startsWith(typed) ? input.value.slice(typed.length) : ''); // what was typed meanwhile stays
    await run(text);
    if (queue.length) { fill(queue.shift()); tell(`${queue.length + 1} more: Enter runs the next`); }
  }
  // A transcript: its statements, one by one; answers in it are left out.
  function statements(text) {
    const found = [];
    for (const line of text.split('\n').map(l => l.replace(/^\s*(?=>>> |\.\.\. )/, ''))) {
      if (line.startsWith('>>> ')) found.push(line.slice(4));
      else if (line.startsWith('... ') && found.length) found[found.length - 1] += `\n${line.slice(4)}`;
    }
    return found;
  }
  async function paste(text) {
    fill('');
    for (const one of statements(text)) if (!await run(one)) break;
  }
  const wordBefore = () => /[\w.%]*$/.exec(input.value.slice(0, input.selectionStart))[0];
  async function complete() {
    const word = wordBefore();
    if (!word) return insert('    ');
    const { names } = await ask('complete', { word });
    let common = names[0] || word;
    for (const name of names) while (!name.startsWith(common)) common = common.slice(0, -1);
    if (common.length > word.length) insert(common.slice(word.length));
    offers.textContent = names.length > 1 ? names.slice(0, 60).join('  ') + (names.length > 60 ? ` and ${names.length - 60} more` : '') : names.length ? '' : 'no completion';
  }
  let leave = false; // Escape was pressed: Tab moves the focus on, as everywhere
  input.addEventListener('input', grow);
  input.addEventListener('keydown', event => {
    const before = input.value.slice(0, input.selectionStart), after = input.value.slice(input.selectionEnd);
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.isComposing;
    if (event.key === 'Escape') { leave = true; offers.textContent = ''; return; }
    if (event.key === 'Tab' && plain && !event.shiftKey && !leave) { event.preventDefault(); complete(); return; }
    leave = false;
    if (event.key === 'Enter' && plain && !event.shiftKey) { event.preventDefault(); offers.textContent = ''; enter(); }
    else if (event.key === 'ArrowUp' && plain && !before.includes('\n') && at > 0) { event.preventDefault(); fill(history[--at]); }
    else if (event.key === 'ArrowDown' && plain && !after.includes('\n') && at < history.length) { event.preventDefault(); fill(history[++at] || ''); }
    else if (event.key === 'l' && event.ctrlKey) { event.preventDefault(); log.replaceChildren(); }
  });
  addEventListener('keydown', event => {
    if (event.key !== 'c' || !event.ctrlKey || event.shiftKey || String(getSelection()) || input.selectionStart !== input.selectionEnd) return;
    event.preventDefault();
    if (running) stop(); else fill('');
  });
  find('form').onsubmit = event => { event.preventDefault(); enter(); };
  find('stop').onclick = stop;
  find('anew').onclick = async () => { if (!running) await anew('A new session.'); input.focus(); };

  // What a keyboard on glass lacks; it stays open.
  const presses = {
    tab: complete,
    up: () => { if (at > 0) fill(history[--at]); },
    down: () => { if (at < history.length) fill(history[++at] || ''); },
  };
  for (const button of find('touch').children) {
    button.onpointerdown = event => event.preventDefault();
    button.onclick = () => { (presses[button.value] || (() => insert(button.textContent)))(); input.focus(); };
  }

  // ---- the picture ----
  const steps = [], slider = find('slider'), box = find('picture'), step = find('step');
  const DRAWN = new Set(['svg', 'g', 'rect', 'text', 'tspan', 'path', 'line', 'circle', 'title', 'desc', 'defs', 'marker', 'polygon', 'polyline']);
  function keepDrawing(element) {
    for (const child of [...element.children]) if (DRAWN.has(child.localName)) keepDrawing(child); else child.remove();
    for (const { name } of [...element.attributes]) if (/^on|href|^style$/i.test(name)) element.removeAttribute(name);
  }
  function turn(n) {
    const now = steps[n - 1];
    if (!now) return;
    slider.max = steps.length;
    slider.value = n;
    find('back').disabled = n <= 1;
    find('next').disabled = n >= steps.length;
    step.textContent = `${n} of ${steps.length}: ${now.text}`;
    const inert = new DOMParser().parseFromString(now.svg, 'text/html').querySelector('svg');
    if (inert) keepDrawing(inert);
    box.replaceChildren(inert || make('p', '', 'No tensors.'));
  }
  async function picture(text) {
    const { svg } = await ask('picture');
    steps.push({ text: text.split('\n')[0], svg: svg || '' });
    if (steps.length > MOST_STEPS) steps.shift();
    turn(steps.length);
  }
  slider.oninput = () => turn(Number(slider.value));
  find('back').onclick = () => turn(Number(slider.value) - 1);
  find('next').onclick = () => turn(Number(slider.value) + 1);

  // ---- files ----
  const added = new Map(); // files by name: each worker gets them
  async function put(file) {
    let data;
    try { data = await file.arrayBuffer(); } catch (error) { return { broken: error.message }; }
    return ask('put', { name: nameOf(file), data }, undefined, [data]);
  }
  const nameOf = file => file.name.replace(/[\/\0]/g, '_');
  async function add(files) {
    for (const file of files) {
      const name = nameOf(file);
      if (file.size > MOST_FILE) { tell(`${name} has ${file.size} bytes: more than the ${MOST_FILE} that fit here`); continue; }
      const answer = await put(file);
      if (answer.broken) { tell(`${name} could not be read: ${answer.broken}`); continue; }
      added.set(name, file);
      tell(`${name} is here (${file.size} bytes), and stays in this page`);
      if (!input.value) fill(`x = load(${JSON.stringify(name)})`);
    }
  }
  function download(name) {
    const button = make('button', '', `Download ${name}`);
    button.type = 'button';
    button.onclick = async () => {
      const { data } = await ask('get', { name }), url = URL.createObjectURL(new Blob([data]));
      Object.assign(document.createElement('a'), { href: url, download: name }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    };
    return button;
  }
  async function list() {
    const { names } = await ask('files'), made = (names || []).filter(n => !added.has(n)), more = made.length - MOST_BUTTONS;
    find('saved').replaceChildren(...made.slice(0, MOST_BUTTONS).map(download), more > 0 ? `and ${more} more files` : '');
  }
  find('files').onchange = event => { add([...event.target.files]); event.target.value = ''; };
  addEventListener('dragover', event => { event.preventDefault(); document.body.classList.add('dropping'); });
  addEventListener('dragleave', () => document.body.classList.remove('dropping'));
  addEventListener('drop', event => { event.preventDefault(); document.body.classList.remove('dropping'); add([...event.dataTransfer.files]); });

  // ---- links: #c= and base64url of deflate of the statements, with an empty byte between them ----
  const packed = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);
  async function encode(list) {
    const bytes = new Uint8Array(await new Response(packed(new TextEncoder().encode(list.join('\0')), new CompressionStream('deflate-raw'))).arrayBuffer());
    let text = '';
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }
  // No more than MOST_LINK bytes are unpacked: a short link may hold gigabytes.
  async function decode(text) {
    const raw = Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
    const reader = packed(raw, new DecompressionStream('deflate-raw')).getReader(), decoder = new TextDecoder();
    let whole = '', size = 0;
    for (let piece; !(piece = await reader.read()).done && size <= MOST_LINK; size += piece.value.length) whole += decoder.decode(piece.value, { stream: true });
    reader.cancel();
    if (size > MOST_LINK) throw new Error('too long');
    return whole.split('\0');
  }
  // Characters that show a text in another order than it has.
  const TURNING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
  find('link').onclick = async () => {
    const hash = `#c=${await encode(past.length ? past : [input.value])}`;
    window.history.replaceState(null, '', hash);
    try { await navigator.clipboard.writeText(location.href); state.textContent = 'the link is copied'; } catch (error) { state.textContent = 'the link is in the address'; }
  };
  async function fromLink() {
    const lesson = /^#l=(\d{1,3})$/.exec(location.hash);
    if (lesson) { await beginLesson(Number(lesson[1]), 1); return; }
    const code = /^#c=([\w-]+)$/.exec(location.hash);
    if (!code) return;
    try {
      queue = (await decode(code[1])).filter(t => t.trim());
    } catch (error) { tell('The link holds no code that can be read, or too much of it.'); return; }
    tell(`A link brought ${queue.length} statement${queue.length === 1 ? '' : 's'}. Nothing runs before Enter.`);
    if (queue.some(text => TURNING.test(text))) tell('Characters in them turn the direction of the text: it may run otherwise than it reads.');
    if (queue.length) fill(queue.shift());
  }
  addEventListener('hashchange', fromLink);

  // ---- lessons ----
  const choose = find('choose'), prose = find('prose'), hints = find('hints');
  let course = [], taken = {}, place = null; // place: {lesson, step, count, parts, rung}
  try { taken = JSON.parse(localStorage.getItem('tsr.lessons') || '{}') || {}; } catch (error) { taken = {}; }
  function prosePut(box, text) { // paragraphs and fenced transcripts, as text
    text.split(/^```.*$/m).forEach((part, i) => {
      if (i % 2) box.append(make('pre', '', part.trim()));
      else for (const p of part.split(/\n\s*\n/)) if (p.trim()) box.append(make('p', '', p.trim().replace(/\s*\n\s*/g, ' ').replace(/`([^`]*)`/g, '$1')));
    });
  }
  const welcome = [...prose.childNodes];
  function leaveLesson(...said) {
    place = null;
    prose.replaceChildren(...said);
    hints.replaceChildren();
    find('moves').hidden = true;
    find('progress').textContent = '';
    pane(paneNow);
  }
  function showStep() {
    const { step, parts, lesson } = place;
    prose.replaceChildren();
    hints.replaceChildren();
    if (step === 1) prosePut(prose, parts.introduction);
    prose.append(make('h2', '', `${step} of ${place.count}: ${parts.heading}`));
    prosePut(prose, parts.body);
    if (parts.task) { const task = make('div', 'task', ''); prosePut(task, parts.task); prose.append(task); }
    else prose.append(make('p', 'task', 'Enter at the empty prompt goes on.'));
    find('progress').textContent = `lesson ${lesson}, step ${step} of ${place.count}`;
    find('moves').hidden = false;
    find('lesson').scrollTop = 0;
    pane(paneNow);
    tell(`Step ${step} of ${place.count}: ${parts.task || parts.heading}`);
  }
  async function beginLesson(lesson, step) {
    busy(true);
    past.length = 0;
    await fresh();
    const parts = await ask('lesson', { lesson, step, go: 'begin' });
    steps.length = 0;
    busy(false);
    if (!parts.count) { tell(`There is no lesson ${lesson}.`); leaveLesson(...welcome); return; }
    place = { lesson, step, count: parts.count, parts, rung: 0 };
    choose.value = String(lesson);
    showStep();
    await picture(`step ${step}`);
    input.focus();
  }
  async function nextStep() {
    taken[place.lesson] = Math.max(taken[place.lesson] || 0, place.step);
    try { localStorage.setItem('tsr.lessons', JSON.stringify(taken)); } catch (error) { /* kept for this page only */ }
    const parts = await ask('lesson', { lesson: place.lesson, go: 'next' });
    if (parts.over) {
      const { lesson } = place;
      tell(`That was lesson ${lesson}.`);
      leaveLesson(make('p', '', `That was lesson ${lesson}.`));
      if (lesson < course.length) prose.append(begins(lesson + 1));
      return;
    }
    place = { ...place, step: place.step + 1, parts, rung: 0 };
    showStep();
    await picture(`step ${place.step}`);
  }
  async function judged(answer) {
    if (answer.verdict === 'right') { tell('Right.'); await nextStep(); }
    else if (answer.verdict && answer.verdict !== 'looked')
      tell(`Not yet${answer.reason ? `: ${answer.reason}` : ''}.${answer.verdict === 'spoiled' ? ' That is undone: all is as it was before.' : ''}`);
  }
  function hint() {
    if (!place) return;
    const { parts } = place, text = parts.hints[place.rung++];
    const box = make('div', '', '');
    prosePut(box, text !== undefined ? text : `An answer:\n\n${parts.answer}`);
    for (const child of [...box.children]) { hints.append(child); tell(child.textContent); }
  }
  find('hint').onclick = () => { hint(); input.focus(); };
  find('again').onclick = () => place && beginLesson(place.lesson, place.step);
  find('skip').onclick = () => place && (place.step < place.count ? beginLesson(place.lesson, place.step + 1) : nextStep());
  choose.onchange = () => {
    const lesson = Number(choose.value);
    if (lesson) beginLesson(lesson, 1);
    else leaveLesson(...welcome);
  };
  function begins(lesson) {
    const button = make('button', '', `Begin lesson ${lesson}: ${course[lesson - 1]}`);
    button.type = 'button';
    button.onclick = () => { if (!running) beginLesson(lesson, 1); };
    return button;
  }
  async function lessons() {
    course = (await ask('lessons')).titles;
    course.forEach((title, i) => choose.append(Object.assign(document.createElement('option'), { value: String(i + 1), textContent: `${i + 1}. ${title}${taken[i + 1] ? ` (${taken[i + 1]} taken)` : ''}` })));
    const button = begins(1);
    welcome.push(button);
    prose.append(button);
  }

  // ---- panes of a narrow screen: one, but for a lesson under way, which stands above the prompt ----
  const tabs = [...find('tabs').children];
  let paneNow = 'prompt';
  function pane(name) {
    paneNow = name;
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.dataset.pane === name));
    for (const section of document.querySelectorAll('main > section')) section.classList.toggle('shown', section.id === name);
    find('lesson').classList.toggle('above', Boolean(place) && name === 'prompt');
  }
  tabs.forEach(tab => { tab.onclick = () => pane(tab.dataset.pane); });
  pane('prompt');

  // A page from a host is there without a network from the second time on.
  if (!find('held-tsr.wasm') && navigator.serviceWorker) navigator.serviceWorker.register('sw.js').catch(() => { /* the host may not have it */ });

  start().then(async () => {
    input.disabled = false;
    state.textContent = 'ready';
    input.focus();
    await lessons();
    await fromLink();
  }, error => { state.textContent = `tsr could not start: ${error.message}`; });
})();
