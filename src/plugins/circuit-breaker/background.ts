import type { BackgroundTools, CircuitReason, CircuitState, PluginBackground } from '../../plugin-sdk/index.ts';

/** Message of a worker: a circuit has changed. */
export interface ChangeMessage {
  readonly instance: string;
  readonly key: string;
  readonly what: string;
  readonly state: CircuitState;
  readonly reason: CircuitReason;
  /** Milliseconds. */
  readonly pause: number;
}

/** A circuit as the Admin API shows it. Times are seconds since the epoch. */
export interface ShownCircuit {
  readonly plugin: { readonly id: string };
  readonly kind: 'target' | 'service';
  readonly name: string;
  readonly state: CircuitState;
  readonly reason: CircuitReason;
  readonly since: number;
  /** Time from which trial requests are allowed; null when it is not open. */
  readonly open_until: number | null;
  /** The latest first. */
  readonly transitions: readonly {
    readonly state: CircuitState;
    readonly reason: CircuitReason;
    readonly at: number;
  }[];
}

/** Maximum circuits and transitions in the history. */
const maxCircuits = 10_000;
const maxTransitions = 20;

/** History of the circuits of this node, for the Admin API. Circuits that have never opened are not in it. */
export function background(_tools: BackgroundTools): PluginBackground {
  const circuits = new Map<string, ShownCircuit>();
  return {
    configured(instances) {
      const ids = new Set(instances.map(({ id }) => id));
      for (const [key, { plugin }] of circuits) if (!ids.has(plugin.id)) circuits.delete(key);
    },
    async handle(message) {
      if (message === 'list') return [...circuits.values()];
      take(circuits, message as ChangeMessage);
      return null;
    },
    circuits: () =>
      [...circuits].flatMap(([id, { plugin, name, state, since }]) =>
        state === 'closed' ? [] : [{ key: name, state, instance: plugin.id, since: since * 1000, ...protectedBy(id) }],
      ),
    stop: () => circuits.clear(),
  };
}

/** The address or service of a circuit, from its key (guard.ts) behind the id of the instance. */
function protectedBy(id: string): { readonly slot: number } | { readonly service: string } {
  const [, kind, what = ''] = id.split(' ');
  return kind === 'target' ? { slot: Number(what) } : { service: what };
}

function take(circuits: Map<string, ShownCircuit>, change: ChangeMessage): void {
  const { instance, key, what, state, reason, pause } = change;
  const id = `${instance} ${key}`;
  const known = circuits.get(id);
  // Evicts the one whose last change is oldest.
  circuits.delete(id);
  if (circuits.size >= maxCircuits) circuits.delete(circuits.keys().next().value as string);
  const now = Date.now();
  const at = now / 1000;
  circuits.set(id, {
    plugin: { id: instance },
    kind: key.startsWith('target ') ? 'target' : 'service',
    name: what,
    state,
    reason,
    since: at,
    open_until: state === 'open' ? Math.round(now + pause) / 1000 : null,
    transitions: [{ state, reason, at }, ...(known?.transitions ?? [])].slice(0, maxTransitions),
  });
}
