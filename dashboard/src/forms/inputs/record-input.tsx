import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { formFields } from '../schema.ts';
import { getIn } from '../value.ts';

/** Fields of a record. One that may be unset is added and removed as a whole. */
export function RecordInput({ name, schema, path }: InputProps) {
  const { value, set, readOnly, fieldsIn } = useForm();
  const current = getIn(value, path);
  const fields = formFields(schema);
  const mayBeUnset = schema.required !== true && !hasDefaults(schema.fields ?? []);
  if (fields.length === 0) return <p className="muted small">No fields.</p>;
  if (mayBeUnset && (current === undefined || current === null)) {
    return (
      <button type="button" className="button tight" disabled={readOnly} onClick={() => set(path, {})}>
        Set {name}
      </button>
    );
  }
  return (
    <>
      {fieldsIn(fields, path)}
      {mayBeUnset && !readOnly && (
        <button type="button" className="button plain tight" onClick={() => set(path, undefined)}>
          Remove {name}
        </button>
      )}
    </>
  );
}

/** The gateway fills such a record even if it is absent. */
function hasDefaults(fields: readonly Readonly<Record<string, { readonly default?: unknown }>>[]): boolean {
  return fields.some((entry) => Object.values(entry).some((field) => field.default !== undefined));
}
