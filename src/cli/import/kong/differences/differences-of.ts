import { bundledPlugins } from '../../../../plugins/registry.ts';
import type { KongEntity } from '../kong-entity.ts';
import type { DifferenceRow } from './difference-row.ts';
import { type DifferenceName, differenceRows } from './difference-rows.ts';
import { differenceRules } from './difference-rules.ts';

/** A row of docs/differences.md, and the imported entities that it is about. */
export interface Difference extends DifferenceRow {
  /** Labels of the entities, in their order. Never empty. */
  readonly entities: readonly string[];
}

/** What the entities will do differently than in Kong, in the order of the page. */
export function differencesOf(entities: readonly KongEntity[]): readonly Difference[] {
  return allRows().flatMap(([name, row]) => {
    const plugins = pluginsOf(row);
    const applies =
      differenceRules[name] ??
      (({ collection, fields }: KongEntity) => collection === 'plugins' && plugins.includes(String(fields['name'])));
    const touched = entities.filter((entity) => applies(entity));
    return touched.length === 0 ? [] : [{ ...row, entities: [...new Set(touched.map(({ label }) => label))] }];
  });
}

function allRows(): readonly (readonly [DifferenceName, DifferenceRow])[] {
  return Object.entries(differenceRows) as [DifferenceName, DifferenceRow][];
}

/** The plugins that a row is about: those at the beginning of its topic (`statsd, datadog: ...`), else those of its heading. */
function pluginsOf({ section, topic }: DifferenceRow): readonly string[] {
  const named = topic.split(': ')[0]?.split(', ').filter(isPlugin) ?? [];
  return named.length > 0 ? named : section.split(' and ').filter(isPlugin);
}

function isPlugin(name: string): boolean {
  return bundledPlugins.has(name);
}
