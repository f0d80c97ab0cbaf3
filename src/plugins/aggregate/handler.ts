import type { AccessContext, JsonValue, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { readClientBody } from './client-body.ts';
import { documentReply, failureReply } from './document.ts';
import { compilePlan } from './plan.ts';
import { Run, type RunEnd } from './run.ts';
import type { AggregateConfig } from './schema.ts';

export function aggregate(config: AggregateConfig, tools: PluginTools): PluginPhases {
  const plan = compilePlan(config);
  const limits = { timeout: config.timeout, maxBytes: config.max_body_size, maxCalls: config.max_calls };
  const warned = new Set<string>();

  /** An operator's mistake that no client can do anything about. */
  function missing(part: string): void {
    if (warned.has(part)) return;
    warned.add(part);
    const service = config.requests.find(({ name }) => name === part)?.service ?? 'that of the route';
    tools.log.warn(`the service of the part '${part}' does not exist`, { service });
  }

  function run(context: AccessContext, body: JsonValue | undefined): Promise<Reply> {
    const end: RunEnd = {
      complete: (outcomes, texts) => documentReply(context, config, plan, outcomes, texts),
      failed: (part, failure) => failureReply(context, part, failure),
      missing,
    };
    return new Run(plan, limits, context, body, end).reply();
  }

  async function readAndRun(context: AccessContext): Promise<Reply> {
    const read = await readClientBody(context);
    return 'reply' in read ? read.reply : run(context, read.value);
  }

  return { access: (context) => (plan.readsBody ? readAndRun(context) : run(context, undefined)) };
}
