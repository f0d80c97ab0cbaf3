// What counting a request for analytics costs: node benchmarks/micro/analytics.ts
import { randomUUID } from 'node:crypto';
import { type CountedRequest, UsageRecorder } from '../../src/data/usage/usage-recorder.ts';
import { createUsageMemory } from '../../src/shared/usage/usage-memory.ts';
import { monotonic } from '../../src/shared/util/time/clock.ts';

const requests = 2_000_000;
const rounds = 5;

function entity(name: string): { readonly id: string; readonly name: string } {
  return { id: randomUUID(), name };
}

function requestsOf(routes: number, consumers: number): readonly CountedRequest[] {
  const service = entity('service');
  const known = Array.from({ length: routes }, (_, at) => entity(`route ${at}`));
  const people = Array.from({ length: consumers }, (_, at) => {
    return { id: randomUUID(), username: `consumer ${at}`, customId: null };
  });
  return Array.from({ length: Math.max(64, routes * Math.max(1, consumers)) }, (_, at) => {
    const now = monotonic();
    return {
      route: known[at % routes] ?? null,
      service,
      consumer: people[Math.floor(at / routes) % Math.max(1, consumers)] ?? null,
      apiVersion: '',
      status: 200,
      startedAt: Date.now(),
      startedMono: now,
      upstreamStartedMono: now,
      firstByteMono: now + 1,
    };
  });
}

function measure(name: string, of: readonly CountedRequest[]): void {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const recorder = new UsageRecorder(createUsageMemory(10_000));
    const start = process.cpuUsage();
    for (let at = 0; at < requests; at++) recorder.record(of[at % of.length]!, 200, 400);
    const { user, system } = process.cpuUsage(start);
    times.push(((user + system) * 1e3) / requests);
  }
  const best = Math.min(...times).toFixed(0);
  process.stdout.write(`${name.padEnd(32)} ${best} ns CPU/request\n`);
}

measure('one route', requestsOf(1, 0));
measure('100 routes in turn', requestsOf(100, 0));
measure('10 routes, 100 consumers', requestsOf(10, 100));
measure('a million consumers', requestsOf(1, 1_000_000));
