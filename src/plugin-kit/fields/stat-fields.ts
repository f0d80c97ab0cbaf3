import { host, port } from '../../shared/schema/common-fields.ts';
import type { EntityCheck } from '../../shared/schema/entity-checks.ts';
import { string } from '../../shared/schema/fields.ts';
import { forbiddenInPrefix } from '../telemetry/statsd/metric-syntax.ts';

/*
 * Fields that the plugins for servers of the statsd protocol have in common. For `schema.ts` of plugins only.
 */

export function agentHost(what: string) {
  return host({ default: 'localhost', description: `Host name or IP address of ${what}.` });
}

export function agentPort(what: string) {
  return port({ default: 8125, description: `Port of ${what}.` });
}

export function metricPrefix() {
  return string({
    default: 'kong',
    custom: prefixProblem,
    description: 'Prefix of all metric names. Dots separate its parts.',
  });
}

function prefixProblem(text: string): string | null {
  if (forbiddenInPrefix.test(text)) return 'must not have spaces, control characters, or any of : ; | @ # , = [ ] \\';
  return text.startsWith('.') || text.endsWith('.') || text.includes('..') ? 'must not have empty parts' : null;
}

export function consumerIdentifier(description: string) {
  return string({ one_of: consumerIdentifiers, description });
}

export const consumerIdentifiers = ['consumer_id', 'custom_id', 'username'] as const;

/** Servers add the values of these up, or keep the last: how many there were has to be known. */
export const sampleRateCheck: EntityCheck = {
  conditional: {
    if_field: 'stat_type',
    if_match: { one_of: ['counter', 'gauge'] },
    then_field: 'sample_rate',
    then_match: { required: true },
  },
};
