import {
  type AccessContext,
  type BaseContext,
  contextKey,
  type HeaderFilterContext,
  nowAndThen,
  offThread,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type ResponseContext,
  refuse,
} from '../../plugin-sdk/index.ts';
import { eventStream } from './body-types.ts';
import { exceptionsOf } from './exceptions.ts';
import { requestFault, responseFault } from './faults.ts';
import { HeadMask } from './head-mask.ts';
import { type Selection, sharedCopy } from './mask-body.ts';
import type { BodyMasker } from './masker.ts';
import { loggedHeader, maskAnswerHead, maskRequestHead, masksFields, withoutTrailers } from './message-heads.ts';
import { concernsBodies, type RuleSet, RuleSets } from './rule-sets.ts';
import type { DataMaskingConfig } from './schema.ts';
import { threadSize } from './thread-size.ts';
import { keepPrivate, MarkedTags, markAnswer, withoutConditions } from './validators.ts';

/** Which rules do not hold for the client. */
const liftedKey = contextKey<number>('lifted rules');

type OffThreadMask = (
  config: string,
  selection: Selection,
  contentType: string,
  body: Uint8Array,
) => Promise<Uint8Array>;

const maskOffThread = offThread<Parameters<OffThreadMask>, Uint8Array>(
  new URL('./mask-body.ts', import.meta.url),
  'maskBody',
);

