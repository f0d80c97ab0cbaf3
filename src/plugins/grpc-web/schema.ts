import { boolean, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  proto: string({
    description:
      'Path of a `.proto` file that describes the service, on the machine of the gateway. Needed for JSON only; files that ' +
      'it imports are looked for beside it.',
  }),
  pass_stripped_path: boolean({
    description:
      "Sends the path without the part that the route's `strip_path` takes off. Otherwise the backend gets the path of the " +
      'request, which is what names the method.',
  }),
  allow_origin_header: string({
    default: '*',
    description: 'Value of `Access-Control-Allow-Origin` in every answer.',
  }),
});

export type GrpcWebConfig = Infer<typeof config>;
