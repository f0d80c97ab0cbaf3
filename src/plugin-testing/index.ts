/**
 * Tests of plugins: `sluicegate/plugin-testing`. `testPlugin` runs requests and streams through a plugin without a socket, with
 * the contexts and the phase loops of the gateway.
 *
 * @example
 * import assert from 'node:assert/strict';
 * import { test } from 'node:test';
 * import { testPlugin } from 'sluicegate/plugin-testing';
 * import hello from './index.ts';
 *
 * test('greets the client', async () => {
 *   const { upstream, response } = await testPlugin(hello).request({ path: '/?name=Ada' });
 *   assert.equal(upstream?.header('x-greeted'), 'Ada');
 *   assert.equal(response.header('x-hello'), 'Hello, Ada!');
 * });
 */

export type { ContractOptions, RegisterTest } from './contract/contract.ts';
export { contractCases, pluginContract } from './contract/plugin-contract.ts';
export type * from './gateway/backend/contract.ts';
export {
  type AnswerHead,
  type GatewayRequest,
  NoAnswerError,
  type RunningRequest,
  type TestAnswer,
} from './gateway/client/contract.ts';
export { type InstanceConfig, pluginInstance, simpleConfig, type TestConfig } from './gateway/config/contract.ts';
export { createTestGateway } from './gateway/create-test-gateway.ts';
export type { RawConnection, TestBackends, TestClock, TestGateway, TestGatewayOptions } from './gateway/options.ts';
export type { Leak, LeakOptions, LeakReport } from './leaks/contract.ts';
export { leakCheck } from './leaks/leak-check.ts';
export type { TestCalls, TestOutcome } from './run-request.ts';
export type { TestResponse } from './test-client.ts';
export type { ConfigCheck } from './test-config.ts';
export type { TestEntities } from './test-entities.ts';
export type { TestBackend, TestRequest } from './test-exchange.ts';
export { type TestLogLine, testNode, testSettings } from './test-host.ts';
export { type PluginTest, type TestPluginOptions, testPlugin } from './test-plugin.ts';
export type { TestStream, TestStreamOutcome } from './test-stream.ts';
