import { array, cookieName, integer, record, string } from 'sluicegate/plugin-sdk/schema';

export const config = record({
  cookie: cookieName({
    required: true,
    default: 'variant',
    description: 'Cookie that keeps the variant of a client.',
  }),
  days: integer({
    required: true,
    default: 30,
    between: [1, 400],
    description: 'How long a client keeps it.',
    unit: 'd',
  }),
  variants: array(
    record({
      name: string({
        required: true,
        match: /^[a-z0-9-]{1,32}$/,
        description: 'Value of the cookie and of `X-Variant`.',
      }),
      weight: integer({ required: true, default: 1, between: [0, 1000], description: 'Share of the new clients.' }),
      service: string({ description: 'Service that receives the requests. Default: that of the route.' }),
    }),
    { required: true, len_min: 1, len_max: 10, description: 'The variants.' },
  ),
});
