import { redisServer } from 'sluicegate/plugin-kit/fields';
import { templateProblem } from 'sluicegate/plugin-kit/templates';
import { type EntityCheck, type Infer, number, record, string } from 'sluicegate/plugin-sdk/schema';

export const config = record({
  key: string({
    required: true,
    default: '$(consumer.username or client.ip)',
    custom: (text: string) => templateProblem(text),
    description: 'Template: visits with the same result are counted together.',
  }),
  message: string({
    required: true,
    default: 'visit $(shared.visits)',
    custom: (text: string) => templateProblem(text, { over: 'answer' }),
    description: 'Template: the value of the `X-Visits` header of the response.',
  }),
  trace_rate: number({
    required: true,
    default: 0.1,
    between: [0, 1],
    description: 'Fraction of the requests whose time in Redis is measured, 0 to 1.',
  }),
  redis: redisServer(),
});

export const checks: readonly EntityCheck[] = [{ at_least_one_of: ['config.redis.host'] }];

export type VisitsConfig = Infer<typeof config>;
