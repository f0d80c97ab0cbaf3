import assert from 'node:assert/strict';
import { type BackendHandler, startBackend } from '../support/backend.ts';
import { CertificateAuthority } from '../support/certificate-authority.ts';
import type { TestGateway } from '../support/gateway.ts';
import { activeChecks } from '../support/health-rig.ts';

/** What was written and sent. */
export interface Busy extends AsyncDisposable {
  /** Ids of the entities, by name. */
  readonly ids: Readonly<Record<string, string>>;
  /** Requests, by status. */
  readonly sent: Readonly<Record<number, number>>;
  /** Of these, requests of the consumer. */
  readonly ofAda: number;
  /** Name of the target that gets no requests. */
  readonly failingTarget: string;
  /** Sends one more request; returns its status. */
  ask(path: string, key?: string): Promise<number>;
}

/**
 * A config, and requests to it, with something in every part of the overview: errors, a consumer, a limit that is hit, a target that fails, and
 * a certificate that expires.
 */
export async function keepBusy(gateway: TestGateway): Promise<Busy> {
  using authority = new CertificateAuthority();
  const backend = await startBackend({ handler: answer });
  const gone = await startBackend();
  const failingTarget = `127.0.0.1:${gone.port}`;
  await gone.close();
  const ids: Record<string, string> = {};
  const write = async (method: string, path: string, body: unknown, name?: string): Promise<void> => {
    const { status, body: row } = await gateway.admin(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(row)}`);
    if (name !== undefined) ids[name] = String(row['id']);
  };
  await write('PUT', '/services/orders', { url: backend.url, retries: 0 }, 'service');
  await write('PUT', '/services/orders/routes/orders', { paths: ['/orders'] }, 'route');
  await write('PUT', '/services/orders/routes/search', { paths: ['/search'] }, 'open');
  await write('POST', '/routes/orders/plugins', { name: 'key-auth' });
  await write('POST', '/routes/orders/plugins', { name: 'rate-limiting', config: { minute: limit } }, 'limit');
  await write('PUT', '/consumers/ada', {}, 'consumer');
  await write('POST', '/consumers/ada/key-auth', { key });
  await write('PUT', '/upstreams/pool', { healthchecks: activeChecks() }, 'upstream');
  await write('POST', '/upstreams/pool/targets', { target: failingTarget }, 'target');
  const soon = authority.issue('soon.test', { days: 20 });
  await write('POST', '/certificates', { ...soon, snis: ['soon.test'] }, 'certificate');

  const ask = async (path: string, apikey?: string): Promise<number> => {
    const response = await fetch(gateway.proxyUrl + path, { headers: apikey === undefined ? {} : { apikey } });
    await response.arrayBuffer();
    return response.status;
  };
  const sent: Record<number, number> = {};
  const send = async (count: number, path: string, apikey?: string): Promise<void> => {
    for (let at = 0; at < count; at++) {
      const status = await ask(path, apikey);
      sent[status] = (sent[status] ?? 0) + 1;
    }
  };
  await send(limit + 4, '/orders', key);
  await send(5, '/orders');
  await send(30, '/search');
  await send(2, '/search/failing');
  await send(3, '/nowhere');
  return {
    ...{ ids, sent, failingTarget, ask, ofAda: limit + 4 },
    [Symbol.asyncDispose]: () => backend.close(),
  };
}

const limit = 9;
const key = 'a-key-of-the-test';

const answer: BackendHandler = (request, response) => {
  response.statusCode = request.url?.includes('failing') === true ? 500 : 200;
  response.end('ok');
};
