import type { Row } from '../api/queries.ts';

const nameFields = [
  'name',
  'instance_name',
  'username',
  'target',
  'custom_id',
  'group',
  'certificate_name',
  'subject_name',
];

/** What people call a row: its name, or else its id. Never a secret. */
export function labelOf(row: Row): string {
  if (typeof row['name'] === 'string' && typeof row['instance_name'] === 'string' && row['instance_name'] !== '') {
    return `${row['instance_name']} (${row['name']})`;
  }
  for (const field of nameFields) {
    const value = row[field];
    if (typeof value === 'string' && value !== '') return value;
  }
  const snis = row['snis'];
  if (Array.isArray(snis) && snis.length > 0) return snis.join(', ');
  return row.id;
}

/** The text in which a list is searched. */
export function searchText(row: Row, summary: string): string {
  return [row.id, labelOf(row), summary, ...(row.tags ?? [])].join(' ').toLowerCase();
}

/** What is worth knowing about a row, on one line. `labels`: names of the rows that it refers to, by id. */
export function summaryOf(entity: string, row: Row, labels: ReadonlyMap<string, string>): string {
  const own = summaries[entity]?.(row, (field) => referenceText(row, field, labels));
  return own ?? generalSummary(row, labels);
}

type Summary = (row: Row, reference: (field: string) => string | null) => string;

const summaries: Readonly<Record<string, Summary>> = {
  services: ({ protocol, host, port, path }) => `${protocol}://${host}:${port}${path ?? ''}`,
  routes: (row, reference) => {
    const parts = [texts(row['methods']).join(' '), texts(row['hosts']).join(', '), texts(row['paths']).join(', ')];
    const rule = parts.filter((part) => part !== '').join('  ') || texts(row['snis']).join(', ') || 'any request';
    return `${rule}  →  ${reference('service') ?? 'no service'}`;
  },
  plugins: (_row, reference) => {
    const scopes = ['service', 'route', 'consumer'].flatMap((field) => {
      const name = reference(field);
      return name === null ? [] : [`${field} ${name}`];
    });
    return scopes.length === 0 ? 'all requests' : `on ${scopes.join(', ')}`;
  },
  upstreams: ({ algorithm, slots }) => `${algorithm}, ${slots} slots`,
  targets: ({ weight }) => `weight ${weight}`,
  consumers: ({ custom_id: id }) => (typeof id === 'string' ? `custom id ${id}` : ''),
  admin_users: ({ role, tag_patterns: patterns }) => [role, ...texts(patterns)].join(', '),
  certificates: ({ snis }) => texts(snis).join(', '),
};

const hidden = new Set(['id', 'created_at', 'updated_at', 'tags', 'enabled', ...nameFields]);
/** Fields whose values may be secrets, or are too long for a line. */
const long = /key|secret|password|cert|token|hash|data/;

function generalSummary(row: Row, labels: ReadonlyMap<string, string>): string {
  const parts = Object.entries(row).flatMap(([field, value]) => {
    if (hidden.has(field) || long.test(field)) return [];
    if (typeof value === 'object' && value !== null) {
      const reference = referenceText(row, field, labels);
      return reference === null ? [] : [`${field} ${reference}`];
    }
    return value === null || value === undefined || value === '' ? [] : [`${field} ${value}`];
  });
  return parts.slice(0, 4).join(', ');
}

function referenceText(row: Row, field: string, labels: ReadonlyMap<string, string>): string | null {
  const { id } = Object(row[field]) as { readonly id?: unknown };
  return typeof id === 'string' ? (labels.get(id) ?? id.slice(0, 8)) : null;
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
