import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import type { Settings } from '../../src/shared/settings/settings.ts';
import './file-end.ts';
import { testSettings } from './settings.ts';

export interface TestGatewayOptions {
  /** Overrides. Defaults: one worker, SQLite in a new prefix, every port 0. */
  readonly settings?: Partial<Settings>;
  /** `SLUICEGATE_*` and `KONG_*` values, read by the real settings loader. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly settings: Settings;
  readonly prefix: string;
  /** Without a trailing slash. */
  readonly adminUrl: string;
  readonly proxyPort: number;
  readonly proxyUrl: string;
  /** Port of the TLS proxy listener; 0 if there is no such listener. */
  readonly proxyTlsPort: number;
  readonly statusUrl: string;
  /** JSON (or form, when `body` is a string) call of the Admin API. */
  admin(method: string, path: string, body?: unknown): Promise<AdminAnswer>;
  stop(): Promise<void>;
}

export interface AdminAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

// Every test has its own prefix; a shared compile cache saves compiling all code in each of them.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../../.runtime/compile-cache');

/** Boots a whole gateway in this process. The prefix is temporary unless the settings name one. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const own = options.settings?.prefix === undefined;
  const prefix = options.settings?.prefix ?? (await mkdtemp(join(tmpdir(), 'sluicegate-test-')));
  const settings = testSettings({ ...options, prefix });
  const gateway = await startGateway(settings, [], { ownsProcess: false });
  const adminUrl = `http://127.0.0.1:${portOf(gateway.addresses.admin)}`;
  const proxyPort = portOf(gateway.addresses.proxy);
  const stop = async (): Promise<void> => {
    await gateway.stop(false);
    if (own) await rm(prefix, { recursive: true, force: true });
  };
  return {
    gateway,
    settings,
    prefix,
    adminUrl,
    proxyPort,
    proxyUrl: `http://127.0.0.1:${proxyPort}`,
    proxyTlsPort: gateway.addresses.proxy.find((address) => address.ssl)?.port ?? 0,
    statusUrl: `http://127.0.0.1:${portOf(gateway.addresses.status)}`,
    admin: (method, path, body) => callAdmin(adminUrl, method, path, body),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function portOf(addresses: readonly { readonly port: number; readonly ssl: boolean }[]): number {
  return addresses.find((address) => !address.ssl)?.port ?? 0;
}

async function callAdmin(base: string, method: string, path: string, body: unknown): Promise<AdminAnswer> {
  const type = typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json';
  const response = await fetch(base + path, {
    method,
    ...(body === undefined
      ? {}
      : { headers: { 'Content-Type': type }, body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  return { status: response.status, headers: response.headers, body: json };
}
