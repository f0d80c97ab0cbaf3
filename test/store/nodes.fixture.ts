import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import { type DatabasePlace, postgresEnv } from '../support/postgres.ts';

/** A node as a process of its own, with its config in a PostgreSQL. */
export interface ClusterNode extends AsyncDisposable {
  readonly process: GatewayProcess;
  readonly prefix: string;
  /** Sends JSON to the Admin API. */
  readonly admin: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** Status of a request to the proxy. */
  readonly proxy: (path: string) => Promise<number>;
}

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface NodeOptions {
  readonly schema?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The command line of another version. */
  readonly entry?: string;
}

export async function startClusterNode(place: DatabasePlace, options: NodeOptions = {}): Promise<ClusterNode> {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-cluster-'));
  const process = startGatewayProcess(prefix, { ...databaseEnv(place, options), ...options.env }, [], options.entry);
  const failed = process.exit.then((code) => {
    throw new Error(`the node has ended with ${code}:\n${process.output()}`);
  });
  failed.catch(() => undefined);
  try {
    await Promise.race([process.started(), failed]);
  } catch (error) {
    await process[Symbol.asyncDispose]();
    await rm(prefix, { recursive: true, force: true });
    throw error;
  }
  return {
    process,
    prefix,
    admin: (method, path, body) => send(`${process.url('admin')}${path}`, method, body),
    proxy: async (path) => {
      const response = await fetch(`${process.url('proxy')}${path}`);
      await response.arrayBuffer();
      return response.status;
    },
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await rm(prefix, { recursive: true, force: true });
    },
  };
}

/** The settings that name the database. */
export function databaseEnv(place: DatabasePlace, { schema = '' }: NodeOptions = {}): Record<string, string> {
  return {
    ...postgresEnv(place),
    KONG_PG_SCHEMA: schema,
  };
}

async function send(url: string, method: string, body: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

/** Creates an entity; throws unless it is created. */
export async function create(node: ClusterNode, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await node.admin('POST', path, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}
