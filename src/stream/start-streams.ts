import { PassiveHealth } from '../balancer/health/passive-health.ts';
import type { FromWorker } from '../workers/messages.ts';
import type { StreamParts } from './stream-parts.ts';
import { StreamPlane } from './stream-plane.ts';

/** Listens for streams in this worker. `post`: tells the control plane what streams find out about backends. */
export function startStreams(
  parts: Omit<StreamParts, 'reports'>,
  post: (message: FromWorker) => void,
): Promise<StreamPlane> {
  return StreamPlane.start({ ...parts, reports: new PassiveHealth(parts.zone, post) });
}
