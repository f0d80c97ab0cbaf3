import type { ConfigInput } from '../../plugin-sdk/define-plugin.ts';
import type { BackendHandler } from '../gateway/backend/contract.ts';
import type { GatewayRequest, TestAnswer } from '../gateway/client/contract.ts';
import type { InstanceConfig, TestConfig } from '../gateway/config/contract.ts';
import type { TestGateway, TestGatewayOptions } from '../gateway/options.ts';

/** Registers a test: `test` of `node:test` or of vitest. */
export type RegisterTest = (name: string, body: () => Promise<void>) => unknown;

export interface ContractOptions<C> extends Pick<TestGatewayOptions, 'settings' | 'background'> {
  /** Of the instance under test. Default: the plugin's defaults. */
  readonly config?: ConfigInput<C>;
  /** What all requests of the suite have, such as a credential that the plugin accepts. Default: nothing. */
  readonly request?: Pick<GatewayRequest, 'headers' | 'path' | 'clientIp' | 'scheme'>;
  /** The config around the instance, for plugins that need consumers. Default: `simpleConfig`. */
  readonly configure?: (instance: InstanceConfig) => TestConfig;
  /** Answers of the backend. Default: 200 with what it received, as JSON. */
  readonly backend?: BackendHandler;
  /** Names of cases that do not apply to the plugin. */
  readonly skip?: readonly string[];
}

/** One test of the suite. */
export interface ContractCase {
  readonly name: string;
  run(rig: ContractRig): Promise<void>;
}

/** What a case works with. */
export interface ContractRig {
  readonly gateway: TestGateway;
  /** The config with the instance under test. */
  readonly config: TestConfig;
  /** The same without it. */
  readonly without: TestConfig;
  /** A request with what the options say all of them have; a path is appended to theirs. */
  request(request?: GatewayRequest): GatewayRequest;
  /** The answer, with the clock moved as far as it takes. Fails when there is none, or one that is not complete. */
  answer(request?: GatewayRequest): Promise<TestAnswer>;
  /** The first bytes of a request over a connection of its own: request line, `Host` and the common fields. */
  head(method: string, path: string): string;
}
