import { array, type Infer, integer, record, string } from 'sluicegate/plugin-sdk/schema';

export const config = record({
  greeting: string({ required: true, default: 'Hello', description: 'First word of the greeting.' }),
  banned: array(string({ description: 'A name.' }), { description: 'Names that are not greeted but refused.' }),
  status: integer({ required: true, default: 403, between: [400, 499], description: 'Status of a refusal.' }),
});

export type HelloConfig = Infer<typeof config>;
