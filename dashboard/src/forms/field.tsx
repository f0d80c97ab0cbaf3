import { createElement, Fragment, type ReactNode } from 'react';
import { idOf, useForm } from './form-context.ts';
import type { InputProps } from './input-props.ts';
import { BooleanInput } from './inputs/boolean-input.tsx';
import { ForeignInput } from './inputs/foreign-input.tsx';
import { ListInput } from './inputs/list-input.tsx';
import { MapInput } from './inputs/map-input.tsx';
import { OptionSet } from './inputs/option-set.tsx';
import { RecordInput } from './inputs/record-input.tsx';
import { RecordListInput } from './inputs/record-list-input.tsx';
import { SelectInput } from './inputs/select-input.tsx';
import { TextInput } from './inputs/text-input.tsx';
import { type FieldSchema, isMain, isRequired, type NamedField } from './schema.ts';
import { getIn, type Path, problemAt, problemText } from './value.ts';

/** One field of a schema with its label, its description, and what the gateway said about it. */
export function Field({ name, schema, path }: NamedField & { readonly path: Path }) {
  const { problems } = useForm();
  const problem = problemText(problemAt(problems, path));
  const id = idOf(path);
  const isGroup = hasGroup(schema);
  const describedBy = `${id}-help ${id}-problem`;
  const input = <Input {...{ name, schema, path, id, describedBy }} invalid={problem !== null} />;
  const help = (
    <>
      {schema.description !== undefined && (
        <p id={`${id}-help`} className="help">
          <Description text={schema.description} />
          {schema.deprecation !== undefined && <strong> Deprecated. {schema.deprecation.message}</strong>}
        </p>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  const title = (
    <>
      {name}
      {schema.required === true && schema.default === undefined && schema.type !== 'record' && (
        <span className="required" title="required">
          {' '}
          *
        </span>
      )}
    </>
  );
  if (isGroup) {
    return (
      <fieldset className="group" aria-describedby={describedBy}>
        <legend>{title}</legend>
        {help}
        {input}
      </fieldset>
    );
  }
  return (
    <div className="field">
      <label className="label" id={`${id}-label`} htmlFor={id}>
        {title}
      </label>
      <div>
        {input}
        {help}
      </div>
    </div>
  );
}

/** Several inputs; the label belongs to none of them. */
function hasGroup({ type, elements }: FieldSchema): boolean {
  if (type === 'record' || type === 'map') return true;
  return elements?.type === 'record' || (type === 'set' && elements?.one_of !== undefined);
}

function Input(props: InputProps) {
  const { schema } = props;
  switch (schema.type) {
    case 'boolean':
      return <BooleanInput {...props} />;
    case 'foreign':
      return <ForeignInput {...props} />;
    case 'record':
      return <RecordInput {...props} />;
    case 'map':
      return <MapInput {...props} />;
    case 'array':
    case 'set': {
      const { elements } = schema;
      if (elements?.type === 'record') return <RecordListInput {...props} />;
      if (elements?.one_of !== undefined && schema.type === 'set') return <OptionSet {...props} />;
      return <ListInput {...props} />;
    }
    default:
      return schema.one_of === undefined ? <TextInput {...props} /> : <SelectInput {...props} />;
  }
}

interface FieldsProps {
  readonly fields: readonly NamedField[];
  readonly path: Path;
  /** Fields in a second group are folded while they are unset. Default: false. */
  readonly folded?: boolean;
}

/** Fields that matter for most people first; the others are folded unless they are set, or refused. */
export function Fields({ fields, path, folded = false }: FieldsProps) {
  const { value, problems } = useForm();
  if (!folded || fields.length <= maxUnfolded)
    return <div className="form-grid">{fields.map((field) => one(field, path))}</div>;
  const main = mainFields(fields, path.length === 0);
  const shown = fields.filter((field) => main.has(field) || problemAt(problems, [...path, field.name]) !== undefined);
  const rest = fields.filter((field) => !shown.includes(field));
  const groups = Map.groupBy(rest, ({ schema }) => schema.group ?? null);
  const ordered = [...groups].toSorted(([a], [b]) => Number(a === null) - Number(b === null));
  const setIn = (group: readonly NamedField[]): number =>
    group.filter(({ name, schema }) => isChanged(getIn(value, [...path, name]), schema)).length;
  return (
    <div className="form-grid">
      {shown.map((field) => one(field, path))}
      {ordered.map(([title, group]) => (
        <details key={title ?? ''} className="more">
          <summary>
            {title ?? `${group.length} more ${group.length === 1 ? 'field' : 'fields'}`}
            <span className="muted">{noteOf(title === null ? null : group.length, setIn(group))}</span>
          </summary>
          <div className="form-grid">{group.map((field) => one(field, path))}</div>
        </details>
      ))}
    </div>
  );
}

/** ` (4 fields, 1 set)`. */
function noteOf(fields: number | null, set: number): string {
  const parts = [
    ...(fields === null ? [] : [`${fields} ${fields === 1 ? 'field' : 'fields'}`]),
    ...(set === 0 ? [] : [`${set} set`]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

const maxUnfolded = 6;
/** Fields of a record that are not folded: schemas begin with what matters most. */
const maxMain = 8;

function mainFields(fields: readonly NamedField[], isEntity: boolean): ReadonlySet<NamedField> {
  if (isEntity) return new Set(fields.filter(isMain));
  const first = fields.filter(({ schema }) => schema.type !== 'record' && schema.deprecation === undefined);
  return new Set([...first.slice(0, maxMain), ...fields.filter(isRequired)]);
}

function one({ name, schema }: NamedField, path: Path): ReactNode {
  return <Field key={name} name={name} schema={schema} path={[...path, name]} />;
}

function isChanged(value: unknown, schema: FieldSchema): boolean {
  if (value === undefined || value === null) return false;
  return JSON.stringify(value) !== JSON.stringify(schema.default);
}

/** Descriptions have code in backticks, as in the reference. */
function Description({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`]+)`/).map((part, at) => (at % 2 === 1 ? createElement('code', null, part) : part));
  return createElement(Fragment, null, ...parts);
}
