import { useSuspenseQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { schemaQuery } from '../api/queries.ts';
import { formFields, type NamedField, pluginFields } from '../forms/schema.ts';
import { withGroups } from '../plugins/field-groups.ts';
import { optionalReadmeQuery } from '../plugins/plugin-queries.ts';

/** The fields of the form of an entity; of a plugin's instance those of its own configuration too, in the groups of its README. */
export function useFields(entity: string, plugin: string | null): readonly NamedField[] {
  const { data: schema } = useSuspenseQuery(schemaQuery(entity));
  const { data: own } = useSuspenseQuery(plugin === null ? schemaQuery(entity) : schemaQuery(`plugins/${plugin}`));
  const { data: readme } = useSuspenseQuery(optionalReadmeQuery(plugin));
  return useMemo(() => {
    if (plugin === null) return formFields(schema);
    return pluginFields(schema, own).map((field) =>
      field.name === 'config' && readme !== null ? { ...field, schema: withGroups(field.schema, readme) } : field,
    );
  }, [schema, own, plugin, readme]);
}
