import type { JsonObject } from './json-object.ts';

const text: JsonObject = { type: 'string' };

function object(properties: JsonObject): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** `GET /search`. */
export const searchSchema: JsonObject = object({
  data: {
    type: 'array',
    maxItems: 100,
    description: 'Best first.',
    items: object({
      entity: { ...text, description: 'Schema name of the entity.' },
      id: text,
      name: { ...text, description: 'Its name; its id if it has none.' },
      field: { ...text, description: 'Where the words were found; `url` for the parts of a service together.' },
      value: { ...text, description: 'The text of that field.' },
      enabled: { type: 'boolean' },
      references: {
        type: 'array',
        description: 'What it refers to.',
        items: object({ field: text, entity: text, id: text, name: text }),
      },
    }),
  },
  read: { type: 'integer', description: 'How many entities were compared.' },
  complete: { type: 'boolean', description: 'False: not all were compared, because there are too many.' },
});
