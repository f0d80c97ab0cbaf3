import { useState } from 'react';
import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { getIn, isObject } from '../value.ts';

/** A map: each key with its value; a new key first gets its name. */
export function MapInput({ name, schema, path, id }: InputProps) {
  const { value, set, readOnly, fieldsIn } = useForm();
  const [key, setKey] = useState('');
  const current = getIn(value, path);
  const entries = isObject(current) ? Object.entries(current).filter(([, item]) => item !== undefined) : [];
  const values = schema.values ?? { type: 'string' };

  function add(): void {
    const wanted = key.trim();
    if (wanted === '') return;
    set([...path, wanted], values.type === 'record' ? {} : values.type === 'array' || values.type === 'set' ? [] : '');
    setKey('');
  }

  function remove(entry: string): void {
    set(path, Object.fromEntries(entries.filter(([one]) => one !== entry)));
  }

  return (
    <div className="form-grid">
      {entries.map(([entry]) => (
        <div key={entry} className="inline-input">
          <div style={{ flex: 1, minWidth: 0 }}>{fieldsIn([{ name: entry, schema: values }], path)}</div>
          {!readOnly && (
            <button type="button" className="button plain" aria-label={`Remove ${entry}`} onClick={() => remove(entry)}>
              ×
            </button>
          )}
        </div>
      ))}
      {!readOnly && (
        <div className="inline-input">
          <input
            id={id}
            className="input"
            aria-label={`New key of ${name}`}
            placeholder="key"
            autoComplete="off"
            spellCheck={false}
            value={key}
            onChange={({ target }) => setKey(target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              add();
            }}
          />
          <button type="button" className="button" onClick={add}>
            Add key
          </button>
        </div>
      )}
    </div>
  );
}
