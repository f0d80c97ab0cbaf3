import assert from 'node:assert/strict';
import type { Settings } from '../../src/shared/settings/settings.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { type BackendScript, type RawBackend, startRawBackend } from './raw-backend.ts';

export interface RigOptions {
  /** How the backend handles a connection; by default it answers every request with 200. */
  readonly script?: BackendScript;
  readonly settings?: Partial<Settings>;
  /** Settings in the form of environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Fields of the service in addition to its address. */
  readonly service?: Readonly<Record<string, unknown>>;
  /** Fields of the route; by default it matches every path and forwards it unchanged. */
  readonly route?: Readonly<Record<string, unknown>>;
}

/** A gateway in front of one raw backend, with one service `backend` and one route `all`. */
export interface Rig extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly port: number;
  readonly backend: RawBackend;
  /** An Admin API write that must succeed; returns the entity. */
  write(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>;
  close(): Promise<void>;
}

export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const backend = await startRawBackend(options.script);
  let gateway: TestGateway;
  try {
    gateway = await startTestGateway({
      settings: options.settings ?? {},
      ...(options.env === undefined ? {} : { env: options.env }),
    });
  } catch (error) {
    await backend.close();
    throw error;
  }
  const write = async (method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const close = async (): Promise<void> => {
    await gateway.stop();
    await backend.close();
  };
  try {
    await write('PUT', '/services/backend', { url: backend.url, retries: 0, ...options.service });
    await write('PUT', '/services/backend/routes/all', { paths: ['/'], strip_path: false, ...options.route });
  } catch (error) {
    await close();
    throw error;
  }
  return { gateway, port: gateway.proxyPort, backend, write, close, [Symbol.asyncDispose]: close };
}

/** Bytes of memory of this process, which in these tests also runs the gateway. */
export function residentMemory(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}
