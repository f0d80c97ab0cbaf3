import type { AdminDependencies } from '../contract.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';

/** `GET /status`: for monitoring; decK and the Ingress Controller use it to check that a node runs. */
export function statusRoute(deps: AdminDependencies): AdminRoute {
  return {
    path: '/status',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: (request) => readStatus(deps, request),
        notes: {
          summary: 'Connections, memory, load and the reach of the database',
          answer: 'object',
          queryParameters: [
            {
              name: 'unit',
              description: 'Unit of memory sizes',
              schema: { type: 'string', enum: ['b', 'k', 'm', 'g'], default: 'm' },
            },
            {
              name: 'scale',
              description: 'Decimals of memory sizes',
              schema: { type: 'integer', minimum: 0, maximum: 99, default: 2 },
            },
          ],
        },
      },
    },
  };
}

/** `GET /status/ready`: whether the node should receive traffic. */
export function readyRoute(deps: AdminDependencies): AdminRoute {
  return {
    path: '/status/ready',
    tag: 'node',
    operations: {
      GET: {
        access: 'read',
        handle: () => {
          const reason = deps.node.notReadyReason();
          return reason === null ? ok({ message: 'ready' }) : { status: 503, json: { message: reason } };
        },
        notes: { summary: 'Whether the node has a configuration and listens', answer: 'object' },
      },
    },
  };
}

async function readStatus(deps: AdminDependencies, request: AdminRequest): Promise<Answer> {
  const size = sizeFormat(request);
  const [memory, source] = await Promise.all([deps.node.memory(), configSource(deps)]);
  const connections = deps.node.connections();
  return ok({
    memory: {
      workers_lua_vms: memory.map(({ worker, heapUsed }) => ({
        http_allocated_gc: size(heapUsed),
        pid: deps.node.pids.workers[worker] ?? deps.node.pids.master,
      })),
      lua_shared_dicts: {},
    },
    zones: deps.node.zones(),
    plugins: deps.node.pluginCounts(),
    server: {
      connections_accepted: connections.accepted,
      connections_active: connections.active,
      connections_handled: connections.handled,
      connections_reading: connections.reading,
      connections_writing: connections.writing,
      connections_waiting: connections.waiting,
      total_requests: connections.totalRequests,
      shed_requests: connections.shed,
    },
    load: loadOf(deps),
    ...source,
  });
}

/** What to scale by; seconds. */
function loadOf({ nodes }: AdminDependencies): Readonly<Record<string, unknown>> {
  const { inFlight, loopDelay, shed } = nodes.load();
  const age = nodes.configAge();
  return {
    requests_in_flight: inFlight,
    event_loop_delay: Math.round(loopDelay) / 1000,
    shed_requests: shed,
    config_age: age === null ? null : Math.round(age) / 1000,
  };
}

/** Clients tell nodes with and without a database apart by these members. */
async function configSource(deps: AdminDependencies): Promise<Readonly<Record<string, unknown>>> {
  const { declarative, configHash } = deps;
  if (configHash !== null) return { configuration_hash: configHash() };
  if (declarative !== null) return { configuration_hash: declarative.hash };
  return { database: { reachable: await isReachable(deps) } };
}

async function isReachable({ store }: AdminDependencies): Promise<boolean> {
  try {
    await store.ping();
    return true;
  } catch {
    return false;
  }
}

const units: Readonly<Record<string, { readonly bytes: number; readonly name: string }>> = {
  k: { bytes: 2 ** 10, name: 'KiB' },
  m: { bytes: 2 ** 20, name: 'MiB' },
  g: { bytes: 2 ** 30, name: 'GiB' },
};

function sizeFormat(request: AdminRequest): (bytes: number) => string | number {
  const name = request.query.first('unit') ?? 'm';
  const scale = readScale(request.query.first('scale'));
  if (name === 'b' || name === 'B') return (bytes) => bytes;
  const unit = Object.hasOwn(units, name.toLowerCase()) ? units[name.toLowerCase()] : undefined;
  if (unit === undefined) {
    throw plainError(400, `invalid unit '${name}' (expected 'k/K', 'm/M', or 'g/G')`);
  }
  return (bytes) => `${(bytes / unit.bytes).toFixed(scale)} ${unit.name}`;
}

function readScale(text: string | undefined): number {
  if (text === undefined) return 2;
  if (!/^\d{1,2}$/.test(text)) throw plainError(400, `invalid scale '${text}' (expected an integer between 0 and 99)`);
  return Number(text);
}
