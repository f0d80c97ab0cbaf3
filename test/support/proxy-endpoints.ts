import type { TestGateway } from './gateway.ts';
import { parseHead, type RawResponse } from './http-message.ts';
import { openHttp2 } from './http2-client.ts';
import { exchangeOne } from './raw-client.ts';

/** The protocols of proxy clients, for suites that run over all of them. */
export type ProxyEndpoint = 'HTTP/1.1' | 'HTTP/2' | 'HTTP/2 over TLS';

export const proxyEndpoints: readonly ProxyEndpoint[] = ['HTTP/1.1', 'HTTP/2', 'HTTP/2 over TLS'];

/**
 * Sends one request, written as HTTP/1.1, through an endpoint and reads its answer. Over HTTP/2 `Host` becomes `:authority`,
 * and `Connection` is left out. The listeners are those of `http2Settings`.
 */
export async function exchangeThrough(
  endpoint: ProxyEndpoint,
  gateway: TestGateway,
  bytes: string,
): Promise<RawResponse> {
  const head = parseHead(bytes);
  const [method = '', path = ''] = head.startLine.split(' ');
  if (endpoint === 'HTTP/1.1') return await exchangeOne(gateway.proxyPort, bytes, method);
  const secure = endpoint === 'HTTP/2 over TLS';
  await using client = await openHttp2(secure ? gateway.proxyTlsPort : gateway.proxyPort, secure);
  const fields = [':method', method, ':path', path, ':scheme', secure ? 'https' : 'http'];
  for (const [name, value] of head.lines) {
    const lower = name.toLowerCase();
    if (lower === 'host') fields.push(':authority', value);
    else if (lower !== 'connection') fields.push(lower, value);
  }
  const body = bytes.slice(bytes.indexOf('\r\n\r\n') + 4);
  const stream = client.session.request(fields, { endStream: body === '' });
  if (body !== '') stream.end(Buffer.from(body, 'latin1'));
  let answered: readonly string[] = [];
  let trailers: readonly string[] = [];
  let ended = false;
  const pieces: Buffer[] = [];
  stream.on('response', (_fields: unknown, _flags: number, list: readonly string[]) => {
    answered = list;
  });
  stream.on('trailers', (_fields: unknown, _flags: number, list: readonly string[]) => {
    trailers = list;
  });
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('end', () => {
    ended = true;
  });
  stream.on('error', () => {});
  await new Promise<void>((resolve) => stream.once('close', resolve));
  const status = Number(answered[answered.indexOf(':status') + 1]);
  return {
    ...parseHead(`HTTP/2 ${status}\r\n${linesOf(answered)}\r\n`),
    status,
    body: Buffer.concat(pieces).toString('latin1'),
    trailers: linesOf(trailers),
    framing: 'none',
    complete: ended && stream.rstCode === 0,
    ended: null,
  };
}

function linesOf(fields: readonly string[]): string {
  let lines = '';
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at]?.startsWith(':') === false) lines += `${fields[at]}: ${fields[at + 1]}\r\n`;
  }
  return lines;
}
