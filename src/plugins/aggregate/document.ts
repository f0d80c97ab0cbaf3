import type { JsonObject, JsonValue } from '../../plugin-kit/json/index.ts';
import { type AccessContext, backendReply, type Reply } from '../../plugin-sdk/index.ts';
import { place } from './compose.ts';
import type { LargeTexts } from './large-text.ts';
import type { Part } from './part.ts';
import type { Plan } from './plan.ts';
import { addNamedHeaders, mergedCacheControl, mergedVary } from './response-headers.ts';
import { allTooLarge, type Outcome, type PartFailure } from './run/outcome.ts';
import type { AggregateConfig } from './schema.ts';

const json: readonly [string, string] = ['Content-Type', 'application/json; charset=utf-8'];
const noStore: readonly [string, string] = ['Cache-Control', 'no-store'];

/** The document; or the failure of a required part that has no place in it. */
export function documentReply(
  context: AccessContext,
  config: AggregateConfig,
  plan: Plan,
  outcomes: readonly Outcome[],
  texts: LargeTexts,
): Reply {
  const root: JsonObject = {};
  const failures: JsonValue[] = [];
  for (const index of plan.placement) {
    const part = plan.parts[index]!;
    const outcome = outcomes[index]!;
    if (outcome.kind === 'failed') failures.push(entry(part, outcome.failure));
    if (outcome.kind === 'there') for (const failure of outcome.failures) failures.push(entry(part, failure));
    if (part.config.hidden || place(root, part.target, outcome.kind === 'there' ? outcome.value : null)) continue;
    if (part.config.required) return failureReply(context, part, noPlace);
    failures.push(entry(part, noPlace));
  }
  if (failures.length > 0) {
    place(root, [config.errors_field], failures);
    context.log('aggregate_errors', failures);
  }
  const body = texts.write(root);
  if (body.byteLength > config.max_body_size) return failureReply(context, plan.parts.at(-1)!, allTooLarge);
  return backendReply({
    status: 200,
    headers: headersOf(config, plan, outcomes, failures.length === 0),
    body,
    fresh: true,
  });
}

const noPlace: PartFailure = {
  reason: 'no-place',
  status: 502,
  message: 'there is no place for it in the document: what is there, or the part itself, is not an object',
};

function headersOf(
  config: AggregateConfig,
  plan: Plan,
  outcomes: readonly Outcome[],
  complete: boolean,
): readonly (readonly [string, string])[] {
  const headers: [string, string][] = [[...json], ['X-Aggregate-Complete', String(complete)]];
  if (config.response_headers !== null) addNamedHeaders(headers, config.response_headers, plan, outcomes);
  const vary = plan.varies ? mergedVary(plan, outcomes) : [];
  if (vary.length > 0) headers.push(['Vary', vary.join(', ')]);
  if (!complete) headers.push([...noStore]);
  else if (config.cache_control === 'merge') headers.push(['Cache-Control', mergedCacheControl(plan, outcomes)]);
  return headers;
}

function entry(part: Part, { reason, message, index }: PartFailure): JsonObject {
  return { part: part.name, ...(index === undefined ? null : { index }), reason, message };
}

/** Names the part, but contains nothing of the response of its backend. */
export function failureReply(context: AccessContext, part: Part, failure: PartFailure): Reply {
  const { reason, status, message } = failure;
  context.log('aggregate_errors', [entry(part, failure)]);
  const body = JSON.stringify({
    message: `The part '${part.name}' of the answer failed: ${message}`,
    part: part.name,
    reason,
    request_id: context.request.id,
  });
  return backendReply({ status, headers: [json, noStore], body, fresh: true });
}
