import type { ExplainedRequest } from '../../shared/explain/explained-request.ts';
import { hostOf, sendExplained } from '../../shared/explain/send-explained.ts';
import { CliError } from '../cli-error.ts';
import { type Explanation, readExplanation } from './read-explanation.ts';
import type { ProxyEndpoint } from './resolve-proxy.ts';

/** Milliseconds without a byte of the answer. */
const idleTimeout = 120_000;
/** Maximum bytes of an explanation; the gateway's own limit is far lower. */
const maxAnswer = 16 * 1024 * 1024;

/** Sends the request and reads the explanation of the gateway. Rejects with a `CliError`. */
export async function requestExplanation(request: ExplainedRequest, endpoint: ProxyEndpoint): Promise<Explanation> {
  const { status, body } = await sendExplained(request, endpoint, { idleTimeout, maxAnswer }).catch(
    (error: unknown) => {
      throw new CliError(`no answer from ${urlOf(endpoint)}: ${reasonOf(error)}`);
    },
  );
  const explanation = readExplanation(body.toString('utf8'));
  if (explanation !== null) return explanation;
  throw new CliError(
    `${urlOf(endpoint)} answered ${status} without an explanation: the token is not valid, or request_debug is off`,
  );
}

function urlOf(endpoint: ProxyEndpoint): string {
  return `${endpoint.secure ? 'https' : 'http'}://${hostOf(endpoint)}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
