/** Where a number comes from. `aim`: what a test holds the code to; `assumed`: a choice that you can make differently. */
export type Source = 'measured' | 'benchmark' | 'calculated' | 'aim' | 'assumed';

export interface Constant {
  readonly value: number;
  readonly unit: string;
  readonly what: string;
  readonly source: Source;
}

/**
 * All numbers from which docs/sizing.md is computed. `measured`: by `node benchmarks/cluster-costs.ts`, three nodes and PostgreSQL on
 * a machine with 2 cores; `benchmark`: docs/benchmarks.md.
 */
export const constants = {
  requestCpu: {
    value: 20.1,
    unit: 'µs',
    what: 'CPU per request with `key-auth` and `rate-limiting`',
    source: 'benchmark',
  },
  nodeCores: { value: 8, unit: 'cores', what: 'size of a node', source: 'assumed' },
  targetBusy: {
    value: 0.6,
    unit: '',
    what: 'how busy the workers are when the number of nodes is right',
    source: 'assumed',
  },
  startTime: { value: 1, unit: 'min', what: 'from the decision to a node that is ready', source: 'assumed' },
  idleTransactions: {
    value: 5.7,
    unit: '/s',
    what: 'transactions of an idle node, its reports included',
    source: 'measured',
  },
  idleCpu: { value: 0.16, unit: 'ms/s', what: 'CPU of the database for an idle node', source: 'measured' },
  connections: { value: 3, unit: '', what: 'connections of an idle node to the database', source: 'measured' },
  maxConnections: {
    value: 18,
    unit: '',
    what: 'connections of a busy node at most: `pg_pool_size`, and 8 of its own',
    source: 'calculated',
  },
  editTransactions: {
    value: 1.4,
    unit: '',
    what: 'transactions of an edit, without the nodes that read it',
    source: 'measured',
  },
  editReads: { value: 1, unit: '', what: 'transactions of each node that reads an edit', source: 'measured' },
  editCpu: {
    value: 1,
    unit: 'ms',
    what: 'CPU of the database for an edit and each node that reads it',
    source: 'measured',
  },
  editLog: { value: 3.1, unit: 'kB', what: 'write-ahead log of an edit', source: 'measured' },
  reportInterval: { value: 5, unit: 's', what: 'between two reports of a node', source: 'calculated' },
  reportCpu: { value: 0.12, unit: 'ms', what: 'CPU of the database for a report', source: 'measured' },
  reportBytes: { value: 1, unit: 'kB', what: 'size of a report', source: 'calculated' },
  leaseCpu: { value: 0.37, unit: 'ms', what: 'CPU of the database for a lease', source: 'measured' },
  leaseRate: { value: 13, unit: '/s', what: 'leases of a node for a hot limit', source: 'measured' },
  hotLimits: {
    value: 10,
    unit: '',
    what: 'limits with the policy `cluster` that are in use on all nodes at a time',
    source: 'assumed',
  },
  edits: { value: 1, unit: '/s', what: 'edits while a deployment runs', source: 'assumed' },
  controlPlanes: { value: 3, unit: '', what: 'control planes, with data planes', source: 'assumed' },
  editBytes: {
    value: 0.8,
    unit: 'kB',
    what: 'what a control plane sends a data plane for an edit',
    source: 'measured',
  },
} as const satisfies Readonly<Record<string, Constant>>;
