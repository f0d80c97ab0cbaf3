import type { TestGateway, TestGatewayOptions } from './options.ts';

/**
 * A gateway in this thread, without a socket: the router, plugin phases, attempts, answers and the HTTP/1.1 and HTTP/2 engines of a
 * worker, with backends that are functions, a clock that you move, and the limits of a gateway. Works under any test runner.
 *
 * @throws TypeError for an invalid config, with all that is wrong with it; `SettingsError` for an invalid setting.
 *
 * @example
 * await using gateway = await createTestGateway({ plugins: [hello] });
 * const answer = await gateway.request('/?name=Ada');
 * assert.equal(answer.header('x-hello'), 'Hello, Ada!');
 * assert.equal(gateway.backend.requests[0]?.header('x-greeted'), 'Ada');
 */
export async function createTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  // `testPlugin` needs none of it, and is loaded with the same import.
  const { openTestGateway } = await import('./open-test-gateway.ts');
  return openTestGateway(options);
}
