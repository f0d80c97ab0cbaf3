import { headerValue } from '../../shared/http/header-block.ts';
import type { ParsedRequest } from '../http1/parsed-request.ts';

/** Codes of gRPC, by number. */
const names: readonly string[] = [
  ...['OK', 'Canceled', 'Unknown', 'InvalidArgument', 'DeadlineExceeded', 'NotFound', 'AlreadyExists'],
  ...['PermissionDenied', 'ResourceExhausted', 'FailedPrecondition', 'Aborted', 'OutOfRange', 'Unimplemented'],
  ...['Internal', 'Unavailable', 'DataLoss', 'Unauthenticated'],
];

const codes: Readonly<Record<number, number>> = {
  200: 0,
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 6,
  429: 8,
  499: 1,
  500: 13,
  501: 12,
  503: 14,
  504: 4,
};

/** Kong's table: the gRPC code for a status that the gateway answers with. A redirected call was not made. */
export function grpcCode(status: number): number {
  return codes[status] ?? (status >= 500 ? 13 : status >= 400 ? 3 : status >= 300 ? 2 : 0);
}

/** A gRPC call: HTTP/2 with the media type of gRPC. Other requests receive errors in the usual formats. */
export function isGrpc(head: ParsedRequest): boolean {
  return head.httpVersion === '2' && hasGrpcType(head.block);
}

/** `application/grpc`, and what begins with it: `application/grpc+proto`, `application/grpc-web`. */
export function hasGrpcType(block: string): boolean {
  return headerValue(block, 'content-type')?.startsWith('application/grpc') === true;
}

/** The lines that end a call without a message. `message`: null for the name of the code, as Kong's error template has it. */
export function grpcLines(code: number, message: string | null): string {
  return `grpc-status: ${code}\r\ngrpc-message: ${percentEncoded(message ?? names[code] ?? 'Unknown')}\r\n`;
}

/** Printable ASCII except the percent sign is unchanged (gRPC over HTTP/2, Status-Message). */
function percentEncoded(text: string): string {
  return text.replace(/[^\x20-\x24\x26-\x7e]/gu, (char) =>
    [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

const units: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** A later deadline is ignored. */
const maxTimeout = 86_400_000;

/** Milliseconds of `grpc-timeout`, at least 1; 0 when it is absent, invalid, or longer than a day. */
export function grpcTimeout(block: string): number {
  const value = headerValue(block, 'grpc-timeout');
  if (value === null || !/^[0-9]{1,8}[HMSmun]$/.test(value)) return 0;
  const milliseconds = Math.max(1, Math.ceil(Number(value.slice(0, -1)) * (units[value.slice(-1)] as number)));
  return milliseconds > maxTimeout ? 0 : milliseconds;
}

/** Rounds up to two digits: each distinct duration has a timer of its own, and clients choose durations freely. */
export function coarseTimeout(milliseconds: number): number {
  let step = 1;
  while (milliseconds / step > 100) step *= 10;
  return Math.ceil(milliseconds / step) * step;
}

/** Milliseconds as a value of `grpc-timeout`. */
export function grpcTimeoutText(milliseconds: number): string {
  return `${Math.max(1, Math.ceil(milliseconds))}m`;
}
