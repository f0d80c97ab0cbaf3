import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { getIn } from '../value.ts';

/** A set whose possible elements are all known. */
export function OptionSet({ schema, path, id }: InputProps) {
  const { value, set, readOnly } = useForm();
  const current = getIn(value, path);
  const chosen: readonly unknown[] = Array.isArray(current)
    ? current
    : Array.isArray(schema.default)
      ? schema.default
      : [];
  return (
    <div className="chips">
      {(schema.elements?.one_of ?? []).map((option, at) => (
        <label key={option} className="chip-check">
          <input
            type="checkbox"
            id={at === 0 ? id : undefined}
            checked={chosen.includes(option)}
            disabled={readOnly}
            onChange={({ target }) =>
              set(path, target.checked ? [...chosen, option] : chosen.filter((item) => item !== option))
            }
          />
          {option}
        </label>
      ))}
    </div>
  );
}
