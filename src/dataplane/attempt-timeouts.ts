import type { UpstreamTimeouts } from '../plugin-sdk/attempts.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { Exchange } from './exchange.ts';
import { coarseTimeout, grpcTimeout, grpcTimeoutText } from './grpc.ts';
import { UpstreamPolicy } from './upstream-policy.ts';
import { requestEdits } from './upstream-request-edit.ts';

export function timeoutsOf(x: Exchange): UpstreamTimeouts {
  return x.policy?.timeouts ?? (x.service as RuntimeService).timeouts;
}

/** The deadline of a gRPC call is a total time-out, if it is not longer than the one that is set. */
export function heedGrpcTimeout(x: Exchange): void {
  x.grpcTimeout = grpcTimeout(x.head.block);
  if (x.grpcTimeout === 0) return;
  const limit = coarseTimeout(x.grpcTimeout);
  const timeouts = timeoutsOf(x);
  x.policy ??= new UpstreamPolicy();
  x.policy.timeouts = { ...timeouts, total: timeouts.total > 0 ? Math.min(timeouts.total, limit) : limit };
}

/** The backend may know how long its answer is of use. */
export function tellDeadline(x: Exchange, { total }: UpstreamTimeouts, now: number): void {
  if (x.grpcTimeout > 0) {
    requestEdits(x).set('grpc-timeout', grpcTimeoutText(Math.min(x.grpcTimeout, total) - (now - x.startedMono)));
  }
  const name = x.policy?.retries?.deadlineHeader ?? null;
  if (name === null || total <= 0) return;
  requestEdits(x).set(name, String(Math.max(1, Math.ceil(total - (now - x.startedMono)))));
}
