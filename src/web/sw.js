// Keeps the page for use without a network, and isolates it by two headers, so that Ctrl+C reaches a running program by shared memory.
'use strict';
const NAME = 'tsr-VERSION', FILES = ['./', 'index.html', 'page.css', 'page.js', 'worker.js', 'tsr.js', 'tsr.wasm'];

async function keep() {
  const cache = await caches.open(NAME);
  await cache.addAll(FILES.map(name => new Request(name, { cache: 'reload' })));
  await skipWaiting();
}
async function takeOver() {
  const old = (await caches.keys()).filter(name => name.startsWith('tsr-') && name !== NAME);
  await Promise.all(old.map(name => caches.delete(name)));
  await clients.claim();
}
function isolated(answer) {
  const headers = new Headers(answer.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers });
}
async function answer(request) {
  const held = await (await caches.open(NAME)).match(request, { ignoreSearch: true });
  return isolated(held || await fetch(request));
}

addEventListener('install', event => event.waitUntil(keep()));
addEventListener('activate', event => event.waitUntil(takeOver()));
addEventListener('fetch', event => {
  if (event.request.method === 'GET' && new URL(event.request.url).origin === location.origin) event.respondWith(answer(event.request));
});
