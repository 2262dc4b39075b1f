// Shows one step at a time: buttons, a slider, the arrow keys, a click on a line of the program, and #s7 in the address.
'use strict';
(() => {
  const steps = [...document.querySelectorAll('.step')];
  const lines = [...document.querySelectorAll('.program li')];
  if (steps.length === 0) return;
  const lineOf = step => lines[step.dataset.line - 1];
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const controls = make('nav', { className: 'controls' });
  const back = make('button', { type: 'button', textContent: 'Back' });
  const next = make('button', { type: 'button', textContent: 'Next' });
  const slider = make('input', { type: 'range', min: 1, max: steps.length, value: 1 });
  const told = make('output', {});
  controls.setAttribute('aria-label', 'steps');
  slider.setAttribute('aria-label', 'step');
  told.setAttribute('aria-live', 'polite');
  controls.append(back, slider, next, told);
  document.querySelector('header').after(controls);
  document.body.classList.add('stepping');
  let now = 0;

  function show(n, remember) {
    now = Math.max(0, Math.min(steps.length - 1, n));
    steps.forEach((step, i) => step.classList.toggle('now', i === now));
    lines.forEach(line => line.classList.remove('now'));
    const line = lineOf(steps[now]);
    if (line) {
      line.classList.add('now');
      const box = line.parentElement;
      if (line.offsetTop < box.scrollTop || line.offsetTop + line.offsetHeight > box.scrollTop + box.clientHeight)
        box.scrollTop = line.offsetTop - box.clientHeight / 2;
    }
    slider.value = now + 1;
    told.textContent = `step ${now + 1} of ${steps.length}`;
    const held = document.activeElement; // a button that is switched off would lose the keyboard
    back.disabled = now === 0;
    next.disabled = now === steps.length - 1;
    if (held.disabled) (held === next ? back : next).focus();
    if (remember) history.replaceState(null, '', `#${steps[now].id}`);
  }
  function fromAddress() {
    const n = steps.findIndex(step => `#${step.id}` === location.hash);
    show(n < 0 ? now : n, false);
  }
  back.onclick = () => show(now - 1, true);
  next.onclick = () => show(now + 1, true);
  slider.oninput = () => show(slider.value - 1, true);
  addEventListener('hashchange', fromAddress);
  addEventListener('keydown', event => {
    if (event.target === slider || event.ctrlKey || event.altKey || event.metaKey) return;
    const to = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0,
                 End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to, true);
  });
  lines.forEach((line, i) => {
    const first = steps.findIndex(step => Number(step.dataset.line) === i + 1);
    if (first < 0) return;
    line.classList.add('can');
    line.onclick = () => {
      const later = steps.findIndex((step, k) => k > now && Number(step.dataset.line) === i + 1);
      show(later < 0 ? first : later, true);
    };
  });
  fromAddress();
})();
