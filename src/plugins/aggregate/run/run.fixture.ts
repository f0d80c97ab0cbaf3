import type { BackendAnswer, BackendCall } from '../../../plugin-sdk/index.ts';
import { type TestOutcome, type TestRequest, testPlugin } from '../../../plugin-testing/index.ts';
import aggregate from '../index.ts';

export type Config = Readonly<Record<string, unknown>>;
type Backend = (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;

/** A response of a backend; a value is sent as JSON. */
export function backendResponse(
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): BackendAnswer {
  const all: Record<string, readonly string[]> = { 'content-type': ['application/json'] };
  for (const [name, text] of Object.entries(headers)) all[name] = [text];
  return {
    status,
    header: (name) => all[name.toLowerCase()]?.[0] ?? null,
    headerValues: (name) => all[name.toLowerCase()] ?? [],
    headers: () => all,
    block: () => '',
    body: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)),
  };
}

/** Responds by the path of the call. */
function byPath(answers: Readonly<Record<string, unknown>>, calls: BackendCall[] = []): Backend {
  return (call) => {
    calls.push(call);
    const found = answers[call.path ?? ''];
    if (found === undefined) return backendResponse({ message: 'secret of the backend' }, 404);
    if (found instanceof Error) throw found;
    return typeof found === 'function' ? found(call) : backendResponse(found);
  };
}

export interface RunResult extends TestOutcome {
  readonly json: Record<string, unknown>;
  readonly calls: readonly BackendCall[];
}

export async function run(
  config: Config,
  answers: Readonly<Record<string, unknown>>,
  request: TestRequest = {},
): Promise<RunResult> {
  const calls: BackendCall[] = [];
  const outcome = await testPlugin(aggregate, { config, calls: byPath(answers, calls) }).request(request);
  return { ...outcome, json: JSON.parse(outcome.response.body || '{}') as Record<string, unknown>, calls };
}

export const user = { name: 'user', path: '/users/42' };
