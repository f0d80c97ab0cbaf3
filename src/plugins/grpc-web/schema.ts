import { boolean, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  proto: string({
    description:
      'Path of the `.proto` file of the service, on the machine of the gateway. Needed for JSON only. Imported files are searched in its folder.',
  }),
  pass_stripped_path: boolean({
    description:
      "Sends the path after the route's `strip_path`. If off, the backend receives the original path, which names the method.",
  }),
  allow_origin_header: string({
    default: '*',
    description: 'Value of `Access-Control-Allow-Origin` in all responses.',
  }),
});

export type GrpcWebConfig = Infer<typeof config>;
