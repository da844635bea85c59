// A stream of whole pictures: one that was missed does not matter, the next one says all.

const AGAIN_MS = 2000;
const SILENT_MS = 30_000; // the front says at least every ten seconds that it is there

// Follows an address until the function that is returned is called. `take` gets each picture, `lost` whether the front is away.
export function follow(address, take, lost) {
  let source = null;
  let again = 0;
  let heard = 0;
  let away = 0;

  const fine = () => {
    heard = performance.now();
    clearTimeout(away);
    away = 0;
    lost(false);
  };
  const failed = () => {
    away ||= setTimeout(() => lost(true), 5000);
    if (source.readyState !== EventSource.CLOSED) return;
    clearTimeout(again);
    again = setTimeout(connect, AGAIN_MS * (0.5 + Math.random()));
  };
  function connect() {
    source?.close();
    heard = performance.now();
    source = new EventSource(address);
    source.onmessage = (event) => {
      fine();
      take(JSON.parse(event.data));
    };
    source.addEventListener("alive", fine);
    source.onerror = failed;
  }
  // A network that is gone ends no connection by itself.
  const watch = setInterval(() => {
    if (performance.now() - heard < SILENT_MS) return;
    lost(true);
    connect();
  }, 1000);
  connect();
  addEventListener("online", connect);
  return () => {
    source.close();
    [again, away].forEach(clearTimeout);
    clearInterval(watch);
    removeEventListener("online", connect);
  };
}
