import type { FieldSchema } from '../forms/schema.ts';
import { fieldsOf } from '../forms/schema.ts';

/** The fields of a schema with their descriptions: the documentation of a plugin that has no other. */
export function FieldList({ schema }: { readonly schema: Pick<FieldSchema, 'fields'> }) {
  const fields = fieldsOf(schema);
  if (fields.length === 0) return <p>It has none.</p>;
  return (
    <dl className="field-list">
      {fields.map(({ name, schema: field }) => (
        <div key={name}>
          <dt>
            <code>{name}</code> <span className="small muted">{field.type}</span>
            {field.required === true && field.default === undefined && <span className="badge">required</span>}
          </dt>
          <dd>
            {field.description ?? ''}
            {field.default !== undefined && (
              <>
                {' '}
                Default: <code>{JSON.stringify(field.default)}</code>.
              </>
            )}
            {field.type === 'record' && <FieldList schema={field} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
