import { broken, ChunkDecoder, needMore } from '../../src/data/http1/chunk-decoder.ts';
import { parseRequestHead } from '../../src/data/http1/parse-request.ts';
import { parseResponseHead } from '../../src/data/http1/parse-response.ts';
import { ParsedRequest } from '../../src/data/http1/parsed-request.ts';
import { type Reading, type ReadMessage, trimBlanks } from './message.ts';

/** Reads a sequence of pipelined requests with the gateway's parsers. */
export function readRequests(bytes: string): Reading {
  const messages: ReadMessage[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (bytes.startsWith('\r\n', at)) at += 2;
    if (at === bytes.length) break;
    const stop = bytes.indexOf('\r\n\r\n', at);
    if (stop < 0) return { messages, outcome: 'incomplete', reason: 'head', at };
    const head = parseRequestHead(bytes.slice(at, stop + 4));
    if (!(head instanceof ParsedRequest)) return { messages, outcome: 'refused', reason: head.code, at };
    const body = readFramed(bytes, stop + 4, head.bodyLength);
    if (body.outcome !== 'end') return { messages, outcome: body.outcome, reason: 'body', at };
    messages.push({
      start: `${head.method} ${head.target}`,
      version: head.httpVersion,
      headers: blockLines(head.block),
      body: body.text,
    });
    if (!head.keepAlive || asksForUpgrade(head.block))
      return { messages, outcome: 'end', reason: 'closes', at: body.at };
    at = body.at;
  }
  return { messages, outcome: 'end', reason: '', at: bytes.length };
}

/** Node reads nothing after such a request, with or without an upgrade. */
function asksForUpgrade(block: string): boolean {
  return /^upgrade:/im.test(block) && /^connection:(?:.*,)?[ \t]*upgrade[ \t]*(?:,|$)/im.test(block);
}

/** Reads one answer to a GET, including informational ones before it. */
export function readResponse(bytes: string): Reading {
  const messages: ReadMessage[] = [];
  for (let at = 0; ; ) {
    const stop = bytes.indexOf('\r\n\r\n', at);
    if (stop < 0) return { messages, outcome: 'incomplete', reason: 'head', at };
    const text = bytes.slice(at, stop + 4);
    const head = parseResponseHead(text);
    if (head === null) return { messages, outcome: 'refused', reason: 'head', at };
    const informational = head.status < 200;
    const length = informational || head.status === 204 || head.status === 304 ? 0 : head.bodyLength;
    const body = readFramed(bytes, stop + 4, length);
    if (body.outcome !== 'end') return { messages, outcome: body.outcome, reason: 'body', at };
    messages.push({
      start: String(head.status),
      version: `1.${head.minorVersion}`,
      headers: blockLines(text.slice(text.indexOf('\r\n') + 2, -2)),
      body: body.text,
    });
    if (!informational || head.status === 101) return { messages, outcome: 'end', reason: '', at: body.at };
    at = stop + 4;
  }
}

interface FramedBody {
  readonly outcome: Reading['outcome'];
  readonly text: string;
  readonly at: number;
}

/** `length`: bytes, -1 chunked, -2 until the end. */
function readFramed(bytes: string, start: number, length: number): FramedBody {
  if (length === -2) return { outcome: 'end', text: bytes.slice(start), at: bytes.length };
  if (length >= 0) {
    if (bytes.length - start < length) return { outcome: 'incomplete', text: '', at: start };
    return { outcome: 'end', text: bytes.slice(start, start + length), at: start + length };
  }
  return readChunked(bytes, start);
}

export function readChunked(bytes: string, start: number): FramedBody {
  const buffer = Buffer.from(bytes, 'latin1');
  let text = '';
  const sink = {
    bodyData(data: Uint8Array, from: number, to: number): void {
      text += Buffer.from(data.buffer, data.byteOffset + from, to - from).toString('latin1');
    },
  };
  const at = new ChunkDecoder().feed(buffer, start, buffer.length, sink);
  if (at === broken) return { outcome: 'refused', text: '', at: start };
  if (at === needMore) return { outcome: 'incomplete', text: '', at: start };
  return { outcome: 'end', text, at };
}

function blockLines(block: string): (readonly [string, string])[] {
  return block
    .split('\r\n')
    .slice(0, -1)
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), trimBlanks(line.slice(colon + 1))] as const;
    });
}
