import assert from 'node:assert/strict';
import { type PluginTest, type TestOutcome, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import { entities } from './entities.ts';
import oauth2 from './index.ts';

export const provisionKey = 'the-provision-key';
export const serviceId = '7f6b8c1e-0000-4000-8000-000000000002';
export const ada = { id: '5a1b0f0e-0000-4000-8000-000000000001', username: 'ada', custom_id: 'a-1', tags: null };
export const bob = { id: '5a1b0f0e-0000-4000-8000-000000000002', username: 'bob', custom_id: null, tags: null };
const other = '00000000-0000-4000-8000-00000000000';

/** A confidential client of ada, one of bob, and a public one of ada. */
export const clients = {
  app: credential('1', ada.id, { redirect_uris: ['https://app.example/back', 'https://app.example/other?x=1'] }),
  rival: credential('2', bob.id, { redirect_uris: ['https://rival.example/'] }),
  phone: credential('3', ada.id, { redirect_uris: ['com.example.app:/back'], client_type: 'public' }),
  machine: credential('4', ada.id, { redirect_uris: null }),
};

function credential(digit: string, consumer: string, fields: Readonly<Record<string, unknown>>) {
  const secret = { client_secret: `secret-${digit}`, hash_secret: false, client_type: 'confidential' };
  return {
    id: other + digit,
    consumer: { id: consumer },
    name: digit,
    client_id: `client-${digit}`,
    ...secret,
    ...fields,
  };
}

export const allGrants = {
  enable_authorization_code: true,
  enable_implicit_grant: true,
  enable_client_credentials: true,
  enable_password_grant: true,
};

export type Fields = Readonly<Record<string, string>>;

/** An API with its authorization server, reached over TLS. */
export class Server {
  readonly test: PluginTest;

  constructor(config: Readonly<Record<string, unknown>> = {}, options: { slow?: boolean; entities?: object } = {}) {
    this.test = testPlugin(oauth2, {
      config: { provision_key: provisionKey, ...allGrants, ...config },
      entities: { consumers: [ada, bob], oauth2_credentials: Object.values(clients), ...options.entities },
      slowEntities: options.slow ?? false,
      entityDefinitions: entities,
    });
  }

  /** Posts a form to an endpoint; returns fields and status of the response. */
  async post(path: string, fields: Fields, request: TestRequest = {}): Promise<Answer> {
    const outcome = await this.test.request({
      method: 'POST',
      path,
      scheme: 'https',
      body: new URLSearchParams(fields).toString(),
      ...request,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...request.headers },
    });
    assert.equal(outcome.upstream, null, 'the backend must not get it');
    return { ...outcome, status: outcome.response.status, fields: JSON.parse(outcome.response.body) };
  }

  authorize(fields: Fields = {}, request: TestRequest = {}): Promise<Answer> {
    const usual = { client_id: clients.app.client_id, response_type: 'code', authenticated_userid: 'user-7' };
    return this.post('/oauth2/authorize', { provision_key: provisionKey, ...usual, ...fields }, request);
  }

  token(fields: Fields, request: TestRequest = {}): Promise<Answer> {
    const { client_id, client_secret } = clients.app;
    return this.post('/oauth2/token', { client_id, client_secret, ...fields }, request);
  }

  /** A code of a successful authorization. */
  async code(fields: Fields = {}): Promise<string> {
    const answer = await this.authorize(fields);
    assert.equal(answer.status, 200, answer.response.body);
    return redirected(answer).get('code') ?? '';
  }

  /** Tokens of the authorization code grant. */
  async tokens(fields: Fields = {}): Promise<Fields> {
    const answer = await this.token({ grant_type: 'authorization_code', code: await this.code(fields) });
    assert.equal(answer.status, 200, answer.response.body);
    return answer.fields;
  }

  /** New tokens of the refresh token grant. */
  refresh({ refresh_token = '' }: Fields): Promise<Answer> {
    return this.token({ grant_type: 'refresh_token', refresh_token });
  }

  /** A request for the API. */
  call(token: string | null, request: TestRequest = {}): Promise<TestOutcome> {
    const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
    return this.test.request({ path: '/api', ...request, headers: { ...headers, ...request.headers } });
  }

  async works(token: string): Promise<boolean> {
    return (await this.call(token)).upstream !== null;
  }
}

export interface Answer extends TestOutcome {
  readonly status: number;
  readonly fields: Fields;
}

/** Parameters of a redirection, in the query or the fragment. */
export function redirected({ fields }: Answer, part: 'search' | 'hash' = 'search'): URLSearchParams {
  return new URLSearchParams(new URL(fields['redirect_uri'] ?? '')[part].slice(1));
}

export function failure(error: string, description: string): Fields {
  return { error, error_description: description };
}
