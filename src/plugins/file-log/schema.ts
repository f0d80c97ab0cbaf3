import { boolean, type Infer, logFields, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  path: string({
    required: true,
    len_max: 4096,
    custom: pathProblem,
    description:
      "The file, made when it is not there; its folder has to be. Relative paths count from the gateway's working directory. `/dev/stdout` and `/dev/stderr` are the gateway's own.",
  }),
  reopen: boolean({
    required: true,
    default: false,
    description:
      'Goes on in a new file within moments after somebody has moved or removed the one written to. Without it, only when the logs are reopened (`sluicegate reload`, SIGHUP).',
  }),
  ...logFields(),
});

export type FileLogConfig = Infer<typeof config>;

/** Kong takes no file name with one of the first five; with the others it could not be what somebody wanted. */
function pathProblem(path: string): string | null {
  if (/[*&%\\`\x00-\x1f\x7f]/.test(path)) return 'not a valid filename';
  if (path.split('/').includes('..')) return "must not contain '..'";
  return /(^|\/)\.?$/.test(path) ? 'must name a file, not a folder' : null;
}
