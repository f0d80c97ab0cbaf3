import type { FromWorker } from '../../shared/messages/messages.ts';
import { PassiveHealth } from '../balancer/passive-health.ts';
import type { StreamParts } from './stream-parts.ts';
import { StreamPlane } from './stream-plane.ts';

/** Starts the stream listeners of this worker. `post`: reports the health of backends to the control plane. */
export function startStreams(
  parts: Omit<StreamParts, 'reports'>,
  post: (message: FromWorker) => void,
): Promise<StreamPlane> {
  return StreamPlane.start({ ...parts, reports: new PassiveHealth(parts.zone, post) });
}
