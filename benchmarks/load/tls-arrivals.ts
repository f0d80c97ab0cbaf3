// Opens TLS connections at a fixed rate, whatever the server does, and sends one request over each. Arguments: port, path and
// connections per second. It prints a line when it begins; when its input ends, how many it opened, and how many failed.
import { request } from 'node:https';

const [port = '', path = '/', rate = '100'] = process.argv.slice(2);
/** Milliseconds. */
const tick = 10;
const timeout = 5_000;
const begun = performance.now();
let opened = 0;
let failed = 0;

const timer = setInterval(() => {
  const due = ((performance.now() - begun) / 1000) * Number(rate);
  while (opened < due) open();
}, tick);

function open(): void {
  opened++;
  const options = { host: '127.0.0.1', port, path, agent: false, rejectUnauthorized: false, timeout };
  const one = request(options, (answer) => {
    if (answer.statusCode !== 200) failed++;
    answer.resume();
  });
  one.on('timeout', () => one.destroy(new Error('timeout')));
  one.on('error', () => failed++);
  one.end();
}

process.stdout.write('begun\n');
process.stdin.resume().on('end', () => {
  clearInterval(timer);
  process.stdout.write(JSON.stringify({ opened, failed }), () => process.exit());
});
