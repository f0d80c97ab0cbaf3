import { gatewayTime } from '../clock/gateway-time.ts';
import { simpleConfig } from './config/contract.ts';
import { GatewayInMemory } from './gateway-in-memory.ts';
import type { TestGatewayOptions } from './options.ts';

/** Opens the gateway in a time of its own, and a client outside of it. */
export async function openTestGateway(options: TestGatewayOptions): Promise<GatewayInMemory> {
  const time = gatewayTime(options.clock ?? 'manual');
  try {
    const gateway = await time.run(() => GatewayInMemory.open({ ...options, time }));
    await gateway.apply(options.config ?? simpleConfig(...(options.plugins ?? [])));
    return gateway;
  } catch (error) {
    time.end();
    throw error;
  }
}
