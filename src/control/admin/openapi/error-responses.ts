import type { JsonObject } from './json-object.ts';

export const errorSchemas: JsonObject = {
  plain_error: {
    type: 'object',
    required: ['message'],
    properties: { message: { type: 'string', description: 'What is wrong, for a person.' } },
  },
  coded_error: {
    type: 'object',
    required: ['message'],
    properties: {
      code: { type: 'integer', description: 'Kong error code.', examples: [2] },
      name: { type: 'string', description: 'Name of the code.', examples: ['schema violation'] },
      message: { type: 'string', description: 'What is wrong, for a person.' },
      fields: { type: 'object', description: 'Messages by field, nested as the body is.' },
      options: { type: 'object', description: 'Messages by query parameter (code 11).' },
    },
  },
};

const descriptions: Readonly<Record<string, { readonly description: string; readonly schema: string }>> = {
  400: { description: 'The request is wrong; the body says in which field and why.', schema: 'coded_error' },
  401: { description: 'The token is missing, wrong, expired or revoked.', schema: 'plain_error' },
  403: {
    description: 'The role of the admin user, or the origin of the web page, may not do this.',
    schema: 'plain_error',
  },
  404: { description: 'There is no such entity or path.', schema: 'coded_error' },
  405: { description: 'The path does not have this method.', schema: 'plain_error' },
  409: { description: 'Another entity has this unique value.', schema: 'coded_error' },
  413: { description: 'The body is larger than the limit.', schema: 'plain_error' },
  415: { description: 'The content type is neither JSON nor a form.', schema: 'plain_error' },
  422: { description: 'What is stored cannot be shown in this form; the message says why.', schema: 'plain_error' },
  429: {
    description:
      'Too many wrong tokens from this address, or busy with another request of this kind; retry after `Retry-After`.',
    schema: 'plain_error',
  },
  504: { description: 'The change is stored, and not every worker has applied it in time.', schema: 'plain_error' },
  503: { description: 'Temporarily unavailable; retry after `Retry-After`, if present.', schema: 'plain_error' },
  500: { description: 'A fault of the gateway or its database; the error log has the cause.', schema: 'plain_error' },
};

export const errorResponses: JsonObject = Object.fromEntries(
  Object.entries(descriptions).map(([status, { description, schema }]) => [
    `error_${status}`,
    { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } } },
  ]),
);

export function responseRef(status: string): JsonObject {
  return { $ref: `#/components/responses/error_${status}` };
}
