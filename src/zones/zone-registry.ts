import type { Row } from '../entities/entity.ts';
import type { Plugin } from '../plugin-sdk/define-plugin.ts';
import type { ZoneKind, ZoneRequest } from '../plugin-sdk/limits.ts';
import type { SnapshotDelta, ZoneChanges } from '../workers/messages.ts';
import { leastStoreBytes } from './store-layout.ts';

interface Zone {
  readonly kind: ZoneKind;
  readonly memory: SharedArrayBuffer;
  /** Plugin instances that asked for it. */
  readonly users: Set<string>;
}

export interface NamedZone {
  readonly plugin: string;
  readonly name: string;
  readonly kind: ZoneKind;
  readonly memory: SharedArrayBuffer;
}

/** Smallest and largest zone, in bytes. */
const leastBytes = 4096;
const mostBytes = 2 ** 31;

/** The one name of a table: those of one plugin with the same name and size are the same table. */
export function zoneKey(plugin: string, { name, bytes, perWorker = 0 }: ZoneRequest): string {
  return `${plugin}/${name}/${bytes + perWorker}`;
}

/**
 * The tables in shared memory that plugin instances ask for. They live in the control plane, so that they outlive a
 * worker, and they keep what is in them as long as some instance wants them at that size, whatever else is edited.
 */
export class ZoneRegistry {
  readonly #plugins: ReadonlyMap<string, Plugin>;
  readonly #workers: number;
  readonly #zones = new Map<string, Zone>();
  /** Keys by plugin instance. */
  readonly #wanted = new Map<string, readonly string[]>();

  /** `workers`: how many share each zone. */
  constructor(plugins: ReadonlyMap<string, Plugin>, workers = 1) {
    this.#plugins = plugins;
    this.#workers = workers;
  }

  /** Makes what the delta's plugin instances ask for and lets go what none wants any more; null: nothing changed. */
  change(delta: SnapshotDelta): ZoneChanges | null {
    const rows = delta.upserts.plugins ?? [];
    const removed = delta.removes.plugins ?? [];
    if (rows.length === 0 && removed.length === 0) return null;
    const added: Record<string, SharedArrayBuffer> = {};
    const left = new Set<string>();
    for (const id of removed) for (const key of this.#release(id)) left.add(key);
    for (const row of rows) {
      const before = this.#release(row.id);
      for (const request of this.#requestsOf(row)) {
        const key = zoneKey(String(row['name']), request);
        const zone = this.#zones.get(key) ?? this.#make(key, request, added);
        // Without memory for it the instance cannot be set up, and says so; the config goes on to be followed.
        if (zone === null) continue;
        zone.users.add(row.id);
        this.#wanted.set(row.id, [...(this.#wanted.get(row.id) ?? []), key]);
      }
      for (const key of before) left.add(key);
    }
    const dropped = [...left].filter((key) => this.#zones.get(key)?.users.size === 0);
    for (const key of dropped) this.#zones.delete(key);
    return Object.keys(added).length === 0 && dropped.length === 0 ? null : { added, dropped };
  }

  /** All tables by key, for a worker that has none yet. */
  all(): Record<string, SharedArrayBuffer> {
    return Object.fromEntries([...this.#zones].map(([key, { memory }]) => [key, memory]));
  }

  list(): readonly NamedZone[] {
    return [...this.#zones].map(([key, { kind, memory }]) => {
      const [plugin = '', ...rest] = key.split('/');
      return { plugin, name: rest.slice(0, -1).join('/'), kind, memory };
    });
  }

  /** The table that a plugin instance asked for by this name; null: there is none. */
  find(instanceId: string, name: string): SharedArrayBuffer | null {
    const key = this.#wanted.get(instanceId)?.find((one) => one.split('/').slice(1, -1).join('/') === name);
    return key === undefined ? null : (this.#zones.get(key)?.memory ?? null);
  }

  #make(key: string, request: ZoneRequest, added: Record<string, SharedArrayBuffer>): Zone | null {
    const memory = allocate(Math.min(request.bytes + (request.perWorker ?? 0) * (this.#workers - 1), mostBytes));
    if (memory === null) return null;
    const zone: Zone = { kind: request.kind ?? 'table', memory, users: new Set<string>() };
    this.#zones.set(key, zone);
    added[key] = zone.memory;
    return zone;
  }

  /** Returns the keys of what the instance had. */
  #release(id: string): readonly string[] {
    const keys = this.#wanted.get(id) ?? [];
    this.#wanted.delete(id);
    for (const key of keys) this.#zones.get(key)?.users.delete(id);
    return keys;
  }

  /** An instance that cannot say what it needs gets nothing; its worker tells why it cannot be set up. */
  #requestsOf(row: Row): readonly ZoneRequest[] {
    if (row['enabled'] === false) return [];
    try {
      const requests = this.#plugins.get(String(row['name']))?.zones(row['config'], row.id) ?? [];
      return requests.filter(isPossible);
    } catch {
      return [];
    }
  }
}

function isPossible({ bytes, kind }: ZoneRequest): boolean {
  return Number.isInteger(bytes) && bytes >= (kind === 'store' ? leastStoreBytes : leastBytes) && bytes <= mostBytes;
}

function allocate(bytes: number): SharedArrayBuffer | null {
  try {
    return new SharedArrayBuffer(bytes);
  } catch {
    return null;
  }
}
