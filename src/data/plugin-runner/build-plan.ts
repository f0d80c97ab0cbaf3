import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { compareInstances } from '../../shared/plugin-plan/precedence.ts';
import { bodyLimit } from './body-readers.ts';
import type { PluginInstance, PluginPlan, SecretNames } from './plan.ts';

/** What these instances declare. */
export function secretNames(instances: Iterable<PluginInstance>): SecretNames {
  const all = [...instances];
  return {
    secretArguments: names(all, ({ needs }) => needs.secrets?.queryArguments),
    secretHeaders: names(all, ({ needs }) => needs.secrets?.headers),
  };
}

/** The plan of these instances, one of each name, in any order. `secrets`: those of all routes; default: their own. */
export function buildPlan(instances: readonly PluginInstance[], secrets = secretNames(instances)): PluginPlan {
  const all = Object.freeze(instances.toSorted(compareInstances));
  return Object.freeze({
    empty: all.length === 0,
    all,
    certificate: withPhase(all, 'certificate'),
    rewrite: withPhase(all, 'rewrite'),
    access: withPhase(all, 'access'),
    backendAnswer: withPhase(all, 'backendAnswer'),
    backendFailure: withPhase(all, 'backendFailure'),
    headerFilter: withPhase(all, 'headerFilter'),
    bodyFilter: withPhase(all, 'bodyFilter'),
    response: withPhase(all, 'response'),
    log: withPhase(all, 'log'),
    accept: withPhase(all, 'accept'),
    streamLog: withPhase(all, 'streamLog'),
    leased: Object.freeze(all.filter((instance) => instance.lease !== null)),
    requestBodyLimit: largest(all, ({ needs }) => needs.requestBody?.maxBytes ?? 0),
    responseBodyLimit: largest(all, bodyLimit),
    choosesBodies: withPhase(all, 'shouldBufferResponse').length > 0,
    logMasks: Object.freeze(all.map(({ phases }) => phases.logMask).filter((mask) => mask !== undefined)),
    secretArguments: secrets.secretArguments,
    secretHeaders: secrets.secretHeaders,
  });
}

function withPhase(all: readonly PluginInstance[], phase: keyof PluginPhases): readonly PluginInstance[] {
  return Object.freeze(all.filter((instance) => instance.phases[phase] !== undefined));
}

function largest(all: readonly PluginInstance[], limit: (instance: PluginInstance) => number): number {
  return all.reduce((most, instance) => Math.max(most, limit(instance)), 0);
}

const noNames: ReadonlySet<string> = new Set();

function names(
  all: readonly PluginInstance[],
  of: (instance: PluginInstance) => readonly string[] | undefined,
): ReadonlySet<string> {
  const found = all.flatMap((instance) => of(instance) ?? []);
  return found.length === 0 ? noNames : new Set(found.map((name) => name.toLowerCase()));
}
