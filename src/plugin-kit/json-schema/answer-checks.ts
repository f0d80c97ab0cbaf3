import type { BaseContext } from '../../plugin-sdk/contexts.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { type Reply, refuse } from '../../plugin-sdk/reply.ts';
import type { ResponseHeadView } from '../../plugin-sdk/response-views.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';
import { answerCopy } from '../http/answer-copy.ts';
import type { BodyChecker, Verdict } from './body-checker.ts';

type Answered = BaseContext & { readonly response: ResponseHeadView };

/** What a response is checked against: nothing (null), a schema, or the reason why it cannot be valid. */
export type Expectation = BodyChecker | { readonly fault: string } | null;

export interface AnswerCheckOptions {
  /** `report`: answers pass while a copy is checked. `enforce`: a wrong one is answered with 502. */
  readonly mode: 'report' | 'enforce';
  /** Largest body that is checked; under `enforce` larger ones are answered with 502. */
  readonly maxBytes: number;
  expect(context: Answered): Expectation;
}

/** Phases that check the answers of backends. Counts `wrong_answers`, and logs one of them once a minute. */
export function answerChecks(
  options: AnswerCheckOptions,
  tools: PluginTools,
): Pick<PluginPhases, 'backendAnswer' | 'shouldBufferResponse' | 'response'> {
  const report = wrongAnswers(tools);
  return options.mode === 'enforce' ? enforcing(options, report) : reporting(options, report);
}

type Report = (route: string | null, status: number, verdict: Verdict | { readonly fault: string }) => void;

function reporting({ maxBytes, expect }: AnswerCheckOptions, report: Report): Pick<PluginPhases, 'backendAnswer'> {
  return {
    backendAnswer(context) {
      if (hasNoBody(context)) return null;
      const expected = expect(context);
      if (expected === null || context.response.status === 206) return null;
      const { route, response, client } = context;
      const place = route?.name ?? route?.id ?? null;
      const { status } = response;
      if (typeof expected !== 'function') {
        report(place, status, expected);
        return null;
      }
      return answerCopy(response, maxBytes, client.ip, (body) => {
        (async () => expected(body, 1, client.ip))().then(
          (verdict) => report(place, status, verdict),
          () => report(place, status, { fault: 'it could not be checked' }),
        );
      });
    },
  };
}

function enforcing(
  { expect }: AnswerCheckOptions,
  report: Report,
): Pick<PluginPhases, 'shouldBufferResponse' | 'response'> {
  return {
    shouldBufferResponse: (context) => !hasNoBody(context) && expect(context) !== null,
    async response(context): Promise<Reply | undefined> {
      const { response, route } = context;
      const verdict = await evaluate(expect(context), response, context.client.ip);
      if (verdict === null) return undefined;
      report(route?.name ?? route?.id ?? null, response.status, verdict);
      return refuse(502, 'The answer of the backend is not as it should be');
    },
  };
}

/** Null: it is right. */
async function evaluate(
  expected: Expectation,
  response: ResponseHeadView & { body(): Uint8Array },
  client: string,
): Promise<Verdict | { readonly fault: string } | null> {
  if (expected === null) return null;
  if (typeof expected !== 'function') return expected;
  if (response.status === 206) return { fault: 'it is only a part' };
  if (response.header('content-encoding') !== null) return { fault: 'its content coding is unknown' };
  const verdict = await expected(response.body(), 1, client);
  return verdict.kind === 'right' ? null : verdict;
}

function hasNoBody({ request, response }: Answered): boolean {
  return request.method === 'HEAD' || response.status === 204 || response.status === 304;
}

const quietTime = 60_000;

function wrongAnswers(tools: PluginTools): Report {
  let quietUntil = 0;
  return (route, status, verdict) => {
    if ('kind' in verdict && verdict.kind === 'right') return;
    tools.count('wrong_answers');
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + quietTime;
    tools.log.warn('an answer of a backend is not as it should be', { route, status, ...facts(verdict) });
  };
}

function facts(verdict: Verdict | { readonly fault: string }): Readonly<Record<string, unknown>> {
  if ('fault' in verdict) return { reason: verdict.fault };
  if (verdict.kind === 'syntax') return { reason: verdict.message };
  if (verdict.kind === 'wrong') return { ...verdict.violations[0] };
  return { reason: 'it could not be checked in time' };
}
