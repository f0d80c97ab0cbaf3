import assert from 'node:assert/strict';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../../../test/support/gateway.ts';
import { call, type TestAnswer } from '../admin.fixture.ts';

/** Sends a request as one user. An object is sent as JSON. */
export type As = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<TestAnswer>;

/** A gateway with a user of each role: `admin`, `reader`, and `alice`, who may edit `team-a` and `team-a-*`. */
export interface GuardedGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly tokens: Readonly<Record<'admin' | 'reader' | 'alice', string>>;
  readonly admin: As;
  readonly reader: As;
  readonly alice: As;
  /** Without a token. */
  readonly nobody: As;
}

export function withToken(url: string, token: string | null): As {
  const sign = token === null ? {} : { authorization: `Bearer ${token}` };
  return (method, path, body, headers) => call(url, method, path, body, { ...sign, ...headers });
}

export async function startGuardedGateway(options: TestGatewayOptions = {}): Promise<GuardedGateway> {
  const gateway = await startTestGateway(options);
  const url = gateway.adminUrl;
  const nobody = withToken(url, null);
  const first = await nobody('POST', '/admin-users', { name: 'admin', role: 'admin' });
  assert.equal(first.status, 201, first.text);
  const adminToken = String(first.json['token']);
  const admin = withToken(url, adminToken);
  const create = async (name: string, fields: object): Promise<string> => {
    const user = await admin('POST', '/admin-users', { name, ...fields });
    assert.equal(user.status, 201, user.text);
    assert.equal(user.json['token'], undefined, 'only the first user needs a token at once');
    const token = await admin('POST', `/admin-users/${name}/tokens`, { name: 'test' });
    assert.equal(token.status, 201, token.text);
    return String(token.json['token']);
  };
  const reader = await create('reader', { role: 'read' });
  const alice = await create('alice', { role: 'edit', tag_patterns: ['team-a', 'team-a-*'] });
  return {
    gateway,
    tokens: { admin: adminToken, reader, alice },
    admin,
    nobody,
    reader: withToken(url, reader),
    alice: withToken(url, alice),
    [Symbol.asyncDispose]: () => gateway.stop(),
  };
}
