import { Combobox } from '@base-ui/react/combobox';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { rowsQuery, schemaListQuery } from '../../api/queries.ts';
import { labelOf } from '../../config/labels.ts';
import { useForm } from '../form-context.ts';
import type { InputProps } from '../input-props.ts';
import { getIn } from '../value.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** Rows that can be chosen from; of a larger collection, an id can be entered. */
const maxChoices = 1000;

/** A reference to another entity, chosen by its name. */
export function ForeignInput({ name, schema, path, id, invalid, describedBy }: InputProps) {
  const { value, set, readOnly } = useForm();
  const { data: schemas } = useQuery(schemaListQuery);
  const collection = schemas?.entities.find((entity) => entity.name === schema.reference)?.path ?? null;
  const { data } = useQuery({ ...rowsQuery(collection ?? '', maxChoices), enabled: collection !== null });
  const choices = useMemo<readonly Choice[]>(
    () => (data?.rows ?? []).map((row) => ({ value: row.id, label: labelOf(row) })),
    [data],
  );
  const current = getIn(value, [...path, 'id']);
  const selected =
    typeof current === 'string'
      ? (choices.find((choice) => choice.value === current) ?? { value: current, label: current })
      : null;
  return (
    <Combobox.Root
      items={choices}
      value={selected}
      isItemEqualToValue={(a, b) => a.value === b.value}
      limit={100}
      readOnly={readOnly}
      onValueChange={(choice) => set(path, choice === null ? undefined : { id: choice.value })}
    >
      <div className="inline-input">
        <Combobox.Input
          id={id}
          className="input"
          placeholder={schema.required === true ? 'Choose' : 'None'}
          aria-invalid={invalid}
          aria-describedby={describedBy}
          spellCheck={false}
          autoComplete="off"
        />
        {selected !== null && !readOnly && (
          <Combobox.Clear className="button plain" aria-label={`Remove ${name}`}>
            ×
          </Combobox.Clear>
        )}
      </div>
      <Combobox.Portal>
        <Combobox.Positioner sideOffset={4}>
          <Combobox.Popup className="popup">
            <Combobox.Empty>
              <p className="muted" style={{ padding: 'var(--gap-2)' }}>
                Nothing found.
              </p>
            </Combobox.Empty>
            <Combobox.List>
              {(choice: Choice) => (
                <Combobox.Item key={choice.value} value={choice} className="option">
                  <span className="truncate">{choice.label}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}
