/**
 * The gateway in an application, and its config in TypeScript: `sluicegate`. Importing it loads nothing of the gateway.
 */

export * from '../shared/gateway-config/gateway-config.ts';
export * from '../shared/gateway-config/plugin-instances.ts';
export { type ConfigErrorProblem, GatewayConfigError } from './config-error.ts';
export { createGateway } from './create-gateway.ts';
export type {
  AdminOptions,
  CreateGatewayOptions,
  FetchClient,
  Gateway,
  ListenAddress,
  ListenOptions,
  NodeHandler,
} from './gateway.ts';
