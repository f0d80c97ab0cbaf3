import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { ClientHttp2Stream } from 'node:http2';
import { WebSocket } from 'ws';
import type { TestGateway } from './gateway.ts';
import { openHttp2 } from './http2-client.ts';

/** How a client opens a WebSocket: by an upgrade (RFC 6455), or on a stream of an HTTP/2 session (RFC 8441). */
export type WebSocketEndpoint = 'HTTP/1.1' | 'HTTP/2' | 'HTTP/2 over TLS';

/** Opens a WebSocket. Rejects with `answered <status>` when the gateway refuses it. */
export async function openWebSocket(
  endpoint: WebSocketEndpoint,
  gateway: TestGateway,
  path: string,
): Promise<WebSocket> {
  if (endpoint === 'HTTP/1.1') return await openByUpgrade(gateway.proxyPort, path);
  const secure = endpoint === 'HTTP/2 over TLS';
  return await openByConnect(secure ? gateway.proxyTlsPort : gateway.proxyPort, secure, path);
}

async function openByUpgrade(port: number, path: string): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  return await new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_request: unknown, response: IncomingMessage) => {
      response.resume();
      reject(new Error(`answered ${response.statusCode}`));
    });
  });
}

async function openByConnect(port: number, secure: boolean, path: string): Promise<WebSocket> {
  const { session } = await openHttp2(port, secure);
  if (!session.remoteSettings.enableConnectProtocol) await once(session, 'remoteSettings');
  const stream = session.request({
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':path': path,
    'sec-websocket-version': '13',
  });
  const [headers] = (await once(stream, 'response')) as [{ readonly ':status'?: number }];
  if (headers[':status'] !== 200) {
    session.destroy();
    throw new Error(`answered ${headers[':status']}`);
  }
  stream.once('close', () => session.close());
  return speak(stream);
}

/** The client side of a WebSocket after the handshake; `ws` itself can only begin with an upgrade. */
function speak(stream: ClientHttp2Stream): WebSocket {
  const options = { autoPong: true, closeTimeout: 5_000 };
  const socket = new WebSocket(null as unknown as string, undefined, options as object);
  const internals = socket as unknown as {
    _isServer: boolean;
    setSocket(stream: ClientHttp2Stream, head: Buffer, options: object): void;
  };
  internals._isServer = false;
  internals.setSocket(stream, Buffer.alloc(0), { allowSynchronousEvents: true, maxPayload: 100 * 1024 * 1024 });
  return socket;
}
