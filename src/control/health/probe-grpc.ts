import { TLSSocket } from 'node:tls';
import type { ProbeRun, ProbeTarget } from './probe.ts';
import { openConnection } from './probe-connection.ts';
import { isHeader } from './probe-http.ts';

/** What a target has answered to a call. */
export interface GrpcAnswer {
  readonly httpStatus: number;
  /** Null: there is none. */
  readonly grpcStatus: string | null;
  readonly body: Buffer;
}

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
    const call = {
      scheme: target.tls === null ? 'http' : 'https',
      head: callHead(target),
      body: message(healthCheckRequest(target.path.slice(1))),
      answered: (answer: GrpcAnswer) => {
        const problem = problemOf(answer);
        run.end(problem === null ? { kind: 'success' } : { kind: 'http-failure', cause: problem });
      },
    } as const;
    // The HTTP/2 engine is loaded by the first probe: few nodes have one.
    import('./grpc-call.ts').then(
      ({ sendCall }) => sendCall(run, socket, call),
      (error: Error) => run.failed(error),
    );
  });
}

function problemOf({ httpStatus, grpcStatus: status, body }: GrpcAnswer): string | null {
  if (httpStatus !== 200) return `the HTTP status is ${httpStatus}`;
  if (status === null) return 'the answer is not gRPC';
  if (status === unimplemented) return 'the target has no grpc.health.v1.Health service';
  if (status !== '0') return `the gRPC status is ${/^\d{1,3}$/.test(status) ? status : 'no number'}`;
  const found = servingStatus(body);
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

/** The head of the call as HTTP/1.1 has it. */
function callHead({ authority, timeout, headers }: ProbeTarget): string {
  const metadata = headers.filter(([name, value]) => isHeader(name, value) && !forbidden.has(name.toLowerCase()));
  const lines = metadata.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return (
    `POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: ${authority}\r\nContent-Type: application/grpc\r\n` +
    `grpc-timeout: ${Math.min(99_999_999, Math.ceil(timeout))}m\r\n${lines}\r\n`
  );
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
