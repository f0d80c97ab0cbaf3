import { headerNames } from '../../plugin-sdk/header-names.ts';
import { array } from '../../shared/schema/collections.ts';
import { headerName } from '../../shared/schema/common-fields.ts';
import { string } from '../../shared/schema/fields.ts';
import { record } from '../../shared/schema/record.ts';
import type { TraceFormat } from '../telemetry/propagation/formats.ts';

/* Kong's fields about the headers of traces, for the schemas of plugins that trace. */

const written = ['w3c', 'b3', 'b3-single', 'jaeger', 'ot', 'datadog', 'aws', 'gcp'] as const;

export function headerTypeField() {
  return string({
    required: true,
    default: 'preserve',
    one_of: ['preserve', 'ignore', ...written],
    description:
      "Which trace headers are used. `preserve`: continues the trace of the client, in whichever format it comes, and sends the backend the same format. `ignore`: ignores the client's headers. The name of a format: as `preserve`, and the backend always receives this format. Ignored once `propagation` has one of its lists.",
  });
}

export function defaultHeaderTypeField() {
  return string({
    required: true,
    default: 'b3',
    one_of: written,
    description: 'Format of the trace headers that the backend receives if the client sent none.',
  });
}

export function propagationField<const F extends TraceFormat>(usual: F) {
  return record(
    {
      extract: array(string({ one_of: ['w3c', 'b3', 'jaeger', 'ot', 'datadog', 'aws', 'gcp'] }), {
        description:
          "Formats in which the client's trace headers are read; the first that is present counts. `b3` means both of its formats. Null, if another list is set: none.",
      }),
      clear: array(headerName(), {
        description: 'Headers of the client that are not forwarded to the backend.',
      }),
      inject: array(string({ one_of: ['preserve', ...written] }), {
        description:
          'Formats of the headers that the backend receives. `preserve`: the format in which the trace came. Null, if another list is set: none.',
      }),
      default_format: string({
        required: true,
        default: usual,
        one_of: written,
        description: 'Format for `preserve` if the client sent no trace headers.',
      }),
    },
    {
      description:
        'Which trace headers are read and written. Overrides `header_type` once it has one of the three lists.',
    },
  );
}

export function traceHeaderField() {
  return string({
    custom: settableHeaderProblem,
    description: 'Header of the response with the trace id, in hexadecimal. Null: none.',
  });
}

/** For names of headers that a plugin is to set: not those that frame a message. */
export function settableHeaderProblem(name: string): string | null {
  try {
    headerNames([name]);
    return null;
  } catch {
    return `bad header name '${name.replace(/[^\x20-\x7e]/g, '?')}'`;
  }
}