export function maskData(config: DataMaskingConfig, tools: PluginTools): PluginPhases {
  const sets = new RuleSets(config);
  const exceptions = exceptionsOf(config, tools);
  const configText = JSON.stringify(config);
  const logs = new HeadMask(sets.rules, true);
  const tags = new Map<string, MarkedTags>();
  const report = nowAndThen(10_000, (reason, unsaid) =>
    tools.log.warn(`an answer cannot be masked and was not sent: ${reason}`, { unsaid }),
  );
  /** Some client gets other answers than another one. */
  const differs = config.rules.some(
    ({ direction, except_groups }) =>
      (direction === 'both' || direction === 'response') && (except_groups?.length ?? 0) > 0,
  );
  const masksAnswers = sets.rules.some(
    (rule) => concernsBodies(rule) && (rule.config.direction === 'both' || rule.config.direction === 'response'),
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

  function answerRules(context: BaseContext): RuleSet {
    return sets.of('response', liftedFor(context));
  }

  /** When a plugin before this one has answered, `access` did not run: then only what is known at once lifts a rule. */
  function liftedFor(context: BaseContext): number {
    const known = context.get(liftedKey);
    if (known !== undefined) return known;
    const lifted = exceptions === null || context.client.consumer === null ? 0 : exceptions(context);
    const bits = typeof lifted === 'number' ? lifted : 0;
    context.set(liftedKey, bits);
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

  function enter(context: AccessContext, lifted: number): undefined | Promise<Reply | undefined> {
    context.set(liftedKey, lifted);
    const answers = sets.of('response', lifted);
    if (answers.masker !== null) withoutConditions(context, tagsOf(answers));
    const { head, masker } = sets.of('request', lifted);
    if (head !== null) maskRequestHead(context, head);
    return masker === null ? undefined : maskRequestBody(context, masker, lifted);
  }

  async function maskRequestBody(
    context: AccessContext,
    masker: BodyMasker,
    lifted: number,
  ): Promise<Reply | undefined> {
    if (isUpgrade(context)) return refuse(400, 'Connections that change their protocol are not accepted here');
    const types = context.upstream.headerValues('content-type');
    const contentType = types.length === 1 ? (types[0] as string) : null;
    if (masker.typeOf(contentType).format === 'pass') return undefined;
    const body = await context.decodedBody();
    if (body.byteLength === 0) return undefined;
    try {
      const result = await masked(masker, { direction: 'request', lifted }, contentType ?? '', body, context.client.ip);
      context.upstream.setBody(result);
      noteEncoding(contentType, (value) => context.upstream.setHeader('Content-Type', value));
      return undefined;
    } catch (error) {
      tools.count('refused_requests');
      const fault = requestFault(error);
      if (fault === null) throw error;
      return fault;
    }
  }

  async function maskAnswer(context: ResponseContext, { masker }: RuleSet): Promise<Reply | undefined> {
    const { response } = context;
    const body = response.body();
    if (masker === null || body.byteLength === 0) return undefined;
    const contentType = onlyType(context);
    try {
      const lifted = liftedFor(context);
      response.setBody(
        await masked(masker, { direction: 'response', lifted }, contentType ?? '', body, context.client.ip),
      );
      noteEncoding(contentType, (value) => response.setHeader('Content-Type', value));
      return undefined;
    } catch (error) {
      const fault = responseFault(error);
      if (fault === null) throw error;
      return refused(fault, (error as Error).message);
    }
  }

  function refused(fault: Reply, reason: string): Reply {
    tools.count('refused_answers');
    report(reason);
    return fault;
  }

  return {
    access(context) {
      if (masksAnswers && isUpgrade(context)) {
        return refuse(400, 'Connections that change their protocol are not accepted here');
      }
      const lifted = exceptions === null ? 0 : exceptions(context);
      return lifted instanceof Promise ? lifted.then((bits) => enter(context, bits)) : enter(context, lifted);
    },

    ...(masksAnswers ? bodyPhases() : {}),

    headerFilter(context) {
      const rules = answerRules(context);
      if (context.response.source === 'upstream') {
        const { masker } = rules;
        if (masker !== null) markAnswer(context, tagsOf(rules), masker.typeOf(onlyType(context)).format !== 'pass');
        if (differs) keepPrivate(context);
      }
      if (rules.head !== null) maskAnswerHead(context, rules.head);
    },

    // Fields behind the body are not looked into; only clients that ask for them get any.
    ...(masksAnswers || masksFields(sets) ? { bodyFilter: withoutTrailers } : {}),

    logMask: {
      ...(logs.query === null ? {} : { query: logs.query }),
      ...(logs.isEmpty ? {} : { header: (name, value) => loggedHeader(logs, name, value) }),
    },
  };

  function bodyPhases(): PluginPhases {
    return {
      wantsBody(context) {
        const { masker } = answerRules(context);
        const { status } = context.response;
        if (masker === null || status === 204 || status === 304) return false;
        return masker.typeOf(onlyType(context)).format !== 'pass';
      },

      // Before it would be collected: such an answer has no end.
      backendAnswer(context) {
        const { masker } = answerRules(context);
        const type = context.response.header('content-type');
        if (masker === null || type === null || !isEventStream(type)) return null;
        if (masker.typeOf(type).format === 'pass') return null;
        return refused(
          refuse(502, 'The answer cannot be masked: it is a stream of events'),
          'it is a stream of events',
        );
      },

      response(context) {
        const rules = answerRules(context);
        const { response } = context;
        if (rules.masker === null) return undefined;
        if (response.status === 206)
          return refused(refuse(502, 'The answer cannot be masked: it is a part'), 'it is a part');
        const unknown = response
          .headerValues('content-encoding')
          .some((value) => !/^[ \t]*(?:identity)?[ \t]*$/i.test(value));
        if (unknown && response.body().byteLength > 0) {
          return refused(
            refuse(502, 'The answer cannot be masked: its coding is not known'),
            'its coding is not known',
          );
        }
        return maskAnswer(context, rules);
      },
    };
  }
}

/** Null: there is none, or more than one. */
function onlyType({ response }: HeaderFilterContext | ResponseContext): string | null {
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

/** XML is always sent in UTF-8. */
function noteEncoding(contentType: string | null, set: (value: string) => void): void {
  if (contentType === null || !/^[^;]*[/+]xml[ \t]*;/i.test(contentType) || !charsetParameter.test(contentType)) return;
  set(contentType.replace(charsetParameter, '; charset=utf-8'));
}
