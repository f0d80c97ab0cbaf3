import type { Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { ZoneKind, ZoneRequest } from '../../plugin-sdk/zones.ts';
import type { Row } from '../entities/entity.ts';
import type { SnapshotDelta, ZoneChanges } from '../messages/messages.ts';
import { currentInstance } from '../plugin-loader/config-defaults.ts';
import { minStoreBytes } from './store/store-layout.ts';

interface Zone {
  readonly kind: ZoneKind;
  readonly memory: SharedArrayBuffer;
  /** Plugin instances that use it. */
  readonly users: Set<string>;
}

export interface NamedZone {
  readonly key: string;
  readonly plugin: string;
  readonly name: string;
  readonly kind: ZoneKind;
  readonly memory: SharedArrayBuffer;
}

/** Minimum and maximum size of a zone, in bytes. */
const minBytes = 4096;
const maxBytes = 2 ** 31;

/** The name of a table: those of one plugin with the same name and size are the same table. */
export function zoneKey(plugin: string, { name, bytes, perWorker = 0 }: ZoneRequest): string {
  return `${plugin}/${name}/${bytes + perWorker}`;
}

/**
 * The tables in shared memory of plugin instances. They live in the control plane, so that they outlive a worker, and
 * they keep their content while an instance needs them at that size, whatever else is edited.
 */
export class ZoneRegistry {
  readonly #plugins: ReadonlyMap<string, Plugin>;
  readonly #workers: number;
  readonly #created: (zone: Pick<NamedZone, 'key' | 'kind' | 'memory'>) => void;
  readonly #zones = new Map<string, Zone>();
  /** Other code of plugins, which some workers use: instances have the zones of both. */
  #candidates: ReadonlyMap<string, Plugin> = new Map();
  /** Keys by plugin instance. */
  readonly #keysByInstance = new Map<string, readonly string[]>();

  /** `workers`: how many share each zone. `created` may fill a new zone; nothing uses it yet. */
  constructor(
    plugins: ReadonlyMap<string, Plugin>,
    workers = 1,
    created: (zone: Pick<NamedZone, 'key' | 'kind' | 'memory'>) => void = () => {},
  ) {
    this.#plugins = plugins;
    this.#workers = workers;
    this.#created = created;
  }

  /**
   * From now on instances of these plugins have the zones of this code, too; an empty map: only those of the plugins. `rows`: all plugin
   * instances. Returns what changes.
   */
  tryPlugins(candidates: ReadonlyMap<string, Plugin>, rows: readonly Row[]): ZoneChanges | null {
    const names = new Set([...this.#candidates.keys(), ...candidates.keys()]);
    this.#candidates = candidates;
    const concerned = rows.filter((row) => names.has(String(row['name'])));
    return this.change({ version: 0, full: false, upserts: { plugins: concerned }, removes: {} });
  }

  /** Creates the tables that the delta's plugin instances need and releases unused ones; null: nothing changed. */
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
        const zone = this.#zones.get(key) ?? this.#create(key, request, added);
        // Without memory the instance cannot be set up, and logs it; later changes of the config are still applied.
        if (zone === null) continue;
        if (zone.users.has(row.id)) continue;
        zone.users.add(row.id);
        this.#keysByInstance.set(row.id, [...(this.#keysByInstance.get(row.id) ?? []), key]);
      }
      for (const key of before) left.add(key);
    }
    const dropped = [...left].filter((key) => this.#zones.get(key)?.users.size === 0);
    for (const key of dropped) this.#zones.delete(key);
    return Object.keys(added).length === 0 && dropped.length === 0 ? null : { added, dropped };
  }

  /** All tables by key, for a new worker. */
  all(): Record<string, SharedArrayBuffer> {
    return Object.fromEntries([...this.#zones].map(([key, { memory }]) => [key, memory]));
  }

  list(): readonly NamedZone[] {
    return [...this.#zones].map(([key, { kind, memory }]) => {
      const [plugin = '', ...rest] = key.split('/');
      return { key, plugin, name: rest.slice(0, -1).join('/'), kind, memory };
    });
  }

  /** The table of a plugin instance by this name; null: there is none. */
  find(instanceId: string, name: string): SharedArrayBuffer | null {
    const key = this.#keysByInstance.get(instanceId)?.find((one) => one.split('/').slice(1, -1).join('/') === name);
    return key === undefined ? null : (this.#zones.get(key)?.memory ?? null);
  }

  #create(key: string, request: ZoneRequest, added: Record<string, SharedArrayBuffer>): Zone | null {
    const memory = allocate(Math.min(request.bytes + (request.perWorker ?? 0) * (this.#workers - 1), maxBytes));
    if (memory === null) return null;
    const zone: Zone = { kind: request.kind ?? 'table', memory, users: new Set<string>() };
    this.#created({ key, kind: zone.kind, memory });
    this.#zones.set(key, zone);
    added[key] = zone.memory;
    return zone;
  }

  /** Returns the keys that the instance used. */
  #release(id: string): readonly string[] {
    const keys = this.#keysByInstance.get(id) ?? [];
    this.#keysByInstance.delete(id);
    for (const key of keys) this.#zones.get(key)?.users.delete(id);
    return keys;
  }

  /** An instance that cannot declare its needs gets nothing; its worker logs why it cannot be set up. */
  #requestsOf(row: Row): readonly ZoneRequest[] {
    if (row['enabled'] === false) return [];
    const name = String(row['name']);
    return [this.#plugins.get(name), this.#candidates.get(name)].flatMap((plugin) => zonesOf(plugin, row));
  }
}

function zonesOf(plugin: Plugin | undefined, row: Row): readonly ZoneRequest[] {
  try {
    if (plugin === undefined) return [];
    const { config } = currentInstance(plugin, { id: row.id, config: row['config'] });
    return plugin.zones(config, row.id).filter(isPossible);
  } catch {
    return [];
  }
}

function isPossible({ bytes, kind }: ZoneRequest): boolean {
  return Number.isInteger(bytes) && bytes >= (kind === 'store' ? minStoreBytes : minBytes) && bytes <= maxBytes;
}

function allocate(bytes: number): SharedArrayBuffer | null {
  try {
    return new SharedArrayBuffer(bytes);
  } catch {
    return null;
  }
}
