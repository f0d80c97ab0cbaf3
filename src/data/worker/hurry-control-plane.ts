import { setPriority } from 'node:os';
import { sharedClock } from '../../shared/util/time/clock.ts';
import { NodeVitals } from '../../shared/zones/worker-vitals.ts';

/**
 * A function to call before each call of the control plane, for whose answer a request waits. It gives the control plane's thread its
 * normal priority, if that was lowered: on a loaded machine that thread would not run for seconds, so it could not do so itself.
 */
export function hurryControlPlane(vitals: SharedArrayBuffer): () => void {
  const node = new NodeVitals(vitals);
  const clock = sharedClock();
  return () => {
    node.calledAt = clock();
    const normal = node.loweredFrom;
    if (normal === null) return;
    node.loweredFrom = null;
    try {
      // On Linux the main thread has the id of the process.
      setPriority(process.pid, normal);
    } catch {
      // The process has dropped its privileges since.
    }
  };
}
