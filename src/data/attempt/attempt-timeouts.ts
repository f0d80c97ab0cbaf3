import type { UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import type { Exchange } from '../request/exchange.ts';
import { coarseTimeout, grpcTimeout, grpcTimeoutText } from '../request/grpc.ts';
import { UpstreamPolicy } from './upstream-policy.ts';
import { requestEdits } from './upstream-request-edit.ts';

/** The deadline of a gRPC call becomes the total timeout, unless a shorter one is set. */
export function applyGrpcTimeout(x: Exchange, timeouts: UpstreamTimeouts): void {
  x.grpcTimeout = grpcTimeout(x.head.block);
  if (x.grpcTimeout === 0) return;
  const limit = coarseTimeout(x.grpcTimeout);
  x.policy ??= new UpstreamPolicy();
  x.policy.timeouts = { ...timeouts, total: timeouts.total > 0 ? Math.min(timeouts.total, limit) : limit };
}

/** Sends the backend the time that is left for its answer, where a plugin or gRPC asks for it. */
export function sendDeadline(x: Exchange, { total }: UpstreamTimeouts, now: number): void {
  if (x.grpcTimeout > 0) {
    requestEdits(x).set('grpc-timeout', grpcTimeoutText(Math.min(x.grpcTimeout, total) - (now - x.startedMono)));
  }
  const name = x.policy?.retries?.deadlineHeader ?? null;
  if (name === null || total <= 0) return;
  requestEdits(x).set(name, String(Math.max(1, Math.ceil(total - (now - x.startedMono)))));
}
