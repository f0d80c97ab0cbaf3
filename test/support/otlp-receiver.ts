import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { otlpMessage } from './otlp-definitions.ts';
import { until } from './until.ts';

/** A span as the definitions of the specification decode it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the root span. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  /** Nanoseconds since the epoch. */
  readonly start: bigint;
  readonly end: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0: unset, 2: error. */
  readonly status: number;
  readonly message: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface ReceivedLog {
  readonly body: string;
  readonly severity: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  readonly time: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export interface ReceivedMessage {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** The answer of the receiver to a message. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** A receiver of OTLP over HTTP, on `/v1/traces` and `/v1/logs`. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly logs: ReceivedLog[];
  /** All messages, whatever was answered. */
  readonly messages: ReceivedMessage[];
  /** Sets the answers instead of 200; null resets it. */
  answerWith(answer: ((message: ReceivedMessage) => ReceiverAnswer | null) | null): void;
  /** The spans of a trace, once they include one without a parent or with a remote parent. */
  trace(traceId: string, root?: string): Promise<readonly ReceivedSpan[]>;
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const logs: ReceivedLog[] = [];
  const messages: ReceivedMessage[] = [];
  let answer: ((message: ReceivedMessage) => ReceiverAnswer | null) | null = null;
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const message = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces) };
      messages.push(message);
      const own = answer?.(message) ?? null;
      if (own === null || own.status < 300) {
        if (message.path.endsWith('/traces')) spans.push(...decodeTraces(message.body));
        else if (message.path.endsWith('/logs')) logs.push(...decodeLogs(message.body));
      }
      response.writeHead(own?.status ?? 200, { 'Content-Type': 'application/x-protobuf', ...own?.headers });
      response.end(own?.body ?? '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    logs,
    messages,
    answerWith: (by) => {
      answer = by;
    },
    async trace(traceId, root = 'kong') {
      const own = () => spans.filter((span) => span.traceId === traceId);
      await until(() => own().some(({ name }) => name === root));
      return own();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

const plain = { longs: String, bytes: String, defaults: true };

interface Plain {
  readonly [name: string]: unknown;
}

export function decodeTraces(bytes: Uint8Array): ReceivedSpan[] {
  const type = otlpMessage('ExportTraceServiceRequest');
  return records(type.toObject(type.decode(bytes), plain), ['resourceSpans', 'scopeSpans', 'spans']).map(
    ({ one, resource }) => ({
      traceId: hex(one['traceId']),
      spanId: hex(one['spanId']),
      parentSpanId: hex(one['parentSpanId']),
      traceState: String(one['traceState'] ?? ''),
      name: String(one['name']),
      kind: enumOf(one['kind']),
      start: BigInt(String(one['startTimeUnixNano'])),
      end: BigInt(String(one['endTimeUnixNano'])),
      attributes: attributesOf(one['attributes']),
      status: enumOf((one['status'] as Plain | null)?.['code']),
      message: String((one['status'] as Plain | null)?.['message'] ?? ''),
      resource,
    }),
  );
}

export function decodeLogs(bytes: Uint8Array): ReceivedLog[] {
  const type = otlpMessage('ExportLogsServiceRequest');
  return records(type.toObject(type.decode(bytes), plain), ['resourceLogs', 'scopeLogs', 'logRecords']).map(
    ({ one }) => ({
      body: String(plainOf(one['body'])),
      severity: enumOf(one['severityNumber']),
      traceId: hex(one['traceId']),
      spanId: hex(one['spanId']),
      flags: Number(one['flags']),
      time: BigInt(String(one['timeUnixNano'])),
      attributes: attributesOf(one['attributes']),
    }),
  );
}

function records(message: Plain, [outer, inner, list]: readonly [string, string, string]) {
  return (message[outer] as Plain[]).flatMap((group) => {
    const resource = attributesOf((group['resource'] as Plain)['attributes']);
    return (group[inner] as Plain[]).flatMap((scope) => (scope[list] as Plain[]).map((one) => ({ one, resource })));
  });
}

function attributesOf(list: unknown): Record<string, unknown> {
  return Object.fromEntries((list as Plain[]).map((one) => [String(one['key']), plainOf(one['value'])]));
}

function plainOf(value: unknown): unknown {
  const { stringValue, intValue, boolValue, doubleValue, arrayValue } = value as Plain;
  if (stringValue !== undefined && stringValue !== null) return stringValue;
  if (intValue !== undefined && intValue !== null) return Number(intValue);
  if (arrayValue !== undefined && arrayValue !== null) return ((arrayValue as Plain)['values'] as Plain[]).map(plainOf);
  return boolValue ?? doubleValue ?? null;
}

function hex(base64: unknown): string {
  return Buffer.from(String(base64 ?? ''), 'base64').toString('hex');
}

function enumOf(value: unknown): number {
  return Number(value ?? 0);
}
