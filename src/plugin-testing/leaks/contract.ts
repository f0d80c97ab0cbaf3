import type { ConfigInput } from '../../plugin-sdk/define-plugin.ts';
import type { BackendHandler } from '../gateway/backend/contract.ts';
import type { GatewayRequest } from '../gateway/client/contract.ts';
import type { InstanceConfig, TestConfig } from '../gateway/config/contract.ts';
import type { TestGatewayOptions } from '../gateway/options.ts';

export interface LeakOptions<C> extends Pick<TestGatewayOptions, 'settings' | 'background'> {
  /** Of the instance under test. Default: the plugin's defaults. */
  readonly config?: ConfigInput<C>;
  /** The config around the instance. Default: `simpleConfig`. */
  readonly configure?: (instance: InstanceConfig) => TestConfig;
  /**
   * The requests; `n` counts on. The default repeats the same 50, so that a cache which fills up is no leak. With a path for each `n`,
   * you find a cache without a limit.
   */
  readonly request?: (n: number) => GatewayRequest;
  /** Answers of the backend. Default: 200 with what it received, as JSON. */
  readonly backend?: BackendHandler;
  /** Requests of a round. Default: 50. */
  readonly requests?: number;
}

/** Something that grows and should not. */
export interface Leak {
  /** `heap`: memory. `timers`, `listeners` (of the process), `handles` (sockets, files, workers): their number. */
  readonly kind: 'heap' | 'timers' | 'listeners' | 'handles';
  /** `request`: it grows with requests. `setup`: it grows each time an instance is set up and disposed of. */
  readonly per: 'request' | 'setup';
  /** Bytes, or how many, for each of them. */
  readonly amount: number;
  /** Where it was made: `function (file:line:column)`. Null: not known. */
  readonly place: string | null;
  /** All of it in a sentence. */
  readonly message: string;
}

export interface LeakReport {
  /** Empty: nothing grows. */
  readonly leaks: readonly Leak[];
  /** Growth of the heap in bytes; about 0 without a leak. */
  readonly bytesPerRequest: number;
  readonly bytesPerSetup: number;
}
