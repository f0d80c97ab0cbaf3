import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './file-end.ts';
import { readLinesUntil } from './output-lines.ts';

/** Milliseconds for an answer. */
const limit = 30_000;

/** A throw-away Prometheus server on a port of 127.0.0.1 that scrapes some addresses. */
export interface TestPrometheus extends AsyncDisposable {
  readonly url: string;
  /** Answers an instant query: the labels and the value of each series. */
  query(expression: string): Promise<readonly PrometheusSample[]>;
  /** The outcome of the last scrape of each job; `null`: not scraped yet. */
  targets(): Promise<Readonly<Record<string, ScrapeTarget>>>;
  /** The type of each metric, from the pages. */
  types(): Promise<Readonly<Record<string, string>>>;
  stop(): Promise<void>;
}

export interface PrometheusSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ScrapeTarget {
  readonly health: 'up' | 'down' | 'unknown';
  /** Empty without an error. */
  readonly lastError: string;
  /** Seconds. */
  readonly lastScrapeDuration: number;
}

/** For the `skip` option of tests, as `skipWithoutRedis`. */
export function skipWithoutPrometheus(): string | false {
  try {
    execFileSync('prometheus', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    const reason = 'needs Prometheus: apt-get install prometheus';
    if (process.env['CI'] === 'true') throw new Error(reason);
    return reason;
  }
}

/** The complaints of `promtool check metrics` about a page; '' without any. */
export function checkWithPromtool(page: string): string {
  const { stdout, stderr, error } = spawnSync('promtool', ['check', 'metrics'], { input: page, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return `${stdout}${stderr}`.trim();
}

export interface TestPrometheusOptions {
  /** Pages to scrape, by the name of their job: `{ node: 'http://127.0.0.1:8100/metrics' }`. */
  readonly jobs: Readonly<Record<string, string>>;
  /** Interval between two scrapes, in milliseconds. Default 300. */
  readonly interval?: number;
  /** Timeout of a scrape, in milliseconds. Default: the interval. */
  readonly timeout?: number;
}

export async function startPrometheus({
  jobs,
  interval = 300,
  timeout = interval,
}: TestPrometheusOptions): Promise<TestPrometheus> {
  const directory = mkdtempSync(join(tmpdir(), 'sluicegate-prometheus-'));
  const config = join(directory, 'prometheus.yml');
  writeFileSync(config, JSON.stringify(configOf(jobs, interval, timeout)));
  const server = spawn(
    'prometheus',
    [`--config.file=${config}`, `--storage.tsdb.path=${join(directory, 'data')}`, '--web.listen-address=127.0.0.1:0'],
    { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const killAtExit = (): void => void server.kill('SIGKILL');
  process.once('exit', killAtExit);
  const stop = async (): Promise<void> => {
    process.off('exit', killAtExit);
    const exited = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : null;
    server.kill('SIGKILL');
    await exited;
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const url = await readyAt(server);
    return { url, ...questions(url), stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** JSON is YAML. */
function configOf(jobs: Readonly<Record<string, string>>, interval: number, timeout: number): unknown {
  return {
    global: { scrape_interval: `${interval}ms`, scrape_timeout: `${timeout}ms` },
    scrape_configs: Object.entries(jobs).map(([job, address]) => {
      const { host, pathname } = new URL(address);
      return { job_name: job, metrics_path: pathname, static_configs: [{ targets: [host] }] };
    }),
  };
}

/** Its listener and its storage start side by side: either may be first. */
async function readyAt({ stderr }: ChildProcess): Promise<string> {
  let address = '';
  let ready = false;
  await readLinesUntil('Prometheus', stderr, (line) => {
    address = /msg="Listening on" address=(\S+)/.exec(line)?.[1] ?? address;
    ready ||= line.includes('Server is ready to receive web requests');
    return ready && address !== '';
  });
  return `http://${address}`;
}

function questions(url: string): Pick<TestPrometheus, 'query' | 'targets' | 'types'> {
  const ask = async (path: string): Promise<unknown> => {
    const answer = (await (await fetch(url + path, { signal: AbortSignal.timeout(limit) })).json()) as {
      readonly status: string;
      readonly data: unknown;
    };
    if (answer.status !== 'success') throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return {
    async query(expression) {
      const { result } = (await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`)) as {
        readonly result: readonly {
          readonly metric: Record<string, string>;
          readonly value: readonly [number, string];
        }[];
      };
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }));
    },
    async targets() {
      const { activeTargets } = (await ask('/api/v1/targets')) as {
        readonly activeTargets: readonly (ScrapeTarget & { readonly scrapePool: string })[];
      };
      return Object.fromEntries(activeTargets.map((target) => [target.scrapePool, target]));
    },
    async types() {
      const metadata = (await ask('/api/v1/metadata')) as Record<string, readonly { readonly type: string }[]>;
      return Object.fromEntries(Object.entries(metadata).map(([name, found]) => [name, found[0]?.type ?? '']));
    },
  };
}
