import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface TestProviderOptions {
  /** Redirect URIs of the client `gateway`. Default: `http://test.example/callback`. */
  readonly redirectUri?: string;
  /** Lifetime of the access token of a sign-in, in seconds. Default 600, as for refreshed ones. */
  readonly accessTokenLifetime?: number;
}

export interface TestProvider extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`; without a trailing slash. */
  readonly issuer: string;
  /** Method and path of all requests, oldest first. */
  readonly requests: readonly string[];
  /** The current signature key, and its key id. */
  readonly key: { readonly id: string; readonly privateKey: KeyObject };
  /** Creates a new signature key; the old one is no longer published. */
  rotateKey(): void;
  /** False: connections are closed. */
  available: boolean;
  /** Gets a token by the client credentials grant. `resource`: ending in `/opaque` for opaque tokens, otherwise JWTs. */
  clientToken(resource: string, scope?: string): Promise<string>;
  close(): Promise<void>;
}

/** Clients of the provider and their secrets. */
export const clients = {
  gateway: { id: 'gateway', secret: 'the secret of the gateway: 100% +safe' },
  machine: { id: 'machine', secret: 'the-secret-of-the-machine' },
} as const;

/** A real OpenID provider on a port of 127.0.0.1. It accepts any user name. */
export async function startProvider(options: TestProviderOptions = {}): Promise<TestProvider> {
  const requests: string[] = [];
  let handler: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  let available = true;
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${new URL(request.url ?? '/', 'http://x').pathname}`);
    if (available) handler(request, response);
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key = newKey();
  const start = (): void => {
    handler = quiet(() => new Provider(issuer, configuration(key, options)).callback());
  };
  start();
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    issuer,
    requests,
    get key() {
      return key;
    },
    rotateKey() {
      key = newKey();
      start();
    },
    get available() {
      return available;
    },
    set available(value) {
      available = value;
      if (!value) server.closeAllConnections();
    },
    clientToken: (resource, scope) => clientToken(issuer, resource, scope),
    close,
    [Symbol.asyncDispose]: close,
  };
}

let keys = 0;

function newKey() {
  keys += 1;
  return { id: `key-${keys}`, privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey };
}

/** The library warns about settings that are only for tests. */
function quiet<T>(make: () => T): T {
  const { warn, info } = console;
  console.warn = () => {};
  console.info = () => {};
  try {
    return make();
  } finally {
    Object.assign(console, { warn, info });
  }
}

/** Seconds. */
const longLifetime = 600;

function configuration(key: TestProvider['key'], options: TestProviderOptions) {
  const { redirectUri = 'http://test.example/callback', accessTokenLifetime = longLifetime } = options;
  const home = new URL('/', redirectUri).href;
  return {
    clients: [
      {
        client_id: clients.gateway.id,
        client_secret: clients.gateway.secret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [home],
      },
      {
        client_id: clients.machine.id,
        client_secret: clients.machine.secret,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      },
    ],
    jwks: { keys: [{ ...key.privateKey.export({ format: 'jwk' }), kid: key.id, use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['cookies of a test'] },
    scopes: ['openid', 'offline_access', 'read', 'write'],
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    findAccount: async (_: unknown, accountId: string) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    ttl: {
      AccessToken: (_: unknown, { gty = '' }: { readonly gty?: string }) =>
        gty.includes('refresh_token') ? longLifetime : accessTokenLifetime,
      ClientCredentials: longLifetime,
      Grant: 3600,
      IdToken: longLifetime,
      Session: 3600,
      Interaction: longLifetime,
      RefreshToken: 3600,
    },
    features: {
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: async () => true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_: unknown, resource: string) => ({
          scope: 'read write',
          audience: resource,
          accessTokenFormat: resource.endsWith('/opaque') ? 'opaque' : 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
}

async function clientToken(issuer: string, resource: string, scope?: string): Promise<string> {
  const { id, secret } = clients.machine;
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource,
      ...(scope === undefined ? {} : { scope }),
    }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token?: string };
  if (token === undefined) throw new Error(`the provider gave no token: ${answer.status}`);
  return token;
}

/** A browser: stores cookies by host and port, and submits the forms of the provider. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();

  cookies(origin: string): Map<string, string> {
    let jar = this.#cookies.get(origin);
    if (jar === undefined) {
      jar = new Map();
      this.#cookies.set(origin, jar);
    }
    return jar;
  }

  cookieHeader(origin: string): string {
    return [...this.cookies(origin)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  keep(origin: string, lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) this.cookies(origin).delete(pair.slice(0, at));
      else this.cookies(origin).set(pair.slice(0, at), pair.slice(at + 1));
    }
  }

  /** One navigation request. The caller follows redirects. */
  async open(
    url: string,
    options: { readonly method?: string; readonly body?: URLSearchParams } = {},
  ): Promise<Response> {
    const { origin } = new URL(url);
    const cookie = this.cookieHeader(origin);
    const headers = { Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate', ...(cookie === '' ? {} : { Cookie: cookie }) };
    const answer = await exchange(url, options.method ?? 'GET', headers, options.body);
    this.keep(origin, answer.headers.getSetCookie());
    return answer;
  }

  /** Logs in and consents at the provider, from the URL that the gateway redirected to; returns the URL with the code, not yet opened. */
  async logIn(authorizationUrl: string, user: string): Promise<string> {
    const provider = new URL(authorizationUrl).origin;
    let url = authorizationUrl;
    for (let step = 0; step < 20; step += 1) {
      if (new URL(url).origin !== provider) return url;
      let answer = await this.open(url);
      if (answer.status === 200) {
        const prompt = /name="prompt" value="(\w+)"/.exec(await answer.text())?.[1] ?? '';
        const body = new URLSearchParams(prompt === 'login' ? { prompt, login: user, password: 'x' } : { prompt });
        answer = await this.open(url, { method: 'POST', body });
      }
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`the provider answered with ${answer.status}`);
      url = new URL(location, url).href;
    }
    throw new Error('the login does not end');
  }
}

/** `fetch` itself marks its requests as no navigation. */
function exchange(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body?: URLSearchParams,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const form = body === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded' };
    const request = httpRequest(url, { method, agent: false, headers: { ...headers, ...form } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('error', reject);
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => {
        const received = new Headers();
        for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
          received.append(answer.rawHeaders[at] ?? '', answer.rawHeaders[at + 1] ?? '');
        }
        resolve(new Response(Buffer.concat(pieces), { status: answer.statusCode ?? 0, headers: received }));
      });
    });
    request.on('error', reject);
    request.end(body?.toString());
  });
}
