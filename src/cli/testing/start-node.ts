// Runs `sluicegate start` with a gateway that only serves HTTP, so that the command is tested as a process of its own.
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeAddresses } from '../../boot/process/node-files.ts';
import type { Gateway } from '../../gateway.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { run } from '../run.ts';

async function startGateway(settings: Settings): Promise<Gateway> {
  const server = createServer((_request, response) => void response.writeHead(200).write('begun'));
  const [address] = settings.proxyListen;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(address?.port, address?.ip, () => resolve());
  });
  const addresses = {
    proxy: [{ ip: '127.0.0.1', port: portOf(server), ssl: false }],
    stream: [],
    admin: [],
    status: [],
    dashboard: [],
    portal: [],
    cluster: [],
  };
  // Other commands read there that the node listens.
  writeAddresses({ ...settings, statusListen: [] }, addresses);
  return {
    addresses,
    stop: (graceful) =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if (!graceful) server.closeAllConnections();
      }),
    reopenLogs: () => process.stderr.write('logs reopened\n'),
    reload: async () => {
      process.stderr.write('logs reopened\n');
      return { applied: ['log_level'], byNewProcess: [], restart: ['drain_timeout'] };
    },
    pluginReload: { run: async () => ({ state: 'unchanged', plugins: [], took: 0 }) },
    estate: () => {
      throw new Error('not supported');
    },
    handOver: () => Promise.reject(new Error('not supported')),
    isAlive: () => true,
    log: { log: () => {} },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

process.exit(await run(process.argv.slice(2), { loadGateway: async () => ({ startGateway }) }));
