import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterCertificate } from '../../../src/shared/tls/self-signed.ts';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, median, percentile } from '../../support/figures/figures.ts';
import { AdminClient } from '../../support/gateway/admin-client.ts';
import { fillConsumers } from '../../support/gateway/fill-consumers.ts';
import { type GatewaySubject, startGateway } from '../../support/gateway/gateway.ts';
import { memoryOf } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';
import { startCountingRelay } from '../../support/peers/counting-relay.ts';

const scenario = 'hybrid';
const consumers = 1_000_000;
/** Services, each with a route. */
const services = Number(process.env['BENCH_SERVICES'] ?? 50_000);
const edits = 40;
const megabyte = 2 ** 20;
/** Milliseconds until an edit has to be there. */
const editLimit = 5_000;

type Environment = Readonly<Record<string, string>>;

/** A control plane and a data plane: the start with a million consumers, and the cost of an edit at 100,000 entities. */
export const hybrid: Scenario = {
  name: scenario,
  run: async (context) => [...(await startWithConsumers(context)), ...(await editsOfLargeConfig(context))],
};

async function startWithConsumers(context: BenchContext): Promise<readonly Figure[]> {
  const certificate = writeCertificate(context.folder);
  const first = await startControlPlane(context, certificate);
  const admin = new AdminClient(first.adminUrl);
  await admin.addRoutes(context.backend.url, 1);
  await admin.write('POST', '/routes/route-0/plugins', { name: 'key-auth' });
  admin.close();
  await first.stop();
  fillConsumers(join(first.prefix, 'store.sqlite'), consumers);
  const controlPlane = await startControlPlane(context, certificate, first.prefix);
  try {
    const begun = performance.now();
    const dataPlane = await startDataPlane(context, certificate, controlPlane.clusterAddress);
    const headers = { apikey: `key-${String(consumers / 2).padStart(7, '0')}` };
    const { status } = await fetch(`${dataPlane.url}/r/0`, { headers });
    const start = (performance.now() - begun) / 1000;
    if (status !== 200) throw new BenchError(`the first request of a consumer was answered ${status}`);
    await delay(3_000);
    const memory = memoryOf(dataPlane.pids()).resident / megabyte;
    await dataPlane.stop();
    const again = performance.now();
    const second = await startDataPlane(context, certificate, controlPlane.clusterAddress, dataPlane.prefix);
    const restart = (performance.now() - again) / 1000;
    await second.stop();
    return [
      figure({
        scenario,
        what: 'start to the first request of a consumer of 1,000,000',
        unit: 's',
        gateway: start,
        max: 2,
      }),
      figure({
        scenario,
        what: 'memory of that data plane, shared pages in full',
        unit: 'MB',
        gateway: memory,
        max: 300,
      }),
      figure({ scenario, what: 'start from its copy', unit: 's', gateway: restart, max: 2 }),
    ];
  } finally {
    await controlPlane.stop();
  }
}

async function editsOfLargeConfig(context: BenchContext): Promise<readonly Figure[]> {
  const certificate = writeCertificate(context.folder);
  const controlPlane = await startControlPlane(context, certificate);
  const relay = await startCountingRelay(controlPlane.clusterAddress);
  try {
    await apply(controlPlane, context.backend.url);
    const begun = performance.now();
    const dataPlane = await startDataPlane(context, certificate, relay.address);
    const start = (performance.now() - begun) / 1000;
    const whole = relay.bytes() / megabyte;
    // What follows a start, such as the first report, is no cost of an edit.
    await delay(2_000);
    const before = relay.bytes();
    const admin = new AdminClient(controlPlane.adminUrl);
    const times: number[] = [];
    for (let edit = 0; edit < edits; edit++) times.push(await timeEdit(admin, dataPlane, edit));
    const bytes = (relay.bytes() - before) / edits;
    admin.close();
    await dataPlane.stop();
    const size = `${(2 * services) / 1000},000 entities`;
    return [
      figure({ scenario, what: `start with ${size}, all of them sent`, unit: 's', gateway: start }),
      figure({ scenario, what: `bytes of ${size} on the link`, unit: 'MB', gateway: whole }),
      figure({ scenario, what: `edit with ${size} until it is routed, median`, unit: 'ms', gateway: median(times) }),
      figure({
        scenario,
        what: `edit with ${size} until it is routed, p99`,
        unit: 'ms',
        gateway: percentile(times, 99),
        max: 300,
      }),
      figure({
        scenario,
        what: 'bytes of an edit on the link, TLS included',
        unit: 'bytes',
        gateway: bytes,
        max: 2048,
      }),
    ];
  } finally {
    relay.close();
    await controlPlane.stop();
  }
}

/** Milliseconds from the request to the Admin API until a data plane routes by it. */
async function timeEdit(admin: AdminClient, dataPlane: GatewaySubject, edit: number): Promise<number> {
  const begun = performance.now();
  const written = admin.write('PATCH', '/routes/probe', { paths: [`/probe-${edit}`] });
  for (;;) {
    const response = await fetch(`${dataPlane.url}/probe-${edit}`);
    await response.arrayBuffer();
    if (response.status === 200) break;
    if (performance.now() - begun > editLimit) throw new BenchError('an edit did not reach the data plane');
  }
  const time = performance.now() - begun;
  await written;
  return time;
}

async function apply(controlPlane: GatewaySubject, url: string): Promise<void> {
  const document = {
    _format_version: '3.0',
    services: [
      { name: 'probe', url, routes: [{ name: 'probe', paths: ['/probe'] }] },
      ...Array.from({ length: services }, (_, at) => ({
        name: `service-${at}`,
        url: `http://10.0.${Math.floor(at / 250) % 250}.${at % 250}:8080/v${at % 7}`,
        routes: [
          {
            name: `route-${at}`,
            paths: [`/team-${at % 97}/service-${at}`],
            hosts: [`host-${at % 500}.example.com`],
          },
        ],
      })),
    ],
  };
  const response = await fetch(`${controlPlane.adminUrl}/config/apply?changes=0`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  });
  const text = await response.text();
  if (!response.ok) throw new BenchError(`the config was answered ${response.status}: ${text.slice(0, 200)}`);
}

function writeCertificate(folder: string): Environment {
  const { cert, key } = clusterCertificate(1);
  const files = { cert: join(folder, 'cluster.crt'), key: join(folder, 'cluster.key') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key, { mode: 0o600 });
  return { KONG_CLUSTER_CERT: files.cert, KONG_CLUSTER_CERT_KEY: files.key };
}

function startControlPlane(
  { folder }: BenchContext,
  certificate: Environment,
  prefix?: string,
): Promise<GatewaySubject> {
  const env = { ...certificate, KONG_ROLE: 'control_plane', KONG_CLUSTER_LISTEN: '127.0.0.1:0' };
  return startGateway({ folder, workers: 1, env, ...(prefix === undefined ? {} : { prefix }) });
}

function startDataPlane(
  { folder }: BenchContext,
  certificate: Environment,
  controlPlane: string,
  prefix?: string,
): Promise<GatewaySubject> {
  const env = { ...certificate, KONG_ROLE: 'data_plane', KONG_CLUSTER_CONTROL_PLANE: controlPlane };
  return startGateway({ folder, workers: 1, env, ...(prefix === undefined ? {} : { prefix }) });
}
