/**
 * How long it takes until a save of a plugin's file is live in `sluicegate dev`: `node benchmarks/micro/dev-saves.ts [saves]`. The client
 * sends a request every 2 ms, so that is the resolution.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get, type IncomingMessage } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const saves = Number(process.argv[2] ?? 100);
const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sluicegate-dev-saves-'));
const agent = new Agent({ keepAlive: true });

try {
  cpSync(join(root, 'examples/plugins/hello'), folder, { recursive: true });
  const { child, url } = await start();
  try {
    print(await measure(url));
  } finally {
    child.kill();
  }
} finally {
  agent.destroy();
  rmSync(folder, { recursive: true, force: true });
}

async function start(): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const listeners = ['--proxy-listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0', '--admin-gui-listen', 'off'];
  const argv = ['--disable-warning=ExperimentalWarning', join(root, 'src/main.ts'), 'dev', ...listeners];
  const child = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text;
    const url = /^ {2}proxy +(http:\S+)/m.exec(output)?.[1];
    if (url === undefined || !output.includes('Ctrl-C')) continue;
    return { child, url };
  }
  throw new Error(`sluicegate dev did not start:\n${output}`);
}

async function measure(url: string): Promise<readonly number[]> {
  const file = join(folder, 'handler.ts');
  const text = readFileSync(file, 'utf8');
  const times: number[] = [];
  for (let save = 1; save <= saves; save++) {
    const next = text.replace("setHeader('X-Greeted', name)", `setHeader('X-Greeted', 'save-${save}')`);
    const begun = performance.now();
    writeFileSync(`${file}.tmp`, next);
    renameSync(`${file}.tmp`, file);
    while (!(await bodyOf(url)).includes(`"save-${save}"`)) await wait(2);
    times.push(performance.now() - begun);
    await wait(50);
  }
  return times;
}

/** The echo repeats the header that the plugin sets. */
function bodyOf(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, async (response: IncomingMessage) => {
      let text = '';
      for await (const piece of response.setEncoding('utf8')) text += piece;
      resolve(text);
    }).on('error', reject);
  });
}

function print(times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number): string => (sorted[Math.floor((sorted.length - 1) * part)] ?? 0).toFixed(0);
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  process.stdout.write(`${saves} saves: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, max ${at(1)} ms (load ${load})\n`);
}
