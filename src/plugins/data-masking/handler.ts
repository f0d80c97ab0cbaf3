import { throttledLog } from '../../plugin-kit/logging/index.ts';
import { offThread } from '../../plugin-kit/runtime/index.ts';
import {
  type AccessContext,
  type BaseContext,
  contextKey,
  type HeaderFilterContext,
  type LogMask,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type ResponseContext,
  refuse,
} from '../../plugin-sdk/index.ts';
import { eventStream } from './bodies/body-types.ts';
import { type Selection, sharedCopy } from './bodies/mask-body.ts';
import type { BodyMasker } from './bodies/masker.ts';
import { threadSize } from './bodies/thread-size.ts';
import { HeadMask } from './head-mask.ts';
import {
  loggedHeader,
  maskRequestHead,
  maskResponseHead,
  masksResponseHeaders,
  withoutTrailers,
} from './message-heads.ts';
import { requestRefusal, responseRefusal } from './refusals.ts';
import { compileExceptions } from './rules/exceptions.ts';
import { masksBodies, type RuleSet, RuleSets } from './rules/rule-sets.ts';
import type { DataMaskingConfig } from './schema.ts';
import { keepPrivate, MarkedTags, markResponse, withoutConditions } from './validators.ts';

/** Rules that do not apply to the client. */
const exemptedKey = contextKey<number>('exempted rules');

type OffThreadMask = (
  config: string,
  selection: Selection,
  contentType: string,
  body: Uint8Array,
) => Promise<Uint8Array>;

const maskOffThread = offThread<Parameters<OffThreadMask>, Uint8Array>(
  new URL('./bodies/mask-body.ts', import.meta.url),
  'maskBody',
);

