import {
  answerChecks,
  type BodyChecker,
  bodyChecker,
  bodyRefusal,
  bodyType,
  declaresNoBody,
  type Expectation,
  matchesMediaRange,
  schemaOfText,
  type Verdict,
} from '../../plugin-kit/json-schema/index.ts';
import { type AccessContext, type PluginPhases, type PluginTools, type Reply, refuse } from '../../plugin-sdk/index.ts';
import type { BodyValidatorConfig } from './schema.ts';

export function validateBodies(config: BodyValidatorConfig, tools: PluginTools): PluginPhases {
  const { access } = requestPhases(config, tools);
  const answers = answerPhases(config, tools);
  if (answers.response === undefined) return { ...answers, ...(access !== undefined && { access }) };
  return {
    ...answers,
    access(context) {
      // A part of an answer cannot be checked.
      context.upstream.removeHeader('range');
      return access?.(context);
    },
  };
}

function requestPhases(config: BodyValidatorConfig, tools: PluginTools): Pick<PluginPhases, 'access'> {
  if (config.schema === null) return {};
  const check = bodyChecker(schemaOfText(config.schema, config.version));
  const mustHaveBody = new Set(config.required_methods);
  const refuseOrReport = refusals(config, tools);
  return {
    access(context) {
      const required = mustHaveBody.has(context.request.method);
      if (!declaresNoBody(context)) return checkBody(context, check, config, required, refuseOrReport);
      return required ? refuseOrReport(context, refuse(400, missing), 'required') : undefined;
    },
  };
}

const missing = 'the request has no body';
type Refusal = (context: AccessContext, reply: Reply, rule: string) => Reply | undefined;

async function checkBody(
  context: AccessContext,
  check: BodyChecker,
  config: BodyValidatorConfig,
  required: boolean,
  refusal: Refusal,
): Promise<Reply | undefined> {
  const types = context.request.headerValues('content-type');
  const type = bodyType(types);
  const typed = type !== null && matchesMediaRange(config.content_types, type.type);
  // A required body of another type is refused without reading it.
  if (!typed && types.length > 0 && required) return refusal(context, otherType(config), 'content-type');
  const body = await context.decodedBody();
  if (body.byteLength === 0) return required ? refusal(context, refuse(400, missing), 'required') : undefined;
  if (body.byteLength > config.max_body_size) return refuse(413, 'Payload too large');
  if (!typed) return refusal(context, otherType(config), 'content-type');
  const verdict = await check(body, config.max_errors, context.client.ip);
  const reply = bodyRefusal(verdict, context.request.id, config.verbose);
  return reply === null ? undefined : refusal(context, reply, ruleOf(verdict));
}

function otherType({ content_types: types }: BodyValidatorConfig): Reply {
  return refuse(415, `the content type must be ${types.join(' or ')}`);
}

function ruleOf(verdict: Verdict): string {
  return verdict.kind === 'wrong' ? (verdict.violations[0]?.rule ?? 'schema') : verdict.kind;
}

const quietTime = 60_000;

/** Counts the violation, and returns the refusal with mode `enforce`. */
function refusals({ mode }: BodyValidatorConfig, tools: PluginTools): Refusal {
  let quietUntil = 0;
  return (context, reply, rule) => {
    tools.count('wrong_requests');
    context.log('body_validator', rule);
    if (mode === 'enforce') return reply;
    const now = performance.now();
    if (now < quietUntil) return undefined;
    quietUntil = now + quietTime;
    tools.log.warn('a request that would be refused has passed', { route: context.route?.name ?? null, rule });
    return undefined;
  };
}

function answerPhases(config: BodyValidatorConfig, tools: PluginTools): PluginPhases {
  if (config.response_schema === null) return {};
  const check = bodyChecker(schemaOfText(config.response_schema, config.version));
  const statuses = new Set(config.response_statuses);
  const expect = ({
    response,
  }: {
    response: { status: number; headerValues(name: string): readonly string[] };
  }): Expectation => {
    if (!statuses.has(String(response.status)) && !statuses.has(`${Math.floor(response.status / 100)}XX`)) return null;
    return bodyType(response.headerValues('content-type'))?.isJson === true ? check : { fault: 'it is not JSON' };
  };
  return answerChecks({ mode: config.response_mode, maxBytes: config.max_body_size, expect }, tools);
}
