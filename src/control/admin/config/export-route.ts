import { Readable } from 'node:stream';
import { type ApplyContext, readConfig } from '../../declarative/apply/apply-config.ts';
import { isSelected } from '../../declarative/apply/plan-config.ts';
import type { ConfigRows } from '../../declarative/contract.ts';
import { exportConfig } from '../../declarative/export/export-config.ts';
import type { AdminRequest, AdminRoute, Answer } from '../http/admin-route.ts';
import type { Query } from '../http/query.ts';
import { refuseUnknown } from '../lists/known-parameters.ts';
import { invalidOptions } from '../lists/list-errors.ts';

const parameters = [
  {
    name: 'style',
    description:
      '`kong` (default): with ids, as `kong config db_export`. `deck`: nested and sorted, as `deck gateway dump`.',
    schema: { type: 'string', enum: ['kong', 'deck'] },
  },
  { name: 'format', description: '`yaml` (default) or `json`.', schema: { type: 'string', enum: ['yaml', 'json'] } },
  { name: 'select_tag', description: 'Only entities with this tag. Repeated: with all of these tags.' },
];

/** `GET /config/export`: the whole config as a document, secrets included. */
export function exportRoute(context: ApplyContext): AdminRoute {
  return {
    path: '/config/export',
    tag: 'config',
    operations: {
      GET: {
        handle: (request) => exported(context, request),
        notes: {
          summary: 'The whole config as a declarative document',
          answer: 'object',
          otherTypes: ['application/yaml'],
          queryParameters: parameters,
        },
      },
    },
  };
}

async function exported(context: ApplyContext, { query }: AdminRequest): Promise<Answer> {
  refuseUnknown(
    query,
    parameters.map(({ name }) => name),
  );
  const style = choice(query, 'style', ['kong', 'deck']);
  const format = choice(query, 'format', ['yaml', 'json']);
  const selectTags = query.all('select_tag');
  const { rows } = await readConfig(context);
  const text = exportConfig(selected(rows, selectTags), {
    entities: context.entities,
    style,
    format,
    now: Date.now(),
    ...(selectTags.length > 0 && { selectTags }),
  });
  return { status: 200, stream: { type: types[format], body: Readable.from([text]) } };
}

const types = { yaml: 'application/yaml; charset=utf-8', json: 'application/json; charset=utf-8' } as const;

function selected(rows: ConfigRows, selectTags: readonly string[]): ConfigRows {
  if (selectTags.length === 0) return rows;
  return Object.fromEntries(
    Object.entries(rows).map(([entity, list]) => [entity, list.filter((row) => isSelected(row, selectTags))]),
  );
}

/** The first value is the default. */
function choice<T extends string>(query: Query, name: string, values: readonly [T, ...T[]]): T {
  const given = query.first(name);
  if (given === undefined) return values[0];
  const found = values.find((value) => value === given);
  if (found === undefined) throw invalidOptions({ [name]: `must be one of ${values.join(', ')}` });
  return found;
}