export function maskData(config: DataMaskingConfig, tools: PluginTools): PluginPhases {
  const sets = new RuleSets(config);
  const exceptions = compileExceptions(config, tools);
  const configText = JSON.stringify(config);
  const logs = new HeadMask(sets.rules, true);
  const tags = new Map<string, MarkedTags>();
  const report = throttledLog(10_000, (reason, suppressed) =>
    tools.log.warn(`response cannot be masked and was not sent: ${reason}`, { suppressed }),
  );
  /** Clients may receive different responses. */
  const variesByClient = config.rules.some(
    ({ direction, except_groups }) =>
      (direction === 'both' || direction === 'response') && (except_groups?.length ?? 0) > 0,
  );
  const masksResponses = sets.rules.some(
    (rule) => masksBodies(rule) && (rule.config.direction === 'both' || rule.config.direction === 'response'),
  );

  function tagsOf({ mark }: RuleSet): MarkedTags {
    let known = tags.get(mark);
    if (known === undefined) {
      known = new MarkedTags(mark);
      if (tags.size > 64) tags.clear();
      tags.set(mark, known);
    }
    return known;
  }

  function responseRules(context: BaseContext): RuleSet {
    return sets.of('response', exemptedFor(context));
  }

  /** If an earlier plugin has replied, `access` did not run: then only groups that are available synchronously count. */
  function exemptedFor(context: BaseContext): number {
    const known = context.get(exemptedKey);
    if (known !== undefined) return known;
    const exempted = exceptions === null || context.client.consumer === null ? 0 : exceptions(context);
    const bits = typeof exempted === 'number' ? exempted : 0;
    context.set(exemptedKey, bits);
    return bits;
  }

  function masked(
    masker: BodyMasker,
    selection: Selection,
    contentType: string,
    body: Uint8Array,
    client: string,
  ): Uint8Array | Promise<Uint8Array> {
    if (body.byteLength <= threadSize(masker)) return masker.mask(contentType, body);
    return maskOffThread
      .forClient(client, configText, selection, contentType, sharedCopy(body))
      .then((result) => Buffer.from(result));
  }

  function handleRequest(context: AccessContext, exempted: number): undefined | Promise<Reply | undefined> {
    context.set(exemptedKey, exempted);
    const responseSet = sets.of('response', exempted);
    if (responseSet.masker !== null) withoutConditions(context, tagsOf(responseSet));
    const { head, masker } = sets.of('request', exempted);
    if (head !== null) maskRequestHead(context, head);
    return masker === null ? undefined : maskRequestBody(context, masker, exempted);
  }

  async function maskRequestBody(
    context: AccessContext,
    masker: BodyMasker,
    exempted: number,
  ): Promise<Reply | undefined> {
    if (isUpgrade(context)) return refuse(400, 'Connections that change their protocol are not accepted here');
    const types = context.upstream.headerValues('content-type');
    const contentType = types.length === 1 ? (types[0] as string) : null;
    if (masker.typeOf(contentType).format === 'pass') return undefined;
    const body = await context.decodedBody();
    if (body.byteLength === 0) return undefined;
    try {
      const result = await masked(
        masker,
        { direction: 'request', exempted },
        contentType ?? '',
        body,
        context.client.ip,
      );
      context.upstream.setBody(result);
      updateCharset(contentType, (value) => context.upstream.setHeader('Content-Type', value));
      return undefined;
    } catch (error) {
      tools.count('refused_requests');
      const refusal = requestRefusal(error);
      if (refusal === null) throw error;
      return refusal;
    }
  }

  /** Synchronous unless another thread masks the body. */
  function maskResponse(context: ResponseContext, { masker }: RuleSet): Reply | undefined | Promise<Reply | undefined> {
    const body = context.response.body();
    if (masker === null || body.byteLength === 0) return undefined;
    const contentType = contentTypeOf(context);
    const selection: Selection = { direction: 'response', exempted: exemptedFor(context) };
    try {
      const result = masked(masker, selection, contentType ?? '', body, context.client.ip);
      if (!(result instanceof Promise)) return setMasked(context, contentType, result);
      return result.then((late) => setMasked(context, contentType, late)).catch(unmaskable);
    } catch (error) {
      return unmaskable(error);
    }
  }

  function setMasked({ response }: ResponseContext, contentType: string | null, body: Uint8Array): undefined {
    response.setBody(body);
    updateCharset(contentType, (value) => response.setHeader('Content-Type', value));
  }

  function unmaskable(error: unknown): Reply {
    const refusal = responseRefusal(error);
    if (refusal === null) throw error;
    return refuseResponse(refusal, (error as Error).message);
  }

  function refuseResponse(refusal: Reply, reason: string): Reply {
    tools.count('refused_answers');
    report(reason);
    return refusal;
  }

  return {
    access(context) {
      if (masksResponses && isUpgrade(context)) {
        return refuse(400, 'Connections that change their protocol are not accepted here');
      }
      const exempted = exceptions === null ? 0 : exceptions(context);
      return exempted instanceof Promise
        ? exempted.then((bits) => handleRequest(context, bits))
        : handleRequest(context, exempted);
    },

    ...(masksResponses ? bodyPhases() : {}),

    headerFilter(context) {
      const rules = responseRules(context);
      if (context.response.source === 'upstream') {
        const { masker } = rules;
        if (masker !== null)
          markResponse(context, tagsOf(rules), masker.typeOf(contentTypeOf(context)).format !== 'pass');
        if (variesByClient) keepPrivate(context);
      }
      if (rules.head !== null) maskResponseHead(context, rules.head);
    },

    // Trailers are not masked, so they are removed; only clients that accept trailers would receive them.
    ...(masksResponses || masksResponseHeaders(sets) ? { bodyFilter: withoutTrailers } : {}),

    logMask: {
      ...(sets.loggedBodies === null ? {} : { body: loggedBody(sets.loggedBodies) }),
      ...(logs.query === null ? {} : { query: logs.query }),
      ...(logs.isEmpty ? {} : { header: (name, value) => loggedHeader(logs, name, value) }),
    },
  };

  function loggedBody(masker: BodyMasker): NonNullable<LogMask['body']> {
    return (contentType, body) =>
      masked(masker, { direction: 'log', exempted: 0 }, contentType ?? '', body, 'traffic recorder');
  }

  function bodyPhases(): PluginPhases {
    return {
      shouldBufferResponse(context) {
        const { masker } = responseRules(context);
        const { status } = context.response;
        if (masker === null || status === 204 || status === 304) return false;
        return masker.typeOf(contentTypeOf(context)).format !== 'pass';
      },

      // Before the body is buffered: an event stream has no end.
      backendAnswer(context) {
        const { masker } = responseRules(context);
        const type = context.response.header('content-type');
        if (masker === null || type === null || !isEventStream(type)) return null;
        if (masker.typeOf(type).format === 'pass') return null;
        return refuseResponse(
          refuse(502, 'The answer cannot be masked: it is a stream of events'),
          'it is a stream of events',
        );
      },

      response(context) {
        const rules = responseRules(context);
        const { response } = context;
        if (rules.masker === null) return undefined;
        if (response.status === 206)
          return refuseResponse(refuse(502, 'The answer cannot be masked: it is a part'), 'it is a part');
        const hasUnknownCoding = response
          .headerValues('content-encoding')
          .some((value) => !/^[ \t]*(?:identity)?[ \t]*$/i.test(value));
        if (hasUnknownCoding && response.body().byteLength > 0) {
          return refuseResponse(
            refuse(502, 'The answer cannot be masked: its coding is not known'),
            'its coding is not known',
          );
        }
        return maskResponse(context, rules);
      },
    };
  }
}

/** Null: there is no `Content-Type`, or more than one. */
function contentTypeOf({ response }: HeaderFilterContext | ResponseContext): string | null {
  const types = response.headerValues('content-type');
  return types.length === 1 ? (types[0] as string) : null;
}

function isEventStream(type: string): boolean {
  return type.trimStart().toLowerCase().startsWith(eventStream);
}

function isUpgrade({ request }: AccessContext): boolean {
  return request.upgrade !== '';
}

const charsetParameter = /;[ \t]*charset=(?:"[^"]*"|[^;\s]*)/i;

/** Masked XML is always UTF-8. */
function updateCharset(contentType: string | null, set: (value: string) => void): void {
  if (contentType === null || !/^[^;]*[/+]xml[ \t]*;/i.test(contentType) || !charsetParameter.test(contentType)) return;
  set(contentType.replace(charsetParameter, '; charset=utf-8'));
}
