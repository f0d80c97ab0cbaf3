import type { ApplyOutcome, ShownChange } from './config-target.ts';

const redacted = 'REDACTED';
const maxValue = 200;

/** Each change on a line, with the changed fields of an update below it, and the numbers at the end. */
export function planLines(outcome: Omit<ApplyOutcome, 'version'>, tense: 'would' | 'did'): readonly string[] {
  const lines = outcome.changes.flatMap((change) => [
    `${change.operation} ${change.entity} ${change.label ?? change.id}`,
    ...(change.operation === 'update' ? fieldLines(change) : []),
  ]);
  if (outcome.truncated) lines.push('(there are more changes)');
  return [...lines, countsLine(outcome, tense)];
}

export function countsLine(
  {
    created,
    updated,
    deleted,
    unchanged,
  }: Pick<ApplyOutcome, 'created' | 'updated' | 'deleted'> & {
    readonly unchanged?: number;
  },
  tense: 'would' | 'did',
): string {
  const [c, u, d] = tense === 'did' ? ['created', 'updated', 'deleted'] : ['to create', 'to update', 'to delete'];
  return `${created} ${c}, ${updated} ${u}, ${deleted} ${d}${unchanged === undefined ? '' : `, ${unchanged} unchanged`}`;
}

function fieldLines({ fields = [], before, after }: ShownChange): readonly string[] {
  return fields.map((field) => {
    const [old, fresh] = [valueAt(before, field), valueAt(after, field)];
    if (old === redacted && fresh === redacted) return `    ${field}: (secret) -> (another secret)`;
    return `    ${field}: ${shown(old)} -> ${shown(fresh)}`;
  });
}

/** Names of fields may contain dots. */
function valueAt(side: ShownChange['before'], path: string): unknown {
  if (side === null || side === undefined) return undefined;
  if (Object.hasOwn(side, path)) return side[path];
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) {
    const inner = side[path.slice(0, at)];
    if (typeof inner === 'object' && inner !== null) {
      return valueAt(inner as Readonly<Record<string, unknown>>, path.slice(at + 1));
    }
  }
  return undefined;
}

function shown(value: unknown): string {
  if (value === redacted) return '(secret)';
  const text = JSON.stringify(value ?? null);
  return text.length <= maxValue ? text : `${text.slice(0, maxValue)}... (${text.length} characters)`;
}
