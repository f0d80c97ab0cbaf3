import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DnsError } from '../types.ts';
import { DnsClient, type DnsClientOptions } from './dns-client.ts';

export interface TestClient extends AsyncDisposable {
  readonly client: DnsClient;
  writeHosts(text: string): Promise<void>;
  writeResolvConf(text: string): Promise<void>;
  /** `10.0.0.1`, or with a service record `10.0.0.1:8080*3 b.test`; sorted. */
  addresses(name: string): Promise<readonly string[]>;
  /** The error with which a name is refused. */
  failure(name: string): Promise<DnsError>;
}

export interface TestClientOptions extends Partial<DnsClientOptions> {
  readonly hosts?: string;
  readonly conf?: string;
}

/** A client with files of its own; nothing of the machine's. */
export async function createTestClient({ hosts = '', conf = '', ...options }: TestClientOptions): Promise<TestClient> {
  const directory = await mkdtemp(join(tmpdir(), 'sluicegate-dns-client-'));
  const hostsFile = join(directory, 'hosts');
  const resolvConf = join(directory, 'resolv.conf');
  await writeFile(hostsFile, hosts);
  await writeFile(resolvConf, conf);
  const client = new DnsClient({
    servers: [],
    order: ['LAST', 'SRV', 'A', 'CNAME'],
    validTtl: null,
    staleTtl: 3_600_000,
    size: 100,
    hostsFile,
    resolvConf,
    ...options,
  });
  return {
    client,
    writeHosts: (text) => writeFile(hostsFile, text),
    writeResolvConf: (text) => writeFile(resolvConf, text),
    async addresses(name) {
      const { addresses } = await client.resolve(name);
      return addresses
        .map(({ ip, port, weight, name: of }) => (weight === null ? ip : `${ip}:${port}*${weight} ${of}`))
        .sort();
    },
    async failure(name) {
      try {
        const answer = await client.resolve(name);
        throw new Error(`${name} has addresses: ${JSON.stringify(answer)}`);
      } catch (error) {
        if (error instanceof DnsError) return error;
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Tries until the check passes; its last error after `timeout` milliseconds. */
export async function eventually(check: () => Promise<void> | void, timeout = 10_000): Promise<void> {
  const end = performance.now() + timeout;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
