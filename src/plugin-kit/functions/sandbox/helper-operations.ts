import type { PluginTools } from '../../../plugin-sdk/tools.ts';
import { encode } from '../encode.ts';
import type { Argument, Operation } from './operations.ts';

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
  return [
    ...(['debug', 'info', 'warn', 'error'] as const).map(logged),
    helper('count', ['text', 'json'], (name, by) => tools.count(String(name), Number(JSON.parse(String(by)) ?? 1))),
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
