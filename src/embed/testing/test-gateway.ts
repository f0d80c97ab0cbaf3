import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type CreateGatewayOptions, createGateway, type Gateway, type GatewayConfig } from '../index.ts';

/** A gateway that is closed with the test. Its log is dropped. */
export async function openGateway(t: TestContext, options: CreateGatewayOptions = {}): Promise<Gateway> {
  const gateway = await createGateway({ log: () => {}, ...options });
  t.after(() => gateway.close({ timeout: 0 }));
  return gateway;
}

/** One service with a route for each path. */
export function configOf(url: string, more: Partial<GatewayConfig> = {}, ...paths: readonly string[]): GatewayConfig {
  const routes = (paths.length === 0 ? ['/'] : paths).map((path, at) => ({ name: `route-${at}`, paths: [path] }));
  return { services: [{ name: 'backend', url, routes }], ...more };
}

/** A server of `node:http` that is closed with the test. */
export async function openServer(
  t: TestContext,
  listener: RequestListener,
): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}
