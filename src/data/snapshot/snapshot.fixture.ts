import { AddressBook } from '../../control/publish/address-book.ts';
import { definePlugin, type Plugin } from '../../plugin-sdk/define-plugin.ts';
import { testHost } from '../../plugin-testing/test-host.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { SnapshotDelta, SnapshotFailure } from '../../shared/messages/messages.ts';
import { AddressZone, createAddressZone } from '../../shared/zones/address-zone.ts';
import type { RouteMatch, RouteQuery } from '../router/router.ts';
import type { RuntimeRoute } from './runtime.ts';
import { LiveSnapshot } from './snapshot.ts';

/** What instances of the `probe` plugin did, in order: `setup a`, `dispose a`. */
export interface Probe {
  readonly events: string[];
  readonly plugins: ReadonlyMap<string, Plugin>;
}

export function createProbe(): Probe {
  const events: string[] = [];
  const probe = definePlugin<{ readonly mark: string }>({
    name: 'probe',
    version: '1.0.0',
    priority: 100,
    protocols: ['http', 'https'],
    schema: () => Promise.reject(new Error('workers never load schemas')),
    needs: ({ mark }) => ({ clientCertificate: mark === 'certificate' }),
    setup: ({ mark }) => {
      if (mark === 'bad') throw new Error('mark must not be bad');
      events.push(`setup ${mark}`);
      return { access: () => undefined, dispose: () => void events.push(`dispose ${mark}`) };
    },
  });
  return { events, plugins: new Map([['probe', probe]]) };
}

export function createSnapshot(probe: Probe = createProbe()): LiveSnapshot {
  return new LiveSnapshot({
    zone: new AddressZone(createAddressZone(1), 0),
    plugins: probe.plugins,
    host: testHost({}, [], new Map()),
  });
}

/** Applies to the snapshot what the control plane would send: each delta with the resulting addresses. */
export function withAddresses(snapshot: LiveSnapshot): { apply(delta: SnapshotDelta): readonly SnapshotFailure[] } {
  const names = { get: () => null, watch: () => {}, unwatch: () => {} };
  const book = new AddressBook(new AddressZone(createAddressZone(1), -1), names);
  return { apply: (change) => snapshot.apply(change, book.change(change)) };
}

let version = 0;

export function delta(
  upserts: SnapshotDelta['upserts'],
  removes: SnapshotDelta['removes'] = {},
  full = false,
): SnapshotDelta {
  version += 1;
  return { version, full, upserts, removes };
}

export function serviceRow(id: string, fields: Readonly<Record<string, unknown>> = {}): Row {
  return {
    id,
    created_at: 1000,
    updated_at: 1000,
    name: id,
    protocol: 'http',
    host: `${id}.test`,
    port: 80,
    ...fields,
  };
}

export function routeRow(id: string, service: string | null, fields: Readonly<Record<string, unknown>> = {}): Row {
  const paths = [`/${id}`];
  return { id, created_at: 1000, name: id, paths, service: service === null ? null : { id: service }, ...fields };
}

export function upstreamRow(id: string, name: string, fields: Readonly<Record<string, unknown>> = {}): Row {
  return { id, created_at: 1000, name, algorithm: 'round-robin', ...fields };
}

export function targetRow(id: string, upstream: string, target: string, weight = 100): Row {
  return { id, created_at: 1000, upstream: { id: upstream }, target, weight };
}

export function pluginRow(id: string, mark: string, fields: Readonly<Record<string, unknown>> = {}): Row {
  return { id, created_at: 1000, name: 'probe', enabled: true, config: { mark }, ...fields };
}

/** The route that a GET of the path matches. */
export function routeAt(snapshot: LiveSnapshot, path: string): RuntimeRoute | null {
  const into: RouteMatch<RuntimeRoute> = { route: null, matchedPath: '', captures: null };
  const query: RouteQuery = {
    method: 'GET',
    host: 'localhost',
    port: 8000,
    path,
    scheme: 'http',
    sni: '',
    headerValues: () => [],
  };
  return snapshot.router.match(query, into) ? into.route : null;
}
