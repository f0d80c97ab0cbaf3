import { logFields } from '../../plugin-kit/fields/index.ts';
import { boolean, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  path: string({
    required: true,
    len_max: 4096,
    custom: pathProblem,
    description:
      "Path of the file. It is created if it does not exist; its folder must exist. A relative path is relative to the gateway's working directory. `/dev/stdout` and `/dev/stderr` are the gateway's own.",
  }),
  reopen: boolean({
    required: true,
    default: false,
    description:
      'Detects that the file was moved or removed, and continues in a new one. If off, a new file is opened only by `sluicegate reload` or SIGHUP.',
  }),
  ...logFields(),
});

export type FileLogConfig = Infer<typeof config>;

/** Kong refuses the first five in file names; the others are never intended. */
function pathProblem(path: string): string | null {
  if (/[*&%\\`\x00-\x1f\x7f]/.test(path)) return 'not a valid filename';
  if (path.split('/').includes('..')) return "must not contain '..'";
  return /(^|\/)\.?$/.test(path) ? 'must name a file, not a folder' : null;
}
