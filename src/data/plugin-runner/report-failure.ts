import { failureFields } from '../../shared/plugin-loader/failure-fields.ts';
import { MeterPhase, type MeterPhaseName } from '../../shared/zones/plugin-meter.ts';
import type { PluginInstance } from './plan.ts';

/** Counts and logs what an instance threw: with file and line, bounded, and without anything of the request but its id. */
export function reportFailure(
  { log, meter }: Pick<PluginInstance, 'log' | 'meter'>,
  phase: MeterPhaseName,
  error: unknown,
  requestId: string | null = null,
): void {
  meter.failed(MeterPhase[phase]);
  log.error('plugin failed', {
    phase,
    ...(requestId === null ? {} : { request_id: requestId }),
    ...failureFields(error),
  });
}
