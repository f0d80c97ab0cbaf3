import { fraction, instrumentations } from '../special-kinds.ts';
import { kong } from './definition.ts';

export const observability = {
  tracing_instrumentations: kong(
    instrumentations,
    'all',
    'What traces show: `all`, `off`, or a list. Nothing is recorded unless a plugin asks for traces.',
  ),
  tracing_sampling_rate: kong(
    fraction,
    '0.01',
    'The share of requests that have a trace, from 0 to 1, where neither the client nor the plugin decides.',
    { aliases: ['opentelemetry_tracing_sampling_rate'] },
  ),
} as const;
