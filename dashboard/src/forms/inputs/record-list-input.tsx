import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { formFields } from '../schema.ts';
import { getIn } from '../value.ts';

/** A list of records. */
export function RecordListInput({ name, schema, path }: InputProps) {
  const { value, set, readOnly, fieldsIn } = useForm();
  const current = getIn(value, path) ?? schema.default;
  const items: readonly unknown[] = Array.isArray(current) ? current : [];
  const fields = formFields(schema.elements ?? {});
  return (
    <div className="form-grid">
      {items.map((_item, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an element has no other identity than its position
        <fieldset key={at} className="group">
          <legend>
            {name} {at + 1}
          </legend>
          {fieldsIn(fields, [...path, at])}
          {!readOnly && (
            <button type="button" className="button plain tight" onClick={() => set(path, items.toSpliced(at, 1))}>
              Remove {name} {at + 1}
            </button>
          )}
        </fieldset>
      ))}
      {!readOnly && (
        <div>
          <button type="button" className="button tight" onClick={() => set(path, [...items, {}])}>
            Add to {name}
          </button>
        </div>
      )}
    </div>
  );
}
