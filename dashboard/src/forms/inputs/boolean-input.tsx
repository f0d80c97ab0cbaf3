import { Switch } from '@base-ui/react/switch';
import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { getIn } from '../value.ts';

/** A switch; where not set is a third state, a choice of three. */
export function BooleanInput({ name, schema, path, id, invalid, describedBy }: InputProps) {
  const { value, set, readOnly } = useForm();
  const current = getIn(value, path);
  if (typeof schema.default === 'boolean') {
    return (
      <Switch.Root
        id={id}
        className="switch"
        checked={typeof current === 'boolean' ? current : schema.default}
        disabled={readOnly}
        aria-label={name}
        aria-describedby={describedBy}
        onCheckedChange={(checked) => set(path, checked)}
      >
        <Switch.Thumb className="switch-thumb" />
      </Switch.Root>
    );
  }
  return (
    <select
      id={id}
      className="input"
      value={typeof current === 'boolean' ? String(current) : ''}
      disabled={readOnly}
      aria-invalid={invalid}
      aria-describedby={describedBy}
      onChange={({ target }) => set(path, target.value === '' ? undefined : target.value === 'true')}
    >
      <option value="">(not set)</option>
      <option value="true">true</option>
      <option value="false">false</option>
    </select>
  );
}
