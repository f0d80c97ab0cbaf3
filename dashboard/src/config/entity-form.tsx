import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { Fields } from '../forms/field.tsx';
import { FormContext } from '../forms/form-context.ts';
import type { NamedField } from '../forms/schema.ts';
import { useLinkedField } from '../forms/use-linked-field.ts';
import { isObject, isSame, type Path, setIn, type Value } from '../forms/value.ts';

interface EntityFormProps {
  readonly fields: readonly NamedField[];
  readonly initial: Value;
  readonly readOnly: boolean;
  readonly action: string;
  /** A new entity is saved even if nothing was entered. */
  readonly isNew: boolean;
  readonly onSave: (value: Value) => Promise<void>;
  /** Next to the button that saves. */
  readonly children?: ReactNode;
  /** Next to the form, while there is something to save. */
  readonly aside?: (value: Value) => ReactNode;
}

/** A form of any entity. What the gateway refuses is shown at its fields. */
export function EntityForm({ fields, initial, readOnly, action, isNew, onSave, children, aside }: EntityFormProps) {
  const [value, setValue] = useState<Value>(initial);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useLinkedField(form);
  const changed = !isSame(initial, value);
  const problems = error instanceof ApiError ? error.fields : {};
  useBlocker({
    shouldBlockFn: () => changed && !saved && !readOnly && !window.confirm('Leave without saving the changes?'),
    enableBeforeUnload: () => changed && !saved && !readOnly,
  });
  // After each refusal.
  useEffect(() => {
    if (error === null) return;
    const refused = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const folded = refused?.closest('details');
    if (folded) folded.open = true;
    refused?.focus();
  }, [error]);
  const state = useMemo(
    () => ({
      value,
      problems,
      readOnly,
      fieldsIn: (inner: readonly NamedField[], path: Path) => <Fields fields={inner} path={path} folded />,
      set: (path: readonly (string | number)[], next: unknown) =>
        setValue((before) => setIn(before, path, next) as Value),
    }),
    [value, problems, readOnly],
  );

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setError(null);
    setSaved(true);
    try {
      await onSave(value);
    } catch (refusal) {
      setSaved(false);
      setError(refusal);
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className="edit-layout">
      <form ref={form} className="card" onSubmit={submit} noValidate>
        <div className="card-pad stack">
          <Problem error={error} />
          <FormContext value={state}>
            <Fields fields={fields} path={[]} folded />
          </FormContext>
        </div>
        {!readOnly && (
          <div className="form-foot">
            <button type="submit" className="button primary" disabled={busy || !(changed || isNew)}>
              {busy ? 'Saving…' : action}
            </button>
            {changed && !isNew && (
              <button type="button" className="button plain" onClick={() => setValue(initial)}>
                Discard
              </button>
            )}
            {children}
          </div>
        )}
      </form>
      {!readOnly && !saved && (changed || isNew) && aside?.(value)}
    </div>
  );
}

/** What is wrong with the entity as a whole; fields show their own problems. */
function Problem({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  const message = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ApiError ? error.hint : null;
  const whole = error instanceof ApiError ? error.fields['@entity'] : undefined;
  return (
    <div className="banner error" role="alert">
      <p>{Array.isArray(whole) ? whole.join('; ') : isObject(whole) ? JSON.stringify(whole) : message}</p>
      {hint !== null && <p>{hint}</p>}
    </div>
  );
}
