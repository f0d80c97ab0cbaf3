import type { JsonValue } from '../../plugin-kit/json/json.ts';
import { type Look, piece, type Row } from './layout.ts';
import { joined, list, member, text } from './read-explanation.ts';

/** A row for each phase that ran, and for each plugin that did not. */
export function pluginRows(plugins: readonly JsonValue[]): readonly Row[] {
  return plugins.flatMap((plugin): readonly Row[] => {
    const name = piece(text(member(plugin, 'name')));
    const scope = piece(joined(member(plugin, 'scope'), '+'), 'dim');
    const phases = list(member(plugin, 'phases'));
    if (phases.length === 0) {
      return [[name, scope, piece(''), piece('', 'dim'), piece(`not run: ${text(member(plugin, 'because'))}`, 'dim')]];
    }
    return phases.map((phase, at) => phaseRow(phase, at === 0 ? [name, scope] : [piece(''), piece('')]));
  });
}

function phaseRow(phase: JsonValue, left: Row): Row {
  const decided = text(member(phase, 'decided'));
  const ms = text(member(phase, 'ms'));
  const changed = list(member(phase, 'changed')).map(text);
  const what = changed.length === 0 ? decided : `${decided}: ${changed.join(', ')}`;
  return [
    ...left,
    piece(text(member(phase, 'phase'))),
    piece(ms === '' ? '' : `${Number(ms).toFixed(2)} ms`.padStart(9), 'dim'),
    piece(what, lookOf(decided)),
  ];
}

function lookOf(decided: string): Look {
  if (decided === 'failed') return 'bad';
  return decided === 'went on' ? 'plain' : 'warning';
}
