import type { JsonValue } from '../../plugin-kit/json/index.ts';
import type { AccessContext, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { readClientBody } from './client-body.ts';
import { documentReply, failureReply } from './document.ts';
import { compilePlan } from './plan.ts';
import { Run, type RunCallbacks } from './run/run.ts';
import type { AggregateConfig } from './schema.ts';

export function aggregate(config: AggregateConfig, tools: PluginTools): PluginPhases {
  const plan = compilePlan(config);
  const limits = { timeout: config.timeout, maxBytes: config.max_body_size, maxCalls: config.max_calls };
  const warned = new Set<string>();

  /** A configuration error: clients can do nothing about it. */
  function reportMissingService(part: string): void {
    if (warned.has(part)) return;
    warned.add(part);
    const service = config.requests.find(({ name }) => name === part)?.service ?? 'that of the route';
    tools.log.warn(`the service of the part '${part}' does not exist`, { service });
  }

  function run(context: AccessContext, body: JsonValue | undefined): Promise<Reply> {
    const callbacks: RunCallbacks = {
      complete: (outcomes, texts) => documentReply(context, config, plan, outcomes, texts),
      failed: (part, failure) => failureReply(context, part, failure),
      missingService: reportMissingService,
    };
    return new Run(plan, limits, context, body, callbacks).reply();
  }

  async function readAndRun(context: AccessContext): Promise<Reply> {
    const read = await readClientBody(context);
    return 'reply' in read ? read.reply : run(context, read.value);
  }

  return { access: (context) => (plan.readsBody ? readAndRun(context) : run(context, undefined)) };
}
