import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { TLSSocket } from 'node:tls';
import type { ProbeRun, ProbeTarget } from './probe.ts';
import { openConnection } from './probe-connection.ts';
import { isHeader } from './probe-http.ts';

const answerCap = 1024;
/** `HealthCheckResponse.status` */
const serving = 1;
const unimplemented = '12';

/** Calls `grpc.health.v1.Health/Check` for the service in the path; `/` is the whole server. */
export function probeGrpc(run: ProbeRun, target: ProbeTarget): void {
  openConnection(run, target, ['h2'], (socket) => {
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      run.end({ kind: 'http-failure', cause: 'the target does not speak HTTP/2' });
      return;
    }
    run.step('no answer came');
    // Loaded by the first probe: few nodes have one.
    const session = process
      .getBuiltinModule('node:http2')
      .connect(`${target.tls === null ? 'http' : 'https'}://grpc.invalid`, {
        createConnection: () => socket,
        settings: { enablePush: false, maxHeaderListSize: 16_384 },
        maxSessionMemory: 1,
        maxSendHeaderBlockLength: 65_536,
      });
    run.cleanup(() => session.destroy());
    session.on('error', (error) => failed(run, error));
    check(run, session, target);
  });
}

/** A violation of HTTP/2 counts as an unreadable answer; any other error as one of the connection. */
function failed(run: ProbeRun, error: NodeJS.ErrnoException): void {
  if (error.code?.startsWith('ERR_HTTP2_') !== true) run.failed(error);
  else run.end({ kind: 'http-failure', cause: error.message });
}

function check(run: ProbeRun, session: ClientHttp2Session, target: ProbeTarget): void {
  const stream = session.request({
    ...metadata(target),
    ':method': 'POST',
    ':path': '/grpc.health.v1.Health/Check',
    ':authority': target.authority,
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': `${Math.min(99_999_999, Math.ceil(target.timeout))}m`,
  });
  let answer = Buffer.alloc(0);
  let problem: string | null = null;
  let status: string | null = null;
  const noteStatus = (headers: IncomingHttpHeaders): void => {
    const value = headers['grpc-status'];
    if (typeof value === 'string') status = value;
  };
  stream.on('response', (headers) => {
    if (headers[':status'] !== 200) problem = `the HTTP status is ${headers[':status']}`;
    noteStatus(headers);
  });
  stream.on('trailers', noteStatus);
  stream.on('data', (piece: Buffer) => {
    answer = Buffer.concat([answer, piece]);
    if (answer.length > answerCap) run.end({ kind: 'http-failure', cause: 'the answer is too long' });
  });
  stream.on('error', (error) => failed(run, error));
  stream.on('close', () => {
    problem ??= problemOf(status, answer);
    run.end(problem === null ? { kind: 'success' } : { kind: 'http-failure', cause: problem });
  });
  stream.end(message(healthCheckRequest(target.path.slice(1))));
}

function problemOf(status: string | null, answer: Buffer): string | null {
  if (status === null) return 'the answer is not gRPC';
  if (status === unimplemented) return 'the target has no grpc.health.v1.Health service';
  if (status !== '0') return `the gRPC status is ${/^\d{1,3}$/.test(status) ? status : 'no number'}`;
  const found = servingStatus(answer);
  return found === serving ? null : `the health status is ${names[found] ?? found}, not SERVING`;
}

const names: readonly (string | undefined)[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** `HealthCheckRequest { string service = 1; }` */
function healthCheckRequest(service: string): Buffer {
  const name = Buffer.from(service).subarray(0, 127);
  return name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
}

/** Length-prefixed and not compressed. */
function message(bytes: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

/**
 * The number in `HealthCheckResponse { ServingStatus status = 1; }`, 0 when it is omitted, -1 when the answer is not valid. Later
 * fields are ignored.
 */
export function servingStatus(answer: Buffer): number {
  if (answer.length < 5 || answer[0] !== 0 || answer.readUInt32BE(1) !== answer.length - 5) return -1;
  if (answer.length === 5) return 0;
  if (answer.length < 7 || answer[5] !== 0x08) return -1;
  const value = answer[6] as number;
  return value < 128 ? value : -1;
}

function metadata({ headers }: ProbeTarget): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (!isHeader(name, value) || forbidden.has(key)) continue;
    fields[key] = [...(fields[key] ?? []), value];
  }
  return fields;
}

/** Headers of the protocol itself, or of one HTTP/1 connection. */
const forbidden: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'grpc-timeout',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]);
