// CPU time of a request through a gateway in an application, compared with a gateway of its own with one worker:
// node benchmarks/micro/embed.ts [--seconds 4] [--rounds 3]. Needs wrk.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createRawServer } from 'node:net';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';

const ways = ['own process', 'listen', 'handler', 'fetch', 'node:http alone'] as const;
type Way = (typeof ways)[number];

const answer = JSON.stringify({ id: 1, text: 'x'.repeat(214) });

if (process.env['EMBED_BENCH_WAY'] === undefined) await compare();
else if (process.env['EMBED_BENCH_WAY'] === 'backend') await backend();
else await serve(process.env['EMBED_BENCH_WAY'] as Way, process.env['EMBED_BENCH_BACKEND'] ?? '');

async function compare(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string' }, rounds: { type: 'string' } } });
  const [seconds, rounds] = [Number(values.seconds ?? 4), Number(values.rounds ?? 3)];
  const target = await start('backend');
  console.log(
    `load ${loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}, ${rounds} rounds of ${seconds} s, microseconds of CPU a request`,
  );
  for (const way of ways) {
    const server = await start(way, target.url);
    load(server.url, 1);
    const costs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = cpuTime(server.pid);
      const requests = load(server.url, seconds);
      costs.push((cpuTime(server.pid) - before) / requests);
    }
    console.log(
      `${way.padEnd(16)} ${Math.min(...costs)
        .toFixed(1)
        .padStart(6)}   (${costs.map((cost) => cost.toFixed(1)).join(', ')})`,
    );
    server.stop();
  }
  target.stop();
}

async function start(way: Way | 'backend', url = '') {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--conditions=sluicegate-source', import.meta.filename],
    {
      env: { ...process.env, EMBED_BENCH_WAY: way, EMBED_BENCH_BACKEND: url },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { url: String(line).trim(), pid: child.pid ?? 0, stop: () => child.kill() };
}

/** Requests that were answered. */
function load(url: string, seconds: number): number {
  const { stdout } = spawnSync('wrk', ['-t1', '-c32', `-d${seconds}s`, url], { encoding: 'utf8' });
  if (/Non-2xx/.test(stdout)) throw new Error(stdout);
  return Number(/(\d+) requests in/.exec(stdout)?.[1]);
}

/** Microseconds, of all threads of the process. */
function cpuTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function backend(): Promise<void> {
  const message = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${answer.length}\r\n\r\n${answer}`;
  const server = createRawServer((socket) => {
    // Requests without bodies that are not pipelined: one arrives in one piece.
    socket.on('data', () => socket.write(message));
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

async function serve(way: Way, url: string): Promise<void> {
  if (way === 'own process') {
    const { startTestGateway } = await import('../../test/support/gateway.ts');
    const gateway = await startTestGateway({
      settings: {
        proxyAccessLog: 'off',
        analytics: { enabled: false, maxSeries: 1, retention: { minute: 0, hour: 0, day: 0 } },
      },
    });
    await gateway.admin('POST', '/services', { name: 'a', url });
    await gateway.admin('POST', '/services/a/routes', { paths: ['/'] });
    console.log(gateway.proxyUrl);
    return;
  }
  if (way === 'node:http alone')
    return outer((_request, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer));
  const { createGateway } = await import('../../src/embed/index.ts');
  const gateway = await createGateway({
    config: { services: [{ name: 'a', url, routes: [{ name: 'a', paths: ['/'] }] }] },
  });
  if (way === 'listen') {
    const { host, port } = await gateway.listen({ port: 0 });
    console.log(`http://${host}:${port}`);
    return;
  }
  if (way === 'handler') return outer(gateway.handler);
  // As an adapter does it: a Request of each request, and its Response back.
  outer((request, response) => {
    const headers = new Headers(request.headers as Record<string, string>);
    void gateway.fetch(new Request(`http://${request.headers.host}${request.url}`, { headers })).then(async (made) => {
      response.writeHead(made.status, Object.fromEntries(made.headers));
      response.end(Buffer.from(await made.arrayBuffer()));
    });
  });
}

function outer(listener: RequestListener): void {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}
