import {
  type TestOutcome,
  type TestPluginOptions,
  type TestRequest,
  testPlugin,
} from '../../../plugin-testing/index.ts';
import dataMasking from '../index.ts';
import type { RuleInput } from './rule-config.ts';

/* Sends bodies through the plugin, for tests. */

export type Rules = readonly RuleInput[];
export type Config = Readonly<Record<string, unknown>>;

export function withNames(rules: Rules): readonly Config[] {
  return rules.map((rule, at) => ({ name: `rule-${at}`, ...rule }));
}

export function send(
  rules: Rules,
  request: TestRequest,
  config: Config = {},
  options: TestPluginOptions = {},
): Promise<TestOutcome> {
  return testPlugin(dataMasking, { config: { rules: withNames(rules), ...config }, ...options }).request(request);
}

/** Sends a request body; returns the body that the backend receives. */
export async function sent(
  rules: Rules,
  type: string | null,
  body: string | Uint8Array,
  config: Config = {},
): Promise<string | number> {
  const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
  const { upstream, response } = await send(rules, { method: 'POST', headers, body }, config);
  return upstream === null ? response.status : (upstream.body ?? '');
}

/** Sends a response body; returns the body that the client receives. */
export async function answered(
  rules: Rules,
  type: string | null,
  body: string | Uint8Array,
  config: Config = {},
): Promise<string | number> {
  const headers: Record<string, string> = type === null ? {} : { 'Content-Type': type };
  const { response } = await send(rules, { backend: { headers, body: [body] } }, config);
  return response.status === 200 ? response.body : response.status;
}

export const json = 'application/json';
export const form = 'application/x-www-form-urlencoded';
