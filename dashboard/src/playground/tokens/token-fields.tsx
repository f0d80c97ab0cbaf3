import { useState } from 'react';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface TextFieldProps extends FieldProps {
  readonly placeholder?: string;
  readonly isWide?: boolean;
}

export function TextField({ label, value, onChange, placeholder, isWide = false }: TextFieldProps) {
  return (
    <label className={isWide ? 'wide' : undefined}>
      <span className="label-text">{label}</span>
      <input
        className="input"
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}

/** Hidden until its reader wants to see it. `isLong`: a key of several lines. */
export function SecretField({ label, value, onChange, isLong }: FieldProps & { readonly isLong: boolean }) {
  const [isVisible, setVisible] = useState(false);
  const common = {
    className: 'input mono',
    value,
    spellCheck: false,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onChange(target.value),
  };
  if (isLong) {
    return (
      <label className="wide">
        <span className="label-text">{label}</span>
        <textarea {...common} placeholder="-----BEGIN PRIVATE KEY-----" autoComplete="off" />
      </label>
    );
  }
  return (
    <div className="inline-input">
      <label className="grow">
        <span className="label-text">{label}</span>
        <input {...common} type={isVisible ? 'text' : 'password'} autoComplete="new-password" />
      </label>
      <button
        type="button"
        className="button secret-toggle"
        aria-label={`${isVisible ? 'Hide' : 'Show'} the ${label.toLowerCase()}`}
        onClick={() => setVisible(!isVisible)}
      >
        {isVisible ? 'Hide' : 'Show'}
      </button>
    </div>
  );
}

export function Choice({ label, value, onChange, options }: FieldProps & { readonly options: readonly string[] }) {
  return (
    <label>
      <span className="label-text">{label}</span>
      <select className="input" value={value} onChange={({ target }) => onChange(target.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}

interface CheckboxProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}

export function Checkbox({ label, checked, onChange }: CheckboxProps) {
  return (
    <label className="row">
      <input type="checkbox" checked={checked} onChange={({ target }) => onChange(target.checked)} />
      {label}
    </label>
  );
}
