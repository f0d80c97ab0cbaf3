import { type KeyboardEvent, useRef } from 'react';
import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { fromText, getIn, problemAt, problemText, toText } from '../value.ts';

/** A list of texts, numbers or choices: one input each. Enter adds the next one. */
export function ListInput({ name, schema, path, id, invalid, describedBy }: InputProps) {
  const { value, set, readOnly, problems } = useForm();
  const list = useRef<HTMLDivElement>(null);
  const current = getIn(value, path);
  const items: readonly unknown[] = Array.isArray(current) ? current : [];
  const elements = schema.elements ?? { type: 'string' };
  const placeholder = Array.isArray(schema.default) ? schema.default.join(', ') : '';

  function change(next: readonly unknown[]): void {
    set(path, next.length === 0 ? (current === undefined ? undefined : []) : next);
  }

  function focusAt(at: number): void {
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('.input')[at]?.focus());
  }

  function onKey(event: KeyboardEvent, at: number): void {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    change(items.toSpliced(at + 1, 0, ''));
    focusAt(at + 1);
  }

  const shown = items.length === 0 ? [undefined] : items;
  return (
    <div ref={list} className="form-grid" style={{ gap: 'var(--gap-1)' }}>
      {shown.map((item, at) => {
        const problem = problemText(problemAt(problems, [...path, at]));
        const label = `${name} ${at + 1}`;
        const common = {
          id: at === 0 ? id : undefined,
          className: 'input',
          'aria-label': at === 0 ? undefined : label,
          'aria-invalid': invalid || problem !== null,
          'aria-describedby': describedBy,
          value: toText(item),
        };
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: an element has no other identity than its position
          <div key={at}>
            <div className="inline-input">
              {elements.one_of === undefined ? (
                <input
                  {...common}
                  readOnly={readOnly}
                  spellCheck={false}
                  autoComplete="off"
                  placeholder={items.length === 0 ? placeholder : ''}
                  onKeyDown={(event) => onKey(event, at)}
                  onChange={({ target }) =>
                    change(
                      items.length === 0
                        ? [fromText(target.value, elements)]
                        : items.with(at, fromText(target.value, elements) ?? ''),
                    )
                  }
                />
              ) : (
                <select
                  {...common}
                  disabled={readOnly}
                  onChange={({ target }) =>
                    change(
                      items.length === 0
                        ? [fromText(target.value, elements)]
                        : items.with(at, fromText(target.value, elements) ?? ''),
                    )
                  }
                >
                  <option value="">{placeholder === '' ? '(choose)' : `${placeholder} (default)`}</option>
                  {elements.one_of.map((option) => (
                    <option key={option} value={String(option)}>
                      {option}
                    </option>
                  ))}
                </select>
              )}
              {!readOnly && items.length > 0 && (
                <button
                  type="button"
                  className="button plain"
                  aria-label={`Remove ${label}`}
                  onClick={() => change(items.toSpliced(at, 1))}
                >
                  ×
                </button>
              )}
            </div>
            {problem !== null && (
              <p className="problem" role="alert">
                {problem}
              </p>
            )}
          </div>
        );
      })}
      {!readOnly && items.length > 0 && (
        <div>
          <button
            type="button"
            className="button plain tight"
            onClick={() => {
              change([...items, '']);
              focusAt(items.length);
            }}
          >
            Add to {name}
          </button>
        </div>
      )}
    </div>
  );
}
