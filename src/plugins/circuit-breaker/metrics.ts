import type { CircuitState, MetricFamily, PluginMetricsTools, ScalarSeries } from '../../plugin-sdk/index.ts';
import type { ShownCircuit } from './background.ts';

/** Higher is worse. */
const numberOf: Readonly<Record<CircuitState, number>> = { closed: 0, ramp: 1, 'half-open': 2, open: 3 };

/** States of the circuits that have ever opened. */
export async function metrics({ background }: PluginMetricsTools): Promise<readonly MetricFamily[]> {
  const circuits = ((await background('list')) as readonly ShownCircuit[] | null) ?? [];
  // Of several circuits with one name the worst is reported.
  const worst = new Map<string, ScalarSeries>();
  for (const { plugin, kind, name, state } of circuits) {
    const labels = [plugin.id, kind, name];
    const key = JSON.stringify(labels);
    const value = Math.max(numberOf[state], worst.get(key)?.value ?? 0);
    worst.set(key, { labels, value });
  }
  return [
    {
      name: 'sluicegate_circuit_state',
      help: 'Circuits that have ever opened: 0 closed, 1 ramp, 2 half open, 3 open',
      type: 'gauge',
      labelNames: ['plugin_instance', 'kind', 'name'],
      series: [...worst.values()],
    },
  ];
}
