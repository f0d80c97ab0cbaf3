import { useState } from 'react';
import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { isLongText } from '../schema.ts';
import { fromText, getIn, toText } from '../value.ts';

export function TextInput({ name, schema, path, id, invalid, describedBy }: InputProps) {
  const { value, set, readOnly } = useForm();
  const [visible, setVisible] = useState(false);
  const text = toText(getIn(value, path));
  const isSecret = schema.encrypted === true;
  const common = {
    id,
    value: text,
    readOnly,
    'aria-invalid': invalid,
    'aria-describedby': describedBy,
    spellCheck: false,
    placeholder: placeholderOf(schema.default, schema.auto === true),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      set(path, fromText(event.target.value, schema)),
  };
  if (isLongText(name, schema) && !isSecret) return <textarea className="input" {...common} />;
  if (!isSecret) {
    const numeric = schema.type === 'integer' || schema.type === 'number';
    return <input className="input" {...common} inputMode={numeric ? 'decimal' : undefined} autoComplete="off" />;
  }
  // A key in PEM has several lines, which an input of type password would lose.
  const isLong = isLongText(name, schema) || text.includes('\n');
  return (
    <div className="inline-input">
      {isLong && (visible || text === '') ? (
        <textarea className="input" {...common} />
      ) : (
        <input
          className="input mono"
          {...common}
          readOnly={readOnly || isLong}
          type={visible ? 'text' : 'password'}
          autoComplete="new-password"
        />
      )}
      <button
        type="button"
        className="button"
        aria-label={`${visible ? 'Hide' : 'Show'} ${name}`}
        onClick={() => setVisible(!visible)}
      >
        {visible ? 'Hide' : 'Show'}
      </button>
    </div>
  );
}

function placeholderOf(value: unknown, auto: boolean): string {
  if (value !== undefined && value !== null) return toText(value);
  return auto ? 'generated' : '';
}
