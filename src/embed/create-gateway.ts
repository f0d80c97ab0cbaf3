import type { CreateGatewayOptions, Gateway } from './gateway.ts';

type StartModule = { readonly startGateway: (options: CreateGatewayOptions) => Promise<Gateway> };

/** Not a literal of `import`: the declarations of the package would contain those of the whole gateway. */
const startModule = new URL('./start-gateway.ts', import.meta.url).href;

/**
 * Starts a gateway in this thread: the same config and the same plugins as in a process of its own, without worker threads. It registers no
 * handlers of the process and, without a `prefix`, writes no file. Nothing of it keeps the process alive but open connections and what it
 * listens on. Rejects with one line when it cannot start.
 *
 * @example
 * import { createGateway, defineConfig } from 'sluicegate';
 *
 * const gateway = await createGateway({
 *   config: defineConfig({
 *     services: [{ name: 'orders', url: 'http://127.0.0.1:9001', routes: [{ name: 'orders', paths: ['/orders'] }] }],
 *   }),
 * });
 * const { port } = await gateway.listen({ port: 0 });
 * console.log(`http://127.0.0.1:${port}/orders`);
 * await gateway.close();
 */
export async function createGateway(options: CreateGatewayOptions = {}): Promise<Gateway> {
  const { startGateway } = (await import(startModule)) as StartModule;
  return startGateway(options);
}
