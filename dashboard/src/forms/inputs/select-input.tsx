import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { fromText, getIn, toText } from '../value.ts';

export function SelectInput({ schema, path, id, invalid, describedBy }: InputProps) {
  const { value, set, readOnly } = useForm();
  const current = toText(getIn(value, path));
  const fallback = toText(schema.default);
  return (
    <select
      id={id}
      className="input"
      value={current}
      disabled={readOnly}
      aria-invalid={invalid}
      aria-describedby={describedBy}
      onChange={(event) => set(path, fromText(event.target.value, schema))}
    >
      <option value="">{fallback === '' ? '(not set)' : `${fallback} (default)`}</option>
      {(schema.one_of ?? []).map((option) => (
        <option key={option} value={String(option)}>
          {option === '' ? "''" : option}
        </option>
      ))}
    </select>
  );
}
