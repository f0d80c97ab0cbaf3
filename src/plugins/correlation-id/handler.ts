import { randomUUID } from 'node:crypto';
import type { AccessContext, HeaderFilterContext, PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { contextKey } from '../../plugin-sdk/index.ts';
import type { CorrelationIdConfig } from './schema.ts';

type Generator = (context: AccessContext | HeaderFilterContext) => string;

const correlationId = contextKey<string>('correlation-id');
const workerId = randomUUID();
let counter = 0;

export function addCorrelationId(config: CorrelationIdConfig, tools: PluginTools): PluginPhases {
  const header = config.header_name ?? 'Kong-Request-ID';
  const generate = generatorOf(config.generator, tools.node.pid);
  const phases: PluginPhases = {
    access(context: AccessContext): undefined {
      let id = context.request.header(header);
      if (id === null || id === '') {
        id = generate(context);
        context.upstream.setHeader(header, id);
      }
      context.set(correlationId, id);
      context.log('correlation_id', id);
    },
  };
  if (config.echo_downstream) phases.headerFilter = (context) => echo(context, header, generate);
  return phases;
}

/** A reply of a plugin that runs before this one has no id yet. */
function echo(context: HeaderFilterContext, header: string, generate: Generator): void {
  const id = context.get(correlationId) ?? context.request.header(header);
  context.response.setHeader(header, id === null || id === '' ? generate(context) : id);
}

function generatorOf(name: CorrelationIdConfig['generator'], pid: number): Generator {
  switch (name) {
    case 'uuid':
      return () => randomUUID();
    case 'uuid#counter':
      return () => `${workerId}#${++counter}`;
    case 'tracker':
      return ({ connection }) =>
        `${connection.localIp}-${connection.localPort}-${pid}-${connection.serial}-${connection.requests}-${seconds()}`;
  }
}

/** Seconds since the epoch, down to milliseconds. */
function seconds(): string {
  return (Date.now() / 1000).toFixed(3);
}
