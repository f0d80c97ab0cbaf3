import { answerChecks, bodyType, type Expectation, matchesMediaRange } from '../../plugin-kit/json-schema/index.ts';
import {
  type Api,
  type LazyOperation,
  type Operation,
  openApi,
  type PathMatch,
} from '../../plugin-kit/openapi/index.ts';
import type { AccessContext, PluginPhases, PluginTools, Reply, ResponseHeadView } from '../../plugin-sdk/index.ts';
import { contextKey, refuse } from '../../plugin-sdk/index.ts';
import { checkRequest, type Refusal } from './check-request.ts';
import { mockReply } from './mock.ts';
import type { OpenApiConfig } from './schema.ts';

const chosen = contextKey<LazyOperation>('openapi operation');

export function validateApi(config: OpenApiConfig, tools: PluginTools): PluginPhases {
  const opening = opened(config, tools);
  let api = opening instanceof Promise ? null : opening;
  if (opening instanceof Promise) {
    void opening.then((found) => {
      api = found;
    });
  }
  const found = refusals(config, tools);
  return {
    ...answerPhases(config, tools),
    access(context) {
      if (api !== null) return accessWith(api, context, config, found);
      if (!(opening instanceof Promise)) return withoutDocument(config);
      return opening.then((read) =>
        read === null ? withoutDocument(config) : accessWith(read, context, config, found),
      );
    },
  };
}

/** Null: it cannot be used. A file may have been removed or changed since the plugin was configured. */
function opened(config: OpenApiConfig, tools: PluginTools): Api | null | Promise<Api | null> {
  const failed = (error: unknown): null => {
    const reason = error instanceof Error ? error.message : 'unknown';
    tools.log.error('the OpenAPI document cannot be used', { reason });
    return null;
  };
  try {
    const opening = openApi(config);
    return opening instanceof Promise ? opening.catch(failed) : opening;
  } catch (error) {
    return failed(error);
  }
}

function withoutDocument({ mode, mock }: OpenApiConfig): Reply | undefined {
  return mode === 'enforce' || mock ? refuse(503, 'The OpenAPI document cannot be used') : undefined;
}

function accessWith(
  api: Api,
  context: AccessContext,
  config: OpenApiConfig,
  found: Found,
): Reply | undefined | Promise<Reply | undefined> {
  const match = api.table.match(context.request.path);
  if (match === null) return found(context, unknownPath);
  const operation = operationOf(match, context.request.method);
  if (operation === null) return found(context, otherMethod(match));
  context.set(chosen, operation);
  if (config.response_mode === 'enforce') context.upstream.removeHeader('range');
  return checked(context, api, operation, match, config, found);
}

const unknownPath: Refusal = { reply: refuse(404, 'There is no such path'), rule: 'path' };

/** HEAD is GET without the body. */
function operationOf({ operations }: PathMatch<LazyOperation>, method: string): LazyOperation | null {
  return operations.get(method) ?? (method === 'HEAD' ? operations.get('GET') : undefined) ?? null;
}

function otherMethod({ operations }: PathMatch<LazyOperation>): Refusal {
  const methods = new Set(operations.keys());
  if (methods.has('GET')) methods.add('HEAD');
  return {
    reply: refuse(405, 'The path does not have this method', { Allow: [...methods].join(', ') }),
    rule: 'method',
  };
}

type Found = (context: AccessContext, refusal: Refusal) => Reply | undefined;

function checked(
  context: AccessContext,
  api: Api,
  operation: LazyOperation,
  match: PathMatch<LazyOperation>,
  config: OpenApiConfig,
  found: Found,
): Reply | undefined | Promise<Reply | undefined> {
  const end = (refusal: Refusal | null): Reply | undefined => {
    const reply = refusal === null ? undefined : found(context, refusal);
    if (reply !== undefined || !config.mock) return reply;
    return mockReply(api.document, operation.source, context.request);
  };
  if (config.mode === 'off') return end(null);
  const refusal = checkRequest(context, operation.compiled(), match.parameters, config);
  return refusal instanceof Promise ? refusal.then(end) : end(refusal);
}

const quietTime = 60_000;

/** Counts the violation, and returns the refusal with mode `enforce`. */
function refusals({ mode }: OpenApiConfig, tools: PluginTools): Found {
  let quietUntil = 0;
  return (context, { reply, rule }) => {
    if (mode === 'off') return undefined;
    tools.count('wrong_requests');
    context.log('openapi', rule);
    if (mode === 'enforce') return reply;
    const now = performance.now();
    if (now < quietUntil) return undefined;
    quietUntil = now + quietTime;
    tools.log.warn('a request that would be refused has passed', { route: context.route?.name ?? null, rule });
    return undefined;
  };
}

function answerPhases(
  { response_mode: mode, max_body_size: maxBytes }: OpenApiConfig,
  tools: PluginTools,
): PluginPhases {
  if (mode === 'off') return {};
  return answerChecks(
    { mode, maxBytes, expect: (context) => expectation(context.get(chosen)?.compiled() ?? null, context.response) },
    tools,
  );
}

function expectation(operation: Operation | null, response: ResponseHeadView): Expectation {
  if (operation === null) return null;
  const status = String(response.status);
  const described = [status, `${status[0]}XX`, 'default'].map((name) => operation.responses.get(name)).find(Boolean);
  if (described === undefined) return { fault: 'its status is not declared' };
  if (described.rules === null) return null;
  const type = bodyType(response.headerValues('content-type'));
  const rule = type === null ? undefined : described.rules.find(({ range }) => matchesMediaRange([range], type.type));
  return rule === undefined ? { fault: 'its content type is not declared' } : rule.check;
}
