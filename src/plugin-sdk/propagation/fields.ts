import { array } from '../../schema/collections.ts';
import { headerName } from '../../schema/common-fields.ts';
import { string } from '../../schema/fields.ts';
import { record } from '../../schema/record.ts';
import { headerNames } from '../header-names.ts';
import type { TraceFormat } from './formats.ts';

/* Kong's fields about the headers of traces, for the schemas of plugins that trace. */

const written = ['w3c', 'b3', 'b3-single', 'jaeger', 'ot', 'datadog', 'aws', 'gcp'] as const;

export function headerTypeField() {
  return string({
    required: true,
    default: 'preserve',
    one_of: ['preserve', 'ignore', ...written],
    description:
      'Headers of traces. `preserve`: the trace of the client is continued, in whichever form it comes, and the backend gets it in the same form. `ignore`: what the client sends counts for nothing. The name of a form: as `preserve`, and the backend gets this form in any case. Has no effect once `propagation` has one of its lists.',
  });
}

export function defaultHeaderTypeField() {
  return string({
    required: true,
    default: 'b3',
    one_of: written,
    description: 'Form of the headers that the backend gets where the client has sent none.',
  });
}

export function propagationField<const F extends TraceFormat>(usual: F) {
  return record(
    {
      extract: array(string({ one_of: ['w3c', 'b3', 'jaeger', 'ot', 'datadog', 'aws', 'gcp'] }), {
        description:
          'Forms of headers by which the trace of a client is known, the first that is there counts. `b3` stands for both of its forms. Null, where another list is given: none.',
      }),
      clear: array(headerName(), {
        description: 'Headers of the client that the backend does not get.',
      }),
      inject: array(string({ one_of: ['preserve', ...written] }), {
        description:
          'Forms of headers that the backend gets. `preserve`: that in which the trace came. Null, where another list is given: none.',
      }),
      default_format: string({
        required: true,
        default: usual,
        one_of: written,
        description: 'Stands for `preserve` where no trace came.',
      }),
    },
    {
      description:
        'Which headers of traces are read and written. Takes the place of `header_type` once it has one of the three lists.',
    },
  );
}

export function traceHeaderField() {
  return string({
    custom: settableHeaderProblem,
    description: 'Header of the answer that tells the trace id, in hexadecimal. Null: none does.',
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
