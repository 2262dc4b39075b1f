// Runs the program. In: {id, op, ...}; out: {id, ...}, with what was printed as text. The first message brings the program itself.
'use strict';
const MOST_OUTPUT = 1 << 20;
let tsr = null, lines = 1, printed = [], dropped = 0;

// Bytes of both streams in the order in which they came, in pieces of one stream.
function collector(stream) {
  return byte => {
    if (byte === null) return;
    let last = printed[printed.length - 1];
    if (!last || last.stream !== stream) printed.push(last = { stream, bytes: [] });
    if (last.bytes.length < MOST_OUTPUT) last.bytes.push(byte & 255);
    else dropped++;
  };
}
function takePrinted() {
  const pieces = printed.map(p => ({ stream: p.stream, text: new TextDecoder().decode(new Uint8Array(p.bytes)) }));
  if (dropped > 0) pieces.push({ stream: 2, text: `\n(${dropped} more bytes are not shown)\n` });
  printed = [];
  dropped = 0;
  return pieces;
}
function textOf(address) {
  const text = address ? tsr.UTF8ToString(address) : '';
  if (address) tsr._free(address);
  return text;
}
function call(name, types, values, result = 'number') { return tsr.ccall(name, result, types, values); }

const operations = {
  async start({ wasm, script, stop }) {
    (0, eval)(`${script}\n;self.createTsr = createTsr;`);
    tsr = await self.createTsr({ noInitialRun: true, wasmBinary: wasm, stdin: () => null, stdout: collector(1), stderr: collector(2) });
    tsr.FS.chdir('/home/web_user');
    const status = call('web_start', [], []);
    if (stop) {
      self.tsrStop = new Int32Array(stop);
      call('web_listen', [], [], null);
    }
    return { status };
  },
  goesOn: ({ text }) => ({ more: call('web_goes_on', ['string'], [text]) !== 0, indent: call('web_indent', ['string'], [`${text}\n`]) }),
  run({ text }) {
    const began = performance.now(), status = call('web_run', ['string', 'number'], [text, lines]);
    lines += text.split('\n').length;
    return { status, ms: performance.now() - began };
  },
  complete: ({ word }) => ({ names: textOf(call('web_complete', ['string'], [word])).split('\n').filter(Boolean) }),
  picture: () => ({ svg: textOf(call('web_picture', [], [])) }),
  lessons() {
    const titles = [];
    for (let n = 1, at; (at = call('web_lesson_title', ['number'], [n])) !== 0; n++) titles.push(textOf(at));
    return { titles };
  },
  lesson({ lesson, step, go }) {
    const count = go === 'begin' ? call('web_lesson_begin', ['number', 'number'], [lesson, step]) : 0;
    if (go === 'next' && call('web_lesson_next', [], []) === 0) return { over: true };
    const part = (name, index = 0) => textOf(call('web_lesson_part', ['number', 'string', 'number'], [lesson, name, index]));
    const hints = [];
    for (let hint; (hint = part('hint', hints.length)) !== ''; ) hints.push(hint);
    const parts = { count, hints, introduction: part('introduction'), heading: part('heading'), body: part('body'), task: part('task'), answer: part('answer') };
    call('web_lesson_show', [], [], null);
    takePrinted(); // the page shows the file's text, whose transcripts are tested
    return parts;
  },
  attempt({ text }) {
    const [verdict, ...reason] = textOf(call('web_lesson_try', ['string'], [text])).split('\n');
    return { status: -1, verdict, reason: reason.join('\n') };
  },
  put({ name, data }) {
    tsr.FS.writeFile(name, new Uint8Array(data));
    return {};
  },
  files: () => ({ names: tsr.FS.readdir('.').filter(n => n !== '.' && n !== '..' && tsr.FS.isFile(tsr.FS.stat(n).mode)) }),
  get: ({ name }) => ({ data: tsr.FS.readFile(name).slice().buffer }),
};

onmessage = async ({ data }) => {
  let answer;
  try {
    answer = await operations[data.op](data);
  } catch (error) { // the program itself broke off: memory, the browser's own stack
    answer = { broken: String(error && error.message || error) };
  }
  postMessage({ id: data.id, printed: takePrinted(), ...answer });
};
