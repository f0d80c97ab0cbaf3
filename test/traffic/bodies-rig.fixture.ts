import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { until } from '../support/until.ts';
import type { Record } from './traffic-rig.fixture.ts';

/** A rig whose backend answers as a test says, and echoes otherwise. */
export interface BodiesRig extends Http2Rig {
  /** Answers the requests for a path. */
  readonly answers: Map<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** Sends a request, and returns its record when it is there. */
  recordOf(path: string, options?: RequestInit & { readonly duplex?: 'half' }): Promise<Record>;
  /** The record of a request that was sent otherwise, by its path. */
  recordAt(path: string): Promise<Record>;
}

export async function startBodiesRig(env: globalThis.Record<string, string> = {}): Promise<BodiesRig> {
  const answers: BodiesRig['answers'] = new Map();
  const server = createServer((request, response) => {
    const own = answers.get(request.url ?? '');
    if (own !== undefined) {
      own(request, response);
      return;
    }
    const { 'content-type': type, 'content-encoding': coding } = request.headers;
    if (type !== undefined) response.setHeader('content-type', type);
    if (coding !== undefined) response.setHeader('content-encoding', coding);
    request.pipe(response);
  });
  const sockets = new WebSocketServer({ server, path: '/open/socket' });
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const rig = await startHttp2Rig({
    env: { SLUICEGATE_TRAFFIC_RECORDER: '1000', SLUICEGATE_TRAFFIC_RECORDER_RATE: '1000', ...env },
    service: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    route: { paths: ['/open'], strip_path: false },
  });
  const { adminUrl, proxyUrl } = rig.gateway;
  const read = async (id: string): Promise<Record> => {
    let found: Record;
    await until(async () => {
      const response = await fetch(`${adminUrl}/traffic/${id}`);
      found = await response.json();
      return response.status === 200;
    });
    return found;
  };
  const closeRig = rig.close;
  const close = async (): Promise<void> => {
    await closeRig();
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  };
  return Object.assign(rig, {
    answers,
    close,
    [Symbol.asyncDispose]: close,
    async recordOf(path: string, options: RequestInit = {}): Promise<Record> {
      const response = await fetch(`${proxyUrl}${path}`, { redirect: 'manual', ...options });
      const id = response.headers.get('x-kong-request-id');
      assert.ok(id !== null);
      // A body that is broken cannot be read.
      await response.arrayBuffer().catch(() => {});
      return read(id);
    },
    async recordAt(path: string): Promise<Record> {
      let id = '';
      await until(async () => {
        const { data } = (await (await fetch(`${adminUrl}/traffic?path=${path}`)).json()) as Record;
        id = data[0]?.id ?? '';
        return id !== '';
      });
      return read(id);
    },
  });
}

/** The bodies of a record. */
export function bodiesOf({ explanation }: Record): { readonly request: Record; readonly response: Record } {
  return { request: explanation.request.body, response: explanation.response?.body };
}
