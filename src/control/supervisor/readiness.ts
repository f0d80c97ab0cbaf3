import { type NodeVitals, WorkerState } from '../../shared/zones/worker-vitals.ts';

/** Milliseconds without a heartbeat after which nothing waits for the worker and the node is not ready. */
export const suspectAfter = 2000;

/** Null: the node serves, every worker listens and its event loop is not blocked. Otherwise the reason, in one line. */
export function notReadyReason(vitals: NodeVitals, now: number): string | null {
  if (vitals.stopping) return 'the node is stopping';
  if (vitals.emptyConfig) return 'no configuration available (empty configuration present)';
  if (vitals.withoutConfig) {
    return 'no configuration available (no control plane has answered, and there is no copy of an earlier configuration)';
  }
  if (vitals.oldConfig) return 'the config is the last good one; waiting for the current one';
  // A control plane carries no traffic.
  if (vitals.workers === 0) return null;
  let listening = 0;
  let silent = 0;
  for (let worker = 0; worker < vitals.workers; worker++) {
    if (vitals.state(worker) !== WorkerState.listening) continue;
    listening++;
    if (now - vitals.beat(worker) > suspectAfter) silent++;
  }
  if (listening === 0) return 'no worker is listening';
  if (listening < vitals.workers) return `${vitals.workers - listening} of ${vitals.workers} workers are not listening`;
  return silent === 0 ? null : `${silent} of ${vitals.workers} workers are not responding`;
}
