import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import type { MeterPhaseName, PluginMeterTotals } from '../../shared/zones/plugin-meter.ts';
import { counter, type Point } from './families.ts';

/** What the plugins of the node did, by name. Plugins that did nothing have no series. */
export function pluginFamilies(
  plugins: Iterable<readonly [plugin: string, totals: PluginMeterTotals]>,
): readonly MetricFamily[] {
  const failures: Point[] = [];
  const exceeded: Point[] = [];
  const calls: Point[] = [];
  const times: Point[] = [];
  for (const [plugin, totals] of plugins) {
    for (const [phase, count] of totals.failures) failures.push([plugin, labelOf(phase), count]);
    for (const outcome of ['skipped', 'refused', 'late'] as const) {
      if (totals[outcome] > 0) exceeded.push([plugin, outcome, totals[outcome]]);
    }
    for (const [phase, { count, time }] of totals.samples) {
      calls.push([plugin, labelOf(phase), count]);
      times.push([plugin, labelOf(phase), time / 1000]);
    }
  }
  return [
    counter('sluicegate_plugin_failures_total', 'Exceptions and rejections of plugins', ['plugin', 'phase'], failures),
    counter(
      'sluicegate_plugin_over_budget_total',
      'Calls that exceeded the time budget of their plugin',
      ['plugin', 'outcome'],
      exceeded,
    ),
    counter(
      'sluicegate_plugin_sampled_calls_total',
      'Calls of plugins in the one of 64 requests that is sampled',
      ['plugin', 'phase'],
      calls,
    ),
    counter(
      'sluicegate_plugin_sampled_seconds_total',
      'Time that these calls took, until their promise was settled',
      ['plugin', 'phase'],
      times,
    ),
  ];
}

/** Kong's names of phases. */
function labelOf(phase: MeterPhaseName): string {
  return phase.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}
