import { useSuspenseQuery } from '@tanstack/react-query';
import { schemaQuery } from '../api/queries.ts';
import { formFields, type NamedField, pluginFields } from '../forms/schema.ts';

/** The fields of the form of an entity; of a plugin's instance those of its own configuration too. */
export function useFields(entity: string, plugin: string | null): readonly NamedField[] {
  const { data: schema } = useSuspenseQuery(schemaQuery(entity));
  const { data: own } = useSuspenseQuery(plugin === null ? schemaQuery(entity) : schemaQuery(`plugins/${plugin}`));
  return plugin === null ? formFields(schema) : pluginFields(schema, own);
}
