import type { SecureContext } from 'node:tls';
import type { HandshakeView } from '../../plugin-sdk/request-views.ts';
import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import { enterCall, leaveCall } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { isPromise } from './plugin-failure.ts';
import { reportFailure } from './report-failure.ts';

type Given = SecureContext | null | Promise<SecureContext | null>;

/** Runs the instances in their order; the first certificate wins. One that fails is logged and skipped. */
export function runCertificate(instances: readonly PluginInstance[], handshake: HandshakeView, first = 0): Given {
  for (let at = first; at < instances.length; at++) {
    const instance = instances[at]!;
    let given: Given;
    enterCall(PluginPhase.certificate, instance.mark, 0);
    try {
      given = instance.phases.certificate?.(handshake) ?? null;
    } catch (error) {
      given = failed(instance, error);
    } finally {
      leaveCall();
    }
    if (isPromise(given)) {
      return Promise.resolve(given)
        .catch((error) => failed(instance, error))
        .then((context) => context ?? runCertificate(instances, handshake, at + 1));
    }
    if (given !== null) return given;
  }
  return null;
}

function failed(instance: PluginInstance, error: unknown): null {
  reportFailure(instance, 'certificate', error);
  return null;
}
