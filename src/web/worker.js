// Runs the program, whose script comes before this one in the same file. In: {id, op, ...}; out: {id, part: [...]}, what was printed
// so far, and at the end {id, printed: [...], ...}. Both are pieces of {stream, text}: 1 output, 2 errors.
const MOST_OUTPUT = 1 << 18, MOST_PIECES = 1000, PART_MS = 50; // of one statement, what a page can show
let tsr = null, lines = 1;

// ---- what is printed ----
const decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
let pieces = [], answered = 0, sent = 0, shown = 0, changes = 0, dropped = 0, lastStream = 0;

function collect(stream, bytes) {
  if (stream !== lastStream) changes++;
  lastStream = stream;
  const room = changes > MOST_PIECES ? 0 : Math.min(MOST_OUTPUT - shown, bytes.length);
  if (room > 0) pieces.push({ stream, text: decoders[stream].decode(bytes.subarray(0, room), { stream: true }) });
  shown += room;
  dropped += bytes.length - room;
  if (answered && pieces.length && performance.now() - sent >= PART_MS) {
    postMessage({ id: answered, part: pieces });
    pieces = [];
    sent = performance.now();
  }
}
function takePrinted() {
  for (const stream of [1, 2]) {
    const rest = decoders[stream].decode();
    if (rest) pieces.push({ stream, text: rest });
  }
  if (dropped > 0) pieces.push({ stream: 2, text: `\n(${dropped} more bytes are not shown)\n` });
  const taken = pieces;
  pieces = [];
  shown = changes = dropped = lastStream = 0;
  return taken;
}
// A whole buffer at a time: the device's own way is a call for each byte.
function printTo(stream) {
  tsr.FS.streams[stream].stream_ops.write = (_, buffer, offset, length) => { collect(stream, buffer.subarray(offset, offset + length)); return length; };
}

// ---- what the page asks ----
function textOf(address) {
  const text = address ? tsr.UTF8ToString(address) : '';
  if (address) tsr._free(address);
  return text;
}
function call(name, types, values, result = 'number') { return tsr.ccall(name, result, types, values); }

const operations = {
  async start({ wasm, stop }) {
    tsr = await createTsr({ wasmBinary: wasm, stdin: () => null, stdout() {}, stderr() {} });
    printTo(1);
    printTo(2);
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
    const status = call('web_run', ['string', 'number'], [text, lines]);
    lines += text.split('\n').length;
    return { status };
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
    tsr.FS.writeFile(name, new Uint8Array(data), { canOwn: true });
    return {};
  },
  files: () => ({ names: tsr.FS.readdir('.').filter(n => n !== '.' && n !== '..' && tsr.FS.isFile(tsr.FS.stat(n).mode)) }),
  get: ({ name }) => ({ data: tsr.FS.readFile(name).slice().buffer }),
};

onmessage = async ({ data }) => {
  let answer;
  answered = data.op === 'run' || data.op === 'attempt' ? data.id : 0;
  sent = performance.now();
  try {
    answer = await operations[data.op](data);
  } catch (error) { // the program itself broke off: memory, the browser's own stack
    answer = { broken: String(error && error.message || error) };
  }
  postMessage({ id: data.id, printed: takePrinted(), ...answer });
};
