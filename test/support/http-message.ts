import { type ByteReader, EndedEarly, type EndKind } from './byte-reader.ts';

/** A head as on the wire, without corrections. */
export interface MessageHead {
  readonly startLine: string;
  /** Lines as sent: name and trimmed value. */
  readonly lines: readonly (readonly [name: string, value: string])[];
  readonly raw: string;
  /** First value of a header; the name is case-insensitive. */
  get(name: string): string | undefined;
  all(name: string): readonly string[];
}

export interface MessageBody {
  readonly body: string;
  readonly trailers: string;
  /** How its end was determined. */
  readonly framing: 'none' | 'length' | 'chunked' | 'close';
  /** The framing was complete before the connection ended. */
  readonly complete: boolean;
  readonly ended: EndKind | null;
}

export interface RawResponse extends MessageHead, MessageBody {
  readonly status: number;
}

export function parseHead(raw: string): MessageHead {
  const [startLine = '', ...rest] = raw.slice(0, raw.indexOf('\r\n\r\n')).split('\r\n');
  const lines = rest.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  const all = (name: string): string[] =>
    lines.filter(([known]) => known.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  return { startLine, lines, raw, all, get: (name) => all(name)[0] };
}

export async function readHead(reader: ByteReader, wait?: number): Promise<MessageHead> {
  return parseHead(await reader.readUntil('\r\n\r\n', wait));
}

/** One answer; informational ones are returned separately. `method` of the request decides whether a body follows. */
export async function readResponse(reader: ByteReader, method = 'GET', wait?: number): Promise<RawResponse> {
  const head = await readHead(reader, wait);
  const match = /^HTTP\/1\.1 (\d{3}) /.exec(`${head.startLine} `);
  if (match === null) throw new Error(`not a status line: ${JSON.stringify(head.startLine)}`);
  const status = Number(match[1]);
  const bodiless = method === 'HEAD' || status < 200 || status === 204 || status === 304;
  const body = bodiless ? noBody : await readBody(reader, head, 'response', wait);
  return { ...head, ...body, status };
}

export async function readBody(
  reader: ByteReader,
  head: MessageHead,
  kind: 'request' | 'response',
  wait?: number,
): Promise<MessageBody> {
  const coding = head.get('transfer-encoding');
  const length = head.get('content-length');
  if (coding !== undefined && length !== undefined) throw new Error(`two framings in ${JSON.stringify(head.raw)}`);
  if (coding !== undefined) return readChunked(reader, wait);
  if (length !== undefined) return readDeclared(reader, Number(length), wait);
  if (kind === 'request') return noBody;
  const { text, kind: ended } = await reader.readToEnd(wait);
  return { body: text, trailers: '', framing: 'close', complete: ended === 'end', ended };
}

const noBody: MessageBody = { body: '', trailers: '', framing: 'none', complete: true, ended: null };

async function readDeclared(reader: ByteReader, length: number, wait?: number): Promise<MessageBody> {
  try {
    const body = await reader.readExactly(length, wait);
    return { body, trailers: '', framing: 'length', complete: true, ended: null };
  } catch (error) {
    if (!(error instanceof EndedEarly)) throw error;
    return { body: error.received, trailers: '', framing: 'length', complete: false, ended: error.kind };
  }
}

async function readChunked(reader: ByteReader, wait?: number): Promise<MessageBody> {
  let body = '';
  try {
    for (;;) {
      const line = await reader.readUntil('\r\n', wait);
      if (!/^[0-9a-f]{1,16}\r\n$/i.test(line)) throw new Error(`not a chunk size: ${JSON.stringify(line)}`);
      const size = Number.parseInt(line, 16);
      if (size === 0) break;
      body += await reader.readExactly(size, wait);
      const end = await reader.readExactly(2, wait);
      if (end !== '\r\n') throw new Error(`chunk not followed by CRLF but by ${JSON.stringify(end)}`);
    }
    let trailers = '';
    for (;;) {
      const line = await reader.readUntil('\r\n', wait);
      if (line === '\r\n') return { body, trailers, framing: 'chunked', complete: true, ended: null };
      trailers += line;
    }
  } catch (error) {
    if (!(error instanceof EndedEarly)) throw error;
    return { body: body + error.received, trailers: '', framing: 'chunked', complete: false, ended: error.kind };
  }
}
