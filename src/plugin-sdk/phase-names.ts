import { suggest } from '../shared/util/suggest.ts';
import type { PluginPhases } from './phases.ts';

/** All of them: another one does not compile before it is here. */
const phases: Readonly<Record<keyof PluginPhases, true>> = {
  certificate: true,
  rewrite: true,
  access: true,
  accessSkipped: true,
  backendAnswer: true,
  backendFailure: true,
  shouldBufferResponse: true,
  response: true,
  headerFilter: true,
  bodyFilter: true,
  log: true,
  logMask: true,
  accept: true,
  streamLog: true,
  drain: true,
  dispose: true,
};

/**
 * What `setup` returned is wrong, or null. TypeScript accepts a phase with a misspelt name here, which would never run: a
 * policy that protects nothing.
 */
export function phasesProblem(returned: unknown): string | null {
  if (typeof returned !== 'object' || returned === null) return 'setup must return an object with the phases';
  const unknown = Object.keys(returned).find((name) => !Object.hasOwn(phases, name));
  if (unknown === undefined) return null;
  const guess = suggest(unknown, Object.keys(phases));
  return `setup returned '${unknown}', which is not a phase${guess === null ? '' : ` (did you mean ${guess}?)`}`;
}
