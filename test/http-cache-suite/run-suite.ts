import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { plainFetch } from './plain-fetch.ts';
import { loadSuite, type SuitePackage } from './suite-package.ts';
import type { RawResult, SuiteTest, TestSuite } from './suite-types.ts';

/**
 * `pass`, `fail`: of a required test. `optimal`, `not optimal`: of an optional one. `yes`, `no`: of one that only reports
 * what a cache does. `setup`: the tested situation did not occur, so there is no result. `dependency`: a test that it builds on
 * did not pass.
 */
export type Outcome = 'pass' | 'fail' | 'optimal' | 'not optimal' | 'yes' | 'no' | 'setup' | 'dependency';

export interface TestResult {
  readonly suite: string;
  readonly id: string;
  readonly name: string;
  readonly kind: NonNullable<SuiteTest['kind']>;
  readonly outcome: Outcome;
  /** The failure; '' if there was none. */
  readonly detail: string;
}

/** The configuration of the cache under test: it applies the cache headers of answers, and stores everything that may be stored. */
export const suiteConfig = {
  strategy: 'memory',
  cache_control: true,
  request_method: ['GET', 'HEAD'],
  response_code: [
    200, 203, 204, 299, 301, 302, 303, 307, 308, 400, 404, 405, 410, 414, 499, 500, 501, 502, 503, 504, 599,
  ],
  content_type: ['*/*'],
};

/** Runs the whole suite through a gateway whose every route has the cache. Can be called once in a process. */
export async function runSuite(): Promise<readonly TestResult[]> {
  const { suites, runTests, getResults, handlers } = await loadSuite();
  const origin = createServer((request, response) => answer(handlers, request, response));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  await using gateway = await startTestGateway({ settings: { plugins: ['proxy-cache'] } });
  await configure(gateway, port);
  await runTests(suites, plainFetch, false, gateway.proxyUrl, 1000);
  origin.closeAllConnections();
  origin.close();
  return resultsOf(suites, getResults());
}

async function configure(gateway: TestGateway, port: number): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  for (const [path, body] of [
    ['/services/origin', { url, retries: 0 }],
    ['/services/origin/routes/all', { paths: ['/'], strip_path: false }],
    ['/plugins/7f6b8c1e-0000-4000-8000-00000000cac4', { name: 'proxy-cache', config: suiteConfig }],
  ] as const) {
    const written = await gateway.admin('PUT', path, body);
    if (written.status >= 300) throw new Error(`${path}: ${JSON.stringify(written.body)}`);
  }
}

function answer(handlers: SuitePackage['handlers'], request: IncomingMessage, response: ServerResponse): void {
  const [, kind = '', ...segments] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
  if (kind === 'config' || kind === 'test' || kind === 'state') handlers[kind](segments, request, response);
  else response.writeHead(404).end();
}

function resultsOf(all: readonly TestSuite[], raw: Readonly<Record<string, RawResult>>): readonly TestResult[] {
  const tests = new Map(all.flatMap((suite) => suite.tests.map((test) => [test.id, test] as const)));
  const outcomeOf = (test: SuiteTest): Outcome => {
    const builtOn = (test.depends_on ?? []).map((id) => tests.get(id)).filter((one) => one !== undefined);
    const held = builtOn.every((one) => ['pass', 'optimal', 'yes'].includes(outcomeOf(one)));
    if (!held) return 'dependency';
    const result = raw[test.id];
    if (result !== undefined && result !== true && result[0] === 'Setup') return 'setup';
    const good = result === true;
    if (test.kind === 'optimal') return good ? 'optimal' : 'not optimal';
    if (test.kind === 'check') return good ? 'yes' : 'no';
    return good ? 'pass' : 'fail';
  };
  return all.flatMap((suite) =>
    suite.tests
      .filter((test) => test.browser_only !== true)
      .map((test) => {
        const result = raw[test.id];
        const detail = result === undefined ? 'did not run' : result === true ? '' : result[1];
        const { id, name, kind = 'required' } = test;
        return { suite: suite.name, id, name, kind, outcome: outcomeOf(test), detail };
      }),
  );
}
