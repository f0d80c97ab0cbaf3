import { createNetworkNamespace, withoutNetworkNamespaces } from './network-namespace.ts';
import { startStallingProxy } from './stalling-proxy.ts';

/** A place for one node, which can lose its connection to the database while clients still reach it. */
export interface Partition extends AsyncDisposable {
  /** How the connection is lost, and why so. */
  readonly how: string;
  /** Address of the node, if it has one of its own. */
  readonly host?: string;
  /** The command that runs the node. */
  readonly through: readonly string[];
  /** Address of this machine that this node and all others reach: for backends. */
  readonly machine: string;
  /** Address where the database must listen for it. */
  readonly databaseAddress: string | null;
  /** Where the node finds the database that listens on a port of 127.0.0.1 and of `databaseAddress`. */
  database(port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** From now on packets are lost in both directions: nothing is refused, closed or reset. */
  cut(): void;
  heal(): void;
}

/** A network namespace, or, where none can be made, a proxy that stops passing bytes. */
export function createPartition(): Partition {
  const reason = withoutNetworkNamespaces();
  return reason === null ? partitionByNamespace() : partitionByProxy(reason);
}

function partitionByNamespace(): Partition {
  const network = createNetworkNamespace();
  const { address, through, machine, machineBehindLink } = network;
  return {
    how: 'a network namespace whose link drops packets',
    host: address,
    through,
    machine,
    databaseAddress: machineBehindLink,
    database: async (port) => ({ host: machineBehindLink, port }),
    cut: () => network.cut(),
    heal: () => network.heal(),
    [Symbol.asyncDispose]: async () => network[Symbol.dispose](),
  };
}

function partitionByProxy(reason: string): Partition {
  let proxy: Awaited<ReturnType<typeof startStallingProxy>> | null = null;
  return {
    how: `a proxy that stops passing bytes; ${reason}`,
    through: [],
    machine: '127.0.0.1',
    databaseAddress: null,
    async database(port) {
      proxy = await startStallingProxy({ host: '127.0.0.1', port });
      return { host: '127.0.0.1', port: proxy.port };
    },
    cut: () => proxy?.stall(),
    heal: () => proxy?.resume(),
    [Symbol.asyncDispose]: async () => await proxy?.[Symbol.asyncDispose](),
  };
}
