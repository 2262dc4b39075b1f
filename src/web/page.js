// The page around the worker that runs the program: input, answers, pictures, files, links. Whatever the program or a link brings is
// put into the page as text; pictures are taken apart and only what they draw is kept.
'use strict';
(() => {
  const find = id => document.getElementById(id);
  const make = (tag, className, text) => Object.assign(document.createElement(tag), { className, textContent: text });
  const input = find('input'), log = find('log'), mark = find('mark'), offers = find('offers'), state = find('state');
  const MOST_SHOWN = 400, MOST_FILE = 2 ** 30, RESTORE_MS = 2000, PATIENCE_MS = 500, MOST_STEPS = 200;

  // ---- the worker ----
  let worker, parts, number = 0, waiting = new Map(), running = false;
  // Where the host isolates the page (its headers, or sw.js), the worker shares a number with it: 1 asks a running program to stop.
  const stopped = self.crossOriginIsolated ? new Int32Array(new SharedArrayBuffer(4)) : null;

  async function bytesOf(name) {
    const held = find(`held-${name}`);
    if (!held) return (await fetch(name)).arrayBuffer();
    const raw = Uint8Array.from(atob(held.textContent), c => c.charCodeAt(0));
    return new Response(new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
  }
  async function load() {
    const [wasm, script, body] = await Promise.all(['tsr.wasm', 'tsr.js', 'worker.js'].map(bytesOf));
    const text = bytes => new TextDecoder().decode(bytes);
    return { wasm, script: text(script), url: URL.createObjectURL(new Blob([text(body)], { type: 'text/javascript' })) };
  }
  function ask(op, more = {}) {
    return new Promise((resolve, reject) => {
      waiting.set(++number, { resolve, reject });
      worker.postMessage({ id: number, op, ...more });
    });
  }
  async function start() {
    parts = parts || await load();
    worker = new Worker(parts.url);
    worker.onmessage = ({ data }) => {
      const one = waiting.get(data.id);
      waiting.delete(data.id);
      if (one) one.resolve(data);
    };
    worker.onerror = event => {
      for (const one of waiting.values()) one.resolve({ broken: event.message || 'the worker ended', printed: [] });
      waiting.clear();
    };
    const answer = await ask('start', { wasm: parts.wasm, script: parts.script, stop: stopped && stopped.buffer });
    if (answer.broken || answer.status !== 0) throw new Error(answer.broken || 'the program did not start');
    for (const [name, data] of added) await ask('put', { name, data });
  }

  // ---- what was said ----
  function tell(text) { log.append(make('p', 'told', text)); log.parentElement.scrollTop = log.parentElement.scrollHeight; }
  function show(typed, answer) {
    const entry = make('div', 'entry', ''), head = make('pre', 'typed', typed.split('\n').map((l, i) => (i ? '... ' : '>>> ') + l).join('\n'));
    head.title = 'click: back to the input';
    head.onclick = () => fill(typed);
    entry.append(head);
    for (const piece of answer.printed) entry.append(make('pre', piece.stream === 2 ? 'error' : 'out', piece.text.replace(/\n$/, '')));
    log.append(entry);
    while (log.children.length > MOST_SHOWN) log.firstChild.remove();
    entry.scrollIntoView({ block: 'end' });
    find('prompt').scrollTop = find('prompt').scrollHeight;
  }

  // ---- running ----
  const past = [];        // statements that ended well, in order: what a restart runs again
  let generation = 0, current = Promise.resolve();
  async function restart(why) {
    worker.terminate();
    for (const one of waiting.values()) one.resolve({ stopped: true, printed: [] });
    waiting.clear();
    generation++;
    const began = performance.now();
    await start();
    if (place) { await ask('lesson', { lesson: place.lesson, step: place.step, go: 'begin' }); tell(`${why} (the step begins again)`); return; }
    let again = 0;
    for (const text of past) {
      if (performance.now() - began > RESTORE_MS) break;
      const answer = await Promise.race([ask('run', { text }), new Promise(r => setTimeout(() => r(null), RESTORE_MS))]);
      if (!answer || answer.broken) { worker.terminate(); await start(); past.length = 0; again = 0; tell(`${why} (the session begins anew: its statements could not be run again)`); return; }
      again++;
    }
    if (again === past.length) tell(`${why} (the session was restored: ${again} statement${again === 1 ? '' : 's'} ran again)`);
    else { tell(`${why} (only the first ${again} of ${past.length} statements ran again: names made later are lost)`); past.length = again; }
  }
  function busy(on) {
    running = on;
    find('stop').disabled = !on;
    document.body.setAttribute('aria-busy', String(on));
    state.textContent = on ? 'running …' : 'ready';
  }
  async function run(text) {
    const mine = generation;
    remember(text);
    busy(true);
    const taught = place && place.parts.task;
    if (stopped) Atomics.store(stopped, 0, 0);
    const answer = await (current = ask(taught ? 'attempt' : 'run', { text }));
    if (mine !== generation || answer.stopped) { show(text, { printed: [] }); return; } // stop() says what became of it
    show(text, answer);
    if (answer.broken) await restart(`The program broke off: ${answer.broken}`);
    else if (answer.status >= 0) { past.length = 0; await restart('The session ended'); }
    else {
      if (!answer.printed.some(p => p.stream === 2)) past.push(text);
      await picture(text);
      await list();
    }
    if (taught) await judged(answer);
    busy(false);
  }
  // By the shared number, which the evaluator reads; else, or where one long operation does not look at it, by a new worker.
  async function stop() {
    if (!running) return;
    state.textContent = 'stopping …';
    if (stopped) {
      Atomics.store(stopped, 0, 1);
      if (await Promise.race([current.then(() => true), new Promise(r => setTimeout(() => r(false), PATIENCE_MS))])) { input.focus(); return; }
    }
    await restart('KeyboardInterrupt');
    busy(false);
    input.focus();
  }

  // ---- the input ----
  const key = 'tsr.history';
  let history = [], at = 0, queue = [];
  try { history = JSON.parse(localStorage.getItem(key) || '[]').filter(t => typeof t === 'string'); } catch (error) { history = []; }
  at = history.length;
  function remember(text) {
    if (text.trim() && history[history.length - 1] !== text) history.push(text);
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
    if (!text && place && !place.parts.task) return nextStep();
    if (place && (text === '?' || text === 'hint')) { fill(''); return hint(); }
    if (!text) { if (queue.length) fill(queue.shift()); else fill(''); return; }
    if (/^\s*>>> /m.test(text)) return paste(text);
    const whole = input.value.split('\n'), blank = whole.length > 1 && !whole[whole.length - 1].trim();
    const { more, indent, broken } = await ask('goesOn', { text: blank ? `${text}\n\n` : text });
    if (more && !broken) { input.setSelectionRange(input.value.length, input.value.length); return insert(`\n${' '.repeat(indent)}`); }
    fill('');
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
    for (const one of statements(text)) await run(one);
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
  const added = new Map();
  async function add(files) {
    for (const file of files) {
      if (file.size > MOST_FILE) { tell(`${file.name} has ${file.size} bytes: more than the ${MOST_FILE} that fit here`); continue; }
      const data = await file.arrayBuffer(), name = file.name.replace(/[\/\0]/g, '_');
      added.set(name, data);
      const answer = await ask('put', { name, data });
      if (answer.broken) tell(`${name} could not be kept: ${answer.broken}`);
      else { tell(`${name} is here (${file.size} bytes), and stays in this page`); if (!input.value) fill(`x = load(${JSON.stringify(name)})`); }
    }
  }
  async function list() {
    const { names } = await ask('files'), saved = find('saved');
    saved.replaceChildren(...(names || []).filter(n => !added.has(n)).map(name => {
      const button = make('button', '', `Download ${name}`);
      button.type = 'button';
      button.onclick = async () => {
        const { data } = await ask('get', { name }), url = URL.createObjectURL(new Blob([data]));
        Object.assign(document.createElement('a'), { href: url, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(url), 1000);
      };
      return button;
    }));
  }
  find('files').onchange = event => add(event.target.files);
  addEventListener('dragover', event => { event.preventDefault(); document.body.classList.add('dropping'); });
  addEventListener('dragleave', () => document.body.classList.remove('dropping'));
  addEventListener('drop', event => { event.preventDefault(); document.body.classList.remove('dropping'); add(event.dataTransfer.files); });

  // ---- links: #c= and base64url of deflate of the statements, with an empty byte between them ----
  const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  async function encode(list) {
    const packed = await through(new TextEncoder().encode(list.join('\0')), new CompressionStream('deflate-raw'));
    return btoa(String.fromCharCode(...packed)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
  }
  async function decode(text) {
    const raw = Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
    return new TextDecoder().decode(await through(raw, new DecompressionStream('deflate-raw'))).slice(0, 100000).split('\0');
  }
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
      tell(`A link brought ${queue.length} statement${queue.length === 1 ? '' : 's'}. Nothing runs before Enter.`);
      if (queue.length) fill(queue.shift());
    } catch (error) { tell('The link holds no code that can be read.'); }
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
    tell(`Step ${step} of ${place.count}: ${parts.task || parts.heading}`);
  }
  async function beginLesson(lesson, step) {
    busy(true);
    past.length = 0;
    worker.terminate();
    await start();
    const parts = await ask('lesson', { lesson, step, go: 'begin' });
    busy(false);
    if (!parts.count) { tell(`There is no lesson ${lesson}.`); place = null; return; }
    place = { lesson, step, count: parts.count, parts, rung: 0 };
    choose.value = String(lesson);
    showStep();
    input.focus();
  }
  async function nextStep() {
    taken[place.lesson] = Math.max(taken[place.lesson] || 0, place.step);
    try { localStorage.setItem('tsr.lessons', JSON.stringify(taken)); } catch (error) { /* kept for this page only */ }
    const parts = await ask('lesson', { lesson: place.lesson, go: 'next' });
    if (parts.over) {
      tell(`That was lesson ${place.lesson}.`);
      prose.replaceChildren(make('p', '', `That was lesson ${place.lesson}. ${place.lesson < course.length ? 'The next one is in the list.' : ''}`));
      find('moves').hidden = true;
      hints.replaceChildren();
      place = null;
      return;
    }
    place = { ...place, step: place.step + 1, parts, rung: 0 };
    showStep();
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
    else { place = null; prose.replaceChildren(); hints.replaceChildren(); find('moves').hidden = true; find('progress').textContent = ''; }
  };
  async function lessons() {
    course = (await ask('lessons')).titles;
    course.forEach((title, i) => choose.append(Object.assign(document.createElement('option'), { value: String(i + 1), textContent: `${i + 1}. ${title}${taken[i + 1] ? ` (${taken[i + 1]} taken)` : ''}` })));
  }

  // ---- panes of a narrow screen ----
  const tabs = [...find('tabs').children];
  function pane(name) {
    for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.dataset.pane === name));
    for (const section of document.querySelectorAll('main > section')) section.classList.toggle('shown', section.id === name);
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
