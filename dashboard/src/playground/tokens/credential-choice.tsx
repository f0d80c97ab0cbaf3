import { useQuery } from '@tanstack/react-query';
import { type Row, rowsQuery, schemaListQuery } from '../../api/queries.ts';
import { labelOf } from '../../config/labels.ts';

interface CredentialChoiceProps {
  /** Schema name of the credentials. */
  readonly entity: string;
  readonly onChoose: (row: Row) => void;
}

/** Credentials from which one is chosen; of more, the values can be entered. */
const maxCredentials = 1000;

/** Fills in what the Admin API shows of a consumer's credential. */
export function CredentialChoice({ entity, onChoose }: CredentialChoiceProps) {
  const { data: schemas } = useQuery(schemaListQuery);
  const path = schemas?.entities.find(({ name }) => name === entity)?.path ?? null;
  const { data } = useQuery({ ...rowsQuery(path ?? '', maxCredentials), enabled: path !== null });
  const { data: consumers } = useQuery(rowsQuery('/consumers', maxCredentials));
  const rows = data?.rows ?? [];
  const nameOf = (row: Row): string => {
    const { id } = Object(row['consumer']) as { readonly id?: string };
    const consumer = consumers?.rows.find((one) => one.id === id);
    const username = typeof row['username'] === 'string' ? ` ${row['username']}` : '';
    return `${consumer === undefined ? (id ?? '').slice(0, 8) : labelOf(consumer)}${username} (${row.id.slice(0, 8)})`;
  };
  return (
    <label>
      <span className="label-text">Credential of a consumer</span>
      <select
        className="input"
        defaultValue=""
        onChange={({ target }) => {
          const row = rows.find(({ id }) => id === target.value);
          if (row !== undefined) onChoose(row);
        }}
      >
        <option value="">{data !== undefined && rows.length === 0 ? 'There are none' : 'Enter it below'}</option>
        {rows.map((row) => (
          <option key={row.id} value={row.id}>
            {nameOf(row)}
          </option>
        ))}
      </select>
    </label>
  );
}
