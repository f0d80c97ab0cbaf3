import { boolean, type EntityCheck, headerName, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  status_code: integer({
    required: true,
    default: 503,
    between: [100, 599],
    description: 'Status code of the response. One below 200 cannot end a request and is answered with 500.',
  }),
  message: string({
    description:
      'Message of the response, in a JSON object. If neither it nor `body` is set, the response has the standard message of the status (401, 404, 405, 500, 502, 503), or an empty body.',
  }),
  content_type: string({ description: 'Media type of `body`.' }),
  body: string({ description: 'Body of the response, instead of `message`.' }),
  echo: boolean({
    required: true,
    default: false,
    description: 'Answers with a description of the request, what it matched, and the node. For debugging.',
  }),
  trigger: headerName({
    description: 'Name of a header or query argument. If set, only requests that have it are answered.',
  }),
});

export type RequestTerminationConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { custom_entity_check: { field_sources: ['config'], fn: ({ config: given }) => onConfig(problem(given as Given)) } },
];

type Given = Pick<RequestTerminationConfig, 'message' | 'content_type' | 'body' | 'echo'>;

function problem({ message, content_type, body, echo }: Given): string | null {
  if (message !== null && (content_type !== null || body !== null)) {
    return 'message cannot be used with content_type or body';
  }
  if (content_type !== null && body === null) return 'content_type requires a body';
  if (echo && (content_type !== null || body !== null)) return 'echo cannot be used with content_type and body';
  return null;
}

function onConfig(message: string | null): Readonly<Record<string, string>> | null {
  return message === null ? null : { config: message };
}
