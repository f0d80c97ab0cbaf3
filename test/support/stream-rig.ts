import assert from 'node:assert/strict';
import type { ListenAddress, Settings } from '../../src/shared/settings/settings.ts';
import { startTestGateway, type TestGateway } from './gateway.ts';
import { testSettings } from './settings.ts';

const [plain] = testSettings({ prefix: '/' }).proxyListen as readonly [ListenAddress];

/** Listeners of streams on ports chosen by the system: the flags of each, as in `stream_listen`. */
export function streamListeners(...flags: readonly string[]): readonly ListenAddress[] {
  return flags.map((words) => ({
    ...plain,
    ssl: words.includes('ssl'),
    udp: words.includes('udp'),
    proxyProtocol: words.includes('proxy_protocol'),
    listener: `127.0.0.1:0 ${words}`.trimEnd(),
  }));
}

/** A gateway with stream listeners. */
export interface StreamRig extends AsyncDisposable {
  readonly gateway: TestGateway;
  /** Ports of the stream listeners, in order. */
  readonly ports: readonly number[];
  /** An Admin API write that must succeed; returns the entity. */
  write(method: string, path: string, body?: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** A service for the address, and a route to it; both with this name; existing ones are replaced. */
  route(
    name: string,
    service: Readonly<Record<string, unknown>>,
    route: Readonly<Record<string, unknown>>,
  ): Promise<void>;
  close(): Promise<void>;
}

export async function startStreamRig(flags: readonly string[], settings: Partial<Settings> = {}): Promise<StreamRig> {
  const gateway = await startTestGateway({ settings: { streamListen: streamListeners(...flags), ...settings } });
  const write: StreamRig['write'] = async (method, path, body) => {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const close = (): Promise<void> => gateway.stop();
  return {
    gateway,
    ports: gateway.gateway.addresses.stream.map((address) => address.port),
    write,
    async route(name, service, route) {
      await write('PUT', `/services/${name}`, { protocol: 'tcp', host: '127.0.0.1', retries: 0, ...service });
      await write('PUT', `/services/${name}/routes/${name}`, { protocols: ['tcp'], ...route });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
