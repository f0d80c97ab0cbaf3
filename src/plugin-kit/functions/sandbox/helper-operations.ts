import type { PluginTools } from '../../../plugin-sdk/tools.ts';
import { encode } from '../encode.ts';
import type { Argument, Operation } from './operations.ts';

/** Names that one instance may count: they must not come from requests. */
const maxCounters = 64;

/** What functions in the sandbox can call by its name alone, in any phase and while they are set up. */
export function helperOperations(tools: PluginTools): readonly Operation[] {
  const helper = (
    path: string,
    parameters: Operation['arguments'],
    run: (...given: Argument[]) => unknown,
  ): Operation => ({
    ...{ path, phases: [], kind: 'method', arguments: parameters },
    run: (_, first, second) => run(first, second),
  });
  const logged = (level: 'debug' | 'info' | 'warn' | 'error'): Operation =>
    helper(`log.${level}`, ['text', 'json'], (message, fields) =>
      tools.log[level](String(message), fieldsOf(JSON.parse(String(fields)))),
    );
  const counters = new Set<string>();
  const counted = (name: string, by: number): void => {
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(name))
      throw new Error(`'${name.slice(0, 64)}' is not the name of a counter: a_b`);
    if (counters.add(name).size > maxCounters) throw new Error(`more than ${maxCounters} counters`);
    tools.count(name, Number.isFinite(by) ? by : 1);
  };
  return [
    ...(['debug', 'info', 'warn', 'error'] as const).map(logged),
    helper('count', ['text', 'json'], (name, by) => counted(String(name), Number(JSON.parse(String(by)) ?? 1))),
    helper('encode.base64', ['text'], (text) => encode.base64(String(text))),
    helper('encode.fromBase64', ['text'], (text) => encode.fromBase64(String(text))),
    helper('encode.base64url', ['text'], (text) => encode.base64url(String(text))),
    helper('encode.sha256', ['text'], (text) => encode.sha256(String(text))),
    helper('encode.hmacSha256', ['text', 'text'], (key, text) => encode.hmacSha256(String(key), String(text))),
  ];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
